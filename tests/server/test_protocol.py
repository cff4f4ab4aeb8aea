"""An observation on the wire: the result as a value, and the result as JSON text, are the same."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.server.protocol import call_result, call_result_bytes, is_modern
from mcp_sim.types import ToolResult
from mcp_sim.types.json_values import decode, encode

META = {"about": {"name": "crm"}}

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"))
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=9
)


@given(values, st.sampled_from(["structured", "json"]), st.booleans(), st.none() | st.just("as told"))
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_text_and_value_of_a_result_agree(
    version: str,
    value: Any,
    form: Literal["structured", "json"],
    is_error: bool,
    text: str | None,
) -> None:
    body = ToolResult(value, form=form, is_error=is_error, text=text)
    expected = {**call_result(body, version), **({"_meta": META} if is_modern(version) else {})}
    assert decode(call_result_bytes(body, version, encode(META))) == expected


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_blocks_and_plain_text_go_out_as_they_are(version: str) -> None:
    block = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    for body in (ToolResult([block], form="blocks"), ToolResult('say "hi"', form="text", is_error=True)):
        written = decode(call_result_bytes(body, version, b"{}"))
        assert written["content"] == body.content
        assert written["isError"] is body.is_error
        assert "structuredContent" not in written


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_text_alone_under_result_is_rendered_bare(version: str) -> None:
    wrapped = call_result(ToolResult({"result": "Note saved"}), version)
    assert wrapped["content"] == [{"type": "text", "text": "Note saved"}]
    assert wrapped["structuredContent"] == {"result": "Note saved"}
    for other in ({"result": 3}, {"result": "Note saved", "id": 1}, {"note": "saved"}):
        assert call_result(ToolResult(other), version)["content"][0]["text"] == encode(other).decode()
