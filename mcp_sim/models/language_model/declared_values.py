"""Find the values that an outputSchema allows at a place of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import resolve_reference
from mcp_sim.types.json_schema.shapes import as_list, as_object, property_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.result_parts import Path

MAX_BRANCHES = 100
"""How many alternatives of one place are read."""
_DEFINITIONS = ("$defs", "definitions")


class DeclaredValues:
    """The parts of an outputSchema, each compiled at its first use."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema
        self._definitions = {name: schema[name] for name in _DEFINITIONS if name in schema}
        self._tests = dict[int, tuple[Record, Callable[[Json], bool]]]()
        """By the identity of the part, which is kept beside its test."""

    def allow(self, path: Path, value: Json) -> bool:
        """Whether a place of an answer may have a value; True for places that the schema does not declare."""
        parts = [self._schema]
        for step in path:
            parts = [inner for branch in self._branches(parts) for inner in _inside(branch, step)]
        return not parts or any(self._test_of(schema)(value) for schema in parts)

    def _branches(self, parts: Iterable[Record]) -> Iterator[Record]:
        """Yield schemas without references, and the alternatives and parts that they are combined from."""
        left, seen = list(parts), set[int]()
        while left and len(seen) < MAX_BRANCHES:
            schema = left.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            if "$ref" in schema:
                left.append(resolve_reference(self._schema, str(schema["$ref"])))
            left += [as_object(branch) for name in ("anyOf", "oneOf", "allOf") for branch in as_list(schema.get(name))]
            yield schema

    def _test_of(self, schema: Record) -> Callable[[Json], bool]:
        if id(schema) not in self._tests:
            self._tests[id(schema)] = schema, _compiled({**self._definitions, **schema})
        return self._tests[id(schema)][1]


def _inside(schema: Record, step: str | int) -> Iterator[Record]:
    """Yield the schemas of a property or an item that a schema itself declares."""
    if isinstance(step, int):
        candidates: list[Json] = [*as_list(schema.get("prefixItems")), schema.get("items")]
    else:
        candidates = [property_of(schema, step) or schema.get("additionalProperties")]
    yield from (as_object(candidate) for candidate in candidates if candidate and isinstance(candidate, dict))


def _compiled(schema: Record) -> Callable[[Json], bool]:
    try:
        return Validator(schema).is_valid
    except ValueError:
        return Validator({}).is_valid
