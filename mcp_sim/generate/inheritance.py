"""Values that a new record takes from the records that it references: prices, names, totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, cast

from mcp_sim.generate.item_coherence import has_price
from mcp_sim.generate.links import inherited_fields
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.views import find_key

Inherit: TypeAlias = Callable[[View, Record], None]
"""Sets fields of a new record, if absent, from the records that it references."""

_SHARED = ("price", "unit_price", "name", "product_name", "item_name", "title", "sku", "currency")


def inherited_defaults(entity: Entity, domain: Domain) -> Inherit:
    """Compile what new records of an entity inherit."""
    rules = [rule for rule in inherited_fields(domain, entity) if "default" not in entity.fields[rule.name].schema]
    lines = [*_lines(entity, domain), *_totals(entity, domain)]

    def inherit(view: View, record: Record) -> None:
        for rule in rules:
            source = _source(view, rule.target, record.get(rule.link)) if rule.name not in record else None
            value = source.get(rule.theirs) if source is not None else None
            if value is not None and rule.allows(value):
                record[rule.name] = value
        for complete in lines:
            complete(view, record)

    return inherit


def _lines(entity: Entity, domain: Domain) -> Iterator[Inherit]:
    """Yield what sets the prices and names of lines that name a product."""
    for name, field in entity.fields.items():
        parts = properties(items(field.schema)) if is_rows(field.schema) and has_price(field.schema) else {}
        for part in parts:
            target = domain.entities.get(snake(part).removesuffix("_id")) if snake(part).endswith("_id") else None
            theirs = {} if target is None else _shared_parts(parts, target)
            if target is not None and theirs:
                yield _line_completer(name, part, target.name, theirs)


def _totals(entity: Entity, domain: Domain) -> Iterator[Inherit]:
    """Yield what sets the total price of a record that has a quantity but no unit price."""
    fields = _by_snake(name for name, field in entity.fields.items() if field.derived is None)
    count, total = _first(word_list("amounts", "counts"), fields), _first(word_list("amounts", "totals"), fields)
    if count is None or total is None or _first(word_list("amounts", "prices"), fields) is not None:
        return
    linked = {name: field.link for name, field in entity.fields.items() if main_type(field.schema) != "array"}
    for link, target in linked.items():
        price = _price(target, domain)
        if target is not None and price is not None:
            yield _total_setter(total, count, link, target, price)


def _price(target: str | None, domain: Domain) -> str | None:
    """Return the field with the price of a linked entity, None if there is none."""
    known = domain.entities.get(target or "")
    return None if known is None else _first(word_list("amounts", "prices"), _by_snake(known.fields))


def _by_snake(names: Iterable[str]) -> dict[str, str]:
    return {snake(name): name for name in names}


def _first(names: Iterable[str], among: Mapping[str, str]) -> str | None:
    return next((among[name] for name in names if name in among), None)


def _total_setter(total: str, count: str, link: str, target: str, price: str) -> Inherit:
    def cost(view: View, record: Record) -> None:
        each = (_source(view, target, record.get(link)) or {}).get(price)
        times = record.get(count)
        if total not in record and isinstance(each, int | float) and isinstance(times, int | float):
            record[total] = round(each * times, 2)

    return cost


def _shared_parts(parts: Mapping[str, Record], target: Entity) -> dict[str, str]:
    """Map the parts of a line to the product's fields that define them."""
    names = {snake(name): name for name in target.fields}
    found: dict[str, str] = {}
    for part, schema in parts.items():
        for theirs in (snake(part), snake(part).removeprefix("unit_"), snake(part).removeprefix(f"{target.name}_")):
            known = names.get(theirs) if snake(part) in _SHARED or theirs != snake(part) else None
            if known is not None and main_type(target.fields[known].schema) == main_type(schema):
                found[part] = known
    return found


def _line_completer(lines: str, link: str, target: str, theirs: Mapping[str, str]) -> Inherit:
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
    key = find_key(view, target, asked)
    return None if key is None else view.get(target, key)
