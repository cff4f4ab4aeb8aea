"""The calendar service: events, invitations, conflicts, duplicates, free and busy times."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
REVIEW: Json = {
    "calendarId": "primary",
    "summary": "Estuary pilot review",
    "start": "2029-03-06T14:00:00",
    "end": "2029-03-06T15:00:00",
    "attendees": [{"email": "ravi@tidewater.example"}],
}
DAY: Json = {"calendarId": "primary", "timeMin": "2029-03-06T00:00:00", "timeMax": "2029-03-07T00:00:00"}
BUDGET, DENTIST = "7h3q0v5n1d8t6kbc29m4s0e7fa", "1c8p5r2j9w4x7yhd60a3l0v6ge"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_calendar")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))


async def test_an_event_is_listed_found_busy_and_gone_once_it_is_deleted(world: World) -> None:
    event = (await ask(world, "create-event", **REVIEW))["event"]
    assert event["start"] == {"dateTime": "2029-03-06T14:00:00+01:00", "timeZone": "Europe/Amsterdam"}
    assert (event["startDayOfWeek"], event["attendees"][0]["responseStatus"]) == ("Tuesday", "needsAction")
    assert event in (await ask(world, "list-events", **DAY))["events"]
    assert (await ask(world, "search-events", **DAY, query="pilot ravi"))["events"] == [event]
    span: Json = {"calendars": [{"id": "primary"}], "timeMin": "2029-03-06T14:15:00", "timeMax": "2029-03-06T14:30:00"}
    (times,) = (await ask(world, "get-freebusy", **span))["calendars"]["primary"]["busy"]
    assert (times["start"] <= event["start"]["dateTime"], times["end"] >= event["end"]["dateTime"]) == (True, True)
    assert (await ask(world, "delete-event", calendarId="primary", eventId=event["id"]))["success"]
    assert (await ask(world, "search-events", **DAY, query="pilot"))["events"] == []
    gone = message(await world.call("get-event", {"calendarId": "primary", "eventId": event["id"]}))
    assert gone == f"Event with ID '{event['id']}' not found in calendar 'noor.visser@tidewater.example'."


async def test_the_same_event_is_refused_and_one_at_the_same_time_is_a_conflict(world: World) -> None:
    event = (await ask(world, "create-event", **REVIEW))["event"]
    assert "set allowDuplicates" in message(await world.call("create-event", REVIEW))
    assert (await ask(world, "search-events", **DAY, query="pilot"))["totalCount"] == 1
    other = await ask(world, "create-event", **{**REVIEW, "summary": "Haircut", "start": "2029-03-06T13:30:00Z"})
    assert event["id"] in [one["event"]["id"] for one in other["conflicts"]]
    twice = await ask(world, "create-event", **REVIEW, allowDuplicates=True)
    assert [one["event"]["id"] for one in twice["duplicates"]] == [event["id"]]


async def test_a_move_keeps_the_answers_of_guests_and_an_answer_is_that_of_the_user(world: World) -> None:
    about: Json = {"calendarId": "primary", "eventId": BUDGET}
    answered = await ask(world, "respond-to-event", **about, response="tentative", comment="Perhaps")
    assert answered["message"] == 'Your response has been set to "tentative" with note: "Perhaps"'
    guests: Json = [{"email": one["email"]} for one in answered["event"]["attendees"]]
    times = {"start": "2029-03-08T15:00:00", "end": "2029-03-08T16:00:00"}
    moved = (await ask(world, "update-event", **about, **times, attendees=guests))["event"]
    assert [one["responseStatus"] for one in moved["attendees"]] == ["accepted", "tentative"]
    not_invited = {"calendarId": "primary", "eventId": DENTIST, "response": "accepted"}
    assert "not listed as an attendee" in message(await world.call("respond-to-event", not_invited))


async def test_of_several_events_those_that_cannot_be_made_are_reported(world: World) -> None:
    good, bad = (
        {"summary": name, "start": start, "end": "2029-03-07"} for name, start in (("a", "2029-03-06"), ("b", "x"))
    )
    made = await ask(world, "create-events", events=[good, bad])
    assert (made["totalCreated"], made["failed"][0]["index"]) == (1, 1)
    assert made["created"][0]["start"] == {"date": "2029-03-06"}


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("list-events", {"calendarId": "Garden"}, 'Calendar(s) not found: "Garden". Available calendars: Noor Visser'),
        ("create-event", {**REVIEW, "calendarId": "Public holidays"}, "Access denied"),
        ("create-event", {**REVIEW, "end": "2029-03-06T13:00:00"}, "time range is empty"),
        ("create-event", {**REVIEW, "start": "0001-01-01"}, "Invalid time: 0001-01-01"),
        ("create-event", {**REVIEW, "timeZone": "Mars/Base"}, "Invalid time zone"),
        ("update-event", {"calendarId": "Team", "eventId": DENTIST}, "not found in calendar"),
    ],
)
async def test_what_is_impossible_is_refused(tool: str, arguments: Json, expected: str, world: World) -> None:
    assert expected in message(await world.call(tool, arguments))


async def test_the_weeks_have_meetings_in_working_hours(world: World) -> None:
    events = (await ask(world, "list-events", calendarId=["primary", "Public holidays"]))["events"]
    assert len(events) > 25
    assert [one["start"] for one in events if "date" in one["start"]] == [
        {"date": "2029-04-27"},
        {"date": "2029-05-05"},
    ]
    assert {one["startDayOfWeek"] for one in events if "dateTime" in one["start"]}.isdisjoint({"Saturday", "Sunday"})
