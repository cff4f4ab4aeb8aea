"""The world of one agent: state, clock, history, agenda, ledger, and what a call leaves behind.

Imports `mcp_sim.types` only.
"""

from mcp_sim.world.commits import Origin, Version, replayed, scope_of
from mcp_sim.world.world import World

__all__ = ["Origin", "Version", "World", "replayed", "scope_of"]
