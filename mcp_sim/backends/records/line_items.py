"""Line items that reference records: complete them, and take what a booking takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from mcp_sim.backends.records.effects import Consequence, Effect, apply_steps
from mcp_sim.backends.refusal import conflict, invalid, not_found, quoted, value_text
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, properties
from mcp_sim.types.json_values import with_value
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import plural, snake, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Completed: TypeAlias = Callable[[Turn, Record, Record], "Record | Observation"]
"""Returns the given fields with complete lines, or a failure. Takes the turn, the given fields, the record before."""

_BOOKS = frozenset({"book", "reserve"})
_THINGS = "seat|room|place|spot|slot|ticket|unit|table"
_AVAILABLE = re.compile(
    rf"(available|free|remaining|open|left)_({_THINGS})s?|({_THINGS})s?_(available|free|remaining|left)|availability"
)
_WHO = ("passengers", "guests", "travelers", "travellers", "attendees", "participants", "people")
_HOW_MANY = ("quantity", "seats", "count", "number", "tickets")


@dataclass(frozen=True, slots=True)
class LineItems:
    """A list of lines that name records of `target` in the part `link`.

    `path` is the argument that sets the list. `parts` are the properties of a line.
    """

    field: str
    path: str
    link: str
    target: Entity
    parts: tuple[str, ...]


def lines_of(plan: Plan, domain: Domain) -> list[LineItems]:
    """Return the lists that a plan sets whose lines reference given records."""
    entity = domain.entities[plan.entity or ""]
    if entity.name not in domain.given:
        return []
    return [found for path, name in plan.sets.items() if (found := _lines(entity, path, name, domain)) is not None]


def _lines(entity: Entity, path: str, name: str, domain: Domain) -> LineItems | None:
    schema = entity.fields[name].schema if name in entity.fields else {}
    parts = tuple(properties(items(schema))) if is_rows(schema) else ()
    for one in domain.entities.values():
        is_table = one.name in domain.given and one.name != entity.name and one.inside is None and not one.singleton
        short = one.name.rpartition(".")[2]
        link = next((part for part in parts if is_table and snake(part) in {f"{short}_id", *_own_key(one)}), None)
        if link is not None:
            return LineItems(name, path, link, one, parts)
    return None


def _own_key(entity: Entity) -> set[str]:
    return {snake(entity.key)} - {"id", "key", "name", "code"}


def line_completer(tool: Tool, plan: Plan, domain: Domain) -> Completed:
    """Compile the completion of lines with data of the records that they name. Existing lines are kept."""
    known = lines_of(plan, domain)

    def completed(turn: Turn, values: Record, before: Record) -> Record | Observation:
        found = dict(values)
        for lines in known:
            whole: list[Json] = []
            kept = _kept(lines, values, before)
            for line in as_list(values.get(lines.field)):
                made = _same(line, kept) or _completed(tool, turn, lines, as_object(line), before)
                if isinstance(made, Observation):
                    return made
                whole.append(made)
            if whole:
                found[lines.field] = whole
        return found

    return completed if known else lambda _turn, values, _before: values


def _kept(lines: LineItems, values: Record, before: Record) -> list[Record]:
    """Return the existing lines that are kept: none if other fields of the record change."""
    others = (name for name in values if name != lines.field and not isinstance(values[name], list | dict))
    is_as_before = bool(before) and all(values[name] == before.get(name) for name in others)
    return [as_object(line) for line in as_list(before.get(lines.field))] if is_as_before else []


def _same(line: Json, kept: Iterable[Record]) -> Record | None:
    values = as_object(line)
    return next((one for one in kept if values and all(one.get(name) == value for name, value in values.items())), None)


def _completed(tool: Tool, turn: Turn, lines: LineItems, line: Record, before: Record) -> Record | Observation:
    name, asked = lines.target.name, line.get(lines.link)
    key = find_key(turn.view, name, asked)
    if key is None:
        return not_found(tool, name, asked, f"{lines.path}.{lines.link}")
    record = turn.view.get(name, key) or {}
    entry, missing = entry_for(record, line)
    if missing is not None:
        return not_found(tool, name, key, lines.link, where=f" on {missing} {value_text(line[missing])}")
    lacking = [part for part in lines.parts if part not in line]
    found = _known_parts(record, lacking, choice_words(line, {**before, **turn.call.arguments}))
    if entry is not None and len(found) < len(lacking) and isinstance(entry.get("status"), str):
        return conflict(tool, name, key, f"is not available: it is {quoted(entry['status'])}")
    whole = {**line, **found}
    return {part: whole[part] for part in dict.fromkeys((*lines.parts, *line)) if part in whole}


def _known_parts(record: Record, lacking: Iterable[str], words: Sequence[str]) -> Record:
    """Return the parts of a line that a record has."""
    return {part: value_in(record, at) for part in lacking if (at := place_of(record, part, words)) is not None}


# values of records ----------------------------------------------------------------------------------------------------


def choice_words(line: Record, arguments: Mapping[str, Json]) -> list[str]:
    """Return the texts that can select an option, those of the line first."""
    return [value for value in (*line.values(), *arguments.values()) if isinstance(value, str)]


def entry_for(record: Record, line: Record) -> tuple[Record | None, str | None]:
    """Return the entry that a part of a line selects (`date` of `dates`), and the part that has no entry."""
    for name, value in line.items():
        held: Json = record.get(plural(name))
        if isinstance(held, dict) and isinstance(value, str):
            entry: Json = cast("Record", held).get(value)
            return (cast("Record", entry), None) if isinstance(entry, dict) else (None, name)
    return None, None


def place_of(record: Record, name: str, words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the path of a value in a record: at the top, or under one of the words (`prices.economy`)."""
    if name in record and not isinstance(record[name], dict | list):
        return (name,)
    named = [(field, held) for field, held in _mappings(record) if snake(field) in {plural(name), name}]
    chosen = ((field, word) for field, held in named for word in words if not isinstance(held.get(word, {}), dict))
    return next(chosen, None) or next(_inner_places(record, name, words), None)


