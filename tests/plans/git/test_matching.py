"""Tools for branches and commits that do not match the git backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.matched_tools import TEXT, Json, backends, simulator, tool
from support.repositories import NUMBER

OWNER: Json = {"owner": TEXT, "repo": TEXT}
HOSTED = [
    tool("create_branch", "Create a branch in a repository", **OWNER, branch=TEXT, from_branch=TEXT),
    tool("list_branches", "List the branches of a repository", **OWNER),
    tool("list_commits", "List the commits of a branch", **OWNER, sha=TEXT),
    tool("get_commit", "Get a commit", **OWNER, sha=TEXT),
    tool("merge_branch", "Merge a branch", **OWNER, branch=TEXT),
]
TRANSACTIONS = [
    tool("commit", "Commits the transaction"),
    tool("status", "The state of the connection"),
    tool("reset", "Resets the connection"),
    tool("add", "Adds two numbers", a=NUMBER, b=NUMBER),
]
UNHOSTED = [
    tool("create_branch", "Create a branch", repository=TEXT, branch=TEXT),
    tool("list_branches", "List branches", repository=TEXT),
    tool("list_commits", "List commits", repository=TEXT),
    tool("create_pull_request", "Create a pull request", repository=TEXT, title=TEXT, branch=TEXT),
]


@pytest.mark.parametrize("tools", [HOSTED, TRANSACTIONS, UNHOSTED])
def test_hosting_services_and_other_kinds_of_commits_do_not_match(tmp_path: Path, tools: Sequence[Json]) -> None:
    assert "git" not in " ".join(backends(simulator(tmp_path, [*tools])).values())
