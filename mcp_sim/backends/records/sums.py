"""What of a record follows from what else it says: a total from its lines, what goes together by its schema?"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeAlias

from mcp_sim.generate.coherence import mends
from mcp_sim.generate.conforming import conformings
from mcp_sim.generate.times import sense
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain, Entity

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Brings the amounts of a record into line, except for those that a call gave itself."""


def settling(entity: Entity, domain: Domain) -> Settle:
    """What follows in a record of this entity, compiled."""
    conforms = conformings(domain, entity)
    stamps = {name for name, field in entity.fields.items() if sense(name, field.schema) is not None}
    rules = [(name, mend) for name, mend in mends(entity) if name not in stamps]

    def settle(record: Record, given: Container[str]) -> None:
        for name, mend in rules:
            if name in given or name not in record:
                continue
            kept = {field: value for field, value in record.items() if field in given}
            mend(record)
            record.update(kept)
        for conform in conforms:
            made = conform(record, record, given)
            for name in record.keys() - made.keys():
                del record[name]
            record.update(made)

    return settle