def _inner_places(record: Record, name: str, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a value in the entries that the words select."""
    for field, held in _mappings(record):
        chosen = next((word for word in words if isinstance(held.get(word), dict)), None)
        inner = None if chosen is None else place_of(cast("Record", held[chosen]), name, words)
        if chosen is not None and inner is not None:
            yield field, chosen, *inner


def _mappings(record: Record) -> Iterator[tuple[str, Record]]:
    return ((name, cast("Record", value)) for name, value in record.items() if isinstance(value, dict))


def value_in(record: Record, place: Sequence[str]) -> Json:
    """Return the value at a path of a record."""
    value: Json = record
    for part in place:
        value = cast("Record", value)[part]
    return value


def booking_consequence(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """Compile what a booking takes from stock, or None if the tool books nothing. Fails if not enough is left."""
    known = lines_of(plan, domain) if plan.verb == "create" and _BOOKS & {*words(tool.name)} else []

    def taken(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        named = _named(known, effect.record)
        steps = (partial(_taken, tool, turn, lines=lines, line=line) for lines, line in named)
        return apply_steps(turn, plan.entity or "", effect, steps)

    return taken if known else None


def _named(known: list[LineItems], record: Record) -> Iterator[tuple[LineItems, Record]]:
    return ((lines, as_object(line)) for lines in known for line in as_list(record.get(lines.field)))


def _taken(tool: Tool, turn: Turn, view: View, *, lines: LineItems, line: Record) -> Change | Observation | None:
    name = lines.target.name
    key = find_key(view, name, line.get(lines.link))
    record = view.get(name, key) if key is not None else None
    place = None if record is None else _available_place(record, line, turn)
    if key is None or record is None or place is None:
        return None
    there: Json = value_in(record, place)
    wanted = _wanted_count(line, turn)
    if not _is_number(there):
        return None
    if wanted < 0:
        return invalid(tool, None, wanted, f"{wanted} is less than nothing")
    if there < wanted:
        return conflict(tool, name, key, f"has only {there} left, {wanted} asked for")
    return _written(view, name, key, with_value(record, place, there - wanted))


def _available_place(record: Record, line: Record, turn: Turn) -> tuple[str, ...] | None:
    entry, _ = entry_for(record, line)
    named = [name for name in (*record, *(entry or {})) if _AVAILABLE.fullmatch(name)]
    return place_of(record, named[0], choice_words(line, turn.call.arguments)) if named else None


def _wanted_count(line: Record, turn: Turn) -> int:
    arguments = turn.call.arguments
    who = next((len(as_list(arguments[name])) for name in _WHO if as_list(arguments.get(name))), 1)
    return next((line[name] for name in _HOW_MANY if _is_number(line.get(name))), who)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _written(view: View, name: str, key: Key, record: Record) -> Change:
    return Change("put", name, key, record, expected=view.version(name, key))
