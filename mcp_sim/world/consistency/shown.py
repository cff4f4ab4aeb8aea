"""Does a result show what the world holds, count it right, and return what was given (R1, R2, R6, R8)?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from mcp_sim.types import Json, Record, Turn
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Plan
from mcp_sim.world.consistency.after import After, finder
from mcp_sim.world.consistency.places import NOWHERE, at


def record_problems(value: Json, plan: Plan, entity: Entity, after: After) -> Iterator[str]:
    find = finder(after, entity)
    for shown in _shown(value, plan):
        key = shown.get(entity.key)
        if not isinstance(key, str | int) or (plan.each is not None and _says_failed(shown)):
            continue
        stored = find(key)
        if stored is None:
            yield f"R1: {entity.name} {key!r} does not exist"
            continue
        for name, told in shown.items():
            if name in stored and stored[name] != told:
                yield f"R2: {entity.name} {key!r}: {name} is {stored[name]!r}, not {told!r}"


def _says_failed(row: Record) -> bool:
    """Is this a row of a batch for an item that could not be done?"""
    return bool(row.get("error")) or row.get("success") is False or row.get("ok") is False


def _shown(value: Json, plan: Plan) -> Iterator[Record]:
    """The records in a result, where the plan says they stand."""
    envelope = plan.envelope
    if envelope.record is not None and plan.verb != "delete":
        record = at(value, envelope.record)
        if isinstance(record, dict):
            yield cast("Record", record)
    if envelope.rows is not None and plan.verb != "delete":
        rows = at(value, envelope.rows)
        for row in cast("list[Any]", rows) if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield cast("Record", row)


def count_problems(value: Json, plan: Plan) -> Iterator[str]:
    envelope = plan.envelope
    if envelope.rows is None or envelope.total is None:
        return
    rows, total = at(value, envelope.rows), at(value, envelope.total)
    if isinstance(rows, list) and isinstance(total, int) and total < len(cast("list[Any]", rows)):
        yield f"R6: {envelope.total} is {total}, but {len(cast('list[Any]', rows))} are shown"


def echo_problems(value: Json, plan: Plan, turn: Turn) -> Iterator[str]:
    for path, argument in plan.envelope.echoes.items():
        told = at(value, path)
        if told is not NOWHERE and argument in turn.call.arguments and told != turn.call.arguments[argument]:
            yield f"R8: {path} is {told!r}, but {argument} was given as {turn.call.arguments[argument]!r}"
