"""Answers in the form of the protocol, as recordings and real servers have them, and as observations."""

from __future__ import annotations

import json
from typing import Any, cast

from mcp_sim.types.errors import CRASH_CODE
from mcp_sim.types.json_values import Json, Record, nests_deeper
from mcp_sim.types.tools import Observation, RpcError, ToolResult

_DEEPEST = 64  # deeper ones would exceed Python's recursion limit where they are compared and written

INTERNAL_ERROR = -32603  # of JSON-RPC

PROTOCOL = "io.modelcontextprotocol/"
"""The prefix of the keys that the protocol has in `_meta`."""


def observation_of_answer(answer: Record) -> Observation:
    """Return a `result` (a CallToolResult) or an `error` (of JSON-RPC) as an observation that is served unchanged."""
    if "error" in answer:
        error = cast("Record", answer["error"])
        code = error.get("code", 0)
        # A server must not pass for a failure of mcp-sim, which would excuse the agent.
        return Observation(
            RpcError(INTERNAL_ERROR if code == CRASH_CODE else code, error.get("message", ""), error.get("data"))
        )
    return Observation(tool_result(answer["result"]))


def flaw_of_answer(answer: Record) -> tuple[str, str, Json] | None:
    """Return the path of the first part of an answer that is of a wrong type, what was expected, and what it is.

    None for an answer that `observation_of_answer` takes.
    """
    if len(answer) != 1:
        return "", "either a `result` or an `error`", answer
    [(name, value)] = answer.items()
    if not isinstance(value, dict):
        return name, "an object", value
    if name == "error":
        error = cast("Record", value)
        code, message = error.get("code", 0), error.get("message", "")
        if not isinstance(code, int):
            return "error.code", "a whole number", code
        return None if isinstance(message, str) else ("error.message", "a text", message)
    blocks: Json = cast("Record", value).get("content", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in cast("list[Json]", blocks)):
        return f"{name}.content", "a list of content blocks", cast("Json", blocks)
    for at, block in enumerate(cast("list[Record]", blocks)):
        for key in ("type", "text") if block.get("type") == "text" else ("type",):
            if not isinstance(block.get(key), str):
                return f"{name}.content[{at}].{key}", "a text", block.get(key)
    return None


def tool_result(result: Record) -> ToolResult:
    """Return a CallToolResult with the value that it shows: structured content, JSON in a text, or a text."""
    content = cast("list[Record]", result.get("content") or [])
    is_error = result.get("isError") is True
    meta = own_meta(result.get("_meta"))
    text = content[0]["text"] if [block.keys() for block in content] == [{"type", "text"}] else None
    if "structuredContent" in result:
        plain = ToolResult(result["structuredContent"], is_error=is_error, meta=meta)
        if plain.content == content:
            return plain
        blocks = (*content,) if text is None else None
        return ToolResult(plain.value, "structured", is_error, text, blocks, meta)
    if text is None:
        return ToolResult(content, "blocks", is_error, meta=meta)
    value = _data(text)
    if value is None:
        return ToolResult(text, "text", is_error, meta=meta)
    return ToolResult(value, "json", is_error, text, meta=meta)


def own_meta(meta: Json) -> Record | None:
    """Return what a server put into the `_meta` of a message, without what the protocol has there; None if nothing."""
    if not isinstance(meta, dict):
        return None
    return {name: value for name, value in cast("Record", meta).items() if not name.startswith(PROTOCOL)} or None


def _data(text: str) -> Any:
    """Return the object or list that a text is as JSON; None for other texts."""
    bare = text.strip()
    if not bare.startswith(("{", "[")):
        return None
    try:
        value: Json = json.loads(bare, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return None if nests_deeper(value, _DEEPEST) else value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
