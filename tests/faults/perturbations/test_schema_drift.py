"""schema_drift: a tool's arguments or results have another form than they had."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.catalogues import tool
from support.perturbed import SPRING, Crm, outcomes, served_value

from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import perturbations

NAMED = {"name": "Spring order", "amount": 4000, "contact_id": "con_00001"}


def drifted(crm: Crm, options: str, tools: str = "create_deal", rest: str = "") -> Simulator:
    return crm(f"perturbations: [{{schema_drift: {options}, id: v2, tools: {tools}{rest}}}]")


async def message(simulator: Simulator, name: str, arguments: dict[str, Any]) -> str:
    """Return the error text of a rejected call."""
    async with simulator.open() as world:
        body = (await world.call(name, arguments)).body
        assert isinstance(body, ToolResult)
        assert body.is_error
        assert world.ledger.newest["step"]["committed"] == []
        assert outcomes(world) == [["applied"]]
        return body.value


async def test_a_renamed_argument_is_listed_under_its_new_name_and_does_what_it_did(crm: Crm) -> None:
    simulator = drifted(crm, "{rename: {title: name}}")
    async with simulator.open() as world:
        schema = tool(world, "create_deal").input_schema
        assert "name" in schema["properties"]
        assert "title" not in schema["properties"]
        assert "name" in schema["required"]
        made = await served_value(world, "create_deal", NAMED)
        assert made["title"] == "Spring order"
        step = world.ledger.newest["step"]
        assert step["arguments"] == NAMED
        assert step["truth"]["observation"]["result"] == made
        assert outcomes(world) == [["applied"]]
    assert "title: is not an argument of this tool" in await message(simulator, "create_deal", SPRING)


async def test_calls_in_the_old_form_may_still_be_accepted(crm: Crm) -> None:
    async with drifted(crm, "{rename: {title: name}, old_calls: accepted}").open() as world:
        assert (await served_value(world, "create_deal", SPRING))["title"] == "Spring order"
        assert (await served_value(world, "create_deal", NAMED))["title"] == "Spring order"
        assert outcomes(world) == [["no_effect"], ["applied"]]
        assert not (await world.call("create_deal", {"amount": 1, "contact_id": "con_00001"})).ok


async def test_a_removed_argument_is_refused_and_cannot_be_one_that_is_needed(crm: Crm) -> None:
    simulator = drifted(crm, "{remove: [currency]}")
    rejection = await message(simulator, "create_deal", {**SPRING, "currency": "EUR"})
    assert "currency: is not an argument of this tool" in rejection
    async with simulator.open() as world:
        assert "currency" not in properties(tool(world, "create_deal").input_schema)
        assert (await world.call("create_deal", SPRING)).ok
        assert outcomes(world) == [["no_effect"]]
    with pytest.raises(DocumentError, match="create_deal cannot do without 'title'"):
        drifted(crm, "{remove: [title]}")


async def test_a_retyped_argument_says_the_same_in_its_new_type(crm: Crm) -> None:
    simulator = drifted(crm, "{retype: {amount: string}}")
    async with simulator.open() as world:
        assert properties(tool(world, "create_deal").input_schema)["amount"]["type"] == "string"
        made = await served_value(world, "create_deal", {**SPRING, "amount": "4000.5"})
        assert made["amount"] == 4000.5
    assert "amount" in await message(simulator, "create_deal", SPRING)
    assert "cannot be understood" in await message(simulator, "create_deal", {**SPRING, "amount": "a lot"})


async def test_a_new_required_argument_must_be_given_and_changes_nothing(crm: Crm) -> None:
    simulator = drifted(crm, "{require: {workspace_id: string, dry: {type: boolean, const: false}}}")
    assert "workspace_id" in await message(simulator, "create_deal", SPRING)
    async with simulator.open() as world:
        assert {"workspace_id", "dry"} <= set(tool(world, "create_deal").input_schema["required"])
        made = await served_value(world, "create_deal", {**SPRING, "workspace_id": "w", "dry": False})
        assert "workspace_id" not in made
        assert outcomes(world) == [["applied"]]


async def test_a_narrowed_enum_refuses_what_it_no_longer_has(crm: Crm) -> None:
    simulator = drifted(crm, "{narrow: {stage: [won, lost]}}", "update_deal")
    update = {"deal_id": "deal_0002", "stage": "proposal"}
    assert "stage" in await message(simulator, "update_deal", update)
    async with simulator.open() as world:
        assert properties(tool(world, "update_deal").input_schema)["stage"]["enum"] == ["won", "lost"]
        assert (await world.call("update_deal", {**update, "stage": "won"})).ok


async def test_renamed_fields_of_results_are_renamed_wherever_they_appear_and_clients_can_read_them(crm: Crm) -> None:
    simulator = drifted(crm, "{rename_output: {title: name}}", "'*deal*'")
    async with simulator.open() as world:
        assert tool(world, "list_deals").output_schema is None
        listed = await served_value(world, "list_deals")
        assert [deal["name"] for deal in listed["deals"]] == ["Winter tyres", "Chains"]
        assert not any("title" in deal for deal in listed["deals"])
        assert world.ledger.newest["step"]["truth"]["observation"]["result"]["deals"][0]["title"] == "Winter tyres"
        assert (await world.call("list_deals", {"stage": "no stage"})).ok is False
    for mode in ("legacy", "2026-07-28"):
        async with simulator.open() as world, connected(world, mode=mode) as client:
            result = await client.call_tool("list_deals", {})
            assert (result.structured_content or {})["deals"][0]["name"] == "Winter tyres"


async def test_a_silent_drift_is_not_listed_and_only_refusals_show(crm: Crm) -> None:
    entry = "{rename: {title: name}, notice: silent}"
    async with drifted(crm, entry, rest=", when: {after: 1 calls}").open() as world:
        before = tool(world, "create_deal").definition
        assert (await world.call("create_deal", SPRING)).ok
        refused = await world.call("create_deal", SPRING)
        assert not refused.ok
        assert refused.notifications == ()
        assert tool(world, "create_deal").definition == before
        assert (await world.call("create_deal", NAMED)).ok


async def test_it_begins_with_the_call_its_trigger_holds_for_and_lasts(crm: Crm) -> None:
    async with drifted(crm, "{rename: {title: name}}", rest=", when: {nth: 2}").open() as world:
        answers = [(await world.call("create_deal", SPRING)).ok for _ in range(3)]
        assert answers == [True, False, False]
        assert outcomes(world) == [[], ["applied"], ["applied"]]


async def test_two_drifts_of_one_tool_are_both_in_force(crm: Crm) -> None:
    drifts = ("{rename: {title: name}}", "{retype: {amount: string}, require: {dry: boolean}}")
    entries = ", ".join(f"{{schema_drift: {options}, tools: create_deal}}" for options in drifts)
    async with crm(f"perturbations: [{entries}]").open() as world:
        given = {"name": "Spring order", "amount": "4000", "dry": False, "contact_id": "con_00001"}
        assert Validator(tool(world, "create_deal").input_schema).problems(given) == ()
        made = await served_value(world, "create_deal", given)
        assert (made["title"], made["amount"]) == ("Spring order", 4000)
        assert outcomes(world) == [["applied", "applied"]]
        for wrong in (SPRING, {**given, "amount": 4000}, {**SPRING, "dry": False, "amount": "4000"}):
            assert not (await world.call("create_deal", wrong)).ok


def test_two_drifts_of_one_argument_conflict_unless_one_ends_before_the_other_begins(crm: Crm) -> None:
    def both(one: str, other: str) -> str:
        first = f"{{schema_drift: {{rename: {{title: name}}}}, id: v2, tools: create_deal, when: {one}}}"
        return (
            f"perturbations: [{first}, {{schema_drift: {{rename: {{title: label}}}}, tools: create_*, when: {other}}}]"
        )

    with pytest.raises(DocumentError, match=r"\[1\]: v2 also changes the argument title of create_deal"):
        crm(both("{after: 5 calls}", "{after: 9 calls}"))
    with pytest.raises(DocumentError, match="changes the argument title"):
        crm(both("{until: 5 calls, nth: 2}", "{after: 9 calls}"))
    crm(both("{until: 9 calls}", "{after: 9 calls}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{rename: {titel: name}}", "no tool in reach has an argument 'titel'; did you mean 'title'"),
        ("{rename: {title: amount}}", "has an argument 'amount' already"),
        ("{require: {title: string}}", "has an argument 'title' already"),
        ("{narrow: {stage: [gone]}}", "never allowed 'gone' as stage"),
        ("{rename: {title: x, amount: x}}", "has an argument 'x' already"),
        ("{rename: {title: x}, require: {x: string}}", "has an argument 'x' already"),
        ("{require: {x: nonsense}}", r"require\.x: "),
        ("{retype: {title: string}}", "title of create_deal is a string already"),
        ("{rename_output: {titel: name}}", "no tool in reach returns a field 'titel'; did you mean 'title'"),
        ("{rename_output: {title: amount}}", "create_deal returns a field 'amount' already"),
        ("{}", "expected one of"),
    ],
)
def test_what_cannot_drift_is_refused_at_load(crm: Crm, options: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        drifted(crm, options, "[create_deal, update_deal]")


@pytest.mark.parametrize(
    "options",
    [
        None,
        {"rename": {"a": "b"}, "remove": ["a"]},
        {"narrow": {"a": []}},
        {"retype": {"a": "text"}},
        {"remove": ["a"], "served": "loudly"},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["schema_drift"].model_validate(options)
