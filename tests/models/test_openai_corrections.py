"""What a random model says that is impossible is corrected at the last attempt: no call is a crash for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import Desk, desk_in, fenced, measured, ticket, value
from support.endpoint import completion, giving, saying, serving

from mcp_sim.types import ToolResult

Json = Any
ROWS = [ticket(1, title="Bell"), ticket(2, title="Lamp")]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a help desk whose tickets are given."""
    return desk_in(tmp_path, {"records": {"ticket": {"count": 2, "rows": ROWS}, "customer": 1}})


@pytest.fixture
def shown(tmp_path: Path) -> Desk:
    """Return a help desk that knows only what the model shows."""
    return desk_in(tmp_path, {"records": {}, "open": True})


def listed(*rows: Json, total: int | None = None) -> str:
    return json.dumps({"tickets": [*rows], "total": len(rows) if total is None else total})


@pytest.mark.parametrize("title", ["", "a", "Horn"])
async def test_a_new_record_has_what_the_call_gave(title: str, desk: Desk) -> None:
    reply = json.dumps(ticket(3, title=title))
    async with serving(saying(reply)) as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "Bent frame"}))
        assert made["title"] == "Bent frame"
        assert world.view.get("ticket", made["id"]) == made


@pytest.mark.parametrize("other", ["ticket_00099", "99", ""])
@pytest.mark.parametrize("asked", ["ticket_00001", "ticket_00007"])
async def test_what_a_call_asks_for_by_id_has_that_id(asked: str, other: str, desk: Desk, shown: Desk) -> None:
    async with serving(saying(json.dumps({**ticket(1, title="Bell"), "id": other}))) as engine:
        for simulator in (desk, shown) if asked == "ticket_00001" else (shown,):
            async with simulator(engine.url).open() as world:
                served = value(await world.call("get_ticket", {"ticket_id": asked}))
                assert served["id"] == asked
                assert world.view.get("ticket", asked) == served


@pytest.mark.parametrize("name", ["get_ticket", "update_ticket"])
async def test_an_answer_that_no_corrected_value_makes_true_is_replaced_by_that_of_the_plan(
    name: str, desk: Desk
) -> None:
    reply = json.dumps({**ticket(1), "id": "},{", "title": "Horn"})
    async with serving(saying(reply)) as engine, desk(engine.url).open() as world:
        served = await world.call(name, {"ticket_id": "Horn", "title": "Horn"})
        assert isinstance(served.body, ToolResult)
        assert (served.body.is_error, served.body.value) == (True, "Ticket Horn not found")
        assert len(engine.asked) == 2
        assert measured(world)["repaired"] == [""]
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00002"})) == ROWS[1]


async def test_a_prompt_does_not_say_that_what_an_open_world_is_asked_for_is_absent(desk: Desk, shown: Desk) -> None:
    reply = saying(json.dumps(ticket(7, title="Bell")))
    for simulator, is_open in ((shown, True), (desk, False)):
        async with serving(reply) as engine, simulator(engine.url).open() as world:
            served = await world.call("get_ticket", {"ticket_id": "ticket_00007"})
            facts = fenced(engine.asked[0].question)[1]
            assert is_open is ("records" not in facts and "likely" not in facts) is served.ok


async def test_a_new_record_never_has_an_empty_id(desk: Desk) -> None:
    async with serving(saying(json.dumps({**ticket(3), "id": ""}))) as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one"}))
        assert made["id"] == "ticket_00003"


async def test_a_link_leads_to_a_record_that_exists(desk: Desk) -> None:
    for wrong in ("customer_00042", ""):
        reply = json.dumps(ticket(3, customer_id=wrong))
        async with serving(saying(reply)) as engine, desk(engine.url).open() as world:
            made = value(await world.call("create_ticket", {"title": "one"}))
            assert made["customer_id"] == "customer_00001"
            assert world.view.get("customer", wrong) is None


async def test_a_list_of_all_records_has_them_although_the_model_insists(desk: Desk) -> None:
    async with serving(saying(listed(ROWS[1], total=7), listed(ROWS[0]))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("list_tickets", {})) == {"tickets": ROWS, "total": 2}
        assert measured(world)["repaired"] == ["tickets", "total"]
    async with serving(saying(listed(ROWS[0]))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("list_tickets", {})) == {"tickets": ROWS, "total": 2}


async def test_what_the_token_limit_cuts_off_each_time_is_served_as_far_as_it_goes(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        for whole in (json.dumps(ticket(3)), json.dumps(ticket(3, note=[{"by": "Ada", "said": "Half a sen"}]))[:-4]):
            engine.respond = giving(completion(whole[:-3], "length"))
            made = value(await world.call("create_ticket", {"title": "one"}))
            assert made | {"note": 0, "id": 0} == ticket() | {"note": 0, "id": 0}
            assert measured(world)["reply"]["cut_off"]
        engine.respond = giving(completion("The chain slips since the teeth are wo", "length"))
        assert value(await world.call("explain", {"topic": "chains"})) == "The chain slips since the teeth are"


WRITES: list[tuple[str, Json]] = [
    ("create_ticket", {"title": "one", "customer_id": "customer_00001"}),
    ("update_ticket", {"ticket_id": "ticket_00002", "title": "Dim lamp"}),
    ("delete_ticket", {"ticket_id": "ticket_00002"}),
]


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
async def test_the_answer_to_a_write_changes_no_other_records_of_its_kind(
    tool: str, arguments: Json, desk: Desk
) -> None:
    number = 2 if "ticket_id" in arguments else 3
    own: Json = {} if tool == "delete_ticket" else ticket(number, title=arguments["title"])
    answer = {"note": "Done", **own, "tickets": [{**ROWS[0], "title": "Horn", "effort": 9}], "customer": {"age": 40}}
    async with serving(saying(json.dumps(answer))) as engine, desk(engine.url).open() as world:
        served = value(await world.call(tool, arguments))
        assert served == {**answer, "tickets": ROWS[:1]}
        assert measured(world)["rejected"][0]["problems"][0].startswith("ticket 'ticket_00001': ")
        assert {"tickets.0.title", "tickets.0.effort"} == {*measured(world)["repaired"]}
        assert world.view.get("ticket", "ticket_00001") == ROWS[0]


async def test_the_answer_to_a_write_may_change_what_it_refers_to_and_counts_of_others(tmp_path: Path) -> None:
    ada, ben = ({"id": f"customer_{at:05}", "name": name, "open": 2} for at, name in ((1, "Ada"), (2, "Ben")))
    given = {"records": {"ticket": {"count": 2, "rows": ROWS}, "customer": {"count": 2, "rows": [ada, ben]}}}
    customers = [{**ada, "name": "Ada Vos", "open": 3}, {**ben, "name": "Bob", "open": 1}]
    answer = {**ticket(3), "customers": customers}
    async with serving(saying(json.dumps(answer))) as engine, desk_in(tmp_path, given)(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one", "customer_id": "customer_00001"}))
        true = [customers[0], {**ben, "open": 1}]
        assert made == {**answer, "customers": true}
        assert [row for _, row in world.view.rows("customer")] == true
