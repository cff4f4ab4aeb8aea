"""Results that show the records which refer to their record: all of them in a list, the last in an object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import given
from support.matched_tools import answered, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
PAIRS = [("owner", "animal"), ("ship", "voyage"), ("boiler", "service_visit")]


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def many(schema: Json) -> Json:
    return {"type": "array", "items": schema}


def beside(parent: str, name: str) -> Callable[[Json, Json], Json]:
    """Return what makes a result of a record, and a list of others beside it."""

    def shown(whole: Json, part: Json) -> Json:
        return thing(**{parent: whole, name: many(part)})

    return shown


def tools_of(parent: str, child: str, shown: Callable[[Json, Json], Json]) -> list[Json]:
    """Return the tools that create two entities, the second of which refers to the first, and that get the first."""
    whole = thing(**{f"{parent}_id": TEXT, "name": TEXT})
    part = thing(**{f"{child}_id": TEXT, f"{parent}_id": TEXT, "note": TEXT})
    return [
        tool(f"create_{parent}", name=TEXT, output=whole),
        tool(f"add_{child}", **{f"{parent}_id": TEXT, "note": TEXT}, output=part),
        tool(f"update_{child}", **{f"{child}_id": TEXT, "note": TEXT}, output=part),
        tool(f"get_{parent}", **{f"{parent}_id": TEXT}, output=shown(whole, part)),
    ]


@pytest.mark.parametrize(("parent", "child"), PAIRS)
async def test_a_list_beside_a_record_has_the_records_that_refer_to_it(tmp_path: Path, parent: str, child: str) -> None:
    name = f"{child.rpartition('_')[2]}s"
    tools = tools_of(parent, child, beside(parent, name))
    async with simulator(tmp_path, tools, world={"records": {parent: 0, child: 0}}).open() as world:
        first, second = [(await answered(world, f"create_{parent}", name=label))[f"{parent}_id"] for label in "AB"]
        added = [await answered(world, f"add_{child}", **{f"{parent}_id": first, "note": note}) for note in "xy"]
        shown = await answered(world, f"get_{parent}", **{f"{parent}_id": first})
        assert shown[name] == added
        assert (await answered(world, f"get_{parent}", **{f"{parent}_id": second}))[name] == []
        changed = await answered(world, f"update_{child}", **{f"{child}_id": added[0][f"{child}_id"], "note": "z"})
        assert (await answered(world, f"get_{parent}", **{f"{parent}_id": first}))[name] == [changed, added[1]]


@pytest.mark.parametrize(("parent", "child"), PAIRS)
@pytest.mark.parametrize("word", ["latest", "last"])
async def test_the_latest_record_beside_another_is_the_last_that_refers_to_it(
    tmp_path: Path, parent: str, child: str, word: str
) -> None:
    name = f"{word}_{child.rpartition('_')[2]}"

    def shown(whole: Json, part: Json) -> Json:
        return thing(**{parent: whole, name: {"anyOf": [part, {"type": "null"}]}})

    tools = tools_of(parent, child, shown)
    async with simulator(tmp_path, tools, world={"records": {parent: 0, child: 0}}).open() as world:
        key = (await answered(world, f"create_{parent}", name="A"))[f"{parent}_id"]
        assert (await answered(world, f"get_{parent}", **{f"{parent}_id": key}))[name] is None
        added = [await answered(world, f"add_{child}", **{f"{parent}_id": key, "note": note}) for note in "xy"]
        assert (await answered(world, f"get_{parent}", **{f"{parent}_id": key}))[name] == added[1]


async def test_generated_records_that_are_shown_beside_another_are_marked_as_guessed(tmp_path: Path) -> None:
    tools = tools_of("owner", "animal", beside("owner", "animals"))
    guessed = set[tuple[bool, bool]]()
    async with simulator(tmp_path, tools, world={"records": {"owner": 4}}).open() as world:
        for key, _ in [*world.view.rows("owner")]:
            animals = (await answered(world, "get_owner", owner_id=key))["animals"]
            guessed.add((bool(animals), [*world.ledger][-1]["step"]["guessed"]))
    assert guessed <= {(True, True), (False, False)}
    assert (True, True) in guessed


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ("Show an order with its lines and the total.", ["lines"]),
        ("Get an order, including all payments, its lines.", ["lines", "payments"]),
        ("Show an order.", []),
        ("Show an order with care. Lines and payments are elsewhere.", []),
    ],
)
async def test_a_record_is_shown_with_the_parts_that_its_description_promises(
    tmp_path: Path, about: str, shown: list[str]
) -> None:
    state = {
        "orders": [{"order_id": "o1", "buyer": "Al"}, {"order_id": "o2", "buyer": "Bo"}],
        "lines": [{"line_id": "l1", "order_id": "o1", "sku": "A"}, {"line_id": "l2", "order_id": "o2", "sku": "B"}],
        "payments": [{"payment_id": "p1", "order_id": "o1", "amount": 5}],
    }
    add = given.tool("add_line", "order_id", "sku", about="Add a line to an order.")
    get = given.tool("get_order", "order_id", about=about)
    async with given.service(tmp_path, state, get, add) as sim, sim.open() as world:
        await world.call("add_line", {"order_id": "o1", "sku": "C"})
        record = given.value(await world.call("get_order", {"order_id": "o1"}))
        assert sorted(record.keys() - {"order_id", "buyer"}) == shown
        assert [line["sku"] for line in record.get("lines", [])] == ["A", "C"][: 2 * ("lines" in shown)]
        assert [payment["amount"] for payment in record.get("payments", [])] == [5][: "payments" in shown]
