"""Results that show the records which refer to their record: in a list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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


async def test_generated_records_that_are_shown_beside_another_are_marked_as_guessed(tmp_path: Path) -> None:
    tools = tools_of("owner", "animal", beside("owner", "animals"))
    guessed = set[tuple[bool, bool]]()
    async with simulator(tmp_path, tools, world={"records": {"owner": 4}}).open() as world:
        for key, _ in [*world.view.rows("owner")]:
            animals = (await answered(world, "get_owner", owner_id=key))["animals"]
            guessed.add((bool(animals), [*world.ledger][-1]["step"]["guessed"]))
    assert guessed <= {(True, True), (False, False)}
    assert (True, True) in guessed
