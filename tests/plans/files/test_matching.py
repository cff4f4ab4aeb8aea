"""Which tools match the files backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.drives import SHELL, STATE, TOOLS
from support.matched_tools import TEXT, answered, backends, simulator, tool

Json = Any

CAMEL = [
    tool("fs.readFile", filePath=TEXT), tool("fs.writeFile", filePath=TEXT, content=TEXT),
    tool("fs.renameFile", oldPath=TEXT, newPath=TEXT), tool("fs.listDir", dirPath=TEXT),
]  # fmt: skip
KEBAB = [
    tool("note-read", path=TEXT), tool("note-write", path=TEXT, text=TEXT),
    tool("directory-list", path=TEXT), tool("directory-create", path=TEXT),
]  # fmt: skip
CHOSEN = [
    tool("manage_files", operation={"enum": ["read", "write", "delete", "list"]}, needed="operation path", path=TEXT,
         content=TEXT),
    tool("manage_directories", action={"enum": ["create", "remove"]}, path=TEXT),
]  # fmt: skip


@pytest.mark.parametrize(
    "tools", [TOOLS, SHELL, CAMEL, KEBAB, CHOSEN], ids=["plain", "shell", "camel", "kebab", "chosen"]
)
def test_file_tools_match_in_every_naming_style(tmp_path: Path, tools: list[Json]) -> None:
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
def test_tools_for_other_things_do_not_match(tmp_path: Path, tools: list[Json]) -> None:
    assert not [one for one in backends(simulator(tmp_path, tools)).values() if one.startswith("files")]


async def test_a_spec_can_declare_an_operation_on_files(tmp_path: Path) -> None:
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
        assert await answered(world, "fetch", where="/srv/README.md") == "# Hi"
