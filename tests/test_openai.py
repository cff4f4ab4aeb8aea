"""The openai world model, through the Simulator, against an endpoint over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from endpoint import Asked, Engine, closed_port, completion, guided, saying, serving
from jsonschema import Draft202012Validator
from starlette.responses import HTMLResponse, JSONResponse, Response
from walking import Walker

from mcp_sim import Simulator
from mcp_sim.documents import load
from mcp_sim.errors import BadArguments, Crash, DocumentError, UsageError
from mcp_sim.extensions import Sink
from mcp_sim.scenario import WorldModelEntry
from mcp_sim.sinks.jsonl import Jsonl
from mcp_sim.types import Observation, ToolResult
from mcp_sim.world import World
from mcp_sim.world_models.openai import Openai

Json = Any
TEXT = {"type": "string"}
TICKET = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "title": TEXT,
        "summary": {"type": "string", "minLength": 3},
        "effort": {"type": "integer", "minimum": 1, "maximum": 9},
        "customer_id": TEXT,
    },
    "required": ["id", "title", "summary", "effort", "customer_id"],
}
WEATHER = {
    "type": "object",
    "properties": {"outlook": TEXT, "degrees": {"type": "integer", "maximum": 60}},
    "required": ["outlook", "degrees"],
}
OPEN = {"summary": "The chain slips under load.", "effort": 3}
"""What a good model says about the fields of a new ticket that the world leaves open."""


def tool(name: str, arguments: list[str], output: Json = None) -> Json:
    properties = dict.fromkeys(arguments, TEXT)
    declared = {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": arguments[:1]}}
    return declared if output is None else {**declared, "outputSchema": output}


def listed(name: str, item: Json) -> Json:
    rows = {"type": "array", "items": item}
    return {"type": "object", "properties": {name: rows, "total": {"type": "integer"}}, "required": [name, "total"]}


CUSTOMER = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
TOOLS = [
    tool("create_ticket", ["title", "customer_id"], TICKET),
    tool("get_ticket", ["ticket_id"], TICKET),
    tool("list_tickets", [], listed("tickets", TICKET)),
    tool("get_customer", ["customer_id"], CUSTOMER),
    tool("forecast", ["city"], WEATHER),
    tool("explain", ["topic"]),
]

Desk = Callable[..., Simulator]
Crm = Callable[[str], Simulator]


def model(url: str) -> str:
    """A scenario's world model, as YAML."""
    return f"world_model: {{openai: {{base_url: '{url}', model: tiny}}}}\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A help desk whose world model is an endpoint, with options."""

    def simulator(url: str, sinks: tuple[Sink, ...] = (), **options: Json) -> Simulator:
        scenario = {
            "mcp_sim": 1,
            "name": "desk",
            "tools": "desk.tools.json",
            "world": {
                "description": "The help desk of a bicycle shop in Ghent.",
                "records": {"ticket": {"count": 2, "rows": [{"id": "ticket_00001"}]}, "customer": 1},
            },
            "world_model": {"openai": {"base_url": url, "model": "tiny", **options}},
        }
        (tmp_path / "desk.tools.json").write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
        path = tmp_path / "desk.yaml"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        return Simulator(load(path), sinks)

    return simulator


def value(observation: Observation) -> Json:
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation
    return observation.body.value


def measured(world: World) -> dict[str, Json]:
    return [entry["measured"] for entry in world.ledger][-1]


def fenced(text: str) -> list[Json]:
    """Every fenced JSON value in a message."""
    return [json.loads(block.partition("\n```")[0]) for block in text.split("```json\n")[1:]]


def last_asked(engine: Engine) -> list[dict[str, str]]:
    return engine.asked[-1].body["messages"]


# what is asked --------------------------------------------------------------------------------------------------------


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
    action, told = fenced(user["content"])
    assert action == {"name": "get_ticket", "arguments": {"ticket_id": "ticket_00001"}}
    assert told["records"][0]["record"] == world.view.get("ticket", "ticket_00001")


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
        told = fenced(asked.question)[1]
        assert told["settled"] == [{key: made[key] for key in ("id", "title", "customer_id")}]
        assert made == {**OPEN, "id": "ticket_00003", "title": "Slipping chain", "customer_id": made["customer_id"]}
        assert world.view.get("customer", made["customer_id"]) is not None
        assert world.view.get("ticket", "ticket_00003") == made
        assert measured(world)["open_fields"] == 2


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


