"""Derive the schema that an engine enforces from the schema that a value must satisfy.

Engines reject some keywords and ignore others, and a weak model never ends whatever has no bound. The derived schema
has bounds everywhere and only keywords that every engine enforces. Values that are valid under it are nearly always
valid under the original, which still validates them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import cast

from mcp_sim.types import Json, Record, as_object, frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.merge import NEVER, merge_schemas
from mcp_sim.types.json_values import is_number

MAX_NUMBER = 1_000_000  # without a bound a model may write digits until its tokens run out
LARGEST = 2**53 - 1  # the largest integer that every JSON parser reads exactly
MAX_CHOICES = 100  # each is a branch of the grammar, which an engine compiles before it answers
MAX_NODES = 4_000  # maximum number of nodes of a tightened schema; optional parts beyond it are left out
MAX_DEPTH = 10  # definitions that refer to themselves have no end
IMPOSSIBLE: Record = {"type": "object", "properties": {}, "additionalProperties": False}
"""Replaces a schema that no small value satisfies."""

_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_TEXTUAL = frozenset({"pattern", "format", "minLength", "maxLength"})
_BY_KEYWORD: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"properties", "required", "additionalProperties", "patternProperties", "minProperties"}), "object"),
    (frozenset({"items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"}), "array"),
    (_NUMERIC, "number"),
    (_TEXTUAL, "string"),
)


@frozen
class Bounds:
    """How long a reply may be: its texts in characters, its lists in items.

    `is_open`: undeclared properties and values of undeclared types stay allowed, and numbers unbounded.
    """

    text: int = 300
    items: int = 8
    is_open: bool = False


CLOSED = Bounds()  # for parts of a reply, and for weak models


def tighten(schema: Json, bounds: Bounds = CLOSED) -> Record:
    """Return the bounded schema for any JSON Schema."""
    return (None if schema is False else _Tightening(bounds).narrowed(expanded(schema))) or IMPOSSIBLE


def whole_schema(value: Record, bounds: Bounds) -> Record:
    """Return the schema of a whole observation: the value itself, an error, or a result in the form of the protocol."""
    text: Record = {"type": "string", "maxLength": bounds.text}
    block = _closed({"type": {"const": "text"}, "text": text})
    result = _closed(
        {
            "content": {"type": "array", "items": block, "maxItems": bounds.items},
            "structuredContent": value,
            "isError": {"type": "boolean"},
        }
    )
    rpc = _closed({"code": {"type": "integer", "minimum": -32_768, "maximum": -32_000}, "message": text})
    return {"anyOf": [value, _closed({"isError": {"const": True}, "text": text}), _closed({"error": rpc}), result]}


def _closed(parts: Record) -> Record:
    """Return the schema of an object with exactly these properties."""
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


class _Tightening:
    """The state of one derivation: how many nodes may still be made."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.left = MAX_NODES

    def narrowed(self, schema: Json, depth: int = 0) -> Record | None:
        """Return the bounded form of an expanded part, or None if no small value satisfies it."""
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH or schema in (False, {"not": {}}):
            return None
        if self.bounds.is_open and schema in (True, {}):
            return {}
        if not isinstance(schema, dict):
            return self._text({})
        body = as_object(merge_schemas(schema, {}))
        if body == NEVER:
            return None
        if "const" in body or "enum" in body:
            return {"const": body["const"]} if "const" in body else {"enum": body["enum"]}
        branches = _branches(body)
        if branches is None:
            return self._typed(body, depth)
        kept = [branch for branch in (self.narrowed(branch, depth + 1) for branch in branches) if branch is not None]
        return {"anyOf": kept} if len(kept) > 1 else next(iter(kept), None)

    def _typed(self, body: Record, depth: int) -> Record | None:
        # An untyped schema has the type that its keywords apply to, or None without such keywords.
        named = body.get("type") or next((name for keywords, name in _BY_KEYWORD if keywords & body.keys()), None)
        if named is None and self.bounds.is_open:
            return {}
        if named in ("integer", "number") and self.bounds.is_open and not _NUMERIC & body.keys():
            return {"type": named, "minimum": -LARGEST, "maximum": LARGEST}
        if named in ("object", "array"):
            return (self._object if named == "object" else self._array)(body, depth)
        return _PLAIN.get(str(named), self._text)(body)

    def _text(self, body: Record) -> Record:
        """Return a string schema with a maximum length or a bounded pattern: engines reject the two together."""
        pattern = body.get("pattern")
        narrowed = bounded(pattern) if isinstance(pattern, str) else FORMATS.get(str(body.get("format")))
        if narrowed is not None:
            return {"type": "string", "pattern": narrowed}
        least = int(body.get("minLength", 0))
        most = max(least, min(int(body.get("maxLength", self.bounds.text)), self.bounds.text))
        return {"type": "string", **({"minLength": least} if least else {}), "maxLength": most}

    def _object(self, body: Record, depth: int) -> Record | None:
        other: Json = body.get("additionalProperties", {})
        names = dict.fromkeys(name for name in body.get("required") or () if isinstance(name, str))
        for needed in cast("Record", body.get("dependentRequired") or {}).values():
            names.update(dict.fromkeys(needed))
        required = list(names)
        narrowed = self._properties(body, required, other, depth)
        if not narrowed.keys() >= {*required}:
            return None
        if int(body.get("minProperties", 0)) > len(required):
            required = self._filled(body, narrowed, other, depth)
        if int(body.get("maxProperties", len(narrowed))) < len(narrowed):
            narrowed = {name: narrowed[name] for name in narrowed if name in required}
        return {
            "type": "object",
            "properties": narrowed,
            "required": [name for name in narrowed if name in required],
            "additionalProperties": self.bounds.is_open and other is not False and "maxProperties" not in body,
        }

    def _properties(self, body: Record, required: Iterable[str], other: Json, depth: int) -> Record:
        """Return the declared and the required properties, up to a required one that no small value satisfies."""
        declared = cast("Record", body.get("properties") or {})
        narrowed_properties: Record = {}
        for name in dict.fromkeys((*declared, *required)):
            narrowed = self.narrowed(declared.get(name, other), depth + 1)
            if narrowed is not None:
                narrowed_properties[name] = narrowed
            elif name in required:
                break
        return narrowed_properties

    def _filled(self, body: Record, narrowed_properties: Record, other: Json, depth: int) -> list[str]:
        """Require every property, and add generated names up to `minProperties`."""
        narrowed = self.narrowed(other, depth + 1)
        while narrowed is not None and len(narrowed_properties) < min(int(body["minProperties"]), self.bounds.items):
            narrowed_properties[f"item_{len(narrowed_properties) + 1}"] = narrowed
        return list(narrowed_properties)

    def _array(self, body: Record, depth: int) -> Record | None:
        if isinstance(body.get("prefixItems"), list) and body["prefixItems"]:
            schemas = [self.narrowed(item, depth + 1) for item in body["prefixItems"]]
            size = len(schemas)
            tightened = {"type": "array", "prefixItems": schemas, "items": False, "minItems": size, "maxItems": size}
            return None if None in schemas else tightened
        least = max(int(body.get("minItems", 0)), 1 if "contains" in body else 0)
        unique = 1 if body.get("uniqueItems") and not self.bounds.is_open else self.bounds.items
        most = max(least, min(int(body.get("maxItems", self.bounds.items)), unique))
        item = merge_schemas(body.get("items", {}), body["contains"]) if "contains" in body else body.get("items", {})
        narrowed = self.narrowed(item, depth + 1) if most else None
        if narrowed is None:
            return None if least else {"const": []}
        return {"type": "array", "items": narrowed, "minItems": least, "maxItems": most}


