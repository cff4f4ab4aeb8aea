"""Rewrite keywords of older dialects of JSON Schema (draft 4 to draft 7) as 2020-12 has them."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object

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
    known = schema if dialect == len(_DIALECTS) - 1 else _known(schema, dialect)
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
        _divide_dependencies(known_words)
    return known_words


def _known(schema: Record, dialect: int) -> Record:
    """Return the keywords that a dialect knows; beside a reference, dialects before 2019-09 know none."""
    if dialect < _DIALECTS.index("2019-09") and "$ref" in schema:
        return {"$ref": schema["$ref"]}
    return {word: value for word, value in schema.items() if _INTRODUCED.get(word, 0) <= dialect}


def _divide_dependencies(row: Record) -> None:
    """Replace `dependencies` by `dependentRequired` and `dependentSchemas`."""
    dependencies = as_object(row.pop("dependencies"))
    names: Record = {name: dependency for name, dependency in dependencies.items() if isinstance(dependency, list)}
    schemas: Record = {
        name: dependency for name, dependency in dependencies.items() if not isinstance(dependency, list)
    }
    if names:
        row["dependentRequired"] = {**as_object(row.get("dependentRequired")), **names}
    if schemas:
        row["dependentSchemas"] = {**as_object(row.get("dependentSchemas")), **schemas}
