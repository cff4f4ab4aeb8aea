"""Read the observation in a model's reply: text as it is, JSON in its own layout, content blocks, errors.

Data is read wherever it is: structured content, JSON as text, in a wrapped text or in blocks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from mcp_sim.models.language_model.reply import TOO_DEEP, Reply, load_json, observation_text, parse_json
from mcp_sim.types import Json, Observation, Record, RpcError, ToolResult, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_object, properties, types_of
from mcp_sim.types.json_schema.validation import Validator

_RESULT = frozenset({"content", "structuredContent", "isError", "resultType", "_meta"})
_ENVELOPE = frozenset({"jsonrpc", "id", "result", "error"})
_RPC_CODES = range(-32_768, -31_999)  # the codes that JSON-RPC reserves; other numbers under `error.code` are data


def read_observation(reply: Reply, schema: Record | None) -> Observation:
    """Return the observation in a reply; `schema` is the tool's outputSchema.

    Raises `Rejected` if the reply is not an observation.
    """
    text = observation_text(reply)
    value = _parsed(text)
    if value is not None:
        shaped = _protocol_shape(value)
        if shaped is not None:
            return shaped
    if schema is not None:
        result = ToolResult(_structured(text, value, schema, reply))
        return Observation(result.with_text(text.strip()) if value is not None else result)
    if value is None:
        if not text and reply.reasoning:
            raise Rejected(reply.content, ["the answer is empty"])
        return Observation(ToolResult(text, form="text"))
    return Observation(ToolResult(value, form="json").with_text(text))


def _parsed(text: str) -> Any:
    """Return the object or list in a text that is JSON as a whole; None for every other text."""
    bare = text.strip()
    if not (bare.startswith(("{", "[")) and bare.endswith(("}", "]"))):
        return None
    try:
        return parse_json(text, text)
    except Rejected as error:
        if TOO_DEEP in error.problems:
            raise
        return None


def _protocol_shape(value: Json) -> Observation | None:
    """Return the observation of a value in a shape of the protocol: a result, an error; None for plain data."""
    body = as_object(value)
    if {"jsonrpc", "result"} <= body.keys() <= _ENVELOPE:
        return _protocol_shape(body["result"])
    shapes = (_rpc_error(body), _refusal(body), _call_result(body))
    return next((Observation(shape) for shape in shapes if shape is not None), None)


def _rpc_error(body: Record) -> RpcError | None:
    error = as_object(body.get("error"))
    code, message = error.get("code"), error.get("message")
    if type(code) is not int or code not in _RPC_CODES or not isinstance(message, str):
        return None
    return RpcError(code, message, error.get("data")) if body.keys() <= _ENVELOPE else None


def _refusal(body: Record) -> ToolResult | None:
    """Return an error with a text, or with data that its text is the JSON of."""
    if body.keys() != {"isError", "text"} or body["isError"] is not True:
        return None
    text: Json = body["text"]
    if isinstance(text, dict | list):
        return ToolResult(text, form="json", is_error=True)
    return ToolResult(text, form="text", is_error=True) if isinstance(text, str) else None


@cache
def _well_formed_results() -> Validator:
    """Return the validator of results whose content clients accept."""
    schema = files("mcp_sim.models.language_model").joinpath("result.schema.json")
    return Validator(json.loads(schema.read_text(encoding="utf-8")))


def _call_result(body: Record) -> ToolResult | None:
    if not body.keys() <= _RESULT or not _well_formed_results().is_valid(body):
        return None
    content = cast("list[Record]", body["content"])
    is_error = body.get("isError") is True
    if body.get("structuredContent") is not None:
        result = ToolResult(body["structuredContent"], is_error=is_error)
        return (
            result if result.content == content else ToolResult(result.value, "structured", is_error, None, (*content,))
        )
    if [block.keys() for block in content] == [{"type", "text"}] and content[0]["type"] == "text":
        text = str(content[0]["text"])
        value = _parsed(text)
        return ToolResult(text, "text", is_error) if value is None else ToolResult(value, "json", is_error, text)
    return ToolResult(content, "blocks", is_error)


def _structured(text: str, value: Json, schema: Record, reply: Reply) -> Json:
    """Return the value of structured content. A text, or a list, is put under the only property of a schema for it."""
    wrapper = properties(schema)
    name, inner = next(iter(wrapper.items())) if len(wrapper) == 1 else ("", {})
    kinds = types_of(as_object(inner))
    if isinstance(value, dict):
        return cast("Record", value)
    if isinstance(value, list):
        rows = cast("list[Json]", value)
        return {name: rows} if "array" in kinds and "object" in types_of(schema) else rows
    return {name: text} if text and "string" in kinds else parse_json(text, reply.content)


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
                return cls(
                    [_decoded(block.get("text")) for block in blocks],
                    lambda new: replace(body, value=[*map(_with_text, blocks, cast("list[Json]", new))]),
                )
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


def _with_text(block: Mapping[str, Any], value: Json) -> Record:
    """Return a content block with another value, if it holds JSON."""
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