async def test_with_ask_undetermined_only_open_calls_are_asked_and_told_what_happened_since(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, ask="undetermined").open() as world:
        first = value(await world.call("create_ticket", {"title": "one"}))
        await world.call("get_ticket", {"ticket_id": first["id"]})
        assert measured(world)["asked"] is False
        await world.call("create_ticket", {"title": "two"})
        assert [fenced(asked.question)[0]["arguments"] for asked in engine.asked] == [
            {"title": "one"},
            {"title": "two"},
        ]


async def test_what_others_wrote_since_the_last_turn_is_told(tmp_path: Path, desk: Desk) -> None:
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
    told = [fenced(asked.question)[1].get("since the last turn") for asked in engine.asked]
    assert told[0] is None
    assert [(entry["call"], entry["written"][0]["record"]["title"]) for entry in told[1]] == [("create_ticket", "one")]
    assert told[2] is None


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


# where the plan is a guess --------------------------------------------------------------------------------------------


async def test_where_the_plan_is_a_guess_the_model_says_everything(desk: Desk) -> None:
    sunny = {"outlook": "Zonnig", "degrees": 21}
    async with serving(saying(json.dumps(sunny))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("forecast", {"city": "Ghent"})) == sunny
        (asked,) = engine.asked
        assert asked.schema is not None
        observation, refusal = asked.schema["anyOf"]
        assert set(observation["properties"]) == {"outlook", "degrees"}
        assert set(refusal["properties"]) == {"isError", "text"}
        step = world.ledger.steps[-1]
        assert (step["guessed"], step["committed"]) == (True, [])


async def test_a_tool_without_output_schema_is_answered_in_text_or_json(desk: Desk) -> None:
    tagged = "<predicted_observation>no</predicted_observation> <predicted_observation>yes</predicted_observation>"
    async with serving(saying(tagged, '```json\n{"a": [1]}\n```')) as engine, desk(engine.url).open() as world:
        text, parsed = [(await world.call("explain", {"topic": topic})).body for topic in ("a", "b")]
    assert text == ToolResult("yes", form="text")
    assert parsed == ToolResult({"a": [1]}, form="json")
    assert len(engine.asked) == 2


# answers that cannot be served ----------------------------------------------------------------------------------------

BAD = {
    "empty": completion(""),
    "blank": completion(" \n "),
    "no content": completion("", reasoning="thought about it"),
    "not JSON": completion("The summary is short."),
    "half JSON": completion('{"summary": "Cut', "stop"),
    "truncated": completion(json.dumps(OPEN), "length"),
    "withheld": completion(json.dumps(OPEN), "content_filter"),
    "endless thought": completion("<think>And if the chain"),
    "open tag": completion("<predicted_observation>{}"),
    "wrong type": completion('{"summary": "The chain slips.", "effort": "three"}'),
    "out of bounds": completion('{"summary": "The chain slips.", "effort": 10}'),
    "field missing": completion('{"effort": 3}'),
    "no object": completion("[1]"),
    "no number": completion('{"summary": "The chain slips.", "effort": NaN}'),
    "too deep": completion("[" * 100_000),
    "huge": completion(json.dumps({**OPEN, "summary": "x" * 1_500_000})),
}


def giving(*responses: Response) -> Callable[[Asked], Any]:
    """An endpoint that gives these responses, the last one for ever."""

    async def respond(asked: Asked) -> Response:
        return responses[min(asked.before, len(responses) - 1)]

    return respond


@pytest.mark.parametrize("name", BAD)
async def test_an_answer_that_cannot_be_served_is_asked_for_again_with_its_problems(name: str, desk: Desk) -> None:
    async with serving(giving(BAD[name], completion(json.dumps(OPEN)))) as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one"}))
        assert {key: made[key] for key in OPEN} == OPEN
        first, second = engine.asked
        (rejected,) = measured(world)["rejected"]
        assert second.body["messages"][:2] == first.body["messages"]
        assert second.body["messages"][2]["role"] == "assistant"
        assert rejected["problems"]
        assert all(f"- {problem}" in second.question for problem in rejected["problems"])
        assert second.body["seed"] != first.body["seed"]
        assert measured(world)["attempts"] == 2
        await world.call("create_ticket", {"title": "two"})
        assert len(last_asked(engine)) == 4
        assert last_asked(engine)[:2] == first.body["messages"]


@pytest.mark.parametrize("name", BAD)
async def test_after_the_last_attempt_the_call_is_a_crash_that_leaves_nothing_behind(name: str, desk: Desk) -> None:
    async with serving(giving(BAD[name])) as engine, desk(engine.url, max_attempts=3).open() as world:
        before = world.version
        with pytest.raises(Crash):
            await world.call("create_ticket", {"title": "one"})
        assert world.version is before
        assert len(engine.asked) == 3
        (crash,) = world.ledger.crashes
        assert len(crash["attempts"]) == 3
        assert crash["error"] == "; ".join(crash["attempts"][-1]["problems"])
        engine.respond = guided
        made = value(await world.call("create_ticket", {"title": "one"}))
        assert made["id"] == "ticket_00003"
        assert len(last_asked(engine)) == 2


