"""Sentry: queries find issues and events by what they are, and an issue changes as the server says."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
HERE = {"organizationSlug": "lumen-bikes"}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("sentry")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> str:
    return value(await world.call(tool, HERE | arguments))


async def found(world: World, query: str, **options: Json) -> set[str]:
    text = await ask(world, "search_issues", query=query, limit=100, **options)
    return {*re.findall(r"## \d+\. \[([\w-]+)\]", text)}


async def test_queries_find_issues_by_state_assignee_project_and_words(world: World) -> None:
    unresolved = await found(world, "is:unresolved")
    assert unresolved | await found(world, "is:resolved") | await found(world, "is:ignored") == await found(world, "")
    assert await found(world, "!is:unresolved") == await found(world, "is:[resolved,ignored]")
    assert await found(world, "is:assigned") | await found(world, "is:unassigned") == await found(world, "")
    assert await found(world, "project:rider-app is:unresolved", projectSlugOrId="web-shop") == set()
    assert await found(world, 'error.type:Zero* "division by"') == {"BOOKING-API-H"}
    assert await found(world, "times_seen:>=14") == {"WEB-SHOP-B"}
    assert await found(world, "firstSeen:-1h") == set()
    await ask(world, "update_issue", issueId="WEB-SHOP-B", assignedTo="me")
    assert "WEB-SHOP-B" in await found(world, "assigned:me is:unresolved")
    assert "not supported" in message(await world.call("search_issues", HERE | {"query": "is:resolved OR is:ignored"}))


async def test_counts_of_events_agree_with_their_issue(world: World) -> None:
    issue = await ask(world, "get_sentry_resource", resourceType="issue", resourceId="BOOKING-API-B")
    count = re.search(r"Occurrences\*\*: (\d+)", issue)
    events = await ask(world, "search_issue_events", issueId="BOOKING-API-B", statsPeriod="90d")
    table = await ask(
        world,
        "search_events",
        query="issue:BOOKING-API-B",
        fields=["issue", "count()"],
        sort="-count()",
        statsPeriod="90d",
    )
    assert count
    assert f"Found {count[1]} errors" in events
    assert f'"count()": {count[1]}' in table
    event = re.search(r"Event ID\*\*: (\w+)", issue)
    assert event
    url = f"https://lumen-bikes.sentry.io/issues/BOOKING-API-B/events/{event[1]}/"
    assert value(await world.call("get_sentry_resource", {"url": url})) == issue


async def test_an_ignored_issue_says_until_when_and_a_repeated_change_changes_nothing(world: World) -> None:
    change = {"issueId": "WEB-SHOP-C", "status": "ignored", "ignoreCount": 1}
    text = await ask(world, "update_issue", **change)
    assert "**Ignore Behavior**: **Until it occurs 1 more time**" in text
    assert "No changes were needed." in await ask(world, "update_issue", **change)
    assert "**Status**: ignored → **unresolved**" in await ask(
        world, "update_issue", issueId="WEB-SHOP-C", status="unresolved", reason="It is back."
    )
    assert world.view.count("comment") == 1


async def test_a_new_project_has_a_key_and_keeps_its_slug_to_itself(world: World) -> None:
    text = await ask(world, "create_project", teamSlug="mobile", name="Kiosk App", platform="flutter")
    dsn = re.search(r"SENTRY_DSN\*\*: (\S+)", text)
    assert dsn
    assert dsn[1] in await ask(world, "find_dsns", projectSlug="kiosk-app")
    assert "**kiosk-app**" in await ask(world, "find_projects", query="kiosk")
    again = {"teamSlug": "mobile", "name": "Kiosk app"}
    assert "HTTP 409" in message(await world.call("create_project", HERE | again))
    assert "Updated team" in await ask(world, "update_project", projectSlug="kiosk-app", teamSlug="platform")


@pytest.mark.parametrize("query", ["age:-99999999999d", "timesSeen:>1.2.3", "timesSeen:>."])
async def test_what_is_no_age_or_number_finds_nothing(query: str, world: World) -> None:
    assert await found(world, query) == set()


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("update_issue", {"issueId": "WEB-SHOP-B"}, "At least one of `status` or `assignedTo`"),
        ("update_issue", {"issueId": "WEB-SHOP-Z", "status": "resolved"}, "API error (404)"),
        ("update_issue", {"issueId": "WEB-SHOP-B", "assignedTo": "nobody"}, "Unknown actor input"),
        (
            "update_issue",
            {"issueId": "WEB-SHOP-B", "status": "ignored", "ignoreMode": "forDuration"},
            "ignoreDurationMinutes",
        ),
        ("update_issue", {"issueId": "²", "status": "resolved"}, "API error (404)"),
        ("get_sentry_resource", {"resourceType": "issue", "resourceId": "9" * 5000}, "API error (404)"),
        ("search_events", {"statsPeriod": "9999999d"}, "Invalid statsPeriod: '9999999d'"),
        ("find_teams", {"organizationSlug": "other"}, "HTTP 404 error"),
        ("create_team", {}, "Invalid arguments for tool create_team: Required at name"),
        ("search_issues", {"sort": "up"}, "Expected 'date' | 'freq' | 'new' | 'user', received 'up' at sort"),
        ("search_events", {"fields": ["median(x)"]}, "median is not a valid function"),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    tool: str, arguments: Json, words: str, world: World
) -> None:
    assert words in message(await world.call(tool, HERE | arguments))
    assert not world.ledger.steps[-1]["committed"]


async def test_given_issues_replace_the_seeded_ones(tmp_path: Any) -> None:
    (tmp_path / "given.yaml").write_text(
        "mcp_sim: 1\nname: given\ntools: sentry\nworld:\n  state:\n    issues:\n"
        "      - {title: 'OSError: disk is full', project: booking-api, assignee: sven, events: 3}\n"
    )
    async with Simulator.load(tmp_path / "given.yaml").open() as world:
        text = await ask(world, "search_issues")
        assert ("Found **1** issue:" in text, "**Events**: 3" in text, "Sven Aalto" in text) == (True, True, True)
