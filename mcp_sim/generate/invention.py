"""Invent the values that a call needs and nothing determines."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.embedded_records import Embed, embedder, with_known_records
from mcp_sim.generate.setting import Setting, setting_of
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Key, Record, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Invent


def inventor(domain: Domain) -> Invent:
    """Return the built-in `Invent`. The same call in the same world gets the same values.

    Values fit the setting of the domain: its country and theme.
    """
    return _Inventor(setting_of(domain), embedder(domain))


@frozen
class _Inventor:
    setting: Setting
    embed: Embed

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        make = value_maker(entity, field, schema, self.setting)
        chance = Chance(turn.draws.key + f"{entity}.{field}".encode("utf-8", "surrogatepass"))
        value = make(chance, record, Moment(turn.now, turn.now))
        return with_known_records(self.embed, turn, field, schema, value) if isinstance(value, dict | list) else value

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        return next(iter(keys))

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        return self(turn, "", about, schema, {})
