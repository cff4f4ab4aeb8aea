"""Of which type is a field that a description only names: as an argument of that name, else as its name says?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import as_object, is_nullable, items, main_type, properties
from mcp_sim.types.lexicon.words import snake, vocabulary

_FLAGS = vocabulary(
    "done completed complete finished active inactive enabled disabled archived deleted pinned starred favorite read "
    "unread locked blocked overdue verified public private required valid exists checked current primary urgent"
)
_LISTS = vocabulary("tags labels keywords categories topics aliases attendees participants members blockers")
_NUMBERS = vocabulary("count total position order index size version points progress")
_TEXT: Record = {"type": "string"}
_TIME: Record = {"type": "string", "format": "date-time"}
_LATER: Record = {"type": ["string", "null"], "format": "date-time"}
_MADE = vocabulary("created_at updated_at modified_at created updated modified timestamp")


def argument_types(tools: Iterable[Tool]) -> dict[str, dict[str, Record]]:
    """Server -> what each argument is, by its name, as the first tool to have it says."""
    found: dict[str, dict[str, Record]] = defaultdict(dict)
    for tool in tools:
        for name, part in properties(tool.input_schema).items():
            kept = {word: part[word] for word in ("type", "anyOf", "enum", "format", "items", "description")
                    if word in part}  # fmt: skip
            if kept:
                found[tool.server].setdefault(snake(name), kept)
    return found


def typed(schema: Record, arguments: Mapping[str, Record]) -> Record:
    """The schema with a type for each part that has none."""
    if "properties" in schema:
        parts = {
            name: typed(as_object(part), arguments) if part else _type_of(snake(name), arguments)
            for name, part in properties(schema).items()
        }
        return {**schema, "properties": parts}
    if isinstance(schema.get("items"), dict):
        return {**schema, "items": typed(as_object(schema["items"]), arguments)}
    return schema


def _type_of(name: str, arguments: Mapping[str, Record]) -> Record:
    ids = (part for other, part in arguments.items() if name == "id" and other.endswith("_id"))
    known = arguments.get(name) or next(ids, None)
    if known is not None:
        return _beginning(known)
    if name in _MADE:
        return dict(_TIME)
    if name.endswith(("_at", "_date", "_time")):
        return dict(_LATER)
    if name in _FLAGS or name.startswith(("is_", "has_", "can_")):
        return _beginning({"type": "boolean"})
    if name in _LISTS or name.endswith(("_ids", "_tags", "_list")):
        return _beginning({"type": "array"})
    return {"type": "integer"} if name in _NUMBERS or name.endswith("_count") else dict(_TEXT)


def _beginning(schema: Record) -> Record:
    """The schema with what stands there until somebody says something: a flag is not set, a list is empty."""
    if main_type(schema) == "boolean":
        return {"type": "boolean", "default": False}
    if main_type(schema) == "array":
        return {"type": "array", "items": items(schema) or dict(_TEXT), "default": []}
    return {**schema, "default": None} if is_nullable(schema) else dict(schema)
