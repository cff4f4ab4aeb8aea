"""Tools whose names put the verb between two nouns, mark something, or do not say what they are about."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, STRING, refused, service, tool, value

_BOOLEAN = {"type": "boolean"}


async def test_a_verb_between_two_nouns_is_the_verb(tmp_path: Path) -> None:
    tools = (
        tool("shelf_create", "label"),
        tool("shelf_get", "shelf_id"),
        tool("shelf_add_jar", "shelf_id", "content"),
        tool("shelf_list_jars", "shelf_id"),
    )
    async with service(tmp_path, {"shelves": [], "jars": []}, *tools) as simulator, simulator.open("w") as world:
        shelf = value(await world.call("shelf_create", {"label": "top"}))
        one = next(iter(shelf.values()))
        await world.call("shelf_add_jar", {"shelf_id": one, "content": "plums"})
        assert world.view.count("shelf") == 1
        jars = value(await world.call("shelf_list_jars", {"shelf_id": one}))
        assert [jar["content"] for jar in jars] == ["plums"]


async def test_what_is_marked_as_done_is_done(tmp_path: Path) -> None:
    tools = (
        tool("add_chore", "text"),
        tool("edit_chore", "id", id=INTEGER, text=STRING, done=_BOOLEAN),
        tool("mark_done", "id", about="Mark the chore with the given id as done.", id=INTEGER),
        tool("list_chores"),
        tool("open_panel", about="Open the panel in a browser."),
    )
    async with service(tmp_path, {"chores": []}, *tools) as simulator, simulator.open("w") as world:
        await world.call("add_chore", {"text": "Sweep"})
        await world.call("mark_done", {"id": 1})
        assert [chore["done"] for chore in value(await world.call("list_chores", {}))] == [True]
        assert refused(await world.call("mark_done", {"id": 9}))


async def test_verbs_alone_in_one_namespace_are_about_it(tmp_path: Path) -> None:
    tools = tool("quotes.add", "body"), tool("quotes.list"), tool("quotes.search", "query")
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        for body in ("Know thyself", "Nothing in excess"):
            await world.call("quotes.add", {"body": body})
        assert len(value(await world.call("quotes.list", {}))["quotes"]) == 2
        found = value(await world.call("quotes.search", {"query": "excess"}))["results"]
        assert [one["body"] for one in found] == ["Nothing in excess"]


async def test_several_words_with_which_all_names_begin_say_nothing_of_one_tool(tmp_path: Path) -> None:
    tools = (
        tool("harbour_office_create_berth", "title"),
        tool("harbour_office_list_berths"),
        tool("harbour_office_update_berth", "berth_id", title=STRING),
        tool("harbour_office_search_berths", "query"),
    )
    async with service(tmp_path, {"berths": [{"berth_id": "B1", "title": "North"}]}, *tools) as simulator:
        plans = simulator.scenario.domain.plans
    assert {plan.entity for plan in plans.values()} == {"berth"}
    assert [plan.verb for plan in plans.values()] == ["create", "list", "update", "search"]
