"""Which writes need something that is free, and take it: a booking a room, a loan a book? Which give it back?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.infer.told_states import known_states
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import last_word, snake, vocabulary, words
from mcp_sim.types.plans import Also, Plan

_TAKES = vocabulary("book reserve rent borrow lend loan hire lease checkout check_out schedule occupy")
_TAKEN = vocabulary("booking reservation rental loan lease hire appointment checkout stay visit")
_GIVES = vocabulary("cancel return release end finish check_out checkout vacate delete remove terminate")
_FREE = vocabulary("available is_available free is_free vacant is_vacant")
_COUNTS = vocabulary("available remaining left stock seats copies quantity spots places units inventory")
_STATES = ("status", "state", "availability")
_OCCUPIED = (
    "reserved", "booked", "rented", "borrowed", "loaned", "on_loan", "checked_out", "lent", "leased", "occupied",
    "taken", "in_use", "unavailable",
)  # fmt: skip
_SAID = {
    "book": ("booked", "reserved"), "reserve": ("reserved", "booked"), "rent": ("rented",), "hire": ("rented", "hired"),
    "borrow": ("borrowed", "checked_out", "on_loan", "loaned"), "lend": ("lent", "borrowed", "on_loan", "loaned"),
    "checkout": ("checked_out", "borrowed"), "check_out": ("checked_out", "borrowed"), "lease": ("leased",),
}  # fmt: skip


def occupying(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        entity = draft.entity_of(plan)
        if entity is None or plan.backend != "records" or plan.each or not _is_stay(look, entity):
            continue
        taken = next(_things(entity, look.reading.word, draft), None)
        if taken is not None and plan.verb == "create" and not any(one.entity == taken.entity for one in plan.also):
            found[look.tool.id] = replace(plan, also=(*plan.also, taken))
        elif taken is not None and plan.verb in {"update", "delete"} and look.reading.word in _GIVES:
            back = replace(taken, fixed=taken.requires, requires=None)
            found[look.tool.id] = replace(plan, also=(*plan.also, back))
    return found


def _is_stay(look: Look, entity: Entity) -> bool:
    """Is it about what takes a thing for a time?"""
    return last_word(entity.name) in _TAKEN or look.reading.word in _TAKES - {"schedule"}


def _things(entity: Entity, word: str, draft: Draft) -> Iterator[Also]:
    """What a record of the entity takes of what it names."""
    tables = draft.tables()
    for name, field in entity.fields.items():
        for target in tables if name != entity.key else ():
            named = key_argument("update", target.name, target.key, {"properties": {name: field.schema}})[1] >= 2
            if named and target is not entity and not _is_counted(target):
                yield from _taking(target, name, word, draft.held[target.name])


def _is_counted(target: Entity) -> bool:
    """Is there a number of them, so that one can be had by several?"""
    numbers = [name for name, field in target.fields.items() if main_type(field.schema) in {"integer", "number"}]
    return any(_COUNTS & {*words(name)} for name in numbers)


def _taking(target: Entity, link: str, word: str, rows: Sequence[Record]) -> Iterator[Also]:
    for name, field in target.fields.items():
        if main_type(field.schema) == "boolean" and snake(name) in _FREE:
            yield Also(target.name, name, link, fixed=False, requires=True)
        elif snake(name) in _STATES:
            states = [*known_states(name, target, rows)]
            free = next((state for state in states if snake(state) in _FREE), None)
            if free is not None:
                yield Also(target.name, name, link, fixed=_occupied(word, states), requires=free)


def _occupied(word: str, states: Sequence[str]) -> str:
    """The state of what is taken: as the verb says, among those that there are; else as the verb says."""
    known = {snake(state): state for state in states}
    said = _SAID.get(word, ("reserved",))
    return next((known[state] for state in (*said, *_OCCUPIED) if state in known), said[0])
