"""Results that outputSchemas declare or descriptions show (`Returns {id, title}`), and failures that are returned."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal, TypeAlias

from mcp_sim.types import FailureRenderer, Json, Observation, Record, Tool, ToolResult, render_plain_failure
from mcp_sim.types.argument_descriptions import with_alternatives
from mcp_sim.types.initial_values import failures_named, least_value, without_failed_states
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_nullable,
    is_open,
    main_type,
    map_of,
    properties,
    property_of,
    required,
)
from mcp_sim.types.json_values import NOWHERE, indented
from mcp_sim.types.lexicon.english import is_id, snake, words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.record_kinds.usual_fields import field_schema
from mcp_sim.types.tools import WRAPPER

_RETURNS = r"\breturn(?:s|ed|ing)?\b(?:(?!\n\s*\n|\b(?:args|raises|example)s?:)[^{}\[\]]){0,120}?"
_SHOWN = re.compile(_RETURNS + r"(?=[{\[])", re.IGNORECASE)
_LISTED = re.compile(r"\b(?:lists?|arrays?)\b[^{}\[\]]*$", re.IGNORECASE)
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|<[^>]*>|\.\.\.|…|[{}\[\],:|]|[^\s{}\[\],:|\"'`<>]+")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_DOTS = ("...", "…")
_TYPE_OF = by_word("results.type")
_MIN_NAMES = 2
"""Number of names from which a list of them is a form. A single name in braces is more often a placeholder in a
text."""

_MAX_PLACES, _MAX_TOKENS, _MAX_DEPTH = 20, 5_000, 30
"""Limits for descriptions with many or very deep forms. Descriptions come from strangers, and forms in forms take
quadratic time."""

_Form: TypeAlias = "list[str | _Form]"
"""The tokens from an opening brace or bracket to the closing one, with inner forms as lists."""


_ANNOUNCED = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*+(?:Literal)?[\[(]?"
    r"((?:\s*+(?:,\s*+(?:or|and)?|or|and)?\s*+[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_PIPED = re.compile(r"^\s*+((?:[\"'`][^\"'`]{1,40}[\"'`]\s*+\|\s*+)+[\"'`][^\"'`]{1,40}[\"'`])")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")


def shown_form(description: str) -> Record:
    """Return the schema of the result that a description shows, with usual types of fields without one, or {}."""
    return _with_types(shown_result(description) or {})


def _with_types(schema: Record) -> Record:
    parts = {
        name: _with_types(subschema) or field_schema(snake(name)) for name, subschema in properties(schema).items()
    }
    items = {"items": _with_types(as_object(schema["items"]))} if "items" in schema else {}
    return {**schema, **({"properties": parts} if parts else {}), **items}


def shown_result(description: str) -> Record | None:
    """Return the schema of the result that a description shows, or None. A part without a type is {}."""
    for match in islice(_SHOWN.finditer(description), _MAX_PLACES):
        form = _read_form(description, match.end())
        schema = _value([form]) if form and _has_names(form) else None
        if schema is not None:
            is_listed = schema["type"] == "object" and _LISTED.search(match[0]) is not None
            return {"type": "array", "items": schema} if is_listed else schema
    return None


def _read_form(description: str, start: int) -> _Form | None:
    """Return the form that begins at a position. None if it does not end, or nests too deeply."""
    open_forms: list[_Form] = []
    for match in islice(_TOKEN.finditer(description, start), _MAX_TOKENS):
        if match[0] in "{[":
            open_forms.append([match[0]])
        elif match[0] not in "}]":
            open_forms[-1].append(match[0])
        elif len(open_forms) > 1:
            open_forms[-2].append(open_forms.pop())
        else:
            return open_forms[0]
        if len(open_forms) > _MAX_DEPTH:
            break
    return None


def _has_names(form: _Form) -> bool:
    """Whether a form holds names of fields, not only a word in braces."""
    inner = form[1] if form[0] == "[" and len(form) > 1 else form
    parts = [*_split(inner)] if isinstance(inner, list) and inner[0] == "{" else []
    return len(parts) >= _MIN_NAMES or (bool(parts) and ":" in inner)


def _split(form: _Form) -> Iterator[_Form]:
    """Yield the parts of a form between commas, without dots for the rest."""
    current: _Form = []
    for piece in (*form[1:], ","):
        if piece == ",":
            yield from [current] if current else []
            current = []
        elif piece not in _DOTS:
            current.append(piece)


def _value(pieces: _Form) -> Record | None:
    """Return the schema of a value as people write it, {} if it says nothing, None for mere braces in a sentence."""
    first = pieces[0] if pieces else ""
    if isinstance(first, list):
        return _object(first) if first[0] == "{" else _array(first)
    if first[:1] in {'"', "'", "<"}:
        return {"type": "string"}
    if first.lstrip("-").replace(".", "", 1).isdigit():
        return {"type": "number" if "." in first else "integer"}
    kind, inner = _TYPE_OF.get(first.lower()), pieces[1] if len(pieces) > 1 else ""
    if kind == "array" and isinstance(inner, list) and inner[0] == "[":
        return _array(inner)
    return {"type": kind} if kind is not None else {}


def _object(form: _Form) -> Record | None:
    """Return the schema of an object in braces. None if they hold anything but names and values."""
    parts: Record = {}
    for first, *rest in _split(form):
        name = first.strip("\"'`") if isinstance(first, str) else ""
        inner = _value(rest[1:]) if rest[:1] == [":"] else {}
        if not _NAME.match(name) or inner is None:
            return None
        parts[name] = inner
    return {"type": "object", **({"properties": parts} if parts else {})}


def _array(form: _Form) -> Record:
    """Return the schema of a list by its first item."""
    first = next(_split(form), None)
    word = first[0] if first and isinstance(first[0], str) else ""
    is_name = word.lower() not in _TYPE_OF and _NAME.match(word) is not None
    return {"type": "array", "items": _value(first) or {} if first and not is_name else {"type": "object"}}


def choices_of(schema: Record) -> list[Json]:
    """Return the values of an enum, or those in quotes that the description lists: `one of "open", "done"`."""
    listed, about = constants(schema), str(schema.get("description", ""))
    match = None if listed else _PIPED.match(about) or _ANNOUNCED.search(about)
    return [*dict.fromkeys(_QUOTED.findall(match[1]))] if match else listed


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

    Kinds of one record, which differ in a property with constants, stay together: a call decides on the kind. Of an
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
    null. So do most that return a text (7 of 9 recorded servers). One that returns any mapping returns an `error`: so
    do two of three servers.
    """
    value = _failure_value(tool)
    is_text = tool.output_schema is None and documented_form(tool.description) in {"text", "confirmation"}
    if value is None and not is_text:
        return render_plain_failure

    def render(kind: str, message: str, slots: Mapping[str, Json]) -> Observation:
        if kind not in _RETURNED:
            return render_plain_failure(kind, message, slots)
        if value is None:
            return Observation(ToolResult(message, form="text", is_failure=True))
        return Observation(tool.shown(ToolResult(value(message), is_failure=True)))

    return render


