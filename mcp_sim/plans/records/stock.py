"""Follow movements of stock: a new record that names another one and a quantity changes what that has in stock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from mcp_sim.generate.defaults import settling
from mcp_sim.plans.records.line_items import entities_named
from mcp_sim.plans.records.updates import Refused, enter_value
from mcp_sim.types import Change, Json, Record, Tool, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import table, terms
from mcp_sim.types.plans import How
from mcp_sim.types.views import find_key

_AMOUNTS, _STOCK = terms("arguments.amount"), terms("fields.stock")
_STOCKING = cast("Mapping[str, How]", table("verbs.stocking"))
_KINDS, _INTENTIONS = terms("fields.kind_of_movement"), terms("nouns.intentions")
_NUMBERS = frozenset({"integer", "number"})


Move: TypeAlias = Callable[[View, Record], tuple[Record, list[Change]]]
"""Returns the values that a movement of stock implies for its record, and the change of what has the stock."""


def stock_mover(tool: Tool, entity: Entity, domain: Domain) -> Move | None:
    """Compile the change of stock that a new record means: `{sku, type: receipt, quantity: 5}` adds 5 `on_hand`.

    The direction is in the name of the tool, or in the `type` of the record or a field alike. Without a direction, or
    if less is there than is taken, nothing changes. None if such a record moves no stock.
    """
    amounts = [name for name in entity.fields if snake(name) in _AMOUNTS]
    named = entities_named(entity.fields, entity, domain)
    targets = [
        (name, domain.entities[of], stock) for name, of in named.items() for stock in _stocks(domain.entities[of])
    ]
    if len(amounts) != 1 or len(targets) != 1:
        return None
    link, target, stock = targets[0]
    settle = settling(target, domain)
    kinds, usual = [name for name in entity.fields if last_word(name) in _KINDS], _direction_of_act(tool.name)

    def moved(view: View, values: Record) -> tuple[Record, list[Change]]:
        how: How | None = usual or next(filter(None, (_direction(values.get(name)) for name in kinds)), None)
        key = find_key(view, target.name, values.get(link))
        before = None if key is None else view.get(target.name, key)
        if how is None or key is None or before is None:
            return {}, []
        after = enter_value(before.get(stock), values.get(amounts[0]), how, target.fields[stock])
        if isinstance(after, Refused):
            return {}, []
        alike = ((name, choice) for name in kinds for choice in constants(entity.fields[name].schema))
        added = {name: choice for name, choice in alike if name not in values and _direction(choice) == how}
        shown = {stock: after} if stock in entity.fields else {}
        changed = {**before, stock: after}
        if settle is not None:
            settle(changed, {stock})
        put = Change("put", target.name, key, changed, expected=view.version(target.name, key))
        return {**added, **shown}, [put]

    return moved


def _stocks(entity: Entity) -> list[str]:
    fields: Mapping[str, Record] = {name: field.schema for name, field in entity.fields.items()}
    return [name for name, schema in fields.items() if snake(name) in _STOCK and main_type(schema) in _NUMBERS]


def _direction_of_act(name: str) -> How | None:
    """Return the direction that a tool is named after. What is only ordered or requested moves with another call."""
    is_act = any(word in _STOCKING for word in words(name)[:1])
    return None if not is_act and singular(last_word(name)) in _INTENTIONS else _direction(name)


def _direction(text: Json) -> How | None:
    """Return whether a word like `receipt` or `outbound` adds to a stock or takes from it; None for other texts."""
    hows: set[How] = {_STOCKING[word] for word in words(text) if word in _STOCKING} if isinstance(text, str) else set()
    return next(iter(hows)) if len(hows) == 1 else None
