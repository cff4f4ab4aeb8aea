"""What stands in a field: a value that is valid under its JSON Schema and looks like what the field's name promises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.choices import chosen
from mcp_sim.generate.containers import list_maker, object_maker
from mcp_sim.generate.making import Make
from mcp_sim.generate.numbers import number_maker
from mcp_sim.generate.searching import LIMITS, is_plain, judge, searched
from mcp_sim.generate.setting import PLAIN, Setting, setting_of
from mcp_sim.generate.texts import text_maker
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Key, Record, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import SEPARATOR
from mcp_sim.types.json_schema.shapes import constants, fitting_type, main_type, types_of
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import snake


def value_maker(entity: str, name: str, schema: Record, setting: Setting = PLAIN) -> Make:
    """The maker of a field's values, compiled once. `schema` has no references (`schemas.expanded`)."""

    def compiled(entity: str, name: str, schema: Record) -> Make:
        if is_plain(schema):
            return constructed(entity, name, schema)
        return searched(schema, lambda way: constructed(entity, name, way))

    def constructed(entity: str, name: str, schema: Record) -> Make:
        choices = _choices(schema)
        if choices:
            return chosen(choices, setting.usual)
        if types_of(schema) == ("null",):
            return lambda _chance, _record, _moment: None
        match main_type(schema):
            case "string" | "":
                return text_maker(entity, name, schema, setting)
            case "integer" | "number":
                return number_maker(entity, name, schema, setting.locale.currency)
            case "boolean":
                return _flag_maker(name)
            case "array":
                return list_maker(entity, name, schema, compiled)
            case _:
                return object_maker(entity, name, schema, compiled)

    return compiled(entity, name, schema)


def _choices(schema: Record) -> list[Json]:
    """The values that a schema names and allows; null only where there is no other."""
    allowed = [value for value in constants(schema) if fitting_type(value, schema)]
    if allowed and schema.keys() & LIMITS:
        allowed = [*filter(judge(schema), allowed)] or allowed
    return [value for value in allowed if value is not None] or allowed


def inventor(domain: Domain) -> Invent:
    """The built-in `Invent`: drawn from the turn, so that the same call in the same world invents the same.

    What it makes up is at home where the domain's records are.
    """
    return _Inventor(setting_of(domain))


@dataclass(frozen=True, slots=True)
class _Inventor:
    setting: Setting

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        make = value_maker(entity, field, schema, self.setting)
        chance = Chance(turn.draws.key + f"{entity}.{field}".encode("utf-8", "surrogatepass"))
        return make(chance, record, Moment(turn.now, turn.now))

    def refer(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        return next(iter(keys))


def chance_of(*parts: object) -> Chance:
    """The chance that belongs to these parts, and to nothing else."""
    return Chance(SEPARATOR.join(str(part) for part in parts).encode("utf-8", "surrogatepass"))


_FLAGS: tuple[tuple[re.Pattern[str], float], ...] = tuple(
    (re.compile(pattern), likely)
    for pattern, likely in (
        (r".*(deleted|trashed|banned|spam|blocked|locked|failed|expired|suspended).*", 0.04),
        (r".*(archived|bot|admin|owner|default|system|pinned|starred|favou?rite|flagged|muted).*", 0.1),
        (r".*(private|draft|required|urgent|overdue|hidden|recurring|all_day).*", 0.2),
        (
            r".*(active|enabled|available|visible|verified|valid|in_stock|subscribed|published|paid|read|public|ok).*",
            0.85,
        ),
        (r".*(completed|complete|done|closed|resolved|checked).*", 0.4),
    )
)


def _flag_maker(name: str) -> Make:
    said = snake(name)
    likely = next((likely for pattern, likely in _FLAGS if pattern.fullmatch(said)), 0.25)
    return lambda chance, _record, _moment: chance.unit() < likely
