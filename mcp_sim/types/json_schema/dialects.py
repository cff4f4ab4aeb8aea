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
    made = dict(known)
    _separate_bounds(made)
    if isinstance(made.get("items"), list):
        made["prefixItems"] = made.pop("items")
        if "additionalItems" in made:
            made["items"] = made.pop("additionalItems")
    if "dependencies" in made:
        _divide_dependencies(made)
    return made


def _known(schema: Record, dialect: int) -> Record:
    """Return the keywords that a dialect knows; beside a reference, dialects before 2019-09 know none."""
    if dialect < _DIALECTS.index("2019-09") and "$ref" in schema:
        return {"$ref": schema["$ref"]}
    return {word: part for word, part in schema.items() if _INTRODUCED.get(word, 0) <= dialect}


def _separate_bounds(made: Record) -> None:
    """Replace `exclusiveMinimum: true` beside a bound by an exclusive bound."""
    for exclusive, bound in _BOUNDS:
        if isinstance(made.get(exclusive), bool):
            is_exclusive: Json = made.pop(exclusive)
            if is_exclusive and bound in made:
                made[exclusive] = made.pop(bound)


def _divide_dependencies(made: Record) -> None:
    """Replace `dependencies` by `dependentRequired` and `dependentSchemas`."""
    dependencies = as_object(made.pop("dependencies"))
    names: Record = {name: dependency for name, dependency in dependencies.items() if isinstance(dependency, list)}
    schemas: Record = {
        name: dependency for name, dependency in dependencies.items() if not isinstance(dependency, list)
    }
    if names:
        made["dependentRequired"] = {**as_object(made.get("dependentRequired")), **names}
    if schemas:
        made["dependentSchemas"] = {**as_object(made.get("dependentSchemas")), **schemas}
