"""Which of the values that are allowed does a field have, most of the time?"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Container, Sequence
from datetime import timedelta
from itertools import accumulate

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.making import Make
from mcp_sim.generate.progress import ENDED
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants
from mcp_sim.types.lexicon.words import snake

_OFTEN = frozenset({
    "active", "open", "completed", "complete", "paid", "delivered", "published", "confirmed", "available", "done",
    "fulfilled", "shipped", "approved", "succeeded", "success", "captured", "sent", "inbox", "customer", "accepted",
    "normal", "medium", "standard", "enabled", "in_stock", "verified", "closed", "user", "member", "none",
})  # fmt: skip
_SELDOM = frozenset({
    "cancelled", "canceled", "deleted", "failed", "error", "rejected", "archived", "suspended", "expired", "refunded",
    "blocked", "disabled", "critical", "urgent", "highest", "lowest", "spam", "trash", "churned", "returned", "lost",
    "admin", "owner", "discontinued", "voided", "void", "disputed", "unknown", "other", "deprecated", "banned",
    "declined", "terminated", "blocker", "inactive", "draft", "duplicate", "wontfix", "overdue",
})  # fmt: skip
_DONE = frozenset(
    {"done", "completed", "complete", "resolved", "finished", "delivered", "returned", "arrived", "discharged"}
)
_LONG, _LATE, _EARLY = timedelta(days=60), 0.12, 0.3


def chosen(values: Sequence[Json], usual: Container[Json] = ()) -> Make:
    """One of the values; words that tell of trouble are rarer than words of everyday, and `usual` ones are frequent.

    Of what comes to an end, most that is old has ended, and most that is new has not.
    """
    weights = [8.0 if isinstance(value, str) and value in usual else _weight(value) for value in values]
    if _comes_to_an_end(values):
        ended = [isinstance(value, str) and snake(value) in ENDED for value in values]
        old = _drawn(values, [weight * (1 if end else _LATE) for weight, end in zip(weights, ended, strict=True)])
        new = _drawn(values, [weight * (_EARLY if end else 1) for weight, end in zip(weights, ended, strict=True)])
        return lambda chance, _record, moment: (old if moment.now - moment.born > _LONG else new)(chance)
    draw = _drawn(values, weights)
    return lambda chance, _record, _moment: draw(chance)


def _drawn(values: Sequence[Json], weights: Sequence[float]) -> Callable[[Chance], Json]:
    if len(set(weights)) == 1:
        return lambda chance: chance.choice(values)
    bounds = list(accumulate(weights))
    total = bounds[-1]
    return lambda chance: values[bisect(bounds, chance.unit() * total)]


def _comes_to_an_end(values: Sequence[Json]) -> bool:
    """Are these the states of something that is done at last, as a task is and a customer is not?"""
    said = {snake(value) for value in values if isinstance(value, str)}
    return len(said) > 1 and bool(said & _DONE or {"open", "closed"} <= said)


def _weight(value: Json) -> float:
    said = snake(value) if isinstance(value, str) else ""
    if said in _SELDOM:
        return 0.25
    return 2.0 if said in _OFTEN else 1.0


def constants_in_order(schema: Record) -> tuple[str, ...]:
    """The words that a schema allows, as they are compared with each other."""
    return tuple(snake(value) for value in constants(schema) if isinstance(value, str))
