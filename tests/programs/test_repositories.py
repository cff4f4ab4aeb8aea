"""The shipped program for repositories: its workflows from end to end, its failures, and faults at work."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
HOME = {"owner": "quayside", "repo": "berth-planner"}
API = "https://api.github.com/repos/quayside/berth-planner"


async def call(world: World, tool: str, /, **arguments: Json) -> Json:
    """Return the value of a call of a tool for the repository of these tests."""
    searches = tool.startswith("search_")
    return value(await world.call(tool, arguments if searches else {**HOME, **arguments}))


async def text_of(world: World, path: str, **arguments: Json) -> str:
    observation = await world.call("get_file_contents", {**HOME, "path": path, **arguments})
    body: Json = observation.body
    return body.value[1]["resource"]["text"]


async def with_change(world: World, content: str = "New.\n") -> int:
    """Return the number of a new pull request, which changes a file on a branch of its own."""
    await call(world, "create_branch", branch="new-docs")
    await call(
        world,
        "push_files",
        branch="new-docs",
        message="Write",
        files=[{"path": "docs/new.md", "content": content}, {"path": "README.md", "content": content}],
    )
    made = await call(world, "create_pull_request", title="Docs", head="new-docs", base="main", body="Fixes #9")
    return int(made["url"].rpartition("/")[2])


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_repositories")).open() as opened:
        yield opened


async def test_a_merged_pull_request_is_closed_and_its_files_and_fixed_issues_follow(world: World) -> None:
    number = await with_change(world)
    shown = await call(world, "pull_request_read", method="get", pullNumber=number)
    assert (shown["state"], shown["mergeable_state"], shown["changed_files"], shown["commits"]) == (
        "open",
        "clean",
        2,
        1,
    )
    assert [
        file["status"] for file in await call(world, "pull_request_read", method="get_files", pullNumber=number)
    ] == [
        "modified",
        "added",
    ]
    merged = await call(world, "merge_pull_request", pullNumber=number)
    assert await text_of(world, "docs/new.md") == "New.\n"
    assert (await call(world, "issue_read", method="get", issue_number=9))["closed_by"] == "ada-vos"
    shown = await call(world, "pull_request_read", method="get", pullNumber=number)
    assert (shown["state"], shown["merged"], shown["changed_files"]) == ("closed", True, 2)
    assert (await call(world, "list_commits"))[0]["sha"] == merged["sha"]
    refused = message(await world.call("merge_pull_request", {**HOME, "pullNumber": number}))
    assert (
        refused == f"failed to merge pull request: PUT {API}/pulls/{number}/merge: 405 Pull Request is not mergeable []"
    )


async def test_a_branch_that_changes_the_same_file_as_its_base_is_not_merged(world: World) -> None:
    number = await with_change(world)
    await call(
        world, "push_files", branch="main", message="Other", files=[{"path": "README.md", "content": "Other.\n"}]
    )
    assert (await call(world, "pull_request_read", method="get", pullNumber=number))["mergeable_state"] == "dirty"
    assert not (await world.call("merge_pull_request", {**HOME, "pullNumber": number})).ok
    assert await text_of(world, "README.md") == "Other.\n"


async def test_issues_and_pull_requests_of_a_repository_share_their_numbers(world: World) -> None:
    before = await call(world, "list_issues", perPage=1)
    assert before["issues"][0]["number"] == 9
    assert (await call(world, "list_pull_requests", perPage=1))[0]["number"] == 10
    made = await call(world, "issue_write", method="create", title="Gulls on the cameras", labels=["birds"])
    assert made["url"].endswith("/quayside/berth-planner/issues/11")
    assert await with_change(world) == 12
    await call(world, "add_issue_comment", issue_number=11, body="Again today.")
    await call(world, "add_issue_comment", issue_number=12, body="Nice.")
    assert (await call(world, "search_issues", query="gulls label:birds"))["items"][0]["comments"] == 1
    assert (await call(world, "get_label", name="birds"))["color"] == "ededed"
    assert [one["body"] for one in await call(world, "pull_request_read", method="get_comments", pullNumber=12)] == [
        "Nice."
    ]
    later = await call(world, "list_issues", perPage=1, after="1")
    assert later["totalCount"] == before["totalCount"] + 1
    assert later["issues"][0]["number"] == 9


async def test_a_file_is_replaced_only_by_who_knows_its_version(world: World) -> None:
    arguments = {**HOME, "path": "README.md", "content": "x", "message": "m", "branch": "main"}
    at = f"failed to create/update file: PUT {API}/contents/README.md"
    assert message(await world.call("create_or_update_file", arguments)).startswith(f"{at}: 422 ")
    assert message(await world.call("create_or_update_file", {**arguments, "sha": "0"})).startswith(f"{at}: 409 ")
    sha = {entry["name"]: entry["sha"] for entry in await call(world, "get_file_contents")}["README.md"]
    done = await call(world, "create_or_update_file", **{**arguments, "sha": sha})
    assert await text_of(world, "README.md", sha=done["commit"]["sha"]) == "x"
    await call(world, "delete_file", path="README.md", branch="main", message="Gone")
    assert not (await world.call("get_file_contents", {**HOME, "path": "README.md"})).ok
    [file] = (await call(world, "get_commit", sha="main"))["files"]
    assert (file["filename"], file["status"], file["deletions"]) == ("README.md", "removed", 1)


async def test_a_fork_proposes_its_changes_to_the_original(world: World) -> None:
    theirs = {"owner": "opentide", "repo": "tide-tables"}
    mine = {"owner": "ada-vos", "repo": "tide-tables"}
    await call(world, "fork_repository", **theirs)
    await call(world, "create_branch", **mine, branch="dutch")
    await call(world, "push_files", **mine, branch="dutch", message="x", files=[{"path": "nl.md", "content": "Eb"}])
    made = await call(world, "create_pull_request", **theirs, title="Dutch", head="ada-vos:dutch", base="main")
    await call(world, "merge_pull_request", **theirs, pullNumber=int(made["url"].rpartition("/")[2]))
    assert [one["repository"] for one in (await call(world, "search_code", query="filename:nl.md eb"))["items"]] == [
        "opentide/tide-tables"
    ]
    [forked] = (await call(world, "search_repositories", query="user:ada-vos"))["items"]
    assert forked["fork"]


@pytest.mark.parametrize(
    ("tool", "arguments", "failure"),
    [
        ("issue_read", {"method": "get", "issue_number": 999},
         f"failed to get issue: GET {API}/issues/999: 404 Not Found []"),
        ("get_commit", {"sha": "f" * 40}, f"failed to get commit: GET {API}/commits/{'f' * 40}: 422 No commit found"),
        ("create_branch", {"branch": "main"},
         f"failed to create branch: POST {API}/git/refs: 422 Reference already exists"),
        ("list_branches", {"repo": "x"},
         "failed to list branches: GET https://api.github.com/repos/quayside/x/branches: 404"),
        ("issue_write", {"method": "create"}, "missing required parameter: title"),
    ],
)  # fmt: skip
async def test_failures_are_worded_as_the_service_words_them(
    world: World, tool: str, arguments: Json, failure: str
) -> None:
    assert message(await world.call(tool, {**HOME, **arguments})).startswith(failure)


def records(simulator: Simulator, seed: int) -> Json:
    base = simulator.base(seed)
    return {entity: dict(base.rows(entity)) for entity in simulator.scenario.domain.entities}


def test_worlds_look_alive_and_depend_on_the_seed_alone() -> None:
    simulator = Simulator(compiled("calm_repositories"))
    one, again, other = (
        records(simulator, 1),
        records(Simulator.load("calm_repositories"), 1),
        records(simulator, 2),
    )
    assert one == again
    assert one["issue"] != other["issue"]
    assert {len(one[name]) > 10 for name in ("issue", "pull_request", "commit", "comment", "review")} == {True}
    now = simulator.scenario.now
    for row in (*one["issue"].values(), *one["pull_request"].values(), *one["comment"].values()):
        assert datetime.fromisoformat(row["created_at"]) <= datetime.fromisoformat(row["updated_at"]) < now
        assert row["user"] in one["account"]
        assert row["repository"] in one["repository"]
    assert all(parent in one["commit"] for commit in one["commit"].values() for parent in commit["parents"])


async def test_a_lost_acknowledgement_leaves_an_issue_that_a_search_finds() -> None:
    async with Simulator(compiled("flaky_repositories")).open() as world:
        arguments = {**HOME, "method": "create", "title": "Gulls on the cameras"}
        assert not (await world.call("issue_write", arguments)).ok
        assert [one["number"] for one in (await call(world, "search_issues", query="gulls"))["items"]] == [11]


async def test_a_stale_read_does_not_know_the_newest_comment(tmp_path: Path) -> None:
    fault: Json = {"stale_read": {}, "tools": "issue_read", "when": {"nth": 1}}
    document = tmp_path / "stale.yaml"
    document.write_text(
        json.dumps(
            {
                "mcp_sim": 1,
                "name": "stale",
                "tools": "repositories",
                "world": {"state": {"events": 15}},
                "perturbations": [fault],
            }
        )
    )
    async with Simulator.load(document).open() as world:
        await call(world, "add_issue_comment", issue_number=9, body="Again today.")
        shown = [await call(world, "issue_read", method="get_comments", issue_number=9) for _ in range(2)]
        assert [one["body"] for one in shown[1] if one not in shown[0]] == ["Again today."]
