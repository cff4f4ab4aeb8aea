"""The issue tracker: issues are found by what they have, and names stand for ids."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("linear")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))


async def identifiers(world: World, **filters: Json) -> list[str]:
    return [row["identifier"] for row in (await ask(world, "list_issues", **filters))["issues"]]


async def test_an_issue_is_found_by_each_thing_that_it_has(world: World) -> None:
    made = await ask(
        world, "create_issue", title="Cabin lights", team="OPS", assignee="me", labels=["bug"], priority=1,
        state="In Progress", project="New call centre", dueDate="2029-04-01",
    )  # fmt: skip
    assert (made["identifier"], made["status"], made["priority"]["name"]) == ("OPS-7", "In Progress", "Urgent")
    filters: list[Json] = [
        {"query": "cabin"}, {"team": "Operations", "priority": 1}, {"assignee": "me", "state": "started"},
        {"label": "Bug", "team": "OPS"}, {"project": made["projectId"], "createdAt": "-P1D"},
    ]  # fmt: skip
    assert all(["OPS-7" in await identifiers(world, **chosen) for chosen in filters])
    assert "OPS-7" not in await identifiers(world, state="Done")
    part = await ask(world, "create_issue", title="Bulbs", team="OPS", parentId="OPS-7")
    assert await identifiers(world, parentId=made["id"]) == [part["identifier"]]


async def test_a_status_completes_an_issue_and_another_team_gives_it_another_number(world: World) -> None:
    done = await ask(world, "update_issue", id="ENG-1", state="completed", assignee=None)
    assert done["status"] == "Done"
    assert "completedAt" in done
    assert "assignee" not in done
    moved = await ask(world, "update_issue", id="ENG-1", team="Operations")
    assert (moved["identifier"], moved["id"], moved["status"]) == ("OPS-7", done["id"], "Done")
    assert "Issue" in message(await world.call("get_issue", {"id": "ENG-1"}))


async def test_pages_follow_each_other(world: World) -> None:
    first = await ask(world, "list_issues", limit=10)
    second = await ask(world, "list_issues", limit=10, after=first["cursor"])
    rows = [row["id"] for row in first["issues"] + second["issues"]]
    assert (len(rows), len({*rows}), second["hasNextPage"]) == (18, 18, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_issue", {"id": "ENG-99"}, "Entity not found: Issue"),
        ("create_issue", {"title": "x", "team": "Nobody"}, "Entity not found: Team"),
        ("create_issue", {"title": "x", "team": "ENG", "labels": ["Blue"]}, "Entity not found: IssueLabel"),
        ("create_issue", {"title": "x", "team": "ENG", "state": "Asleep"}, "Entity not found: WorkflowState"),
        ("update_issue", {"id": "ENG-1", "priority": 7}, "priority must be between 0 and 4: 7"),
        ("update_issue", {"id": "ENG-1", "dueDate": "soon"}, "must be a valid date: soon"),
        ("create_issue_label", {"name": "bug"}, "Duplicate label name"),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    tool: str, arguments: Json, words: str, world: World
) -> None:
    before = world.view.count("issue")
    assert words in message(await world.call(tool, arguments))
    assert world.view.count("issue") == before
