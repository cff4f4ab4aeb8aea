"""Results that outputSchemas declare: their form, and texts that hold everything."""

from __future__ import annotations

import re
from typing import Final

from mcp_sim.types import Record, Tool
from mcp_sim.types.argument_descriptions import with_alternatives
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms

_GOOD, _BAD = terms("results.success"), terms("results.error")

TEXT_NAMES: Final = terms("results.text")
"""Names of the only property of a result, if it is a text for people."""

MESSAGE_NAMES: Final = TEXT_NAMES | terms("results.message")
"""Names of such a property that may hold a message about the call."""

_DATA = re.compile(r"\b(json|dict|dictionary|object|list of dicts|array)\b", re.IGNORECASE)


def result_schema(tool: Tool) -> Record:
    """Return the expanded outputSchema, or {}. Of a union (`Task | Error`), it is the successful form."""
    schema = expanded(tool.output_schema) if tool.output_schema is not None else {}
    parts = properties(schema)
    if not parts:
        return _successful_form(schema)
    if len(parts) > 1:
        return schema
    ((name, inner),) = parts.items()
    return {**schema, "properties": {name: inner if properties(inner) else _successful_form(inner)}}


def _successful_form(schema: Record) -> Record:
    """Return the first form of a union of objects that is not an error.

    Kinds of one record, which a property with constants tells apart, stay together: a call decides on the kind.
    """
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(schema.get(word))]
    good = [form for form in forms if not _is_failure(form)]
    if not good or not all(map(properties, forms)):
        return schema
    if not any(all(constants(property_of(form, name)) for form in good) for name in properties(good[0])):
        return good[0]
    return {**with_alternatives({"anyOf": good}), "type": "object", "anyOf": good} if len(good) > 1 else good[0]


def _is_failure(form: Record) -> bool:
    if any(snake(name) in _GOOD and constants(schema) == [False] for name, schema in properties(form).items()):
        return True
    if {*map(snake, properties(form))} <= _BAD:
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


def text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a text. Frameworks declare any text so."""
    parts = [*properties(result_schema(tool)).items()]
    return parts[0][0] if len(parts) == 1 and main_type(parts[0][1]) == "string" else None


def mentions_data(description: str) -> bool:
    """Whether the description of a tool that works on records mentions data. Then its result is data."""
    return bool(_DATA.search(description))
