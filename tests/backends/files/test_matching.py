"""Which tools work on files, and which are about something else?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.drives import SHELL, STATE, TOOLS
from support.matched_tools import TEXT, backends, refused, said, simulator, tool

Json = Any

NAMED = [
    tool("fs.readFile", filePath=TEXT), tool("fs.writeFile", filePath=TEXT, content=TEXT),
    tool("fs.renameFile", oldPath=TEXT, newPath=TEXT), tool("fs.listDir", dirPath=TEXT),
]  # fmt: skip
NOTES = [
    tool("note-read", path=TEXT), tool("note-write", path=TEXT, text=TEXT),
    tool("directory-list", path=TEXT), tool("directory-create", path=TEXT),
]  # fmt: skip
CHOSEN = [
    tool("manage_files", operation={"enum": ["read", "write", "delete", "list"]}, needed="operation path", path=TEXT,
         content=TEXT),
    tool("manage_directories", action={"enum": ["create", "remove"]}, path=TEXT),
]  # fmt: skip


@pytest.mark.parametrize(
    "tools", [TOOLS, SHELL, NAMED, NOTES, CHOSEN], ids=["plain", "shell", "camel", "kebab", "chosen"]
)
def test_files_are_told_in_every_style_of_names(tmp_path: Path, tools: list[Json]) -> None:
    sim = simulator(tmp_path, tools)
    assert {one.partition(" ")[0] for one in backends(sim).values()} == {"files"}
    assert not sim.scenario.guesses


@pytest.mark.parametrize(
    "tools",
    [
        [tool("get_file", fileKey=TEXT), tool("get_file_nodes", fileKey=TEXT, ids=TEXT),
         tool("list_files", project_id=TEXT)],
        [tool("read_document", document_id=TEXT), tool("write_document", document_id=TEXT, content=TEXT)],
        [tool("get_file_contents", owner=TEXT, repo=TEXT, path=TEXT),
         tool("create_file", owner=TEXT, repo=TEXT, path=TEXT, content=TEXT),
         tool("delete_file", owner=TEXT, repo=TEXT, path=TEXT), tool("list_issues", owner=TEXT, repo=TEXT)],
        [tool("create_project", name=TEXT, path=TEXT), tool("install_packages", path=TEXT, packages=TEXT)],
    ],
    ids=["ids", "documents", "repositories", "projects"],
)  # fmt: skip
def test_tools_that_are_about_something_else_are_left_alone(tmp_path: Path, tools: list[Json]) -> None:
    assert not [one for one in backends(simulator(tmp_path, tools)).values() if one.startswith("files")]


async def test_an_argument_selects_what_is_done(tmp_path: Path) -> None:
    async with simulator(tmp_path, CHOSEN, {"files": {"a/b.txt": "hello"}}).open() as world:
        assert await said(world, "manage_files", operation="read", path="/a/b.txt") == "hello"
        await said(world, "manage_directories", action="create", path="/c")
        await said(world, "manage_files", operation="write", path="c/d", content="new")
        assert await said(world, "manage_files", operation="list", path="c") == "[FILE] d"
        assert "not empty" in await refused(world, "manage_directories", action="remove", path="c")


async def test_a_spec_can_say_what_a_tool_does_to_files(tmp_path: Path) -> None:
    sim = {
        "fetch": {
            "verb": "get",
            "entity": "file",
            "backend": "files",
            "operation": "read",
            "arguments": {"path": "where"},
        }
    }
    odd = [*TOOLS, tool("fetch", where=TEXT)]
    async with simulator(tmp_path, odd, STATE, {"sim": sim}).open() as world:
        assert await said(world, "fetch", where="/srv/README.md") == "# Hi"


def test_what_a_file_is_uploaded_for_is_no_place_of_it(tmp_path: Path) -> None:
    tools = [
        tool("upload_attachment", "Attach a file.", project=TEXT, filename=TEXT, content=TEXT),
        tool("create_project", "Create a project.", name=TEXT), tool("list_projects", "List all projects."),
    ]  # fmt: skip
    assert "files" not in " ".join(backends(simulator(tmp_path, tools)).values())
