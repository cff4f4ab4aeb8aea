"""Result schemas: declared or shown by examples."""

from __future__ import annotations

from mcp_sim.infer.result_descriptions import TEXT_NAMES, mentions_data
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
from mcp_sim.types.lexicon.english import snake, vocabulary, words

_GOOD = vocabulary("success ok successful succeeded")
_BAD = vocabulary("error errors failure exception")


def result_schema(tool: Tool) -> Record:
    """Return the expanded outputSchema, or {}. Of a union (`Task | Error`), it is the first successful form."""
    if tool.output_schema is None:
        return {}
    schema = expanded(tool.output_schema)
    parts = properties(schema)
    if len(parts) != 1:
        return schema if parts else _successful_form(schema)
    ((name, part),) = parts.items()
    return {**schema, "properties": {name: part if properties(part) else _successful_form(part)}}


def _successful_form(schema: Record) -> Record:
    """Return the first form of a union of objects that is no error."""
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(schema.get(word))]
    good = (form for form in forms if not _is_failure(form))
    return next(good, schema) if all(map(properties, forms)) else schema


def _is_failure(form: Record) -> bool:
    parts = {snake(name): part for name, part in properties(form).items()}
    if any(constants(part) == [False] for name, part in parts.items() if name in _GOOD):
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


def text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a text. Frameworks declare any text so."""
    parts = properties(result_schema(tool))
    name = next(iter(parts), None)
    return name if name is not None and len(parts) == 1 and main_type(parts[name]) == "string" else None


def json_text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if its text is JSON, as the description says."""
    place = text_place(tool)
    return place if snake(place or "") in TEXT_NAMES and mentions_data(tool.description) else None


def infer_output(tool: Tool, example: Json) -> Record:
    """Return the expanded outputSchema, else the shape of an example, else {}."""
    if tool.output_schema is None:
        return schema_of(example) if isinstance(example, dict | list) else {}
    schema = result_schema(tool)
    return {} if is_open(schema) or json_text_place(tool) is not None else schema
