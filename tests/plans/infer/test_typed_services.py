"""Typed tools whose names say little: the type of the result says which records they show, read and change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, simulator, tool

from mcp_sim.world.world import World

Json = Any
COUNT: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}


def typed(title: str, **fields: Json) -> Json:
    return {"type": "object", "title": title, "properties": fields, "required": [*fields]}


def listed(row: Json) -> Json:
    """Return the result of a function with a list, as servers in Python declare it."""
    rows: Json = {"type": "array", "items": row}
    return {"type": "object", "properties": {"result": rows}, "required": ["result"]}


async def asked(world: World, called: str, **arguments: Json) -> tuple[Json, bool]:
    """Return the answer, without its wrapper, and whether it is a guess."""
    answer = await answered(world, called, **arguments)
    return answer.get("result", answer), world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("noun", "mark", "owner"), [("van", "plate", "driver"), ("boat", "hull", "skipper"), ("phone", "imei", "client")]
)
async def test_rows_are_known_by_the_text_that_their_tools_require_not_by_an_owner(
    noun: str, mark: str, owner: str, is_first: bool, tmp_path: Path
) -> None:
    owned: dict[str, Json] = {f"{owner}_id": COUNT}
    fields: dict[str, Json] = {mark: TEXT, **owned, "age": COUNT}
    row = typed(noun.title(), **fields)
    tools = [
        tool(f"register_{noun}", f"Register a {noun}.", output=row, **fields),
        tool(f"find_{noun}s", f"Find {noun}s of a {owner}.", output=listed(row), **owned),
        tool("update_age", f"Set the age of a {noun}.", output=row, **{mark: TEXT, "age": COUNT}),
    ]
    rows = [{mark: key, f"{owner}_id": at, "age": at} for at, key in enumerate(("A-1", "B-2"), 1)]
    rows = rows if is_first else [dict(sorted(row.items(), reverse=True)) for row in rows]
    state = {f"{owner}s": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}], f"{noun}s": rows}
    async with simulator(tmp_path, tools, state=state).open() as world:
        new = {mark: "C-3", f"{owner}_id": 2, "age": 7}
        if is_first:
            assert await asked(world, f"register_{noun}", **new) == (new, False)
            found, _ = await asked(world, f"find_{noun}s", **{f"{owner}_id": 2})
            assert [row[mark] for row in found] == ["B-2", "C-3"]
        assert (await asked(world, "update_age", **{mark: "B-2", "age": 9}))[0] == {**rows[1], "age": 9}


@pytest.mark.parametrize("single", ["settings", "info", "details"])
@pytest.mark.parametrize(("verb", "noun", "there"), [("restock", "part", "stock"), ("refill", "tank", "quantity")])
async def test_a_verb_without_a_noun_is_about_the_type_of_its_result(
    verb: str, noun: str, there: str, single: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{"sku": TEXT, there: COUNT, "price": NUMBER})
    tools = [
        tool(verb, f"Add received pieces to the {noun}.", output=row, sku=TEXT, qty=COUNT),
        tool(f"get_{noun}", f"Get a {noun}.", output=row, sku=TEXT),
    ]
    state = {f"{noun}s": [{"sku": "S1", there: 4, "price": 2.5}], single: {"currency": "EUR", "rate": 2}}
    async with simulator(tmp_path, tools, state=state).open() as world:
        expected = {"sku": "S1", there: 7, "price": 2.5}
        assert (await asked(world, verb, sku="S1", qty=3))[0] == expected
        assert await asked(world, f"get_{noun}", sku="S1") == (expected, False)


@pytest.mark.parametrize(
    ("holder", "act", "unit"), [("job", "labour", "hours"), ("trip", "distance", "km"), ("roast", "rest", "minutes")]
)
async def test_an_amount_with_the_key_of_a_record_enters_the_number_that_both_name(
    holder: str, act: str, unit: str, tmp_path: Path
) -> None:
    row = typed(holder.title(), **{"id": COUNT, "about": TEXT, f"{act}_{unit}": NUMBER})
    tools = [
        tool(f"log_{act}", f"Add {act} to a {holder}.", output=row, **{f"{holder}_id": COUNT, unit: NUMBER}),
        tool(f"get_{holder}", f"Get a {holder}.", output=row, **{f"{holder}_id": COUNT}),
    ]
    rows = [{"id": at, "about": "x", f"{act}_{unit}": 1.5} for at in (1, 2)]
    async with simulator(tmp_path, tools, state={f"{holder}s": rows}).open() as world:
        expected = {**rows[1], f"{act}_{unit}": 3.5}
        assert await asked(world, f"log_{act}", **{f"{holder}_id": 2, unit: 2}) == (expected, False)
        assert await asked(world, f"get_{holder}", **{f"{holder}_id": 2}) == (expected, False)


@pytest.mark.parametrize("word", ["last", "latest", "newest"])
@pytest.mark.parametrize(("noun", "owner"), [("reading", "meter"), ("visit", "patient"), ("inspection", "hive")])
async def test_the_last_record_is_read_and_none_is_made(noun: str, owner: str, word: str, tmp_path: Path) -> None:
    row, of_owner = typed(noun.title(), date=TEXT, value=COUNT, text=TEXT), dict[str, Json]({owner: TEXT})
    tools = [
        tool(f"{word}_{noun}", f"The {word} {noun} of a {owner}.", output=row, **of_owner),
        tool(f"get_{noun}s", f"The {noun}s of a {owner}.", output=listed(row), **of_owner),
    ]
    rows = [{"date": f"2026-0{at}-01", "value": at, "text": "x"} for at in (3, 5)]
    async with simulator(tmp_path, tools, state={f"{noun}s": {"A": rows, "B": rows[:1]}}).open() as world:
        assert (await asked(world, f"{word}_{noun}", **{owner: "A"}))[0] == rows[1]
        assert (await asked(world, f"get_{noun}s", **{owner: "A"}))[0] == rows


@pytest.mark.parametrize(("noun", "field", "word"), [("hive", "strength", "weak"), ("road", "surface", "paved")])
async def test_a_list_that_its_name_only_describes_shows_known_rows_and_is_a_guess(
    noun: str, field: str, word: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{"name": TEXT, field: TEXT, "year": COUNT})
    tools = [
        tool(f"{word}_{noun}s", f"The {noun}s that are {word}.", output=listed(row)),
        tool(f"get_{noun}", f"Get a {noun}.", output=row, name=TEXT),
    ]
    rows = [{"name": name, field: value, "year": 1} for name, value in (("A", word), ("B", "other"), ("C", word))]
    async with simulator(tmp_path, tools, state={f"{noun}s": rows}).open() as world:
        assert await asked(world, f"{word}_{noun}s") == ([rows[0], rows[2]], True)


@pytest.mark.parametrize(
    ("name", "about", "kept"),
    [
        ("low_stock", "Parts whose stock is below the threshold.", ["A"]),
        ("parts_to_order", "Parts with a stock under the threshold", ["A"]),
        ("well_stocked", "Parts whose stock is over the threshold.", ["C"]),
    ],
)
async def test_a_threshold_bounds_the_number_that_the_description_mentions(
    name: str, about: str, kept: list[str], tmp_path: Path
) -> None:
    row = typed("Part", sku=TEXT, stock=COUNT, price=NUMBER)
    tools = [
        tool(name, about, output=listed(row), needed="", threshold={**COUNT, "default": 5}),
        tool("get_part", "Get a part.", output=row, sku=TEXT),
    ]
    rows = [{"sku": sku, "stock": stock, "price": 1.5} for sku, stock in (("A", 3), ("B", 5), ("C", 8))]
    async with simulator(tmp_path, tools, state={"parts": rows}).open() as world:
        assert [row["sku"] for row in (await asked(world, name, threshold=5))[0]] == kept
        assert [row["sku"] for row in (await asked(world, name, threshold=0))[0]] == (
            [] if kept == ["A"] else ["A", "B", "C"]
        )


@pytest.mark.parametrize(("act", "entered"), [("add", "part"), ("add", "dose")])
async def test_what_enters_a_list_has_the_defaults_of_the_call(act: str, entered: str, tmp_path: Path) -> None:
    item = typed("Line", sku=TEXT, qty=COUNT)
    row = typed("Job", id=COUNT, about=TEXT, **{f"{entered}s": {"type": "array", "items": item}})
    amount = {**COUNT, "default": 1}
    tools = [
        tool(
            f"{act}_{entered}_to_job", "Use one.", output=row, needed="job_id sku", job_id=COUNT, sku=TEXT, qty=amount
        ),
        tool("get_job", "Get a job.", output=row, job_id=COUNT),
    ]
    async with simulator(tmp_path, tools, state={"jobs": [{"id": 1, "about": "x", f"{entered}s": []}]}).open() as world:
        answer, _ = await asked(world, f"{act}_{entered}_to_job", job_id=1, sku="S1")
        assert answer[f"{entered}s"] == [{"sku": "S1", "qty": 1}]