def _failure_value(tool: Tool) -> Callable[[str], Record] | None:
    declared = expanded(tool.output_schema or {})
    if tool.output_schema is not None and main_type(declared) == "object" and is_open(declared):
        return lambda message: {"error": message}
    parts = properties(declared)
    if [*parts] != [WRAPPER]:
        return None
    schema = parts[WRAPPER]
    if value_types(schema) == {"boolean", "string"}:
        return lambda message: {WRAPPER: {"success": False, "message": message}}
    if main_type(schema) == "string" and not tool.prose:
        return lambda message: {WRAPPER: indented({"error": message})}
    if main_type(schema) == "string" or (_texts_among(_forms_of(schema)) and main_type(_successful_form(schema))):
        return lambda message: {WRAPPER: message}
    return (lambda _message: {WRAPPER: None}) if main_type(schema) == "object" and is_nullable(schema) else None


def value_types(schema: Record) -> set[str]:
    """Return the types of the values of a mapping without declared names."""
    values = map_of(schema)
    return {main_type(form) for form in _forms_of(values)} or {main_type(values)}


def _texts_among(forms: Sequence[Record]) -> list[Record]:
    return [form for form in forms if main_type(form) == "string"]


def _is_failure(form: Record) -> bool:
    if any(snake(name) in _GOOD and constants(schema) == [False] for name, schema in properties(form).items()):
        return True
    if {*map(snake, properties(form))} <= _BAD:
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


