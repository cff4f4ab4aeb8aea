"""Times and amounts that follow from others: the end from the length, the days from the dates, the price from both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import INTEGER, NUMBER, STRING, service, tool, value

Json = Any
DAY: dict[str, Json] = {"type": "string", "format": "date"}


def record(**fields: Json) -> dict[str, Json]:
    return {"type": "object", "properties": {"id": STRING, **fields}, "required": ["id", *fields]}


PERIODS: dict[str, tuple[Json, Json, Json, str]] = {
    "visit": (
        {"start_time": "2031-03-10T11:00:00Z"},
        {"duration_minutes": 40},
        {"end_time": "2031-03-10T11:40:00Z"},
        "2031-04-10T11:40:00Z",
    ),
    "stay": ({"check_in": "2031-03-10"}, {"nights": 3}, {"check_out": "2031-03-13"}, "2031-04-13"),
    "course": ({"starts_on": "2031-03-10"}, {"weeks": 2}, {"ends_on": "2031-03-24"}, "2031-04-24"),
    "loan": ({"lent_on": "2031-03-10"}, {"days": 21}, {"due_date": "2031-03-31"}, "2031-05-01"),
}


@pytest.mark.parametrize("table", PERIODS)
async def test_a_new_record_ends_its_length_after_its_beginning(tmp_path: Path, table: str) -> None:
    begun, lasts, ended, later = PERIODS[table]
    (start, time), (length,), (end,) = *begun.items(), lasts, ended
    form = record(**{start: STRING, end: STRING, length: INTEGER})
    create = tool(f"create_{table}", start, length, about=f"Create a {table}.", **{length: INTEGER})
    move = tool(f"update_{table}", "id", about=f"Change a {table}.", **{start: STRING})
    tools = [{**made, "outputSchema": form} for made in (create, move)]
    async with service(tmp_path, {f"{table}s": []}, *tools) as sim, sim.open() as world:
        made = value(await world.call(f"create_{table}", {**begun, **lasts}))
        assert {end: made[end]} == ended
        moved = value(await world.call(f"update_{table}", {"id": made["id"], start: time.replace("03-10", "04-10")}))
        assert {length: moved[length], end: moved[end]} == {**lasts, end: later}


async def test_an_end_without_a_length_moves_with_the_beginning(tmp_path: Path) -> None:
    state = {
        "meetings": [{"id": "m1", "title": "Plan", "start": "2031-03-10T09:00:00Z", "end": "2031-03-10T10:15:00Z"}]
    }
    move = tool("reschedule_meeting", "id", "start", about="Move a meeting to another time.")
    update = tool("update_meeting", "id", about="Change a meeting.", title=STRING, start=STRING)
    async with service(tmp_path, state, move, update) as sim, sim.open() as world:
        moved = value(await world.call("reschedule_meeting", {"id": "m1", "start": "2031-03-12T14:00:00Z"}))
        assert moved["end"] == "2031-03-12T15:15:00Z"
        changed = value(await world.call("update_meeting", {"id": "m1", "start": "2031-03-12T15:00:00Z"}))
        assert changed["end"] == "2031-03-12T15:15:00Z"
        kept = value(await world.call("reschedule_meeting", {"id": "m1", "start": "not a time"}))
        assert kept["end"] == "2031-03-12T15:15:00Z"


@pytest.mark.parametrize(
    ("extend", "table", "times", "asked", "end", "later"),
    [
        ("renew_loan", "loan", {"lent_on": "2031-03-01", "due_date": "2031-03-22"}, {"extra_days": 7}, "due_date",
         "2031-03-29"),
        ("extend_booking", "booking", {"start": "2031-03-01T09:00:00Z", "end": "2031-03-01T10:00:00Z"},
         {"minutes": 30}, "end", "2031-03-01T10:30:00Z"),
        ("prolong_rental", "rental", {"begins_on": "2031-03-01", "ends_on": "2031-03-05"}, {}, "ends_on", "2031-03-07"),
    ],
)  # fmt: skip
async def test_a_duration_moves_the_end_of_a_record(
    tmp_path: Path, extend: str, table: str, times: Json, asked: Json, end: str, later: str
) -> None:
    state = {f"{table}s": [{f"{table}_id": "a1", **times}, {f"{table}_id": "a2", **times}]}
    by = next(iter(asked), "days")
    about = f"Extend a {table} by a number of {by}."
    move = tool(extend, f"{table}_id", about=about, **{by: {**INTEGER, "default": 2}})
    async with service(tmp_path, state, move) as sim, sim.open() as world:
        moved = value(await world.call(extend, {f"{table}_id": "a1", **asked}))
        assert moved == {f"{table}_id": "a1", **times, end: later}


@pytest.mark.parametrize(("due", "by"), [("soon", 7), ("", 7), (None, 7), ("2031-03-01", 10**12)])
async def test_a_duration_moves_nothing_but_times_of_the_calendar(tmp_path: Path, due: Json, by: int) -> None:
    state = {"loans": [{"loan_id": "a1", "due_date": due}, {"loan_id": "a2", "due_date": "2031-03-22"}]}
    renew = tool("renew_loan", "loan_id", about="Renew a loan.", extra_days=INTEGER)
    async with service(tmp_path, state, renew) as sim, sim.open() as world:
        assert value(await world.call("renew_loan", {"loan_id": "a1", "extra_days": by}))["due_date"] == due


@pytest.mark.parametrize(
    ("table", "length", "more"),
    [("boat", "length", 31), ("shift", "days", 4), ("track", "duration_ms", 10**400)],
    ids=["boat", "shift", "track"],
)
async def test_what_is_not_the_length_of_a_given_period_moves_no_end(
    tmp_path: Path, table: str, length: str, more: int
) -> None:
    row = {"id": "a1", length: 3, "start_date": "2031-03-10", "end_date": "2031-12-17"}
    change = tool(f"update_{table}", "id", about=f"Change a {table}.", **{length: NUMBER, "end_date": STRING})
    async with service(tmp_path, {f"{table}s": [row]}, change) as sim, sim.open() as world:
        changed = value(await world.call(f"update_{table}", {"id": "a1", length: more}))
        assert changed == {**row, length: more}
        ended = value(await world.call(f"update_{table}", {"id": "a1", "end_date": "2032-01-01"}))
        assert ended == {**row, length: more, "end_date": "2032-01-01"}


async def test_an_end_that_moves_with_the_beginning_is_guessed(tmp_path: Path) -> None:
    state = {"meetings": [{"id": "m1", "start": "2031-03-10T09:00:00Z", "end": "2031-03-10T10:15:00Z"}]}
    tools = tool("reschedule_meeting", "id", "start"), tool("get_meeting", "id")
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        await world.call("reschedule_meeting", {"id": "m1", "start": "2031-03-12T14:00:00Z"})
        await world.call("get_meeting", {"id": "m1"})
        assert [step.get("guessed") for step in world.ledger.steps[1:]] == [True, True]


async def test_days_prices_and_totals_follow_from_dates_and_the_linked_record(tmp_path: Path) -> None:
    unit = record(name=STRING, daily_rate=NUMBER, deposit=NUMBER)
    amounts = {"rental_days": INTEGER, "daily_rate": NUMBER, "total_amount": NUMBER, "deposit_amount": NUMBER}
    add = tool("add_unit", "name", "daily_rate", "deposit", daily_rate=NUMBER, deposit=NUMBER)
    book = tool("create_rental", "unit_id", "start_date", "end_date", start_date=DAY, end_date=DAY)
    tools = [
        {**add, "outputSchema": unit},
        {**book, "outputSchema": record(unit_id=STRING, start_date=DAY, end_date=DAY, **amounts)},
    ]
    async with service(tmp_path, {}, *tools) as sim, sim.open() as world:
        lift = value(await world.call("add_unit", {"name": "Lift", "daily_rate": 120, "deposit": 300}))
        asked = {"unit_id": lift["id"], "start_date": "2031-04-01", "end_date": "2031-04-06"}
        rental = value(await world.call("create_rental", asked))
        assert [rental[name] for name in amounts] == [5, 120, 600, 300]
        backwards = value(await world.call("create_rental", {**asked, "end_date": "2031-03-01"}))
        assert backwards["rental_days"] > 0
