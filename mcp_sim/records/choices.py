"""Which of the values that are allowed does a field have, most of the time?"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Container, Sequence
from itertools import accumulate

from mcp_sim.records.making import Make
from mcp_sim.schemas import constants
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

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


def chosen(values: Sequence[Json], usual: Container[Json] = ()) -> Make:
    """One of the values; words that tell of trouble are rarer than words of everyday, and `usual` ones are frequent."""
    weights = [8.0 if isinstance(value, str) and value in usual else _weight(value) for value in values]
    if len(set(weights)) == 1:
        return lambda chance, _record, _moment: chance.choice(values)
    bounds = list(accumulate(weights))
    total = bounds[-1]
    return lambda chance, _record, _moment: values[bisect(bounds, chance.unit() * total)]


def _weight(value: Json) -> float:
    said = snake(value) if isinstance(value, str) else ""
    if said in _SELDOM:
        return 0.25
    return 2.0 if said in _OFTEN else 1.0


def constants_in_order(schema: Record) -> tuple[str, ...]:
    """The words that a schema allows, as they are compared with each other."""
    return tuple(snake(value) for value in constants(schema) if isinstance(value, str))
