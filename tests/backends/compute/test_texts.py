"""Tools that process texts or draw random values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.backend_answers import INTEGER, NUMBER, STRING, Json, error_text, simulator, success_value, tool

TEXT = {"text": STRING}
BOOLEAN = {"type": "boolean"}


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        (tool("count_words", TEXT, {"count": INTEGER}), {"text": "a b  c"}, {"count": 3}),
        (tool("toUpperCase", {"input": STRING}), {"input": "abc"}, "ABC"),
        (
            tool("convert_case", {**TEXT, "case": STRING}),
            {"text": "hello big world", "case": "camelCase"},
            "helloBigWorld",
        ),
        (tool("base64_encode", TEXT), {"text": "hi"}, "aGk="),
        (tool("base64_decode", TEXT), {"text": "aGk="}, "hi"),
        (
            tool("generate_hash", {**TEXT, "algorithm": STRING}),
            {"text": "", "algorithm": "MD5"},
            "d41d8cd98f00b204e9800998ecf8427e",
        ),
        (tool("slugify", {"title": STRING}), {"title": "Hello, World!"}, "hello-world"),
        (
            tool("regex_match", {**TEXT, "pattern": STRING}),
            {"text": "xaböab", "pattern": "ö?a(b)"},
            {
                "matches": [
                    {"match": "ab", "index": 1, "groups": ["b"]},
                    {"match": "öab", "index": 3, "groups": ["b"]},
                ],
                "count": 2,
            },
        ),
        (
            tool("test_regex", {"regex": STRING, "flags": STRING, "input": STRING}, {"matches": BOOLEAN}),
            {"regex": "^AB", "flags": "i", "input": "abc"},
            {"matches": True},
        ),
        (
            tool("regex_replace", {**TEXT, "pattern": STRING, "replacement": STRING}),
            {"text": "7 May, 8 May", "pattern": r"(\d) (May)", "replacement": r"$2 \1$9"},
            "May 7, May 8",
        ),
        (tool("repeat_text", {**TEXT, "times": INTEGER}), {"text": "ab", "times": 3}, "ababab"),
        (tool("reverse_string", TEXT), {"text": "abc"}, "cba"),
        (tool("validate_json", {"json": STRING}, {"valid": BOOLEAN}), {"json": "[1]"}, {"valid": True}),
        (
            tool("render_template", {"template": STRING, "variables": {"type": "object"}}),
            {"template": "Dear {{name}}", "variables": {"name": "Ada"}},
            "Dear Ada",
        ),
        (
            tool("translate_text", {**TEXT, "target_language": STRING}),
            {"text": "Hi", "target_language": "nl"},
            "[nl] Hi",
        ),
        (
            tool("analyze_sentiment", TEXT, {"sentiment": STRING, "score": NUMBER}),
            {"text": "I love this, great!"},
            {"sentiment": "positive", "score": 1.0},
        ),
        (
            tool("summarize", {**TEXT, "max_sentences": INTEGER}),
            {"text": "Cats sleep. Cats and dogs and cats eat. It rains.", "max_sentences": 1},
            "Cats and dogs and cats eat.",
        ),
    ],
)
async def test_a_text_is_processed_as_the_name_says(
    tmp_path: Path, definition: Json, arguments: Json, expected: Json
) -> None:
    async with simulator(tmp_path, [definition]) as sim, sim.open() as world:
        assert success_value(await world.call(definition["name"], arguments)) == expected


async def test_unsupported_choices_are_refused_with_the_alternatives(tmp_path: Path) -> None:
    tools = [
        tool("hash_text", {**TEXT, "algorithm": STRING}),
        tool("decode_base64", TEXT),
        tool("roll_dice", {"notation": STRING}),
    ]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        assert "md5, sha1" in error_text(await world.call("hash_text", {"text": "x", "algorithm": "rot13"}))
        assert "Invalid base64" in error_text(await world.call("decode_base64", {"text": "%%%"}))
        assert "2d6+1" in error_text(await world.call("roll_dice", {"notation": "many"}))


async def test_random_values_depend_on_the_world(tmp_path: Path) -> None:
    tools = [
        tool("generate_uuid"),
        tool("random_number", {"min": INTEGER, "max": INTEGER}),
        tool("rollDice", {"sides": INTEGER}, about="Roll dice"),
    ]
    calls: list[tuple[str, Json]] = [
        ("generate_uuid", {}),
        ("random_number", {"min": 5, "max": 9}),
        ("rollDice", {"sides": 6}),
    ] * 3
    runs: list[list[Json]] = []
    for _ in range(2):
        async with simulator(tmp_path, tools) as sim, sim.open() as world:
            runs.append([success_value(await world.call(name, arguments)) for name, arguments in calls])
    assert runs[0] == runs[1]
    uuids = runs[0][::3]
    assert len(set(uuids)) == 3
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one) for one in uuids
    )
    assert all(5 <= int(one) <= 9 for one in runs[0][1::3])
    assert all(one["total"] == one["rolls"][0] for one in runs[0][2::3])


async def test_tools_for_texts_of_records_do_not_match(tmp_path: Path) -> None:
    tools = [
        tool("hash", {"file_path": STRING}),
        tool("echo", {"content": STRING, "file_name": STRING}),
        tool("translate", {"document_id": STRING, "target": STRING}),
    ]
    async with simulator(tmp_path, tools) as sim:
        assert {plan.backend for plan in sim.scenario.domain.plans.values()} & {"compute"} == set()


async def test_results_that_need_a_language_model_are_marked_as_guessed(tmp_path: Path) -> None:
    tools = [tool("translate_text", {**TEXT, "target_language": STRING}), tool("count_words", TEXT)]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        success_value(await world.call("translate_text", {"text": "Good morning", "target_language": "nl"}))
        success_value(await world.call("count_words", {"text": "Good morning"}))
        calls = [step for step in world.ledger.steps if step["entry"] == "call"]
        assert [step["guessed"] for step in calls] == [True, False]


async def test_invalid_expressions_and_too_long_results_are_refused(tmp_path: Path) -> None:
    tools = [tool("regex_match", {**TEXT, "pattern": STRING}), tool("repeat_text", {**TEXT, "times": INTEGER})]
    async with simulator(tmp_path, tools).open() as world:
        assert "Invalid regular expression '('" in error_text(
            await world.call("regex_match", {"text": "a", "pattern": "("})
        )
        assert "too long" in error_text(await world.call("repeat_text", {"text": "ab", "times": 10**8}))


async def test_an_argument_and_the_tool_name_together_select_the_operation(tmp_path: Path) -> None:
    choices = [
        ("base64", {"input": STRING}, ["encode", "decode"]),
        ("regex", {"pattern": STRING, "text": STRING}, ["test", "matchAll"]),
    ]
    tools = [tool(name, {**parts, "action": {"enum": actions}}) for name, parts, actions in choices]
    asked: Json = [
        ("base64", {"input": "hi", "action": "encode"}, "aGk="),
        ("base64", {"input": "aGk=", "action": "decode"}, "hi"),
        ("regex", {"pattern": "a+", "text": "caat", "action": "test"}, "true"),
    ]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        for name, arguments, expected in asked:
            assert success_value(await world.call(name, arguments)) == expected
        many = {"pattern": "a+", "text": "aba", "action": "matchAll"}
        assert success_value(await world.call("regex", many))["count"] == 2
        wrong = {"pattern": "(", "text": "a", "action": "test"}
        assert "regular expression" in error_text(await world.call("regex", wrong))
