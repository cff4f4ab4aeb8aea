"""Tools that stash changes, cherry-pick commits and undo them."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool
from support.repositories import CAMEL, FILES, FLAG, GIT, HERE, NUMBER, REPO, STATE, TEXTS, hash_of

FURTHER = [
    *GIT,
    tool("git_blame", "Who wrote each line", needed="repo_path file_path", **REPO, file_path=TEXT, start_line=NUMBER),
    tool("git_reflog", "Shows where the head has been", needed="repo_path", **REPO, max_count=NUMBER),
    tool("git_cherry_pick", "Applies commits", **REPO, commits=TEXTS),
    tool("git_revert", "Undoes a commit", **REPO, commit=TEXT),
    tool("git_clean", "Removes untracked files", needed="repo_path", **REPO, dry_run=FLAG, force=FLAG),
    tool("git_worktree", "Working trees", needed="repo_path mode", **REPO, worktree_path=TEXT, branch=TEXT,
         mode={"enum": ["list", "add", "remove"]}),
    tool("git_stash", "Puts changes aside", **REPO),
    tool("git_stash_pop", "Takes them back", **REPO),
]  # fmt: skip


async def test_changes_are_stashed_and_the_head_is_reset(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*CAMEL, *FILES], STATE)
    async with sim, sim.open() as world:
        assert "No local changes" in await refused(world, "stash", action="push")
        await answered(world, "write_file", path="/repo/a.txt", content="later")
        await answered(world, "stash", action="push")
        assert await answered(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"
        assert "stash@{0}: WIP on main: 2222222 Second" in str(await answered(world, "stash", action="list"))
        await answered(world, "stash", action="pop")
        assert await answered(world, "read_file", path="/repo/a.txt") == "later"
        assert "stash@{0} not found" in await refused(world, "stash", action="pop")
        await answered(world, "gitTag", mode="create", tagName="v1")
        message = await answered(world, "checkout", branchOrPath="v1", newBranch="later")
        assert message == "Switched to a new branch 'later'"
        assert "HEAD is now at 1111111" in await answered(world, "checkout", branchOrPath="1111111")
        await answered(world, "checkout", branchOrPath="main")
        assert "'v1' already exists" in await refused(world, "gitTag", mode="create", tagName="v1")
        await answered(world, "stageFiles", paths=["a.txt"])
        await answered(world, "commitChanges", message="Three")
        await answered(world, "gitReset", mode="soft", commit="v1")
        assert (await answered(world, "getStatus"))["staged"] == ["a.txt"]
        await answered(world, "gitReset", mode="hard", commit="HEAD")
        assert (await answered(world, "getStatus"))["clean"] is True
        assert await answered(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"


async def test_commits_are_blamed_cherry_picked_and_reverted_and_unreachable_ones_are_in_the_reflog(
    tmp_path: Path,
) -> None:
    async with simulator(tmp_path, [*FURTHER, *FILES], STATE) as sim, sim.open() as world:
        await answered(world, "git_create_branch", branch_name="side", **HERE)
        await answered(world, "git_checkout", branch_name="side", **HERE)
        await answered(world, "write_file", path="/repo/a.txt", content="one\ntwo\nthree\n")
        await answered(world, "git_add", files=["a.txt"], **HERE)
        made = hash_of(await answered(world, "git_commit", message="Third", **HERE))
        blamed = (await answered(world, "git_blame", file_path="a.txt", **HERE)).splitlines()
        assert [line.startswith(made[:7]) for line in blamed] == [False, False, True]
        await answered(world, "git_checkout", branch_name="main", **HERE)
        await answered(world, "git_cherry_pick", commits=[made], **HERE)
        assert "three" in await answered(world, "read_file", path="/repo/a.txt")
        picked = hash_of(await answered(world, "git_log", max_count=1, **HERE))
        assert picked != made
        await answered(world, "git_revert", commit=picked, **HERE)
        assert "three" not in await answered(world, "read_file", path="/repo/a.txt")
        assert made[:7] in await answered(world, "git_reflog", **HERE)
        await refused(world, "git_cherry_pick", commits=["abc1234"], **HERE)
        await refused(world, "git_blame", file_path="none.txt", **HERE)
