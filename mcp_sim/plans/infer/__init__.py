"""Inference of plans and entities from tool lists.

May import `types`, `world` and `spec`.
"""

from mcp_sim.plans.infer.inference import Inferred, infer

__all__ = ["Inferred", "infer"]
