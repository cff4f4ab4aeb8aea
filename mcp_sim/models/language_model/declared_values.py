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
            parts = [inner for part in self._branches(parts) for inner in _inside(part, step)]
        return not parts or any(self._test_of(part)(value) for part in parts)

    def _branches(self, parts: Iterable[Record]) -> Iterator[Record]:
        """Yield schemas without references, and the alternatives and parts that they are combined from."""
        left, seen = list(parts), set[int]()
        while left and len(seen) < MAX_BRANCHES:
            part = left.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            if "$ref" in part:
                left.append(resolve_reference(self._schema, str(part["$ref"])))
            left += [as_object(one) for name in ("anyOf", "oneOf", "allOf") for one in as_list(part.get(name))]
            yield part

    def _test_of(self, part: Record) -> Callable[[Json], bool]:
        if id(part) not in self._tests:
            self._tests[id(part)] = part, _compiled({**self._definitions, **part})
        return self._tests[id(part)][1]


def _inside(part: Record, step: str | int) -> Iterator[Record]:
    """Yield the schemas of a property or an item that a schema itself declares."""
    if isinstance(step, int):
        found: list[Json] = [*as_list(part.get("prefixItems")), part.get("items")]
    else:
        found = [property_of(part, step) or part.get("additionalProperties")]
    yield from (as_object(one) for one in found if one and isinstance(one, dict))


def _compiled(schema: Record) -> Callable[[Json], bool]:
    try:
        return Validator(schema).is_valid
    except ValueError:
        return Validator({}).is_valid
