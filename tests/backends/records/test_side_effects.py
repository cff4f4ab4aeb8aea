"""Effects of writes on other records: stock, balances, availability."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, NUMBER, Json, refused, service, tool, value

SEEDS: Json = [
    {"id": 1, "name": "Dill", "price": 2.5, "stock": 4},
    {"id": 2, "name": "Mint", "price": 3.0, "stock": None},
]


async def test_an_order_reduces_the_stock_and_has_the_price_of_the_product(tmp_path: Path) -> None:
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


async def test_each_line_of_an_order_is_priced_taken_from_stock_and_returned_on_cancellation(tmp_path: Path) -> None:
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


async def test_a_loan_takes_one_copy_and_a_delivery_takes_none(tmp_path: Path) -> None:
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


async def test_a_transfer_to_an_inactive_target_or_to_itself_is_refused(tmp_path: Path) -> None:
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


STATE = {
    "purses": [{"id": "p-1", "owner": "Ada", "balance": 100}, {"id": "p-2", "owner": "Bo", "balance": 5}],
    "charges": [{"id": "c-1", "purse_id": "p-1", "amount": 10, "reason": "tea"}],
    "deposits": [{"id": "d-1", "purse_id": "p-2", "amount": 5}],
}
ACCOUNT_TOOLS = (
    tool("create_charge", "purse_id", "amount", "reason", amount=INTEGER),
    tool("create_deposit", "purse_id", "amount", amount=INTEGER),
    tool("get_purse", "purse_id"),
)


async def test_a_charge_never_exceeds_the_balance(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *ACCOUNT_TOOLS) as simulator, simulator.open("w") as world:
        await world.call("create_charge", {"purse_id": "p-1", "amount": 40, "reason": "rope"})
        assert value(await world.call("get_purse", {"purse_id": "p-1"}))["balance"] == 60
        assert refused(await world.call("create_charge", {"purse_id": "p-2", "amount": 6, "reason": "rope"}))
        assert value(await world.call("get_purse", {"purse_id": "p-2"}))["balance"] == 5


async def test_a_deposit_raises_the_balance(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *ACCOUNT_TOOLS) as simulator, simulator.open("w") as world:
        await world.call("create_deposit", {"purse_id": "p-2", "amount": 7})
        assert value(await world.call("get_purse", {"purse_id": "p-2"}))["balance"] == 12


DOCK: Json = {
    "canoes": {
        "K1": {"canoe_id": "K1", "colour": "red", "available": True},
        "K2": {"canoe_id": "K2", "colour": "blue", "available": False},
    },
    "huts": {"7": {"beds": 2, "status": "available"}, "9": {"beds": 4, "status": "occupied"}},
    "loans": {"L1": {"canoe_id": "K2", "paddler": "Bo", "day": "2030-05-01"}},
    "stays": {"S1": {"hut_number": "9", "hiker": "Cy", "night": "2030-05-01", "status": "checked_in"}},
}
BOOKING_TOOLS = (
    tool("borrow_canoe", "canoe_id", "paddler", "day"), tool("return_loan", "loan_id"), tool("get_canoe", "canoe_id"),
    tool("reserve_hut", "hut_number", "hiker", "night"), tool("cancel_stay", "stay_id"), tool("check_in", "stay_id"),
    tool("get_hut", "hut_number"), tool("list_stays"), tool("list_loans"),
)  # fmt: skip


async def test_a_free_slot_can_be_booked_once(tmp_path: Path) -> None:
    async with service(tmp_path, DOCK, *BOOKING_TOOLS) as simulator, simulator.open("w") as world:
        lent = {"canoe_id": "K1", "paddler": "Di", "day": "2030-05-02"}
        assert refused(await world.call("borrow_canoe", {**lent, "canoe_id": "K2"}))
        value(await world.call("borrow_canoe", lent))
        assert value(await world.call("get_canoe", {"canoe_id": "K1"}))["available"] is False
        assert refused(await world.call("borrow_canoe", lent))
        assert len(value(await world.call("list_loans", {}))) == 2


async def test_a_lent_thing_is_available_again_after_its_return(tmp_path: Path) -> None:
    async with service(tmp_path, DOCK, *BOOKING_TOOLS) as simulator, simulator.open("w") as world:
        made = value(await world.call("reserve_hut", {"hut_number": "7", "hiker": "Di", "night": "2030-05-02"}))
        assert made["status"] == "reserved"
        assert value(await world.call("get_hut", {"hut_number": "7"}))["status"] not in {"available", "checked_in"}
        await world.call("cancel_stay", {"stay_id": made["stay_id"]})
        assert value(await world.call("get_hut", {"hut_number": "7"}))["status"] == "available"


async def test_a_return_by_loan_id_ends_the_loan(tmp_path: Path) -> None:
    state: Json = {
        "boats": {"B1": {"name": "Ada", "available": False}},
        "hires": {"H1": {"boat_id": "B1", "skipper": "Bo", "status": "active"}},
    }
    tools = tool("return_boat", "hire_id"), tool("get_hire", "hire_id"), tool("get_boat", "boat_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("return_boat", {"hire_id": "H1"}))["status"] == "returned"
        assert value(await world.call("get_boat", {"boat_id": "B1"}))["available"] is True
        assert refused(await world.call("return_boat", {"hire_id": "H1"}))
