"""Result schemas: declared or shown by examples."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_sim.infer.result_descriptions import TEXT_NAMES, is_prose, mentions_data
from mcp_sim.infer.result_forms import shown_form
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_open,
    main_type,
    properties,
    required,
    schema_of,
)
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms

_GOOD, _BAD = terms("results.success"), terms("results.error")
_IDENTIFIER = re.compile(r"(?<![\w/.=-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=.(-])")


def result_schema(tool: Tool) -> Record:
    """Return the expanded outputSchema, or {}. Of a union (`Task | Error`), it is the first successful form."""
    schema = expanded(tool.output_schema) if tool.output_schema is not None else {}
    parts = properties(schema)
    if not parts:
        return _successful_form(schema)
    if len(parts) > 1:
        return schema
    ((name, part),) = parts.items()
    return {**schema, "properties": {name: part if properties(part) else _successful_form(part)}}


def _successful_form(schema: Record) -> Record:
    """Return the first form of a union of objects that is no error."""
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(schema.get(word))]
    good = (form for form in forms if not _is_failure(form))
    return next(good, schema) if all(map(properties, forms)) else schema


def _is_failure(form: Record) -> bool:
    if any(snake(name) in _GOOD and constants(part) == [False] for name, part in properties(form).items()):
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


def text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a text. Frameworks declare any text so."""
    parts = [*properties(result_schema(tool)).items()]
    return parts[0][0] if len(parts) == 1 and main_type(parts[0][1]) == "string" else None


def find_json_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return tool id -> the only property of its result, if its text is JSON.

    A tool's own description says so. It also holds for all tools of a server whose descriptions mention fields that are
    no arguments (`with stable task_ref values`).
    """
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    return {tool.id: place for mine in by_server.values() for tool, place in _json_texts(mine)}


def _json_texts(tools: Sequence[Tool]) -> Iterator[tuple[Tool, str]]:
    """Yield the tools of one server whose text is JSON, each with its property."""
    wrapped = [(tool, place) for tool in tools if snake(place := text_place(tool) or "") in TEXT_NAMES]
    is_data = bool(wrapped) and _mention_fields((tool for tool, _ in wrapped), tools)
    for tool, place in wrapped:
        if mentions_data(tool.description) or (is_data and not is_prose(tool.description)):
            yield tool, place


def _mention_fields(wrapped: Iterable[Tool], tools: Iterable[Tool]) -> bool:
    """Whether descriptions contain names that only fields of results can have."""
    known = " ".join(json.dumps([tool.name, tool.input_schema]) for tool in tools)
    return any(name not in known for tool in wrapped for name in _IDENTIFIER.findall(tool.description))


def argument_schemas(tools: Iterable[Tool]) -> dict[str, dict[str, Record]]:
    """Return server -> snake-case name of an argument -> its schema in the first tool that has it."""
    found: dict[str, dict[str, Record]] = defaultdict(dict)
    for tool in tools:
        for name, part in properties(tool.input_schema).items():
            found[tool.server].setdefault(snake(name), part)
    return found


def infer_output(tool: Tool, example: Json, arguments: Mapping[str, Record], *, is_text: bool) -> Record:
    """Return the outputSchema, else the shape of an example, else the form that the description shows, else {}.

    `arguments` are those of all tools of the server. `is_text`: the result is JSON in a text, whose form the
    outputSchema does not declare.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    schema = {} if is_text else result_schema(tool)
    return schema if schema and not is_open(schema) else shown_form(tool.description, arguments) or {}
