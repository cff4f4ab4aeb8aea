"""Rows and tables under rough handling: nested values, odd arguments, deletions in loops, large tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.libraries import ACT, ITEMS, acted, simulator, small
from support.services import value

from mcp_sim.types.errors import Crash

Json = Any


# changes --------------------------------------------------------------------------------------------------------------


async def test_rows_deleted_or_renamed_by_a_loop_do_not_come_up_in_it(tmp_path: Path) -> None:
    body = """\
for _ in range(4):
    world.item.add()
seen = []
for row in world.item:
    seen.append(row["id"])
    if row["id"] == "I-1":
        world.item.delete("I-2")
        world.item.get("I-3")["id"] = "I-9"
return [seen, [row["id"] for row in world.item], world.item.get("I-2"), len(world.item)]"""
    assert await acted(tmp_path, body) == [["I-1", "I-4"], ["I-1", "I-4", "I-9"], None, 3]


@pytest.mark.parametrize("fresh", ["Counter()", "defaultdict(int)", "({'q': 0},)[0]"])
async def test_values_that_a_program_keeps_changing_are_written_as_they_are_in_the_end(
    tmp_path: Path, fresh: str
) -> None:
    body = f"""\
from collections import Counter, defaultdict
if a:
    row = world.item.add()
    row["tags"] = {fresh}
    world.item.find(name="other")
    row["tags"]["q"] += 1
return world.item.get("I-1")["tags"]"""
    assert await acted(tmp_path, body, {"a": 1}, {}) == {"q": 1}


async def test_a_tuple_is_stored_as_a_list_that_may_change(tmp_path: Path) -> None:
    body = """\
row = world.item.get("I-1") or world.item.add()
row["tags"] = ("x", [])
world.item.find(name="other")
row["tags"][1].append(1)
return row["tags"]"""
    assert await acted(tmp_path, body, {}, {}) == ["x", [1]]


@pytest.mark.parametrize("loss", ["del row['id']", "row.pop('id')", "row['id'] = None", "row['id'] = [1]"])
async def test_a_record_cannot_lose_its_key(tmp_path: Path, loss: str) -> None:
    with pytest.raises(Crash, match="key id"):
        await acted(tmp_path, f"row = world.item.add()\n{loss}")


async def test_what_a_function_does_to_its_arguments_stays_in_the_call(tmp_path: Path) -> None:
    async with simulator(tmp_path, small("return a.pop()"), ACT).open() as world:
        assert value(await world.call("act", {"a": [1, 2]})) == 2
        assert world.ledger.newest["step"]["arguments"] == {"a": [1, 2]}


# batches --------------------------------------------------------------------------------------------------------------


async def test_a_lost_item_of_a_batch_leaves_lists_that_were_read_before_it_connected(tmp_path: Path) -> None:
    fault: Json = {"partial_batch": {"items": [2]}}
    body = """\
row = world.item.get("I-1") or world.item.add()
tags = row["tags"]
for word in world.each(a or []):
    tags.append(word)
    world.item.add(name=word)
return tags"""
    calls: list[Json] = [{}, {"a": ["x", "y", "z"]}, {}]
    assert await acted(tmp_path, body, *calls, perturbations=[fault]) == ["x", "z"]


async def test_a_lost_item_leaves_no_trace_in_libraries_that_variables_hold(tmp_path: Path) -> None:
    fault: Json = {"partial_batch": {"items": [2]}}
    body = """\
files = world.files
for name in world.each(a or []):
    files.write(f"/{name}.txt", name)
    world.item.add(name=name)
if not a:
    return [files.read(f"/{name}.txt") for name in "xz"] + [row["name"] for row in world.item]"""
    shown = await acted(tmp_path, body, {"a": ["x", "y", "z"]}, {}, perturbations=[fault])
    assert len(shown) == 4
    assert shown[2:] == ["x", "z"]


async def test_a_batch_within_an_item_belongs_to_that_item(tmp_path: Path) -> None:
    fault: Json = {"partial_batch": {"items": [2]}}
    body = """\
