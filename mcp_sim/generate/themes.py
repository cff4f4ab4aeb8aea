"""Trades: their goods, the categories of these, and what people write about."""

from __future__ import annotations

from functools import cache

from mcp_sim.generate.shipped_data import load
from mcp_sim.types.frozen import frozen


@frozen
class Theme:
    """A trade. `words` occur in descriptions of it (singular, lower case); `goods` are in the singular.

    `kinds` are categories of goods. `matters` are subjects that people write about, with their article if they have
    one. `firms` are the second words of company names. `entities` are kinds of
    records that only this trade has.
    """

    name: str
    words: frozenset[str]
    goods: tuple[str, ...]
    kinds: tuple[str, ...]
    matters: tuple[str, ...]
    firms: tuple[str, ...]
    entities: frozenset[str] = frozenset()


@cache
def themes() -> tuple[Theme, ...]:
    """Return all trades. The first one is used if a description names none."""
    return tuple(
        Theme(
            name=entry["name"],
            words=frozenset(entry["words"]),
            goods=tuple(entry["goods"]),
            kinds=tuple(entry["kinds"]),
            matters=tuple(entry["matters"]),
            firms=tuple(entry["firms"]),
            entities=frozenset(entry.get("entities", ())),
        )
        for entry in load("themes")
    )


def general_theme() -> Theme:
    """Return the trade of worlds whose description names none."""
    return themes()[0]
