"""Which writes take from what there is, an order from a stock, a charge from a balance, and which put it back?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.looks import Look
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import is_rows, items, main_type, properties
from mcp_sim.types.lexicon.words import snake, vocabulary, words
from mcp_sim.types.plans import Also, Plan

_TAKERS = vocabulary(
    "order sale reservation booking rental loan checkout registration enrollment enrolment ticket lend borrowing"
)
"""What is made by taking something that there is a number of."""

_SPENT, _PAID_IN = vocabulary("charge withdrawal payment debit expense"), vocabulary("deposit credit topup income")
"""What is paid from a balance, and into one."""

_SINGLES = vocabulary("rental loan checkout registration enrollment enrolment lend borrowing")
"""Of these each takes one, where nothing says how many."""

_BROUGHT = vocabulary("purchase supplier supply restock replenishment incoming return support repair work")
"""Words before an order or a ticket that takes nothing from what there is."""

_LEFT = re.compile(
    r"(current_)?stock(_(quantity|level|count|qty))?|(quantity|qty|units|number)_in_stock|in_stock|on_hand|"
    r"inventory(_(count|quantity|level))?|quantity_on_hand|"
    r"(available|remaining)_(quantity|units|stock|seats|spots|places|tickets|copies|rooms|slots)|"
    r"(quantity|units|stock|seats|spots|places|tickets|copies|rooms|slots)_(available|remaining|left)"
)
_COUNTS = vocabulary("quantity qty seats spots places tickets copies rooms slots passengers units")
_UNDONE = vocabulary("cancel return void")


def taking(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    found: dict[str, Plan] = {}
    for look, plan in draft.of_many():
        entity = draft.entities.get(look.entity)
        counts = any(one.how in {"add", "subtract"} for one in plan.also)
        if entity is None or plan.backend != "records" or counts or plan.each:
            continue
        also = next(_taken(look, entity, draft.entities), None) or _moved(entity, draft.entities)
        if also is not None and plan.verb == "create":
            found[look.tool.id] = replace(plan, also=(also, *plan.also))
        elif also is not None and plan.verb in {"update", "delete"} and look.reading.word in _UNDONE:
            back = "add" if also.how == "subtract" else "subtract"
            found[look.tool.id] = replace(plan, also=(replace(also, how=back), *plan.also))
    return found


def _moved(entity: Entity, entities: Mapping[str, Entity]) -> Also | None:
    """What a charge takes from the balance of the only account that it names, or a deposit puts there."""
    kind, amount = {*words(entity.name)[-1:]}, entity.fields.get("amount")
    if not kind & (_SPENT | _PAID_IN) or amount is None or main_type(amount.schema) not in _NUMBERS:
        return None
    links = {name: entities.get(one.link or "") for name, one in entity.fields.items()}
    held = {name: one for name, one in links.items() if one is not None and _is_counted("balance", one)}
    how = "subtract" if kind & _SPENT else "add"
    return next((Also(one.name, "balance", name, how, "amount") for name, one in held.items() if len(held) == 1), None)


def _is_counted(name: str, entity: Entity) -> bool:
    field = entity.fields.get(name)
    return field is not None and field.derived is None and main_type(field.schema) in _NUMBERS


_NUMBERS = frozenset({"integer", "number"})


def _taken(look: Look, entity: Entity, entities: Mapping[str, Entity]) -> Iterator[Also]:
    """What a record of this entity takes of what it links to; of several things, where it lists them."""
    name = words(entity.name)
    if not name or name[-1] not in _TAKERS or _BROUGHT & {*name[:-1]}:
        return
    fields = {field: one.schema for field, one in entity.fields.items()}
    count, alone = _count(fields) or _count(properties(look.input)), name[-1] in _SINGLES
    for link, field in entity.fields.items():
        if main_type(field.schema) != "array" and (count is not None or alone):
            yield from _of_one(link, entities.get(field.link or ""), count)
    for lines, schema in (*properties(look.input).items(), *fields.items()):
        parts = properties(items(schema)) if is_rows(schema) else {}
        for part, target in _leading(parts, entities).items():
            yield from _of_one(f"{lines}.{part}", target, f"{lines}.{one}" if (one := _count(parts)) else None)


def _of_one(link: str, target: Entity | None, count: str | None) -> Iterator[Also]:
    left = next((name for name in target.fields if _is_left(name, target)), None) if target is not None else None
    if target is not None and left is not None:
        yield Also(target.name, left, link, "subtract", count)


def _is_left(name: str, entity: Entity) -> bool:
    return _is_counted(name, entity) and bool(_LEFT.fullmatch(snake(name)))


def _leading(parts: Mapping[str, Record], entities: Mapping[str, Entity]) -> dict[str, Entity]:
    """The parts of a line that name records: by `product_id`, or by the `sku` that is their key."""
    found = {part: entities.get(snake(part).removesuffix("_id")) for part in parts if snake(part).endswith("_id")}
    keyed = {one.key: one for one in entities.values() if one.key in parts and snake(one.key) not in _ANYONES}
    return {part: one for part, one in {**found, **keyed}.items() if one is not None}


_ANYONES = vocabulary("id key name uuid _id")


def _count(parts: Mapping[str, Record]) -> str | None:
    """What says how many."""
    numbers = [name for name, part in parts.items() if main_type(part) in {"integer", "number"}]
    return next((name for name in numbers if _COUNTS & {*words(name)} and not _LEFT.fullmatch(snake(name))), None)
