"""What holds against a model: fixed facts are asked for again and corrected value by value, everything else stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import TICKET, Desk, desk_in, fenced, measured, said, ticket, tool, value
from support.endpoint import Engine, saying, serving

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

Json = Any
ROWS = [ticket(1, title="Bell"), ticket(2, title="Lamp")]
UNSPECIFIED: Json = {"records": {}}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a help desk whose tickets are given."""
    return desk_in(tmp_path, {"records": {"ticket": {"count": 2, "rows": ROWS}, "customer": 1}})


@pytest.fixture
def shown(tmp_path: Path) -> Desk:
    """Return a help desk that knows only what the model shows."""
    return desk_in(tmp_path, UNSPECIFIED)


async def seen(engine: Engine, world: World, reply: Json, name: str = "get_ticket", **arguments: Json) -> Json:
    return value(await said(engine, world, reply, name, arguments))


def listed(*rows: Json) -> Json:
    return {"tickets": [*rows], "total": len(rows)}


# what is fixed --------------------------------------------------------------------------------------------------------


async def test_a_contradiction_is_asked_for_again_and_then_that_value_alone_is_corrected(desk: Desk) -> None:
    wrong = {**ROWS[0], "title": "Horn", "effort": 9, "mood": "grim", "id": "ticket_00001"}
    async with serving(saying(json.dumps(wrong))) as engine, desk(engine.url).open() as world:
        served = value(await world.call("get_ticket", {"ticket_id": "ticket_00001"}))
        assert served == {**ROWS[0], "mood": "grim"}
        assert len(engine.asked) == 2
        assert "title is 'Bell', not 'Horn'" in engine.asked[1].question
        assert "mood" not in engine.asked[1].question
        assert sorted(measured(world)["repaired"]) == ["effort", "title"]
        assert (measured(world)["values_shown"], measured(world)["values_fixed"]) == (4, 4)
        assert world.view.get("ticket", "ticket_00001") == served
        engine.respond = saying("{}", "{}", json.dumps(wrong), json.dumps(served))
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == served
        assert "repaired" not in measured(world)


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
async def test_another_variant_of_a_record_contradicts_the_given_one(keyword: str, tmp_path: Path) -> None:
    def variant(**fields: Json) -> Json:
        return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}

    text, given = {"type": "string"}, {"id": "F-1", "title": "Cable", "status": "open"}
    ready = variant(id=text, title=text, status={"const": "open"})
    closed = variant(id=text, title=text, status={"const": "closed"}, closed_by=text)
    get_ferry = {
        "name": "get_ferry",
        "inputSchema": {"type": "object", "properties": {"ferry_id": text}, "required": ["ferry_id"]},
        "outputSchema": {"type": "object", keyword: [ready, closed]},
    }
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [get_ferry]}), encoding="utf-8")
    wrong = {**given, "status": "closed", "closed_by": "Ann"}
    async with serving(saying(json.dumps(wrong))) as engine:
        scenario = {
            "mcp_sim": 1,
            "tools": "tools.json",
            "world": {"state": {"ferries": [given]}},
            "world_model": {"openai": {"base_url": engine.url, "model": "tiny"}},
        }
        (tmp_path / "port.yaml").write_text(json.dumps(scenario), encoding="utf-8")
        async with Simulator.load(tmp_path / "port.yaml", trust=True) as simulator, simulator.open() as world:
            assert value(await world.call("get_ferry", {"ferry_id": "F-1"})) == given
            assert world.view.get("ferry", "F-1") == given
            assert "status is 'open', not 'closed'" in engine.asked[1].question


@pytest.mark.parametrize(("given", "wrong"), [("", "Horn"), ("x", "box"), ("7 days", "7chain"), ("30", "7")])
async def test_an_update_writes_what_its_argument_says_also_if_that_is_empty(
    desk: Desk, given: str, wrong: str
) -> None:
    arguments = {"ticket_id": "ticket_00001", "title": given}
    async with serving() as engine, desk(engine.url).open() as world:
        answer = await seen(engine, world, {**ROWS[0], "title": wrong}, "update_ticket", **arguments)
        assert answer["title"] == given
        assert world.view.get("ticket", "ticket_00001") == {**ROWS[0], "title": given}


