"""Results: their schemas, declared or shown, and texts that hold data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.described_forms import shown_form
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
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms

_GOOD, _BAD = terms("results.success"), terms("results.error")

TEXT_NAMES: Final = terms("results.text")
"""Names of the only property of a result, if it is a text for people."""

MESSAGE_NAMES: Final = TEXT_NAMES | terms("results.message")
"""Names of such a property that may hold a message about the call."""

_IDENTIFIER = re.compile(r"(?<![\w/.=-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=.(-])")
_DATA = re.compile(r"\b(json|dict|dictionary|object|list of dicts|array)\b", re.IGNORECASE)


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

    The description says so, or mentions fields that are no arguments (`with stable task_ref values`), as those of other
    tools of the server may do.
    """
    known = " ".join(f"{tool.name} {canonical(tool.input_schema)}" for tool in tools.values())
    places = {id_: place for id_, tool in tools.items() if snake(place := text_place(tool) or "") in TEXT_NAMES}
    talking = {tools[id_].server for id_ in places if _mentions_fields(tools[id_].description, known)}
    return {
        id_: at for id_, at in places.items() if mentions_data(tools[id_].description) or tools[id_].server in talking
    }


def _mentions_fields(description: str, known: str) -> bool:
    return any(name not in known for name in _IDENTIFIER.findall(description))


def infer_output(tool: Tool, example: Json, *, is_text: bool) -> Record:
    """Return the outputSchema, else the shape of an example, else the form that the description shows, else {}.

    `is_text`: the result is JSON in a text, whose form the outputSchema does not declare.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    schema = {} if is_text else result_schema(tool)
    return schema if schema and not is_open(schema) else shown_form(tool.description)


def mentions_data(description: str) -> bool:
    """Whether the description of a tool that works on records mentions data. Then its result is data."""
    return bool(_DATA.search(description))
