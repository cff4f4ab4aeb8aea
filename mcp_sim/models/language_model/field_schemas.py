"""Check values against the schemas of the fields of entities, each compiled at its first use."""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.validation import Validator


class FieldSchemas:
    """The compiled schemas of a scenario's fields."""

    def __init__(self) -> None:
        self._tests = dict[int, tuple[Field, Callable[[Json], bool]]]()
        """By the identity of the field, which is kept beside its test."""

    def allow(self, entity: Entity, name: str, value: Json) -> bool:
        """Whether a field may have a value; True for fields without a usable schema."""
        field = entity.fields.get(name)
        if field is None:
            return True
        if id(field) not in self._tests:
            self._tests[id(field)] = field, _test_of(field)
        return self._tests[id(field)][1](value)


def _test_of(field: Field) -> Callable[[Json], bool]:
    try:
        return Validator(field.schema).is_valid
    except ValueError:
        return Validator({}).is_valid
