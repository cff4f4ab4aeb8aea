"""Shipped specs and scenarios: plans without guesses, paging, errors and the office. test_mutants plays the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.vendors import PLANNED_SPECS, compiled

from mcp_sim import Simulator
from mcp_sim.spec.sources import shipped
from mcp_sim.types import Json, Observation, RpcError, ToolResult
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import constants, properties
from mcp_sim.world.world import World

NO_CONTENT = {"conformance"}
"""Shipped specs that show the protocol and have no task."""

SCENARIO_OF = {
    "web_fetch": "web_search",
    "sequential_thinking": "memory",
    "time": "desk",
    "calculator": "desk",
    "redis_strings": "desk",
    "adb": "phone",
}
"""Spec -> the name of its scenarios, where these have neither its name nor that of its folder: they serve several."""
PLANNED = sorted({*PLANNED_SPECS} - NO_CONTENT)
"""Those that no program answers: mcp-sim infers what their tools do."""

SCENARIOS = sorted(shipped("scenarios").keys() - NO_CONTENT)
OFFICE = {"issues": "issue_tracker", "mail": "calendar_mail", "chat": "chat"}
Call = tuple[str, dict[str, Any]]


async def play(world: World, calls: Sequence[Call]) -> list[Observation]:
    return [await world.call(tool, arguments) for tool, arguments in calls]


# tool specs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_announced_number_of_records_is_generated(name: str) -> None:
    simulator = Simulator(compiled(name))
    assert simulator.counts() == simulator.base().counts()


@pytest.mark.parametrize("name", PLANNED)
def test_a_spec_resembles_the_tool_list_of_a_vendor(name: str) -> None:
    tools = compiled(name).domain.tools.values()
    assert 10 <= len(tools) <= 16
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.definition["title"]
        assert tool.definition["description"].endswith((".", ")"))
        assert {"title", "readOnlyHint", "openWorldHint"} <= tool.annotations.keys()
        if tool.output_schema is not None:
            Draft202012Validator.check_schema(tool.output_schema)


@pytest.mark.parametrize("name", PLANNED)
def test_every_argument_of_a_list_tool_has_a_role(name: str) -> None:
    domain = compiled(name).domain
    for plan in domain.plans.values():
        if plan.verb not in {"list", "search"}:
            continue
        known = {plan.query, plan.paging.sort, plan.paging.order, *plan.filters}
        known |= {plan.paging.limit, plan.paging.offset, plan.paging.page, plan.paging.cursor}
        assert set(properties(expanded(domain.tools[plan.tool].input_schema))) <= known, plan.tool


@pytest.mark.parametrize("name", PLANNED)
def test_every_choice_of_a_sort_argument_is_a_field(name: str) -> None:
    domain = compiled(name).domain
    for plan in domain.plans.values():
        if plan.paging.sort is None:
            continue
        offered = constants(properties(expanded(domain.tools[plan.tool].input_schema))[plan.paging.sort])
        assert {field.removeprefix("-") for field in offered} <= domain.entities[plan.entity or ""].fields.keys()


def test_the_vendors_differ_in_paging_and_in_the_form_of_results() -> None:
    plans = {name: compiled(name).domain.plans.values() for name in PLANNED}
    forms = {
        name: {
            (bool(plan.paging.offset), bool(plan.paging.page), bool(plan.paging.cursor))
            for plan in found
            if plan.paging.is_asked
        }
        for name, found in plans.items()
    }
    assert {form for found in forms.values() for form in found} == {
        (True, False, False),
        (False, True, False),
        (False, False, True),
    }
    texts = {tool.server for name in PLANNED for tool in compiled(name).domain.tools.values() if not tool.output_schema}
    assert texts == {"chat", "files"}


MISSING: list[tuple[str, str, dict[str, Any], Json]] = [
    (
        "issue_tracker",
        "issue_get",
        {"issueKey": "TRK-9999"},
        {"errorMessages": ["issue 'TRK-9999' does not exist, or you may not see it."], "errors": {}},
    ),
    (
        "shop",
        "get_order",
        {"order_id": 9},
        {"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such order: 9"}},
    ),
    ("calendar_mail", "getEmail", {"emailId": "0" * 16}, f"Requested entity was not found: email {'0' * 16}"),
    ("chat", "chat_get_channel", {"channel_id": "C9999"}, {"ok": False, "error": "channel_not_found"}),
    ("files", "read_document", {"path": "/nowhere.md"}, "ENOENT: no such document: /nowhere.md"),
]


@pytest.mark.parametrize(("name", "tool", "arguments", "error"), MISSING)
async def test_each_vendor_has_its_own_error_for_a_missing_record(
    name: str, tool: str, arguments: dict[str, Any], error: Any
) -> None:
    async with Simulator(compiled(name)).open() as world:
        body = (await world.call(tool, arguments)).body
        assert isinstance(body, ToolResult)
        assert body.is_error
        assert body.value == error


async def test_a_shared_document_can_be_deleted_only_after_the_share_is_revoked() -> None:
    path = "/minutes/2029-03-01.md"
    async with Simulator(compiled("calm_files")).open() as world:
        made, shared = await play(
            world,
            [
                ("create_document", {"path": path, "content": "Decided."}),
                ("share_document", {"path": path, "email": "ada.vos@wielhuis.example"}),
            ],
        )
        assert made.ok
        assert isinstance(shared.body, ToolResult)
        assert not (await world.call("delete_document", {"path": path})).ok
        assert (await world.call("revoke_share", {"share_id": shared.body.value["id"]})).ok
        assert (await world.call("delete_document", {"path": path})).ok


# scenarios ------------------------------------------------------------------------------------------------------------


def test_every_spec_has_a_calm_and_a_flaky_scenario_with_the_same_task_and_world() -> None:
    for name, path in shipped("tool_specs").items():
        if name in NO_CONTENT:
            continue
        scenario = name if f"calm_{name}" in SCENARIOS else SCENARIO_OF.get(name, path.parent.name)
        calm, flaky = (compiled(f"{mood}_{scenario}") for mood in ("calm", "flaky"))
        assert calm.task
        assert calm.task == flaky.task
        assert (calm.seed, calm.now, calm.records) == (flaky.seed, flaky.now, flaky.records)
        assert not calm.perturbations
        assert {entry.kind for entry in flaky.expectations} >= {"called", "state", "recovered"}


# the office -----------------------------------------------------------------------------------------------------------


def test_in_the_office_each_tool_has_the_same_plan_as_on_its_own() -> None:
    office = compiled("office").domain
    for server, name in OFFICE.items():
        for tool, plan in compiled(name).domain.plans.items():
            shared = office.plans[f"{server}/{tool}"]
            assert (shared.verb, shared.entity, shared.key) == (plan.verb, plan.entity, plan.key)
            assert (shared.sets, shared.filters, shared.fixed) == (plan.sets, plan.filters, plan.fixed)
            assert (shared.envelope, shared.paging) == (plan.envelope, plan.paging)


async def test_in_the_office_all_servers_show_the_same_person() -> None:
    async with Simulator(compiled("office")).open() as world:
        answers: list[Any] = []
        for tool, arguments in (
            ("issues/user_search", {"query": "Noor Dekker"}),
            ("mail/searchPeople", {"query": "Noor Dekker"}),
            ("chat/chat_get_user", {"user_id": "U1002"}),
        ):
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            people = body.value.get("users") or body.value.get("people") or [body.value["user"]]
            answers.append([{name: person[name] for name in ("id", "name", "email", "title")} for person in people])
        assert answers[0] == answers[1] == answers[2]
        assert answers[0][0]["id"] == "U1002"


async def test_in_the_office_no_tool_belongs_to_two_servers() -> None:
    async with Simulator(compiled("office")).open() as world:
        for server in OFFICE:
            names = {tool.name for tool in world.catalogue(server)}
            others = {tool.name for other in OFFICE if other != server for tool in world.catalogue(other)}
            assert names
            assert names.isdisjoint(others)
        assert isinstance((await world.call("mail/issue_get", {"issueKey": "TRK-1"})).body, RpcError)
