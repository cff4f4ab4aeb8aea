"""Which amounts of a record follow from what else it says: a total from price and quantity, or from its own lines?"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeAlias

from mcp_sim.domain import Entity
from mcp_sim.records.coherence import mends
from mcp_sim.records.times import sense
from mcp_sim.types import Record

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Brings the amounts of a record into line, except for those that a call gave itself."""


def settling(entity: Entity) -> Settle:
    """What follows in a record of this entity, compiled."""
    stamps = {name for name, field in entity.fields.items() if sense(name, field.schema) is not None}
    rules = [(name, mend) for name, mend in mends(entity) if name not in stamps]

    def settle(record: Record, given: Container[str]) -> None:
        for name, mend in rules:
            if name in given or name not in record:
                continue
            kept = {field: value for field, value in record.items() if field in given}
            mend(record)
            record.update(kept)

    return settle
