"""Creating records: initial values, children, copies."""

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


_FOG: Json = {"id": 1, "sender": "bo@hull.example", "text": "Fog", "copies": ["cy"], "seen_by": {"bo": "1 May"}}
_TIDE: Json = {"id": 2, "sender": "ada@hull.example", "text": "Tide", "copies": [], "seen_by": {"cy": "2 May"}}
POST: Json = {"post_office": {"address": "ada@hull.example", "box_number": "B7", "letters": [_FOG, _TIDE]}}


async def test_a_new_record_has_the_current_user_as_sender_and_empty_collections(tmp_path: Path) -> None:
    tools = given.tool("send_letter", "text"), given.tool("get_letter", "id", id=given.INTEGER)
    async with given.service(tmp_path, POST, *tools) as simulator, simulator.open("w") as world:
        await world.call("send_letter", {"text": "Calm"})
        found = given.value(await world.call("get_letter", {"id": 3}))
        assert found == {"id": 3, "sender": "ada@hull.example", "text": "Calm", "copies": [], "seen_by": {}}


STEPS: Json = {"type": "array", "items": {"type": "object", "properties": {"label": TEXT}, "required": ["label"]}}
RECIPES = [
    tool("create_recipe", title=TEXT, steps=STEPS),
    tool("get_recipe", recipe_id=TEXT),
    tool("add_steps_to_recipe", recipe_id=TEXT, steps=STEPS),
    tool("list_steps", recipe_id=TEXT),
    tool("get_step", step_id=TEXT),
    tool("mark_step_done", step_id=TEXT),
    tool("get_next_step", recipe_id=TEXT),
]


async def test_children_are_created_with_the_record_that_lists_them(tmp_path: Path) -> None:
    async with simulator(tmp_path, RECIPES, {}).open() as world:
        recipe = await answered(world, "create_recipe", title="Bread", steps=[{"label": "Knead"}, {"label": "Bake"}])
        first, second = (one["id"] for one in recipe["steps"])
        assert (await answered(world, "get_step", step_id=second))["label"] == "Bake"
        await answered(world, "add_steps_to_recipe", recipe_id=recipe["id"], steps=[{"label": "Eat"}])
        await answered(world, "create_recipe", title="Soup", steps=[{"label": "Chop"}])
        rows = (await answered(world, "list_steps", recipe_id=recipe["id"]))["steps"]
        assert [one["label"] for one in rows] == ["Knead", "Bake", "Eat"]
        await answered(world, "mark_step_done", step_id=first)
        assert "steps" not in await answered(world, "get_recipe", recipe_id=recipe["id"])


async def test_the_next_child_belongs_to_the_named_record(tmp_path: Path) -> None:
    async with simulator(tmp_path, RECIPES, {}).open() as world:
        await answered(world, "create_recipe", title="Soup", steps=[{"label": "Chop"}])
        bread = await answered(world, "create_recipe", title="Bread", steps=[{"label": "Knead"}, {"label": "Bake"}])
        await answered(world, "mark_step_done", step_id=bread["steps"][0]["id"])
        assert (await answered(world, "get_next_step", recipe_id=bread["id"]))["label"] == "Bake"


async def test_a_tool_creates_what_its_description_registers_if_no_other_tool_does(tmp_path: Path) -> None:
    tools = [
        tool("start_intake", "Register a new permit and plan what it needs.", title=TEXT),
        tool("get_permit", permit_id=TEXT),
        tool("approve_permit", permit_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = await answered(world, "start_intake", title="Shed")
        assert (await answered(world, "get_permit", permit_id=made["id"]))["title"] == "Shed"


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
  - name: duplicate_page
    inputSchema: {type: object, properties: {page_id: {type: string}, body: {type: string}}, required: [page_id]}
  - name: NAME
    inputSchema: {type: object, properties: {page_id: {type: string}, title: {type: string}}, required: [page_id]}
"""
WORLD = "records: {page: {rows: [{id: home, title: Home, body: Welcome}]}}"


async def test_a_copy_is_recognised_by_the_tool_name(tmp_path: Path) -> None:
    async with service(tmp_path, PAGES, WORLD) as sim, sim.open() as world:
        copy = value(await world.call("duplicate_page", {"page_id": "home", "body": "Hello"}))
        assert copy["id"] != "home"
        assert (copy["title"], copy["body"]) == ("Home (copy)", "Hello")
        assert value(await world.call("get_page", {"page_id": "home"}))["body"] == "Welcome"
        assert value(await world.call("get_page", {"page_id": copy["id"]})) == copy
        assert "attic" in message(await world.call("duplicate_page", {"page_id": "attic"}))


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


async def test_a_count_is_the_number_of_existing_records(tmp_path: Path) -> None:
    count = "outputSchema: {type: object, properties: {count: {type: integer}}, required: [count]}"
    spec = f"""
    tools:
      - name: create_book
        inputSchema:
          {{type: object, properties: {{title: {{type: string}}, genre: {{type: string}}}}, required: [title]}}
      - {{name: list_books, inputSchema: {{type: object, properties: {{genre: {{type: string}}}}}}}}
      - {{name: count_books, inputSchema: {{type: object, properties: {{genre: {{type: string}}}}}}, {count}}}
      - {{name: getBookCount, inputSchema: {{type: object, properties: {{}}}}, {count}}}
      - {{name: get_number_of_books, inputSchema: {{type: object, properties: {{}}}}, {count}}}
    """
    async with service(tmp_path, spec, "records: {book: 3}") as sim, sim.open() as world:
        await world.call("create_book", {"title": "Emma", "genre": "regency"})
        assert value(await world.call("count_books", {"genre": "regency"})) == {"count": 1}
        for name in ("count_books", "getBookCount", "get_number_of_books"):
            assert value(await world.call(name, {})) == {"count": 4}
        assert not any(sim.scenario.domain.plans[name].guessed for name in ("count_books", "getBookCount"))


async def test_an_upsert_identifies_the_record_by_a_unique_field(tmp_path: Path) -> None:
    state = {"growers": [{"id": 1, "name": "Ada", "email": "ada@plot.example", "phone": "1"}]}
    tools = given.tool("upsert_grower", "name", "email", phone=given.STRING), given.tool("list_growers")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "ada@plot.example"})
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "vos@plot.example", "phone": "2"})
        rows = given.value(await world.call("list_growers", {}))
        assert [(row["id"], row["name"], row["phone"]) for row in rows] == [(1, "Ada Vos", "1"), (2, "Ada Vos", "2")]
