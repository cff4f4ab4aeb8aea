"""Convert dialects to JSON Schema: OpenAPI 3.0, type names of Python or Java, and other regular expressions.

Patterns are rewritten for ECMAScript's Unicode mode, which JSON Schema means: clients that compile an outputSchema in
this mode refuse the whole list of tools for a single stray escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from mcp_sim.spec.foreign.files import shortened
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import dialect_of, modernised
from mcp_sim.types.json_schema.shapes import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_PARTS, as_list, as_object
from mcp_sim.types.json_schema.validation import enforceable

_LETTERED = r"u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}"
_TOKEN = re.compile(
    rf"(?P<escape>\\(?:{_LETTERED}|k<\w+>|.))"
    r"""
    |(?P<set>\[\^?(?:\\.|[^\]\\])*\])
    |(?P<group>\(\?(?:P?<(?=[A-Za-z_])|<[=!]|[:=!])?)
    |(?P<quantifier>[*+?]|\{\d+(?:,\d*)?\})(?P<suffix>[+?]?)
    |(?P<stray>[\]{}])
    |[^\\[]
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(rf"\\(?:{_LETTERED}|.)|-|[^\\-]+", re.DOTALL)
_NOT_A_SET = re.compile(r"\[\^?\]$|.*\[:\w+:", re.DOTALL)  # `[]a]`, which means two things, and `[[:alpha:]]`
_CLASSES = frozenset("dDwWsSpP")
_ESCAPES = frozenset("^$\\.*+?()[]{}|/dDwWsSbBfnrtv0123456789")
_LONG = frozenset("uxcpPk")
_ANCHORS = {"\\A": "^", "\\Z": "$", "\\z": "$"}


class _Foreign(Exception):
    """Raised for what ECMAScript cannot express."""


def for_ecmascript(pattern: str) -> str | None:
    """Return the pattern as ECMAScript compiles it in Unicode mode, None if it has no such form.

    Stray escapes (`\\@`) and braces are rewritten, also hyphens at classes (`[\\w-.]`), `\\A`, `\\Z` and `(?P<name>`.
    """
    try:
        form = _TOKEN.sub(_token, pattern)
    except _Foreign:
        return None
    return None if enforceable(form) is None else form  # such as a group that is not closed


def _token(match: re.Match[str]) -> str:
    text = match[0]
    match match.lastgroup:
        case "escape":
            return _ANCHORS.get(text) or _escape(text)
        case "set":
            return _set(text)
        case "group" if text == "(?":
            raise _Foreign  # flags, atomic groups, conditions
        case "group":
            return text.replace("P", "")
        case "suffix" if match["suffix"] == "+":
            raise _Foreign
        case "stray":
            return f"\\{text}"
        case _:
            return text


def _escape(text: str, others: str = "") -> str:
    """Return an escape, without its backslash if ECMAScript knows none for that sign."""
    if len(text) > 2 or text[1] in _ESCAPES or text[1] in others:
        return text
    if text[1] in _LONG or text[1].isalnum():
        raise _Foreign
    return text[1]


def _set(text: str) -> str:
    """Return a set of characters whose hyphens beside classes are escaped: these begin no range."""
    if _NOT_A_SET.match(text):
        raise _Foreign
    start = 2 if text.startswith("[^") else 1
    inner = _IN_SET.findall(text[start:-1])
    parts = list[str]()
    for at, piece in enumerate(inner):
        around = (inner[at - 1 : at] or [""])[0], (inner[at + 1 : at + 2] or [""])[0]
        is_beside = any(near[:1] == "\\" and near[1] in _CLASSES for near in around)
        plain = "\\-" if piece == "-" and is_beside else piece
        parts.append(_escape(plain, "-") if plain[0] == "\\" else plain)
    return f"{text[:start]}{''.join(parts)}]"


Doubt: TypeAlias = Callable[[str], None]
"""Takes a message about something that was not understood."""

TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_TYPES: Mapping[str, str | None] = {
    "str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string", "file": "string",
    "int": "integer", "long": "integer", "short": "integer", "bigint": "integer", "byte": "integer",
    "float": "number", "double": "number", "decimal": "number", "bool": "boolean",
    "dict": "object", "map": "object", "hashmap": "object", "struct": "object",
    "list": "array", "tuple": "array", "set": "array", "arraylist": "array",
    "none": "null", "nil": "null", "any": None, "mixed": None, "unknown": None,
}  # fmt: skip
"""Type names that JSON Schema does not have; None means any type."""

_TIMES = frozenset({"datetime", "date_time"})
"""Formats that documents give to texts with a `date-time`."""

_ONLY_OPENAPI = ("example", "xml", "externalDocs", "discriminator")


def to_json_schema(schema: Json, doubt: Doubt, path: str = "") -> Json:
    """Return the schema as JSON Schema. A value that is not a schema is returned unchanged."""
    if not isinstance(schema, dict):
        return schema
    body = _with_required(modernised(cast("Record", schema), dialect_of({})))
    body = {key: value for key, value in _with_nested(body, doubt, path).items() if key not in _ONLY_OPENAPI}
    body = _with_pattern(_with_values_of_type(_with_type(body, doubt, path)), doubt, path)
    if body.get("type") == "string" and str(body.get("format")).lower() in _TIMES:
        body["format"] = "date-time"
    return _with_null(body) if body.pop("nullable", False) is True else body


def _with_nested(body: Record, doubt: Doubt, path: str) -> Record:
    """Return the schema with its nested schemas converted."""
    inner: Record = {}
    for key, value in body.items():
        if key in SCHEMA_MAPS and isinstance(value, dict):
            inner[key] = {
                name: to_json_schema(inner_schema, doubt, f"{path}.{name}")
                for name, inner_schema in as_object(value).items()
            }
        elif key in SCHEMA_PARTS:
            inner[key] = to_json_schema(value, doubt, f"{path}.{key}")
        elif key in SCHEMA_LISTS and isinstance(value, list):
            inner[key] = [
                to_json_schema(inner_schema, doubt, f"{path}.{key}[{n}]")
                for n, inner_schema in enumerate(as_list(value))
            ]
        else:
            inner[key] = value
    return inner


def _with_required(body: Record) -> Record:
    """Return the schema with `required` as a list without duplicates; `required: true` of a property is added to it."""
    fields = as_object(body.get("properties"))
    flagged = [name for name, field in fields.items() if isinstance(as_object(field).get("required"), bool)]
    if not flagged and not as_list(body.get("required")):
        return {key: member for key, member in body.items() if key != "required"} if "required" in body else body
    demanded = [name for name in flagged if as_object(fields[name])["required"]]
    names = list(dict.fromkeys([*as_list(body.get("required")), *demanded]))
    plain = {name: {**as_object(fields[name])} for name in flagged}
    for field in plain.values():
        del field["required"]
    kept = {key: member for key, member in body.items() if key != "required"}
    return {**kept, **({"properties": {**fields, **plain}} if plain else {}), **({"required": names} if names else {})}


def _with_values_of_type(body: Record) -> Record:
    """Return the schema with its listed values once each, and of its type: YAML reads an unquoted `10` as a number."""
    changed: Record = {}
    if isinstance(body.get("enum"), list):
        values = [_of_type(value, body.get("type")) for value in as_list(body["enum"])]
        changed["enum"] = [*{json.dumps(value, sort_keys=True): value for value in values}.values()]
    changed |= {key: _of_type(body[key], body.get("type")) for key in ("default", "const") if key in body}
    merged = {**body, **changed}
    return {key: member for key, member in merged.items() if key != "enum"} if merged.get("enum") == [] else merged


def _of_type(value: Json, kind: Json) -> Json:
    if kind == "string" and isinstance(value, bool | int | float):
        return json.dumps(value)
    if kind in ("integer", "number") and isinstance(value, str):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
    return value


def _with_type(body: Record, doubt: Doubt, path: str) -> Record:
    if not isinstance(body.get("type"), str | list):
        return body
    declared: list[Json] = as_list(body["type"]) or [body["type"]]
    lower = [name.lower() if isinstance(name, str) else "" for name in declared]
    names = [name if name in TYPES else _TYPES.get(name) for name in lower]
    if None in names:
        unknown = next(name for name, known in zip(declared, names, strict=True) if known is None)
        if str(unknown).lower() not in _TYPES:
            where = path.removeprefix(".") or "the schema"
            doubt(f"{where}: unknown type {shortened(unknown)!r}; any value is accepted")
        return {key: value for key, value in body.items() if key != "type"}
    return {**body, "type": names if isinstance(body["type"], list) else names[0]}


def _with_pattern(body: Record, doubt: Doubt, path: str) -> Record:
    """Return the schema with its pattern as clients compile it, without the pattern if they cannot."""
    pattern = body.get("pattern")
    form = for_ecmascript(pattern) if isinstance(pattern, str) else None
    if form is not None or "pattern" not in body:
        return body if form is None else {**body, "pattern": form}
    where = path.removeprefix(".") or "the schema"
    doubt(f"{where}: the pattern {shortened(pattern)!r} is not one of JSON Schema, and is left out")
    return {key: value for key, value in body.items() if key != "pattern"}


def _with_null(body: Record) -> Record:
    """Let the schema accept null too."""
    if "type" not in body:
        return {"anyOf": [body, {"type": "null"}]} if body else body
    types: list[Json] = as_list(body["type"]) or [body["type"]]
    allowed = {"enum": [*as_list(body["enum"]), None]} if "enum" in body and None not in as_list(body["enum"]) else {}
    return {**body, "type": [*types, *([] if "null" in types else ["null"])], **allowed}
