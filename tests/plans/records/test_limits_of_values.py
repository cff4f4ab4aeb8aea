"""Times at the ends of the calendar, and numbers that no float holds: calls are answered all the same."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.given import INTEGER, NUMBER, STRING, service, tool, value

from mcp_sim.generate.coherence import adjustments
from mcp_sim.types.domain import Entity, Field

Json = Any
TIME = {**STRING, "format": "date-time"}
DAY = {**STRING, "format": "date"}
HUGE = 10**400
LINES = {
    "type": "array",
    "items": {"type": "object", "properties": {"sku": STRING, "quantity": INTEGER, "price": NUMBER, "total": NUMBER}},
}
FIELDS: dict[str, Json] = {
    "start_time": TIME, "end_time": TIME, "duration_ms": NUMBER, "due_date": DAY, "lines": LINES, "quantity": INTEGER,
    "unit_price": NUMBER, "total_amount": NUMBER,
}  # fmt: skip
ENDS: list[tuple[str, Json]] = [
    *product(("start_time", "end_time"), ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")),
    *product(("due_date",), ("9999-12-31", "0001-01-01")),
    *product(("duration_ms", "quantity", "unit_price", "total_amount"), (HUGE, -HUGE, 1e308)),
    *product(("lines",), ([{"sku": "a", "quantity": HUGE, "price": 1.5}], [{"quantity": 2, "price": 1e308}] * 2)),
]


@pytest.mark.parametrize("noun", ["booking", "invoice", "rental"])
async def test_every_value_that_a_schema_allows_is_answered(tmp_path: Path, noun: str) -> None:
    form = {"type": "object", "properties": {"id": STRING, **FIELDS}, "required": ["id", *FIELDS]}
    tools = [
        {**tool(f"create_{noun}", about=f"Create a {noun}.", **FIELDS), "outputSchema": form},
        {**tool(f"update_{noun}", "id", about=f"Change a {noun}.", **FIELDS), "outputSchema": form},
        tool(f"extend_{noun}", "id", about=f"Extend a {noun} by a time.", extra_ms=INTEGER),
        tool(f"list_overdue_{noun}s"),
        tool(f"search_{noun}s", **{f"{name}_after": FIELDS[name] for name in ("start_time", "due_date")}),
    ]
    async with service(tmp_path, {f"{noun}s": []}, *tools) as sim, sim.open() as world:
        for name, given in ENDS:
            made = value(await world.call(f"create_{noun}", {name: given}))
            assert made[name] == given or name == "lines"
            await world.call(f"update_{noun}", {"id": made["id"], "start_time": "2031-01-01T10:00:00Z", name: given})
            extended, searched = {"id": made["id"], "extra_ms": HUGE}, {f"{name}_after": given}
            calls = {f"extend_{noun}": extended, f"list_overdue_{noun}s": {}, f"search_{noun}s": searched}
            for call, arguments in calls.items():
                await world.call(call, arguments)


@pytest.mark.parametrize("created", ["2031-03-10T11:00:00Z", "9999-12-31T23:59:59Z"])
async def test_a_record_whose_given_creation_is_to_come_can_be_changed(tmp_path: Path, created: str) -> None:
    lamps = [{"id": "l1", "color": "red", "created_at": created, "updated_at": created}]
    update = tool("update_lamp", "id", "color", about="Change a lamp.")
    rename = tool("rename_lamp", "id", "new_id", about="Give a lamp another id.")
    async with service(tmp_path, {"lamps": lamps}, update, rename) as sim, sim.open() as world:
        lamp = value(await world.call("update_lamp", {"id": "l1", "color": "blue"}))
        assert (lamp["color"], lamp["created_at"]) == ("blue", created)
        await world.call("rename_lamp", {"id": "l1", "new_id": "l2"})
        lamp = value(await world.call("update_lamp", {"id": "l2", "color": "green"}))
        assert (lamp["color"], lamp["created_at"]) == ("green", created)


def test_a_key_is_never_computed_like_an_amount() -> None:
    fields = {name: Field(name, NUMBER) for name in ("amount", "hours", "daily_rate", "total")}
    for key in ("amount", "total"):
        names = [name for name, _ in adjustments(Entity("fee", key, fields=fields))]
        assert key not in names
        assert names


async def test_an_end_beyond_the_calendar_stays(tmp_path: Path) -> None:
    rows = [{"id": "r1", "starts_on": "2031-01-01", "days": 3, "ends_on": "2031-01-04"}]
    update = tool("update_rental", "id", about="Change a rental.", starts_on=DAY, days=INTEGER)
    async with service(tmp_path, {"rentals": rows}, update) as sim, sim.open() as world:
        changed = value(await world.call("update_rental", {"id": "r1", "starts_on": "9999-12-31"}))
        assert (changed["starts_on"], changed["ends_on"]) == ("9999-12-31", "2031-01-04")
        changed = value(await world.call("update_rental", {"id": "r1", "starts_on": "2031-02-01", "days": HUGE}))
        assert changed["ends_on"] == "2031-01-04"
