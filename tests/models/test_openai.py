"""The openai world model, through the Simulator, against an endpoint over real HTTP: what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from support.desk import OPEN, TOOLS, Desk, desk_in, fenced, last_asked, measured, value
from support.endpoint import saying, serving
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.models.world_models.openai import Openai
from mcp_sim.simulator.compile import load
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import BadArguments
from mcp_sim.types.scenario import WorldModelEntry

Json = Any

Crm = Callable[[str], Simulator]


def model(url: str) -> str:
    """A scenario's world model, as YAML."""
    return f"world_model: {{openai: {{base_url: '{url}', model: tiny}}}}\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


async def test_a_request_holds_the_call_the_tools_and_the_facts_and_only_standard_fields(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, temperature=0.5, max_tokens=900).open() as world:
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


async def test_only_the_fields_that_the_world_leaves_open_are_asked_for(desk: Desk) -> None:
    async with serving(saying(json.dumps(OPEN))) as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "Slipping chain"}))
        (asked,) = engine.asked
        assert asked.schema is not None
        assert set(asked.schema["properties"]) == set(asked.schema["required"]) == {"summary", "effort"}
        assert asked.schema["additionalProperties"] is False
        served = fenced(asked.question)[1]
        assert served["settled"] == [{key: made[key] for key in ("id", "title", "customer_id")}]
        assert made == {**OPEN, "id": "ticket_00003", "title": "Slipping chain", "customer_id": made["customer_id"]}
        assert world.view.get("customer", made["customer_id"]) is not None
        assert world.view.get("ticket", "ticket_00003") == made
        assert measured(world)["open_fields"] == 2


async def test_a_reference_that_no_one_gave_is_chosen_by_number_among_named_candidates(tmp_path: Path) -> None:
    shop = desk_in(tmp_path, {"records": {"ticket": 1, "customer": 50}})
    answers = saying(json.dumps({**OPEN, "customer_id": 3}), json.dumps({**OPEN, "customer_id": 32}))
    async with serving(answers) as engine, shop(engine.url).open() as world:
        first = value(await world.call("create_ticket", {"title": "one"}))
        assert engine.asked[0].schema is not None
        assert engine.asked[0].schema["properties"]["customer_id"] == {"type": "integer", "minimum": 1, "maximum": 32}
        offered = fenced(engine.asked[0].question)[1]["candidates"]["customer_id"]
        assert len(offered) == 32
        chosen = world.view.get("customer", first["customer_id"]) or {}
        assert offered[2] == f"3 {chosen['id']} {chosen['name']}"
        second = value(await world.call("create_ticket", {"title": "two"}))
        assert fenced(engine.asked[1].question)[1]["candidates"]["customer_id"][31].split()[1] == second["customer_id"]
        assert value(await world.call("create_ticket", {"title": "three", "customer_id": chosen["id"]}))
        assert "candidates" not in fenced(engine.asked[2].question)[1]


