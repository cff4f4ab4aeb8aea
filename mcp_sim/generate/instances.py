"""Make a value valid under a JSON Schema, and keep as much of it as possible.

What is valid stays. Other parts get the form of the schema, or are generated as the fields of records are. Each value
is judged by validation. If the schema itself leads to no valid value, its canonical form, in which `not` and
overlapping alternatives are resolved, is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import MAX_ITEMS, Make, exceeded_limit
from mcp_sim.generate.numbers import within_bounds
from mcp_sim.generate.shaping import Shaped
from mcp_sim.generate.texts import fitted_text
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.formats import RESULT_FORMATS
from mcp_sim.types.json_schema.satisfiability import NoInstance, canonical_form
from mcp_sim.types.json_schema.shapes import as_list, items
from mcp_sim.types.json_schema.validation import Validator

_TRIES: Final = 60  # schemas that few of the generated values satisfy, such as patterns with look-around
_ANY_TYPE: Final[tuple[Json, ...]] = ("a", 1, 0.5, True, None, [], {})


class Instances:
    """Valid values of one schema. What is compiled is kept for the next one."""

    def __init__(self, schema: Record) -> None:
        self._is_valid = Validator(schema, RESULT_FORMATS).is_valid
        self._forms = [_Form(expanded(schema))]
        self._schema = schema

    def nearest(self, value: Json = ABSENT) -> Json:
        """Return a valid value that keeps as much of the given one as possible. Raises `NoInstance`."""
        chance = Chance(b"nearest")
        for candidate in self._candidates(value, chance):
            if self._is_valid(candidate):
                return candidate
        raise NoInstance(exceeded_limit(self._forms[0].schema) or "no valid value was found")

    def _candidates(self, value: Json, chance: Chance) -> Iterator[Json]:
        if exceeded_limit(self._forms[0].schema):
            return
        if value is not ABSENT:
            yield value
        yield from self._forms[0].candidates(value, chance)
        yield from _ANY_TYPE
        if len(self._forms) == 1 and (form := canonical_form(self._schema)) is not None:
            self._forms.append(_Form(expanded(form)))
        for form in self._forms[1:]:
            yield from form.candidates(value, chance)


def repairer(schema: Record) -> Callable[[Json], Json]:
    """Return a function that returns a valid value as close as possible to a given one. Raises `NoInstance`.

    The schema is expanded at the first call.
    """
    known: list[Instances] = []

    def repaired(value: Json) -> Json:
        if not known:
            known.append(Instances(schema))
        return known[0].nearest(value)

    return repaired


class _Form:
    """One form of a schema, expanded."""

    def __init__(self, schema: Record) -> None:
        self.schema = schema

    @cached_property
    def _kept(self) -> _Kept:
        return _Kept("", "", self.schema)

    @cached_property
    def _make(self) -> Make:
        return value_maker("", "", self.schema)

    def candidates(self, value: Json, chance: Chance) -> Iterator[Json]:
        """Yield the value in the form of the schema, then generated values."""
        moment = Moment.unknown()
        if value is not ABSENT:
            yield self._kept(value, chance, moment)
        yield from (self._make(chance, {}, moment) for _ in range(_TRIES))


class _Kept(Shaped):
    """Shapes values, and drops what has no valid form."""

    def _list(self, way: Record, value: Json, chance: Chance, moment: Moment) -> Json:
        shape = self._part("", items(way))
        shaped = (shape(item, chance, moment) for item in as_list(value))
        kept = [item for item in shaped if item is not ABSENT][: way.get("maxItems", MAX_ITEMS)]
        make = value_maker(self._owner, self._name, items(way))
        lacking = max(0, way.get("minItems", 0) - len(kept))
        return [*kept, *(make(chance, {}, moment) for _ in range(lacking))]

    def _text(self, way: Record, value: Json, chance: Chance, moment: Moment) -> Json:
        text = value if isinstance(value, str) and "format" not in way else super()._text(way, value, chance, moment)
        return fitted_text(text, way, chance) if isinstance(text, str) else text

    def _plain(self, way: Record, value: Json, chance: Chance, moment: Moment) -> Json:
        number = super()._plain(way, value, chance, moment) if isinstance(value, str) else value
        return within_bounds(number, way) if isinstance(number, int | float) and number is not True else number