def _integer(body: Record) -> Record | None:
    low, high = _range(body)
    low, high = math.ceil(low), math.floor(high)
    low += low == body.get("exclusiveMinimum")
    high -= high == body.get("exclusiveMaximum")
    if low > high:
        return None
    step = body.get("multipleOf")
    if step is None or (isinstance(step, int | float) and float(1 / step).is_integer()):
        return {"type": "integer", "minimum": low, "maximum": high}
    # The first multiples in a range are choices: not every engine enforces `multipleOf`.
    first = math.ceil(low / step)
    count = min(MAX_CHOICES, math.floor(high / step) - first + 1)
    return {"enum": [step * (first + at) for at in range(count)]} if count > 0 else None


def _number(body: Record) -> Record | None:
    step = body.get("multipleOf")
    if isinstance(step, int | float):
        return _integer(body)  # a whole number is a multiple of 0.01, of 0.5 and of 1
    low, high = _range(body)
    inset = (high - low) / 1_000
    low += inset if low == body.get("exclusiveMinimum") else 0
    high -= inset if high == body.get("exclusiveMaximum") else 0
    return {"type": "number", "minimum": low, "maximum": high} if low <= high else None


def _range(body: Record) -> tuple[float, float]:
    """Return the bounds of a number. A missing one is set at a limited distance from the other."""
    lows = [body[name] for name in ("minimum", "exclusiveMinimum") if is_number(body.get(name))]
    highs = [body[name] for name in ("maximum", "exclusiveMaximum") if is_number(body.get(name))]
    if lows:
        low = max(lows)
        return low, min(highs, default=low + MAX_NUMBER)
    high = min(highs, default=MAX_NUMBER)
    return (0 if high >= 0 else high - MAX_NUMBER), high


