"""First programs for servers of files, git and SQL: their functions call the libraries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.matched_tools import TEXT, answered, tool

from mcp_sim import Simulator
from mcp_sim.cli import main

Json = Any

NOTES: Json = {"files": {"/notes/a.md": "one", "/notes/b.md": "two"}}
REPOSITORY: Json = {"path": "/repo", "commits": [{"message": "Begin", "files": {"a.txt": "one\n"}}],
                    "files": {"a.txt": "one\n", "b.txt": "two\n"}, "untracked": ["b.txt"]}  # fmt: skip
SERVERS: dict[str, tuple[list[Json], Json, list[tuple[str, Json, str]]]] = {
    "files": (
        [
            tool("readFile", "Read a file.", filePath=TEXT),
            tool("save_file", "Write a text to a file.", file_path=TEXT, contents=TEXT),
            tool("list_folder", "List what is in a folder.", folder=TEXT),
            tool("remove-file", "Delete a file.", path=TEXT),
            tool("mv", "Rename a file.", source=TEXT, target=TEXT),
        ],
        NOTES,
        [
            ("readFile", {"filePath": "/notes/a.md"}, "one"),
            ("save_file", {"file_path": "/notes/c.md", "contents": "three"}, "Wrote /notes/c.md"),
            ("remove-file", {"path": "/notes/a.md"}, "Deleted /notes/a.md"),
            ("mv", {"source": "/notes/b.md", "target": "/notes/d.md"}, "Moved /notes/b.md to /notes/d.md"),
            ("list_folder", {"folder": "/notes"}, "c.md\nd.md"),
        ],
    ),
    "git": (
        [
            tool("repo_status", "Show the status of a git repository.", repo=TEXT),
            tool("stage_files", "Stage files.", repo=TEXT, files={"type": "array", "items": TEXT}),
            tool("commit", "Commit what is staged.", repo=TEXT, msg=TEXT),
            tool("history", "Show the commits of a git repository.", repo=TEXT),
        ],
        REPOSITORY,
        [
            ("stage_files", {"repo": "/repo", "files": ["b.txt"]}, "Staged b.txt"),
            ("repo_status", {"repo": "/repo"}, "b.txt"),
            ("commit", {"repo": "/repo", "msg": "Go on"}, "Created commit"),
            ("history", {"repo": "/repo"}, "Go on\n"),
        ],
    ),
    "sql": (
        [
            tool("run_sql", "Run a SQL statement on PostgreSQL.", sql=TEXT),
            tool("show_tables", "List the tables of the database."),
        ],
        {"pets": [{"id": 1, "name": "Pablo"}]},
        [
            ("run_sql", {"sql": "INSERT INTO pets VALUES (2, 'Nela')"}, "1 rows affected"),
            ("run_sql", {"sql": "SELECT name FROM pets ORDER BY id DESC"}, "Nela"),
            ("show_tables", {}, "pets"),
        ],
    ),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_first_program_calls_the_library_that_the_tools_need(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, state, calls = SERVERS[name]
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert main(["init", "--program", f"{name}.json", "first"]) == 0
    program = Path(f"first/{name}.py").read_text(encoding="utf-8")
    assert "def given(" not in program  # helpers that no function calls
    assert "Refused" not in program
    scenario = {"mcp_sim": 1, "tools": f"{name}.yaml", "world": {"state": state}}
    Path("first/own.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    anyio.run(play, calls)


async def play(calls: list[tuple[str, Json, str]]) -> None:
    async with Simulator.load("first/own.yaml", trust=True).open() as world:
        assert {plan.backend for plan in world.scenario.domain.plans.values()} == {"program"}
        for called, arguments, shown in calls:
            assert shown in json.dumps(await answered(world, called, **arguments)).replace("\\n", "\n")
