"""Results that outputSchemas declare: their form, texts that hold everything, and failures that functions return."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mcp_sim.types import FailureRenderer, Json, Observation, Record, Tool, ToolResult, render_plain_failure
from mcp_sim.types.argument_descriptions import with_alternatives
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_nullable,
    main_type,
    properties,
    property_of,
    required,
)
from mcp_sim.types.json_values import indented
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.tools import WRAPPER

_GOOD, _BAD = terms("results.success"), terms("results.error")

TEXT_NAMES: Final = terms("results.text")
"""Names of the only property of a result, if it is a text for people."""

MESSAGE_NAMES: Final = TEXT_NAMES | terms("results.message")
"""Names of such a property that may hold a message about the call."""

_RETURNED = frozenset({"not_found", "conflict"})
"""The failures that functions return. Frameworks raise those of invalid arguments and of limits."""

_DATA_TYPES = frozenset({"object", "array"})
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

    Kinds of one record, which a property with constants tells apart, stay together: a call decides on the kind. Of an
    object or a list beside a text (`dict | str`), the text says what went wrong.
    """
    forms = _forms_of(schema)
    data = [form for form in forms if main_type(form) in _DATA_TYPES]
    others = [form for form in forms if form not in (*data, {"type": "null"})]
    if len(data) == 1 and others and others == _texts_among(forms):
        return data[0]
    good = [form for form in forms if not _is_failure(form)]
    if not good or not all(map(properties, forms)):
        return schema
    if not any(all(constants(property_of(form, name)) for form in good) for name in properties(good[0])):
        return good[0]
    return {**with_alternatives({"anyOf": good}), "type": "object", "anyOf": good} if len(good) > 1 else good[0]


def _forms_of(schema: Record) -> list[Record]:
    return [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(schema.get(word))]


def usual_failures(tool: Tool) -> FailureRenderer:
    """Return what renders the failures of a tool where nothing declares them: in its results, unless it raises them.

    A function that returns `dict | str` puts what is missing into the text, and one that returns `dict | None` returns
    null. So do most that return a text (7 of 9 recorded servers) or begin with a flag of success.
    """
    value = _failure_value(tool)
    if value is None:
        return render_plain_failure

    def render(kind: str, message: str, slots: Mapping[str, Json]) -> Observation:
        if kind not in _RETURNED:
            return render_plain_failure(kind, message, slots)
        return Observation(tool.shown(ToolResult(value(message), is_failure=True)))

    return render


def _failure_value(tool: Tool) -> Callable[[str], Record] | None:
    if tool.flagged:
        return lambda message: {"success": False, "error": message}
    parts = properties(expanded(tool.output_schema or {}))
    if [*parts] != [WRAPPER]:
        return None
    schema = parts[WRAPPER]
    if main_type(schema) == "string" and not tool.prose:
        return lambda message: {WRAPPER: indented({"error": message})}
    if main_type(schema) == "string" or (_texts_among(_forms_of(schema)) and main_type(_successful_form(schema))):
        return lambda message: {WRAPPER: message}
    return (lambda _message: {WRAPPER: None}) if main_type(schema) == "object" and is_nullable(schema) else None


def _texts_among(forms: Sequence[Record]) -> list[Record]:
    return [form for form in forms if main_type(form) == "string"]


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


def declares_data(tool: Tool) -> bool:
    """Whether the outputSchema declares an object or a list, not a text in a wrapper."""
    return tool.output_schema is not None and text_place(tool) is None


def mentions_data(description: str) -> bool:
    """Whether the description of a tool that works on records mentions data. Then its result is data."""
    return bool(_DATA.search(description))
