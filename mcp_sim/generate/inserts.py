"""What does a record look like that someone else has made just now?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.keys import keys_of, next_key
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.times import sense, written
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Change, Json, Key, Record, View
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import is_nullable, main_type

MOST_LOOKED_AT = 1000
"""A link leads to one of so many records, those that were made first."""


@dataclass(frozen=True, slots=True)
class Inserter:
    """Makes records of one entity as a person with the same tools at hand would. `values` are as they say."""

    entity: Entity
    values: Mapping[str, Json]

    def inserted(self, view: View, now: datetime, draws: Draws) -> Change | None:
        """A new record; None where it must link to another and there is none."""
        key = next_key(self.entity, keys_of(self.entity), view, draws)
        chance = Chance(draws.key + f"insert/{self.entity.name}/{key}".encode("utf-8", "surrogatepass"))
        record: Record = {self.entity.key: key, **self.values}
        for field in self.entity.fields.values():
            if field.name in record or field.derived is not None:
                continue
            value = self._value(field, view, now, chance, record)
            if value is None and not is_nullable(field.schema):
                if field.required:
                    return None
                continue
            record[field.name] = value
        order = [name for name in self.entity.fields if name in record]
        return Change("put", self.entity.name, key, {name: record[name] for name in dict.fromkeys((*order, *record))})

    def _value(self, field: Field, view: View, now: datetime, chance: Chance, record: Record) -> Json:
        if field.link is not None:
            key = _some_key(view, field.link, chance)
            return key if main_type(field.schema) != "array" else [] if key is None else [key]
        if sense(field.name, field.schema) in {"created", "updated"}:
            return written(now, field.name, field.schema)
        return value_maker(self.entity.name, field.name, field.schema)(chance, record, Moment(now, now))


def _some_key(view: View, entity: str, chance: Chance) -> Key | None:
    keys = [key for _, (key, _) in zip(range(MOST_LOOKED_AT), view.rows(entity), strict=False)]
    return chance.choice(keys) if keys else None
