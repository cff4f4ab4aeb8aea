"""What do tools do? Plans and entities, inferred from what a tool list says about itself."""

from mcp_sim.plans.corrections import alternatives, corrections
from mcp_sim.plans.inference import Inferred, infer

__all__ = ["Inferred", "alternatives", "corrections", "infer"]
