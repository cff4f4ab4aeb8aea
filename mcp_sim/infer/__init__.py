"""Inference of plans and entities from tool lists.

May import `types`, `world` and `spec`.
"""

from mcp_sim.infer.inference import Inferred, infer

__all__ = ["Inferred", "infer"]
