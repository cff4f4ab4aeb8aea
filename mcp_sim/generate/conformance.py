"""Adjust records to schemas that constrain several properties together: a closed issue has a closing time."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TypeAlias

from mcp_sim.generate.schema_constraints import alternatives, validity_test
from mcp_sim.generate.time_fields import Moment, time_meaning
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.shapes import as_list, as_object, at, items, properties, required
from mcp_sim.types.result_schemas import result_schema
from mcp_sim.types.time_formats import parse_time

Conform: TypeAlias = Callable[[Record, Record, Container[str]], Record]
"""Takes a shown record, the stored record, and the fields that must stay. Returns the shown record, made valid."""

Adjust: TypeAlias = Callable[[Record, Container[str]], Record]
"""Takes a stored record, and the fields that must stay. Returns the record whose shown fields are valid together."""

_TOGETHER = frozenset({
    "if", "allOf", "anyOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties",
    "propertyNames", "patternProperties", "unevaluatedProperties",
})  # fmt: skip
"""Schema keywords that constrain several properties together."""

_AT_LEAST = frozenset({"contains", "minItems", "minProperties"})
_KEPT, _CHANGED, _DROPPED, _ADDED = 10_000, 100, 3, 1
"""Costs of changing a field that must stay, changing a value, dropping a field, and adding one."""


def schema_conformer(entity: Entity, schema: Record) -> Conform | None:
    """Return what adjusts records to a schema, None if its properties are independent of each other."""
    parts = properties(schema)
    if not schema.keys() & _TOGETHER and not any(_AT_LEAST & subschema.keys() for subschema in parts.values()):
        return None
    allows, ways = validity_test(schema), [_Alternative(entity, way) for way in alternatives(schema)]

    def conform(body: Record, record: Record, kept: Container[str]) -> Record:
        if allows(body):
            return body
        chance = chance_of(entity.name, record.get(entity.key), "way")
        tried = [(*way.fitted(body, record, kept), chance.unit()) for way in ways]
        best = sorted(tried, key=lambda entry: (entry[0], entry[2]))
        return next((row for _, row, _ in best if allows(row)), body)

    return conform


def record_conformers(domain: Domain, entity: Entity) -> tuple[Adjust, ...]:
    """Return what adjusts an entity's records to the output schemas of its tools."""
    shown = [*shown_schemas(domain, entity)]
    distinct = [schema for place, schema in enumerate(shown) if schema not in shown[:place]]
    return tuple(adjust for schema in distinct if (adjust := _record_conformer(entity, schema)) is not None)


def _record_conformer(entity: Entity, schema: Record) -> Adjust | None:
    """Return what adjusts the fields that a schema shows, None if they are independent of each other."""
    conform, names = schema_conformer(entity, schema), properties(schema)
    if conform is None:
        return None

    def adjust(record: Record, given: Container[str]) -> Record:
        shown = {name: value for name, value in record.items() if name in names} if names else record
        conformed = conform(shown, record, given)
        if conformed is shown:
            return record
        kept = {name: value for name, value in record.items() if name not in shown or name in given}
        return {**conformed, **kept}

    return adjust


class _Alternative:
    """One alternative of a schema. Within it, properties are checked independently."""

    def __init__(self, entity: Entity, schema: Record) -> None:
        self.entity, self.parts, self.needed = entity, properties(schema), required(schema)
        self.judges = {name: validity_test(subschema) for name, subschema in self.parts.items()}
        self.closed = schema.get("additionalProperties") is False
        self.follow = {name: as_list(names) for name, names in as_object(schema.get("dependentRequired")).items()}
        self.least, self.most = int(schema.get("minProperties", 0)), int(schema.get("maxProperties", 10_000))

    def fitted(self, body: Record, record: Record, kept: Container[str]) -> tuple[int, Record]:
        """Return the cost of adjusting a shown record to this alternative, and the adjusted record."""
        fitted = {name: value for name, value in body.items() if self._may_stay(name, value)}
        for name in self._lacking(fitted):
            fitted[name] = self._value(name, record)
        for name in [*fitted][::-1]:  # the last optional properties are dropped first
            if len(fitted) > self.most and name not in self.needed and name != self.entity.key:
                del fitted[name]
        changed = {name for name in body if name in fitted and fitted[name] is not body[name]}
        dropped, added = body.keys() - fitted.keys(), fitted.keys() - body.keys()
        lost = sum(name in kept for name in changed | dropped)
        cost = _KEPT * lost + _CHANGED * len(changed) + _DROPPED * len(dropped) + _ADDED * len(added)
        return cost, {name: fitted[name] for name in dict.fromkeys((*body, *fitted)) if name in fitted}

    def _may_stay(self, name: str, value: Json) -> bool:
        if name == self.entity.key:
            return True  # another key would be another record
        if name not in self.parts:
            return not self.closed
        return self.parts[name] != IMPOSSIBLE and self.judges[name](value)

    def _lacking(self, body: Mapping[str, Json]) -> Iterator[str]:
        """Yield missing properties: required ones, dependent ones, then enough for `minProperties`.

        The caller adds what is yielded to `body`, so that later properties are not missing any more.
        """
        yield from [name for name in sorted(self.needed) if name not in body]
        for name, wanted in self.follow.items():
            yield from [str(field) for field in wanted if name in body and field not in body]
        possible = [name for name, subschema in self.parts.items() if name not in body and subschema != IMPOSSIBLE]
        yield from possible[: max(0, self.least - len(body))]

    def _value(self, name: str, record: Record) -> Json:
        """Return the record's own value if it is valid, else a generated one that is always the same."""
        if name in record and name in self.judges and self.judges[name](record[name]):
            return record[name]
        make = value_maker(self.entity.name, name, self.parts.get(name, {}))
        stamps = (
            parse_time(record.get(field.name))
            for field in self.entity.fields.values()
            if time_meaning(field.name, field.schema) in {"created", "updated"}
        )
        latest = max(filter(None, stamps), default=None)
        moment = Moment(latest, latest) if latest is not None else Moment.unknown()
        return make(chance_of(self.entity.name, record.get(self.entity.key), name), record, moment)


def shown_schemas(domain: Domain, entity: Entity) -> Iterator[Record]:
    """Yield the schemas of an entity's records in the output schemas of all tools."""
    for plan in domain.plans.values():
        tool = domain.tools.get(plan.tool)
        if plan.entity == entity.name and plan.backend == "records" and tool is not None and tool.output_schema:
            output = result_schema(tool)
            if plan.envelope.rows is not None:
                yield items(at(output, plan.envelope.rows))
            elif plan.envelope.record is not None:
                yield at(output, plan.envelope.record)


def field_schemas(domain: Domain, entity: Entity, field: str) -> Iterator[Record]:
    """Yield the schemas of one field in these output schemas."""
    parts = (properties(schema).get(field) for schema in shown_schemas(domain, entity))
    return (schema for schema in parts if schema is not None)