async def test_a_number_beyond_the_candidates_goes_round(tmp_path: Path) -> None:
    shop = desk_in(tmp_path, {"records": {"ticket": 1, "customer": 3}})
    async with serving(saying(json.dumps({**OPEN, "customer_id": 32}))) as engine, shop(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one"}))
        offered = fenced(engine.asked[0].question)[1]["candidates"]["customer_id"]
        assert len(offered) == 3
        assert offered[31 % 3].split()[1] == made["customer_id"]


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


async def test_one_tool_and_result_form_have_one_schema_byte_for_byte(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        for title in ("one", "two"):
            await world.call("create_ticket", {"title": title})
    first, second = (json.dumps(asked.body["response_format"]) for asked in engine.asked)
    assert first == second


async def test_what_the_world_determines_is_served_whatever_the_model_says_and_the_difference_is_noted(
    desk: Desk,
) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        stored = world.view.get("ticket", "ticket_00001")
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == stored
        assert (measured(world)["asked"], measured(world)["differs"]) == (True, True)
        engine.respond = saying(f"<think>Hm.</think>{json.dumps(stored, indent=2)}")
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == stored
        assert measured(world)["differs"] is False
        engine.respond = saying("no JSON at all")
        assert value(await world.call("get_ticket", {"ticket_id": "ticket_00001"})) == stored
        assert measured(world)["differs"] is True
        missing = await world.call("get_ticket", {"ticket_id": "ticket_99999"})
        assert not missing.ok
        engine.respond = saying('{"isError": true, "text": "There is none."}')
        assert (await world.call("get_ticket", {"ticket_id": "ticket_99999"})).body == missing.body
        assert measured(world)["differs"] is False
        assert len(engine.asked) == 5


async def test_with_ask_undetermined_only_open_calls_are_asked_and_shown_what_happened_since(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, ask="undetermined").open() as world:
        first = value(await world.call("create_ticket", {"title": "one"}))
        await world.call("get_ticket", {"ticket_id": first["id"]})
        assert measured(world)["asked"] is False
        await world.call("create_ticket", {"title": "two"})
        assert [fenced(asked.question)[0]["arguments"] for asked in engine.asked] == [
            {"title": "one"},
            {"title": "two"},
        ]


async def test_what_others_wrote_since_the_last_turn_is_shown(tmp_path: Path, desk: Desk) -> None:
    async with serving() as engine:
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


async def test_the_conversation_only_grows_and_holds_what_is_true(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one"}))
        await world.call("get_ticket", {"ticket_id": made["id"]})
        await world.call("list_tickets")
    conversations = [asked.body["messages"] for asked in engine.asked]
    for shorter, longer in pairwise(conversations):
        assert longer[: len(shorter)] == shorter
        assert [message["role"] for message in longer[len(shorter) :]] == ["assistant", "user"]
    heading, _, shown = conversations[1][2]["content"].partition("\n")
    assert heading == "**Environment Observation:**"
    assert json.loads(shown) == made


async def test_a_long_conversation_is_shortened_in_one_big_step(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, transcript=4_000).open() as world:
        for _ in range(20):
            await world.call("get_ticket", {"ticket_id": "ticket_00001"})
    turns = [len(asked.body["messages"]) // 2 - 1 for asked in engine.asked]
    drops = [(before, after) for before, after in pairwise(turns) if after < before]
    assert drops
    assert all(after <= before / 2 + 1 for before, after in drops), drops


async def test_forks_go_on_from_the_same_conversation_each_on_its_own(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await world.call("create_ticket", {"title": "one"})
        twin = world.fork(stream="other")
        await twin.call("create_ticket", {"title": "two"})
        await world.call("create_ticket", {"title": "two"})
        first, fork, own = (asked.body for asked in engine.asked)
        assert fork["messages"][:3] == own["messages"][:3]
        assert len(own["messages"]) == 4
        assert len({first["seed"], fork["seed"], own["seed"]}) == 3
        assert twin.view.get("ticket", "ticket_00004") != world.view.get("ticket", "ticket_00004")


async def test_the_same_scenario_seed_and_calls_make_the_same_requests_and_steps(desk: Desk) -> None:
    runs: list[Json] = []
    for name in ("one", "two"):
        async with serving() as engine, desk(engine.url).open(name) as world:
            await world.call("create_ticket", {"title": "one"})
            await world.call("forecast", {"city": "Ghent"})
            runs.append(([asked.body for asked in engine.asked], world.ledger.steps[1:]))
    assert runs[0] == runs[1]


async def test_the_conversation_holds_the_truth_and_not_what_a_perturbation_made_of_it(crm: Crm) -> None:
    async with serving() as engine:
        faults = "perturbations: [{lost_ack: {}, tools: create_deal}, {error: {status: 503}, tools: get_deal}]\n"
        async with crm(faults + model(engine.url)).open() as world:
            made = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
            assert not (await world.call("create_deal", made)).ok
            assert not (await world.call("get_deal", {"deal_id": "deal_0001"})).ok
            await world.call("get_contact", {"contact_id": "con_00001"})
            stored = world.view.get("deal", world.view.last_key("deal") or "")
    messages = last_asked(engine)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert json.loads(messages[2]["content"].partition("\n")[2]) == stored


async def test_arguments_that_no_request_can_carry_never_reach_the_engine(desk: Desk) -> None:
    async with serving(saying(json.dumps(OPEN))) as engine, desk(engine.url).open() as world:
        with pytest.raises(BadArguments):
            await world.call("create_ticket", {"title": "broken \ud800 text"})
        assert engine.asked == []


@pytest.mark.parametrize("ask", ["always", "undetermined"])
@pytest.mark.parametrize("name", ["calm_crm", "flaky_crm"])
async def test_with_a_model_of_random_tokens_every_answer_is_valid_and_none_is_a_crash(
    name: str, ask: Literal["always", "undetermined"]
) -> None:
    scenario = load(name)
    async with serving() as engine:
        entry = WorldModelEntry(Openai(base_url=engine.url, model="tiny", ask=ask), "openai")
        async with Simulator(replace(scenario, world_models=(entry,)), ledger_keep=1_000).open() as world:
            walker, succeeded = Walker([*scenario.domain.tools.values()], 5), 0
            for _ in range(80):
                tool, arguments = walker.call()
                observation = await world.call(tool.id, arguments)
                walker.learn(tool, arguments, observation)
                succeeded += observation.ok
                if observation.ok and tool.output_schema is not None:
                    assert isinstance(observation.body, ToolResult)
                    judge: Any = Draft202012Validator(tool.output_schema)
                    judge.validate(observation.body.value)
            assert not any("rejected" in entry["measured"] for entry in world.ledger)
        assert succeeded >= 56
        asked = [asked for asked in engine.asked if asked.schema is not None]
        assert len(asked) > (40 if ask == "always" else 0)


async def test_the_command_line_names_model_and_endpoint(desk: Desk) -> None:
    simulator = Simulator.load("calm_crm", world_model="openai:org/model:free@http://127.0.0.1:8000/v1")
    (entry,) = simulator.scenario.world_models
    assert isinstance(entry.world_model, Openai)
    assert (entry.world_model.model, entry.world_model.base_url) == ("org/model:free", "http://127.0.0.1:8000/v1")
