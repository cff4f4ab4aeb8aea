"""Records: which a world begins with, which a question finds, what a call writes, and how a result shows them."""

from mcp_sim.records.generation import counted, generate

__all__ = ["counted", "generate"]
