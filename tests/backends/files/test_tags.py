"""Pages in projects, and tags in texts."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool

_PAGES = [
    tool("list_projects", "List all projects."),
    tool("page_read", "Read a page.", projectName=TEXT, fileName=TEXT),
    tool("page_write", "Write a page.", projectName=TEXT, fileName=TEXT, content=TEXT),
]


_TAGS = "Tags of pages, in the front matter and in the text."


async def test_tags_are_kept_in_the_front_matter_and_in_the_text(tmp_path: Path) -> None:
    many = {"type": "array", "items": TEXT}
    tools = [
        *_PAGES,
        tool("page_add_tags", _TAGS, projectName=TEXT, files=many, tags=many),
        tool("page_remove_tags", _TAGS, projectName=TEXT, files=many, tags=many),
        tool("page_rename_tag", _TAGS, projectName=TEXT, oldTag=TEXT, newTag=TEXT),
    ]
    state = {"files": {"mill": {"a.md": "---\ntags: [old]\n---\n\nText.\n"}, "farm": {"b.md": "Barn.\n"}}}
    here = {"projectName": "mill", "fileName": "a.md"}
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, "page_add_tags", projectName="mill", files=["a.md"], tags=["wheel"])
        await answered(world, "page_rename_tag", projectName="mill", oldTag="old", newTag="aged")
        text = await answered(world, "page_read", **here)
        assert text == "---\ntags:\n  - aged\n  - wheel\n---\n\nText.\n\n#wheel\n"
        await answered(world, "page_remove_tags", projectName="mill", files=["a.md"], tags=["wheel"])
        assert "wheel" not in await answered(world, "page_read", **here)
        assert await refused(world, "page_add_tags", projectName="mill", files=["z.md"], tags=["x"])
