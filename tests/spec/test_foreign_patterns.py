"""Patterns of other regular expressions, as clients compile them."""

from __future__ import annotations

import pytest

from mcp_sim.spec.foreign.dialects import to_json_schema

KEPT = (
    r"^[\w\-]+(?:\.[a-z]{2,})?$",
    r"^[^\s\-_]+$",
    r"^\p{L}+(?=x)(?<!y)$",
    r"^(?<year>\d{4})-\k<year>$",
    r"[\]\-\\^a]",
    r"\u{1F600}\x41\cJ",
    r"^[^\x00-\x1F\x7f\cJ]$",
)


@pytest.mark.parametrize("pattern", KEPT)
def test_a_pattern_of_ecmascript_is_kept(pattern: str) -> None:
    assert to_json_schema({"type": "string", "pattern": pattern}, pytest.fail) == {"type": "string", "pattern": pattern}


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        (r"^\w+\@\_\#x$", r"^\w+@_#x$"),
        (r"^[\w-.]+[\.\_\'a-z]$", r"^[\w\-.]+[\._'a-z]$"),
        (r"^[^a-\d]$", r"^[^a\-\d]$"),
        (r"\A\d+\Z|\z", r"^\d+$|$"),
        (r"(?P<code>[A-Z]+)", r"(?<code>[A-Z]+)"),
        (r"^{id}]$", r"^\{id\}\]$"),
        (r"a{,3}", r"a\{,3\}"),
    ],
)
def test_stray_escapes_braces_and_hyphens_are_rewritten(pattern: str, form: str) -> None:
    assert to_json_schema({"pattern": pattern}, pytest.fail) == {"pattern": form}


@pytest.mark.parametrize(
    "pattern",
    [r"(?i)^all$", r"(?>a)b", r"a++", r"[[:alpha:]]", r"\h", "a\\", r"[]a]", "[a", "(?:a", "a)", "*a", r"^\1$"],
)
def test_a_pattern_without_such_a_form_is_left_out_and_reported(pattern: str) -> None:
    doubts: list[str] = []
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": pattern}}}
    assert to_json_schema(schema, doubts.append) == {"type": "object", "properties": {"code": {"type": "string"}}}
    assert doubts == [f"code: the pattern {pattern!r} is not one of JSON Schema, and is left out"]
