"""Tools that process texts or draw random values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.backend_answers import INTEGER, NUMBER, STRING, Json, simulator, success_value, tool

TEXT = {"text": STRING}
BOOLEAN = {"type": "boolean"}


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        (tool("count_words", TEXT, {"count": INTEGER}), {"text": "a b  c"}, {"count": 3}),
        (tool("toUpperCase", {"input": STRING}), {"input": "abc"}, "ABC"),
        (tool("convert_case", {**TEXT, "case": STRING}), {"text": "hello big world", "case": "camelCase"},
         "helloBigWorld"),
        (tool("base64_encode", TEXT), {"text": "hi"}, "aGk="),
        (tool("base64_decode", TEXT), {"text": "aGk="}, "hi"),
        (tool("generate_hash", {**TEXT, "algorithm": STRING}), {"text": "", "algorithm": "MD5"},
         "d41d8cd98f00b204e9800998ecf8427e"),
        (tool("slugify", {"title": STRING}), {"title": "Hello, World!"}, "hello-world"),
        (tool("regex_match", {**TEXT, "pattern": STRING}), {"text": "xaböab", "pattern": "ö?a(b)"},
         {"matches": [{"match": "ab", "index": 1, "groups": ["b"]}, {"match": "öab", "index": 3, "groups": ["b"]}],
         "count": 2}),
        (tool("test_regex", {"regex": STRING, "flags": STRING, "input": STRING}, {"matches": BOOLEAN}),
         {"regex": "^AB", "flags": "i", "input": "abc"}, {"matches": True}),
        (tool("regex_replace", {**TEXT, "pattern": STRING, "replacement": STRING}),
         {"text": "7 May, 8 May", "pattern": r"(\d) (May)", "replacement": r"$2 \1$9"}, "May 7, May 8"),
        (tool("repeat_text", {**TEXT, "times": INTEGER}), {"text": "ab", "times": 3}, "ababab"),
        (tool("reverse_string", TEXT), {"text": "abc"}, "cba"),
        (tool("validate_json", {"json": STRING}, {"valid": BOOLEAN}), {"json": "[1]"}, {"valid": True}),
        (tool("render_template", {"template": STRING, "variables": {"type": "object"}}),
         {"template": "Dear {{name}}", "variables": {"name": "Ada"}}, "Dear Ada"),
        (tool("translate_text", {**TEXT, "target_language": STRING}), {"text": "Hi", "target_language": "nl"},
         "[nl] Hi"),
        (tool("analyze_sentiment", TEXT, {"sentiment": STRING, "score": NUMBER}), {"text": "I love this, great!"},
         {"sentiment": "positive", "score": 1.0}),
        (tool("summarize", {**TEXT, "max_sentences": INTEGER}),
         {"text": "Cats sleep. Cats and dogs and cats eat. It rains.", "max_sentences": 1},
         "Cats and dogs and cats eat."),
    ],
)  # fmt: skip
async def test_a_text_is_processed_as_the_name_says(
    tmp_path: Path, definition: Json, arguments: Json, expected: Json
) -> None:
    async with simulator(tmp_path, [definition]) as sim, sim.open() as world:
        assert success_value(await world.call(definition["name"], arguments)) == expected


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


async def test_results_that_need_a_language_model_are_marked_as_guessed(tmp_path: Path) -> None:
    tools = [tool("translate_text", {**TEXT, "target_language": STRING}), tool("count_words", TEXT)]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        success_value(await world.call("translate_text", {"text": "Good morning", "target_language": "nl"}))
        success_value(await world.call("count_words", {"text": "Good morning"}))
        calls = [step for step in world.ledger.steps if step["entry"] == "call"]
        assert [step["guessed"] for step in calls] == [True, False]
