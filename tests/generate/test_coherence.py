"""Fields that follow from others: what is still owed, and ends that are not before their beginnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
MONEY: Json = {"type": "number"}
DATE: Json = {"type": "string", "format": "date"}


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


@pytest.mark.parametrize("noun", ["invoice", "booking"])
@pytest.mark.parametrize("paid", ["amount_paid", "paid_amount", "total_paid"])
@pytest.mark.parametrize("owed", ["balance_due", "amount_due", "outstanding_balance"])
async def test_what_is_owed_is_the_total_without_what_was_paid(tmp_path: Path, noun: str, paid: str, owed: str) -> None:
    record = thing(**{f"{noun}_id": TEXT, "total": MONEY, paid: MONEY, owed: MONEY})
    tools = [
        tool(f"create_{noun}", total=MONEY, output=record),
        tool(f"update_{noun}", **{f"{noun}_id": TEXT, paid: MONEY}, output=record),
        tool(f"list_{noun}s", output=thing(**{f"{noun}s": {"type": "array", "items": record}})),
    ]
    async with simulator(tmp_path, tools, world={"records": {noun: 5}}).open() as world:
        for row in (await answered(world, f"list_{noun}s"))[f"{noun}s"]:
            assert row[owed] == round(max(0, row["total"] - row[paid]), 2)
        new = await answered(world, f"create_{noun}", total=80.5)
        assert (new[paid], new[owed]) == (0, 80.5)
        changed = await answered(world, f"update_{noun}", **{f"{noun}_id": new[f"{noun}_id"], paid: 30})
        assert (changed[paid], changed[owed]) == (30, 50.5)


@pytest.mark.parametrize(("first", "last"), [("opens_on", "closes_on"), ("opens_at", "closes_at")])
async def test_nothing_closes_before_it_opens(tmp_path: Path, first: str, last: str) -> None:
    day: Json = DATE if first.endswith("on") else {"type": "string", "format": "date-time"}
    show = thing(show_id=TEXT, name=TEXT, **{first: day, last: day})
    tools = [
        tool("create_show", **{"name": TEXT, first: day, last: day}, output=show),
        tool("list_shows", output=thing(shows={"type": "array", "items": show})),
    ]
    async with simulator(tmp_path, tools, world={"records": {"show": 20}}).open() as world:
        shows = (await answered(world, "list_shows"))["shows"]
    assert len(shows) == 20
    assert [row for row in shows if row[first] > row[last]] == []
