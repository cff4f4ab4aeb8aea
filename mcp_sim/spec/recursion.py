"""Is there a value that a JSON Schema takes and that comes to an end? A schema that must hold itself has none."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, referred, types_of

_CONTAINERS = {"object", "array"}


def has_end(schema: Record) -> bool:
    """Is there a value without an infinite number of parts that are required?

    What is not looked at counts as possible: only `$ref` within the document, what is required, and branches are.
    """
    parts = {reference: referred(schema, reference) for reference in _references(schema)}
    ending = set[str]()
    while found := {name for name, part in parts.items() if name not in ending and _ends(part, ending)}:
        ending |= found
    return _ends(schema, ending)


def _ends(schema: Json, ending: set[str]) -> bool:
    """Does it have a finite value, where the references that do are known?"""
    body = as_object(schema)
    reference: Json = body.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and reference not in ending:
        return False
    if not all(_ends(part, ending) for part in as_list(body.get("allOf"))):
        return False
    if not all(any(_ends(part, ending) for part in as_list(body[word])) for word in ("anyOf", "oneOf") if word in body):
        return False
    types = set(types_of(body))
    return bool(constants(body) or types - _CONTAINERS) or all(_ends(part, ending) for part in _needed(body, types))


def _needed(body: Record, types: set[str]) -> Iterator[Json]:
    """The schemas of the parts that a value must have."""
    if "array" not in types:
        declared = as_object(body.get("properties"))
        yield from (declared[name] for name in as_list(body.get("required")) if name in declared)
    if "object" not in types and body.get("minItems", 0) > 0:
        yield body.get("items")


def _references(schema: Json) -> set[str]:
    """All references within the document that stand anywhere in it."""
    if isinstance(schema, list):
        return {name for part in as_list(schema) for name in _references(part)}
    body = as_object(schema)
    found = {name for part in body.values() for name in _references(part)}
    reference: Json = body.get("$ref")
    return found | {reference} if isinstance(reference, str) and reference.startswith("#") else found
