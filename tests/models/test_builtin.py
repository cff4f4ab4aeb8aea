"""The built-in world model: tools without any code behave like a stateful service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.strategies import scenario_of, scenarios, values
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

Json = Any
STRING: dict[str, Json] = {"type": "string"}


def value(observation: Observation) -> Json:
    """Return the value of a result that must be a success."""
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation.body
    return observation.body.value


def message(observation: Observation) -> str:
    """Return the text of a result that must be an error."""
    assert isinstance(observation.body, ToolResult), observation
    assert observation.body.is_error, observation.body
    return observation.body.value


def tool(name: str, arguments: Json, *required: str, output: Json = None) -> dict[str, Json]:
    schema = {"type": "object", "properties": arguments, "required": list(required)}
    return {"name": name, "inputSchema": schema} | ({"outputSchema": output} if output else {})


# a CRM ----------------------------------------------------------------------------------------------------------------


async def test_what_is_created_is_got_listed_counted_changed_and_gone(crm: Callable[[str], Simulator]) -> None:
    async with crm("") as sim, sim.open() as world:
        before = value(await world.call("list_deals", {}))["total"]
        deal = value(
            await world.call("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})
        )
        assert deal["id"] == "deal_0003"
        assert value(await world.call("get_deal", {"deal_id": deal["id"]})) == deal
        assert value(await world.call("list_deals", {}))["total"] == before + 1
        changed = value(await world.call("update_deal", {"deal_id": deal["id"], "stage": "won"}))
        assert changed == {**deal, "stage": "won", "updated_at": changed["updated_at"]}
        assert changed["updated_at"] > deal["updated_at"] == deal["created_at"]
        assert value(await world.call("get_deal", {"deal_id": deal["id"]})) == changed


async def test_a_deleted_record_is_gone_for_every_tool_and_its_id_is_not_given_again(
    crm: Callable[[str], Simulator],
) -> None:
    async with crm("") as sim, sim.open() as world:
        made = value(await world.call("create_contact", {"name": "Bo Li", "email": "bo@li.example"}))
        assert value(await world.call("delete_contact", {"contact_id": made["id"]})) == {
            "id": made["id"],
            "deleted": True,
        }
        for name, arguments in (("get_contact", {}), ("update_contact", {"stage": "lead"}), ("delete_contact", {})):
            assert made["id"] in message(await world.call(name, {"contact_id": made["id"], **arguments}))
        assert not value(await world.call("search_contacts", {"query": "Bo Li"}))["contacts"]
        again = value(await world.call("create_contact", {"name": "Bo Li", "email": "bo@li.example"}))
        assert again["id"] > made["id"]


async def test_a_link_to_nothing_is_refused_by_name_and_changes_nothing(crm: Callable[[str], Simulator]) -> None:
    async with crm("") as sim, sim.open() as world:
        reported = message(await world.call("create_deal", {"title": "x", "amount": 1, "contact_id": "con_99999"}))
        assert "con_99999" in reported
        assert "con_88888" in message(
            await world.call("log_activity", {"type": "call", "subject": "x", "contact_id": "con_88888",
                                              "occurred_at": "2029-02-28T09:00:00Z"})
        )  # fmt: skip
        assert world.view.count("deal") == 2


async def test_a_record_that_others_need_is_not_deleted_and_one_they_can_do_without_is_let_go(
    crm: Callable[[str], Simulator],
) -> None:
    async with crm("") as sim, sim.open() as world:
        assert "con_00001" in message(await world.call("delete_contact", {"contact_id": "con_00001"}))
        deal = value(await world.call("create_deal", {"title": "x", "amount": 1, "contact_id": "con_00001"}))
        logged = {"type": "call", "subject": "x", "contact_id": "con_00001", "occurred_at": "2029-02-28T09:00:00Z"}
        activity = value(await world.call("log_activity", {**logged, "deal_id": deal["id"]}))
        assert activity["deal_id"] == deal["id"]


async def test_filters_text_and_pages_show_what_was_asked_for(crm: Callable[[str], Simulator]) -> None:
    async with crm("") as sim, sim.open() as world:
        for amount in (10, 20, 30, 40, 50):
            await world.call("create_deal", {"title": f"Order {amount}", "amount": amount, "contact_id": "con_00001"})
        asked = {"min_amount": 20, "max_amount": 40, "limit": 2}
        first = value(await world.call("list_deals", asked))
        assert ([deal["amount"] for deal in first["deals"]], first["total"]) == ([20, 30], 3)
        second = value(await world.call("list_deals", {**asked, "cursor": first["next_cursor"]}))
        assert [deal["amount"] for deal in second["deals"]] == [40]
        assert second["next_cursor"] is None
        found = value(await world.call("search_contacts", {"query": "ADA"}))
        assert [contact["name"] for contact in found["contacts"]] == ["Ada Vos"]


async def test_a_call_in_a_large_world_is_not_given_up_without_a_program(
    crm: Callable[[str], Simulator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_sim.models.world_models.builtin.LARGE_STATE", -1)
    for name in ("LONGEST", "GRACE"):
        monkeypatch.setattr(f"mcp_sim.programs.watchdog.{name}", 0.0)
    async with crm("") as sim, sim.open() as world:
        assert world.call_at_once("list_deals", {}) is None
        assert value(await world.call("list_deals", {}))["total"] == 2


async def test_a_cursor_that_no_document_declares_refuses_no_call(crm: Callable[[str], Simulator]) -> None:
    async with crm("") as sim, sim.open() as world:
        first = value(await world.call("search_contacts", {"limit": 1}))
        assert first["next_cursor"]
        for cursor in ("bm9uc2Vuc2U", "ä"):
            assert value(await world.call("search_contacts", {"limit": 1, "cursor": cursor})) == first


# other services -------------------------------------------------------------------------------------------------------


async def test_a_service_without_output_schemas_answers_in_json_text_and_remembers() -> None:
    fields = {"title": STRING, "done": {"type": "boolean"}}
    sim = Simulator(
        scenario_of(
            [
                tool("create_task", fields, "title"),
                tool("getTask", {"taskId": STRING}, "taskId"),
                tool("list_tasks", {"done": {"type": "boolean"}, "sort_by": STRING}),
                tool("delete_task", {"task_id": STRING}, "task_id"),
            ],
            count=3,
        )
    )
    async with sim, sim.open() as world:
        made = await world.call("create_task", {"title": "Write tests"})
        assert isinstance(made.body, ToolResult)
        assert made.body.form == "json"
        key = made.body.value["id"]
        assert value(await world.call("getTask", {"taskId": key}))["title"] == "Write tests"
        assert value(await world.call("list_tasks", {}))["count"] == 4
        titles = [task["title"] for task in value(await world.call("list_tasks", {"sort_by": "-title"}))["tasks"]]
        assert titles == sorted(titles, key=str.lower, reverse=True)
        unsorted = value(await world.call("list_tasks", {"sort_by": "size"}))  # an unknown field sorts nothing
        assert unsorted["count"] == 4
        gone = {"success": True, "task_id": key, "message": f"Task {key} deleted successfully"}
        assert value(await world.call("delete_task", {"task_id": key})) == gone
        assert value(await world.call("list_tasks", {}))["count"] == 3


async def test_a_verb_of_state_moves_the_record_to_that_state() -> None:
    status = {"type": "string", "enum": ["open", "resolved", "cancelled"]}
    record = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "status": status},
        "required": ["id", "status"],
    }
    sim = Simulator(
        scenario_of(
            [
                tool("create_ticket", {"title": STRING}, "title", output=record),
                tool("get_ticket", {"ticket_id": {"type": "integer"}}, "ticket_id", output=record),
                tool("cancel_ticket", {"ticket_id": {"type": "integer"}}, "ticket_id", output=record),
            ]
        )
    )
    async with sim, sim.open() as world:
        key = value(await world.call("create_ticket", {"title": "x"}))["id"]
        assert value(await world.call("get_ticket", {"ticket_id": key}))["status"] == "open"
        assert value(await world.call("cancel_ticket", {"ticket_id": key}))["status"] == "cancelled"
        assert value(await world.call("get_ticket", {"ticket_id": key}))["status"] == "cancelled"


async def test_a_tool_that_fits_no_verb_answers_the_same_valid_thing_says_it_guessed_and_changes_nothing() -> None:
    output = {"type": "object", "properties": {"city": STRING, "celsius": {"type": "number"}}, "required": ["celsius"]}
    sim = Simulator(scenario_of([tool("weather_forecast", {"city": STRING}, "city", output=output)]))
    async with sim, sim.open() as world:
        first = value(await world.call("weather_forecast", {"city": "Utrecht"}))
        assert first == value(await world.call("weather_forecast", {"city": "Utrecht"}))
        assert first["city"] == "Utrecht"
        assert isinstance(first["celsius"], int | float)
        steps = [line["step"] for line in world.ledger if line["step"]["entry"] == "call"]
        assert [(step["guessed"], step["committed"]) for step in steps] == [(True, []), (True, [])]


async def test_a_record_that_is_served_can_be_mutated_without_harm_to_the_world(
    crm: Callable[[str], Simulator],
) -> None:
    async with crm("") as sim, sim.open() as world:
        for name, arguments in (("get_contact", {"contact_id": "con_00001"}), ("search_contacts", {})):
            shown = value(await world.call(name, arguments))
            for record in shown.get("contacts", [shown]):
                record.clear()
        assert value(await world.call("get_contact", {"contact_id": "con_00001"}))["name"] == "Ada Vos"


# properties -----------------------------------------------------------------------------------------------------------


@given(scenario=scenarios(), seed=st.integers(0, 2**16))
def test_every_result_of_every_generated_service_keeps_its_schema(scenario: Scenario, seed: int) -> None:
    async def walk() -> None:
        async with Simulator(scenario) as sim, sim.open() as world:
            walker = Walker([*scenario.domain.tools.values()], seed)
            for _ in range(25):
                tool, arguments = walker.call()
                observation = await world.call(tool.id, arguments)
                walker.learn(tool, arguments, observation)
                if observation.ok:
                    judge: Any = Draft202012Validator(tool.output_schema or {})
                    judge.validate(value(observation))

    asyncio.run(walk())


@given(scenario=scenarios(), data=st.data())
def test_what_is_written_is_what_is_read_in_every_generated_service(scenario: Scenario, data: st.DataObject) -> None:
    plan = data.draw(st.sampled_from([plan for plan in scenario.domain.plans.values() if plan.verb == "create"]))

    async def write_and_read() -> None:
        async with Simulator(scenario) as sim, sim.open() as world:
            arguments = drawn(data, plan, world)
            if arguments is None:
                return
            made = value(await world.call(plan.tool, arguments))
            record = shown(plan, made)
            assert {name: record.get(name) for name in arguments} == arguments
            key = record["id"]
            read = plan_of(scenario, "get", plan.entity)
            assert value(await world.call(read.tool, {read.key or "": key})) == made
            listed = await everything(world, plan_of(scenario, "list", plan.entity))
            assert [row for row in listed if row["id"] == key] == [record]
            gone = plan_of(scenario, "delete", plan.entity)
            value(await world.call(gone.tool, {gone.key or "": key}))
            assert str(key) in message(await world.call(read.tool, {read.key or "": key}))

    asyncio.run(write_and_read())


def drawn(data: st.DataObject, plan: Plan, world: World) -> dict[str, Json] | None:
    """Arguments for a create; links go to records that exist. None where it must link to something that has none."""
    schema = world.scenario.domain.tools[plan.tool].input_schema
    fields = world.scenario.domain.entities[plan.entity or ""].fields
    arguments: dict[str, Json] = {}
    for name, part in schema["properties"].items():
        if name not in schema["required"] and not data.draw(st.booleans()):
            continue
        link = fields[name].link
        if link is None:
            arguments[name] = data.draw(values(part))
        elif world.view.count(link):
            arguments[name] = next(iter(world.view.rows(link)))[0]
        elif name in schema["required"]:
            return None
    return arguments


def plan_of(scenario: Scenario, verb: str, entity: str | None) -> Plan:
    return next(plan for plan in scenario.domain.plans.values() if (plan.verb, plan.entity) == (verb, entity))


def shown(plan: Plan, result: Json) -> dict[str, Json]:
    return result[plan.envelope.record] if plan.envelope.record else as_object(result)


async def everything(world: World, plan: Plan) -> list[dict[str, Json]]:
    """Return all rows of a list, page by page. Their number must be the total of every page."""
    rows: list[dict[str, Json]] = []
    page: dict[str, Json] = {"next_cursor": None, "total": None}
    while True:
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = value(await world.call(plan.tool, {"limit": 3, **cursor}))
        rows += page[plan.envelope.rows or ""]
        if page["next_cursor"] is None:
            assert page["total"] == len(rows)
            return rows


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_same_seed_and_calls_give_the_same_answers(crm: Callable[[str], Simulator], seed: int) -> None:
    served: list[list[Json]] = []
    for _ in range(2):
        async with crm("") as sim, sim.open(seed=seed) as world:
            walker = Walker([*sim.scenario.domain.tools.values()], seed)
            reported: list[Json] = []
            for _ in range(60):
                one, arguments = walker.call()
                observation = await world.call(one.id, arguments)
                walker.learn(one, arguments, observation)
                reported.append(replace(observation))
            served.append(reported)
    assert served[0] == served[1]
