"""Search for a value that is valid under a JSON Schema, as close as possible to a given one.

Candidates are built from the keywords of the schema and judged by validation, so that schemas with `not`, overlapping
`oneOf` or look-around patterns get a valid value, too. The search is bounded in candidates, size and depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final

from mcp_sim.generate.candidates import (
    LONGEST_TEXT,
    divides,
    number_candidates,
    text_candidates,
)
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.part_candidates import list_candidates, object_candidates
from mcp_sim.generate.schema_constraints import alternatives, is_plain, validity_test
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.formats import RESULT_FORMATS
from mcp_sim.types.json_schema.merge import merge_schemas
from mcp_sim.types.json_schema.satisfiability import NoInstance
from mcp_sim.types.json_schema.shapes import (
    LIMITS,
    as_object,
    constants,
    main_type,
    type_name,
    types_of,
)
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical

MOST_TRIED: Final = 6_000
"""The number of candidates that one search judges. Without a limit, a schema that nothing satisfies would be searched
for ever."""
_EACH: Final = 60
"""The number of candidates of one type for one alternative of a schema."""
_DEEPEST: Final = 80  # definitions that refer to themselves have no end, and Python allows a thousand frames
_ANYTHING: Final[Record] = {}
_ANY_TYPE: Final[tuple[Json, ...]] = ("a", 1, 0.5, True, None, [], {})
_USUAL: Final[Record] = {"string": "text", "integer": 1, "number": 1, "boolean": False, "array": [], "null": None}
"""Values of types about which a schema says nothing else."""
_DECIDING: Final = LIMITS | {"enum", "const", "format"}
_KINDS: Final = ("object", "string", "integer", "number", "array", "boolean", "null")


class Instances:
    """Valid values of one schema. What the search compiles is kept for the next one."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema
        self._expanded = expanded(schema)
        self._is_valid = Validator(schema, RESULT_FORMATS).is_valid
        self._known: dict[int, _Part] = {}
        self._merged: dict[tuple[int, int], Record] = {}

    def nearest(self, value: Json = ABSENT) -> Json:
        """Return a valid value that keeps as much of the given one as possible. Raises `NoInstance`."""
        search = Search(self._known, self._merged)
        try:
            for item in search.values(self._expanded, value, 0):
                if self._is_valid(item):
                    return item
        except _Ended:
            pass
        simple = next(filter(self._is_valid, _ANY_TYPE), ABSENT)
        if simple is not ABSENT:
            return simple
        reason = search.limit or "no valid value was found"
        raise NoInstance(f"{search.lacking}: {reason}" if search.lacking else reason)


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


class _Ended(Exception):
    """The search has judged as many candidates as it may."""


class _Part:
    """A schema within the searched one, with its test and its alternatives."""

    __slots__ = ("schema", "test", "ways")

    def __init__(self, schema: Record) -> None:
        self.schema = schema
        self.test = validity_test(schema)
        self.ways = [schema] if is_plain(schema) else alternatives(schema)


