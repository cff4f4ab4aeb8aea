"""What is ordered is taken from what there is, at the price that it has; what is cancelled is put back."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, NUMBER, Json, refused, service, tool, value

SEEDS: Json = [
    {"id": 1, "name": "Dill", "price": 2.5, "stock": 4},
    {"id": 2, "name": "Mint", "price": 3.0, "stock": None},
]


async def test_what_is_ordered_is_no_longer_in_stock_and_costs_what_it_costs(tmp_path: Path) -> None:
    sale = {"id": 7, "seed_id": 1, "quantity": 1, "unit_price": 2.5, "total": 2.5, "status": "open"}
    state = {"seeds": SEEDS, "sales": [sale]}
    tools = (
        tool("create_sale", "seed_id", "quantity", seed_id=INTEGER, quantity=INTEGER),
        tool("get_seed", "seed_id", seed_id=INTEGER),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("create_sale", {"seed_id": 1, "quantity": 3}))
        assert (made["unit_price"], made["total"]) == (2.5, 7.5)
        assert value(await world.call("get_seed", {"seed_id": 1}))["stock"] == 1
        assert refused(await world.call("create_sale", {"seed_id": 1, "quantity": 2}))
        assert value(await world.call("get_seed", {"seed_id": 1}))["stock"] == 1
        assert value(await world.call("create_sale", {"seed_id": 2, "quantity": 9}))["total"] == 27.0
        assert value(await world.call("get_seed", {"seed_id": 2}))["stock"] is None


async def test_each_line_of_an_order_is_taken_and_priced_and_put_back_where_it_is_cancelled(tmp_path: Path) -> None:
    lines: Json = [{"seed_id": 1, "quantity": 1, "price": 2.5}]
    state = {"seeds": SEEDS[:1], "orders": [{"id": 1, "buyer": "Ada", "lines": lines, "total": 2.5, "status": "open"}]}
    part: Json = {"type": "object", "properties": {"seed_id": INTEGER, "quantity": INTEGER}}
    tools = (
        tool("place_order", "buyer", lines={"type": "array", "items": part}),
        tool("cancel_order", "order_id", order_id=INTEGER),
        tool("list_seeds"),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        asked = [{"seed_id": 1, "quantity": 1}, {"seed_id": 1, "quantity": 2}]
        made = value(await world.call("place_order", {"buyer": "Bo", "lines": asked}))
        assert [line["price"] for line in made["lines"]] == [2.5, 2.5]
        assert made["total"] == 7.5
        assert refused(await world.call("place_order", {"buyer": "Bo", "lines": asked}))
        assert [seed["stock"] for seed in value(await world.call("list_seeds", {}))] == [1]
        await world.call("cancel_order", {"order_id": made["id"]})
        assert refused(await world.call("cancel_order", {"order_id": made["id"]}))
        assert [seed["stock"] for seed in value(await world.call("list_seeds", {}))] == [4]


async def test_a_loan_takes_one_copy_and_what_suppliers_bring_takes_nothing(tmp_path: Path) -> None:
    state = {
        "maps": [{"id": 1, "title": "Alps", "available_copies": 1}],
        "loans": [{"id": 1, "map_id": 1, "reader": "Ada"}],
        "purchase_orders": [{"id": 1, "map_id": 1, "quantity": 5}],
    }
    tools = (
        tool("create_loan", "map_id", "reader", map_id=INTEGER),
        tool("create_purchase_order", "map_id", "quantity", map_id=INTEGER, quantity=INTEGER),
        tool("get_map", "map_id", map_id=INTEGER),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("create_purchase_order", {"map_id": 1, "quantity": 20})
        await world.call("create_loan", {"map_id": 1, "reader": "Bo"})
        assert value(await world.call("get_map", {"map_id": 1}))["available_copies"] == 0
        assert refused(await world.call("create_loan", {"map_id": 1, "reader": "Cy"}))


async def test_nothing_is_moved_into_what_is_out_of_use_or_back_to_where_it_is(tmp_path: Path) -> None:
    purses = [
        {"id": "P1", "balance": 9.0, "status": "active"},
        {"id": "P2", "balance": 1.0, "status": "frozen"},
        {"id": "P3", "balance": 0.0, "status": "active"},
    ]
    tools = tool("transfer", "from_purse", "to_purse", "amount", amount=NUMBER), tool("list_purses")
    async with service(tmp_path, {"purses": purses}, *tools) as simulator, simulator.open("w") as world:
        move = {"from_purse": "P1", "amount": 4}
        assert refused(await world.call("transfer", {**move, "to_purse": "P2"}))
        assert refused(await world.call("transfer", {**move, "to_purse": "P1"}))
        value(await world.call("transfer", {**move, "to_purse": "P3"}))
        assert [purse["balance"] for purse in value(await world.call("list_purses", {}))] == [5.0, 1.0, 4.0]
