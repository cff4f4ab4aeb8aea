"""Numbers that sum up records: counts, sums and means, recognised by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from mcp_sim.plans.infer.states import KNOWN_STATES
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.json_values import is_number
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.result_schemas import choices_of

Figure: TypeAlias = Callable[[Sequence[Record]], Json]
"""Computes a number from the records of an entity."""

NUMBERS = frozenset({"integer", "number"})
_LARGEST = 1e150
"""Products of two such numbers, and sums of many products, are floats. An integer of a call may have 400 digits."""
_COUNTS, _MEANS = terms("figures.count"), terms("figures.mean")
_TOTALS = terms("figures.total") | _COUNTS
_STATES = terms("fields.state")
_PRICES, _QUANTITIES, _VALUES = terms("fields.price"), terms("fields.quantity"), terms("figures.value")


def figure_beside_rows(name: str, schema: Record, entity: Entity) -> Figure | None:
    """Return how a number beside rows sums them up, None if its name says neither of what nor that it does.

    A total that need not be whole is that of the amounts, if rows have one each.
    """
    parts = words(name)
    amounts = [field for field in entity.fields if words(snake(field))[-1:] == ("amount",)]
    if main_type(schema) == "number" and len(amounts) == 1 and {*parts} <= _TOTALS - _COUNTS:
        return lambda rows: sum_of(rows, amounts[0])
    sums_up = not {*parts}.isdisjoint(_TOTALS | _MEANS) or plural(last_word(entity.name)) in parts
    _, figure = (find_figure(name, [entity]) if sums_up else None) or (entity, None)
    return figure


def find_figure(name: str, entities: Sequence[Entity]) -> tuple[Entity, Figure] | None:
    """Return how a number is computed, and from which records: `open_orders`, `total_value`, `average_rating`."""
    parts = words(snake(name))
    mentioned = [entity for entity in entities if last_word(entity.name) in {singular(word) for word in parts}]
    for entity in mentioned or entities:
        rest = [word for word in parts if singular(word) not in words(entity.name)]
        figure = _figure_of(entity, rest, is_named=bool(mentioned) or len(entities) == 1)
        if figure is not None:
            return entity, figure
    return None


def _figure_of(entity: Entity, parts: Sequence[str], *, is_named: bool) -> Figure | None:
    """Return how the words of a number's name, without that of the entity, are computed from its records."""
    rest = [word for word in parts if word not in _TOTALS and word not in _MEANS]
    if not rest and not _MEANS.isdisjoint(parts):
        return _sum_of_field(entity, [last_word(entity.name)], is_mean=True)  # `average_score` of scores
    if not rest:
        return len if is_named else None
    state = "_".join(rest)
    for name, field in entity.fields.items():
        value = next((choice for choice in choices_of(field.schema) if snake(str(choice)) == state), None)
        if value is not None:
            return lambda rows: sum(row.get(name) == value for row in rows)
        if main_type(field.schema) == "boolean" and snake(name).removeprefix("is_") == state:
            return lambda rows: sum(row.get(name) is True for row in rows)
    total = _sum_of_field(entity, rest, is_mean=not _MEANS.isdisjoint(parts))
    places = [name for name in entity.fields if last_word(snake(name)) in _STATES]
    if total is not None or len(places) != 1 or _COUNTS.isdisjoint(parts) or state not in KNOWN_STATES:
        return total
    return lambda rows: sum(snake(str(row.get(places[0]))) == state for row in rows)


def _sum_of_field(entity: Entity, parts: Sequence[str], *, is_mean: bool) -> Figure | None:
    """Return the sum or mean of the number that these words name, or of price times quantity for a value."""
    numbers = {name: words(snake(name)) for name, field in entity.fields.items()
               if main_type(field.schema) in NUMBERS and name != entity.key and field.link is None}  # fmt: skip
    price = next((name for name, name_words in numbers.items() if not _PRICES.isdisjoint(name_words)), None)
    quantity = next((name for name, name_words in numbers.items() if name_words[-1] in _QUANTITIES), None)
    if price is not None and quantity is not None and not _VALUES.isdisjoint(parts):
        return lambda rows: round(sum(number_in(row, price) * number_in(row, quantity) for row in rows), 2)
    name = next((name for name, name_words in numbers.items() if {*parts} <= {*name_words}), None)
    if name is None and not _QUANTITIES.isdisjoint(parts):
        name = quantity
    name = name or next((name for name, name_words in numbers.items() if parts[0] in name_words[:-1]), None)
    if name is None:
        return None
    if not is_mean:
        return lambda rows: sum_of(rows, name)
    return lambda rows: round(sum_of(rows, name) / len(rows), 2) if rows else 0


def number_in(row: Mapping[str, Json], name: str) -> float:
    """Return a number of a record, 0 if it lacks it."""
    return as_number(row.get(name)) or 0


def sum_of(rows: Sequence[Mapping[str, Json]], name: str) -> float:
    """Return the sum of a number of the records that have it, in cents at most."""
    return total_of(row.get(name) for row in rows)


def total_of(values: Iterable[Json]) -> float:
    """Return the sum of the numbers among these values, in cents at most."""
    return round(sum(number for value in values if (number := as_number(value)) is not None), 2)


def as_number(value: Json) -> float | None:
    """Return a number that can be computed with, None for other values."""
    return value if isinstance(value, int | float) and is_number(value) and abs(value) <= _LARGEST else None