async def test_an_answer_that_breaks_the_tools_own_schema_is_not_served_where_the_plan_is_a_guess(desk: Desk) -> None:
    good = {"outlook": "Mist", "degrees": 4}
    answers = saying('{"outlook": "Heat", "degrees": 99}', json.dumps(good))
    async with serving(answers) as engine, desk(engine.url).open() as world:
        assert value(await world.call("forecast", {"city": "Ghent"})) == good
        assert "- degrees: 99 is greater than the maximum of 60" in engine.asked[1].question


async def test_with_a_fallback_the_built_in_model_answers_after_the_last_attempt_and_the_ledger_says_so(
    desk: Desk,
) -> None:
    async with serving(saying("nonsense")) as engine, desk(engine.url, fallback="builtin").open() as world:
        assert value(await world.call("create_ticket", {"title": "one"}))["title"] == "one"
        assert measured(world)["fallback"] is True
        assert len(measured(world)["rejected"]) == 2
        await world.call("create_ticket", {"title": "two"})
        conversation = engine.asked[2].body["messages"]
        assert [message["role"] for message in conversation] == ["system", "user"]
        told = fenced(conversation[-1]["content"])[1]["since the last turn"]
        assert [entry["arguments"] for entry in told] == [{"title": "one"}]


async def test_thinking_and_control_characters_in_an_answer_do_no_harm(desk: Desk) -> None:
    answer = 'no <think> yet</think>\n{"summary": "tab\there \x01", "effort": 3}'
    async with serving(saying(answer)) as engine, desk(engine.url).open() as world:
        assert value(await world.call("create_ticket", {"title": "one"}))["summary"] == "tab\there \x01"
        await world.call("get_ticket", {"ticket_id": "ticket_00003"})
        assert len(engine.asked) == 2


# endpoints that fail --------------------------------------------------------------------------------------------------


async def test_an_endpoint_that_is_not_there_is_told_before_anything_runs(desk: Desk) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    with pytest.raises(UsageError, match="cannot be reached; start the server, or correct `base_url`") as raised:
        async with desk(url, retries=0).open():
            pass
    assert url in str(raised.value)


async def test_an_endpoint_that_goes_away_is_a_crash_that_says_where_and_what_to_do(desk: Desk) -> None:
    async with AsyncExitStack() as opened:
        async with serving() as engine:
            world = await opened.enter_async_context(desk(engine.url, retries=0).open())
        before = world.version
        with pytest.raises(Crash, match="cannot be reached; start the server, or correct `base_url`") as raised:
            await world.call("create_ticket", {"title": "one"})
        assert engine.url in str(raised.value)
        assert "\n" not in str(raised.value)
        assert world.version is before
        assert world.ledger.crashes[0]["tool"] == "create_ticket"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_endpoint_that_is_busy_is_asked_again_soon_and_then_it_is_a_crash(status: int, desk: Desk) -> None:
    busy = JSONResponse({"error": {"message": "busy"}}, status, headers={"retry-after-ms": "1"})
    async with serving(giving(busy, busy, completion(json.dumps(OPEN)))) as engine:
        async with desk(engine.url, retries=2).open() as world:
            assert value(await world.call("create_ticket", {"title": "one"}))["effort"] == 3
        assert len(engine.asked) == 3
        engine.respond = giving(busy)
        async with desk(engine.url, retries=1).open() as world:
            with pytest.raises(Crash, match=f"HTTP {status}: .*busy"):
                await world.call("create_ticket", {"title": "one"})
            assert world.view.count("ticket") == 2
        assert len(engine.asked) == (7 if status == 500 else 5)  # some engines answer 500 to a form they do not know


async def test_a_request_that_the_endpoint_refuses_is_not_repeated(desk: Desk) -> None:
    refusal = JSONResponse({"error": {"message": "The model `tiny`\ndoes not exist."}}, 404)
    async with serving(giving(refusal)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match=r"HTTP 404: .*The model `tiny` does not exist.*; check `base_url` and `model`"):
            await world.call("create_ticket", {"title": "one"})
        assert len(engine.asked) == 1


