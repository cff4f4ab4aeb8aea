"""What does a new record, or a line of it, have from what it links to: an order's price from its product?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, cast

from mcp_sim.generate.coherence import COUNTS, PRICES, TOTALS, inherited
from mcp_sim.generate.lines import has_price
from mcp_sim.generate.named import found_key
from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import is_rows, items, main_type, properties
from mcp_sim.types.lexicon.words import snake

Bequeath: TypeAlias = Callable[[View, Record], None]
"""Fills in what a record that is made now has from others, where it says nothing of it."""

_TOLD = ("price", "unit_price", "name", "product_name", "item_name", "title", "sku", "currency")


def bequests(entity: Entity, domain: Domain) -> Bequeath:
    """What is had from others in this entity, compiled."""
    rules = [rule for rule in inherited(domain, entity) if "default" not in entity.fields[rule.name].schema]
    lines = [*_lines(entity, domain), *_costs(entity, domain)]

    def bequeath(view: View, record: Record) -> None:
        for rule in rules:
            source = _source(view, rule.target, record.get(rule.link)) if rule.name not in record else None
            value = source.get(rule.theirs) if source is not None else None
            if value is not None and rule.allows(value):
                record[rule.name] = value
        for complete in lines:
            complete(view, record)

    return bequeath


def _lines(entity: Entity, domain: Domain) -> Iterator[Bequeath]:
    """What a line says that names a product and not its price."""
    for name, field in entity.fields.items():
        parts = properties(items(field.schema)) if is_rows(field.schema) and has_price(field.schema) else {}
        for part in parts:
            target = domain.entities.get(snake(part).removesuffix("_id")) if snake(part).endswith("_id") else None
            theirs = {} if target is None else _theirs(parts, target)
            if target is not None and theirs:
                yield _completing(name, part, target.name, theirs)


def _costs(entity: Entity, domain: Domain) -> Iterator[Bequeath]:
    """What so many of a product cost, where the record tells it and not the price of one."""
    fields = {snake(name): name for name, field in entity.fields.items() if field.derived is None}
    count, total = _first(COUNTS, fields), _first(TOTALS, fields)
    if count is None or total is None or _first(PRICES, fields) is not None:
        return
    for link, field in entity.fields.items():
        target = domain.entities.get(field.link or "")
        price = None if target is None else _first(PRICES, {snake(name): name for name in target.fields})
        if target is not None and price is not None and main_type(field.schema) != "array":
            yield _costing(total, count, link, target.name, price)


def _first(names: Iterable[str], among: Mapping[str, str]) -> str | None:
    return next((among[name] for name in names if name in among), None)


def _costing(total: str, count: str, link: str, target: str, price: str) -> Bequeath:
    def cost(view: View, record: Record) -> None:
        each = (_source(view, target, record.get(link)) or {}).get(price)
        times = record.get(count)
        if total not in record and isinstance(each, int | float) and isinstance(times, int | float):
            record[total] = round(each * times, 2)

    return cost


def _theirs(parts: Mapping[str, Record], target: Entity) -> dict[str, str]:
    """Which parts of a line the product tells, and under which name."""
    names = {snake(name): name for name in target.fields}
    found: dict[str, str] = {}
    for part, schema in parts.items():
        for theirs in (snake(part), snake(part).removeprefix("unit_"), snake(part).removeprefix(f"{target.name}_")):
            known = names.get(theirs) if snake(part) in _TOLD or theirs != snake(part) else None
            if known is not None and main_type(target.fields[known].schema) == main_type(schema):
                found[part] = known
    return found


def _completing(lines: str, link: str, target: str, theirs: Mapping[str, str]) -> Bequeath:
    def complete(view: View, record: Record) -> None:
        listed: Json = record.get(lines)
        if not isinstance(listed, list):
            return
        record[lines] = [_completed(view, line, link, target, theirs) for line in cast("list[Json]", listed)]

    return complete


def _completed(view: View, line: Json, link: str, target: str, theirs: Mapping[str, str]) -> Json:
    if not isinstance(line, dict):
        return line
    line = cast("Record", line)
    source = _source(view, target, line.get(link)) or {}
    lacking = {part: source[name] for part, name in theirs.items() if part not in line and name in source}
    return {**line, **lacking}


def _source(view: View, target: str, asked: Json) -> Record | None:
    key = found_key(view, target, asked)
    return None if key is None else view.get(target, key)
