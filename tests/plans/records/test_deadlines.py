"""Lists of what is late or still to come: times are compared with that of the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given
from support.matched_tools import answered, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
LOANS = [
    {"id": "a", "title": "Past and open", "returned": False},
    {"id": "b", "title": "To come", "returned": False},
    {"id": "c", "title": "Past and settled", "returned": True},
]
MOMENTS = {"due": ("2019-05-01", "2101-05-01", "2019-06-01"),
           "due_date": ("05/01/2019", "05/01/2101", "06/01/2019"),
           "expires_at": ("2019-05-01", "2101-05-01", "2019-06-01"),
           "deadline": ("2019-05-01T10:00:00Z", "2101-05-01T10:00:00Z", "2019-05-01T10:00:00Z"),
           "due_at": (1_556_704_800, 4_144_989_600, 1_556_704_800)}  # fmt: skip


@pytest.mark.parametrize("field", MOMENTS)
@pytest.mark.parametrize("noun", ["loan", "invoice"])
async def test_what_is_overdue_is_past_its_time_and_not_settled(tmp_path: Path, noun: str, field: str) -> None:
    rows = [{**row, field: moment} for row, moment in zip(LOANS, MOMENTS[field], strict=True)]
    tools = [
        tool(f"list_overdue_{noun}s"),
        tool(f"list_upcoming_{noun}s"),
        tool(f"get_{noun}", **{f"{noun}_id": TEXT}),
    ]
    async with simulator(tmp_path, tools, {f"{noun}s": rows}).open() as world:
        assert [row["id"] for row in await answered(world, f"list_overdue_{noun}s")] == ["a"]
        assert [row["id"] for row in await answered(world, f"list_upcoming_{noun}s")] == ["b"]
        assert not world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize(
    ("field", "settled", "open_"),
    [("completed_at", "2019-04-01", None), ("paid_on", "2019-04-01", ""), ("status", "cancelled", "booked")],
)
@pytest.mark.parametrize(("asked", "due"), [("overdue", "2019-05-01"), ("upcoming", "2101-05-01")])
async def test_what_is_settled_is_neither_overdue_nor_upcoming(
    tmp_path: Path, field: str, settled: Json, open_: Json, asked: str, due: str
) -> None:
    rows = [{"id": "a", "due_date": due, field: settled}, {"id": "b", "due_date": due, field: open_}]
    tools = [tool(f"list_{asked}_visits"), tool("get_visit", visit_id=TEXT)]
    async with simulator(tmp_path, tools, {"visits": rows}).open() as world:
        assert [row["id"] for row in await answered(world, f"list_{asked}_visits")] == ["b"]


async def test_a_state_that_says_overdue_needs_no_time(tmp_path: Path) -> None:
    rows = [{"id": "a", "status": "overdue", "due": "2101-01-01"}, {"id": "b", "status": "paid", "due": "2019-01-01"}]
    tools = [tool("list_overdue_bills"), tool("get_bill", bill_id=TEXT)]
    async with simulator(tmp_path, tools, {"bills": rows}).open() as world:
        assert [row["id"] for row in await answered(world, "list_overdue_bills")] == ["a"]


@pytest.mark.parametrize("flag", ["overdue_only", "only_overdue", "late"])
async def test_a_flag_lists_what_is_overdue(tmp_path: Path, flag: str) -> None:
    rows = [
        {"loan_id": "L1", "due_date": "2019-03-01", "status": "open"},
        {"loan_id": "L2", "due_date": "2019-03-01", "status": "returned"},
        {"loan_id": "L3", "due_date": "2101-04-01", "status": "open"},
    ]
    listed = given.tool("list_loans", about="List loans.", **{flag: {"type": "boolean", "default": False}})
    async with given.service(tmp_path, {"loans": rows}, listed) as sim, sim.open() as world:
        for arguments, keys in (({flag: True}, ["L1"]), ({flag: False}, ["L1", "L2", "L3"]), ({}, ["L1", "L2", "L3"])):
            shown = given.value(await world.call("list_loans", arguments))
            assert [row["loan_id"] for row in shown] == keys
