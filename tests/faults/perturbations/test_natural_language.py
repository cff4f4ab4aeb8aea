"""natural_language: a language model alters results by an instruction."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from support.endpoint import completion, saying, serving
from support.perturbed import ADA, DEAL, SPRING, Crm, outcomes, served_value, truth

from mcp_sim import Simulator
from mcp_sim.models.world_models.openai import Openai
from mcp_sim.types.kinds import perturbations
from mcp_sim.types.scenario import WorldModelEntry

WORDS = "Show the amount in cents."
CENTS = "{instruction: Show the amount in cents., must: {error: false, value: {amount: 10000}}}"
BENT = f"perturbations: [{{natural_language: {CENTS}, id: cents, tools: get_deal}}]"


def asking(simulator: Simulator, url: str) -> Simulator:
    """Return the same scenario with a language model as the world model."""
    model = Openai(base_url=url, model="tiny", ask="undetermined")
    return Simulator(replace(simulator.scenario, world_models=(WorldModelEntry(model, "openai"),)))


async def deal(crm: Crm) -> dict[str, Any]:
    """Return a deal without faults."""
    async with crm("").open() as world:
        return await served_value(world, "get_deal", DEAL)


async def test_the_model_is_shown_the_truth_and_the_instruction_and_its_answer_is_served(crm: Crm) -> None:
    wrong = {**await deal(crm), "amount": 10_000}
    async with serving(saying(json.dumps(wrong))) as engine, asking(crm(BENT), engine.url).open() as world:
        assert await served_value(world, "get_deal", DEAL) == wrong
        question = engine.asked[0].question
        assert WORDS in question
        assert json.dumps(truth(world), separators=(",", ":"), ensure_ascii=False) in question
        assert truth(world)["amount"] == 100
        assert outcomes(world) == [["applied"]]
        assert world.view.get("deal", "deal_0001") == truth(world)


async def test_an_answer_that_does_not_do_is_asked_for_again_with_what_is_wrong(crm: Crm) -> None:
    true = await deal(crm)
    answers = saying(json.dumps(true), json.dumps({**true, "amount": 10_000}))
    async with serving(answers) as engine, asking(crm(BENT), engine.url).open() as world:
        assert (await served_value(world, "get_deal", DEAL))["amount"] == 10_000
        assert "amount must satisfy 10000, but is 100" in engine.asked[1].question


async def test_an_answer_in_another_layout_alone_is_no_effect(crm: Crm) -> None:
    entry = "perturbations: [{natural_language: Be odd., id: odd, tools: get_deal}]"
    same = saying(json.dumps(await deal(crm), indent=4))
    async with serving(same) as engine, asking(crm(entry), engine.url).open() as world:
        assert await served_value(world, "get_deal", DEAL) == truth(world)
        assert len(engine.asked) == 1
        assert outcomes(world) == [["no_effect"]]


ODD = "perturbations: [{natural_language: {instruction: Show the amount in cents.%s}, id: odd, tools: get_deal}]"
AS_TRUE = ", must: {error: false}"


@pytest.mark.parametrize("must", ["", AS_TRUE])
async def test_a_change_that_no_condition_proves_counts_if_the_model_finds_that_it_is_asked_for(
    must: str, crm: Crm
) -> None:
    wrong = {**await deal(crm), "amount": 10_000}
    answers = saying(json.dumps(wrong), '{"asked": [1]}')
    async with serving(answers) as engine, asking(crm(ODD % must), engine.url).open() as world:
        assert await served_value(world, "get_deal", DEAL) == wrong
        shown = engine.asked[1].question
        assert WORDS in shown
        assert '{"number":1,"place":"amount","true":100,"altered":10000}' in shown
        assert outcomes(world) == [["applied"]]


async def test_what_an_instruction_does_not_ask_for_must_stay(crm: Crm) -> None:
    true = await deal(crm)
    first, second = {**true, "title": "Odd", "amount": 10_000}, {**true, "amount": 10_000}
    answers = saying(json.dumps(first), '{"asked": [2]}', json.dumps(second), '{"asked": [1]}')
    async with serving(answers) as engine, asking(crm(ODD % ""), engine.url).open() as world:
        assert await served_value(world, "get_deal", DEAL) == second
        assert "the instruction does not change title: leave it as it is" in engine.asked[2].question
        assert outcomes(world) == [["applied"]]


@pytest.mark.parametrize("verdict", ['{"asked": []}', '{"asked": "all"}', "Yes."])
async def test_a_change_that_is_not_asked_for_is_not_served(verdict: str, crm: Crm) -> None:
    true = await deal(crm)
    wrong = json.dumps({**true, "title": "Odd"})
    async with serving(saying(wrong, verdict, wrong, verdict)) as engine:
        entry = ODD.replace("cents.%s", "cents., fallback: {drop_fields: {fields: [amount]}}")
        async with asking(crm(entry), engine.url).open() as world:
            left = {name: value for name, value in true.items() if name != "amount"}
            assert await served_value(world, "get_deal", DEAL) == left
            assert truth(world) == true
            assert len(engine.asked) == 4


async def test_a_model_that_never_obeys_is_replaced_by_the_fallback(crm: Crm) -> None:
    answers = saying(json.dumps(await deal(crm)))
    async with serving(answers) as engine, asking(crm(BENT), engine.url).open() as world:
        shown = await served_value(world, "get_deal", DEAL)
        assert len(engine.asked) == 2
        assert sum(shown[name] != value for name, value in truth(world).items()) == 1


async def test_the_transcript_keeps_the_truth_alone(crm: Crm) -> None:
    async def respond(asked: Any) -> Any:
        return completion(json.dumps({**true, "amount": 10_000}))

    true = await deal(crm)
    async with serving(respond) as engine, asking(crm(BENT), engine.url).open() as world:
        await served_value(world, "get_deal", DEAL)
        await served_value(world, "get_deal", DEAL)
        earlier = [message["content"] for message in engine.asked[-1].body["messages"][1:-1]]
        assert not any("10000" in text for text in earlier)


async def test_where_no_language_model_answers_the_fallback_bends_the_answer(crm: Crm) -> None:
    fallback = "fallback: {drop_fields: {fields: [amount]}}"
    entry = f"perturbations: [{{natural_language: {{instruction: Be odd., {fallback}}}, id: odd}}]"
    async with crm(entry).open() as world:
        assert "amount" not in await served_value(world, "get_deal", DEAL)
        assert "amount" in truth(world)
        await served_value(world, "get_contact", ADA)
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        made = await served_value(world, "create_deal", SPRING)
        assert (world.view.get("deal", made["id"]) or {})["amount"] == 4000
        assert outcomes(world) == [["applied"], ["no_effect"], ["no_effect"], ["applied"]]
        assert {tool.name for tool in world.catalogue("crm") if tool.output_schema is not None} == set()


async def test_a_fallback_may_ask_the_world_again(crm: Crm) -> None:
    entry = "perturbations: [{natural_language: {instruction: Page badly., fallback: {pagination: 1}}, id: odd}]"
    async with crm(entry).open() as world:
        assert len((await served_value(world, "list_deals"))["deals"]) == 1


@pytest.mark.parametrize(
    ("fallback", "problem"),
    [
        ({}, "exactly one kind"),
        ({"drop_feilds": None}, "drop_fields"),
        ({"lost_ack": None}, "does not alter results"),
        ({"natural_language": {"instruction": "x"}}, "cannot be its own fallback"),
        ({"truncate": {"items": -1}}, "greater than or equal to 0"),
    ],
)
def test_a_fallback_that_cannot_be_is_refused(fallback: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        perturbations["natural_language"].model_validate({"instruction": "x", "fallback": fallback})


@pytest.mark.parametrize("must", [{"text": {"contians": "x"}}, {"value": {"a": {"gt": []}}}, {"eror": True}])
def test_a_must_that_cannot_be_checked_is_refused(must: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        perturbations["natural_language"].model_validate({"instruction": "x", "must": must})
