"""Records that are put away are not listed until a call lets them in, and come back when they are restored."""

from __future__ import annotations

from pathlib import Path

from support.given import STRING, Json, refused, service, tool, value

BOOLEAN: Json = {"type": "boolean"}
STATE: Json = {
    "lanterns": [
        {"id": "L1", "name": "Brass", "archived": False, "bought_on": "2029-11-03"},
        {"id": "L2", "name": "Tin", "archived": True, "bought_on": "2029-12-24"},
    ],
    "lamps": [{"id": "1", "name": "Desk", "owner_id": "7"}],
    "owners": [{"id": "7", "name": "Ada"}],
}
LANTERNS = (
    tool("list_lanterns", include_archived=BOOLEAN),
    tool("archive_lantern", "lantern_id"),
    tool("restore_lantern", "lantern_id"),
)


async def test_what_is_archived_is_listed_only_where_a_call_says_so(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *LANTERNS) as simulator, simulator.open("w") as world:
        assert await _named(world, {}) == ["Brass"]
        assert await _named(world, {"include_archived": False}) == ["Brass"]
        assert await _named(world, {"include_archived": True}) == ["Brass", "Tin"]


async def test_what_is_left_out_may_be_let_in_by_default(tmp_path: Path) -> None:
    tools = tool("list_lanterns", show_archived={**BOOLEAN, "default": True}), *LANTERNS[1:]
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        assert await _named(world, {}) == ["Brass", "Tin"]
        assert await _named(world, {"show_archived": False}) == ["Brass"]


async def test_what_is_restored_is_listed_again(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *LANTERNS) as simulator, simulator.open("w") as world:
        assert value(await world.call("restore_lantern", {"lantern_id": "L2"}))["archived"] is False
        await world.call("archive_lantern", {"lantern_id": "L1"})
        assert await _named(world, {}) == ["Tin"]
        assert refused(await world.call("restore_lantern", {"lantern_id": "L9"}))


async def test_a_month_asks_for_all_of_its_days(tmp_path: Path) -> None:
    tools = tool("list_lanterns", bought_on=STRING), tool("get_lantern", "lantern_id")
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        assert await _named(world, {"bought_on": "2029-12"}) == ["Tin"]
        assert await _named(world, {"bought_on": "2029"}) == ["Brass", "Tin"]
        assert await _named(world, {"bought_on": "2029-11-03"}) == ["Brass"]
        assert await _named(world, {"bought_on": "2029-1"}) == []


async def test_a_record_is_named_by_a_number_where_its_key_is_a_text(tmp_path: Path) -> None:
    tools = tool("create_lamp", "name", "owner_id", owner_id={"type": "integer"}), tool("get_owner", "owner_id")
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("create_lamp", {"name": "Hall", "owner_id": 7}))["owner_id"] == "7"
        assert refused(await world.call("create_lamp", {"name": "Attic", "owner_id": 8}))


async def test_what_is_marked_with_a_state_is_in_it(tmp_path: Path) -> None:
    state = {"bills": [{"id": 1, "payee": "Ada", "status": "open"}, {"id": 2, "payee": "Bo", "status": "open"}]}
    paid = {**tool("mark_paid", "bill_id", bill_id={"type": "integer"}), "description": "Mark a bill as paid."}
    listed = tool("list_bills", status=STRING)
    async with service(tmp_path, state, paid, listed) as simulator, simulator.open("w") as world:
        await world.call("mark_paid", {"bill_id": 2})
        assert [one["payee"] for one in value(await world.call("list_bills", {"status": "paid"}))] == ["Bo"]
        assert refused(await world.call("mark_paid", {"bill_id": 9}))


async def _named(world: Json, arguments: Json) -> list[str]:
    return [one["name"] for one in value(await world.call("list_lanterns", arguments))]


async def test_the_version_that_a_write_expects_is_no_field_of_the_record(tmp_path: Path) -> None:
    tools = tool("update_lantern", "lantern_id", "name", expected_version={"type": "integer"}), *LANTERNS
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        asked = {"lantern_id": "L1", "name": "Copper", "expected_version": 1}
        assert "expected_version" not in value(await world.call("update_lantern", asked))


async def test_what_records_hold_is_a_field_though_its_name_is_that_of_an_option_elsewhere(tmp_path: Path) -> None:
    state = {"orders": [{"id": "o-1", "item": "lamp", "idempotency_key": None}]}
    tools = tool("create_order", "item", "idempotency_key"), tool("list_orders")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("create_order", {"item": "wick", "idempotency_key": "k-1"}))
        assert made["idempotency_key"] == "k-1"
