"""Read the tables of a program, a literal, as entities."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from keyword import iskeyword
from math import isfinite
from typing import Any, TypeAlias, cast

from mcp_sim.spec.messages import LARGEST_SHOWN, shown
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field, singleton_key
from mcp_sim.types.errors import Severity, did_you_mean
from mcp_sim.types.json_schema.validation import compiled

Note: TypeAlias = Callable[[int, str, str, Severity], None]
"""Notes a problem: line, path, message, severity."""

_KEYS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "key": ((str,), "the name of a field"),
    "ids": ((str, int), "an example id, a text or a whole number"),
    "fields": ((dict,), "a mapping from fields to defaults or JSON Schemas"),
    "links": ((dict,), "a mapping from fields to tables"),
    "hidden": ((list, tuple), "a list of fields"),
    "natural": ((bool,), "True or False"),
    "singleton": ((bool,), "True or False"),
}
"""Key of a table -> the types of its value, and what it is."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_RESERVED = frozenset({"now", "random", "caller", "each", "invent", "imagine", "changes"})
_MEANS_SCHEMA = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "default"})
"""A valid schema with one of these is a JSON Schema, and not a default."""
_SCHEMA_WORDS = _MEANS_SCHEMA | {
    "title", "description", "examples", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "items", "prefixItems", "minItems", "maxItems", "uniqueItems",
    "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
    "maxProperties", "not", "$defs", "$comment", "readOnly", "writeOnly", "deprecated", "nullable", "contentEncoding",
}  # fmt: skip
_AMBIGUOUS = _SCHEMA_WORDS - {"title", "description", "default", "required", "not", "minimum", "maximum"}
"""Who writes one of these may mean a JSON Schema."""

_TYPES: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


_MOST_ERRORS = 100
"""The most errors that are noted; then the tables are not read further. A table made by code repeats its mistake for
each field."""


