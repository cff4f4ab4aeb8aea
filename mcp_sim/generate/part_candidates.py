"""Propose lists and objects that are made of valid parts, in the search for a valid value of a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, islice
from typing import Final, Protocol, cast

from mcp_sim.generate.candidates import LARGEST_LIST, about, lengths, mentioned
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.patterns import matches, matching_text
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, required
from mcp_sim.types.json_values import canonical

_ANYTHING: Final[Record] = {}
_SIZES: Final = 6  # longer lists multiply what is judged, and decide nothing that these do not


class Searching(Protocol):
    """A search, as the proposals use it."""

    chance: Chance
    lacking: str

    def values(self, schema: Record, hint: Json, depth: int, most: int = ...) -> Iterator[Json]:
        """Yield distinct valid values, those close to the hint first."""
        ...

    def first(self, schema: Record, hint: Json, depth: int) -> Json:
        """Return the first valid value, or `ABSENT`."""
        ...

    def both(self, first: Record, second: Record) -> Record:
        """Return the merged schema."""
        ...

    def negated(self, schema: Record) -> Record:
        """Return the schema of all other values."""
        ...

    def exceeded(self, word: str, value: Json, most: int, units: str) -> None:
        """Note a bound on sizes that was exceeded."""
        ...


def _schema(value: Json) -> Record:
    """Return a part of a schema as an object, always the same one."""
    if isinstance(value, dict):
        return as_object(cast("Json", value))
    return IMPOSSIBLE if value is False else _ANYTHING


# lists ----------------------------------------------------------------------------------------------------------------


def list_candidates(search: Searching, way: Record, schema: Record, hint: Json, depth: int) -> Iterator[Json]:
    """Yield lists of the sizes at which the schema decides, with valid items: those of the hint where they are."""
    least, most = int(way.get("minItems", 0)), int(way.get("maxItems", LARGEST_LIST))
    if least > LARGEST_LIST:
        search.exceeded("minItems", least, LARGEST_LIST, "items")
        return
    given = as_list(hint)
    wanted = [len(given), *lengths(schema, "minItems", "maxItems"), least, *range(least, least + _SIZES)]
    sizes = dict.fromkeys(min(max(size, least), most, LARGEST_LIST) for size in wanted)
    for size in [*sizes][: 2 * _SIZES]:
        for contained in _contained(schema):
            candidates = _Items(search, way, depth).made([*_item_schemas(search, way, size, contained)], given)
            if candidates is not None:
                yield candidates


def _contained(schema: Record) -> list[Record]:
    """Return the parts of a schema that say what a list contains; at last one that says nothing."""
    containing = [subschema for subschema in about(schema) if isinstance(subschema.get("contains"), dict)]
    return [*containing[:2], {}]


def _item_schemas(search: Searching, way: Record, size: int, contained: Record) -> Iterator[Record]:
    """Yield the schemas of the items of a list, as many of them with `contains` as needed."""
    fixed, rest = [*map(_schema, as_list(way.get("prefixItems")))], _schema(way.get("items"))
    special = as_object(contained.get("contains"))
    needed = int(contained.get("minContains", 1)) if special else 0
    for at in range(size):
        schema = fixed[at] if at < len(fixed) else rest
        if size - at <= needed or (needed and at >= len(fixed)):
            needed -= 1
            yield search.both(schema, special)
        else:
            yield search.both(schema, search.negated(special)) if "maxContains" in contained else schema


class _Items:
    """Makes the items of one list."""

    def __init__(self, search: Searching, way: Record, depth: int) -> None:
        self._search, self._depth = search, depth + 1
        self._seen: set[str] | None = set() if way.get("uniqueItems") else None
        self._others: dict[int, Iterator[Json]] = {}

    def made(self, schemas: list[Record], given: list[Json]) -> list[Json] | None:
        """Return items of these schemas, close to the given ones, or None if one of them allows no item."""
        items: list[Json] = []
        for at, schema in enumerate(schemas):
            value = self._near(schema, given[at]) if at < len(given) else ABSENT
            value = self._other(schema) if value is ABSENT else value
            if value is ABSENT:
                return None
            items.append(value)
        return items

    def _near(self, schema: Record, hint: Json) -> Json:
        near = self._search.first(schema, hint, self._depth)
        return near if near is not ABSENT and self._is_new(near) else ABSENT

    def _other(self, schema: Record) -> Json:
        """Return any item; if items must be unique, a new one."""
        if self._seen is None:
            return self._search.first(schema, ABSENT, self._depth)
        if id(schema) not in self._others:
            self._others[id(schema)] = self._search.values(schema, ABSENT, self._depth, LARGEST_LIST)
        return next(filter(self._is_new, self._others[id(schema)]), ABSENT)

    def _is_new(self, value: Json) -> bool:
        """Whether a value may be in the list. It is noted, if items must be unique."""
        if self._seen is None:
            return True
        text = canonical(value)
        if text in self._seen:
            return False
        self._seen.add(text)
        return True


# objects --------------------------------------------------------------------------------------------------------------


def object_candidates(search: Searching, way: Record, schema: Record, hint: Json, depth: int) -> Iterator[Json]:
    """Yield objects with valid properties: those of the hint and the required ones, then fewer, others and more."""
    if way.get("minProperties", 0) > LARGEST_LIST:
        search.exceeded("minProperties", way["minProperties"], LARGEST_LIST, "properties")
        return
    candidates = _Properties(search, way, depth + 1)
    base = candidates.near(as_object(hint))
    if base is None:
        return
    bodies = [base, {name: base[name] for name in base if name in candidates.needed}]
    for body in bodies:
        yield from candidates.completed(body)
    for body in bodies:
        for changed in candidates.changed(schema, body):
            yield from candidates.completed(changed)


def _without(body: Record, name: str) -> Record:
    return {other: value for other, value in body.items() if other != name}


class _Properties:
    """Makes the properties of one object."""

    def __init__(self, search: Searching, way: Record, depth: int) -> None:
        self._search, self._way, self._depth = search, way, depth
        self.needed = required(way)

    def near(self, given: Record) -> Record | None:
        """Return the given and the required properties, made valid; None if a required one has no value."""
        declared = (name for name in properties(self._way) if name in self.needed)
        body: Record = {}
        for name in dict.fromkeys((*given, *declared, *sorted(self.needed))):
            self._search.lacking = ""
            value = self._search.first(self._property(name), given.get(name, ABSENT), self._depth)
            if value is not ABSENT:
                body[name] = value
            elif name in self.needed:
                self._search.lacking = f"{name}.{self._search.lacking}".removesuffix(".")
                return None
        return body

    def completed(self, body: Record) -> Iterator[Record]:
        """Yield the object with what its properties depend on and as many properties as needed, and with fewer."""
        body = self._with_enough(self._with_dependencies(body))
        if ABSENT in body.values():
            return
        yield body
        spare = [name for name in body if name not in self.needed]
        excess = len(body) - int(self._way.get("maxProperties", LARGEST_LIST))
        if 0 < excess <= len(spare):
            yield {name: value for name, value in body.items() if name not in spare[-excess:]}

    def changed(self, schema: Record, body: Record) -> Iterator[Record]:
        """Yield the object without optional properties, and with others or other values that the schema mentions."""
        yield from (_without(body, name) for name in body if name not in self.needed)
        least = {name: body[name] for name in body if name in self.needed}
        for name, value in self._mentioned(schema):
            yield {**body, name: value}
            yield {**least, name: value}
        yield from ({**body, name: self._value(name)} for name in properties(self._way) if name not in body)

    def _mentioned(self, schema: Record) -> Iterator[tuple[str, Json]]:
        """Yield values of the properties that parts of the schema mention: some as they say, some that differ."""
        for name, subschema in mentioned(schema):
            declared = self._property(name)
            for met in (
                self._search.both(declared, subschema),
                self._search.both(declared, self._search.negated(subschema)),
            ):
                yield from ((name, value) for value in islice(self._search.values(met, ABSENT, self._depth), 2))

    def _with_dependencies(self, body: Record) -> Record:
        extended = dict(body)
        for name, others in as_object(self._way.get("dependentRequired")).items():
            lacking = [str(other) for other in as_list(others) if name in extended and other not in extended]
            extended |= {other: self._value(other) for other in lacking}
        return extended

    def _with_enough(self, body: Record) -> Record:
        least = int(self._way.get("minProperties", 0))
        completed = dict(body)
        names = self._new_names(body)
        for _ in range(4 * (least - len(body))):
            name = next(names, None) if len(completed) < least else None
            if name is None:
                break
            value = self._value(name)
            completed |= {} if value is ABSENT else {name: value}
        return completed

    def _new_names(self, body: Record) -> Iterator[str]:
        """Yield names for further properties: declared ones, those that `propertyNames` allows, and any others."""
        way, search = self._way, self._search
        name_schema = {"type": "string", **as_object(way.get("propertyNames"))}
        patterns = [*as_object(way.get("patternProperties"))]
        matching = (matching_text(pattern, search.chance) for pattern in patterns * LARGEST_LIST)
        allowed = search.values(name_schema, ABSENT, self._depth, LARGEST_LIST) if "propertyNames" in way else ()
        numbered = (f"field_{number}" for number in range(1, LARGEST_LIST))
        names = chain(properties(way), allowed, (name for name in matching if name is not None), numbered)
        return (name for name in cast("Iterable[str]", names) if name not in body)

    def _value(self, name: str) -> Json:
        return self._search.first(self._property(name), ABSENT, self._depth)

    def _property(self, name: str) -> Record:
        """Return the schema of a property, declared or not."""
        declared = as_object(self._way.get("properties"))
        schemas = [declared[name]] if name in declared else []
        patterns = as_object(self._way.get("patternProperties"))
        schemas += [value for pattern, value in patterns.items() if matches(pattern, name)]
        if not schemas:
            return _schema(self._way.get("additionalProperties"))
        return reduce(self._search.both, map(_schema, schemas))
