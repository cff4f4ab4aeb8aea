"""Search for a value that is valid under a JSON Schema, as close as possible to a given one.

Candidates are built from the keywords of the schema and judged by validation, so that schemas with `not`, overlapping
`oneOf` or look-around patterns get a valid value, too. The search is bounded in candidates, size and depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import chain, islice
from typing import Final, cast

from mcp_sim.generate.candidates import (
    LARGEST_LIST,
    LONGEST_TEXT,
    about,
    divides,
    lengths,
    mentioned,
    number_candidates,
    text_candidates,
)
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.patterns import matches, matching_text
from mcp_sim.generate.schema_constraints import alternatives, is_plain, validity_test
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.json_schema.contradictions import NoInstance
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.merge import merge_schemas
from mcp_sim.types.json_schema.shapes import (
    LIMITS,
    as_list,
    as_object,
    constants,
    main_type,
    properties,
    required,
    type_name,
    types_of,
)
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical

MOST_TRIED: Final = 6_000
"""The number of candidates that one search judges."""
_EACH: Final = 60
"""The number of candidates of one type for one alternative of a schema."""
_DEEPEST: Final = 80
_SIZES: Final = 6
_ANYTHING: Final[Record] = {}
_ANY_TYPE: Final[tuple[Json, ...]] = ("a", 1, 0.5, True, None, [], {})
_USUAL: Final[Record] = {"string": "text", "integer": 1, "number": 1, "boolean": False, "array": [], "null": None}
"""Values of types about which a schema says nothing else."""
_DECIDING: Final = LIMITS | {"enum", "const"}
_KINDS: Final = ("object", "string", "integer", "number", "array", "boolean", "null")


class Instances:
    """Valid values of one schema. What the search compiles is kept for the next one."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema
        self._expanded = expanded(schema)
        self._is_valid = Validator(schema).is_valid
        self._known: dict[int, _Part] = {}
        self._merged: dict[tuple[int, int], Record] = {}

    def nearest(self, value: Json = ABSENT) -> Json:
        """Return a valid value that keeps as much of the given one as possible. Raises `NoInstance`."""
        search = _Search(self._known, self._merged)
        try:
            for found in search.values(self._expanded, value, 0):
                if self._is_valid(found):
                    return found
        except _Ended:
            pass
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


