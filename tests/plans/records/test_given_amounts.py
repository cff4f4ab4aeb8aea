"""Creates and sums over given records: arguments that are missing, totals of a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
COUNT: Json = {"type": "integer"}


def record(needed: str = "", **fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": needed.split() or [*fields]}


@pytest.mark.parametrize(("noun", "given"), [("visit", {"note": "fever", "priority": 2}), ("loan", {"remark": "torn"})])
@pytest.mark.parametrize("is_typed", [True, False])
async def test_an_argument_that_is_missing_leaves_no_generated_value(
    tmp_path: Path, noun: str, given: Json, *, is_typed: bool
) -> None:
    types: Json = {name: COUNT if isinstance(value, int) else TEXT for name, value in given.items()}
    output = record("id who", id=TEXT, who=TEXT, **types) if is_typed else None
    create = tool(f"create_{noun}", needed="who", who=TEXT, **types, output=output)
    state: Json = {f"{noun}s": [{"id": "r1", "who": "Ada", **given}]}
    async with simulator(tmp_path, [create, tool(f"list_{noun}s")], state).open() as world:
        made = await answered(world, f"create_{noun}", who="Bo")
        assert {name: value for name, value in made.items() if value is not None} == {"id": "r2", "who": "Bo"}
        whole = await answered(world, f"create_{noun}", who="Cy", **given)
        assert whole == {"id": "r3", "who": "Cy", **given}
        rows = await answered(world, f"list_{noun}s")
        assert [row.get(name) for row in rows for name in given] == [
            *given.values(),
            *[None] * len(given),
            *given.values(),
        ]
        assert not any(step.get("guessed") for step in world.ledger.steps)


async def test_an_initial_value_is_kept_where_an_argument_is_missing(tmp_path: Path) -> None:
    create = tool("create_job", needed="title", title=TEXT, status=TEXT, retries=COUNT, note=TEXT)
    state: Json = {"jobs": [{"id": "j1", "title": "a", "status": "open", "retries": 0, "note": "x"}]}
    async with simulator(tmp_path, [create, tool("list_jobs")], state).open() as world:
        made = await answered(world, "create_job", title="b")
        assert made == {"id": "j2", "title": "b", "status": "open", "retries": 0, "note": None}


@pytest.mark.parametrize(
    ("name", "noun", "number"),
    [("total_hours", "entry", "hours"), ("get_donation_total", "donation", "amount"), ("total_fees", "fee", "amount")],
)
@pytest.mark.parametrize("is_typed", [True, False])
async def test_a_name_that_promises_a_total_sums_up_what_a_link_selects(
    tmp_path: Path, name: str, noun: str, number: str, *, is_typed: bool
) -> None:
    several = "entries" if noun == "entry" else f"{noun}s"
    rows: Json = [{"id": f"r{at}", "owner_id": owner, number: at} for at, owner in enumerate(["o1", "o2", "o1"], 2)]
    output = record(owner_id=TEXT, total=NUMBER, count=COUNT) if is_typed else None
    tools = [tool(name, owner_id=TEXT, output=output), tool(f"list_{several}"), tool("list_owners")]
    state: Json = {several: rows, "owners": [{"id": "o1"}, {"id": "o2"}]}
    async with simulator(tmp_path, tools, state).open() as world:
        for owner, total, count in [("o1", 6, 2), ("o2", 3, 1)]:
            shown = await answered(world, name, owner_id=owner)
            assert total in shown.values()
            assert not is_typed or shown == {"owner_id": owner, "total": total, "count": count}


@pytest.mark.parametrize("choices", [["low", "high"], ["GBP", "EUR", "USD"]])
async def test_a_missing_choice_is_generated_as_a_guess_and_a_missing_text_is_null(
    tmp_path: Path, choices: Json
) -> None:
    level: Json = {"type": "string", "enum": choices}
    lamps = [{"id": "AA", "title": "Arc", "level": choices[0], "note": "old"}]
    tools = [tool("create_lamp", needed="title", title=TEXT, level=level, note=TEXT), tool("list_lamps")]
    async with simulator(tmp_path, tools, {"lamps": lamps}).open() as world:
        lamp = await answered(world, "create_lamp", title="Bow", note="new")
        assert lamp["level"] in choices
        assert world.ledger.steps[-1]["guessed"]
        assert (await answered(world, "create_lamp", title="Cap", level=choices[1]))["note"] is None
        assert not world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize(("noun", "number"), [("lamp", "price"), ("room", "temperature"), ("parcel", "weight_kg")])
@pytest.mark.parametrize("verb", ["set", "update"])
async def test_whole_numbers_of_given_records_become_fractions_where_tools_say_number(
    tmp_path: Path, noun: str, number: str, verb: str
) -> None:
    name = f"set_{number}" if verb == "set" else f"update_{noun}"
    state = {f"{noun}s": [{"id": "r1", "name": "a", number: 30, "shelf": 2}, {"id": "r2", "name": "b", number: 4}]}
    tools = [tool(name, f"Change a {noun}.", id=TEXT, **{number: NUMBER}), tool(f"get_{noun}", id=TEXT)]
    async with simulator(tmp_path, tools, state).open() as world:
        assert (await answered(world, name, id="r1", **{number: 29.5}))[number] == 29.5
        assert (await answered(world, f"get_{noun}", id="r1"))[number] == 29.5
        assert (await answered(world, f"get_{noun}", id="r2"))[number] == 4


@pytest.mark.parametrize(("owner", "held"), [("account", "balance"), ("card", "credit")])
async def test_a_fraction_is_added_to_a_whole_given_balance(tmp_path: Path, owner: str, held: str) -> None:
    tools = [tool("deposit", amount=NUMBER), tool(f"get_{held}")]
    async with simulator(tmp_path, tools, {owner: {held: 20}}).open() as world:
        await answered(world, "deposit", amount=2.5)
        assert await answered(world, f"get_{held}") == 22.5