_FOUND_GOOD = frozenset({"valid", "is_valid", "passed", "success", "ok"})


def without_failures(schema: Record, tool: Container[str]) -> Record:
    """Return the schema of a result in which no failure is invented, for a tool with these words in its name.

    Places that report failures are empty, and a choice of states is one of the others. What a tool such as
    `list_errors` is asked for stays.
    """
    parts, finds_nothing = Record(), False
    for name, inner in properties(schema).items():
        failing, least = failures_named(name, inner), least_value(inner)
        if not failing or least is NOWHERE or any(word in tool for word in failing):
            parts[name] = without_failures(inner, tool) if properties(inner) else without_failed_states(inner)
        elif name in required(schema) or main_type(inner) != "object":
            parts[name] = {"const": least}
            finds_nothing |= least == []
    if finds_nothing:  # a check without errors succeeds
        flags = [name for name, inner in parts.items() if snake(name) in _FOUND_GOOD and main_type(inner) == "boolean"]
        parts |= {name: {"const": True} for name in flags if not constants(parts[name])}
    return {**schema, "properties": parts} if parts else schema


def text_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a text. Frameworks declare any text so."""
    parts = [*properties(result_schema(tool)).items()]
    return parts[0][0] if len(parts) == 1 and main_type(parts[0][1]) == "string" else None


def key_place(tool: Tool) -> str | None:
    """Return the only property of an outputSchema if it is a whole number: where a create returns the new id."""
    parts = [*properties(result_schema(tool)).items()] if tool.output_schema is not None else []
    is_key = len(parts) == 1 and main_type(parts[0][1]) == "integer"
    return parts[0][0] if is_key and (parts[0][0] == WRAPPER or is_id(snake(parts[0][0]))) else None


def declares_data(tool: Tool) -> bool:
    """Whether the outputSchema declares an object or a list, not a text in a wrapper."""
    return tool.output_schema is not None and text_place(tool) is None


def mentions_data(description: str) -> bool:
    """Whether the description of a tool that works on records mentions data. Then its result is data."""
    return bool(_DATA.search(description))


_DOCSTRING = re.compile(
    r"^[ \t]*(?:returns?[ \t]*\n[ \t]*-{3,}[ \t]*\n[ \t]*(?:(\w+)[ \t]*:[ \t]*)?"
    r"|returns?:[ \t]*\n[ \t]*(?=\w+(?:\[[^\n]*\])?:)|:rtype:[ \t]*)(\w+)(.*(?:\n[ \t]*[^\s>].*)*)",
    re.IGNORECASE | re.MULTILINE,
)
"""The type of a result in a docstring, in the style of NumPy, Google or Sphinx, its name and what is said about it."""
_TEXT_TYPES = frozenset({"str", "string"})
_DATA_TYPES_OF_PYTHON = frozenset({"dict", "list", "tuple", "mapping", "sequence", "object"})
_FLAG_TYPES = frozenset({"bool", "boolean"})
_FLAG = re.compile(r"\breturns?:? (?:a boolean|true|false)\b", re.IGNORECASE)
_CONFIRMATION = re.compile(r"\b(?:confirmation|message)\b", re.IGNORECASE)


def documented_form(description: str) -> Literal["text", "confirmation", "data", "flag"] | None:
    """Return what a docstring says that the function returns: a text, one that confirms what was done, data, a boolean.

    A sentence may say the latter: "Returns true or false".
    """
    match = _DOCSTRING.search(description)
    kind, about = ("", "") if match is None else (match[2].lower(), f"{match[1] or ''} {match[3]}")
    if kind in _TEXT_TYPES and not mentions_data(about):
        return "confirmation" if _CONFIRMATION.search(about) else "text"
    if kind in _FLAG_TYPES or (not kind and _FLAG.search(description)):
        return "flag"
    return "data" if kind in _TEXT_TYPES | _DATA_TYPES_OF_PYTHON else None
