"""Compare recorded answers with served ones."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from jsonschema import Draft202012Validator

from mcp_sim.recordings import Answer

Json = Any


def data_of(answer: Answer) -> Json:
    """Return the data of a successful answer; None if it has none.

    It is the JSON of its structuredContent, or of its only text, which may be repeated as structuredContent.
    """
    result = answer.get("result")
    if result is None or result.get("isError"):
        return None
    text, structured = only_text(result), result.get("structuredContent")
    value = None if text is None else parsed(text)
    return value if structured is None or (value is not None and wraps(structured, text)) else structured


def wraps(structured: Json, text: str | None) -> bool:
    """Whether structuredContent is a text as the SDK wraps it."""
    return text is not None and same(structured, {"result": text})


def only_text(result: dict[str, Json]) -> str | None:
    """Return the text of a result with one plain block of text; None for others."""
    blocks: Json = result.get("content") or []
    plain = len(blocks) == 1 and blocks[0].get("type") == "text" and set(blocks[0]) == {"type", "text"}
    return blocks[0]["text"] if plain else None


def parsed(text: str) -> Json:
    """Return the object or list that a text is; None if it is something else."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        return None


def fits(value: Json, schema: Json) -> bool:
    """Whether a value conforms to a JSON Schema."""
    return Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]


def conforms(answer: Answer, schema: Json) -> bool:
    """Whether an answer conforms to an outputSchema. Errors always do."""
    if schema is None or "error" in answer or answer["result"].get("isError"):
        return True
    return fits(answer["result"].get("structuredContent"), schema)


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal. A flag is no number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def differences(recorded: Answer, served: Answer) -> list[str]:
    """Return the parts in which two answers differ; empty if they are the same.

    `layout`: the texts differ, but are the same JSON.
    """
    if "error" in recorded or "error" in served:
        parts = [{"data": None, **answer["error"]} if "error" in answer else None for answer in (recorded, served)]
        return [] if same(*parts) else ["rpc error"]
    one, other = recorded["result"], served["result"]
    found = ["isError"] if bool(one.get("isError")) != bool(other.get("isError")) else []
    if not same(one.get("structuredContent"), other.get("structuredContent")):
        found.append("structuredContent")
    blocks: Json = one.get("content") or []
    others: Json = other.get("content") or []
    if len(blocks) != len(others):
        return [*found, "blocks"]
    return [*found, *dict.fromkeys(chain.from_iterable(map(_block_differences, blocks, others)))]


def _block_differences(one: dict[str, Json], other: dict[str, Json]) -> list[str]:
    if same(one, other):
        return []
    if not same({**one, "text": None}, {**other, "text": None}):
        return ["blocks"]
    value = parsed(one["text"])
    return ["layout"] if value is not None and same(value, parsed(other["text"])) else ["text"]
