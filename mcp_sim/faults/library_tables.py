"""The tables of libraries, such as a shell or screens, that some faults act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain


def entity_of(domain: Domain, tool: Tool, table: str) -> str:
    """Return the entity of a table for the server of a tool, whose name precedes it in worlds with `namespaces`."""
    name = f"{tool.server}.{table}"
    return name if name in domain.entities else table


def missing(domain: Domain, table: str, what: str) -> Sequence[str]:
    """Return the problem that no server has `what`, if none has the table."""
    if any(name == table or name.endswith(f".{table}") for name in domain.entities):
        return []
    return [f"no server has {what}: the world has no {table}"]


async def after_change(turn: Turn, proceed: Proceed, change: Change) -> Transition:
    """Return the call on the changed state, with the change. What it meant is known from the state without it."""
    transition = await proceed(turn.after([change]))
    return replace(transition, changes=(change, *transition.changes))
