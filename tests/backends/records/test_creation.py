"""Creating records: initial values, references, existing records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import given
from support.matched_tools import TEXT, answered, refused, simulator, tool
from support.services import message, service, value

Json = Any

_STATUS = {"type": "string", "enum": ["waiting", "in_progress", "over"]}
_TOOLS = (
    given.tool("create_voyage", "ship", status=_STATUS),
    given.tool("start_voyage", "voyage_ref"),
    given.tool("get_voyage", "voyage_ref"),
    given.tool("view_voyages", "voyage_refs", voyage_refs={"type": "array", "items": given.STRING}),
)


async def test_a_start_tool_changes_the_record_that_another_tool_creates(tmp_path: Path) -> None:
    async with given.service(tmp_path, {"voyages": []}, *_TOOLS) as simulator, simulator.open("w") as world:
        one = given.value(await world.call("create_voyage", {"ship": "Ada", "status": "waiting"}))["voyage_ref"]
        await world.call("start_voyage", {"voyage_ref": one})
        assert world.view.count("voyage") == 1
        assert given.value(await world.call("get_voyage", {"voyage_ref": one}))["status"] == "in_progress"
        assert given.refused(await world.call("start_voyage", {"voyage_ref": "nowhere"}))


async def test_several_records_are_requested_by_their_references(tmp_path: Path) -> None:
    async with given.service(tmp_path, {"voyages": []}, *_TOOLS) as simulator, simulator.open("w") as world:
        made = [
            given.value(await world.call("create_voyage", {"ship": ship}))["voyage_ref"] for ship in ("Ada", "Bo", "Cy")
        ]
        seen = given.value(await world.call("view_voyages", {"voyage_refs": [made[0], made[2]]}))
        assert [one["ship"] for one in seen] == ["Ada", "Cy"]


async def test_a_required_request_id_is_the_key_of_a_record(tmp_path: Path) -> None:
    tools = [
        tool("create_request", title=TEXT),
        tool("get_request", request_id=TEXT),
        tool("add_reply", request_id=TEXT, body=TEXT),
        tool("get_reply", reply_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        request = (await answered(world, "create_request", title="Leave"))["id"]
        made = await answered(world, "add_reply", request_id=request, body="Granted")
        assert made["request_id"] == request
        assert "nope" in await refused(world, "add_reply", request_id="nope", body="x")


PAGES = """
tools:
  - name: get_page
    inputSchema: {type: object, properties: {page_id: {type: string}}, required: [page_id]}
    outputSchema:
      type: object
      required: [id, title, body]
      properties: {id: {type: string}, title: {type: string}, body: {type: string}}
  - name: NAME
    inputSchema: {type: object, properties: {page_id: {type: string}, title: {type: string}}, required: [page_id]}
