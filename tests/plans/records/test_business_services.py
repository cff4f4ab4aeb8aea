"""Typed services as businesses have them: verbs of a trade, decisions, and lines that change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.given import INTEGER, NUMBER, STRING, tool, value
from support.work import MOST_GROWTH, counted

from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.world.world import World

Json = Any
STATES = ["draft", "active", "stopped", "paid", "waived", "approved", "rejected"]
WORDS = [("dose", "Aspirin"), ("permit", "Quay"), ("lease", "Attic")]


def shape(**parts: Json) -> Json:
    return {"type": "object", "properties": parts, "required": [*parts]}


def rows(name: str, record: Json) -> Json:
    return shape(**{name: {"type": "array", "items": record}})


def typed(output: Json, name: str, *required: str, about: str = "", **arguments: Json) -> Json:
    return {**tool(name, *required, about=about, **arguments), "outputSchema": output}


def serve(folder: Path, *tools: Json) -> Simulator:
    (folder / "trade.json").write_text(json.dumps({"tools": tools}))
    return Simulator(load(folder / "trade.json"))


def is_guessed(world: World) -> bool:
    return [*world.ledger][-1]["step"]["guessed"]


def with_status(noun: str) -> tuple[Json, list[Json]]:
    """Return the record of a noun, and the tools that create, get and list it."""
    record = shape(**{f"{noun}_id": STRING, "label": STRING, "status": {"type": "string", "enum": STATES}})
    tools = [
        typed(record, f"create_{noun}", "label"),
        typed(record, f"get_{noun}", f"{noun}_id"),
        typed(rows(f"{noun}s", record), f"list_{noun}s", label=STRING, active_only={"type": "boolean"}),
    ]
    return record, tools


@pytest.mark.parametrize(("noun", "label"), WORDS)
async def test_what_a_call_does_is_the_state(tmp_path: Path, noun: str, label: str) -> None:
    record, tools = with_status(noun)
    async with serve(tmp_path, *tools, typed(record, f"stop_{noun}", f"{noun}_id")) as sim, sim.open() as world:
        key = value(await world.call(f"create_{noun}", {"label": label}))[f"{noun}_id"]
        changed = value(await world.call(f"stop_{noun}", {f"{noun}_id": key}))
        assert changed["status"] == "stopped"
        assert not is_guessed(world)
        assert value(await world.call(f"get_{noun}", {f"{noun}_id": key})) == changed
        assert not value(await world.call(f"list_{noun}s", {"label": label, "active_only": True}))[f"{noun}s"]


@pytest.mark.parametrize(("noun", "label"), WORDS)
async def test_a_change_that_no_result_shows_is_a_guess(tmp_path: Path, noun: str, label: str) -> None:
    record, tools = with_status(noun)
    update = typed(record, f"update_{noun}", f"{noun}_id", urgent={"type": "boolean"}, label=STRING)
    async with serve(tmp_path, *tools, update) as sim, sim.open() as world:
        key = value(await world.call(f"create_{noun}", {"label": label}))[f"{noun}_id"]
        await world.call(f"update_{noun}", {f"{noun}_id": key, "label": "Other"})
        assert not is_guessed(world)
    idle = typed(record, f"update_{noun}", f"{noun}_id", urgent={"type": "boolean"})
    async with serve(tmp_path, *tools, idle) as sim, sim.open() as world:
        key = value(await world.call(f"create_{noun}", {"label": label}))[f"{noun}_id"]
        await world.call(f"update_{noun}", {f"{noun}_id": key, "urgent": True})
        assert is_guessed(world)


@pytest.mark.parametrize(("verb", "noun"), [("hire", "employee"), ("admit", "patient"), ("commission", "boat")])
async def test_the_verb_of_a_trade_makes_what_other_tools_have(tmp_path: Path, verb: str, noun: str) -> None:
    record = shape(**{f"{noun}_id": STRING, "name": STRING, "rate_hourly": NUMBER})
    tools = [
        typed(record, f"{verb}_{noun}", "name", about=f"Add a {noun}.", rate_hourly=NUMBER),
        typed(record, f"get_{noun}", f"{noun}_id"), typed(rows(f"{noun}s", record), f"list_{noun}s"),
        typed(shape(rest=NUMBER), "get_balance", f"{noun}_id"),
        typed(shape(**{f"{noun}_id": STRING, "previous_rate": NUMBER, "rate_hourly": NUMBER}),
              "change_rate", f"{noun}_id", "rate_hourly", rate_hourly=NUMBER),
    ]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        key = value(await world.call(f"{verb}_{noun}", {"name": "Ada", "rate_hourly": 31}))[f"{noun}_id"]
        assert key in {row[f"{noun}_id"] for row in value(await world.call(f"list_{noun}s"))[f"{noun}s"]}
        changed = value(await world.call("change_rate", {f"{noun}_id": key, "rate_hourly": 35}))
        assert changed == {f"{noun}_id": key, "previous_rate": 31, "rate_hourly": 35}
        assert value(await world.call(f"get_{noun}", {f"{noun}_id": key}))["rate_hourly"] == 35


async def test_a_code_names_the_record_that_a_verb_of_a_trade_changes(tmp_path: Path) -> None:
    record = shape(sku=STRING, title=STRING, discontinued={"type": "boolean"})
    tools = [typed(record, "register_item", "sku", "title"), typed(record, "get_item", "sku"),
             typed(record, "discontinue_item", "sku")]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        await world.call("register_item", {"sku": "L-4", "title": "Lamp"})
        assert value(await world.call("discontinue_item", {"sku": "L-4"}))["discontinued"] is True
        assert value(await world.call("get_item", {"sku": "L-4"}))["discontinued"] is True
        assert not (await world.call("discontinue_item", {"sku": "NONE"})).ok


@pytest.mark.parametrize("noun", ["clinician", "bin", "route"])
async def test_a_filter_invents_nothing_in_a_list_that_is_shown_whole(tmp_path: Path, noun: str) -> None:
    listing = typed(rows(f"{noun}s", shape(**{f"{noun}_id": STRING, "area": STRING})), f"list_{noun}s", area=STRING)
    async with serve(tmp_path, listing) as sim, sim.open() as world:
        assert value(await world.call(f"list_{noun}s"))[f"{noun}s"]
        assert value(await world.call(f"list_{noun}s", {"area": "Atlantis"})) == {f"{noun}s": []}


async def test_changed_lines_keep_what_a_call_leaves_out(tmp_path: Path) -> None:
    line = shape(sku=STRING, quantity=INTEGER, unit_price=NUMBER, received=INTEGER)
    record = shape(order_id=STRING, status={"type": "string", "enum": ["draft", "received"]}, total=NUMBER,
                   lines={"type": "array", "items": line})  # fmt: skip
    given = {"type": "array", "items": {"type": "object", "properties": {"sku": STRING, "quantity": INTEGER}}}
    item = shape(sku=STRING, unit_price=NUMBER)
    tools = [typed(item, "create_item", "sku", unit_price=NUMBER), typed(item, "get_item", "sku"),
             typed(record, "create_order", "lines", lines=given), typed(record, "get_order", "order_id"),
             typed(record, "receive_order", "order_id", lines=given)]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        for sku, price in (("a", 4.5), ("b", 20)):
            await world.call("create_item", {"sku": sku, "unit_price": price})
        lines = [{"sku": "a", "quantity": 2}, {"sku": "b", "quantity": 1}]
        order = value(await world.call("create_order", {"lines": lines}))
        assert [(row["unit_price"], row["received"]) for row in order["lines"]] == [(4.5, 0), (20, 0)]
        arguments = {"order_id": order["order_id"], "lines": [{"sku": "b", "quantity": 1}]}
        received = value(await world.call("receive_order", arguments))
        assert {row["sku"]: row for row in received["lines"]} == {row["sku"]: row for row in order["lines"]}
        assert (received["total"], received["status"]) == (29, "received")


async def test_the_work_of_changing_lines_is_linear(tmp_path: Path) -> None:
    line = shape(sku=STRING, quantity=INTEGER, unit_price=NUMBER)
    record = shape(order_id=STRING, lines={"type": "array", "items": line})
    given = {"type": "array", "items": {"type": "object", "properties": {"sku": STRING, "quantity": INTEGER}}}
    tools = [typed(record, "create_order", "lines", lines=given), typed(line, "get_item", "sku"),
             typed(record, "update_order", "order_id", lines=given)]  # fmt: skip

    async def calls(size: int) -> int:
        lines = [{"sku": f"s{number}", "quantity": 2} for number in range(size)]
        async with serve(tmp_path, *tools) as sim, sim.open() as world:
            order = value(await world.call("create_order", {"lines": lines}))
            with counted() as work:
                changed = value(await world.call("update_order", {"order_id": order["order_id"], "lines": lines[::-1]}))
            assert changed["lines"] == order["lines"][::-1]
            return work.calls

    await calls(10)
    assert await calls(200) < MOST_GROWTH * await calls(100)


@pytest.mark.parametrize("name", ["total_amount", "average_amount", "total_value"])
async def test_numbers_beyond_floats_are_left_out_of_sums(tmp_path: Path, name: str) -> None:
    record = shape(order_id=STRING, amount=NUMBER, price=NUMBER, quantity=INTEGER)
    figures = {**rows("orders", record)["properties"], name: NUMBER}
    tools = [typed(record, "create_order", amount=NUMBER, price=NUMBER, quantity=INTEGER),
             typed(shape(**figures), "list_orders")]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        for number in (10**400, 0.5):
            await world.call("create_order", {"amount": number, "price": number, "quantity": 10**400})
        assert value(await world.call("list_orders"))[name] < 10**9


async def test_a_search_of_a_catalogue_finds_the_books_in_it(tmp_path: Path) -> None:
    book = shape(isbn=STRING, title=STRING, author=STRING)
    tools = [typed(book, "add_book", "isbn", "title", "author"), typed(book, "get_book", "isbn"),
             typed(rows("books", book), "search_catalogue", "query")]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        added = value(await world.call("add_book", {"isbn": "978-1", "title": "Nordlys", "author": "Haug"}))
        assert value(await world.call("search_catalogue", {"query": "Nordlys"})) == {"books": [added]}
        assert value(await world.call("search_catalogue", {"query": "zzqx"})) == {"books": []}


async def test_a_change_that_is_recorded_is_listed(tmp_path: Path) -> None:
    record = shape(movement_id=STRING, sku=STRING, to_bin=STRING, quantity=INTEGER)
    tools = [typed(record, "move_stock", "sku", "to_bin", "quantity", quantity=INTEGER),
             typed(rows("movements", record), "list_movements", sku=STRING)]  # fmt: skip
    async with serve(tmp_path, *tools) as sim, sim.open() as world:
        moved = value(await world.call("move_stock", {"sku": "L-4", "to_bin": "b-2", "quantity": 3}))
        assert value(await world.call("list_movements", {"sku": "L-4"})) == {"movements": [moved]}
        assert (moved["to_bin"], moved["quantity"]) == ("b-2", 3)


@pytest.mark.parametrize("noun", ["invoice", "fare_bill"])
@pytest.mark.parametrize(
    ("states", "after_part"), [(["open", "partially_paid", "paid"], "partially_paid"), (["open", "paid"], "open")]
)
async def test_a_record_is_paid_once_nothing_is_owed(
    tmp_path: Path, noun: str, states: list[str], after_part: str
) -> None:
    amounts = {"total": NUMBER, "amount_paid": NUMBER, "balance_due": NUMBER}
    record = shape(**{f"{noun}_id": STRING, **amounts, "status": {"type": "string", "enum": states}})
    tools = [
        typed(record, f"create_{noun}", "total", total=NUMBER),
        typed(record, f"pay_{noun}", f"{noun}_id", amount=NUMBER),
    ]
    async with serve(tmp_path, *tools).open() as world:

        async def shown(tool: str, **arguments: Json) -> tuple[Json, ...]:
            answer = value(await world.call(f"{tool}_{noun}", arguments))
            return tuple(answer[name] for name in (f"{noun}_id", "amount_paid", "balance_due", "status"))

        key = (await shown("create", total=90.5))[0]
        assert await shown("pay", **{f"{noun}_id": key}, amount=40) == (key, 40, 50.5, after_part)
        assert await shown("pay", **{f"{noun}_id": key}, amount=50.5) == (key, 90.5, 0, "paid")
        other = (await shown("create", total=12))[0]
        assert await shown("pay", **{f"{noun}_id": other}) == (other, 12, 0, "paid")


@pytest.mark.parametrize("noun", ["job", "wash_cycle"])
@pytest.mark.parametrize("about", ["Start working on a {}.", "Start a {} now."])
@pytest.mark.parametrize(
    ("states", "begun"), [(["waiting", "in_progress", "done"], "in_progress"), (["new", "started"], "started")]
)
async def test_what_starts_is_running_and_not_created_again(
    tmp_path: Path, noun: str, about: str, states: list[str], begun: str
) -> None:
    state = {"type": "string", "enum": states}
    record = shape(**{f"{noun}_id": STRING, "problem": STRING, "status": state})
    tools = [
        typed(record, f"open_{noun}", "problem", about=f"Open a {noun}."),
        typed(record, f"start_{noun}", f"{noun}_id", about=about.format(noun)),
    ]
    async with serve(tmp_path, *tools).open() as world:
        opened = value(await world.call(f"open_{noun}", {"problem": "Brake"}))
        assert opened["status"] == states[0]
        started = value(await world.call(f"start_{noun}", {f"{noun}_id": opened[f"{noun}_id"]}))
        assert started == {**opened, "status": begun}
