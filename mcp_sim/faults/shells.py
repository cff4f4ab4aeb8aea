"""What faults of shells need: the tables of the shell in a world."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.types.domain import Domain


def entity_of(domain: Domain, table: str) -> str:
    """Return the entity of a table of the shell, whose name a server may precede; the bare name if there is none."""
    return next((name for name in domain.entities if name == table or name.endswith(f"/{table}")), table)


def no_shell(domain: Domain, table: str) -> Sequence[str]:
    """Return the problem that no server has a shell."""
    return [] if entity_of(domain, table) in domain.entities else [f"no server has a shell: the world has no {table}"]
