"""Find the values that an outputSchema allows at a place of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, property_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.result_parts import Path


class DeclaredValues:
    """The parts of an outputSchema, each compiled at its first use."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema
        self._tests = dict[int, tuple[Record, Callable[[Json], bool]]]()
        """By the identity of the part, which is kept beside its test."""

    @cached_property
    def _expanded(self) -> Record:
        return expanded(self._schema)

    def allow(self, path: Path, value: Json) -> bool:
        """Whether a place of an answer may have a value; True for places that the schema does not declare."""
        parts = [self._expanded]
        for step in path:
            parts = [inner for schema in parts for inner in _inside(schema, step)]
        return not parts or any(self._test_of(schema)(value) for schema in parts)

    def _test_of(self, schema: Record) -> Callable[[Json], bool]:
        if id(schema) not in self._tests:
            self._tests[id(schema)] = schema, _compiled(schema)
        return self._tests[id(schema)][1]


def _inside(schema: Record, step: str | int) -> Iterator[Record]:
    """Yield the schemas of a property or an item, also those of alternatives."""
    if isinstance(step, int):
        candidates: list[Json] = [*as_list(schema.get("prefixItems")), schema.get("items")]
    else:
        candidates = [property_of(schema, step) or schema.get("additionalProperties")]
    yield from (as_object(candidate) for candidate in candidates if candidate and isinstance(candidate, dict))
    for branch in (*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))):
        yield from _inside(as_object(branch), step)


def _compiled(schema: Record) -> Callable[[Json], bool]:
    try:
        return Validator(schema).is_valid
    except ValueError:
        return Validator({}).is_valid
