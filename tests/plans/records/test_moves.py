"""Updates whose results show a value before and after: from where to where something moved, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
TIME: Json = {"type": "string", "format": "date-time"}
MOVES = [
    ("statue", "move", "hall", "moved_at"),
    ("parcel", "relocate", "shelf", "relocated_at"),
    ("nurse", "transfer", "ward", "transferred_on"),
    ("cabin", "repaint", "colour", "repainted_at"),
]


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def tools_of(noun: str, verb: str, place: str, when: str, sides: tuple[str, str]) -> list[Json]:
    key, (before, after) = f"{noun}_id", sides
    record = thing(**{key: TEXT, "label": TEXT, place: TEXT})
    moved = thing(**{key: TEXT, f"{before}_{place}": TEXT, f"{after}_{place}": TEXT, when: TIME})
    return [
        tool(f"create_{noun}", **{"label": TEXT, place: TEXT}, output=record),
        tool(f"get_{noun}", **{key: TEXT}, output=record),
        tool(f"{verb}_{noun}", **{key: TEXT, f"{after}_{place}": TEXT}, output=moved),
    ]


@pytest.mark.parametrize(("noun", "verb", "place", "when"), MOVES)
@pytest.mark.parametrize("sides", [("from", "to"), ("old", "new"), ("previous", "new")])
async def test_a_move_changes_the_field_and_shows_both_of_its_values(
    tmp_path: Path, noun: str, verb: str, place: str, when: str, sides: tuple[str, str]
) -> None:
    before, after = (f"{side}_{place}" for side in sides)
    tools = tools_of(noun, verb, place, when, sides)
    async with simulator(tmp_path, tools, world={"records": {noun: 0}}).open() as world:
        key = {f"{noun}_id": (await answered(world, f"create_{noun}", **{"label": "A", place: "P"}))[f"{noun}_id"]}
        for old, new in [("P", "Q"), ("Q", "R")]:
            moved = await answered(world, f"{verb}_{noun}", **key, **{after: new})
            assert {before: moved[before], after: moved[after]} == {before: old, after: new}
            assert moved[when] == [*world.ledger][-1]["step"]["at"]
            assert (await answered(world, f"get_{noun}", **key))[place] == new
            # what a guessed plan has written stays in doubt
            assert [*world.ledger][-1]["step"]["guessed"] is world.scenario.domain.plans[f"{verb}_{noun}"].guessed
