"""Expand a JSON Schema: references and `allOf` merged in, optional values as lists of types, cycles cut.

Keywords of older dialects (draft 4 to draft 7) are rewritten as 2020-12 has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import unquote

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.merge import NEVER, merge_schemas
from mcp_sim.types.json_schema.shapes import (
    SCHEMA_LISTS,
    SCHEMA_PARTS,
    as_list,
    as_object,
    properties,
    required,
    required_among,
    types_of,
)

IMPOSSIBLE: Record = NEVER
"""The schema of no value at all. The expansion ends with it where a schema refers back to itself."""

_DEEPEST = (12, 8, 5, 3)
"""Depths below which only required properties are expanded, and lists and maps are empty if they may be. The first one
that keeps within `_MOST` is used."""

_BOTTOM = 80
"""Nothing is expanded below this depth. What reads schemas takes several frames for each level, and Python allows a
thousand."""

_MOST = 5_000
"""The most schemas of an expansion. Definitions that hold each other twice come to 2^n of them."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_BRANCHES = ("anyOf", "oneOf")
_TYPELESS = frozenset({"not", "oneOf", "anyOf", "if"})

_NAMED = ("properties", "patternProperties", "dependentSchemas")

_MOST_KNOWN = 2048  # bounds the memory of processes that load catalogue after catalogue
_known = dict[int, tuple[Record, Record]]()
"""The identity of a schema -> the schema, which keeps its identity, and its expansion."""


def expanded(schema: Json) -> Record:
    """Return the schema without references: `$ref` and `allOf` merged in, `X or null` as a list of types, no cycles.

    Neither is to be changed afterwards: the last expansions are kept.
    """
    root = as_object(schema)
    if not root:
        return {}
    known = _known.get(id(root))
    if known is not None:
        return known[1]
    expansion: Record = {}
    reached = max(_DEEPEST)
    for deepest in _DEEPEST:
        if deepest > reached:
            continue  # the same expansion again
        source = _Source(root, deepest)
        expansion = _expand(root, source, (), 0)
        if source.left >= 0:
            break
        reached = source.reached
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[id(root)] = root, expansion
    return expansion


def resolve_reference(root: Record, reference: str) -> Record:
    """Return the schema that a reference within the document leads to; {} for any other reference."""
    if not reference.startswith("#"):
        return {}
    if len(reference) > 1 and reference[1] != "/":
        return _anchored(root, reference[1:])
    target: Json = root
    for segment in unquote(reference[1:]).strip("/").split("/") if len(reference) > 1 else ():
        target = _inside(target, segment.replace("~1", "/").replace("~0", "~"))
    return as_object(target)


def _inside(value: Json, segment: str) -> Json:
    """Return the part of an object with this name, or of a list with this index."""
    listed = as_list(value)
    return listed[int(segment)] if segment.isdecimal() and int(segment) < len(listed) else as_object(value).get(segment)


def _anchored(schema: Json, name: str) -> Record:
    """Return the schema in a document that has this anchor, or {}."""
    body = as_object(schema)
    if name in (body.get("$anchor"), body.get("$dynamicAnchor")) or body.get("$id") == f"#{name}":
        return body
    parts = body.values() if body else as_list(schema)
    nothing: Record = {}
    return next((anchor for inner in parts if (anchor := _anchored(inner, name))), nothing)


def count_unfolded(schema: Json, back: int = 0) -> int:
    """Return the most schemas that one value is checked against. A way back to the same schema counts as `back`.

    Definitions that hold each other twice come to 2^n of them. Schemas of properties and items do not add up, since
    they are for other values.
    """
    root = as_object(schema)
    known: dict[str, int] = {}
    counts = [_count_unfolded({"$ref": reference}, root, known, back) for reference in _all_references(root)]
    return max(counts, default=0)


def _all_references(schema: Json) -> Iterator[str]:
    """Yield every reference in a document."""
    waiting: list[Json] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            body = cast("Record", value)
            waiting += body.values()
            yield from (value for word in _REFERENCES if word in body and isinstance(value := body[word], str))
        elif isinstance(value, list):
            waiting += cast("list[Json]", value)


