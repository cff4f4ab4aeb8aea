"""Generate single records that a call asks for: of an open world, or that another record refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.links import repeated_value
from mcp_sim.generate.periods import lengths_of
from mcp_sim.generate.places import asked_place, city_in, known_cities
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.time_fields import Moment, format_time, time_formatter, time_meaning
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import NOWHERE, Change, Json, Key, Record, Turn, View
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import constants, is_nullable, main_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.record_kinds.usual_fields import is_person, is_written_work, precise_noun
from mcp_sim.types.time_formats import parse_time

MOST_CANDIDATES = 32  # the most records that a link is chosen from

_AGE = timedelta(days=30)  # how long before the start of the world generated records may date back

_DAYS = ("departure_date", "travel_date", "start_date", "check_in", "date")
_USUAL_SECONDS = 90 * 60  # an appointment or a meal, where no field says how long it lasts

_TITLES = ("title", "name", "headline", "subject", "label", "summary", "description", "content", "text", "body")


def generate_record(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Record:
    """Generate the record of a key, with the `known` fields.

    Times lie before the start of the world, and links refer to existing records. Optional values are left out, except
    those of open entities. The values depend on the seed and on what is known only.
    """
    record: Record = {**(known or {}), entity.key: key}
    given = frozenset(record)
    near = asked_place(turn.call.arguments) if entity.open else {}
    turn = replace(turn, draws=turn.draws.about(f"{entity.name}/{key}"))
    for field in entity.fields.values():
        value = _value(turn, entity, field, invent, {**record, **near}) if field.name not in record else NOWHERE
        if value is not NOWHERE:
            record[field.name] = value
    if entity.open:
        _repeat(turn.view, record, entity, given)
        for name, adjust in adjustments(entity):
            if name not in given:
                adjust(record)
        _settle_times(record, entity, given)
    _settle_stamps(record, entity, given)
    return {name: record[name] for name in dict.fromkeys((*entity.fields, *record)) if name in record}


def generated_put(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Change:
    """Return the change that adds the generated record of a key."""
    return Change("put", entity.name, key, generate_record(turn, entity, key, invent, known), expected=0)


def _repeat(view: View, record: Record, entity: Entity, given: Container[str]) -> None:
    """Set the fields that repeat the name of a linked record, such as `artist` beside `artist_id`."""
    for link in entity.fields.values():
        key: Json = record.get(link.name)
        source = view.get(link.link, key) if link.link is not None and isinstance(key, str | int) else None
        if source is None:
            continue
        for name in record.keys() - {link.name}:
            value = repeated_value(entity.name, name, link, source) if name not in given else None
            if value is not None and isinstance(record[name], str):
                record[name] = value


def _settle_times(record: Record, entity: Entity, given: Container[str]) -> None:
    """Put the generated beginning of a record on its date, and the end behind it, by its length if it has one."""
    times = {time_meaning(field.name, field.schema): field for field in reversed([*entity.fields.values()])}
    start, end = times.get("start"), times.get("end")
    begun = None if start is None else parse_time(record.get(start.name))
    if start is None or begun is None:
        return
    days = sorted((name for name in _DAYS if name in entity.fields), key=lambda name: name not in given)
    day = parse_time(record.get(days[0])) if days and days[0] != start.name else None
    if day is not None and start.name not in given:
        begun = begun.replace(year=day.year, month=day.month, day=day.day)
        record[start.name] = format_time(begun, start.name, start.schema)
    ended = None if end is None or end.name in given else parse_time(record.get(end.name))
    if end is not None and ended is not None:
        lasts, unit = next(((record.get(field.name), unit) for field, unit in lengths_of(entity)), (None, 1.0))
        stays = lasts is None and day is None and start.name not in given and ended > begun
        seconds = lasts * unit if isinstance(lasts, int | float) else _USUAL_SECONDS
        with suppress(OverflowError):  # the calendar ends before
            later = format_time(begun + timedelta(seconds=seconds), end.name, end.schema)
            record[end.name] = record[end.name] if stays else later


def _settle_stamps(record: Record, entity: Entity, given: Container[str]) -> None:
    """Put the creation of a record before its update, or the update after a given creation."""
    names = {time_meaning(field.name, field.schema): field.name for field in entity.fields.values()}
    created, updated = names.get("created", ""), names.get("updated", "")
    begun, changed = parse_time(record.get(created)), parse_time(record.get(updated))
    if begun is not None and changed is not None and begun > changed:
        record |= {created: record[updated]} if created not in given else {updated: record[created]}


def _value(turn: Turn, entity: Entity, field: Field, invent: Invent, record: Record) -> Json:
    needed = field.required or entity.open
    if field.link is not None:
        keys = [key for key, _ in islice(turn.view.rows(field.link), MOST_CANDIDATES)]
        if not keys:
            return None if is_nullable(field.schema) else NOWHERE
        key = keys[int(turn.draws.unit(f"link/{entity.name}.{field.name}") * len(keys))]
        return [key] if main_type(field.schema) == "array" else key
    if is_nullable(field.schema) and not field.required:
        return None
    if time_meaning(field.name, field.schema) is not None:
        chance = Chance(turn.draws.key + f"{entity.name}/{record[entity.key]}".encode("utf-8", "surrogatepass"))
        make = value_maker(entity.name, field.name, field.schema)
        return make(chance, record, Moment(turn.start - _AGE * turn.draws.unit("age"), turn.start))
    noun = precise_noun(entity.name, entity.fields)
    return invent(turn, noun, field.name, field.schema, record) if needed else NOWHERE


# what a search asks for -----------------------------------------------------------------------------------------------


def text_fields(entity: Entity) -> list[str]:
    """Return the fields that may hold the words of a search, the title first."""
    texts = [field.name for field in entity.fields.values() if field.name != entity.key and _is_text(field)]
    rank = {name: at for at, name in enumerate(_TITLES)}
    return sorted(texts, key=lambda name: rank.get(snake(name), len(rank)))


def _is_text(field: Field) -> bool:
    is_plain = main_type(field.schema) == "string" and field.link is None
    is_free = not constants(field.schema) and not field.schema.keys() & {"format", "pattern", "maxLength"}
    return is_plain and is_free and time_meaning(field.name, field.schema) is None


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


_WHERE = re.compile(r"\s*\b(?:in|near|around|at|close to|next to)\s+(?P<place>.+)$", re.IGNORECASE)
_TRIES = 4  # bounds the search where a noun has few titles
_USUAL = ("{}", "{} {stem}", "{stem} {}", "The {}", "{} Central", "New {}")


def split_place(words: str) -> tuple[str, str]:
    """Split a search for things at a place: `coffee` and `Amsterdam` for `coffee in Amsterdam`."""
    match = _WHERE.search(words)
    if match is None or not match.start() or city_in(match[0]) is None:
        return words, ""
    return words[: match.start()], match["place"]


def titles_about(words: str, entity: Entity, count: int, draws: Draws) -> list[str]:
    """Return titles or names of records of a kind in which these words occur. A place in them is left out."""
    noun, rule = entity.name, _rule(entity.name)
    topic = split_place(words)[0]
    is_proper = any(word[:1].isupper() for word in topic.split())
    topic = topic if rule is not None else words
    topic = topic[:1].upper() + topic[1:]
    chance = chance_of(draws.seed, "titles", noun, words)
    if rule is None and is_person(noun):
        # Different full names: the asked one and double names if it has several parts, else with last names.
        last, asked = value_maker("person", "last_name", {"type": "string"}), topic.title()
        joint = "-" if len(topic.split()) > 1 else " "
        people = (asked,) if joint == "-" else ()
        return _different(lambda: f"{asked}{joint}{last(chance, {}, Moment.unknown())}", count, *people)
    if rule is None and is_written_work(noun):
        titles = word_list("pages", "titles")
        first = chance.below(len(titles))
        return [titles[(first + at) % len(titles)].format(topic) for at in range(count)]
    rule = rule or {"names": _USUAL}
    if "exact" in rule and words.lower() in known_cities():
        make = value_maker(noun, "name", {"type": "string"})
        return _different(lambda: str(make(chance, {}, Moment.unknown())), count)
    templates = rule.get("exact", rule["names"]) if is_proper else rule["names"]  # a proper name comes first
    return [_filled(template, topic, chance) for template in _as_many(templates, count)]


def _as_many(templates: Sequence[str], count: int) -> list[str]:
    whole = [templates[at % len(templates)] for at in range(count)]
    return [f"{template} {at}" if at >= len(templates) else template for at, template in enumerate(whole)]


@cache
def _rule(noun: str) -> dict[str, Any] | None:
    names = (noun, noun.rpartition(".")[2], noun.rsplit("_", 1)[-1])
    return next((rule for name in names for rule in load("titles") if name in rule["nouns"]), None)


def _filled(template: str, topic: str, chance: Chance) -> str:
    stem, stems = "", word_list("words", "company_stems")
    if "stem" in template:
        stem = chance.choice(stems)
    if "<" in template:
        name = slug(topic, "-")
        is_whole = all(word in name for word in topic.lower().split())
        return template.replace("<stem>", stem.lower()).replace("<>", name if is_whole else topic.lower())
    return template.replace("{stem}", stem).replace("{}", topic)


def _different(draw: Callable[[], str], count: int, *known: str) -> list[str]:
    names = dict.fromkeys(known)
    for _ in range(_TRIES * count):
        if len(names) < count:
            names[draw()] = None
    return _as_many([*names], count)