def _branches(body: Record) -> list[Json] | None:
    """Return the alternatives of a schema, each merged with the keywords beside them, or None."""
    for keyword in ("anyOf", "oneOf"):
        if keyword in body:
            rest = {name: value for name, value in body.items() if name != keyword}
            return [merge_schemas(rest, branch) for branch in body[keyword]]
    left = [branch for branch in body.get("allOf", ()) if "anyOf" in branch or "oneOf" in branch]
    if left:  # a schema has one list of alternatives: those of other parts follow
        return [reduce(merge_schemas, left, {name: value for name, value in body.items() if name != "allOf"})]
    types: Json = body.get("type")
    return [{**body, "type": kind} for kind in cast("list[Json]", types)] if isinstance(types, list) else None


_PLAIN: Mapping[str, Callable[[Record], Record | None]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda _: {"type": "boolean"},
    "null": lambda _: {"type": "null"},
}
"""Bounds the schemas of types without parts, except texts."""


# patterns -------------------------------------------------------------------------------------------------------------


MAX_REPEATS = 24  # a grammar must not let a model repeat a character until its tokens run out
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?:[*+]|\{\d+(?:,\d*)?\})\??|\(\?.?|.", re.DOTALL)
_REPEAT = re.compile(r"\{(\d+)(,)?(\d*)\}\??")
_CLASSES = frozenset({".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S"})
_PRINTABLE = [code for code in range(32, 127) if chr(code) not in '"\\']
_PLAIN_ESCAPES = frozenset(r".-+*?/\()[]{}|^$@_:,#&=%!~<>;'\" ")

_DATE = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
FORMATS = {
    "date": f"^{_DATE}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "time": f"^{_TIME}$",
    "email": r"^[a-z][a-z0-9]{0,15}([._][a-z0-9]{1,15})?@[a-z][a-z0-9-]{0,20}[a-z0-9]\.[a-z]{2,6}$",
    "hostname": r"^[a-z][a-z0-9]{0,20}(\.[a-z][a-z0-9]{0,20})?\.[a-z]{2,6}$",
    "ipv4": r"^(1[0-9]{2}|[1-9][0-9]|[1-9])(\.(1[0-9]{2}|[1-9][0-9]|[0-9])){3}$",
    "uri": r"^https://[a-z][a-z0-9]{0,20}\.[a-z]{2,6}(/[a-z0-9_-]{1,20}){0,3}$",
    "uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
}
"""The pattern that each string format is narrowed to."""
FORMATS["url"] = FORMATS["uri"]


def bounded(pattern: str) -> str | None:
    """Return an anchored pattern without unbounded repetition that matches some of the same strings, or None."""
    body = pattern.removeprefix("^")
    if body.endswith("$") and not body.endswith("\\$"):
        body = body[:-1]
    pieces = [_bounded_piece(piece) for piece in _PIECE.findall(body)]
    if None in pieces:
        return None
    narrowed = f"^({''.join(piece for piece in pieces if piece)})$"
    try:
        re.compile(narrowed)
    except (re.error, OverflowError, RecursionError):
        return None
    return narrowed


def _bounded_piece(piece: str) -> str | None:
    """Return one piece of a pattern with its repetition bounded; None if engines do not support it."""
    if piece in ("+", "+?"):
        return f"{{1,{MAX_REPEATS}}}"
    if piece in ("*", "*?"):
        return f"{{0,{MAX_REPEATS}}}"
    if piece in "^$":
        return None  # an inner anchor: alternatives such as ^a|b$ have another meaning in parentheses
    if piece.startswith("(?"):
        return "(" if piece == "(?:" else None
    if piece.startswith("[") or piece in _CLASSES:
        return _ascii_class(piece)
    if piece.startswith("\\"):
        return piece if piece[1] in _PLAIN_ESCAPES else None
    repeat = _REPEAT.fullmatch(piece)
    if repeat is None:
        return piece
    least = int(repeat[1])
    most = int(repeat[3]) if repeat[3] else max(MAX_REPEATS, least)
    return f"{{{least},{max(least, min(most, MAX_REPEATS))}}}" if repeat[2] else f"{{{least}}}"


def _ascii_class(piece: str) -> str | None:
    """Return the characters of a class that all engines agree on: printable ASCII without quote and backslash."""
    try:
        allowed = [code for code in _PRINTABLE if re.fullmatch(piece, chr(code))]
    except re.error:
        return None
    runs = [(code, code) for code in allowed[:1]]
    for code in allowed[1:]:
        if code == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return f"[{''.join(_run(first, last) for first, last in runs)}]" if runs else None


def _run(first: int, last: int) -> str:
    low, high = (f"\\{chr(code)}" if chr(code) in "]^-[" else chr(code) for code in (first, last))
    return low if first == last else f"{low}-{high}"