async def test_what_was_shown_of_a_record_stays_until_a_write_names_it(shown: Desk) -> None:
    first, second = ticket(1, title="Bell"), ticket(2, title="Lamp")
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, listed(first, second), "list_tickets") == listed(first, second)
        for n, one in ((1, first), (2, second)):
            assert await seen(engine, world, ticket(n, title="?", effort=8), ticket_id=one["id"]) == one
        changed = ticket(1, title="Bell", summary="It rings.", effort=5)
        assert (
            await seen(engine, world, changed, "update_ticket", ticket_id=first["id"], summary="It rings.") == changed
        )
        later = {**changed, "effort": 6}  # shown by the write's own answer, and so fixed
        assert await seen(engine, world, later, ticket_id=first["id"]) == changed
        assert await seen(engine, world, {**second, "effort": 6}, ticket_id=second["id"]) == second


@pytest.mark.parametrize("named", [{"what": "ticket_00001"}, {"what": "Bell"}])
async def test_a_write_that_names_a_record_by_its_id_or_name_lets_it_change_and_no_other(
    named: Json, shown: Desk
) -> None:
    first, second = ticket(1, title="Bell"), ticket(2, title="Lamp")
    async with serving() as engine, shown(engine.url).open() as world:
        await seen(engine, world, listed(first, second), "list_tickets")
        await said(engine, world, "Done.", "tidy_up", named)
        assert await seen(engine, world, {**first, "effort": 8}, ticket_id=first["id"]) == {**first, "effort": 8}
        if named["what"] == "ticket_00001":
            assert await seen(engine, world, {**second, "effort": 8}, ticket_id=second["id"]) == second
        assert await seen(engine, world, {**first, "effort": 7}, ticket_id=first["id"]) == {**first, "effort": 8}


async def test_after_a_write_of_unknown_effect_the_next_answer_is_the_fact(shown: Desk) -> None:
    first = ticket(1, title="Bell")
    async with serving() as engine, shown(engine.url).open() as world:
        await seen(engine, world, first, ticket_id=first["id"])
        await said(engine, world, "Done.", "tidy_up", {})
        moved = {**first, "effort": 8}
        assert await seen(engine, world, moved, ticket_id=first["id"]) == moved
        assert world.view.get("ticket", first["id"]) == moved
        assert await seen(engine, world, first, ticket_id=first["id"]) == moved


async def test_what_the_agent_wrote_is_shown_as_it_wrote_it(shown: Desk) -> None:
    async with serving() as engine, shown(engine.url).open() as world:
        made = await seen(engine, world, ticket(7, title="Horn"), "create_ticket", title="Squeaking brake")
        assert made == ticket(7, title="Squeaking brake")
        assert await seen(engine, world, ticket(7, title="Horn"), ticket_id=made["id"]) == made
        changed = {**made, "title": "Loud brake"}
        assert await seen(engine, world, changed, "update_ticket", ticket_id=made["id"], title="Loud brake") == changed
        assert await seen(engine, world, made, ticket_id=made["id"]) == changed


@pytest.mark.parametrize("given", [{}, {"status": "Pending"}])
async def test_the_first_state_of_a_new_record_is_a_fact_if_the_call_gives_it_or_a_read_shows_it(
    given: Json, shown: Desk
) -> None:
    at = "ticket_00003"
    async with serving() as engine, shown(engine.url).open() as world:
        made = ticket(3, status="Pending")
        assert await seen(engine, world, made, "create_ticket", title="one", customer_id="customer_00001", **given)
        state = "Pending" if given else "Open"
        opened = {**made, "status": "Open"}
        assert await seen(engine, world, opened, ticket_id=at) == {**made, "status": state}
        assert await seen(engine, world, {**made, "status": "Lost"}, ticket_id=at) == {**made, "status": state}