for outer in world.each([1, 2, 3]):
    for inner in world.each([10, 20]):
        world.item.add(size=outer + inner)
    world.item.add(size=outer)"""
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT, perturbations=[fault]).open() as world:
        await world.call("act", {})
        assert [record["size"] for _, record in world.view.rows("item")] == [11, 21, 1, 13, 23, 3]


@pytest.mark.parametrize("leave", ["break", "raise KeyError", "raise Refused('no')"])
async def test_leaving_a_batch_early_ends_its_item(tmp_path: Path, leave: str) -> None:
    body = f"""\
try:
    for at in world.each([1, 2, 3]):
        world.item.add(size=at)
        if at == 2:
            {leave}
except (KeyError, Refused):
    pass
world.item.add(size=9)"""
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT).open() as world:
        await world.call("act", {})
        changes = world.ledger.newest["step"]["committed"]
        assert [(change["record"]["size"], change.get("part")) for change in changes] == [(1, 0), (2, 1), (9, None)]


async def test_an_item_that_catches_a_refusal_keeps_what_it_wrote_before(tmp_path: Path) -> None:
    body = """\
for at in world.each([1, 2, 3]):
    world.item.add(size=at)
    try:
        if at == 2:
            raise Refused("no")
    except Refused:
        pass
return [row["size"] for row in world.item]"""
    assert await acted(tmp_path, body) == [1, 2, 3]


# odd arguments --------------------------------------------------------------------------------------------------------


async def test_searches_and_pages_take_what_agents_leave_out(tmp_path: Path) -> None:
    body = """\
for name in ("5 red", "6 blue", "7 red"):
    world.item.add(name=name)
found = [len(world.item.search(text)) for text in (None, "", 5, "RED")]
page = world.item.page(limit=None, offset=None, cursor="")
return [found, len(page.rows), page.more, [row["id"] for row in world.item.page(limit=1, cursor=1).rows]]"""
    assert await acted(tmp_path, body) == [[3, 3, 1, 2], 3, False, ["I-2"]]


async def test_searching_sees_what_a_program_appended_to_a_list(tmp_path: Path) -> None:
    body = """\
world.item.add()["tags"].append("new")
return [len(world.item.search("new")), len(world.item.find(tags=["new"]))]"""
    assert await acted(tmp_path, body) == [1, 1]


# failures -------------------------------------------------------------------------------------------------------------


async def test_arguments_of_any_name_reach_a_function_that_takes_all(tmp_path: Path) -> None:
    program = small("").replace(
        "def act(world, a=None, b=None):", "def act(world, from_=None, **rest):\n    return [from_, rest]"
    )
    async with simulator(tmp_path, program, ACT).open() as world:
        given = {"from": 1, "world": 2, "due-date": 3, "2fa": 4}
        assert value(await world.call("act", given)) == [1, {"due-date": 3, "2fa": 4}]


# large tables ---------------------------------------------------------------------------------------------------------


async def test_reading_nested_values_and_other_tables_in_turn_takes_one_pass(tmp_path: Path) -> None:
    rows = {"item": {"rows": [{"id": f"I-{at}", "tags": ["x"]} for at in range(4000)]}}
    tables = f'{ITEMS}, "log": {{"ids": 1, "fields": {{"item": ""}}}}'
    body = """\
for row in world.item:
    row["tags"].append("y")
    world.log.get(row["id"])
    if world.log.find(item=row["id"]) or world.item.find(name=row["id"]):
        return "found"
return len(world.item)"""
    async with simulator(tmp_path, small(body, tables=tables), ACT, world={"records": rows}).open() as world:
        assert value(await world.call("act", {})) == 4000
        record = world.view.get("item", "I-3999")
        assert record is not None
        assert record["tags"] == ["x", "y"]


async def test_a_page_of_a_large_table_makes_no_rows_beyond_it(tmp_path: Path) -> None:
    rows = {"item": {"rows": [{"id": f"I-{at}"} for at in range(500)]}}
    body = """\
page = world.item.page(limit=3, offset=100)
return [[row["id"] for row in page.rows], page.total, len(world.item._rows)]"""
    shown = await acted(tmp_path, body, world={"records": rows})
    assert shown == [["I-100", "I-101", "I-102"], 500, 3]
