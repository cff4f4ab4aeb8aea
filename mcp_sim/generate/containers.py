"""Generate lists and objects with the sizes, names and distinct parts that their schemas require."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.coherence import has_price
from mcp_sim.generate.schema_constraints import MAX_ITEMS, UNMERGED, CompileMaker, Make, exceeded_limit
from mcp_sim.generate.shipped_data import word_set
from mcp_sim.generate.texts import text_fits
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.uniqueness import with_number
from mcp_sim.types import Json, Record, canonical, frozen
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.merge import merge_schemas
from mcp_sim.types.json_schema.satisfiability import is_satisfiable
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties, required
from mcp_sim.types.lexicon.english import snake

_OPTIONAL = 0.8  # most optional fields are there, and some are missing, as in real records
_USUAL_ITEMS = 3  # a list of this length shows that it is a list, and keeps records readable
_LONG_LIST = (3, 6)  # enough that sorting and paging them shows something
_TRIES = 12  # items must be unique, and small sets of values repeat soon


def _lazy(compile_: CompileMaker, entity: str, name: str, schema: Record) -> Make:
    """Return a maker that is compiled at its first use. Most of a deep schema is never used."""
    compiled = cache(lambda: compile_(entity, name, schema))

    def make(chance: Chance, record: Record, moment: Moment) -> Json:
        return compiled()(chance, record, moment)

    return make


# lists ----------------------------------------------------------------------------------------------------------------


@frozen
class _List:
    """Makes a list: the first items with `fixed`, the next ones with `needed`, all others with `rest`."""

    fixed: Sequence[Make]
    needed: Sequence[Make]
    rest: Make
    least: int
    most: int
    unique: bool

    def __call__(self, chance: Chance, record: Record, moment: Moment) -> Json:
        makers = [*self.fixed, *self.needed]
        seen: set[str] = set()
        values: list[Json] = []
        for at in range(chance.between(self.least, self.most)):
            make = makers[at] if at < len(makers) else self.rest
            for _ in range(_TRIES + 4 * len(seen)):
                value = make(chance, record, moment)
                text = canonical(value) if self.unique else ""
                if not self.unique or text not in seen:
                    seen.add(text)
                    values.append(value)
                    break
        return values


def list_maker(entity: str, name: str, schema: Record, compile_: CompileMaker) -> Make:
    inner = items(schema)
    fixed = [_lazy(compile_, entity, name, as_object(item)) for item in as_list(schema.get("prefixItems"))]
    needed = [
        _lazy(compile_, entity, name, as_object(merge_schemas(inner, source["contains"])))
        for source in (schema, *map(as_object, as_list(schema.get(UNMERGED))))
        if isinstance(source.get("contains"), dict)
        for _ in range(min(int(source.get("minContains", 1)), MAX_ITEMS))
    ]
    low, high = _usual_count(name, schema)
    least = max(min(int(schema.get("minItems", low)), MAX_ITEMS), len(fixed) + len(needed) if needed else 0)
    usual = max(high, least, len(fixed))
    most = len(fixed) if inner == IMPOSSIBLE or schema.get("items") is False else usual
    most = min(max(least, most), int(schema.get("maxItems", MAX_ITEMS)))
    unique = bool(schema.get("uniqueItems")) or (main_type(inner) == "string" and not needed)
    return _List(fixed, needed, _lazy(compile_, entity, name, inner), min(least, most), most, unique)


def _usual_count(name: str, schema: Record) -> tuple[int, int]:
    """Return the usual numbers of items, by the name of a list."""
    last = snake(name).rsplit("_", 1)[-1]
    if last in word_set("nouns", "long_lists"):
        return _LONG_LIST
    is_filled = has_price(schema) or (
        main_type(items(schema)) == "string" and last not in word_set("nouns", "may_be_empty")
    )
    return int(is_filled), _USUAL_ITEMS


# objects --------------------------------------------------------------------------------------------------------------


class ObjectMaker:
    """Makes an object: required properties, most optional ones, and more up to `minProperties`."""

    def __init__(self, entity: str, name: str, schema: Record, compile_: CompileMaker) -> None:
        self.needed = required(schema)
        owner = name or entity
        parts = {field: subschema for field, subschema in properties(schema).items() if self._can_be(field, subschema)}
        self.forbidden = frozenset(properties(schema)) - parts.keys()
        self.open = not any(schema.get(word) is False for word in ("additionalProperties", "unevaluatedProperties"))
        patterns = {
            pattern: as_object(subschema) for pattern, subschema in as_object(schema.get("patternProperties")).items()
        }
        self.makers: dict[str, Make] = {
            field: _lazy(compile_, owner, field, subschema) for field, subschema in parts.items()
        }
        for field in sorted(self.needed - parts.keys()):
            self.makers[field] = _lazy(compile_, owner, field, _other(schema, patterns, field))
        self.least = min(int(schema.get("minProperties", 0)), MAX_ITEMS)
        self.most = int(schema.get("maxProperties", MAX_ITEMS))
        self.follow = {name: as_list(names) for name, names in as_object(schema.get("dependentRequired")).items()}
        pattern: Record = {"pattern": next(iter(patterns))} if patterns else {}
        names: Record = {"type": "string", **pattern, **as_object(schema.get("propertyNames"))}
        self.name = compile_(owner, "key", names)
        self.fits = partial(text_fits, schema=names)
        other = next(iter(patterns.values()), _additional(schema))
        self.other = _lazy(compile_, owner, "value", other)
        self.named = (bool(patterns) or self.open) and other != IMPOSSIBLE
        self.is_map = not parts and isinstance(schema.get("additionalProperties"), dict)

    def _can_be(self, field: str, schema: Record) -> bool:
        """Whether a property is made: optional ones are not if no value satisfies them, or only enormous ones."""
        if field in self.needed:
            return schema != IMPOSSIBLE
        return schema != IMPOSSIBLE and is_satisfiable(schema) is not False and not exceeded_limit(schema)

    def __call__(self, chance: Chance, _record: Record, moment: Moment) -> Json:
        body: Record = {}
        room = self.most - len(self.needed)
        for field, make in self.makers.items():
            needed = field in self.needed
            if needed or (room > 0 and chance.unit() < _OPTIONAL):
                body[field] = make(chance, body, moment)
                room -= not needed
        # Add properties that others depend on. Drop a property whose dependency is forbidden.
        for _ in self.follow:
            for name, wanted in self.follow.items():
                lacking = [str(field) for field in wanted if name in body and field not in body]
                if any(field in self.forbidden for field in lacking):
                    del body[name]
                    continue
                for field in lacking:
                    body[field] = self.makers.get(field, self.other)(chance, body, moment)
        self._fill(body, chance, moment)
        return body

    def _fill(self, body: Record, chance: Chance, moment: Moment) -> None:
        for field, make in self.makers.items():
            if len(body) >= self.least:
                break
            if field not in body:
                body[field] = make(chance, body, moment)
        wanted = max(self.least, min(self.most, _USUAL_ITEMS) if self.is_map else 0)
        for _ in range(_TRIES * wanted if self.named else 0):
            if len(body) >= wanted:
                return
            name = str(self.name(chance, {}, moment))
            name = (with_number(name, len(body) + 1, self.fits) or name) if name in body else name
            if name not in body and name not in self.forbidden:
                body[name] = self.other(chance, body, moment)


def _additional(schema: Record) -> Record:
    return as_object(schema.get("additionalProperties")) or {"type": "string"}


def _other(schema: Record, patterns: Mapping[str, Record], field: str) -> Record:
    """Return the schema of a property that is required and not declared."""
    return next(
        (subschema for pattern, subschema in patterns.items() if text_fits(field, {"pattern": pattern})),
        _additional(schema),
    )
