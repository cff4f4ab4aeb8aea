"""The openai world model, through the Simulator, against an endpoint over real HTTP: what is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from support.checker import judged
from support.desk import MADE, TOOLS, Desk, agreeing, desk_in, fenced, last_asked, said, ticket, value
from support.endpoint import serving
from support.long_walks import plans_json
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.models.world_models.openai import Openai
from mcp_sim.simulator.compile import load
from mcp_sim.types import ToolResult
from mcp_sim.types.scenario import WorldModelEntry

Json = Any


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


async def test_a_request_holds_the_call_the_tools_and_the_facts_and_only_standard_fields(desk: Desk) -> None:
    async with serving(agreeing) as engine, desk(engine.url, temperature=0.5, max_tokens=900).open() as world:
        await world.call("get_ticket", {"ticket_id": "ticket_00001"})
    (asked,) = engine.asked
    assert set(asked.body) == {"model", "messages", "max_tokens", "temperature", "seed", "response_format"}
    assert (asked.body["model"], asked.body["temperature"], asked.body["max_tokens"]) == ("tiny", 0.5, 900)
    system, user = asked.body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert all(f'"name":"{each["name"]}"' in system["content"] for each in TOOLS)
    assert "The help desk of a bicycle shop in Ghent." in system["content"]
    assert user["content"].startswith("### Turn 1\n**Action:**\n")
    action, served = fenced(user["content"])
    assert action == {"name": "get_ticket", "arguments": {"ticket_id": "ticket_00001"}}
    assert served["records"][0]["record"] == world.view.get("ticket", "ticket_00001")


async def test_extra_body_travels_beside_the_standard_fields(desk: Desk) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    async with serving() as engine, desk(engine.url, extra_body=extra).open() as world:
        await world.call("explain", {"topic": "spokes"})
    assert engine.asked[0].body["chat_template_kwargs"] == {"enable_thinking": False}
    assert "response_format" not in engine.asked[0].body


async def test_instructions_appear_in_the_part_of_the_prompt_that_never_changes(desk: Desk) -> None:
    instructions = {"*": "Customers are\n short of time.", "create_*": "Summaries are one word."}
    async with serving() as engine, desk(engine.url, instructions=instructions).open() as world:
        await world.call("explain", {"topic": "a"})
    system = engine.asked[0].body["messages"][0]["content"]
    served = "# Instructions\n\n- every tool: Customers are short of time.\n- `create_*`: Summaries are one word."
    assert served in system
    async with serving() as engine, desk(engine.url, instructions="Be brief.").open() as world:
        await world.call("explain", {"topic": "a"})
    assert "- every tool: Be brief." in engine.asked[0].body["messages"][0]["content"]


async def test_what_others_wrote_since_the_last_turn_is_shown(tmp_path: Path, desk: Desk) -> None:
    async with serving(agreeing) as engine:
        desk(engine.url)
        document = json.loads((tmp_path / "desk.yaml").read_text())
        lost: Json = {"lost_ack": {}, "tools": "create_ticket"}
        document["world_model"] = [{**document["world_model"], "tools": "get_*"}, {"builtin": {}}]
        (tmp_path / "desk.yaml").write_text(json.dumps({**document, "perturbations": [lost]}))
        async with Simulator.load(tmp_path / "desk.yaml").open() as world:
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
            await world.call("create_ticket", {"title": "one"})
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
    served = [fenced(asked.question)[1].get("since the last turn") for asked in engine.asked]
    assert served[0] is None
    assert [(entry["call"], entry["written"][0]["record"]["title"]) for entry in served[1]] == [
        ("create_ticket", "one")
    ]
    assert served[2] is None


async def test_the_conversation_only_grows_and_holds_what_was_true(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        made = value(await said(engine, world, ticket(title="two"), "create_ticket", {"title": "one"}))
        wrong = {**made, "effort": 9, "pedals": 2}
        assert value(await said(engine, world, wrong, "get_ticket", {"ticket_id": made["id"]})) == {**made, "pedals": 2}
        await said(engine, world, '{\n "a": 1 }', "explain", {"topic": "a"})
        await said(engine, world, "b", "explain", {"topic": "b"})
    conversations = [asked.body["messages"] for asked in engine.asked]
    assert [len(messages) for messages in conversations] == [2, 4, 4, 6, 6, 8]
    last = conversations[-1]
    for earlier in (conversations[0], conversations[2], conversations[4]):
        assert last[: len(earlier)] == earlier
    shown = [message["content"].partition("\n") for message in last if message["role"] == "assistant"]
    assert {heading for heading, _, _ in shown} == {"**Environment Observation:**"}
    assert [json.loads(text) for _, _, text in shown[:2]] == [made, {**made, "pedals": 2}]
    assert shown[2][2] == '{\n "a": 1 }'


async def test_a_long_conversation_is_shortened_in_one_big_step(desk: Desk) -> None:
    async with serving(agreeing) as engine, desk(engine.url, transcript=4_000).open() as world:
        for _ in range(20):
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
    turns = [len(asked.body["messages"]) // 2 - 1 for asked in engine.asked]
    drops = [(before, after) for before, after in pairwise(turns) if after < before]
    assert drops
    assert all(after <= before / 2 + 1 for before, after in drops), drops


async def test_forks_go_on_from_the_same_conversation_each_on_its_own(desk: Desk) -> None:
    two, three = ticket(4, title="two"), ticket(4, title="two", effort=4)
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, MADE, "create_ticket", {"title": "one"})
        twin = world.fork(stream="other")
        await said(engine, twin, two, "create_ticket", {"title": "two"})
        await said(engine, world, three, "create_ticket", {"title": "two"})
        first, fork, own = (asked.body for asked in engine.asked)
        assert fork["messages"][:3] == own["messages"][:3]
        assert len(own["messages"]) == 4
        assert len({first["seed"], fork["seed"], own["seed"]}) == 3
        assert (twin.view.get("ticket", two["id"]), world.view.get("ticket", two["id"])) == (two, three)


async def test_the_same_scenario_seed_and_calls_make_the_same_requests_and_steps(desk: Desk) -> None:
    runs: list[Json] = []
    for name in ("one", "two"):
        async with serving() as engine, desk(engine.url).open(name) as world:
            await said(engine, world, MADE, "create_ticket", {"title": "one"})
            await world.call("explain", {"topic": "Ghent"})
            runs.append(([asked.body for asked in engine.asked], world.ledger.steps[1:]))
    assert runs[0] == runs[1]


async def test_the_conversation_holds_the_truth_and_not_what_a_perturbation_made_of_it(tmp_path: Path) -> None:
    faults: list[Json] = [
        {"lost_ack": {}, "tools": "create_ticket"},
        {"error": {"status": 503}, "tools": "get_ticket"},
    ]
    async with serving() as engine, desk_in(tmp_path, None, *faults)(engine.url).open() as world:
        assert not (await said(engine, world, MADE, "create_ticket", {"title": "one"})).ok
        assert not (await world.call("get_ticket", {"ticket_id": "ticket_00001"})).ok
        await said(engine, world, "Round.", "explain", {"topic": "wheels"})
    messages = last_asked(engine)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert json.loads(messages[2]["content"].partition("\n")[2]) == ticket()


async def test_an_answer_is_not_kept_over_what_another_world_model_wrote(tmp_path: Path, desk: Desk) -> None:
    async with serving() as engine:
        desk(engine.url)
        document = json.loads((tmp_path / "desk.yaml").read_text())
        document["world_model"] = [{**document["world_model"], "tools": "get_*"}, {"builtin": {}}]
        (tmp_path / "desk.yaml").write_text(json.dumps(document))
        async with Simulator.load(tmp_path / "desk.yaml").open() as world:
            first = value(await said(engine, world, "Three.", "get_report", {"about": "tickets"}))
            await world.call("create_ticket", {"title": "one"})
            assert value(await said(engine, world, "Four.", "get_report", {"about": "tickets"})) == "Four."
            assert first == "Three."


@pytest.mark.parametrize("ask", ["always", "undetermined"])
@pytest.mark.parametrize("name", ["calm_crm", "flaky_crm"])
async def test_with_a_model_of_random_tokens_every_answer_is_valid_and_none_is_a_crash(
    name: str, ask: Literal["always", "undetermined"]
) -> None:
    scenario = load(name)
    async with serving() as engine:
        entry = WorldModelEntry(Openai(base_url=engine.url, model="tiny", ask=ask, max_attempts=3), "openai")
        async with Simulator(replace(scenario, world_models=(entry,)), ledger_keep=1_000).open() as world:
            walker = Walker([*scenario.domain.tools.values()], 5)
            for _ in range(60):
                tool, arguments = walker.call()
                observation = await world.call(tool.id, arguments)
                walker.learn(tool, arguments, observation)
                if observation.ok and tool.output_schema is not None:
                    assert isinstance(observation.body, ToolResult)
                    judge: Any = Draft202012Validator(tool.output_schema)
                    judge.validate(observation.body.value)
            assert not judged(world.ledger, plans_json(scenario.domain)).violations
        assert len(engine.asked) > (40 if ask == "always" else 0)


async def test_the_command_line_names_model_and_endpoint(desk: Desk) -> None:
    simulator = Simulator.load("calm_crm", world_model="openai:org/model:free@http://127.0.0.1:8000/v1")
    (entry,) = simulator.scenario.world_models
    assert isinstance(entry.world_model, Openai)
    assert (entry.world_model.model, entry.world_model.base_url) == ("org/model:free", "http://127.0.0.1:8000/v1")
