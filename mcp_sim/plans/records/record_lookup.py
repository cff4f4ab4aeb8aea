"""Find the record that a call names: by key, by fields, inside another record, or as the next or current one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias, cast

from mcp_sim.generate.shipped_data import word_set
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.filters import Row, field_value
from mcp_sim.plans.refusal import invalid, neighbours, not_found, nothing_left
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, at, items, main_type, required
from mcp_sim.types.json_values import value_at
from mcp_sim.types.lexicon.english import is_id, last_word, noun_of_id, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import parse_time
from mcp_sim.types.views import find_key

_EITHER = re.compile(
    r"\b(?:id|identifier) or (?:the |its )?(\w+)|\b(\w+) or (?:the |its )?(?:id|identifier)\b", re.IGNORECASE
)
"""A description of a key that may as well be another field: "The ID or alias", "by email or ID"."""

Find: TypeAlias = Callable[[Turn], "Key | Observation"]


Choose: TypeAlias = Callable[[Sequence[Row], datetime], "Row | None"]
"""Takes the matching rows, and the time of the call."""

_NEXT, _CURRENT = terms("phrases.next"), terms("phrases.current")
_NEWEST, _OLDEST = terms("arguments.newest"), terms("arguments.oldest")
_TIME_ENDINGS = terms("fields.time_ending")
_COMING = ("start", "future")
_LATEST = re.compile(r"\b(?:get|retrieve|load|read|show|fetch|return)s? (?:the )?(?:latest|last|newest|most recent)\b")


def finder(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """Compile the lookup of the record that a call names. It returns the key or a failure.

    A singleton needs no key. Where the key is optional, other arguments may name the record.
    """
    name, only = entity.name, entity.singleton and plan.key is None
    fetch = argument(plan.key or "")

    by_fields = _finder_by_fields(tool, plan, entity) if plan.filters and not entity.singleton else None
    if plan.key is None and by_fields is not None:
        return by_fields
    others, is_addressed = _other_names(tool, plan, entity), _parent_test(tool, plan, entity)
    is_optional = plan.verb == "get" or (plan.verb == "update" and may_lack_key(tool, plan))

    def find(turn: Turn) -> Key | Observation:
        asked: Json = name if only else fetch(turn.call.arguments)
        key = find_key(turn.view, name, asked)
        if key is None and others:
            named = (segment for field in others for segment, _ in turn.view.find(name, field, asked))
            key = next(named, None)
        if key is not None and is_addressed(turn, key):
            return key
        if asked is ABSENT and plan.key is not None:
            if by_fields is not None and any(path in turn.call.arguments for path in plan.filters):
                return by_fields(turn)
            first = next(iter(turn.view.rows(name)), None) if is_optional else None
            if first is not None:
                return first[0]
            is_read = plan.verb == "get"  # no call that fits the inputSchema is refused for a guess
            return nothing_left(tool, name) if is_read else invalid(tool, plan.key, None, f"{plan.key} is required")
        return not_found(tool, name, None if asked is ABSENT else asked, plan.key, neighbours(turn.view, entity))

    return find


def may_lack_key(tool: Tool, plan: Plan) -> bool:
    """Whether the key is a guess that the schema does not require: no call may be refused for its absence."""
    parent, _, last = (plan.key or "").rpartition(".")
    schema = at(expanded(tool.input_schema), parent) if parent else expanded(tool.input_schema)
    is_inferred = "key" not in plan.basis or plan.basis["key"].source != "declared"
    return is_inferred and last not in required(items(schema) or schema)


def _parent_test(tool: Tool, plan: Plan, entity: Entity) -> Callable[[Turn, Key], bool]:
    """Compile the test that a record to change belongs to the records that the call requires beside its key.

    A record that names no such record passes, and one whose guessed links were generated, not set by a call.
    """
    needed = required(tool.input_schema) if plan.verb in {"update", "delete"} and plan.key is not None else ()
    asked = [(argument(path), rule.field) for path, rule in plan.filters.items() if path in needed]
    is_guessed = any(entity.fields[field].link_is_guessed for _, field in asked if field in entity.fields)

    def belongs(turn: Turn, key: Key) -> bool:
        if is_guessed and turn.view.latest_write(entity.name, key) is None:
            return True
        record = turn.view.get(entity.name, key) or {}
        first = (turn.view.initial_records(entity.name).get(key) or {}) if is_guessed else {}
        generated = {field for _, field in asked if field in first and first[field] == record.get(field)}
        held = [
            (fetch(turn.call.arguments), field_value(record, field)) for fetch, field in asked if field not in generated
        ]
        return all(value is ABSENT or held is None or str(value) == str(held) for value, held in held)

    return belongs if asked else lambda _turn, _key: True


def _other_names(tool: Tool, plan: Plan, entity: Entity) -> list[str]:
    """Return the fields that an argument may name a record by, besides the key.

    `code` for `code` or `room_code`, `name` for `id_or_name`, or where an `id` is described as "The ID or name of the
    template", the tool as "Show a template by ID or name", or the argument is called `template`. Another id of the
    record itself, such as a `uuid`, or the `doc_id` of a document, does for any argument.
    """
    name = snake(plan.key or "")
    either, described = name.split("_or_"), at(expanded(tool.input_schema), plan.key or "")
    pairs = _EITHER.findall(f"{described.get('description', '')} {tool.description}")
    own = {name.removeprefix(f"{noun}_") for noun in (entity.name, last_word(entity.name))}
    names = {name, *own, *either[1:], *either[:-1], *(word.lower() for pair in pairs for word in pair)}
    names |= {"name", "path", "title"} if name in {entity.name, last_word(entity.name)} else set[str]()
    stems = {at: noun_of_id(at) for at in map(snake, entity.fields) if is_id(at)}
    ids = {at for at, stem in stems.items()  # not the `order_id` of an `order_item`
           if entity.name.startswith(stem) and not entity.name.startswith(f"{stem}_")}  # fmt: skip
    return [name for name in entity.fields if name != entity.key and snake(name) in names | ids]


def _finder_by_fields(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """Compile the lookup of the first record that has all given values."""
    asked = [(path, argument(path), rule.field) for path, rule in plan.filters.items()]

    def find(turn: Turn) -> Key | Observation:
        arguments = turn.call.arguments
        given = [(path, field, value) for path, fetch, field in asked if (value := fetch(arguments)) is not ABSENT]
        if not given:
            return invalid(tool, asked[0][0], None, f"{asked[0][0]} is required")
        (path, field, first), *others = given
        for key, record in turn.view.find(entity.name, field, first):
            if all(field_value(record, name) == value for _, name, value in others):
                return key
        named = (path, first) if not others else (others[-1][0], others[-1][2])
        return not_found(tool, entity.name, named[1], named[0])

    return find


def find_inside(view: View, entity: Entity, value: Json, holder: Key | None = None) -> Record | None:
    """Return the record that a value names inside a record of another entity, or inside the given one, or None."""
    place = entity.inside
    if place is None or not isinstance(value, str | int) or isinstance(value, bool):
        return None
    holders = view.find(place.entity, f"{place.field}.*.{entity.key}", value)
    parts = (row for key, outer in holders if holder in {None, key} for row in parts_of(value_at(outer, place.field)))
    return next((row for row in parts if row.get(entity.key) == value), None)


def parts_of(held: Json) -> list[Record]:
    """Return the records that a field holds, as a list or by their keys."""
    return cast("list[Record]", [*held.values()] if isinstance(held, dict) else as_list(held))


def nearest_record(tool: Tool, entity: Entity) -> Choose:
    """Compile the choice among the rows: by the words of the tool's name and description, else the first one.

    The next record is not done, and comes first of those that have not begun. The current one is under way.
    """
    parts = {*words(tool.name)}
    times = [name for name in entity.fields if last_word(snake(name)) in _TIME_ENDINGS]
    if len(times) == 1 and not parts.isdisjoint(_NEWEST | _OLDEST):
        return _extreme(times[0], is_newest=not parts.isdisjoint(_NEWEST))
    if parts.isdisjoint(_NEXT | _CURRENT):
        place = -1 if _LATEST.search(f"{snake(tool.name)} {tool.description.lower()}".replace("_", " ")) else 0
        return lambda rows, _now: rows[place] if rows else None
    progress, starts_in = _progress_of(entity), _time_until(entity)
    is_next = not parts.isdisjoint(_NEXT)

    def choose(rows: Sequence[Row], now: datetime) -> Row | None:
        left = [row for row in rows if progress(row[1]) != "ended"]
        if is_next:
            coming = [(time, row) for row in left if (time := starts_in(row[1], now)) is not None and time >= 0]
            fresh = [row for row in left if progress(row[1]) is None] or left
            return min(coming, key=lambda pair: pair[0])[1] if coming else next(iter(fresh), None)
        begun = [row for row in left if progress(row[1]) == "under_way"]
        return next(iter(begun or left or rows), None)

    return choose


def _extreme(name: str, *, is_newest: bool) -> Choose:
    """Return the choice of the row with the latest or the earliest time; the last or the first if none has one."""

    def choose(rows: Sequence[Row], _now: datetime) -> Row | None:
        timed = [(time, row) for row in rows if (time := parse_time(row[1].get(name))) is not None]
        if not timed:
            return rows[-1 if is_newest else 0] if rows else None
        return (max if is_newest else min)(timed, key=lambda pair: pair[0].timestamp())[1]

    return choose


def _progress_of(entity: Entity) -> Callable[[Record], str | None]:
    """Return a function that reads from the state or a flag of a record whether it is `under_way` or `ended`."""
    names = [name for name in entity.fields if snake(name) in terms("fields.state")]
    flags = [name for name, field in entity.fields.items() if main_type(field.schema) == "boolean"]
    ending = [name for name in flags if snake(name).removeprefix("is_") in terms("states.ended")]

    def progress(record: Record) -> str | None:
        held = [snake(str(record.get(name))) for name in names]
        if any(record.get(name) is True for name in ending) or terms("states.ended").intersection(held):
            return "ended"
        return "under_way" if word_set("states", "under_way").intersection(held) else None

    return progress


def _time_until(entity: Entity) -> Callable[[Record, datetime], float | None]:
    """Return a function that reads in how many seconds a record begins; None if it has no such time."""
    times = [name for name, field in entity.fields.items() if time_meaning(name, field.schema) in _COMING]

    def until(record: Record, now: datetime) -> float | None:
        moment = next((time for name in times if (time := parse_time(record.get(name))) is not None), None)
        return None if moment is None else (moment - now).total_seconds()

    return until
