"""Engines that differ: the forms of answers they take, how they think, what they list, how much they take."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from support.desk import MADE, Desk, agreeing, desk_in, said, ticket, value
from support.endpoint import Asked, Engine, Respond, completion, giving, saying, serving

from mcp_sim import Simulator
from mcp_sim.types.errors import Crash, DocumentError, UsageError

Json = Any


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


# engines that differ --------------------------------------------------------------------------------------------------

REFUSED = JSONResponse({"error": {"message": "response_format of this type is not supported"}}, 400)
UNKNOWN_FORM = JSONResponse({"error": {"message": "Internal Server Error"}}, 500)


def rungs(engine: Engine) -> list[str]:
    """The form of the answer that each request asked for."""
    forms = [asked.body.get("response_format") for asked in engine.asked]
    return ["none" if form is None else form["type"] + ("+" if "schema" in form else "") for form in forms]


def taking(*forms: str, refusal: Response = REFUSED) -> Respond:
    """An endpoint that takes only these forms of answers."""

    async def respond(asked: Asked) -> Response:
        form = asked.body.get("response_format")
        name = "none" if form is None else form["type"] + ("+" if "schema" in form else "")
        return completion(MADE) if name in forms else refusal

    return respond


@pytest.mark.parametrize("refusal", [REFUSED, UNKNOWN_FORM], ids=["400", "500"])
async def test_a_form_that_an_engine_does_not_know_is_given_up_for_the_next_and_not_tried_again(
    refusal: Response, desk: Desk
) -> None:
    for takes, tried in (
        ("json_schema", ["json_schema"]),
        ("json_object+", ["json_schema", "json_object+"]),
        ("json_object", ["json_schema", "json_object+", "json_object"]),
        ("none", ["json_schema", "json_object+", "json_object", "none"]),
    ):
        if refusal is UNKNOWN_FORM and len(tried) > 2:
            continue
        respond = taking(takes, refusal=refusal)
        async with serving(respond) as engine, desk(engine.url, retries=0).open() as world:
            assert value(await world.call("create_ticket", {"title": "one"}))["effort"] == 3
            assert rungs(engine) == tried
            await world.call("create_ticket", {"title": "one"})
            assert rungs(engine)[: len(tried) + 1] == [*tried, takes]


async def test_an_engine_that_took_a_schema_before_has_another_reason_for_its_500(desk: Desk) -> None:
    async with serving(saying(MADE)) as engine, desk(engine.url, retries=0).open() as world:
        await world.call("create_ticket", {"title": "one"})
        engine.respond = giving(UNKNOWN_FORM)
        with pytest.raises(Crash, match="HTTP 500"):
            await world.call("create_ticket", {"title": "two"})
        assert rungs(engine) == ["json_schema", "json_schema"]


@pytest.mark.parametrize(
    ("preset", "thinking", "extra"),
    [
        ("vllm", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("vllm", "on", {"chat_template_kwargs": {"enable_thinking": True}}),
        ("vllm", 64, {"chat_template_kwargs": {"enable_thinking": True}, "thinking_token_budget": 64}),
        ("sglang", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("llamacpp", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("ollama", "off", {"reasoning_effort": "none"}),
        ("openai", "on", {"reasoning_effort": "medium"}),
        ("openai", None, {}),
    ],
)
async def test_each_engine_is_shown_to_think_in_its_own_words(
    preset: str, thinking: Json, extra: Json, desk: Desk
) -> None:
    async with serving() as engine, desk(engine.url, preset=preset, thinking=thinking).open() as world:
        await world.call("explain", {"topic": "spokes"})
    (asked,) = engine.asked
    limit = "max_completion_tokens" if preset == "openai" else "max_tokens"
    stop = set[str]() if preset == "openai" else {"stop"}
    assert {*asked.body} == {"model", "messages", "temperature", "seed", limit, *stop, *extra}
    assert {name: asked.body[name] for name in extra} == extra
    assert ("x-session-id" in asked.headers) == (preset == "vllm")


@pytest.mark.parametrize(("preset", "thinking"), [("llamacpp", "on"), ("ollama", 64), ("openai", 64), ("sglang", 64)])
def test_thinking_that_an_engine_cannot_do_is_an_error_of_the_document(preset: str, thinking: Json, desk: Desk) -> None:
    with pytest.raises(DocumentError, match=f"thinking: {preset} has no"):
        desk("http://127.0.0.1:1/v1", preset=preset, thinking=thinking)


async def test_a_world_keeps_its_session_and_its_forks_go_on_in_it(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url) as simulator:
        one, other = simulator.world("one"), simulator.world("other")
        for world, topic in ((one, "spokes"), (one, "chains"), (other, "spokes")):
            await world.call("explain", {"topic": topic})
        await one.fork().call("explain", {"topic": "rims"})
    sessions = [asked.headers["x-session-id"] for asked in engine.asked]
    assert sessions[0] == sessions[1] == sessions[3] != sessions[2]
    assert "one" not in sessions[0]


async def test_two_entries_for_one_model_think_differently_in_one_conversation(tmp_path: Path, desk: Desk) -> None:
    async with serving(saying(MADE)) as engine:
        desk(engine.url)
        document = json.loads((tmp_path / "desk.yaml").read_text(encoding="utf-8"))
        model = document["world_model"]["openai"]
        quick: Json = {"openai": {**model, "thinking": "off"}, "tools": "get_*"}
        document["world_model"] = [quick, {"openai": {**model, "thinking": 32}}]
        (tmp_path / "desk.yaml").write_text(json.dumps(document), encoding="utf-8")
        async with Simulator.load(tmp_path / "desk.yaml").open() as world:
            await world.call("create_ticket", {"title": "one"})
            await world.call("get_ticket", {"ticket_id": "ticket_00003"})
    first, second = (asked.body for asked in engine.asked)
    assert first["thinking_token_budget"] == 32
    assert "thinking_token_budget" not in second
    assert second["messages"][:2] == first["messages"]
    assert len(second["messages"]) == 4


# the probe ------------------------------------------------------------------------------------------------------------


def models(*names: str, **more: Json) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]})


async def test_a_model_that_an_endpoint_does_not_serve_is_reported_before_anything_runs(desk: Desk) -> None:
    async with serving(models=models("tinny", "huge")) as engine:
        with pytest.raises(UsageError, match="serves no model 'tiny'; did you mean 'tinny'"):
            async with desk(engine.url).open():
                pass
        engine.models = models("tiny")
        async with desk(engine.url).open() as world:
            assert (await world.call("explain", {"topic": "a"})).ok


async def test_a_key_that_an_endpoint_does_not_take_is_reported_before_anything_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-very-secret")
    refusal = JSONResponse({"error": {"message": "Incorrect API key sk-very-secret"}}, 401)
    async with serving(models=refusal) as engine:
        with pytest.raises(UsageError, match=r"HTTP 401: .*\*\*\*.*; check the key") as raised:
            async with desk(engine.url, api_key_env="DESK_KEY", retries=0).open():
                pass
    assert "sk-very" not in str(raised.value)


@pytest.mark.parametrize("listed", [JSONResponse({"data": []}), JSONResponse([1]), HTMLResponse("hello")])
async def test_an_endpoint_that_lists_no_models_is_believed(listed: Response, desk: Desk) -> None:
    async with serving(models=listed) as engine, desk(engine.url).open() as world:
        assert (await world.call("explain", {"topic": "a"})).ok


# conversations that do not fit ----------------------------------------------------------------------------------------


async def test_a_conversation_keeps_within_what_the_engine_says_it_takes(desk: Desk) -> None:
    async def silent(asked: Asked) -> Response:
        """Answer without saying how many tokens it took."""
        content = json.loads(bytes((await agreeing(asked)).body))["choices"][0]["message"]["content"]
        return JSONResponse({"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]})

    listed = models("tiny", max_model_len=6_000)
    async with serving(silent, listed) as engine, desk(engine.url, max_tokens=200).open() as world:
        for at in range(30):
            await world.call("get_ticket", {"ticket_id": f"ticket_{at % 2 + 1:05}"})
    conversations = [asked.body["messages"] for asked in engine.asked]
    assert any(len(later) < len(earlier) for earlier, later in pairwise(conversations))
    sizes = [sum(len(message["content"]) for message in messages) for messages in conversations]
    assert max(sizes) <= 2 * (6_000 - 200)  # as long as it is not known, a token is taken to have two characters
    assert any(messages[1]["content"].startswith("### State") for messages in conversations)


async def test_a_conversation_that_is_too_long_for_the_engine_is_begun_anew_from_the_state(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        made: list[Json] = []
        for at in range(6):
            shown = ticket(at + 3, title=f"number {at}")
            made.append(value(await said(engine, world, shown, "create_ticket", {"title": shown["title"]})))
        good = saying(json.dumps(ticket(9, title="number 6")))
        too_long = JSONResponse({"error": {"message": "This model's maximum context length is 900 tokens."}}, 400)

        async def respond(asked: Asked) -> Response:
            return too_long if len(asked.body["messages"]) > 10 else await good(asked)

        engine.respond = respond
        made.append(value(await world.call("create_ticket", {"title": "number 6"})))
        again = engine.asked[-1].body["messages"]
        assert again[1]["content"].startswith("### State")
        assert json.dumps(made[5]["id"]) in again[1]["content"]
        engine.respond = giving(too_long)
        with pytest.raises(Crash, match="maximum context length"):
            await world.call("create_ticket", {"title": "number 7"})
        assert world.view.count("ticket") == 9
