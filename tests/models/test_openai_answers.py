"""Answers of a model: what a server can say is served as it is, and what cannot be served is asked for again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import MADE, Desk, desk_in, fenced, last_asked, measured, said, ticket, value
from support.endpoint import completion, giving, saying, serving

from mcp_sim.models.language_model.reply import parse_json
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.errors import Crash

Json = Any
NO = {"type": "text", "text": "No such topic."}
TAGGED = "<predicted_observation>{}</predicted_observation>"
PICTURE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}


def text(shown: str) -> Json:
    return {"type": "text", "text": shown}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


# what a server can say ------------------------------------------------------------------------------------------------

PLAIN = {
    "spaces and lines": "  Two\n\n  lines. \n",
    "nothing": "",
    "blanks": " \n",
    "a number": "12",
    "JSON in a layout of its own": '{"a": 1,\n   "b": [1,2] }',
    "JSON with a space after it": '{\n  "a": "é"\n}\n',
    "a list on many lines": "[\n    1,\n    2\n]",
    "a fence within a text": "Do this:\n```sh\nmake\n```\nThen wait.",
    "what is no error of the protocol": '{"error": {"code": 7, "message": "flat"}}',
    "a row for each line": '{"id": 1}\n{"id": 2}',
}


@pytest.mark.parametrize("name", PLAIN)
async def test_a_text_is_served_to_the_last_blank(name: str, desk: Desk) -> None:
    async with serving(saying(PLAIN[name])) as engine, desk(engine.url).open() as world:
        body = (await world.call("explain", {"topic": "wheels"})).body
        assert isinstance(body, ToolResult)
        assert (body.content, body.is_error, len(engine.asked)) == ([text(PLAIN[name])], False, 1)


WRAPPED = {
    "fenced": ('```json\n{"a": 1}\n```', '{"a": 1}'),
    "tagged": (TAGGED.format("\n  Yes. \n"), "  Yes. "),
    "tagged twice": (TAGGED.format("no") + TAGGED.format("yes"), "yes"),
    "under the heading of the prompt": ("**Environment Observation:**\nYes.", "Yes."),
    "after a thought": ("Hm.</think>\n\nYes.", "Yes."),
    "before a turn that the model went on to play": ("Yes.\n\n### Turn 2\n**Action:**\n{}", "Yes."),
    "in a result of the protocol": (json.dumps({"content": [text("Yes.")]}), "Yes."),
    "in a message of the protocol": (
        json.dumps({"jsonrpc": "2.0", "id": 4, "result": {"content": [text("Yes.")], "isError": False}}),
        "Yes.",
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
async def test_what_is_around_an_answer_is_not_served(name: str, desk: Desk) -> None:
    reply, shown = WRAPPED[name]
    async with serving(saying(reply)) as engine, desk(engine.url).open() as world:
        body = (await world.call("explain", {"topic": "wheels"})).body
        assert isinstance(body, ToolResult)
        assert (body.content, body.is_error, len(engine.asked)) == ([text(shown)], False, 1)


async def test_several_blocks_are_served_as_they_are(desk: Desk) -> None:
    blocks = [text("One."), PICTURE, text('{"id": 7}')]
    async with serving() as engine, desk(engine.url).open() as world:
        body = (await said(engine, world, {"content": blocks}, "explain", {"topic": "wheels"})).body
        assert body == ToolResult(blocks, "blocks")


async def test_structured_content_is_served_beside_another_text_or_layout_and_with_undeclared_fields(
    desk: Desk,
) -> None:
    found = {"outlook": "Mist", "degrees": 4, "wind": {"force": 3}}
    beside = {"content": [text("Mist, 4 degrees")], "structuredContent": found}
    async with serving() as engine, desk(engine.url).open() as world:
        for reply, shown in ((beside, "Mist, 4 degrees"), (json.dumps(found, indent=2), json.dumps(found, indent=2))):
            body = (await said(engine, world, reply, "forecast", {"city": shown})).body
            assert isinstance(body, ToolResult)
            assert (body.form, body.value, body.content) == ("structured", found, [text(shown)])


@pytest.mark.parametrize("tool", ["explain", "forecast"])
async def test_a_refusal_is_served_in_each_form_that_servers_use(tool: str, desk: Desk) -> None:
    details = {"error": "unknown", "near": ["wheel"]}
    name = "topic" if tool == "explain" else "city"
    async with serving() as engine, desk(engine.url).open() as world:
        for number, (reply, body) in enumerate(
            (
                ({"isError": True, "text": "No such topic."}, ToolResult("No such topic.", "text", is_error=True)),
                ({"isError": True, "content": [NO]}, ToolResult("No such topic.", "text", is_error=True)),
                ({"isError": True, "content": [NO, PICTURE]}, ToolResult([NO, PICTURE], "blocks", is_error=True)),
                (
                    {"isError": True, "content": [NO], "structuredContent": details},
                    ToolResult(details, "structured", is_error=True, blocks=(NO,)),
                ),
                ({"error": {"code": -32602, "message": "Unknown"}}, RpcError(-32602, "Unknown")),
                (
                    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "Down", "data": [1]}},
                    RpcError(-32000, "Down", [1]),
                ),
            )
        ):
            assert (await said(engine, world, reply, tool, {name: f"x{number}"})).body == body
        assert (len(engine.asked), world.ledger.crashes) == (6, [])


async def test_arguments_that_the_schema_forbids_are_refused_in_the_words_of_the_model_or_accepted(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        refusal = {"isError": True, "text": "title? There is none."}
        assert (await said(engine, world, refusal, "create_ticket", {})).body == ToolResult(
            refusal["text"], "text", is_error=True
        )
        assert "'title' is a required property" in fenced(engine.asked[0].question)[1]["invalid arguments"][0]
        assert world.view.count("ticket") == 2
        lax = ticket(3, title="(untitled)")
        assert value(await said(engine, world, lax, "create_ticket", {"customer_id": "customer_00001"})) == lax
        assert world.view.get("ticket", "ticket_00003") == lax


async def test_with_strict_arguments_the_model_is_not_asked_about_those_that_the_schema_forbids(desk: Desk) -> None:
    async with serving(saying(MADE)) as engine, desk(engine.url, arguments="strict").open() as world:
        refused = await world.call("create_ticket", {})
        assert (refused.ok, engine.asked, world.view.count("ticket")) == (False, [], 2)


# what cannot be served ------------------------------------------------------------------------------------------------

BAD = {
    "empty": completion(""),
    "no content": completion("", reasoning="thought about it"),
    "not JSON": completion("The summary is short."),
    "half JSON": completion('{"summary": "Cut', "stop"),
    "truncated": completion(MADE, "length"),
    "withheld": completion(MADE, "content_filter"),
    "endless thought": completion("<think>And if the chain"),
    "open tag": completion("<predicted_observation>{}"),
    "wrong type": completion(json.dumps(ticket(effort="three"))),
    "out of bounds": completion(json.dumps(ticket(effort=10))),
    "field missing": completion('{"effort": 3}'),
    "no object": completion("[1]"),
    "text only": completion(json.dumps({"content": [text("Made.")]})),
    "no number": completion(MADE.replace("3}", "NaN}").replace(": 3,", ": NaN,")),
    "too large a number": completion(json.dumps(ticket())[:-1] + ', "weight": 1e999}'),
    "too deep": completion("[" * 100_000),
    "too deep within": completion(MADE[:-1] + ', "a": ' + "[" * 80 + "]" * 80 + "}"),
    "huge": completion(json.dumps(ticket(summary="x" * 1_500_000))),
    "another title": completion(json.dumps(ticket(title="two"))),
}


@pytest.mark.parametrize("name", BAD)
async def test_an_answer_that_cannot_be_served_is_asked_for_again_with_its_problems(name: str, desk: Desk) -> None:
    async with serving(giving(BAD[name], completion(MADE))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("create_ticket", {"title": "one"})) == ticket()
        first, second = engine.asked
        (rejected,) = measured(world)["rejected"]
        assert second.body["messages"][1]["content"].startswith(first.question)
        assert len(second.body["messages"]) == (2 if name in ("empty", "no content") else 4)
        assert rejected["problems"]
        assert all(f"- {problem}" in second.question for problem in rejected["problems"])
        assert second.body["seed"] != first.body["seed"]
        assert measured(world)["attempts"] == 2
        await said(engine, world, ticket(4, title="two"), "create_ticket", {"title": "two"})
        assert len(last_asked(engine)) == 4
        assert last_asked(engine)[:2] == first.body["messages"]


async def test_after_the_last_attempt_the_call_is_a_crash_that_leaves_nothing_behind(desk: Desk) -> None:
    async with serving(giving(BAD["wrong type"])) as engine, desk(engine.url, max_attempts=3).open() as world:
        before = world.version.state
        with pytest.raises(Crash):
            await world.call("create_ticket", {"title": "one"})
        assert world.version.state is before
        assert len(engine.asked) == 3
        (crash,) = world.ledger.crashes
        assert len(crash["attempts"]) == 3
        assert crash["error"] == "; ".join(crash["attempts"][-1]["problems"])
        assert value(await said(engine, world, MADE, "create_ticket", {"title": "one"})) == ticket()
        assert len(last_asked(engine)) == 2


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
        shown = fenced(conversation[-1]["content"])[1]["since the last turn"]
        assert [entry["arguments"] for entry in shown] == [{"title": "one"}]


SLOPPY = {
    "words around a fence": f"Sure, here it is:\n```json\n{MADE}\n```\nAnything else?",
    "commas": f"{MADE[:-1]},}}",
    "comments": f"{{\n  // what is wrong\n  {MADE[1:-1]} /* a guess */ }}",
    "thinking": f"no <think> yet</think>\n{MADE}",
    "tagged": TAGGED.format("{}") + TAGGED.format(MADE),
}


@pytest.mark.parametrize("name", SLOPPY)
async def test_an_answer_that_is_sloppy_and_clear_is_taken_as_it_is_meant(name: str, desk: Desk) -> None:
    async with serving(saying(SLOPPY[name])) as engine, desk(engine.url).open() as world:
        assert value(await world.call("create_ticket", {"title": "one"})) == ticket()
        assert len(engine.asked) == 1


async def test_control_characters_in_an_answer_do_no_harm(desk: Desk) -> None:
    async with serving(saying(MADE.replace("slips", "slips\t\x01"))) as engine, desk(engine.url).open() as world:
        assert value(await world.call("create_ticket", {"title": "one"}))["summary"] == "The chain slips\t\x01."


def test_what_looks_like_a_comment_or_a_comma_too_many_in_a_text_stays() -> None:
    written = '{"a": "see http://x/y, ] and /* this */", "b": "\\",}", "c": [1,],}'
    assert parse_json(written, written) == {"a": "see http://x/y, ] and /* this */", "b": '",}', "c": [1]}


async def test_an_error_may_have_data_as_its_text(desk: Desk) -> None:
    refusal = {"error": {"code": "conflict", "message": "Taken."}}
    answer = json.dumps({"isError": True, "text": refusal})
    async with serving(saying(answer)) as engine, desk(engine.url).open() as world:
        body = (await world.call("create_ticket", {"title": "one"})).body
        assert isinstance(body, ToolResult)
        assert body.is_error
        assert json.loads(body.content[0]["text"]) == refusal
        assert measured(world)["attempts"] == 1
