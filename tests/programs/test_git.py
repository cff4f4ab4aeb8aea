"""The reference server for git: what it shows of a repository, and how it words what git refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import text, with_state

from mcp_sim.world.world import World

Json = Any

REPOSITORY = "/home/runa/weather"
STATE: Json = {
    "repo_path": REPOSITORY,
    "author": {"name": "Runa Falk", "email": "runa@example.org"},
    "commits": [
        {"message": "Read a sensor", "date": "2026-03-03T10:30:00+00:00", "files": {"config.yaml": "unit: celsius\n"}}
    ],
    "files": {"config.yaml": "unit: kelvin\n", "NOTES.md": "Calibrate.\n"},
    "modified": {"config.yaml": "unit: celsius\n"},
    "untracked": ["NOTES.md"],
}


async def ask(world: World, tool: str, **arguments: Json) -> str:
    return text(await world.call(tool, {"repo_path": REPOSITORY, **arguments}))


async def test_a_change_is_staged_and_committed(tmp_path: Path) -> None:
    async with with_state(tmp_path, "git", STATE).open() as world:
        assert "\tmodified:   config.yaml" in await ask(world, "git_status")
        assert (await ask(world, "git_diff_unstaged")).endswith("@@ -1 +1 @@\n-unit: celsius\n+unit: kelvin")
        assert await ask(world, "git_add", files=["config.yaml"]) == "Files staged successfully"
        committed = await ask(world, "git_commit", message="Report kelvin")
        made = committed.removeprefix("Changes committed successfully with hash ")
        assert f"Commit: {made}\n" in await ask(world, "git_log", max_count=1)
        assert "    Report kelvin\n" in await ask(world, "git_show", revision=made[:8])
        assert "modified" not in await ask(world, "git_status")


async def test_a_branch_has_its_own_commits(tmp_path: Path) -> None:
    async with with_state(tmp_path, "git", STATE).open() as world:
        assert await ask(world, "git_create_branch", branch_name="tides") == "Created branch 'tides' from 'main'"
        assert await ask(world, "git_checkout", branch_name="tides") == "Switched to branch 'tides'"
        await ask(world, "git_add", files=["NOTES.md"])
        await ask(world, "git_commit", message="Plan")
        assert await ask(world, "git_branch", branch_type="local") == "  main\n* tides"
        await ask(world, "git_checkout", branch_name="main")
        assert "Plan" not in await ask(world, "git_log")


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("git_commit", {"message": "Nothing"}, "No changes staged for commit. Use git_add to stage changes first; "),
        ("git_checkout", {"branch_name": "no"}, "Ref 'no' did not resolve to an object"),
        ("git_create_branch", {"branch_name": "main"}, "Cannot create branch 'main': refs/heads/main already exists"),
        ("git_branch", {"branch_type": "any"}, "Invalid branch type: any"),
        ("git_status", {"repo_path": "/srv/x"}, "Repository path '/srv/x' is outside the allowed repository"),
        (
            "git_add",
            {"files": ["no.py"]},
            "Cmd('git') failed due to: exit code(128)\n  cmdline: git add -- no.py\n"
            "  stderr: 'fatal: pathspec 'no.py' did not match any files'",
        ),
    ],
)
async def test_what_git_refuses_is_worded_as_the_server_does(
    tool: str, arguments: Json, reason: str, tmp_path: Path
) -> None:
    async with with_state(tmp_path, "git", STATE).open() as world:
        refused = await world.call(tool, {"repo_path": REPOSITORY, **arguments})
        assert not refused.ok
        assert text(refused).startswith(f"Error executing tool {tool}: {reason}")
        assert world.ledger.steps[-1]["committed"] == []
