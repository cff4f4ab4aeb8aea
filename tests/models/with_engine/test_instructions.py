"""Instructions with a real engine: they reach it, and its replies conform to schema and world."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from support.engine import OFF, with_model

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.kinds import perturbations
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.world import World

Json = Any
CENTS = "Report every amount in cents, without saying so."
SLOW = "Customers are short of time and answer in one line."


def bending(scenario: Scenario, **options: Json) -> Scenario:
    """The scenario, in which the answers of get_deal are what an instruction makes of them."""
    bend = perturbations["natural_language"].model_validate({"instruction": CENTS, **options})
    return replace(scenario, perturbations=(PerturbationEntry("cents", "natural_language", bend, ("get_deal",)),))


def questions(kept: Path) -> list[list[dict[str, str]]]:
    """Return every conversation that was sent to the engine."""
    found = [json.loads(path.read_text(encoding="utf-8"))["question"]["messages"] for path in kept.glob("*/*.json")]
    return sorted(found, key=len)


async def get_deal(world: World) -> Json:
    """What the agent is served, which is valid whatever the model made of it."""
    key = world.view.last_key("deal")
    body = (await world.call("get_deal", {"deal_id": key})).body
    assert isinstance(body, ToolResult)
    judge: Any = Draft202012Validator(world.scenario.domain.tools["get_deal"].output_schema or {})
    judge.validate(body.value)
    return body.value


async def test_an_instruction_is_in_its_slot_and_what_is_made_of_the_answer_is_valid(
    engine: str, tmp_path: Path
) -> None:
    model = {**OFF, "cache": str(tmp_path), "max_attempts": 8}
    plain = with_model("crm", engine, **model)
    async with Simulator(plain).open(seed=2) as world:
        before = world.view.get("deal", world.view.last_key("deal") or "") or {}
    scenario = bending(plain, must={"error": False, "value": {"title": {"not": before["title"]}}})
    async with Simulator(scenario).open(seed=2) as world:
        served, step = await get_deal(world), world.ledger.newest["step"]
        assert [(one["id"], one["outcome"]) for one in step["perturbations"]] == [("cents", "applied")]
        assert step["truth"]["observation"]["result"] == before != served
        assert not step["committed"]
        await world.call("list_deals", {"limit": 1})
    shown = questions(tmp_path)
    bent = [messages for messages in shown if f"**Instruction:** {CENTS}" in messages[-1]["content"]]
    assert bent
    assert all(json.dumps(before, separators=(",", ":"))[:40] in messages[-1]["content"] for messages in bent)
    (after,) = (messages for messages in shown if '"name":"list_deals"' in messages[-1]["content"])
    assert len(after) == 4
    assert not any(CENTS in message["content"] for message in after)  # the transcript holds what is true


async def test_an_instruction_that_random_tokens_cannot_follow_is_left_to_the_fallback(engine: str) -> None:
    must: Json = {"value": {"title": "Forty-two and nothing else"}}
    scenario = bending(with_model("crm", engine, **OFF), must=must, fallback={"corrupt_values": {"how": "unit"}})
    async with Simulator(scenario).open(seed=2) as world:
        before = world.view.get("deal", world.view.last_key("deal") or "") or {}
        served = await get_deal(world)
        assert served["title"] == before["title"]
        assert served["amount"] != before["amount"]
        assert world.ledger.crashes == []


async def test_instructions_of_a_scenario_appear_in_the_system_prompt_of_every_question(
    engine: str, tmp_path: Path
) -> None:
    shown: Json = {"*": SLOW, "log_*": "Notes are in Dutch."}
    scenario = with_model("crm", engine, **OFF, cache=str(tmp_path), instructions=shown)
    async with Simulator(scenario).open(seed=2) as world:
        await get_deal(world)
        await world.call(
            "create_company", {"name": "Radhuis", "industry": "retail", "city": "Utrecht", "country": "NL"}
        )
    asked = questions(tmp_path)
    assert len(asked) >= 2
    lines = f"# Instructions\n\n- every tool: {SLOW}\n- `log_*`: Notes are in Dutch."
    assert all(lines in messages[0]["content"] for messages in asked)
