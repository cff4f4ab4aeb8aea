"""Read the data in an answer wherever it is: structured content, JSON as text, JSON in a wrapped text or in blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from mcp_sim.models.language_model.reply import load_json
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.conditions import equal
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object


@frozen
class Readable:
    """The data in an answer, and how it is written back."""

    value: Json
    """None where the answer is prose."""
    write: Callable[[Json], ToolResult]

    @classmethod
    def of(cls, observation: Observation) -> Readable | None:
        """Return the data in an answer; None for what is not a result of a tool."""
        body = observation.body
        if not isinstance(body, ToolResult):
            return None
        match body.form:
            case "blocks":
                blocks = cast("list[Record]", body.value)
                return cls([_decoded(block.get("text")) for block in blocks], lambda new: _with_blocks(body, new))
            case "text":
                return cls(None, lambda _: body)
            case _:
                return _unwrapped(body) or cls(body.value, body.with_value)


def _unwrapped(body: ToolResult) -> Readable | None:
    """Return the data in a text that is alone in its object, as servers wrap a tool that returns text."""
    fields = as_object(body.value)
    if len(fields) != 1:
        return None
    name, text = next(iter(fields.items()))
    value = _decoded(text)
    if value is None:
        return None
    inner = ToolResult(value, "json", text=text)
    return Readable(value, lambda new: body.with_value({name: inner.with_value(new).content[0]["text"]}))


def _with_blocks(body: ToolResult, values: Json) -> ToolResult:
    """Return content blocks with other values in those that hold JSON."""
    return replace(body, value=[_with_text(*both) for both in zip(body.value, cast("list[Any]", values), strict=False)])


def _with_text(block: Mapping[str, Any], value: Json) -> Record:
    before = _decoded(block.get("text"))
    if before is None or equal(before, value):
        return dict(block)
    return {**block, "text": ToolResult(before, "json", text=block["text"]).with_value(value).content[0]["text"]}


def _decoded(text: Json) -> Any:
    """Return the object or list that a text is as JSON; None for other texts."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return load_json(text)
    except ValueError:
        return None
