"""Forms of results that descriptions show: `Returns {id, title, tags: [...]}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, islice

from mcp_sim.infer.result_kinds import field_schema
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.lexicon.english import snake

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
_TYPES = {
    "boolean": "true false bool boolean",
    "integer": "int integer n m count",
    "number": "float number decimal",
    "string": "str string text",
    "object": "dict object mapping",
    "array": "list array",
}
_TYPE_OF = {word: kind for kind, names in _TYPES.items() for word in names.split()}
_TYPE_WORDS = ("type", "anyOf", "items", "format")
_ALWAYS_SET = frozenset({"created_at", "updated_at", "modified_at"})
_MIN_NAMES = 2
"""Number of names from which a list of them is a form."""

_MAX_PLACES, _MAX_TOKENS, _MAX_DEPTH = 20, 5_000, 30
"""Limits for descriptions with many or very deep forms."""


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
    parts = {name: _with_types(as_object(part), arguments, name) for name, part in properties(schema).items()}
    items = {"items": _with_types(as_object(schema["items"]), arguments, name)} if "items" in schema else {}
    return {**schema, **({"properties": parts} if parts else {}), **items}


def _usual_type(name: str, arguments: Mapping[str, Record]) -> Record:
    ids = (part for other, part in arguments.items() if name == "id" and other.endswith("_id"))
    known = arguments.get(name) or next(ids, None)
    if known is not None:
        return {word: part for word, part in known.items() if word in _TYPE_WORDS}
    if name.endswith(("_at", "_date", "_time")) and name not in _ALWAYS_SET:
        return {"type": ["string", "null"], "format": "date-time"}
    return {word: part for word, part in field_schema(name).items() if word in _TYPE_WORDS}


def shown_result(description: str) -> Record | None:
    """Return the schema of the result that a description shows, or None. A part without a type is {}."""
    for found in islice(_SHOWN.finditer(description), _MAX_PLACES):
        schema = _FormParser(_tokens(description, found.end())).result()
        if schema is not None:
            return {"type": "array", "items": schema} if _is_listed(schema, found[0]) else schema
    return _listed_keys(description)


def _tokens(description: str, start: int) -> list[str]:
    """Return the tokens from a position on. Empty if they nest too deeply."""
    pieces = [found[0] for found in islice(_TOKEN.finditer(description, start), _MAX_TOKENS)]
    depths = accumulate((piece in {"{", "["}) - (piece in {"}", "]"}) for piece in pieces)
    return pieces if max(depths, default=0) <= _MAX_DEPTH else []


def _is_listed(schema: Record, before: str) -> bool:
    return schema["type"] == "object" and _LISTED.search(before) is not None


def _listed_keys(description: str) -> Record | None:
    """Return the schema of an object whose keys are listed in words: `a dict with id, done and text`."""
    for found in islice(_NAMED.finditer(description), _MAX_PLACES):
        listed = re.sub(r"\([^()]*\)", "", found["names"].partition(")")[0])
        names = [name.strip(" \n\t`'\"") for name in re.split(r",|\band\b", listed) if name.strip()]
        if len(names) >= _MIN_NAMES and all(map(_NAME.match, names)):
            schema: Record = {"type": "object", "properties": {name: {} for name in names}}
            return {"type": "array", "items": schema} if found["many"] else schema
    return None


@dataclass(slots=True)
class _FormParser:
    """Parser of one value as people write forms: unquoted names, types as values, dots for the rest."""

    pieces: list[str]
    at: int = 0

    def result(self) -> Record | None:
        """Return the schema of the value, or None for mere braces in a sentence."""
        schema = self._value()
        parts = properties(as_object(schema["items"]) if schema and "items" in schema else schema or {})
        is_form = len(parts) >= _MIN_NAMES or (parts and ":" in self.pieces[: self.at])
        return schema if is_form and "}" in self.pieces else None

    def _value(self) -> Record | None:
        piece = self._next()
        if piece == "{":
            return self._object()
        if piece == "[":
            return {"type": "array", **self._items()}
        if piece[:1] in {'"', "'", "<"}:
            return {"type": "string"}
        if piece.lstrip("-").replace(".", "", 1).isdigit():
            return {"type": "number" if "." in piece else "integer"}
        kind = _TYPE_OF.get(piece.lower())
        if kind == "array" and self._peek() == "[":
            self._next()
            return {"type": "array", **self._items()}
        return {"type": kind} if kind is not None else {}

    def _object(self) -> Record | None:
        """Return the schema of an object in braces. None if they hold anything but names and values."""
        parts: Record = {}
        while (piece := self._next()) not in {"}", ""}:
            if piece in {",", "...", "…"}:
                continue
            name = piece.strip("\"'`")
            if not _NAME.match(name):
                return None
            part: Record | None = {}
            if self._peek() == ":":
                self._next()
                part = self._value()
            if part is None:
                return None
            parts[name] = part
            self._pass("}")
        return {"type": "object", **({"properties": parts} if parts else {})} if piece else None

    def _items(self) -> Record:
        """Return the schema of a list by its first item."""
        if self._peek() in {"]", "...", "…"}:
            self._pass("]")
            self._next()
            return {"items": {"type": "object"}}
        is_name = self._peek().lower() not in _TYPE_OF and _NAME.match(self._peek()) is not None
        inner = {"type": "object"} if is_name else self._value() or {}
        while self._peek() not in {"]", ""}:
            self._next()
            self._pass("]")
        self._next()
        return {"items": inner}

    def _pass(self, end: str) -> None:
        """Skip to the next comma or to the closing token. Nested braces are skipped as a whole."""
        depth = 0
        while (piece := self._peek()) and (depth or piece not in {",", end}):
            depth += (piece in {"{", "["}) - (piece in {"}", "]"})
            self.at += 1

    def _peek(self) -> str:
        return self.pieces[self.at] if self.at < len(self.pieces) else ""

    def _next(self) -> str:
        piece = self._peek()
        self.at += 1
        return piece
