"""Give a value the form of a JSON Schema, and keep as much of it as possible.

What a caller gives has a form of its own: a name becomes an object with that name, and the server adds what it makes
itself: ids, prices, states of the parts (`Shaped`).

A result is made valid (`Instances`). What is valid stays. Other parts get the form of the schema, or are generated as
the fields of records are. Each value is judged by validation. If the schema itself leads to no valid value, its
canonical form, in which `not` and overlapping alternatives are resolved, is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Final

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.numbers import within_bounds
from mcp_sim.generate.schema_constraints import MAX_ITEMS, Make, alternatives, exceeded_limit, validity_test
from mcp_sim.generate.texts import fitted_text
from mcp_sim.generate.time_fields import Moment, time_formatter
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.initial_values import first_value
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.satisfiability import NoInstance, canonical_form
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, items, properties, required, types_of
from mcp_sim.types.json_schema.validation import RESULT_FORMATS, Validator
from mcp_sim.types.json_values import NOWHERE, decode_strict, in_list
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

_DEEPEST = 6  # schemas that refer to themselves have no end
_TIMES = frozenset({"date", "date-time", "time"})
_ISSUED = re.compile(r"\d+|[A-Za-z]+[_-]\w*\d{2,}\w*|[0-9a-f]{8}-[0-9a-f-]{27}")
"""Texts that look like ids which a server issued: `usr_00012`, not `v2`."""
_IDS = ("id", "key", "uuid", "gid", "code")
_NAMES = (
    "name", "title", "label", "display_name", "full_name", "login", "username", "value", "text", "content", "slug",
)  # fmt: skip
_MAILS, _LINKS = ("email", "email_address", "address", "mail"), ("url", "uri", "href", "link")


class Shaped:
    """Shapes values under one schema. `owner` and `name` are those of the field, for what is generated."""

    def __init__(self, owner: str, name: str, schema: Record, depth: int = 0) -> None:
        self._owner, self._name, self._schema, self._depth = owner, name, schema, depth
        self._parts: dict[str, Shaped] = {}

    def __call__(self, value: Json, chance: Chance, moment: Moment) -> Json:
        if self.allows(value):
            return value
        for way in self._ways if value is not None else ():
            kinds = [kind for kind in types_of(way) if kind != "null"]
            shapers = {"object": self._object, "array": self._list, "string": self._text}
            tried = (shapers.get(kind, self._plain)(way, value, chance, moment) for kind in kinds)
            shaped = next((shape for shape in tried if shape is not ABSENT), ABSENT)
            if shaped is not ABSENT and self.allows(shaped):
                return shaped
        return ABSENT

    @cached_property
    def allows(self) -> Callable[[Json], bool]:
        """Whether a value has the form already."""
        return validity_test(self._schema)

    @cached_property
    def _ways(self) -> list[Record]:
        return alternatives(self._schema) if self._depth < _DEEPEST else []

    def _object(self, way: Record, value: Json, chance: Chance, moment: Moment) -> Json:
        if isinstance(value, list):
            return ABSENT
        parts = properties(way)
        given = as_object(value) if isinstance(value, dict) else self._named(parts, value, chance, moment)
        if not given and not isinstance(value, dict):
            return ABSENT
        body: Record = {}
        for name in dict.fromkeys((*parts, *sorted(required(way)), *given)):
            schema = parts.get(name, {} if way.get("additionalProperties") is not False else IMPOSSIBLE)
            shaped = self._part(name, schema)(given[name], chance, moment) if name in given else ABSENT
            if shaped is ABSENT and name in required(way):
                first = first_value(snake(name), schema)  # nothing of a new line is allocated yet
                make = value_maker(self._name or self._owner, name, schema)
                shaped = make(chance, body, moment) if first is NOWHERE else first
            body |= {} if shaped is ABSENT else {name: shaped}
        return body

    def _named(self, parts: dict[str, Record], value: Json, chance: Chance, moment: Moment) -> Record:
        """Return an object with the only property that a plain value can be: its email, address, id or name."""
        noun = snake(self._name).removesuffix("s")
        by_name = {snake(name).removeprefix(f"{noun}_"): name for name in reversed(parts)}
        for meaning in _meanings(value):
            name = by_name.get(meaning)
            if name is not None and self._part(name, parts[name])(value, chance, moment) == value:
                return {name: value}
        return {}

    def _list(self, way: Record, value: Json, chance: Chance, moment: Moment) -> Json:
        shape = self._part("", items(way))
        shaped = [shape(item, chance, moment) for item in in_list(value)]
        return ABSENT if ABSENT in shaped else shaped

    def _text(self, way: Record, value: Json, _chance: Chance, _moment: Moment) -> Json:
        if isinstance(value, dict):
            body = as_object(value)
            texts = (body[name] for name in ("id", *_NAMES, *_MAILS) if isinstance(body.get(name), str))
            return next(texts, ABSENT)
        choices = (choice for choice in constants(way) if isinstance(value, str) and isinstance(choice, str))
        choice = next((choice for choice in choices if snake(choice) == snake(value)), None)
        if choice is not None:
            return choice
        moment = parse_time(value) if way.get("format") in _TIMES and isinstance(value, str) else None
        if moment is not None:
            return time_formatter(self._name, way)(moment)
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ABSENT

    def _plain(self, _way: Record, value: Json, _chance: Chance, _moment: Moment) -> Json:
        """Return the number or flag that a text is."""
        with suppress(ValueError):
            return decode_strict(value.strip().lower()) if isinstance(value, str) else ABSENT
        return ABSENT

    def _part(self, name: str, schema: Record) -> Shaped:
        if name not in self._parts:
            owner, of = (self._name or self._owner, name) if name else (self._owner, self._name)
            self._parts[name] = type(self)(owner, of, schema, self._depth + 1)
        return self._parts[name]


def _meanings(value: Json) -> Iterator[str]:
    """Yield the names of properties that a plain value may be, the most likely first."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield from ("id", "number", *_IDS, "value")
    elif isinstance(value, str):
        yield from (_MAILS if "@" in value else _LINKS if "://" in value else _IDS if _ISSUED.fullmatch(value) else ())
        yield from (*_NAMES, *_IDS, *_MAILS, *_LINKS)


