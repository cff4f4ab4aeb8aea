"""Amounts that depend on other fields."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeAlias

from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.conformance import record_conformers
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain, Entity

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Recomputes the dependent amounts of a record, except those that the call gave."""


def settling(entity: Entity, domain: Domain) -> Settle | None:
    """Compile the dependent fields of an entity; None without such fields."""
    conforms = record_conformers(domain, entity)
    stamps = {name for name, field in entity.fields.items() if time_meaning(name, field.schema) is not None}
    rules = [(name, mend) for name, mend in adjustments(entity) if name not in stamps]

    if not rules and not conforms:
        return None

    def settle(record: Record, given: Container[str]) -> None:
        for name, mend in rules:
            if name in given or name not in record:
                continue
            kept = {field: value for field, value in record.items() if field in given}
            mend(record)
            record.update(kept)
        for conform in conforms:
            matches = conform(record, given)
            for name in record.keys() - matches.keys():
                del record[name]
            record.update(matches)

    return settle
