"""What a repository stores besides commits: moves of the head, stashes and remotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, refused, simulator, tool
from support.repositories import CAMEL, FILES, FIRST, SECOND, STATE

Json = Any

FLAG = {"type": "boolean"}
_ROWS = {"type": "array", "items": {"type": "object", "properties": {"ref": TEXT, "message": TEXT, "branch": TEXT}}}
_MERGED = {"type": "object", "properties": {"mergedFiles": {"type": "array", "items": TEXT}}}
_REMOTE = {"type": "string", "enum": ["list", "add", "remove", "rename", "set-url", "get-url"]}
TOOLS = [
    *CAMEL, *FILES,
    tool("gitReflog", "Where the head was.", needed="", output={"type": "object", "properties": {"entries": _ROWS}}),
    tool("gitSwitch", "Switches branches.", needed="branch", branch=TEXT, create=FLAG),
    tool("gitMergeBranch", "Merges a branch.", branch=TEXT, output=_MERGED),
    tool("gitHistory", "Shows the log.", needed="", grep=TEXT, oneline=FLAG),
    tool("gitStash", "Puts changes aside.", needed="mode", mode={"type": "string", "enum": ["push", "list", "pop"]},
         message=TEXT),
    tool("gitRemote", "Remotes of the repository", needed="mode", mode=_REMOTE, name=TEXT, newName=TEXT, url=TEXT),
]  # fmt: skip


async def test_the_reflog_lists_every_move_of_the_head_newest_first(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE) as sim, sim.open() as world:
        await answered(world, "gitSwitch", branch="side", create=True)
        await answered(world, "write_file", path="/repo/new.txt", content="new")
        await answered(world, "stageFiles", paths=["new.txt"])
        await answered(world, "commitChanges", message="Side")
        await answered(world, "gitSwitch", branch="main")
        assert (await answered(world, "gitMergeBranch", branch="side"))["mergedFiles"] == ["new.txt"]
        entries = (await answered(world, "gitReflog"))["entries"]
        assert [row["message"] for row in entries[:4]] == [
            "merge side: Fast-forward",
            "checkout: moving from side to main",
            "commit: Side",
            "checkout: moving from main to side",
        ]
        assert [row["ref"] for row in entries] == [f"HEAD@{{{at}}}" for at in range(len(entries))]
        assert entries[4]["message"].startswith("commit: ")
        assert "Side" in await answered(world, "gitHistory", grep="sid")
        assert "Side" not in await answered(world, "gitHistory", grep="nothing")


async def test_a_stash_is_listed_with_its_branch(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE) as sim, sim.open() as world:
        await answered(world, "write_file", path="/repo/a.txt", content="changed")
        await answered(world, "gitStash", mode="push", message="later")
        assert await answered(world, "gitStash", mode="list") == "stash@{0}: On main: later"
        await answered(world, "gitStash", mode="pop")
        assert await answered(world, "gitStash", mode="list") == "No stashes"


async def test_a_remote_is_renamed_and_its_url_changed(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE) as sim, sim.open() as world:
        await answered(world, "gitRemote", mode="add", name="here", url="https://git.example/a.git")
        await answered(world, "gitRemote", mode="rename", name="here", newName="there")
        assert "here" in await refused(world, "gitRemote", mode="remove", name="here")
        await answered(world, "gitRemote", mode="set-url", name="there", url="https://git.example/b.git")
        assert await answered(world, "gitRemote", mode="get-url", name="there") == "https://git.example/b.git"


async def test_a_file_may_be_modified_even_if_commits_list_their_files(tmp_path: Path) -> None:
    commits = [
        {"hash": FIRST, "message": "A", "files": ["a.txt"]},
        {"hash": SECOND, "message": "B", "files": ["b.txt"], "parents": [FIRST]},
    ]
    files = {"/repo/a.txt": "one\n", "/repo/b.txt": "new\n"}
    state = {"files": files, "commits": commits, "branches": ["main"], "modified": {"b.txt": "old\n"}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open() as world:
        await answered(world, "gitStash", mode="push")
        assert await answered(world, "read_file", path="/repo/b.txt") == "old\n"