async def test_what_was_deleted_is_not_found_and_in_no_list(shown: Desk) -> None:
    first, second = ticket(1, title="Bell"), ticket(2, title="Lamp")
    async with serving() as engine, shown(engine.url).open() as world:
        await seen(engine, world, listed(first, second), "list_tickets")
        await said(engine, world, "Deleted.", "delete_ticket", {"ticket_id": first["id"]})
        assert world.view.get("ticket", first["id"]) is None
        refused = await said(engine, world, first, "get_ticket", {"ticket_id": first["id"]})
        assert not refused.ok
        assert (await seen(engine, world, listed(first, second), "list_tickets"))["tickets"] == [second]


async def test_what_was_deleted_or_never_was_stays_so_when_others_are_created(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, "Deleted.", "delete_ticket", {"ticket_id": "ticket_00001"})
        made = await seen(engine, world, ticket(3), "create_ticket", title="one", customer_id="customer_00001")
        for number in (1, 7):
            arguments = {"ticket_id": f"ticket_{number:05}"}
            assert not (await said(engine, world, ticket(number), "get_ticket", arguments)).ok
        rows = await seen(engine, world, listed(ticket(1), ROWS[1], made), "list_tickets")
        assert rows["tickets"] == [ROWS[1], made]


async def test_a_tool_that_writes_nothing_the_world_has_lets_nothing_change(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, {"outlook": "Mist", "degrees": 4}, "forecast", {"city": "Ghent"})
        assert await seen(engine, world, {**ROWS[0], "effort": 9}, ticket_id="ticket_00001") == ROWS[0]


@pytest.mark.parametrize("other", [ROWS[1], ticket(7)])
async def test_the_answer_is_about_the_record_that_was_asked_for(other: Json, desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        served = await said(engine, world, other, "get_ticket", {"ticket_id": "ticket_00001"})
        assert value(served)["id"] == "ticket_00001"


async def test_a_list_of_a_closed_entity_shows_all_its_records(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        assert await seen(engine, world, listed(), "list_tickets") == listed(*ROWS)


@pytest.mark.parametrize("world_part", ["records", "state"])
async def test_a_closed_entity_has_no_other_records_than_those_given(world_part: str, tmp_path: Path) -> None:
    customers = [{"id": "customer_00001", "name": "Ada Vos"}]
    whole: Json = {"records": {"ticket": {"count": 2, "rows": ROWS}, "customer": 1}}
    if world_part == "state":
        whole = {"records": {}, "state": {"tickets": ROWS, "customers": customers}}
    async with serving() as engine, desk_in(tmp_path, whole)(engine.url).open() as world:
        unknown = ticket(7)
        assert not (await said(engine, world, unknown, "get_ticket", {"ticket_id": unknown["id"]})).ok
        shown = await seen(engine, world, listed(ROWS[0], unknown, ROWS[1]), "list_tickets")
        assert shown["tickets"] == ROWS
        assert world.view.count("ticket") == 2


# what is not ----------------------------------------------------------------------------------------------------------


async def test_an_id_that_differing_objects_of_an_answer_share_identifies_nothing(shown: Desk) -> None:
    rows = [{"id": 1, "name": "Ada", "points": 3}, {"id": 1, "name": "Bo", "points": 4}]
    other = [{"id": 1, "name": "Cy", "points": 9}]
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, rows, "get_report", about="points") == rows
        assert await seen(engine, world, other, "get_report", about="games") == other
        assert len(engine.asked) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"moves": [{"index": 1, "san": "e4"}]}, {"moves": [{"index": 1, "san": "d4"}]}),
        ({"success": True, "message": "1 found"}, {"success": True, "message": "2 found"}),
        ({"files": [{"name": "a.txt", "size": 3}]}, {"files": [{"name": "a.txt", "size": 9}]}),
    ],
    ids=["an index", "what an answer says of the call", "a name in another container"],
)
async def test_what_identifies_no_record_fixes_nothing(first: Json, second: Json, shown: Desk) -> None:
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, first, "get_report", about="here") == first
        assert await seen(engine, world, second, "get_report", about="there") == second
        assert len(engine.asked) == 2


async def test_a_name_identifies_within_its_container(shown: Desk) -> None:
    small, large = ({"folder": "/a", "files": [{"name": "a.txt", "size": size}]} for size in (3, 9))
    async with serving() as engine, shown(engine.url).open() as world:
        await seen(engine, world, small, "get_report", about="/a")
        assert await seen(engine, world, {**large, "note": 1}, "get_report", about="/a") == {**small, "note": 1}


