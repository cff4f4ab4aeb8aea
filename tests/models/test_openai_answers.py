"""Answers of a model that cannot be served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import OPEN, Desk, desk_in, fenced, last_asked, measured, value
from support.endpoint import completion, giving, guided, saying, serving

from mcp_sim.models.language_model.reply import parse_json
from mcp_sim.types.errors import Crash

Json = Any


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


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
    "too large a number": completion('{"summary": "The chain slips.", "effort": 3, "weight": 1e999}'),
    "too deep": completion("[" * 100_000),
    "huge": completion(json.dumps({**OPEN, "summary": "x" * 1_500_000})),
}


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
        shown = fenced(conversation[-1]["content"])[1]["since the last turn"]
        assert [entry["arguments"] for entry in shown] == [{"title": "one"}]


async def test_thinking_and_control_characters_in_an_answer_do_no_harm(desk: Desk) -> None:
    answer = 'no <think> yet</think>\n{"summary": "tab\there \x01", "effort": 3}'
    async with serving(saying(answer)) as engine, desk(engine.url).open() as world:
        assert value(await world.call("create_ticket", {"title": "one"}))["summary"] == "tab\there \x01"
        await world.call("get_ticket", {"ticket_id": "ticket_00003"})
        assert len(engine.asked) == 2


SLOPPY = {
    "fenced": '```json\n{"summary": "It slips.", "effort": 3}\n```',
    "words around a fence": 'Sure, here it is:\n```json\n{"summary": "It slips.", "effort": 3}\n```\nAnything else?',
    "commas": '{"summary": "It slips.", "effort": 3,}',
    "comments": '{\n  // what is wrong\n  "summary": "It slips.", /* a guess */ "effort": 3\n}',
    "tagged": "<predicted_observation>{}</predicted_observation><predicted_observation>\n"
    '{"summary": "It slips.", "effort": 3}</predicted_observation>',
}


@pytest.mark.parametrize("name", SLOPPY)
async def test_an_answer_that_is_sloppy_and_clear_is_taken_as_it_is_meant(name: str, desk: Desk) -> None:
    async with serving(saying(SLOPPY[name])) as engine, desk(engine.url).open() as world:
        made = value(await world.call("create_ticket", {"title": "one"}))
        assert (made["summary"], made["effort"]) == ("It slips.", 3)
        assert len(engine.asked) == 1


def test_what_looks_like_a_comment_or_a_comma_too_many_in_a_text_stays() -> None:
    text = '{"a": "see http://x/y, ] and /* this */", "b": "\\",}", "c": [1,],}'
    assert parse_json(text, text) == {"a": "see http://x/y, ] and /* this */", "b": '",}', "c": [1]}