_COMPUTED = (
    ast.Name, ast.Call, ast.BinOp, ast.JoinedStr, ast.Attribute, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
"""Expressions whose value is only known when they run."""


class TooManyProblems(Exception):
    """Raised when so many errors of tables are noted that the rest is not worth reading."""


def read_tables(node: ast.expr, note: Note) -> dict[str, Entity]:
    """Return the entities that the literal declares. Problems are noted at their lines.

    Raises `TooManyProblems`.
    """
    wrong = [
        (inner.lineno, why)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and (why := why_no_json(inner.value)) is not None
    ]
    for line, why in wrong[:_MOST_ERRORS]:
        note(line, "tables", f"must be JSON, but holds {why}", "error")
    if wrong:
        return {}
    try:
        declared = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        declared = None
    if not isinstance(declared, dict):
        line, what = _first_computed(node)
        message = f"must be a literal mapping, since the program is read without running it{what}"
        note(line, "tables", message, "error")
        return {}
    tables = {str(name): value for name, value in cast("dict[Any, Any]", declared).items()}
    noted = _Limited(note)
    return {name: _Table(name, node, noted).read(table, tables) for name, table in tables.items()}


def _first_computed(node: ast.expr) -> tuple[int, str]:
    """Return the line of the first part of an expression that is not a literal, and what it is."""
    for inner in ast.walk(node):
        if isinstance(inner, _COMPUTED):
            return getattr(inner, "lineno", node.lineno), f"; write the value of {ast.unparse(inner):.60}"
    return node.lineno, ""


def is_table_name(name: str) -> bool:
    """Whether a program can have a table of this name: `world.NAME` must be nothing else."""
    return name.isidentifier() and not iskeyword(name) and not name.startswith("_") and name not in _RESERVED


class _Limited:
    """Notes problems, up to a number of errors."""

    def __init__(self, note: Note) -> None:
        self._note, self._errors = note, 0

    def __call__(self, line: int, path: str, message: str, severity: Severity) -> None:
        self._note(line, path, message, severity)
        self._errors += severity == "error"
        if self._errors == _MOST_ERRORS:
            raise TooManyProblems


class _Table:
    """Reads one table."""

    def __init__(self, name: str, node: ast.expr, note: Note) -> None:
        self._name, self._node, self._note = name, node, note

    def read(self, value: Any, tables: Mapping[str, Any]) -> Entity:
        """Return the table as an entity. `tables`: all tables of the program."""
        name = self._name
        if not is_table_name(name):
            self._error((), "is not a name for a table: it must be a Python name, no keyword, no attribute of a world")
        body = self._body(value)
        fields, links = self._named(body, "fields"), self._named(body, "links")
        is_single, is_natural = body.get("singleton", False), body.get("natural", False)
        key = body.get("key", singleton_key(name, fields) if is_single else "id")
        is_declared = key in fields or is_single or (is_natural and key not in body.get("hidden", ()))
        if not is_declared:  # else another field could be taken for the key
            fields = {key: {"type": "integer" if isinstance(body.get("ids"), int) else "string"}, **fields}
        names = dict.fromkeys([*fields, *links])
        for field in body.get("hidden", ()):
            if not isinstance(field, str) or field not in names:
                self._error(("hidden",), f"unknown field {field!r:.60}{did_you_mean(str(field), names)}")
        hidden = [field for field in body.get("hidden", ()) if isinstance(field, str)]
        for field, target in links.items():
            if not isinstance(target, str) or target not in tables:
                self._error(
                    ("links", field), f"links to the unknown table {target!r:.60}{did_you_mean(str(target), tables)}"
                )
        schemas = {field: self._schema(field, fields.get(field, {"type": "string"})) for field in names}
        return Entity(
            name,
            key,
            body.get("ids"),
            {item: Field(item, schemas[item], links.get(item), hidden=item in hidden) for item in names},
            singleton=is_single,
            natural=is_natural,
        )

    def _body(self, item: Any) -> dict[str, Any]:
        """Return the keys of the table that have values of their types."""
        if not isinstance(item, dict):
            self._error((), f"must be a mapping with {', '.join(_KEYS)}, not {shown(item)}")
            return {}
        body: dict[str, Any] = {}
        for key, value in cast("dict[Any, Any]", item).items():
            if key not in _KEYS:
                self._error((key,), f"unknown key{did_you_mean(str(key), _KEYS)}")
                continue
            types, meaning = _KEYS[key]
            if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
                body[key] = value
            else:
                self._error((key,), f"must be {meaning}, not {_described(value)}{_HINTS.get(key, '')}")
        return body

    def _named(self, body: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return a mapping whose keys are names of fields."""
        given = cast("dict[Any, Any]", body.get(key, {}))
        for name in given:
            if not isinstance(name, str):
                self._error((key, name), f"the name of a field must be a text, not {_described(name)}")
        return {name: value for name, value in given.items() if isinstance(name, str)}

    def _schema(self, field: str, value: Any) -> Record:
        """Return the JSON Schema of a field, given as such or as a default."""
        at = ("fields", field)
        if (wrong := _no_json(value)) is not None:
            self._error(at, f"must be a default in JSON or a JSON Schema, but holds {wrong}")
            return {}
        if isinstance(value, dict) and (given := cast("Record", value)):
            why = _why_no_schema(given)
            if why is None:
                return given if given.keys() != {"default"} else _of_default(given["default"])
            if _AMBIGUOUS & given.keys():
                advice = 'write {"default": ...} around it if it is one'
                self._note(self._line(at), self._path(at), f"is taken for a default: {why}; {advice}", "warning")
        return _of_default(value)

    def _error(self, at: tuple[Any, ...], message: str) -> None:
        self._note(self._line(at), self._path(at), message, "error")

    def _path(self, at: tuple[Any, ...]) -> str:
        return ".".join(("tables", self._name, *map(str, at)))

    def _line(self, at: tuple[Any, ...]) -> int:
        """Return the line of a key of the table, or of the nearest one around it."""
        node, line = self._node, self._node.lineno
        for name in (self._name, *at):
            keys = node.keys if isinstance(node, ast.Dict) else ()
            number = next(
                (i for i, key in enumerate(keys) if isinstance(key, ast.Constant) and key.value == name), None
            )
            if number is None or not isinstance(node, ast.Dict):
                break
            node, line = node.values[number], cast("ast.Constant", node.keys[number]).lineno
        return line


_HINTS: Mapping[str, str] = {
    "ids": "; ids of another form follow the `pattern` in the JSON Schema of the key's field",
    "links": "; such as {'isbn': 'book'}",
}


def _why_no_schema(value: Record) -> str | None:
    """Return why a mapping is a default rather than a JSON Schema; None if it is a schema."""
    unknown = [word for word in value if word not in _SCHEMA_WORDS and not word.startswith("x-")]
    if unknown:
        return f"{unknown[0]!r} is not a keyword of JSON Schema{did_you_mean(unknown[0], _SCHEMA_WORDS)}"
    if not _MEANS_SCHEMA & value.keys():
        return "a JSON Schema of a field has a type, an enum, or a default"
    try:
        compiled(value)
    except ValueError as error:
        return f"as a JSON Schema it is not valid ({str(error)[:120]})"
    return None


def _of_default(value: Json) -> Record:
    kind = next((name for type_, name in _TYPES.items() if isinstance(value, type_)), None)
    if kind is None:  # None: any value, once there is one
        return {"type": [*dict.fromkeys(_TYPES.values()), "null"], "default": value}
    return {"type": kind, "default": [*value] if isinstance(value, tuple) else value}


def why_no_json(value: Any) -> str | None:
    """Return what a number or text is that no JSON text can have; None if it can."""
    if type(value) is int and value.bit_length() > LARGEST_SHOWN:
        return shown(value)
    if isinstance(value, float) and not isfinite(value):
        return "a number that is too large"
    if isinstance(value, str) and _SURROGATE.search(value):
        return f"half of a character, {value!r:.60}"
    return None


def _no_json(value: Any) -> str | None:
    """Return what part of a value is not JSON; None if all is."""
    if isinstance(value, dict):
        given = cast("dict[Any, Any]", value)
        names = (f"a key that is {_described(name)}" for name in given if not isinstance(name, str))
        return next(names, None) or next((wrong for item in given.values() if (wrong := _no_json(item))), None)
    if isinstance(value, list | tuple):
        return next((wrong for item in cast("list[Any]", value) if (wrong := _no_json(item))), None)
    return None if value is None or type(value) in _TYPES else _described(value)


def _described(value: Any) -> str:
    """Return a value with its Python type, if that is unusual in JSON."""
    kind = type(value).__name__
    return f"a {kind}, {value!r:.60}" if isinstance(value, set | frozenset | bytes | complex) else shown(value)