async def test_what_a_search_shows_is_an_excerpt(shown: Desk) -> None:
    hit = {"results": [{"id": "ticket_00001", "title": "…slips…", "score": 0.8}], "count": 1}
    again = {"results": [{"id": "ticket_00001", "title": "The chain …", "score": 0.2}], "count": 1}
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, hit, "search_tickets", query="slips") == hit
        assert await seen(engine, world, again, "search_tickets", query="load") == again
        whole = ticket(1, title="The chain slips under load")
        assert await seen(engine, world, whole, ticket_id="ticket_00001") == whole
        assert await seen(engine, world, again, "search_tickets", query="load") == again


async def test_a_search_shows_what_it_shows_whole_as_it_is(shown: Desk) -> None:
    wrong = {"results": [ticket(1, title="Horn")], "count": 1}
    async with serving() as engine, shown(engine.url).open() as world:
        await seen(engine, world, ticket(1, title="Bell"), ticket_id="ticket_00001")
        assert await seen(engine, world, wrong, "search_tickets", query="horn") == {
            "results": [ticket(1, title="Bell")],
            "count": 1,
        }


# absorption -----------------------------------------------------------------------------------------------------------


async def test_a_new_record_has_the_id_and_the_undeclared_fields_that_the_model_shows(shown: Desk) -> None:
    made = ticket(7, id="T-7", status="open", board={"name": "Repairs"})
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, made, "create_ticket", title="one") == made
        assert world.view.get("ticket", "T-7") == made
        other = {**made, "board": {"name": "Sales"}}
        assert await seen(engine, world, other, ticket_id="T-7") == made


@pytest.mark.parametrize("deleted", [False, True])
async def test_an_id_that_is_taken_or_was_deleted_is_not_given_to_a_new_record(deleted: bool, shown: Desk) -> None:
    async with serving() as engine, shown(engine.url).open() as world:
        first = await seen(engine, world, ticket(1, title="Bell"), "create_ticket", title="Bell")
        if deleted:
            await said(engine, world, "Deleted.", "delete_ticket", {"ticket_id": first["id"]})
        made = await seen(engine, world, ticket(1, title="Lamp"), "create_ticket", title="Lamp")
        assert made == ticket(2, title="Lamp")
        assert world.view.get("ticket", "ticket_00002") == made
        assert world.view.get("ticket", "ticket_00001") == (None if deleted else first)


async def test_a_new_link_to_a_record_that_does_not_exist_is_corrected(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        lost = ticket(3, customer_id="customer_00099")
        assert await seen(engine, world, lost, "create_ticket", title="one") == ticket(3)
        assert "'customer_00099' is no customer" in engine.asked[1].question
        assert world.view.get("ticket", "ticket_00003") == ticket(3)
        assert [key for key, _ in world.view.rows("customer")] == ["customer_00001"]


async def test_rows_of_tools_that_no_plan_explains_are_records_and_so_is_what_they_link_to(shown: Desk) -> None:
    answer = {"advice": "Ask.", "tickets": [ticket(8, customer_id="C-9")], "ferries": [{"id": "F1", "knots": 9}]}
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, answer, "get_report", about="debts") == answer
        assert world.view.get("ticket", "ticket_00008") == ticket(8, customer_id="C-9")
        assert world.view.get("customer", "C-9") is not None
        assert await seen(engine, world, ticket(8, effort=9), ticket_id="ticket_00008") == ticket(8, customer_id="C-9")
        sails = {"ferries": [{"id": "F1", "knots": 12, "crew": 3}]}
        report = {"ferries": [{"id": "F1", "knots": 9, "crew": 3}]}
        assert await seen(engine, world, sails, "get_report", about="ferries") == report


