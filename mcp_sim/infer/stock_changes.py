"""Writes that take from a stock or a balance, or occupy a thing, and those that undo it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.transitions import known_states
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import last_word, snake, vocabulary, words
from mcp_sim.types.plans import Also, Plan

_TAKERS = vocabulary(
    "order sale reservation booking rental loan checkout registration enrollment enrolment ticket lend borrowing"
)
"""Records that take from a stock."""

_SPENT, _PAID_IN = vocabulary("charge withdrawal payment debit expense"), vocabulary("deposit credit topup income")
"""Records that take from a balance, and records that add to one."""

_TAKEN_SINGLY = vocabulary("rental loan checkout registration enrollment enrolment lend borrowing")
"""Records that take one, if there is no quantity."""

_NOT_TAKING = vocabulary("purchase supplier supply restock replenishment incoming return support repair work")
"""Words before an order or a ticket that takes nothing."""

_STOCK = re.compile(
    r"(current_)?stock(_(quantity|level|count|qty))?|(quantity|qty|units|number)_in_stock|in_stock|on_hand|"
    r"inventory(_(count|quantity|level))?|quantity_on_hand|"
    r"(available|remaining)_(quantity|units|stock|seats|spots|places|tickets|copies|rooms|slots)|"
    r"(quantity|units|stock|seats|spots|places|tickets|copies|rooms|slots)_(available|remaining|left)"
)
_COUNT_NAMES = vocabulary("quantity qty seats spots places tickets copies rooms slots passengers units")
_UNDOING_VERBS = vocabulary("cancel return void")
_NUMBERS = frozenset({"integer", "number"})
_GENERIC_KEYS = vocabulary("id key name uuid _id")
_OCCUPYING_VERBS = vocabulary("book reserve rent borrow lend loan hire lease checkout check_out schedule occupy")
_OCCUPANCIES = vocabulary("booking reservation rental loan lease hire appointment checkout stay visit")
_RELEASING_VERBS = vocabulary("cancel return release end finish check_out checkout vacate delete remove terminate")
_FREE_STATES = vocabulary("available is_available free is_free vacant is_vacant")
_STOCK_NAMES = vocabulary("available remaining left stock seats copies quantity spots places units inventory")
_STATE_FIELDS = ("status", "state", "availability")
_OCCUPIED_STATES = (
    "reserved", "booked", "rented", "borrowed", "loaned", "on_loan", "checked_out", "lent", "leased", "occupied",
    "taken", "in_use", "unavailable",
)  # fmt: skip
_STATES_OF_VERB = {
    "book": ("booked", "reserved"), "reserve": ("reserved", "booked"), "rent": ("rented",), "hire": ("rented", "hired"),
    "borrow": ("borrowed", "checked_out", "on_loan", "loaned"), "lend": ("lent", "borrowed", "on_loan", "loaned"),
    "checkout": ("checked_out", "borrowed"), "check_out": ("checked_out", "borrowed"), "lease": ("leased",),
}  # fmt: skip


def plan_stock_changes(draft: Draft) -> dict[str, Plan]:
    """Return new plans for writes that take from a stock or a balance, and those that undo it."""
    found: dict[str, Plan] = {}
    for features, plan in draft.record_items():
        entity = draft.entities.get(features.entity)
        counts = any(one.how in {"add", "subtract"} for one in plan.also)
        if entity is None or plan.backend != "records" or counts or plan.each:
            continue
        also = next(_stock_taken(features, entity, draft.entities), None) or _balance_change(entity, draft.entities)
        if also is not None and plan.verb == "create":
            found[features.tool.id] = replace(plan, also=(also, *plan.also))
        elif also is not None and plan.verb in {"update", "delete"} and features.parsed.word in _UNDOING_VERBS:
            back = "add" if also.how == "subtract" else "subtract"
            found[features.tool.id] = replace(plan, also=(replace(also, how=back), *plan.also))
    return found


def _balance_change(entity: Entity, entities: Mapping[str, Entity]) -> Also | None:
    """Return the change of the balance of the only account that a charge or a deposit links to."""
    kind, amount = {*words(entity.name)[-1:]}, entity.fields.get("amount")
    if not kind & (_SPENT | _PAID_IN) or amount is None or main_type(amount.schema) not in _NUMBERS:
        return None
    links = {name: entities.get(one.link or "") for name, one in entity.fields.items()}
    held = {name: one for name, one in links.items() if one is not None and _is_number("balance", one)}
    how = "subtract" if kind & _SPENT else "add"
    return next((Also(one.name, "balance", name, how, "amount") for name, one in held.items() if len(held) == 1), None)


def _is_number(name: str, entity: Entity) -> bool:
    field = entity.fields.get(name)
    return field is not None and field.derived is None and main_type(field.schema) in _NUMBERS


def _stock_taken(features: ToolFeatures, entity: Entity, entities: Mapping[str, Entity]) -> Iterator[Also]:
    """Yield what a record takes from the records it links to, also in its lines."""
    name = words(entity.name)
    if not name or name[-1] not in _TAKERS or _NOT_TAKING & {*name[:-1]}:
        return
    fields = {field: one.schema for field, one in entity.fields.items()}
    count, is_single = _count_argument(fields) or _count_argument(properties(features.input)), name[-1] in _TAKEN_SINGLY
    for link, field in entity.fields.items():
        if main_type(field.schema) != "array" and (count is not None or is_single):
            yield from _take_from(link, entities.get(field.link or ""), count)
    for lines, schema in (*properties(features.input).items(), *fields.items()):
        parts = properties(items(schema)) if is_rows(schema) else {}
        for part, target in _linked_parts(parts, entities).items():
            yield from _take_from(
                f"{lines}.{part}", target, f"{lines}.{one}" if (one := _count_argument(parts)) else None
            )


def _take_from(link: str, target: Entity | None, count: str | None) -> Iterator[Also]:
    left = next((name for name in target.fields if _is_stock(name, target)), None) if target is not None else None
    if target is not None and left is not None:
        yield Also(target.name, left, link, "subtract", count)


def _is_stock(name: str, entity: Entity) -> bool:
    return _is_number(name, entity) and bool(_STOCK.fullmatch(snake(name)))


def _linked_parts(parts: Mapping[str, Record], entities: Mapping[str, Entity]) -> dict[str, Entity]:
    """Return the parts of a line that name records: `product_id`, or the `sku` that is a key."""
    found = {part: entities.get(snake(part).removesuffix("_id")) for part in parts if snake(part).endswith("_id")}
    keyed = {one.key: one for one in entities.values() if one.key in parts and snake(one.key) not in _GENERIC_KEYS}
    return {part: one for part, one in {**found, **keyed}.items() if one is not None}


def _count_argument(parts: Mapping[str, Record]) -> str | None:
    """Return the quantity."""
    numbers = [name for name, part in parts.items() if main_type(part) in {"integer", "number"}]
    return next((name for name in numbers if _COUNT_NAMES & {*words(name)} and not _STOCK.fullmatch(snake(name))), None)


def plan_occupancy(draft: Draft) -> dict[str, Plan]:
    """Return new plans for writes that occupy a free thing, and those that release it.

    A booking occupies a room, a loan a book.
    """
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        entity = draft.entity_of(plan)
        if entity is None or plan.backend != "records" or plan.each or not _is_occupancy(features, entity):
            continue
        taken = next(_occupied_things(entity, features.parsed.word, draft), None)
        if taken is not None and plan.verb == "create" and not any(one.entity == taken.entity for one in plan.also):
            found[features.tool.id] = replace(plan, also=(*plan.also, taken))
        elif taken is not None and plan.verb in {"update", "delete"} and features.parsed.word in _RELEASING_VERBS:
            back = replace(taken, fixed=taken.requires, requires=None)
            found[features.tool.id] = replace(plan, also=(*plan.also, back))
    return found


def _is_occupancy(features: ToolFeatures, entity: Entity) -> bool:
    """Whether a tool is about occupying a thing for a time."""
    return last_word(entity.name) in _OCCUPANCIES or features.parsed.word in _OCCUPYING_VERBS - {"schedule"}


def _occupied_things(entity: Entity, word: str, draft: Draft) -> Iterator[Also]:
    """Yield what a record occupies."""
    tables = draft.tables()
    for name, field in entity.fields.items():
        for target in tables if name != entity.key else ():
            named = key_argument("update", target.name, target.key, {"properties": {name: field.schema}})[1] >= 2
            if named and target is not entity and not _is_stocked(target):
                yield from _occupy(target, name, word, draft.held[target.name])


def _is_stocked(target: Entity) -> bool:
    """Whether the thing has a quantity, so that several records can share it."""
    numbers = [name for name, field in target.fields.items() if main_type(field.schema) in {"integer", "number"}]
    return any(_STOCK_NAMES & {*words(name)} for name in numbers)


def _occupy(target: Entity, link: str, word: str, rows: Sequence[Record]) -> Iterator[Also]:
    for name, field in target.fields.items():
        if main_type(field.schema) == "boolean" and snake(name) in _FREE_STATES:
            yield Also(target.name, name, link, fixed=False, requires=True)
        elif snake(name) in _STATE_FIELDS:
            states = [*known_states(name, target, rows)]
            free = next((state for state in states if snake(state) in _FREE_STATES), None)
            if free is not None:
                yield Also(target.name, name, link, fixed=_occupied_state(word, states), requires=free)


def _occupied_state(word: str, states: Sequence[str]) -> str:
    """Return the state of an occupied thing: one of the known states if possible, else by the verb."""
    known = {snake(state): state for state in states}
    implied = _STATES_OF_VERB.get(word, ("reserved",))
    return next((known[state] for state in (*implied, *_OCCUPIED_STATES) if state in known), implied[0])