# valid values ---------------------------------------------------------------------------------------------------------

_TRIES: Final = 60  # schemas that few of the generated values satisfy, such as patterns with look-around
_ANY_TYPE: Final[tuple[Json, ...]] = ("a", 1, 0.5, True, None, [], {})


class Instances:
    """Valid values of one schema. It is compiled and expanded at the first use."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema

    @cached_property
    def _is_valid(self) -> Callable[[Json], bool]:
        return Validator(self._schema, RESULT_FORMATS).is_valid

    @cached_property
    def _expanded(self) -> Record:
        return expanded(self._schema)

    @cached_property
    def _form(self) -> _Kept:
        return _Kept("", "", self._expanded)

    @cached_property
    def _canonical(self) -> _Kept | None:
        form = canonical_form(self._schema)
        return None if form is None else _Kept("", "", expanded(form))

    def nearest(self, value: Json = ABSENT) -> Json:
        """Return a valid value that keeps as much of the given one as possible. Raises `NoInstance`."""
        excess = exceeded_limit(self._expanded)
        for candidate in self._candidates(value) if not excess else ():
            if self._is_valid(candidate):
                return candidate
        raise NoInstance(excess or "no valid value was found")

    def _candidates(self, value: Json) -> Iterator[Json]:
        chance = Chance(b"nearest")
        if value is not ABSENT:
            yield value
        yield from self._form.candidates(value, chance)
        yield from _ANY_TYPE
        if self._canonical is not None:
            yield from self._canonical.candidates(value, chance)


class _Kept(Shaped):
    """Shapes values, and drops what has no valid form."""

    @cached_property
    def _make(self) -> Make:
        return value_maker(self._owner, self._name, self._schema)

    def candidates(self, value: Json, chance: Chance) -> Iterator[Json]:
        """Yield the value in the form of the schema, then generated values."""
        moment = Moment.unknown()
        if value is not ABSENT:
            yield self(value, chance, moment)
        yield from (self._make(chance, {}, moment) for _ in range(_TRIES))

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