def _count_unfolded(schema: Json, root: Record, known: dict[str, int], back: int) -> int:
    body = as_object(schema)
    reference: Json = next((body[word] for word in _REFERENCES if word in body), None)
    if isinstance(reference, str) and reference not in known:
        known[reference] = back
        known[reference] = _count_unfolded(resolve_reference(root, reference), root, known, back)
    parts = [item for word in ("allOf", "anyOf", "oneOf") for item in as_list(body.get(word))]
    parts += [body[word] for word in ("not", "if", "then", "else") if word in body]
    parts += as_object(body.get("dependentSchemas")).values()
    return 1 + known.get(str(reference), 0) + sum(_count_unfolded(inner, root, known, back) for inner in parts)


class _Source:
    """The document in which references are looked up, the depth to expand, and how many more schemas may be made.

    `reached` is the greatest depth so far.
    """

    __slots__ = ("_recursive", "deepest", "dialect", "left", "reached", "root")

    def __init__(self, root: Record, deepest: int) -> None:
        self.root = root
        self.dialect = dialect_of(root)
        self.deepest = deepest
        self.left = _MOST
        self.reached = 0
        self._recursive: dict[str, bool] = {}

    def leads_back(self, reference: str) -> bool:
        """Whether a definition refers to itself, by way of others or not. A mere base of several does not."""
        if reference not in self._recursive:
            waiting, seen = [reference], set[str]()
            while waiting and reference not in seen:
                others = {*_all_references(resolve_reference(self.root, waiting.pop()))} - seen
                seen |= others
                waiting += others
            self._recursive[reference] = reference in seen
        return self._recursive[reference]


def _expand(schema: Record, source: _Source, trail: tuple[str, ...], depth: int) -> Record:
    source.left -= 1
    if depth > _BOTTOM or source.left < 0:
        return IMPOSSIBLE
    source.reached = max(source.reached, depth)
    flat, trail = _without_references(schema, source, trail)
    flat = _without_single_branches(flat, source, trail, depth)
    if "not" in flat and flat["not"] == {}:
        return IMPOSSIBLE
    nested: Record = {}
    for word in _NAMED:
        if isinstance(flat.get(word), Mapping):
            parts = as_object(flat[word])
            if depth >= source.deepest:
                parts = {name: parts[name] for name in required_among(parts, flat)}
            nested[word] = {name: _part(value, source, trail, depth) for name, value in parts.items()}
    for word in SCHEMA_PARTS:
        if isinstance(flat.get(word), dict):
            cut = depth >= source.deepest and _may_be_empty(flat, word)
            nested[word] = IMPOSSIBLE if cut else _part(flat[word], source, trail, depth)
    for word in SCHEMA_LISTS:
        if isinstance(flat.get(word), list):
            nested[word] = [_part(branch, source, trail, depth) for branch in as_list(flat[word])]
    return {
        name: value for name, value in {**flat, **nested}.items() if name not in {"$defs", "definitions", "$schema"}
    }


def _may_be_empty(schema: Record, word: str) -> bool:
    """Whether a keyword is about the items of a list that may be empty, or the values of such a map."""
    if word == "additionalProperties":
        return not schema.get("minProperties") and required(schema) <= properties(schema).keys()
    return word == "items" and not schema.get("minItems")


def _part(schema: Json, source: _Source, trail: tuple[str, ...], depth: int) -> Record:
    if schema is False:
        return IMPOSSIBLE
    inner = _expand(as_object(schema), source, trail, depth + 1)
    parts = properties(inner)
    if types_of(inner) == ("object",) and any(parts.get(name) == IMPOSSIBLE for name in required(inner)):
        return IMPOSSIBLE  # what must be there cannot be
    return inner


def _without_references(schema: Record, source: _Source, trail: tuple[str, ...]) -> tuple[Record, tuple[str, ...]]:
    """Merge `$ref` and `allOf` into the schema itself; IMPOSSIBLE if it comes back to where it was.

    What cannot be merged into one schema stays under `allOf`.
    """
    flat: Record = {}
    pending: list[Json] = [schema]
    here: dict[str, None] = {}
    while pending:
        whole = pending.pop(0)
        if whole is False:
            return IMPOSSIBLE, trail
        modern = dict(modernised(as_object(whole), source.dialect))
        pending = [*as_list(modern.pop("allOf", [])), *pending]
        for word in modern.keys() & _REFERENCES:
            reference: Json = modern.pop(word)
            if reference in trail and source.leads_back(reference):
                return IMPOSSIBLE, trail
            if isinstance(reference, str) and reference not in here:
                here[reference] = None
                pending.insert(0, resolve_reference(source.root, reference))
        flat = as_object(merge_schemas(modern, flat))
    return flat, (*trail, *here)


