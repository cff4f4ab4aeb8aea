"""Compare two worlds: the records that differ, and how far their ledgers agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

from mcp_sim.server.control import models as m
from mcp_sim.types import Key, Record
from mcp_sim.world.state import State
from mcp_sim.world.world import World


def compare(a: World, b: World, limit: int) -> m.Comparison:
    """Return the differences of two worlds, at most `limit` of them."""
    differences = list(islice(_differences(a.view, b.view), limit + 1))
    steps = zip(a.ledger.steps, b.ledger.steps, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], steps))
    return m.Comparison(
        equal=not differences, differences=differences[:limit], more=len(differences) > limit, common_steps=common
    )


def _differences(a: State, b: State) -> Iterator[m.Difference]:
    for entity in dict.fromkeys((*a.entities(), *b.entities())):
        for key in _keys(a, b, entity):
            ours, theirs = a.get(entity, key), b.get(entity, key)
            if ours != theirs:
                fields = _fields(ours or {}, theirs or {})
                yield m.Difference(entity=entity, key=key, a=ours, b=theirs, fields=fields)


def _keys(a: State, b: State, entity: str) -> list[Key]:
    """Return the keys of the records that may differ: of worlds with the same start, those that one of them wrote."""
    if a.base is b.base:
        return sorted({*a.written(entity), *b.written(entity)}, key=str)
    return list(dict.fromkeys(key for state in (a, b) for key, _ in state.rows(entity)))


def _fields(a: Record, b: Record) -> list[str]:
    missing = object()
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name, missing) != b.get(name, missing)]
