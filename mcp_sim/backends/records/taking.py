"""What is taken by a booking: the seats, rooms and places that the records have which its lines name?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from mcp_sim.backends.records.effects import Consequence, Effect, stepped
from mcp_sim.backends.records.line_items import Lines, entry_for, lines_of, place_of, said_words, value_in
from mcp_sim.backends.records.refusals import conflict, invalid
from mcp_sim.generate.named import found_key
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import words
from mcp_sim.types.paths import with_value
from mcp_sim.types.plans import Plan

_BOOKS = frozenset({"book", "reserve"})
_THINGS = "seat|room|place|spot|slot|ticket|unit|table"
_LEFT = re.compile(
    rf"(available|free|remaining|open|left)_({_THINGS})s?|({_THINGS})s?_(available|free|remaining|left)|availability"
)
_WHO = ("passengers", "guests", "travelers", "travellers", "attendees", "participants", "people")
_HOW_MANY = ("quantity", "seats", "count", "number", "tickets")


def taking(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """What a booking takes; refused where there is not so much left. None where a tool books nothing."""
    known = lines_of(plan, domain) if plan.verb == "create" and _BOOKS & {*words(tool.name)} else []

    def taken(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        named = _named(known, effect.record)
        steps = (partial(_taken, tool, turn, lines=lines, line=line) for lines, line in named)
        return stepped(turn, plan.entity or "", effect, steps)

    return taken if known else None


def _named(known: list[Lines], record: Record) -> Iterator[tuple[Lines, Record]]:
    return ((lines, as_object(line)) for lines in known for line in as_list(record.get(lines.field)))


def _taken(tool: Tool, turn: Turn, view: View, *, lines: Lines, line: Record) -> Change | Observation | None:
    name = lines.target.name
    key = found_key(view, name, line.get(lines.link))
    record = view.get(name, key) if key is not None else None
    place = None if record is None else _left(record, line, turn)
    if key is None or record is None or place is None:
        return None
    there: Json = value_in(record, place)
    wanted = _wanted(line, turn)
    if not _is_number(there):
        return None
    if wanted < 0:
        return invalid(tool, None, wanted, f"{wanted} is less than nothing")
    if there < wanted:
        return conflict(tool, name, key, f"has only {there} left, {wanted} asked for")
    return _written(view, name, key, with_value(record, place, there - wanted))


def _left(record: Record, line: Record, turn: Turn) -> tuple[str, ...] | None:
    entry, _ = entry_for(record, line)
    named = [name for name in (*record, *(entry or {})) if _LEFT.fullmatch(name)]
    return place_of(record, named[0], said_words(line, turn.call.arguments)) if named else None


def _wanted(line: Record, turn: Turn) -> int:
    arguments = turn.call.arguments
    who = next((len(as_list(arguments[name])) for name in _WHO if as_list(arguments.get(name))), 1)
    return next((line[name] for name in _HOW_MANY if _is_number(line.get(name))), who)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _written(view: View, name: str, key: Key, record: Record) -> Change:
    return Change("put", name, key, record, expected=view.version(name, key))
