"""Tools that work on a repository with a working tree."""

from __future__ import annotations

import re
from pathlib import Path

from support.matched_tools import answered, backends, refused, simulator
from support.repositories import CAMEL, FILES, FIRST, GIT, HERE, STATE, hash_of


async def test_written_files_are_staged_and_committed(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    async with sim, sim.open() as world:
        assert "nothing to commit, working tree clean" in await answered(world, "git_status", **HERE)
        assert "nothing to commit" in await refused(world, "git_commit", message="None", **HERE)
        await answered(world, "write_file", path="/repo/a.txt", content="one\n2\n")
        await answered(world, "write_file", path="/repo/c.txt", content="new\n")
        status = await answered(world, "git_status", **HERE)
        assert "On branch main" in status
        assert "modified:   a.txt" in status
        assert "to include in what will be committed)\n\tc.txt" in status
        assert "-two\n+2" in await answered(world, "git_diff_unstaged", **HERE)
        assert "no changes added" in await refused(world, "git_commit", message="None", **HERE)
        await answered(world, "git_add", files=["a.txt", "c.txt"], **HERE)
        staged = await answered(world, "git_diff_staged", **HERE)
        assert "+++ b/c.txt" in staged
        assert await answered(world, "git_diff_unstaged", **HERE) == "Unstaged changes:\n"
        text = await answered(world, "git_commit", message="Third", **HERE)
        assert text.startswith("Changes committed successfully with hash ")
        assert "working tree clean" in await answered(world, "git_status", **HERE)
        log = await answered(world, "git_log", max_count=1, **HERE)
        assert f"Commit: {hash_of(text)}\nAuthor: Ann Vos <ann@example.com>\nDate: 2030-" in log
        assert "Second" not in log
        short = await answered(world, "git_log", oneline=True, **HERE)
        assert short.splitlines()[1:] == [f"{hash_of(text)[:7]} Third", "2222222 Second", "1111111 Initial commit"]
        assert "-two\n+2" in await answered(world, "git_show", revision="HEAD", **HERE)
        assert "a.txt" in await answered(world, "git_diff", target="main~1", **HERE)


async def test_an_unknown_repository_or_revision_is_refused_by_name(tmp_path: Path) -> None:
    sim = simulator(tmp_path, GIT, STATE)
    async with sim, sim.open() as world:
        assert "Not a git repository: /else" in await refused(world, "git_status", repo_path="/else")
        assert "abcdef1" in await refused(world, "git_show", revision="abcdef1", **HERE)
        assert "main~9" in await refused(world, "git_diff", target="main~9", **HERE)
        assert FIRST in await answered(world, "git_show", revision="1111111", **HERE)
        assert "Access denied: /else" in await refused(world, "git_init", repo_path="/else")
        assert "Invalid max_count: -1" in await refused(world, "git_log", max_count=-1, **HERE)


async def test_results_conform_to_their_schemas_in_any_naming_style(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*CAMEL, *FILES], {**STATE, "modified": {"a.txt": "one\n"}})
    assert {one.partition(" ")[0] for one in backends(sim).values()} == {"git", "files"}
    async with sim, sim.open() as world:
        status = await answered(world, "getStatus")
        assert status == {"currentBranch": "main", "staged": [], "modified": ["a.txt"], "clean": False}
        await answered(world, "stageFiles", paths=["/repo/a.txt"])
        assert (await answered(world, "getStatus"))["staged"] == ["a.txt"]
        done = await answered(world, "commitChanges", message="Two")
        assert re.fullmatch("[0-9a-f]{40}", done["commitHash"])
        history = (await answered(world, "getCommitHistory", limit=2))["commits"]
        assert history[0] == {"sha": done["commitHash"], "message": "Two", "author": "Ann Vos"}
        await answered(world, "switchBranch", branchName="next", create=True)
        assert await answered(world, "listBranches") == {"branches": ["main", "next", "old"], "current": "next"}


async def test_the_same_calls_make_the_same_commits(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    made: list[str] = []
    async with sim:
        for name in ("one", "two"):
            async with sim.open(name) as world:
                await answered(world, "write_file", path="/repo/a.txt", content="x")
                await answered(world, "git_add", files=["a.txt"], **HERE)
                made.append(hash_of(await answered(world, "git_commit", message="X", **HERE)))
    assert made[0] == made[1]
