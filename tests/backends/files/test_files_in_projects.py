"""Tools that name a file within a space: a page of a project, a note of a vault."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool

NOTEBOOKS = [
    tool("list_projects", "List all projects."),
    tool("list_project_pages", "List the pages of a project.", projectName=TEXT),
    tool("page_read", "Read a page.", projectName=TEXT, fileName=TEXT),
    tool("page_write", "Write a page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_update", "Update an existing page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_delete", "Delete a page.", projectName=TEXT, fileName=TEXT),
]


async def test_a_file_is_named_by_its_project_and_its_name(tmp_path: Path) -> None:
    state = {"root": {"alpha": {"plan.md": "# Alpha"}}}
    async with simulator(tmp_path, NOTEBOOKS, state).open() as world:
        assert await answered(world, "page_read", projectName="alpha", fileName="plan.md") == "# Alpha"
        assert "beta" in await refused(world, "page_update", projectName="beta", fileName="plan.md", content="x")
        await answered(world, "page_write", projectName="beta", fileName="plan.md", content="# Beta")
        await answered(world, "page_update", projectName="beta", fileName="plan.md", content="# New")
        assert await answered(world, "page_read", projectName="beta", fileName="plan.md") == "# New"
        assert "beta" in await answered(world, "list_projects")
        assert "plan.md" in await answered(world, "list_project_pages", projectName="beta")
        await answered(world, "page_delete", projectName="beta", fileName="plan.md")
        assert "plan.md" in await refused(world, "page_read", projectName="beta", fileName="plan.md")
        assert "gamma" in await refused(world, "list_project_pages", projectName="gamma")
