"""Stock that follows movements, values that follow from it, and records that given ones show how to make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
AMOUNT: Json = {"type": "number"}


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows(name: str, schema: Json, **more: Json) -> Json:
    return thing(**{name: {"type": "array", "items": schema}, **more})


@pytest.mark.parametrize("stock", ["on_hand", "stock", "quantity_on_hand"])
@pytest.mark.parametrize(("act", "change"), [("receive_goods", 5), ("ship_goods", -5)])
async def test_a_tool_named_after_a_movement_records_it_and_moves_the_stock(
    tmp_path: Path, act: str, change: int, stock: str
) -> None:
    kinds: Json = {"type": "string", "enum": ["shipment", "receipt"]}
    item = thing(sku=TEXT, name=TEXT, **{stock: WHOLE, "reserved": WHOLE, "available": WHOLE})
    movement = thing(movement_id=TEXT, sku=TEXT, type=kinds, quantity=WHOLE)
    tools = [
        tool("create_item", sku=TEXT, name=TEXT, **{stock: WHOLE}, output=item),
        tool("get_item", sku=TEXT, output=item),
        tool("list_movements", sku=TEXT, output=rows("movements", movement)),
        tool(act, sku=TEXT, quantity=WHOLE, output=thing(**{"movement_id": TEXT, "sku": TEXT, stock: WHOLE})),
    ]
    async with simulator(tmp_path, tools, world={"records": {"item": 0, "movement": 0}}).open() as world:
        await answered(world, "create_item", sku="A", name="Nut", **{stock: 8})
        moved = await answered(world, act, sku="A", quantity=5)
        assert moved[stock] == 8 + change
        held = await answered(world, "get_item", sku="A")
        assert (held[stock], held["available"]) == (8 + change, 8 + change)
        [listed] = (await answered(world, "list_movements", sku="A"))["movements"]
        kind = "receipt" if change > 0 else "shipment"
        assert listed == {"movement_id": moved["movement_id"], "sku": "A", "type": kind, "quantity": 5}


@pytest.mark.parametrize(
    ("noun", "act", "kind", "held", "number"),
    [
        ("part", "record_movement", "type", "stock", "quantity"),
        ("account", "log_transaction", "kind", "balance", "amount"),
        ("product", "add_stock_entry", "direction", "quantity", "quantity"),
    ],
)
async def test_a_kind_of_movement_says_whether_it_adds_or_takes(
    tmp_path: Path, noun: str, act: str, kind: str, held: str, number: str
) -> None:
    key, moves = f"{noun}_id", act.partition("_")[2]
    state = {
        f"{noun}s": [{"id": "x", "name": "Oak", held: 10}, {"id": "y", "name": "Ash", held: 0}],
        f"{moves}s".replace("ys", "ies"): [{"id": "m1", key: "y", kind: "in", number: 1}],
    }
    tools = [tool(f"get_{noun}", **{key: TEXT}), tool(act, **{key: TEXT, kind: TEXT, number: AMOUNT})]
    async with simulator(tmp_path, tools, state).open() as world:
        for direction, left in (("in", 14), ("out", 10), ("other", 10)):
            await answered(world, act, **{key: "x", kind: direction, number: 4})
            assert (await answered(world, f"get_{noun}", **{key: "x"}))[held] == left
        await answered(world, act, **{key: "x", kind: "out", number: 400})
        assert (await answered(world, f"get_{noun}", **{key: "x"}))[held] == 10


@pytest.mark.parametrize(
    ("act", "status", "note"),
    [
        ("create_work_order", "in progress", ""),
        ("place_order", "out for delivery", ""),
        ("create_order", "new", "use soon"),
        ("create_purchase_order", "new", ""),
        ("create_pick_list", "new", ""),
        ("create_shipment_request", "new", ""),
    ],
)
async def test_what_is_only_ordered_or_noted_moves_no_stock(tmp_path: Path, act: str, status: str, note: str) -> None:
    item = thing(sku=TEXT, name=TEXT, stock=WHOLE)
    tools = [
        tool("create_product", sku=TEXT, name=TEXT, stock=WHOLE, output=item),
        tool("get_product", sku=TEXT, output=item),
        tool(act, sku=TEXT, quantity=WHOLE, status=TEXT, note=TEXT),
    ]
    async with simulator(tmp_path, tools, world={"records": {"product": 0}}).open() as world:
        created = await answered(world, "create_product", sku="A", name="Nut", stock=10)
        await answered(world, act, sku="A", quantity=4, status=status, note=note)
        assert await answered(world, "get_product", sku="A") == created


@pytest.mark.parametrize(("act", "left"), [("receive_parts", 13), ("use_part", 7), ("sell_part", 7)])
async def test_what_comes_and_goes_changes_the_stock_of_a_given_record(tmp_path: Path, act: str, left: int) -> None:
    tools = [tool("get_part", part_no=TEXT), tool(act, part_no=TEXT, quantity=WHOLE)]
    state = {"parts": [{"part_no": "P1", "name": "Belt", "stock": 10, "price": 4.5}]}
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, act, part_no="P1", quantity=3)
        assert await answered(world, "get_part", part_no="P1") == {**state["parts"][0], "stock": left}


@pytest.mark.parametrize(
    ("act", "argument", "left"),
    [
        ("add_points", "amount", 14),
        ("add_points_to_member", "count", 14),
        ("remove_points", "number", 6),
        ("deduct_points", "amount", 6),
        ("add_member_points", "amount", 14),
    ],
)
async def test_a_number_that_a_tool_is_named_after_changes(tmp_path: Path, act: str, argument: str, left: int) -> None:
    tools = [tool("get_member", member_id=TEXT), tool(act, member_id=TEXT, **{argument: WHOLE})]
    state = {"members": [{"id": "m", "name": "Ada", "visits": 3, "points": 10}]}
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, act, member_id="m", **{argument: 4})
        assert await answered(world, "get_member", member_id="m") == {**state["members"][0], "points": left}


@pytest.mark.parametrize("noun", ["tag", "label"])
async def test_a_batch_whose_items_share_a_name_is_not_refused(tmp_path: Path, noun: str) -> None:
    values: Json = {"type": "array", "items": TEXT}
    tools = [tool("note_create", name=TEXT), tool("note_get", name=TEXT)]
    tools.append(tool(f"note_add_{noun}s", name=TEXT, **{f"{noun}s": values}))
    async with simulator(tmp_path, tools, world={"records": {"note": 0}}).open() as world:
        await answered(world, "note_create", name="a")
        for added in (["x"], ["x", "y"]):
            await answered(world, f"note_add_{noun}s", name="a", **{f"{noun}s": added})


@pytest.mark.parametrize(("name", "act"), [("chore", "assign_task"), ("visit", "mark_visit"), ("grade", "give_marks")])
async def test_what_takes_the_fields_of_given_records_makes_one(tmp_path: Path, name: str, act: str) -> None:
    state = {
        "people": [{"id": "p1", "name": "Ada", "date": "2001-01-01"}],
        f"{name}s": [{"id": "c1", "person_id": "p1", "date": "2026-01-01", "done": False}],
    }
    tools = [
        tool(act, person_id=TEXT, date=TEXT),
        tool("get_person", person_id=TEXT),
        tool(f"list_{name}s", person_id=TEXT),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, act, person_id="p1", date="2026-02-02")
        dates = [row["date"] for row in await answered(world, f"list_{name}s", person_id="p1")]
        assert dates == ["2026-01-01", "2026-02-02"]
        assert await answered(world, "get_person", person_id="p1") == state["people"][0]


async def test_a_total_beside_amounts_is_their_sum(tmp_path: Path) -> None:
    deduction = thing(deduction_id=TEXT, person=TEXT, amount=AMOUNT)
    tools = [
        tool("add_deduction", person=TEXT, amount=AMOUNT, output=deduction),
        tool("list_deductions", person=TEXT, output=rows("deductions", deduction, total=AMOUNT, count=WHOLE)),
    ]
    async with simulator(tmp_path, tools, world={"records": {"deduction": 0}}).open() as world:
        for amount in (2.5, 40):
            await answered(world, "add_deduction", person="Ada", amount=amount)
        shown = await answered(world, "list_deductions", person="Ada")
        assert (shown["total"], shown["count"]) == (42.5, 2)


async def test_a_flag_that_compares_fields_is_a_guess(tmp_path: Path) -> None:
    item = thing(sku=TEXT, stock=WHOLE, reorder_level=WHOLE)
    tools = [
        tool("create_item", sku=TEXT, stock=WHOLE, reorder_level=WHOLE, output=item),
        tool("list_items", needed="", below_reorder_level={"type": "boolean"}, output=rows("items", item)),
    ]
    async with simulator(tmp_path, tools, world={"records": {"item": 0}}).open() as world:
        await answered(world, "create_item", sku="A", stock=1, reorder_level=5)
        assert (await answered(world, "list_items", below_reorder_level=True))["items"]
        assert world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize(("aside", "count"), [("allocated", "quantity"), ("reserved", "quantity")])
async def test_no_more_of_a_line_is_set_aside_than_ordered(tmp_path: Path, aside: str, count: str) -> None:
    line = thing(sku=TEXT, unit_price=AMOUNT, line_total=AMOUNT, **{aside: WHOLE, count: WHOLE})
    order = thing(order_id=TEXT, lines={"type": "array", "items": line}, total=AMOUNT)
    tools = [tool("get_order", order_id=TEXT, output=order), tool("list_orders", output=rows("orders", order))]
    async with simulator(tmp_path, tools, world={"records": {"order": 20}}).open() as world:
        lines = [line for order in (await answered(world, "list_orders"))["orders"] for line in order["lines"]]
        assert lines
        assert all(line[aside] <= line[count] <= 20 for line in lines)
        assert any(line[aside] for line in lines)


@pytest.mark.parametrize(("act", "state"), [("terminate", "terminated"), ("discontinue", "discontinued")])
@pytest.mark.parametrize("ending", ["on", "at"])
async def test_what_ends_for_good_is_stamped_and_only_then(tmp_path: Path, act: str, state: str, ending: str) -> None:
    states: Json = {"type": "string", "enum": ["active", state]}
    time: Json = {"type": "string", "format": "date-time" if ending == "at" else "date"}
    stamp = f"{state}_{ending}"
    plan = {**thing(plan_id=TEXT, status=states, **{stamp: time}), "required": ["plan_id", "status"]}
    tools = [
        tool("create_plan", output=plan),
        tool("list_plans", output=rows("plans", plan)),
        tool(f"{act}_plan", plan_id=TEXT, output=plan),
    ]
    async with simulator(tmp_path, tools, world={"records": {"plan": 20}}).open() as world:
        listed = (await answered(world, "list_plans"))["plans"]
        assert all(row["status"] == state for row in listed if stamp in row)
        created = await answered(world, "create_plan")
        ended = await answered(world, f"{act}_plan", plan_id=created["plan_id"])
        assert ended == {"plan_id": created["plan_id"], "status": state, stamp: ended[stamp]}
        assert ended[stamp].startswith("2030-01-01")


@pytest.mark.parametrize(("price", "total"), [("price", "total"), ("unit_price", "total_amount"), ("fee", "total")])
async def test_a_new_order_costs_what_the_given_record_costs_that_it_names(
    tmp_path: Path, price: str, total: str
) -> None:
    tools = [tool("place_order", product_id=TEXT, quantity=WHOLE), tool("list_orders")]
    state = {
        "products": [{"id": "p", "name": "Nut", price: 2.5}],
        "orders": [{"id": 1, "product_id": "p", "quantity": 1, total: 2.5, "status": "placed"}],
        "next_order_id": 2,
    }
    async with simulator(tmp_path, tools, state).open() as world:
        placed = await answered(world, "place_order", product_id="p", quantity=3)
        assert placed == {"id": 2, "product_id": "p", "quantity": 3, total: 7.5, "status": "placed"}
        assert not world.ledger.steps[-1]["guessed"]


HELD: list[Json] = [
    {"stock": {"apple": 4, "pear": 9}},
    {"stock": [{"item": "apple", "quantity": 4}, {"item": "pear", "quantity": 9}]},
]


@pytest.mark.parametrize("state", HELD)
@pytest.mark.parametrize("amount", ["quantity", "qty", "units"])
async def test_an_amount_is_added_to_what_is_there_and_taken_off(tmp_path: Path, state: Json, amount: str) -> None:
    asked = {"item": TEXT, amount: WHOLE}
    tools = [tool("add_stock", **asked), tool("remove_stock", **asked), tool("get_stock", item=TEXT)]
    async with simulator(tmp_path, tools, state).open() as world:
        assert 9 in (await answered(world, "add_stock", item="apple", **{amount: 5})).values()
        assert 8 in (await answered(world, "remove_stock", item="pear", **{amount: 1})).values()
        assert 9 in (await answered(world, "get_stock", item="apple")).values()
        await answered(world, "add_stock", item="fig", **{amount: 3})
        assert 3 in (await answered(world, "get_stock", item="fig")).values()
        assert "insufficient" in await refused(world, "remove_stock", item="fig", **{amount: 4})


@pytest.mark.parametrize(("part", "thing_id"), [("cart", "product_id"), ("basket", "sku"), ("wishlist", "book_id")])
@pytest.mark.parametrize("is_empty", [True, False])
async def test_what_enters_given_rows_leaves_the_record_alone_that_it_names(
    tmp_path: Path, part: str, thing_id: str, *, is_empty: bool
) -> None:
    noun = "product" if thing_id == "sku" else thing_id.removesuffix("_id")
    key = "sku" if thing_id == "sku" else "id"
    goods = [{key: "p1", "name": "Bell", "price": 3}, {key: "p2", "name": "Horn", "price": 5}]
    rows_there = [] if is_empty else [{thing_id: "p2", "quantity": 1}]
    tools = [
        tool(f"add_to_{part}", **{thing_id: TEXT, "quantity": WHOLE}),
        tool(f"remove_from_{part}", **{thing_id: TEXT}),
        tool(f"view_{part}"),
        tool(f"list_{noun}s"),
    ]
    async with simulator(tmp_path, tools, {f"{noun}s": goods, part: rows_there}).open() as world:
        await answered(world, f"add_to_{part}", **{thing_id: "p1", "quantity": 2})
        shown = await answered(world, f"view_{part}")
        assert [(row[thing_id], row["quantity"]) for row in shown][-1] == ("p1", 2)
        gone = await answered(world, f"remove_from_{part}", **{thing_id: "p1"})
        assert gone[thing_id] == "p1"
        assert [{thing_id: row[thing_id]} for row in await answered(world, f"view_{part}")] == [
            {thing_id: row[thing_id]} for row in rows_there
        ]
        assert await answered(world, f"list_{noun}s") == goods


async def test_what_is_recorded_again_is_another_record(tmp_path: Path) -> None:
    tools = [tool("add_expense", category=TEXT, amount=AMOUNT), tool("list_expenses")]
    state = {"expenses": [{"id": "e1", "category": "food", "amount": 9}]}
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, "add_expense", category="food", amount=2.5)
        assert [row["amount"] for row in await answered(world, "list_expenses")] == [9, 2.5]


@pytest.mark.parametrize(
    ("noun", "field", "argument"),
    [("lamp", "brightness", "level"), ("speaker", "volume", "value"), ("door", "code", "x")],
)
@pytest.mark.parametrize("is_whole", [True, False])
async def test_the_only_value_of_a_setter_is_the_field_in_its_name(
    tmp_path: Path, noun: str, field: str, argument: str, *, is_whole: bool
) -> None:
    name = f"set_{noun}_{field}" if is_whole else f"set_{field}"
    state = {f"{noun}s": [{"id": "a", field: 7, "other": 1}, {"id": "b", field: 8, "other": 1}]}
    asked: Json = {f"{noun}_id": TEXT, argument: WHOLE}
    tools = [tool(name, **asked), tool(f"get_{noun}", needed=f"{noun}_id", **{f"{noun}_id": TEXT})]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, name, **{f"{noun}_id": "a", argument: 3})
        assert await answered(world, f"get_{noun}", **{f"{noun}_id": "a"}) == {"id": "a", field: 3, "other": 1}
        assert not world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize("name", ["bulk_update_prices", "update_prices", "set_prices"])
@pytest.mark.parametrize("several", ["updates", "items"])
async def test_a_batch_that_is_named_after_a_field_changes_it_in_each_record(
    tmp_path: Path, name: str, several: str
) -> None:
    report = rows("results", thing(sku=TEXT, ok={"type": "boolean"}), updated=WHOLE, failed=WHOLE)
    asked: Json = {several: {"type": "array", "items": thing(sku=TEXT, price=AMOUNT)}}
    tools = [tool(name, output=report, **asked), tool("get_product", sku=TEXT)]
    state = {"products": [{"sku": "p1", "name": "Bell", "price": 10}, {"sku": "p2", "name": "Horn", "price": 20}]}
    async with simulator(tmp_path, tools, state).open() as world:
        given: Json = [{"sku": "p1", "price": 2.5}, {"sku": "zz", "price": 4}]
        assert await answered(world, name, **{several: given}) == {
            "results": [{"sku": "p1", "ok": True}, {"sku": "zz", "ok": False}], "updated": 1, "failed": 1
        }  # fmt: skip
        assert (await answered(world, "get_product", sku="p1"))["price"] == 2.5


@pytest.mark.parametrize(("count", "number"), [("free_count", 1), ("held_count", 2), ("total_count", 3)])
async def test_counts_beside_given_rows_agree_with_their_states(tmp_path: Path, count: str, number: int) -> None:
    states: Json = {"type": "string", "enum": ["free", "held"]}
    seats = [
        {"seat_id": "a1", "status": "free"},
        {"seat_id": "a2", "status": "held"},
        {"seat_id": "a3", "status": "held"},
    ]
    tools = [tool("list_seats", output=rows("seats", thing(seat_id=TEXT, status=states), **{count: WHOLE}))]
    async with simulator(tmp_path, tools, {"seats": seats}).open() as world:
        assert await answered(world, "list_seats") == {"seats": seats, count: number}


@pytest.mark.parametrize(
    ("several", "count"), [("lines", "line_count"), ("boxes", "num_boxes"), ("notes", "total_notes")]
)
async def test_a_count_in_a_new_record_is_that_of_its_list(tmp_path: Path, several: str, count: str) -> None:
    listed: Json = {"type": "array", "items": thing(sku=TEXT)}
    shown = thing(id=TEXT, **{several: listed, count: WHOLE})
    tools = [tool("create_order", output=shown, needed=several, **{several: listed})]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, "create_order", **{several: [{"sku": "a"}, {"sku": "b"}]})
        assert made[count] == 2


async def test_no_more_is_set_aside_than_asked_for_where_no_record_says_how_much(tmp_path: Path) -> None:
    shown = thing(order_id=TEXT, quantity=WHOLE, allocated=WHOLE)
    tools = [tool("allocate_stock", order_id=TEXT, quantity=WHOLE, output=shown)]
    async with simulator(tmp_path, tools).open() as world:
        for number in range(8):
            value = await answered(world, "allocate_stock", order_id=f"o{number}", quantity=2)
            assert (value["quantity"], value["allocated"] <= 2) == (2, True)