async def test_a_read_that_identifies_nothing_is_answered_the_same_until_a_call_writes(shown: Desk) -> None:
    async with serving() as engine, shown(engine.url).open() as world:
        assert await seen(engine, world, "Round.", "get_report", about="wheels") == "Round."
        assert await seen(engine, world, "Square.", "get_report", about="wheels") == "Round."
        assert (len(engine.asked), measured(world)["asked"]) == (1, False)
        assert await seen(engine, world, "Oval.", "get_report", about="rims") == "Oval."
        await said(engine, world, ticket(1), "create_ticket", {"title": "one"})
        assert await seen(engine, world, "Square.", "get_report", about="wheels") == "Square."


async def test_a_refusal_changes_nothing_and_fixes_nothing(shown: Desk) -> None:
    refusal = {"isError": True, "content": [{"type": "text", "text": "Busy."}], "structuredContent": {"id": "T-1"}}
    async with serving() as engine, shown(engine.url).open() as world:
        before = world.view
        assert not (await said(engine, world, refusal, "create_ticket", {"title": "one"})).ok
        assert world.view.count("ticket") == before.count("ticket") == 0
        assert await seen(engine, world, ticket(1), "create_ticket", title="one") == ticket(1)


async def test_a_record_that_was_created_without_its_id_gets_the_one_that_is_shown_later(tmp_path: Path) -> None:
    tools = [tool("create_parcel", ["label"]), tool("get_parcel", ["parcel_id"]), tool("list_parcels", [])]
    parcel = {"id": "P-77", "label": "Books", "state": "new"}
    async with serving() as engine, desk_in(tmp_path, UNSPECIFIED, tools=tools)(engine.url).open() as world:
        await said(engine, world, "Parcel created.", "create_parcel", {"label": "Books"})
        assert world.view.count("parcel") == 1
        assert await seen(engine, world, {"parcels": [parcel]}, "list_parcels") == {"parcels": [parcel]}
        assert [row for _, row in world.view.rows("parcel")] == [parcel]


# what the model is shown ----------------------------------------------------------------------------------------------


async def test_a_turn_shows_the_records_that_any_argument_names_and_the_rows_of_a_list(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, "It rings.", "explain", {"topic": "ticket_00001"})
        facts = fenced(engine.asked[0].question)[1]
        assert [one["record"] for one in facts["records"]] == [ROWS[0]]
        await said(engine, world, listed(*ROWS), "list_tickets", {})
        facts = fenced(engine.asked[1].question)[1]
        assert facts["likely"] == listed(*ROWS)


async def test_every_turn_asks_for_the_whole_observation_under_the_same_open_schema(desk: Desk) -> None:
    async with serving(saying(json.dumps(ROWS[0]))) as engine, desk(engine.url, max_text=900).open() as world:
        for _ in range(2):
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
    first, second = engine.asked
    assert all(asked.question.endswith("**Answer:** the whole observation") for asked in engine.asked)
    assert json.dumps(first.body["response_format"]) == json.dumps(second.body["response_format"])
    assert first.schema is not None
    observation, refusal, *_ = first.schema["anyOf"]
    assert (observation["additionalProperties"], refusal["properties"].keys()) == (True, {"isError", "text"})
    assert [*observation["properties"]] == [*TICKET["properties"]]
    assert observation["properties"]["title"]["maxLength"] == 900


async def test_with_ask_undetermined_calls_whose_answer_is_known_are_not_asked(desk: Desk) -> None:
    async with serving(saying(json.dumps(ticket()))) as engine, desk(engine.url, ask="undetermined").open() as world:
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == ROWS[0]
        assert (measured(world)["asked"], engine.asked) == (False, [])
        made = value(await world.call("create_ticket", {"title": "one"}))
        assert value(await world.call("get_ticket", {"ticket_id": made["id"]})) == made
        assert len(engine.asked) == 1
        body = (await said(engine, world, "Mist.", "explain", {"topic": "x"})).body
        assert body == ToolResult("Mist.", "text")
        assert len(engine.asked) == 2


async def test_with_ask_undetermined_a_record_of_which_nothing_is_known_is_asked_for(shown: Desk) -> None:
    customer = {"id": "C-5", "name": "Ada Vos"}
    async with serving() as engine, shown(engine.url, ask="undetermined").open() as world:
        await seen(engine, world, ticket(3, customer_id="C-5"), "create_ticket", title="one")
        assert await seen(engine, world, customer, "get_customer", customer_id="C-5") == customer