def _without_single_branches(schema: Record, source: _Source, trail: tuple[str, ...], depth: int) -> Record:
    """Return `anyOf: [X, null]` as X with null among its types: most generators write an optional value like this."""
    for word in _BRANCHES:
        branches = as_list(schema.get(word))
        real = [branch for branch in branches if as_object(branch) != {"type": "null"}]
        if len(real) != 1:
            continue
        if len(branches) > 1 and not _TYPELESS.isdisjoint(as_object(real[0])) and not types_of(as_object(real[0])):
            continue  # whether null is valid would depend on more than types
        rest = {name: value for name, value in schema.items() if name != word}
        branch = _expand(as_object(real[0]), source, trail, depth + 1)
        schema = as_object(merge_schemas(branch, rest))
        if len(branches) > 1 and _allows_null(rest):
            schema = _with_null(schema)
    return schema


def _allows_null(schema: Record) -> bool:
    """Whether the types and values that a schema lists have null among them."""
    types = types_of(schema)
    return (not types or "null" in types) and schema.get("const") is None and None in schema.get("enum", [None])


def _with_null(schema: Record) -> Record:
    if schema == IMPOSSIBLE:
        return {"type": "null"}
    nullable = {**schema, "type": [*dict.fromkeys([*types_of(schema), "null"])]} if types_of(schema) else dict(schema)
    if "enum" in nullable and None not in nullable["enum"]:
        nullable["enum"] = [*nullable["enum"], None]
    if "const" in nullable:
        nullable["enum"] = [nullable.pop("const"), None]
    return nullable


_DIALECTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
_INTRODUCED: Mapping[str, int] = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 1),
    **dict.fromkeys(("if", "then", "else"), 2),
    **dict.fromkeys(("minContains", "maxContains", "dependentRequired", "dependentSchemas"), 3),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems", "$recursiveRef"), 3),
    **dict.fromkeys(("prefixItems", "$dynamicRef"), 4),
}
"""The dialect in which a keyword first has a meaning."""

_OLD = frozenset({"exclusiveMinimum", "exclusiveMaximum", "items", "additionalItems", "dependencies"})
_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def dialect_of(root: Record) -> int:
    """Return the dialect that a document declares, as a number; the newest by default."""
    declared = str(root.get("$schema", ""))
    return next((at for at, name in enumerate(_DIALECTS) if name in declared), len(_DIALECTS) - 1)


def modernised(schema: Record, dialect: int) -> Record:
    """Return the schema with the keywords of 2020-12 that its dialect knows. Schemas within it stay as they are."""
    known = schema if dialect == len(_DIALECTS) - 1 else _of_newest_dialect(schema, dialect)
    if _OLD.isdisjoint(known):
        return known
    known_words = dict(known)
    # Replace `exclusiveMinimum: true` beside a bound by an exclusive bound.
    for exclusive, bound in _BOUNDS:
        if isinstance(known_words.get(exclusive), bool):
            is_exclusive: Json = known_words.pop(exclusive)
            if is_exclusive and bound in known_words:
                known_words[exclusive] = known_words.pop(bound)
    if isinstance(known_words.get("items"), list):
        known_words["prefixItems"] = known_words.pop("items")
        if "additionalItems" in known_words:
            known_words["items"] = known_words.pop("additionalItems")
    if "dependencies" in known_words:
        # Replace `dependencies` by `dependentRequired` and `dependentSchemas`.
        dependencies = as_object(known_words.pop("dependencies"))
        names: Record = {name: dependency for name, dependency in dependencies.items() if isinstance(dependency, list)}
        schemas: Record = {
            name: dependency for name, dependency in dependencies.items() if not isinstance(dependency, list)
        }
        if names:
            known_words["dependentRequired"] = {**as_object(known_words.get("dependentRequired")), **names}
        if schemas:
            known_words["dependentSchemas"] = {**as_object(known_words.get("dependentSchemas")), **schemas}
    return known_words


def _of_newest_dialect(schema: Record, dialect: int) -> Record:
    """Return the keywords that a dialect knows; beside a reference, dialects before 2019-09 know none."""
    if dialect < _DIALECTS.index("2019-09") and "$ref" in schema:
        return {"$ref": schema["$ref"]}
    return {word: value for word, value in schema.items() if _INTRODUCED.get(word, 0) <= dialect}
