"""Result schemas: declared, shown by examples, or shown in descriptions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from mcp_sim.infer.result_descriptions import TEXT_NAMES, is_prose, mentions_data, shown_result
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_nullable,
    is_open,
    items,
    main_type,
    properties,
    required,
    schema_of,
)
from mcp_sim.types.lexicon.english import snake, vocabulary, words

_BRANCHES = ("anyOf", "oneOf")
_GOOD = vocabulary("success ok successful succeeded")
_BAD = vocabulary("error errors failure exception")
_MAX_READ = 400
_UNRELATED = 100
"""Distance of a form that is not named after the tool."""

_NO_TYPES: Mapping[str, Record] = {}
_FLAGS = vocabulary(
    "done completed complete finished active inactive enabled disabled archived deleted pinned starred favorite read "
    "unread locked blocked overdue verified public private required valid exists checked current primary urgent"
)
_LISTS = vocabulary("tags labels keywords categories topics aliases attendees participants members blockers")
_NUMBERS = vocabulary("count total position order index size version points progress")
_TEXT: Record = {"type": "string"}
_TIME: Record = {"type": "string", "format": "date-time"}
_OPTIONAL_TIME: Record = {"type": ["string", "null"], "format": "date-time"}
_TIMESTAMPS = vocabulary("created_at updated_at modified_at created updated modified timestamp")
_IDENTIFIER = re.compile(r"(?<![\w/.=-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=.(-])")


def result_schema(tool: Tool) -> Record:
    """Return the expanded outputSchema, or {}.

    Frameworks declare unions: `Task | Error`, or the results of all tools in one. The form of this tool is chosen.
    """
    if tool.output_schema is None:
        return {}
    schema = expanded(tool.output_schema)
    parts = properties(schema)
    if len(parts) != 1:
        return schema if parts else _successful_form(schema, tool)
    ((name, part),) = parts.items()
    return {**schema, "properties": {name: part if properties(part) else _successful_form(part, tool)}}


def declared_form(tool: Tool) -> Record | None:
    """Return the schema of a result, or None if no outputSchema describes its content."""
    schema = result_schema(tool) if tool.output_schema is not None else None
    return schema if schema is not None and not is_open(schema) else None


def text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a text. Frameworks declare any text so."""
    parts = properties(result_schema(tool))
    name = next(iter(parts), None)
    return name if name is not None and len(parts) == 1 and main_type(parts[name]) == "string" else None


def _successful_form(schema: Record, tool: Tool) -> Record:
    """Return the form of a successful result: the one named after the tool, else the first."""
    forms = [as_object(form) for word in _BRANCHES for form in as_list(schema.get(word))]
    if len(forms) < 2 or any(main_type(form) != "object" or not properties(form) for form in forms):
        return schema
    good = [form for form in forms if not _is_failure(form)]
    return min(good, key=lambda form: _distance(form, tool)) if good else schema


def _is_failure(form: Record) -> bool:
    parts = {snake(name): part for name, part in properties(form).items()}
    if any(constants(part) == [False] for name, part in parts.items() if name in _GOOD):
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


def _distance(form: Record, tool: Tool) -> int:
    """Return how many more words than the tool a form's name has: `CreateNoteResponse`."""
    own = frozenset(words(tool.name))
    return min((len(names - own) for names in _own_names(form) if own <= names), default=_UNRELATED)


def _own_names(form: Record) -> Iterator[frozenset[str]]:
    yield frozenset(words(str(form.get("title", ""))))
    described = str(form.get("description", ""))[:_MAX_READ]
    yield from (frozenset(words(name)) for name in described.replace("`", " ").split() if "_" in name)


