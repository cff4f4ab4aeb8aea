"""Follow movements of stock: a new record that names another one and a quantity changes what that has in stock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mcp_sim.generate.defaults import Settle, settling
from mcp_sim.plans.records.line_items import entities_named
from mcp_sim.plans.records.updates import Refused, enter_value
from mcp_sim.types import Change, Json, Record, Tool, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import table, terms
from mcp_sim.types.plans import How
from mcp_sim.types.views import find_key

_AMOUNTS, _STOCK = terms("arguments.amount"), terms("fields.stock")
_STOCKING = cast("Mapping[str, How]", table("verbs.stocking"))
_KINDS, _INTENTIONS = terms("fields.kind_of_movement"), terms("nouns.intentions")
_NUMBERS = frozenset({"integer", "number"})


def stock_mover(tool: Tool, entity: Entity, domain: Domain) -> StockMover | None:
    """Compile the change of stock that a new record means; None if such a record moves no stock."""
    amounts = [name for name in entity.fields if snake(name) in _AMOUNTS]
    named = entities_named(entity.fields, entity, domain)
    stocks = [(link, domain.entities[of], name) for link, of in named.items() for name in _stocks(domain.entities[of])]
    if len(amounts) != 1 or len(stocks) != 1:
        return None
    link, target, stock = stocks[0]
    kinds = {name: field.schema for name, field in entity.fields.items() if last_word(name) in _KINDS and name != link}
    shows_stock = stock in entity.fields
    usual, settle = _direction_of_act(tool.name), settling(target, domain)
    return StockMover(link, target, stock, amounts[0], kinds, usual, shows_stock, settle)


@frozen
class StockMover:
    """Moves stock as new records say: `{sku, type: receipt, quantity: 5}` adds 5 `on_hand`.

    The direction is in the name of the tool (`usual`), or in the `type` of the record or a field alike. Without a
    direction, or if less is there than is taken, nothing changes.
    """

    link: str
    target: Entity
    stock: str
    amount: str
    kinds: Mapping[str, Record]
    usual: How | None
    shows_stock: bool
    settle: Settle | None

    def __call__(self, view: View, values: Record) -> tuple[Record, list[Change]]:
        """Return the values that a movement implies for its record, and the change of what has the stock."""
        name = self.target.name
        how: How | None = self.usual or next(filter(None, (_direction(values.get(kind)) for kind in self.kinds)), None)
        key = find_key(view, name, values.get(self.link))
        before = None if key is None else view.get(name, key)
        if how is None or key is None or before is None:
            return {}, []
        after = enter_value(before.get(self.stock), values.get(self.amount), how, self.target.fields[self.stock])
        if isinstance(after, Refused):
            return {}, []
        alike = ((kind, choice) for kind, schema in self.kinds.items() for choice in constants(schema))
        added = {kind: choice for kind, choice in alike if kind not in values and _direction(choice) == how}
        changed = {**before, self.stock: after}
        if self.settle is not None:
            self.settle(changed, {self.stock})
        put = Change("put", name, key, changed, expected=view.version(name, key))
        return {**added, **({self.stock: after} if self.shows_stock else {})}, [put]


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
