"""Initial history of a repository: given, empty, or generated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator
from support.repositories import FILES, GIT


async def test_an_empty_world_has_a_repository_without_commits(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], {})
    async with sim, sim.open() as world:
        assert "Initialized empty Git repository in /new/.git/" in await answered(world, "git_init", repo_path="/new")
        assert "No commits yet" in await answered(world, "git_status", repo_path="/new")
        assert "does not have any commits" in await refused(world, "git_log", repo_path="/new")
        await answered(world, "write_file", path="/new/a.txt", content="a")
        await answered(world, "git_add", files=["a.txt"], repo_path="/new")
        await answered(world, "git_commit", message="First", repo_path="/new")
        assert "First" in await answered(world, "git_log", repo_path="/new")
        assert "* main" in await answered(world, "git_branch", branch_type="local", repo_path="/new")


async def test_a_history_is_generated_without_a_state(tmp_path: Path) -> None:
    sim = simulator(tmp_path, GIT)
    async with sim, sim.open() as world:
        log = await answered(world, "git_log", repo_path="/home/me/project")
        dates = re.findall(r"Date: (\S+)", log)
        assert len(dates) > 3
        assert dates == sorted(dates, reverse=True)
        assert all(re.fullmatch(r"Author: \S.* <\S+@\S+>", line) for line in log.splitlines() if "Author" in line)
        status = await answered(world, "git_status", repo_path="/home/me/project")
        assert "Changes not staged" in status
        assert "Untracked files" in status
        await answered(world, "git_add", files=["."], repo_path="/home/me/project")
        await answered(world, "git_commit", message="All", repo_path="/home/me/project")
        assert "working tree clean" in await answered(world, "git_status", repo_path="/home/me/project")


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("part", ["parents", "files", "branch"])
async def test_many_given_commits_are_read_without_delay(tmp_path: Path, part: str) -> None:
    rows: list[Any] = [{"hash": f"{at:040x}", "message": str(at)} for at in range(1, 8000)]
    for at, row in enumerate(rows):
        parts = {"parents": [f"{at:040x}"], "files": {f"{at % 9}.txt": str(at)}, "branch": str(at)}
        row[part] = parts[part]
    async with simulator(tmp_path, GIT, {"commits": rows}) as sim, sim.open() as world:
        assert "7999" in await answered(world, "git_log", repo_path=".", oneline=True, max_count=1)
