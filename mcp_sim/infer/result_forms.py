"""Forms of results that descriptions show: `Returns {id, title, tags: [...]}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from mcp_sim.infer.result_kinds import field_schema
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import by_word, terms

_RETURNS = r"\breturn(?:s|ed|ing)?\b(?:(?!\n\s*\n|\b(?:args|raises|example)s?:)[^{}\[\]]){0,120}?"
_SHOWN = re.compile(_RETURNS + r"(?=[{\[])", re.IGNORECASE)
_LISTED = re.compile(r"\b(?:lists?|arrays?)\b[^{}\[\]]*$", re.IGNORECASE)
_NAMED = re.compile(
    _RETURNS
    + r"\b(?:dict|dictionary|json(?: object)?|object|mapping)(?P<many>s|ies)?\b,?\s+(?:with|containing|of|including)\s+"
    r"(?:the\s+|these\s+)?(?:following\s+)?(?:keys|fields|properties)?:?\s*(?P<names>[^.{}\[\]:;]+)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|<[^>]*>|\.\.\.|…|[{}\[\],:|]|[^\s{}\[\],:|\"'`<>]+")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_DOTS = ("...", "…")
_TYPE_OF = by_word("results.type")
_TYPE_WORDS = ("type", "anyOf", "items", "format")
_ALWAYS_SET = terms("fields.always_set")
_MIN_NAMES = 2
"""Number of names from which a list of them is a form."""

_MAX_PLACES, _MAX_TOKENS, _MAX_DEPTH = 20, 5_000, 30
"""Limits for descriptions with many or very deep forms."""

_Form: TypeAlias = "list[str | _Form]"
"""The tokens from an opening brace or bracket to the closing one, with inner forms as lists."""


def shown_form(description: str, arguments: Mapping[str, Record]) -> Record | None:
    """Return the schema of the result that a description shows, with types, or None.

    Fields without a type get that of the argument of the same name, or a usual one. `arguments` are those of all tools
    of the server by their snake-case name.
    """
    schema = shown_result(description)
    return None if schema is None else _with_types(schema, arguments)


def _with_types(schema: Record, arguments: Mapping[str, Record], name: str = "") -> Record:
    if not schema:
        return _usual_type(snake(name), arguments)
    parts = {name: _with_types(part, arguments, name) for name, part in properties(schema).items()}
    items = {"items": _with_types(as_object(schema["items"]), arguments, name)} if "items" in schema else {}
    return {**schema, **({"properties": parts} if parts else {}), **items}


def _usual_type(name: str, arguments: Mapping[str, Record]) -> Record:
    ids = (part for other, part in arguments.items() if name == "id" and other.endswith("_id"))
    known = arguments.get(name) or next(ids, None)
    if known is None and name.endswith(("_at", "_date", "_time")) and name not in _ALWAYS_SET:
        return {"type": ["string", "null"], "format": "date-time"}
    return {word: part for word, part in (known or field_schema(name)).items() if word in _TYPE_WORDS}


def shown_result(description: str) -> Record | None:
    """Return the schema of the result that a description shows, or None. A part without a type is {}."""
    for found in islice(_SHOWN.finditer(description), _MAX_PLACES):
        form = _read_form(description, found.end())
        schema = _value([form]) if form and _has_names(form) else None
        if schema is not None:
            return _repeated(schema, schema["type"] == "object" and _LISTED.search(found[0]) is not None)
    for found in islice(_NAMED.finditer(description), _MAX_PLACES):
        listed = re.sub(r"\([^()]*\)", "", found["names"].partition(")")[0])
        names = [name.strip(" \n\t`'\"") for name in re.split(r",|\band\b", listed) if name.strip()]
        if len(names) >= _MIN_NAMES and all(map(_NAME.match, names)):
            return _repeated({"type": "object", "properties": {name: {} for name in names}}, bool(found["many"]))
    return None


def _repeated(schema: Record, many: bool) -> Record:
    return {"type": "array", "items": schema} if many else schema


def _read_form(description: str, start: int) -> _Form | None:
    """Return the form that begins at a position. None if it does not end, or nests too deeply."""
    open_forms: list[_Form] = []
    for found in islice(_TOKEN.finditer(description, start), _MAX_TOKENS):
        if found[0] in "{[":
            open_forms.append([found[0]])
        elif found[0] not in "}]":
            open_forms[-1].append(found[0])
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
    part: _Form = []
    for piece in (*form[1:], ","):
        if piece == ",":
            yield from [part] if part else []
            part = []
        elif piece not in _DOTS:
            part.append(piece)


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
        part = _value(rest[1:]) if rest[:1] == [":"] else {}
        if not _NAME.match(name) or part is None:
            return None
        parts[name] = part
    return {"type": "object", **({"properties": parts} if parts else {})}


def _array(form: _Form) -> Record:
    """Return the schema of a list by its first item."""
    first = next(_split(form), None)
    word = first[0] if first and isinstance(first[0], str) else ""
    is_name = word.lower() not in _TYPE_OF and _NAME.match(word) is not None
    return {"type": "array", "items": _value(first) or {} if first and not is_name else {"type": "object"}}
