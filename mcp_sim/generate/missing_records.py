"""Generate single records that a call asks for: of an open world, or that another record refers to."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.infer.result_kinds import is_person, is_written_work
from mcp_sim.types import Json, Key, Record, Turn, View
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import constants, is_nullable, main_type
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

MOST_CANDIDATES = 32
"""The most records that a link is chosen from."""

_AGE = timedelta(days=30)
"""How long before the start of the world generated records may date back."""

_USUAL_MINUTES = 90

_TITLES = ("title", "name", "headline", "subject", "label", "summary", "description", "content", "text", "body")
_NAMES = ("{}", "{} Plus", "The {}", "{} Central", "New {}")


def generate_record(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Record:
    """Generate the record of a key, with the `known` fields.

    Times lie before the start of the world, and links refer to existing records. Optional values are left out, except
    those of open entities. The values depend on the seed and on what is known only.
    """
    record: Record = {**(known or {}), entity.key: key}
    given = frozenset(record)
    turn = replace(turn, draws=turn.draws.about(f"{entity.name}/{key}"))
    for field in entity.fields.values():
        value = _value(turn, entity, field, invent, record) if field.name not in record else NOWHERE
        if value is not NOWHERE:
            record[field.name] = value
    if entity.open:
        _settle(record, entity, given)
    return {name: record[name] for name in dict.fromkeys((*entity.fields, *record)) if name in record}


def _settle(record: Record, entity: Entity, given: Container[str]) -> None:
    """Make generated values agree with each other and with the given ones."""
    for name, adjust in (*adjustments(entity), *_periods(entity), *_stamps(entity)):
        if name not in given:
            adjust(record)


def _periods(entity: Entity) -> list[tuple[str, Callable[[Record], None]]]:
    """Return what puts the beginning of a record on its date, and the end behind it."""
    meanings = {field.name: time_meaning(field.name, field.schema) for field in entity.fields.values()}
    start = next((name for name, meaning in meanings.items() if meaning == "start"), None)
    end = next((name for name, meaning in meanings.items() if meaning == "end"), None)
    found: list[tuple[str, Callable[[Record], None]]] = []
    if start is not None and "date" in meanings:
        found.append((start, lambda record: _on_date(record, entity.fields[start])))
    if start is not None and end is not None:
        found.append((end, lambda record: _end_after(record, start, entity.fields[end])))
    return found


def _stamps(entity: Entity) -> list[tuple[str, Callable[[Record], None]]]:
    """Return what puts the creation of a record before its known update."""
    meanings = {time_meaning(field.name, field.schema): field.name for field in entity.fields.values()}
    created, updated = meanings.get("created"), meanings.get("updated")
    return (
        []
        if created is None or updated is None
        else [(created, lambda record: _create_before(record, created, updated))]
    )


def _create_before(record: Record, created: str, updated: str) -> None:
    begun, changed = parse_time(record.get(created)), parse_time(record.get(updated))
    if begun is not None and changed is not None and begun > changed:
        record[created] = record[updated]


def _on_date(record: Record, start: Field) -> None:
    day, moment = parse_time(record.get("date")), parse_time(record.get(start.name))
    if day is not None and moment is not None:
        there = moment.replace(year=day.year, month=day.month, day=day.day)
        record[start.name] = time_formatter(start.name, start.schema)(there)


def _end_after(record: Record, start: str, end: Field) -> None:
    begun, minutes = parse_time(record.get(start)), record.get("duration_minutes", _USUAL_MINUTES)
    if begun is not None and isinstance(minutes, int) and record.get(end.name) is not None:
        record[end.name] = time_formatter(end.name, end.schema)(begun + timedelta(minutes=minutes))


def link_candidates(view: View, entity: str) -> list[Key]:
    """Return the first keys that a link may refer to."""
    return [key for key, _ in islice(view.rows(entity), MOST_CANDIDATES)]


def choose_key(keys: list[Key], draws: Draws, profile: str) -> Key:
    """Choose one of the keys by the seed."""
    return keys[int(draws.unit(f"link/{profile}") * len(keys))]


def _value(turn: Turn, entity: Entity, field: Field, invent: Invent, record: Record) -> Json:
    if field.derived is not None:
        return NOWHERE
    needed = field.required or entity.open
    if field.link is not None:
        keys = link_candidates(turn.view, field.link)
        if not keys:
            return None if is_nullable(field.schema) else NOWHERE
        key = choose_key(keys, turn.draws, f"{entity.name}.{field.name}")
        return [key] if main_type(field.schema) == "array" else key
    if is_nullable(field.schema) and not field.required:
        return None
    if time_meaning(field.name, field.schema) is not None:
        chance = Chance(turn.draws.key + f"{entity.name}/{record[entity.key]}".encode("utf-8", "surrogatepass"))
        made = value_maker(entity.name, field.name, field.schema)
        return made(chance, record, Moment(turn.start - _AGE, turn.start))
    return invent(turn, entity.name, field.name, field.schema, record) if needed else NOWHERE


# what a search asks for -----------------------------------------------------------------------------------------------


def text_fields(entity: Entity) -> list[str]:
    """Return the fields that may hold the words of a search, the title first."""
    texts = [field.name for field in entity.fields.values() if field.name != entity.key and _is_text(field)]
    rank = {name: at for at, name in enumerate(_TITLES)}
    return sorted(texts, key=lambda name: rank.get(snake(name), len(rank)))


def _is_text(field: Field) -> bool:
    is_plain = main_type(field.schema) == "string" and field.link is None and field.derived is None
    is_free = not constants(field.schema) and not field.schema.keys() & {"format", "pattern", "maxLength"}
    return is_plain and is_free and time_meaning(field.name, field.schema) is None


def titles_about(words: str, entity: Entity, count: int, draws: Draws) -> list[str]:
    """Return titles or names of records of an entity in which these words occur."""
    topic = words[:1].upper() + words[1:]
    if is_person(entity.name):
        last = value_maker(entity.name, "last_name", {"type": "string"})
        chance = chance_of(draws.seed, "titles", words)
        return [f"{topic.title()} {last(chance, {}, Moment.unknown())}" for _ in range(count)]
    if not is_written_work(entity.name):
        return [_NAMES[at % len(_NAMES)].format(topic) + (f" {at}" if at >= len(_NAMES) else "") for at in range(count)]
    titles = sorted(word_list("pages", "titles"), key=lambda title: draws.unit(f"title/{title}"))
    return [titles[at % len(titles)].format(topic) for at in range(count)]


def extent(limits: Mapping[str, Any], step: Any) -> tuple[Any, Any]:
    """Return the least and the greatest value within limits, by operator; None for no limit."""
    low = limits["gt"] + step if "gt" in limits else limits.get("gte")
    high = limits["lt"] - step if "lt" in limits else limits.get("lte")
    return low, high


def limited_value(turn: Turn, entity: Entity, field: Field, limits: Record, moment: datetime | None) -> Json:
    """Return a value of a field within limits, by operator; `moment` is that of a field with a time."""
    if moment is not None:
        return time_formatter(field.name, field.schema)(moment)
    numbers = {op: value for op, value in limits.items() if isinstance(value, int | float)}
    if not numbers or main_type(field.schema) not in {"integer", "number"}:
        return next(iter(limits.values()))
    low, high = extent(numbers, 1 if main_type(field.schema) == "integer" else 0.01)
    bounds = {"minimum": low, "maximum": high}
    schema = {**field.schema, **{word: bound for word, bound in bounds.items() if bound is not None}}
    schema.pop("multipleOf", None)
    chance = chance_of(turn.draws.seed, turn.draws.scope, entity.name, field.name, turn.view.count(entity.name))
    return value_maker(entity.name, field.name, schema)(chance, {}, Moment(turn.start, turn.start))