@pytest.mark.parametrize(
    "response", [HTMLResponse("<h1>It works</h1>"), JSONResponse({}), JSONResponse({"choices": []}), JSONResponse([1])]
)
async def test_what_is_no_chat_completion_is_a_crash_with_a_hint(response: Response, desk: Desk) -> None:
    async with serving(giving(response)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match="no chat completion; does `base_url` end in /v1"):
            await world.call("create_ticket", {"title": "one"})


async def test_a_body_that_is_no_json_is_a_crash_with_a_hint(desk: Desk) -> None:
    broken = Response('{"choices": [', media_type="application/json")
    async with serving(giving(broken)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match="cannot be read"):
            await world.call("create_ticket", {"title": "one"})


async def test_an_endpoint_that_hangs_is_a_crash_after_the_timeout(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, timeout="50ms").open() as world:
        engine.respond = engine.hang
        with pytest.raises(Crash, match="no answer within 50ms; raise `timeout`"):
            await world.call("create_ticket", {"title": "one"})
        if engine.asked:  # on a busy machine the time is over before the request has arrived
            await engine.disconnected.wait()
        assert len(engine.asked) <= 1


async def test_a_cancelled_call_cancels_its_request_and_leaves_nothing_behind(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        before = world.version
        engine.respond = engine.hang
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.call, "create_ticket", {"title": "one"})
            await engine.arrived.wait()
            tasks.cancel_scope.cancel()
        await engine.disconnected.wait()
        assert world.version is before
        assert len(world.ledger) == 1
        engine.respond = guided
        assert value(await world.call("create_ticket", {"title": "one"}))["id"] == "ticket_00003"


async def test_not_more_requests_are_under_way_than_allowed(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, max_concurrency=2) as simulator:
        worlds = [simulator.world(f"w{n}") for n in range(6)]
        async with anyio.create_task_group() as tasks:
            for world in worlds:
                tasks.start_soon(world.call, "create_ticket", {"title": "one"})
        assert len(engine.asked) == 6
        assert 1 <= engine.most_under_way <= 2
        assert all(world.ledger.steps[1:] == worlds[0].ledger.steps[1:] for world in worlds)


# keys and options -----------------------------------------------------------------------------------------------------


async def test_the_key_comes_from_the_environment_and_appears_nowhere_else(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-very-secret")
    caplog.set_level("DEBUG")
    trace = Jsonl(tmp_path / "trace.jsonl", b"{}")
    async with serving() as engine, desk(engine.url, (trace,), api_key_env="DESK_KEY").open() as world:
        await world.call("create_ticket", {"title": "one"})
        engine.respond = giving(JSONResponse({"error": {"message": "Bad key sk-very-secret"}}, 401))
        with pytest.raises(Crash, match=r"HTTP 401: .*Bad key \*\*\*.*; check the key") as raised:
            await world.call("create_ticket", {"title": "two"})
    trace.close()
    written = (tmp_path / "trace.jsonl").read_text()
    assert [asked.headers["authorization"] for asked in engine.asked] == ["Bearer sk-very-secret"] * 2
    seen = (written, str(raised.value), caplog.text, repr(world.scenario))
    assert all("sk-very-secret" not in text for text in seen)


async def test_a_key_that_the_environment_lacks_is_said_before_anything_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DESK_KEY", raising=False)
    with pytest.raises(UsageError, match="the environment variable DESK_KEY is not set"):
        async with desk("http://127.0.0.1:1/v1", api_key_env="DESK_KEY"):
            pass


async def test_a_key_that_no_header_can_hold_is_refused_and_blanks_around_it_are_not_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-cl\u00e9")
    with pytest.raises(UsageError, match="DESK_KEY holds") as raised:
        async with desk("http://127.0.0.1:1/v1", api_key_env="DESK_KEY"):
            pass
    assert "sk-" not in str(raised.value)
    monkeypatch.setenv("DESK_KEY", " sk-key\n")
    async with serving() as engine, desk(engine.url, api_key_env="DESK_KEY").open() as world:
        await world.call("explain", {"topic": "a"})
        assert engine.asked[0].headers["authorization"] == "Bearer sk-key"


async def test_without_a_key_a_placeholder_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with serving() as engine, desk(engine.url).open() as world:
        await world.call("explain", {"topic": "a"})
        assert engine.asked[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("127.0.0.1:8000", "is no URL"),
        ("http://h:99999/v1", "Port out of range"),
        ("http://me:secret@h/v1", "api_key_env"),
    ],
)
def test_a_base_url_that_cannot_be_one_is_an_error_of_the_document(url: str, message: str, desk: Desk) -> None:
    with pytest.raises(DocumentError, match=message) as raised:
        desk(url)
    assert "secret" not in str(raised.value)
