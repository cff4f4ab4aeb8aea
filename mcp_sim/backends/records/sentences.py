"""How does a tool tell in words what it did or found, where nothing shows how its vendor does?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from mcp_sim.backends.records.projection import projector
from mcp_sim.backends.records.refusals import label, noun, value_text
from mcp_sim.backends.records.result_values import Facts
from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.words import plural, snake
from mcp_sim.types.plans import Plan

WriteText: TypeAlias = Callable[[Facts], str]

DONE: Final = {"create": "created", "update": "updated", "delete": "deleted"}
_NAMES = ("name", "title", "subject", "summary", "label", "full_name", "display_name")


def sentence_writer(plan: Plan, entity: Entity, entities: Mapping[str, Entity]) -> WriteText:
    """What was done or found, with all that is to be known of it."""
    show = projector(entity, {}, entities)

    def record_of(record: Record, view: View) -> Record:
        return as_object(show(record, view))

    if plan.verb in {"list", "search"}:
        return lambda facts: _listed(facts, entity, record_of)
    done = DONE.get(plan.verb)
    if plan.verb == "delete":
        return lambda facts: f"{label(entity.name)} {value_text(facts.key)} {done}"
    if done is None:
        return lambda facts: "\n".join(_lines(record_of(facts.record or {}, facts.view)))

    named = "" if entity.singleton else " {}"

    def said(facts: Facts) -> str:
        head = f"{label(entity.name)}{named.format(value_text(facts.key))} {done} successfully"
        return "\n".join([head, *_lines(record_of(facts.record or {}, facts.view))])

    return said


def confirmation_writer(plan: Plan, entity: Entity) -> WriteText:
    """What was done, in one sentence: to which record, and what people know a new one by."""
    done, name = DONE[plan.verb], name_field(entity)
    head = label(entity.name) if entity.singleton else f"{label(entity.name)} {{}}"

    def said(facts: Facts) -> str:
        sentence = f"{head.format(value_text(facts.key))} {done} successfully"
        called = (facts.record or {}).get(name or "") if plan.verb == "create" else None
        return f"{sentence}: {called}" if isinstance(called, str) and called else sentence

    return said


def nothing_found(entity: Entity) -> str:
    return f"No {plural(noun(entity.name).replace(' ', '_')).replace('_', ' ')} found"


def counted(count: int, entity: Entity) -> str:
    """`1 task`, `3 tasks`."""
    one = noun(entity.name)
    return f"{count} {one if count == 1 else plural(one.replace(' ', '_')).replace('_', ' ')}"


def name_field(entity: Entity) -> str | None:
    """The field that people know a record by."""
    named = {snake(name): name for name in entity.fields}
    return next((named[name] for name in _NAMES if name in named and named[name] != entity.key), None)


def written(value: Json) -> str:
    """A value as a sentence has it."""
    if isinstance(value, str):
        return value
    parts = as_list(value)
    if parts and all(isinstance(one, str | int | float) for one in parts):
        return ", ".join(str(one) for one in parts)
    return encode(value).decode()


def _lines(record: Record) -> Iterator[str]:
    return (f"{label(snake(name))}: {written(value)}" for name, value in record.items() if value is not None)


def _listed(facts: Facts, entity: Entity, show: Callable[[Record, View], Record]) -> str:
    page = facts.page
    if not page.rows:
        return nothing_found(entity)
    more = f" (showing {page.offset + 1}-{page.offset + len(page.rows)})" if len(page.rows) < page.total else ""
    rows = [_row(key, show(record, facts.view), entity) for key, record in page.rows]
    return "\n".join([f"Found {counted(page.total, entity)}{more}:", *rows])


def _row(key: Json, record: Record, entity: Entity) -> str:
    name = name_field(entity)
    head = f"- {key}: {record[name]}" if name is not None and isinstance(record.get(name), str) else f"- {key}"
    rest = [f"{snake(field).replace('_', ' ')}: {written(value)}" for field, value in record.items()
            if field not in {name, entity.key} and value is not None]  # fmt: skip
    return f"{head} ({', '.join(rest)})" if rest else head
