"""What follows from other fields of a record, or of what it links to: totals, currencies, what is left?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain, Entity, Field
from mcp_sim.records.searching import judge
from mcp_sim.records.times import moment_of, sense, written
from mcp_sim.schemas import main_type
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

Mend: TypeAlias = Callable[[Record], None]
"""Brings a made-up field into line with what the record says already."""

_PRICES = ("unit_price", "price", "price_each", "unit_cost")
_COUNTS = ("quantity", "qty", "count")
_TOTALS = ("total", "line_total", "total_price", "amount", "subtotal", "total_amount", "grand_total")
_PAYING = frozenset({"payment", "refund", "transaction", "invoice", "charge", "receipt", "capture", "payout"})


@dataclass(frozen=True, slots=True)
class Inherited:
    """A field that says what the linked record says: the currency of an order is that of its customer."""

    name: str
    link: str
    target: str
    theirs: str
    allows: Callable[[Json], bool]


def inherited(domain: Domain, entity: Entity) -> tuple[Inherited, ...]:
    """The fields of an entity that it has from what it links to."""
    return tuple(
        Inherited(field.name, link.name, link.link or "", theirs, judge(field.schema))
        for field in entity.fields.values()
        if field.link is None and field.derived is None
        for link, theirs in _first(domain, entity, field)
    )


def _first(domain: Domain, entity: Entity, field: Field) -> list[tuple[Field, str]]:
    wanted = _sources(snake(entity.name), snake(field.name))
    for link in entity.fields.values():
        target = domain.entities.get(link.link or "")
        if target is None or target is entity or main_type(link.schema) == "array":
            continue
        for theirs in target.fields.values():
            same = main_type(theirs.schema) == main_type(field.schema) and theirs.derived is None
            if snake(theirs.name) in wanted and same:
                return [(link, theirs.name)]
    return []


def _sources(noun: str, name: str) -> tuple[str, ...]:
    """The fields of a linked record that a field repeats."""
    if name in {"currency", "currency_code"}:
        return ("currency", "currency_code")
    if name in {"amount", "total"} and noun.rsplit("_", 1)[-1] in _PAYING:
        return ("total", "grand_total", "total_amount", "amount")
    if name in {"unit_price", "price"}:
        return ("price", "unit_price")
    if name.startswith(("shipping_", "billing_", "delivery_")):
        return (name.partition("_")[2],)
    return ()


def mends(entity: Entity) -> tuple[tuple[str, Mend], ...]:
    """What is brought into line in every record, with the name of the field that is written."""
    stored = [field for field in entity.fields.values() if field.derived is None and field.link is None]
    fields = {snake(field.name): field for field in stored}
    return (*_products(fields), *_sums(fields), *_pairs(fields), *_stamps(fields))


def _products(fields: Mapping[str, Field]) -> list[tuple[str, Mend]]:
    price = next((fields[name] for name in _PRICES if name in fields), None)
    count = next((fields[name] for name in _COUNTS if name in fields), None)
    total = next((fields[name] for name in _TOTALS if name in fields), None)
    if price is None or count is None or total is None:
        return []
    return [(total.name, _computed(total, lambda record: record[price.name] * record[count.name]))]


def _sums(fields: Mapping[str, Field]) -> list[tuple[str, Mend]]:
    """`subtotal` and what is added to it are the `total`; what is there and not reserved is available."""
    found: list[tuple[str, Mend]] = []
    total = next((fields[name] for name in ("total", "grand_total", "total_amount") if name in fields), None)
    added = [fields[name].name for name in ("tax", "tax_amount", "vat", "shipping", "shipping_cost") if name in fields]
    if total is not None and "subtotal" in fields:
        base = fields["subtotal"].name
        taken = [fields[name].name for name in ("discount", "discount_amount") if name in fields]
        found.append((total.name, _computed(total, lambda record: _sum(record, [base, *added]) - _sum(record, taken))))
    if {"available", "on_hand", "reserved"} <= fields.keys():
        names = [fields[name].name for name in ("on_hand", "reserved")]
        found.append((fields["available"].name, _computed(fields["available"], lambda r: r[names[0]] - r[names[1]])))
    return found


def _sum(record: Record, names: list[str]) -> Any:
    return sum(record.get(name) or 0 for name in names)


def _computed(field: Field, value: Callable[[Record], Any]) -> Mend:
    whole, allows = main_type(field.schema) == "integer", judge(field.schema)

    def mend(record: Record) -> None:
        try:
            made: Any = value(record)
        except (KeyError, TypeError):
            return
        made = round(made) if whole else round(made, 2)
        if record.get(field.name) is not None and allows(made):
            record[field.name] = made

    return mend


def _pairs(fields: Mapping[str, Field]) -> list[tuple[str, Mend]]:
    """Of two bounds the lower one is the lower one."""
    pairs = [(name, f"max{name[3:]}") for name in fields if name.startswith("min")]
    pairs = [(low, high) for low, high in pairs if high in fields]
    return [(fields[low].name, _ordered(fields[low], fields[high])) for low, high in pairs]


def _ordered(lower: Field, upper: Field) -> Mend:
    under, over = judge(lower.schema), judge(upper.schema)

    def mend(record: Record) -> None:
        low, high = cast("Any", record.get(lower.name)), cast("Any", record.get(upper.name))
        both = isinstance(low, int | float) and isinstance(high, int | float)
        if both and low > high and under(high) and over(low):
            record[lower.name], record[upper.name] = high, low

    return mend


def _stamps(fields: Mapping[str, Field]) -> list[tuple[str, Mend]]:
    """The last change is no earlier than what happened to the record."""
    updated = [field for field in fields.values() if sense(field.name, field.schema) == "updated"]
    steps = [field.name for field in fields.values() if sense(field.name, field.schema) == "past"]
    return [(field.name, _later(field, steps)) for field in updated] if steps else []


def _later(field: Field, steps: list[str]) -> Mend:
    def mend(record: Record) -> None:
        told = moment_of(record.get(field.name))
        moments = [moment for name in steps if (moment := moment_of(record.get(name))) is not None]
        if told is not None and moments and max(moments) > told:
            record[field.name] = written(max(moments), field.name, field.schema)

    return mend


def linked(record: Record, rule: Inherited, tables: Mapping[str, Mapping[Any, Record]]) -> Json:
    """What the linked record says; None where there is none, or where it may not be said here."""
    key: Json = record.get(rule.link)
    found = tables[rule.target].get(key) if isinstance(key, str | int) else None
    value = found.get(rule.theirs) if found is not None else None
    return value if value is not None and rule.allows(value) else None
