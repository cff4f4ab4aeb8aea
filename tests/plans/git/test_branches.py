"""Tools that create, check out, merge and delete branches."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import answered, refused, simulator
from support.repositories import FILES, GIT, HERE, STATE, hash_of


async def test_the_working_tree_has_the_files_of_the_current_branch(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    async with sim, sim.open() as world:
        assert (
            await answered(world, "git_create_branch", branch_name="work", **HERE)
            == "Created branch 'work' from 'main'"
        )
        assert "already exists" in await refused(world, "git_create_branch", branch_name="work", **HERE)
        assert "gone" in await refused(world, "git_create_branch", branch_name="more", base_branch="gone", **HERE)
        assert "gone" in await refused(world, "git_checkout", branch_name="gone", **HERE)
        await answered(world, "git_checkout", branch_name="work", **HERE)
        assert (await answered(world, "git_branch", branch_type="local", **HERE)).splitlines() == [
            "  main",
            "  old",
            "* work",
        ]
        await answered(world, "write_file", path="/repo/a.txt", content="mine\n")
        await answered(world, "git_add", files=["a.txt"], **HERE)
        made = hash_of(await answered(world, "git_commit", message="Mine", **HERE))
        await answered(world, "git_checkout", branch_name="main", **HERE)
        assert await answered(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"
        await answered(world, "write_file", path="/repo/a.txt", content="other\n")
        assert "overwritten by checkout: a.txt" in await refused(world, "git_checkout", branch_name="work", **HERE)
        await answered(world, "write_file", path="/repo/a.txt", content="one\ntwo\n")
        assert "not fully merged" in await refused(world, "git_delete_branch", branch="work", **HERE)
        assert "Fast-forward" in await answered(world, "git_merge", branch="work", **HERE)
        assert await answered(world, "read_file", path="/repo/a.txt") == "mine\n"
        assert made in await answered(world, "git_log", max_count=1, **HERE)
        assert await answered(world, "git_merge", branch="work", **HERE) == "Already up to date."
        await answered(world, "git_delete_branch", branch="work", **HERE)
        assert "checked out" in await refused(world, "git_delete_branch", branch="main", **HERE)


async def test_diverged_branches_are_merged_unless_a_file_changed_in_both(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)

    async def commit(branch: str, path: str, content: str) -> None:
        await answered(world, "git_checkout", branch_name=branch, **HERE)
        await answered(world, "write_file", path=path, content=content)
        await answered(world, "git_add", files=["."], **HERE)
        await answered(world, "git_commit", message=f"{branch}: {content}", **HERE)

    async with sim, sim.open() as world:
        await answered(world, "git_create_branch", branch_name="work", **HERE)
        await commit("work", "/repo/src/b.py", "theirs")
        await commit("main", "/repo/a.txt", "ours")
        merged = await answered(world, "git_merge", branch="work", **HERE)
        assert await answered(world, "read_file", path="/repo/src/b.py") == "theirs"
        assert "Merge branch 'work'" in await answered(world, "git_show", revision=hash_of(merged), **HERE)
        await commit("work", "/repo/a.txt", "torn")
        await answered(world, "git_checkout", branch_name="main", **HERE)
        assert "conflict in a.txt" in await refused(world, "git_merge", branch="work", **HERE)
        assert await answered(world, "read_file", path="/repo/a.txt") == "ours"
