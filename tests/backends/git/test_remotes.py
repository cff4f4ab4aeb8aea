"""Tools that push commits to remotes and fetch them."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool
from support.repositories import CAMEL, FILES, STATE

REMOTE = [
    *CAMEL, *FILES,
    tool("gitPush", "Pushes commits to a remote", needed="", remote=TEXT, branch=TEXT),
    tool("gitPull", "Pulls from a remote", needed="", remote=TEXT),
    tool("gitFetch", "Fetches from a remote", needed="", remote=TEXT),
    tool("gitRemote", "Remotes of the repository", needed="mode", mode={"enum": ["list", "add", "remove"]},
         name=TEXT, url=TEXT),
]  # fmt: skip


async def test_commits_are_pushed_to_remotes_once(tmp_path: Path) -> None:
    async with simulator(tmp_path, REMOTE, STATE) as sim, sim.open() as world:
        assert "'origin' is no remote" in await refused(world, "gitPush")
        added = {"mode": "add", "name": "origin", "url": "https://git.example/a.git"}
        await answered(world, "gitRemote", **added)
        assert "already exists" in await refused(world, "gitRemote", **added)
        assert "https://git.example/a.git" in str(await answered(world, "gitRemote", mode="list"))
        assert "main -> main" in await answered(world, "gitPush")
        assert await answered(world, "gitPush") == "Everything up-to-date"
        await answered(world, "write_file", path="/repo/a.txt", content="later")
        await answered(world, "stageFiles", paths=["a.txt"])
        await answered(world, "commitChanges", message="Later")
        assert "2222222.." in await answered(world, "gitPush", remote="origin", branch="main")
        assert "up to date" in await answered(world, "gitPull")
        assert "origin" in await answered(world, "gitFetch")
        await answered(world, "gitRemote", mode="remove", name="origin")
        assert "none" in await refused(world, "gitPull")
