"""Tools that copy a record, save over one, or count them, are known by their names; what is no count, and no link."""

from __future__ import annotations

from pathlib import Path

from support import given
from support.services import message, service, value

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


async def test_a_copy_is_known_by_the_name_of_its_tool(tmp_path: Path) -> None:
    async with service(tmp_path, PAGES, WORLD) as sim, sim.open() as world:
        copy = value(await world.call("duplicate_page", {"page_id": "home", "body": "Hello"}))
        assert copy["id"] != "home"
        assert (copy["title"], copy["body"]) == ("Home (copy)", "Hello")
        assert value(await world.call("get_page", {"page_id": "home"}))["body"] == "Welcome"
        assert value(await world.call("get_page", {"page_id": copy["id"]})) == copy
        assert "attic" in message(await world.call("duplicate_page", {"page_id": "attic"}))


async def test_what_is_created_or_updated_is_there_once(tmp_path: Path) -> None:
    for name in ("upsert_page", "create_or_update_page", "pageUpsert"):
        async with service(tmp_path, PAGES.replace("NAME", name), WORLD) as sim, sim.open() as world:
            await world.call(name, {"page_id": "home", "title": "Start"})
            home = value(await world.call("get_page", {"page_id": "home"}))
            assert home == {"id": "home", "title": "Start", "body": "Welcome"}
            await world.call(name, {"page_id": "attic", "title": "Attic"})
            assert value(await world.call("get_page", {"page_id": "attic"}))["title"] == "Attic"
            assert world.view.count("page") == 2


async def test_what_a_spec_says_of_a_record_that_exists_goes_before_what_a_tool_is_called(tmp_path: Path) -> None:
    said = PAGES.replace("NAME", "upsert_page") + "sim: {upsert_page: {if_exists: refuse}}\n"
    async with service(tmp_path, said, WORLD) as sim, sim.open() as world:
        assert "home" in message(await world.call("upsert_page", {"page_id": "home", "title": "Start"}))
        await world.call("upsert_page", {"page_id": "attic", "title": "Attic"})
        assert world.view.count("page") == 2


async def test_the_total_of_an_order_is_no_number_of_records(tmp_path: Path) -> None:
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


async def test_the_owner_of_an_account_is_no_account(tmp_path: Path) -> None:
    spec = """
    tools:
      - name: create_account
        inputSchema: {type: object, properties: {owner: {type: string}}, required: [owner]}
      - {name: list_accounts, inputSchema: {type: object, properties: {owner: {type: string}}}}
    """
    async with service(tmp_path, spec, "records: {account: 3}") as sim, sim.open() as world:
        assert value(await world.call("create_account", {"owner": "Ada"}))["owner"] == "Ada"
        assert value(await world.call("list_accounts", {"owner": "Ada"}))["count"] == 1


async def test_what_is_counted_is_what_is_there(tmp_path: Path) -> None:
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


async def test_who_is_made_or_changed_is_known_by_what_only_one_has(tmp_path: Path) -> None:
    state = {"growers": [{"id": 1, "name": "Ada", "email": "ada@plot.example", "phone": "1"}]}
    tools = given.tool("upsert_grower", "name", "email", phone=given.STRING), given.tool("list_growers")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "ada@plot.example"})
        await world.call("upsert_grower", {"name": "Ada Vos", "email": "vos@plot.example", "phone": "2"})
        rows = given.value(await world.call("list_growers", {}))
        assert [(row["id"], row["name"], row["phone"]) for row in rows] == [(1, "Ada Vos", "1"), (2, "Ada Vos", "2")]
