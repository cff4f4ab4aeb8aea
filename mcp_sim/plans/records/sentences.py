"""Word results in sentences, for tools that answer in prose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from mcp_sim.plans.records.effects import Facts
from mcp_sim.plans.records.projection import projector, written
from mcp_sim.plans.refusal import label, named, noun
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import plural, snake
from mcp_sim.types.plans import Plan

WriteText: TypeAlias = Callable[[Facts], str]

DONE: Final = {"create": "created", "update": "updated", "delete": "deleted"}
_NAMES = ("name", "title", "subject", "summary", "label", "full_name", "display_name")


def sentence_writer(plan: Plan, entity: Entity, *, is_confirmation: bool = False) -> WriteText:
    """Return what describes the outcome of a call with all fields. A confirmation only says what was done."""
    show = projector(entity, {})

    def record_of(record: Record) -> Record:
        return as_object(show(record))

    if plan.verb in {"list", "search"}:
        return lambda facts: _listed(facts, entity, record_of)
    if plan.verb not in DONE:
        return lambda facts: "\n".join(_lines(record_of(facts.record or {})))
    if plan.verb == "delete" or is_confirmation:
        return lambda facts: _head(plan, entity, facts)

    def write_text(facts: Facts) -> str:
        return "\n".join([_head(plan, entity, facts), *_lines(record_of(facts.record or {}))])

    return write_text


def _head(plan: Plan, entity: Entity, facts: Facts) -> str:
    """Return the sentence about a write: `Task T1 created successfully`."""
    subject = label(entity.name) if entity.singleton else named(entity.name, facts.key)
    return f"{subject} {DONE[plan.verb]} successfully"


def found_writer(plan: Plan, entity: Entity) -> WriteText:
    """Return what says how many records a read found, or which one, for results that show them as data."""
    if plan.verb in {"list", "search"}:
        return lambda facts: f"Found {counted(facts.page.total, entity)}" if facts.page.rows else nothing_found(entity)
    return lambda facts: f"{named(entity.name, facts.key)} found"


def confirmation_writer(plan: Plan, entity: Entity) -> WriteText:
    """Return what confirms a write in one sentence, with the name of the record."""
    name = name_field(entity)

    def write_text(facts: Facts) -> str:
        sentence = _head(plan, entity, facts)
        called = (facts.record or {}).get(name or "")
        return f"{sentence}: {called}" if isinstance(called, str) and called else sentence

    return write_text


def nothing_found(entity: Entity) -> str:
    """Return the sentence for an empty list: `No tasks found`."""
    return f"No {_plural_noun(entity)} found"


def counted(count: int, entity: Entity) -> str:
    """Return the number with its noun: `1 task`, `3 tasks`."""
    return f"{count} {noun(entity.name) if count == 1 else _plural_noun(entity)}"


def _plural_noun(entity: Entity) -> str:
    return plural(noun(entity.name).replace(" ", "_")).replace("_", " ")


def name_field(entity: Entity) -> str | None:
    """Return the field with the name of a record, or None."""
    named = {snake(name): name for name in entity.fields}
    return next((named[name] for name in _NAMES if name in named and named[name] != entity.key), None)


def _lines(record: Record) -> Iterator[str]:
    return (f"{label(snake(name))}: {written(value)}" for name, value in record.items() if value is not None)


def _listed(facts: Facts, entity: Entity, show: Callable[[Record], Record]) -> str:
    page = facts.page
    if not page.rows:
        return nothing_found(entity)
    more = f" (showing {page.offset + 1}-{page.offset + len(page.rows)})" if len(page.rows) < page.total else ""
    rows = [_row(key, show(record), entity) for key, record in page.rows]
    return "\n".join([f"Found {counted(page.total, entity)}{more}:", *rows])


def _row(key: Json, record: Record, entity: Entity) -> str:
    name = name_field(entity)
    head = f"- {key}: {record[name]}" if name is not None and isinstance(record.get(name), str) else f"- {key}"
    others = ((field, value) for field, value in record.items() if field not in {name, entity.key})
    rest = [_cell(field, value) for field, value in others if value is not None and value != ""]
    return " | ".join([head, *rest])


def _cell(field: str, value: Json) -> str:
    """Return a value in a row. Four of five recorded servers show rows without the names of fields."""
    return f"{snake(field).replace('_', ' ')}: {written(value)}" if isinstance(value, bool) else written(value)
