"""Operations on a repository, called from Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.matched_tools import answered, simulator
from support.repositories import FIRST, GIT, HERE, SECOND, STATE

from mcp_sim.plans.git.backend import Git
from mcp_sim.plans.library import Library

NOW = datetime(2030, 1, 1, tzinfo=UTC)
STEPS: list[tuple[str, tuple[Any, ...], str]] = [
    ("status", (), "modified:   a.txt"),
    ("diff", ("HEAD~1", "HEAD"), "Diff HEAD~1..HEAD:\n"),
    ("diff_unstaged", (), "@@ -1 +1,2 @@\n one\n+two"),
    ("stash", ("later",), "On main: later"),
    ("stash_list", (), "stash@{0}: On main: later"),
    ("stash_pop", (0,), "Dropped stash@{0}"),
    ("stash", (), "WIP on main"),
    ("stash_apply", (), "Applied stash@{0}"),
    ("stash_drop", (), "Dropped stash@{0}"),
    ("stage", (["a.txt"],), "Files staged successfully"),
    ("diff_staged", (), "+two"),
    ("unstage", (["a.txt"],), "Files unstaged successfully"),
    ("restore", (["a.txt"],), "Changes discarded successfully"),
    ("create_branch", ("side",), "Created branch 'side' from 'main'"),
    ("checkout", ("side",), "Switched to branch 'side'"),
    ("commit", ("Fix it", [], False, False, True), "Changes committed successfully"),
    ("log", (1,), "Message: Fix it"),
    ("show", ("HEAD",), "    Fix it"),
    ("show", ("HEAD:a.txt",), "one\n"),
    ("blame", ("a.txt",), "one"),
    ("reflog", (1,), "HEAD@{0}: commit: Fix it"),
    ("checkout", ("main",), "Switched to branch 'main'"),
    ("merge", ("side",), "Fast-forward"),
    ("branches", (), "* main"),
    ("branch", (), "  side"),
    ("current_branch", (), "main"),
    ("rename_branch", ("side", "other"), "Renamed branch 'side' to 'other'"),
    ("delete_branch", ("other",), "Deleted branch other"),
    ("create_tag", ("v1",), "Created tag 'v1'"),
    ("tags", (), "v1"),
    ("tag", ("v2",), "Created tag 'v2'"),
    ("delete_tag", ("v2",), "Deleted tag 'v2'"),
    ("revert", (SECOND,), "Reverted 1 commits"),
    ("cherry_pick", (SECOND,), "Cherry-picked 1 commits"),
    ("add_remote", ("origin", "https://git.example/a.git"), "Added remote 'origin'"),
    ("remotes", (), "origin\thttps://git.example/a.git (fetch)"),
    ("remote", (), "(push)"),
    ("set_remote_url", ("origin", "https://git.example/b.git"), "https://git.example/b.git"),
    ("remote_url", (), "https://git.example/b.git"),
    ("push", (), "main -> main"),
    ("pull", (), "Already up to date."),
    ("fetch", (), "Fetched from origin"),
    ("rename_remote", ("origin", "there"), "Renamed remote 'origin' to 'there'"),
    ("remove_remote", ("there",), "Removed remote 'there'"),
    ("add_worktree", ("/hot",), "checking out 'hot'"),
    ("worktrees", (), "/hot"),
    ("remove_worktree", ("/hot",), "Removed worktree /hot"),
    ("set_working_directory", (), "Working directory set to: /repo"),
    ("clear_working_directory", (), "Working directory cleared"),
    ("reset", ("HEAD~1", "hard"), "HEAD is now at"),
    ("clean", (), "Nothing to remove"),
    ("init", (), "Reinitialized existing Git repository in /repo/.git/"),
]


async def test_every_operation_runs_without_a_tool(tmp_path: Path) -> None:
    commits = [
        {"sha": FIRST, "message": "First", "files": {"a.txt": "one\n"}},
        {"sha": SECOND, "message": "Second", "files": {"b.txt": "b\n"}},
    ]
    state = {"commits": commits, "branches": ["main"], "files": {"/repo/a.txt": "one\ntwo\n", "/repo/b.txt": "b\n"}}
    async with simulator(tmp_path, GIT, state) as sim, sim.open() as world:
        git = Library("git", world.view, NOW)
        for name, arguments, text in STEPS:
            assert text in getattr(git, name)(*arguments).text, name
        assert {name for name, _, _ in STEPS} == Git().known.keys()
        assert git.changes


async def test_a_tool_may_be_declared_as_an_operation(tmp_path: Path) -> None:
    tools = [{"name": "recent", "description": "Recent work", "inputSchema": {
        "type": "object", "properties": {"limit": {"type": "integer"}, "repo_path": {"type": "string"}}}}]  # fmt: skip
    declared = {"sim": {"recent": {"backend": "git", "operation": "log"}}}
    async with simulator(tmp_path, tools, STATE, declared) as sim, sim.open() as world:
        log = await answered(world, "recent", limit=1, **HERE)
        assert SECOND in log
        assert FIRST not in log