class Search:
    """One search.

    `limit` is the first bound on sizes that was exceeded, in words; `lacking` the required property without a value.
    """

    def __init__(self, known: dict[int, _Part], merged: dict[tuple[int, int], Record]) -> None:
        self._known, self._merged = known, merged
        self._left = MOST_TRIED
        self.chance = Chance(b"nearest")
        self._builders: dict[str, Callable[[Record, Record, Json, int], Iterator[Json]]] = {
            "object": partial(object_candidates, self),
            "array": partial(list_candidates, self),
            "string": self._texts,
            "number": partial(_numbers, whole=False),
            "integer": partial(_numbers, whole=True),
            "boolean": lambda _way, _schema, _hint, _depth: iter((False, True)),
            "null": lambda _way, _schema, _hint, _depth: iter((None,)),
        }
        self.limit: str | None = None
        self.lacking = ""
        self._firsts: dict[int, Json] = {}

    # values and candidates --------------------------------------------------------------------------------------------

    def values(self, schema: Record, hint: Json, depth: int, most: int = _EACH) -> Iterator[Json]:
        """Yield distinct valid values of an expanded schema, those close to the hint first. Raises `_Ended`."""
        if schema == IMPOSSIBLE or depth > _DEEPEST:
            return
        values = self._part(schema)
        seen = set[str]()
        for candidate in self._candidates(values, hint, depth, most):
            self._left -= 1
            if self._left < 0:
                raise _Ended
            if values.test(candidate) and (text := canonical(candidate)) not in seen:
                seen.add(text)
                yield candidate

    def first(self, schema: Record, hint: Json, depth: int) -> Json:
        """Return the first valid value, or `ABSENT`. It may take a quarter of the candidates that are left."""
        if hint is ABSENT and schema.keys().isdisjoint(_DECIDING) and main_type(schema) in _USUAL:
            return _USUAL[main_type(schema)]
        if hint is ABSENT and id(schema) in self._firsts:
            return self._firsts[id(schema)]
        kept = self._left - self._left // 4
        self._left //= 4
        try:
            value = next(self.values(schema, hint, depth), ABSENT)
        except _Ended:
            value = ABSENT
        self._left = max(self._left, 0) + kept
        if hint is ABSENT or value is ABSENT:
            self._firsts[id(schema)] = value
        return value

    def _part(self, schema: Record) -> _Part:
        known = self._known.get(id(schema))
        if known is None:
            known = self._known[id(schema)] = _Part(schema)
        return known

    def both(self, first: Record, second: Record) -> Record:
        """Return the merged schema, always the same object for the same two."""
        at = (id(first), id(second))
        if at not in self._merged:
            for row in (first, second):
                self._part(row)  # kept, so that its id stays its own
            met = merge_schemas(first, second)
            self._merged[at] = as_object(met) if met is not False else IMPOSSIBLE
        return self._merged[at]

    def _candidates(self, constraint: _Part, hint: Json, depth: int, most: int) -> Iterator[Json]:
        if hint is not ABSENT:
            yield hint
        yield from constants(constraint.schema)
        for way in constraint.ways:
            chosen = constants(way)
            yield from chosen
            for kind in () if chosen else _kinds(way, constraint.schema, hint):
                yield from islice(self._builders[kind](way, constraint.schema, hint, depth), most)
        if "type" not in constraint.schema:
            yield from _ANY_TYPE

    def _texts(self, way: Record, schema: Record, hint: Json, _depth: int) -> Iterator[Json]:
        if way.get("minLength", 0) > LONGEST_TEXT:
            self.exceeded("minLength", way["minLength"], LONGEST_TEXT, "characters")
            return iter(())
        return text_candidates(way, schema, hint, self.chance)

    def exceeded(self, word: str, value: Json, most: int, units: str) -> None:
        self.limit = self.limit or f"its {word} is {value:,}, and at most {most:,} {units} are generated"

    def negated(self, schema: Record) -> Record:
        """Return the schema of all other values, always the same object for the same schema."""
        at = (id(schema), 0)
        if at not in self._merged:
            self._part(schema)
            self._merged[at] = {"not": schema}
        return self._merged[at]


def _kinds(way: Record, schema: Record, hint: Json) -> Iterator[str]:
    """Yield the types of an alternative, first that of the hint. If none is declared, all of them."""
    allowed = types_of(way) or types_of(schema) or _KINDS
    first = () if hint is ABSENT else (type_name(hint),)
    usual = [kind for kind in allowed if kind != "null"] + [kind for kind in allowed if kind == "null"]
    return (kind for kind in dict.fromkeys((*first, *usual)) if kind in allowed and kind in _KINDS)


def _numbers(way: Record, schema: Record, hint: Json, _depth: int, *, whole: bool) -> Iterator[Json]:
    step: Json = way.get("multipleOf")
    return (value for value in number_candidates(way, schema, hint, whole=whole) if divides(value, step))
