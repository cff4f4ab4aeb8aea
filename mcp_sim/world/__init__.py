"""One agent's world: its state, clock, history, agenda and ledger, and what a call leaves behind in it."""

from mcp_sim.world.commits import Origin, Version, replayed, scope_of
from mcp_sim.world.world import World

__all__ = ["Origin", "Version", "World", "replayed", "scope_of"]
