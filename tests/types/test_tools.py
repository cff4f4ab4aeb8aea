"""How results are rendered as content blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_sim.types import ToolResult


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"result": "three\nlines\nof text"}, "three\nlines\nof text"),
        ({"content": "text"}, "text"),
        ({"name": "Ada"}, '{"name":"Ada"}'),
        ({"result": "text", "count": 1}, '{"result":"text","count":1}'),
        ({"result": ["a"]}, '{"result":["a"]}'),
        ({}, "{}"),
    ],
)
def test_a_text_that_is_the_whole_result_is_plain_and_everything_else_is_json(value: Any, text: str) -> None:
    assert ToolResult(value).content == [{"type": "text", "text": text}]
    assert ToolResult(value).value == value


def test_a_text_of_what_a_result_wraps_follows_the_value() -> None:
    shown = ToolResult({"result": [{"n": 1}]}, text='[{"n":1}]').with_value({"result": []})
    assert shown.content == [{"type": "text", "text": "[]"}]
    assert ToolResult({"result": 5}, text="five").with_value({"result": 6}).content[0]["text"] == "five"


def test_indented_json_replaces_halves_of_characters_like_compact_json() -> None:
    for is_indented in (False, True):
        text = ToolResult({"note": "\ud800!"}, "json", is_indented=is_indented).content[0]["text"]
        assert json.loads(text) == {"note": "\ufffd!"}