class _Search:
    """One search.

    `limit` is the first bound on sizes that was exceeded, in words; `lacking` the required property without a value.
    """

    def __init__(self, known: dict[int, _Part], merged: dict[tuple[int, int], Record]) -> None:
        self._known, self._merged = known, merged
        self._left = MOST_TRIED
        self._chance = Chance(b"nearest")
        self._builders: dict[str, Callable[[Record, Record, Json, int], Iterator[Json]]] = {
            "object": self._objects,
            "array": self._lists,
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
        part = self._part(schema)
        seen = set[str]()
        for candidate in self._candidates(part, hint, depth, most):
            self._left -= 1
            if self._left < 0:
                raise _Ended
            if part.test(candidate) and (text := canonical(candidate)) not in seen:
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
            found = next(self.values(schema, hint, depth), ABSENT)
        except _Ended:
            found = ABSENT
        self._left = max(self._left, 0) + kept
        if hint is ABSENT or found is ABSENT:
            self._firsts[id(schema)] = found
        return found

    def _part(self, schema: Record) -> _Part:
        known = self._known.get(id(schema))
        if known is None:
            known = self._known[id(schema)] = _Part(schema)
        return known

    def _both(self, first: Record, second: Record) -> Record:
        """Return the merged schema, always the same object for the same two."""
        at = (id(first), id(second))
        if at not in self._merged:
            self._part(first), self._part(second)  # kept, so that their ids stay theirs
            met = merge_schemas(first, second)
            self._merged[at] = as_object(met) if met is not False else IMPOSSIBLE
        return self._merged[at]

    def _candidates(self, part: _Part, hint: Json, depth: int, most: int) -> Iterator[Json]:
        if hint is not ABSENT:
            yield hint
        yield from constants(part.schema)
        for way in part.ways:
            yield from constants(way)
            for kind in _kinds(way, part.schema, hint):
                yield from islice(self._builders[kind](way, part.schema, hint, depth), most)
        if "type" not in part.schema:
            yield from _ANY_TYPE

    def _texts(self, way: Record, schema: Record, hint: Json, _depth: int) -> Iterator[Json]:
        if way.get("minLength", 0) > LONGEST_TEXT:
            self._exceeded("minLength", way["minLength"], LONGEST_TEXT, "characters")
            return iter(())
        return text_candidates(way, schema, hint, self._chance)

    def _exceeded(self, word: str, value: Json, most: int, units: str) -> None:
        self.limit = self.limit or f"its {word} is {value:,}, and at most {most:,} {units} are generated"

    # lists ------------------------------------------------------------------------------------------------------------

    def _lists(self, way: Record, schema: Record, hint: Json, depth: int) -> Iterator[Json]:
        least, most = int(way.get("minItems", 0)), int(way.get("maxItems", LARGEST_LIST))
        if least > LARGEST_LIST:
            self._exceeded("minItems", least, LARGEST_LIST, "items")
            return
        given = as_list(hint)
        wanted = [len(given), *lengths(schema, "minItems", "maxItems"), least, *range(least, least + _SIZES)]
        sizes = dict.fromkeys(min(max(size, least), most, LARGEST_LIST) for size in wanted)
        for size in [*sizes][: 2 * _SIZES]:
            for contained in _contained(schema):
                made = self._list(way, given, size, contained, depth)
                if made is not None:
                    yield made

    def _list(self, way: Record, given: list[Json], size: int, contained: Record, depth: int) -> list[Json] | None:
        """Return a list of this size, with as many items that fit `contains` as needed; None if there is none."""
        fixed = [*map(_schema, as_list(way.get("prefixItems")))]
        rest = _schema(way.get("items"))
        special, needed = as_object(contained.get("contains")), int(contained.get("minContains", 1))
        needed = needed if special else 0
        unique = bool(way.get("uniqueItems"))
        made: list[Json] = []
        seen = set[str]()
        sources: dict[int, Iterator[Json]] = {}
        for at in range(size):
            schema = fixed[at] if at < len(fixed) else rest
            if size - at <= needed or (needed and at >= len(fixed)):
                schema, needed = self._both(schema, special), needed - 1
            elif special and "maxContains" in contained:
                schema = self._both(schema, self._not(special))
            value = self._item(
                schema, given[at] if at < len(given) else ABSENT, sources, seen if unique else None, depth
            )
            if value is ABSENT:
                return None
            made.append(value)
        return made

    def _item(
        self, schema: Record, hint: Json, sources: dict[int, Iterator[Json]], seen: set[str] | None, depth: int
    ) -> Json:
        """Return an item; if `seen` is given, one that is not in it."""
        if hint is not ABSENT:
            near = self.first(schema, hint, depth + 1)
            if near is not ABSENT and _is_new(near, seen):
                return near
        if seen is None:
            source = sources.setdefault(id(schema), iter(()))
            value = next(source, ABSENT)
            value = self.first(schema, ABSENT, depth + 1) if value is ABSENT else value
            sources[id(schema)] = iter((value,))  # the next item is the same
            return value
        if id(schema) not in sources:
            sources[id(schema)] = self.values(schema, ABSENT, depth + 1, LARGEST_LIST)
        return next((value for value in sources[id(schema)] if _is_new(value, seen)), ABSENT)

    def _not(self, schema: Record) -> Record:
        at = (id(schema), 0)
        if at not in self._merged:
            self._part(schema)
            self._merged[at] = {"not": schema}
        return self._merged[at]

    # objects ----------------------------------------------------------------------------------------------------------

    def _objects(self, way: Record, schema: Record, hint: Json, depth: int) -> Iterator[Json]:
        if way.get("minProperties", 0) > LARGEST_LIST:
            self._exceeded("minProperties", way["minProperties"], LARGEST_LIST, "properties")
            return
        given = as_object(hint)
        needed = required(way)
        names = dict.fromkeys((*given, *(name for name in properties(way) if name in needed), *sorted(needed)))
        base: Record = {}
        for name in names:
            self.lacking = ""
            value = self.first(self._property(way, name), given.get(name, ABSENT), depth + 1)
            if value is not ABSENT:
                base[name] = value
            elif name in needed:
                self.lacking = f"{name}.{self.lacking}".removesuffix(".")
                return
        bodies = [base, {name: base[name] for name in base if name in needed}]
        for body in bodies:
            yield from self._completed(way, body, depth)
        for body in bodies:
            for changed in self._changed(way, schema, body, depth):
                yield from self._completed(way, changed, depth)

    def _completed(self, way: Record, body: Record, depth: int) -> Iterator[Record]:
        """Yield the object, with what its properties depend on, and as many properties as it needs."""
        body = dict(body)
        for name, others in as_object(way.get("dependentRequired")).items():
            for other in as_list(others) if name in body else ():
                if other not in body:
                    body[other] = self.first(self._property(way, other), ABSENT, depth + 1)
        if ABSENT in body.values():
            return
        lacking = int(way.get("minProperties", 0)) - len(body)
        for name in islice(self._new_names(way, body, depth), 4 * lacking) if lacking > 0 else ():
            value = self.first(self._property(way, name), ABSENT, depth + 1)
            if value is not ABSENT:
                body[name] = value
            if len(body) >= way["minProperties"]:
                break
        yield body
        needed = required(way)
        spare = [name for name in body if name not in needed]
        most = int(way.get("maxProperties", LARGEST_LIST))
        if len(body) > most and len(body) - len(spare) <= most:
            dropped = spare[most - len(body) :]
            yield {name: value for name, value in body.items() if name not in dropped}

    def _new_names(self, way: Record, body: Record, depth: int) -> Iterator[str]:
        """Yield names for further properties: declared ones, those that `propertyNames` allows, and any others."""
        named = {"type": "string", **as_object(way.get("propertyNames"))}
        patterns = [*as_object(way.get("patternProperties"))]
        matching = (matching_text(pattern, self._chance) for pattern in patterns * LARGEST_LIST)
        allowed = self.values(named, ABSENT, depth + 1, LARGEST_LIST) if "propertyNames" in way else ()
        numbered = (f"field_{number}" for number in range(1, LARGEST_LIST))
        found = chain(properties(way), allowed, (name for name in matching if name is not None), numbered)
        return (name for name in cast("Iterable[str]", found) if name not in body)

    def _changed(self, way: Record, schema: Record, body: Record, depth: int) -> Iterator[Record]:
        """Yield the object without optional properties, and with others or other values that the schema mentions."""
        needed = required(way)
        spare = [name for name in body if name not in needed]
        for name in spare:
            yield {other: value for other, value in body.items() if other != name}
        for name, part in mentioned(schema):
            own = self._property(way, name)
            for met in (self._both(own, part), self._both(own, self._not(part))):
                for value in islice(self.values(met, ABSENT, depth + 1), 2):
                    yield {**body, name: value}
                    yield {**{other: body[other] for other in needed if other in body}, name: value}
        for name in properties(way):
            if name not in body:
                value = self.first(self._property(way, name), ABSENT, depth + 1)
                yield {**body, name: value} if value is not ABSENT else body

    def _property(self, way: Record, name: str) -> Record:
        """Return the schema of a property, declared or not."""
        declared = as_object(way.get("properties"))
        found = [declared[name]] if name in declared else []
        for pattern, part in as_object(way.get("patternProperties")).items():
            if matches(pattern, name):
                found.append(part)
        if not found:
            return _schema(way.get("additionalProperties"))
        return reduce(self._both, map(_schema, found))


def _schema(part: Json) -> Record:
    """Return a part of a schema as an object, always the same one."""
    if isinstance(part, dict):
        return as_object(cast("Json", part))
    return IMPOSSIBLE if part is False else _ANYTHING


def _kinds(way: Record, schema: Record, hint: Json) -> Iterator[str]:
    """Yield the types of an alternative, first that of the hint. If none is declared, all of them."""
    allowed = types_of(way) or types_of(schema) or _KINDS
    first = () if hint is ABSENT else (type_name(hint),)
    usual = [kind for kind in allowed if kind != "null"] + [kind for kind in allowed if kind == "null"]
    return (kind for kind in dict.fromkeys((*first, *usual)) if kind in allowed and kind in _KINDS)


def _numbers(way: Record, schema: Record, hint: Json, _depth: int, *, whole: bool) -> Iterator[Json]:
    step: Json = way.get("multipleOf")
    return (value for value in number_candidates(way, schema, hint, whole=whole) if divides(value, step))


def _contained(schema: Record) -> list[Record]:
    """Return the parts of a schema that say what a list contains; one without any if there is none."""
    found = [part for part in about(schema) if isinstance(part.get("contains"), dict)]
    return [*found[:2], {}]


def _is_new(value: Json, seen: set[str] | None) -> bool:
    """Whether a value may be in a list with these values. It is added to them."""
    if seen is None:
        return True
    text = canonical(value)
    if text in seen:
        return False
    seen.add(text)
    return True