def infer_output(tool: Tool, example: Json, text: str | None = None, types: Mapping[str, Record] = _NO_TYPES) -> Record:
    """Return the expanded outputSchema, else the shape of an example, else what the description shows.

    {} if nothing is known. `text` is the property that holds everything as JSON text. `types` are those of arguments.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    declared = declared_form(tool) if text is None else None
    return _first_form(declared) if declared is not None else add_types(shown_result(tool.description) or {}, types)


def _first_form(output: Record) -> Record:
    """Return the first form that describes its content."""
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(output.get(word))]
    return output if properties(output) else next((form for form in forms if properties(form)), output)


def collect_argument_types(tools: Iterable[Tool]) -> dict[str, dict[str, Record]]:
    """Return server -> argument name -> its schema in the first tool that has it."""
    found: dict[str, dict[str, Record]] = defaultdict(dict)
    for tool in tools:
        for name, part in properties(tool.input_schema).items():
            kept = {word: part[word] for word in ("type", "anyOf", "enum", "format", "items", "description")
                    if word in part}  # fmt: skip
            if kept:
                found[tool.server].setdefault(snake(name), kept)
    return found


def add_types(schema: Record, arguments: Mapping[str, Record]) -> Record:
    """Add a type to each part that has none."""
    if "properties" in schema:
        parts = {
            name: add_types(as_object(part), arguments) if part else _type_of(snake(name), arguments)
            for name, part in properties(schema).items()
        }
        return {**schema, "properties": parts}
    if isinstance(schema.get("items"), dict):
        return {**schema, "items": add_types(as_object(schema["items"]), arguments)}
    return schema


def _type_of(name: str, arguments: Mapping[str, Record]) -> Record:
    ids = (part for other, part in arguments.items() if name == "id" and other.endswith("_id"))
    known = arguments.get(name) or next(ids, None)
    if known is not None:
        return _with_default(known)
    if name in _TIMESTAMPS:
        return dict(_TIME)
    if name.endswith(("_at", "_date", "_time")):
        return dict(_OPTIONAL_TIME)
    if name in _FLAGS or name.startswith(("is_", "has_", "can_")):
        return _with_default({"type": "boolean"})
    if name in _LISTS or name.endswith(("_ids", "_tags", "_list")):
        return _with_default({"type": "array"})
    return {"type": "integer"} if name in _NUMBERS or name.endswith("_count") else dict(_TEXT)


def _with_default(schema: Record) -> Record:
    """Return the schema with the initial value: flags are False, lists are empty."""
    if main_type(schema) == "boolean":
        return {"type": "boolean", "default": False}
    if main_type(schema) == "array":
        return {"type": "array", "items": items(schema) or dict(_TEXT), "default": []}
    return {**schema, "default": None} if is_nullable(schema) else dict(schema)


def find_json_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return tool id -> the property whose text is JSON.

    A tool's own description says or shows it. It also holds for all tools of a server whose descriptions mention fields
    that are no arguments (`with stable task_ref values`).
    """
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    found: dict[str, str] = {}
    for mine in by_server.values():
        wrapped = {tool.id: place for tool in mine if snake(place := text_place(tool) or "") in TEXT_NAMES}
        names_fields = bool(wrapped) and _names_fields([tool for tool in mine if tool.id in wrapped], mine)
        found |= {id_: place for id_, place in wrapped.items() if _is_data(tools[id_], names_fields=names_fields)}
    return found


def _is_data(tool: Tool, *, names_fields: bool) -> bool:
    if mentions_data(tool.description) or shown_result(tool.description) is not None:
        return True
    return names_fields and not is_prose(tool.description)


def _names_fields(wrapped: list[Tool], tools: list[Tool]) -> bool:
    """Whether descriptions contain names that only fields of results can have."""
    known = {name for tool in tools for name in _names_in(tool.input_schema)}
    named = {name for tool in wrapped for name in _IDENTIFIER.findall(tool.description)} - known
    return any(not any(name in tool.name for tool in tools) for name in named)


def _names_in(schema: Json) -> Iterator[str]:
    """Yield the names of arguments and their choices, at any depth."""
    if isinstance(schema, list):
        for part in cast("list[Json]", schema):
            yield from _names_in(part)
    elif isinstance(schema, dict):
        body = as_object(schema)
        yield from as_object(body.get("properties"))
        yield from (one for one in as_list(body.get("enum")) if isinstance(one, str))
        for part in body.values():
            yield from _names_in(part)
