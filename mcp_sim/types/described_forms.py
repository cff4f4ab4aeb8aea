"""Forms of results (`Returns {id, title, tags: [...]}`) and choices of arguments that descriptions show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object, constants, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import by_word
from mcp_sim.types.record_kinds.usual_fields import field_schema

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