"""
WORLD = "records: {page: {rows: [{id: home, title: Home, body: Welcome}]}}"


async def test_a_create_or_update_tool_stores_one_record(tmp_path: Path) -> None:
    for name in ("upsert_page", "create_or_update_page", "pageUpsert"):
        async with service(tmp_path, PAGES.replace("NAME", name), WORLD) as sim, sim.open() as world:
            await world.call(name, {"page_id": "home", "title": "Start"})
            home = value(await world.call("get_page", {"page_id": "home"}))
            assert home == {"id": "home", "title": "Start", "body": "Welcome"}
            await world.call(name, {"page_id": "attic", "title": "Attic"})
            assert value(await world.call("get_page", {"page_id": "attic"}))["title"] == "Attic"
            assert world.view.count("page") == 2


async def test_a_spec_overrides_what_the_tool_name_means_for_existing_records(tmp_path: Path) -> None:
    declared = PAGES.replace("NAME", "upsert_page") + "sim: {upsert_page: {if_exists: refuse}}\n"
    async with service(tmp_path, declared, WORLD) as sim, sim.open() as world:
        assert "home" in message(await world.call("upsert_page", {"page_id": "home", "title": "Start"}))
        await world.call("upsert_page", {"page_id": "attic", "title": "Attic"})
        assert world.view.count("page") == 2


async def test_the_total_of_an_order_is_not_a_count_of_records(tmp_path: Path) -> None:
    shape = "{type: object, required: [id, total], properties: {id: {type: string}, total: {type: number}}}"
    spec = f"""
    tools:
      - name: place_order
        inputSchema: {{type: object, properties: {{note: {{type: string}}}}, required: [note]}}
        outputSchema: {shape}
      - name: get_order
        inputSchema: {{type: object, properties: {{order_id: {{type: string}}}}, required: [order_id]}}
        outputSchema: {shape}
    """
    async with service(tmp_path, spec, "records: {order: 3}") as sim, sim.open() as world:
        placed = value(await world.call("place_order", {"note": "A bell"}))
        assert placed["total"] > 0
        assert value(await world.call("get_order", {"order_id": placed["id"]})) == placed


async def test_the_owner_of_an_account_is_not_an_account(tmp_path: Path) -> None:
    spec = """
    tools:
      - name: create_account
        inputSchema: {type: object, properties: {owner: {type: string}}, required: [owner]}
      - {name: list_accounts, inputSchema: {type: object, properties: {owner: {type: string}}}}
    """
    async with service(tmp_path, spec, "records: {account: 3}") as sim, sim.open() as world:
        assert value(await world.call("create_account", {"owner": "Ada"}))["owner"] == "Ada"
        assert value(await world.call("list_accounts", {"owner": "Ada"}))["count"] == 1


async def test_an_upsert_identifies_the_record_by_a_unique_field(tmp_path: Path) -> None:
    state = {"growers": [{"id": 1, "name": "Ada", "email": "ada@plot.example", "phone": "1"}]}
    tools = given.tool("upsert_grower", "name", "email", phone=given.STRING), given.tool("list_growers")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "ada@plot.example"})
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "vos@plot.example", "phone": "2"})
        rows = given.value(await world.call("list_growers", {}))
        assert [(row["id"], row["name"], row["phone"]) for row in rows] == [(1, "Ada Vos", "1"), (2, "Ada Vos", "2")]


_BOTH = {"hotel_id": given.STRING, "room_id": given.STRING}
LODGING: Json = {
    "hotels": [{"id": f"H{at}", "name": f"Hotel {at}"} for at in range(9)],
    "rooms": [{"id": f"R{at}", "hotel_id": f"H{at}", "beds": 2} for at in range(9)],
    "bookings": [{"id": "B1", "hotel_id": "H1", "room_id": "R1", "guest": "Ada"}],
}


async def test_a_new_record_has_the_references_that_a_given_one_implies(tmp_path: Path) -> None:
    tools = (
        given.tool("create_booking", "guest", about="Book a room.", **_BOTH),
        given.tool("list_rooms"),
        given.tool("list_hotels"),
    )
    async with given.service(tmp_path, LODGING, *tools) as simulator, simulator.open("w") as world:
        made = given.value(await world.call("create_booking", {"guest": "Bo", "room_id": "R7"}))
        assert made["hotel_id"] == "H7"
        made = given.value(await world.call("create_booking", {"guest": "Cy", "hotel_id": "H4"}))
        assert made["room_id"] == "R4"


async def test_a_required_link_leads_to_a_record_even_if_no_tool_creates_it(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"booking_id": TEXT, "city": TEXT}, "required": ["booking_id", "city"]}
    tools = [
        {**tool("create_flight", city=TEXT), "outputSchema": schema},
        tool("cancel_booking", booking_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {"cards": {"c1": {"limit": 5}}}).open() as world:
        made = await answered(world, "create_flight", city="Oslo")
        assert world.view.count("booking") == 1
        await answered(world, "cancel_booking", booking_id=made["booking_id"])
