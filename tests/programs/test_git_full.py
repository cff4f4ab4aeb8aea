"""The git server with most commands: its session directory, modes, protected branches, stashes, conflicts, refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
PATH = "/home/dev/tidewatch"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator.load("git_full").open() as world:
        yield world


@pytest.fixture
async def tidewatch(world: World) -> World:
    """A world whose session is in the repository."""
    await ask(world, "git_set_working_dir", path=PATH)
    return world


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))


async def refusal(world: World, tool: str, **arguments: Json) -> str:
    return message(await world.call(tool, arguments))


async def subjects(world: World, **arguments: Json) -> list[str]:
    return [commit["subject"] for commit in (await ask(world, "git_log", path=PATH, **arguments))["commits"]]


async def test_calls_without_a_path_go_to_the_directory_of_the_session(world: World) -> None:
    assert "No session working directory set" in await refusal(world, "git_status")
    assert (await ask(world, "git_status", path=PATH))["currentBranch"] == "main"
    assert "No session working directory set" in await refusal(world, "git_status")
    await ask(world, "git_set_working_dir", path=PATH)
    status = await ask(world, "git_status")
    assert status["unstagedChanges"] == {"modified": ["README.md"]}
    assert status["untrackedFiles"] == ["notes.txt"]
    assert (await ask(world, "git_clear_working_dir", confirm="Y"))["previousPath"] == PATH
    assert "No session working directory set" in await refusal(world, "git_status")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("git_branch", {"mode": "create"}, "branchName is required for mode 'create'"),
        ("git_branch", {"mode": "create", "branchName": "limits"}, "fatal: a branch named 'limits' already exists"),
        ("git_branch", {"mode": "delete", "branchName": "main"}, "cannot delete branch 'main' used by worktree at"),
        ("git_branch", {"mode": "delete", "branchName": "limits"}, "error: the branch 'limits' is not fully merged"),
        ("git_checkout", {"target": "nowhere"}, "error: pathspec 'nowhere' did not match any file(s) known to git"),
        ("git_add", {"paths": ["no.md"]}, "Error: File not found: no.md"),
        ("git_clean", {"force": False}, "force flag must be set to true to clean untracked files"),
        ("git_merge", {"branch": "no"}, "Stderr: merge: no - not something we can merge"),
        ("git_commit", {"message": "Nothing"}, "no changes added to commit"),
        ("git_show", {"object": "v9"}, "fatal: Not a valid object name v9"),
        ("git_tag", {"mode": "create", "tagName": "v0.1.0"}, "fatal: tag 'v0.1.0' already exists"),
        ("git_fetch", {}, "Could not resolve host: git.tidewatch.example"),
        ("git_stash", {"mode": "pop"}, "No stash entries found."),
        ("git_status", {"path": "/home/dev"}, "fatal: not a git repository (or any of the parent directories): .git"),
        ("git_status", {"path": "/home/nobody"}, "Working directory does not exist: /home/nobody"),
    ],
)
async def test_refusals_have_the_words_of_git_and_change_nothing(
    tidewatch: World, tool: str, arguments: dict[str, Json], words: str
) -> None:
    assert words in await refusal(tidewatch, tool, **arguments)
    assert tidewatch.ledger.steps[-1]["committed"] == []


@pytest.mark.parametrize("branch", ["main", "limits", "fix"])
async def test_a_hard_reset_of_a_protected_branch_needs_a_confirmation(tidewatch: World, branch: str) -> None:
    await ask(tidewatch, "git_stash", mode="push")
    await ask(tidewatch, "git_branch", mode="create", branchName="fix")
    await ask(tidewatch, "git_checkout", target=branch)
    before = await subjects(tidewatch)
    if branch == "main":
        text = await refusal(tidewatch, "git_reset", mode="hard", target="HEAD~1")
        assert "'reset --hard' on protected branch 'main' without explicit confirmation" in text
        assert await subjects(tidewatch) == before
        await ask(tidewatch, "git_reset", mode="hard", target="HEAD~1", confirmed=True)
    else:
        await ask(tidewatch, "git_reset", mode="hard", target="HEAD~1")
    assert await subjects(tidewatch) == before[1:]


async def test_a_stash_takes_the_changes_away_and_brings_them_back(tidewatch: World) -> None:
    before = await ask(tidewatch, "git_diff")
    await ask(tidewatch, "git_stash", mode="push", message="later")
    assert (await ask(tidewatch, "git_status"))["unstagedChanges"] == {}
    [stash] = (await ask(tidewatch, "git_stash", mode="list"))["stashes"]
    assert (stash["ref"], stash["branch"]) == ("stash@{0}", "main")
    await ask(tidewatch, "git_stash", mode="pop")
    assert await ask(tidewatch, "git_diff") == before
    assert (await ask(tidewatch, "git_stash", mode="list"))["stashes"] == []


async def test_a_commit_can_stage_files_first(tidewatch: World) -> None:
    before = await subjects(tidewatch)
    await ask(tidewatch, "git_commit", message="Add notes\n\nFor Kofi.", filesToStage=["notes.txt"])
    assert await subjects(tidewatch) == ["Add notes", *before]
    status = await ask(tidewatch, "git_status")
    assert (status["untrackedFiles"], status["unstagedChanges"]) == ([], {"modified": ["README.md"]})


async def test_a_fast_forward_is_reported_unless_a_merge_commit_is_asked_for(tidewatch: World) -> None:
    await ask(tidewatch, "git_branch", mode="create", branchName="fix")
    assert (await ask(tidewatch, "git_merge", branch="limits"))["fastForward"]
    assert len((await ask(tidewatch, "git_log", maxCount=1))["commits"][0]["parents"]) == 1
    await ask(tidewatch, "git_checkout", target="fix")
    assert not (await ask(tidewatch, "git_merge", branch="limits", noFastForward=True))["fastForward"]
    assert len((await ask(tidewatch, "git_log", maxCount=1))["commits"][0]["parents"]) == 2
