"""Creating records: initial values, references, existing records."""

from __future__ import annotations

from pathlib import Path

from support import given
from support.services import message, service, value

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


async def test_an_upsert_identifies_the_record_by_a_unique_field(tmp_path: Path) -> None:
    state = {"growers": [{"id": 1, "name": "Ada", "email": "ada@plot.example", "phone": "1"}]}
    tools = given.tool("upsert_grower", "name", "email", phone=given.STRING), given.tool("list_growers")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "ada@plot.example"})
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "vos@plot.example", "phone": "2"})
        rows = given.value(await world.call("list_growers", {}))
        assert [(row["id"], row["name"], row["phone"]) for row in rows] == [(1, "Ada Vos", "1"), (2, "Ada Vos", "2")]
