"""Notes and pages that tools read and write by path are files."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool

_NOTES = [
    tool("read_note", "Read a note.", path=TEXT),
    tool("write_note", "Create or overwrite a note.", path=TEXT, content=TEXT),
    tool("list_notes", "List the notes in a folder.", needed="", folder=TEXT),
    tool("move_note", "Rename a note.", src=TEXT, dst=TEXT),
    tool("get_frontmatter", "The fields ahead of a note.", path=TEXT),
    tool("search_garden", "Search all notes.", query=TEXT),
]
_STATE = {"files": {"beds/rose.md": "---\nkind: shrub\n---\n# Rose\n", "beds/leek.md": "# Leek\n", "plan.md": "Dig\n"}}


async def test_notes_by_path_are_files(tmp_path: Path) -> None:
    async with simulator(tmp_path, _NOTES, _STATE).open() as world:
        assert await answered(world, "read_note", path="plan.md") == "Dig\n"
        await answered(world, "write_note", path="sheds/tools.md", content="A rake for the rose\n")
        await answered(world, "write_note", path="plan.md", content="Plant\n")
        assert await answered(world, "read_note", path="plan.md") == "Plant\n"
        await answered(world, "move_note", src="beds/leek.md", dst="sheds/leek.md")
        assert "beds/leek.md" in await refused(world, "read_note", path="beds/leek.md")


async def test_notes_are_listed_and_found_by_their_full_paths(tmp_path: Path) -> None:
    async with simulator(tmp_path, _NOTES, _STATE).open() as world:
        assert await answered(world, "list_notes") == "beds/leek.md\nbeds/rose.md\nplan.md"
        assert await answered(world, "list_notes", folder="beds") == "beds/leek.md\nbeds/rose.md"
        assert await answered(world, "search_garden", query="LEEK") == "beds/leek.md\n  1: # Leek"
        assert "nowhere" in await refused(world, "list_notes", folder="nowhere")
