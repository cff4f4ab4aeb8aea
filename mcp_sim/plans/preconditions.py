"""Which state does a tool lead to, and from which state alone, as its name and its description say?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mcp_sim.choices import choices_of
from mcp_sim.domain import Entity
from mcp_sim.plans.names import Reading
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

_STATUS = ("status", "state", "stage")
_LEADS = re.compile(
    r"(?:status|state|stage)\b[^.'\"]{0,40}?\b(?:to|becomes|as|is)\s+[\"'`]([^\"'`]{1,40})[\"'`]", re.IGNORECASE
)


def status_field(entity: Entity) -> str | None:
    """The field that tells in which state a record is."""
    return next((name for name in entity.fields if snake(name) in _STATUS), None)


def stated(about: str, entity: Entity) -> dict[str, Json]:
    """`The order status will be changed to 'return requested'`."""
    field, found = status_field(entity), _LEADS.search(about)
    return {field: found[1]} if field is not None and found else {}


def required_state(
    reading: Reading, entity: Entity, fixed: Mapping[str, Json], rows: Sequence[Record]
) -> dict[str, tuple[Json, ...]]:
    """`cancel_pending_order`: the states of a record for which the tool is, where its name says one of them."""
    field = status_field(entity)
    if field is None:
        return {}
    states = dict.fromkeys([str(one) for one in choices_of(entity.fields[field].schema)])
    states |= dict.fromkeys(str(row[field]) for row in rows if isinstance(row.get(field), str))
    named = [word for word in reading.noun if word in {snake(state) for state in states}]
    if not named:
        return {}
    exact = [state for state in states if snake(state) in named]
    wider = [state for state in states if {*snake(state).split("_")} & {*named}]
    return {field: tuple(exact if fixed else [*dict.fromkeys([*exact, *wider])])}
