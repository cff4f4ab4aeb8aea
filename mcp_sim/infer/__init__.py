"""What do tools do? Plans and entities, inferred from what a tool list says about itself."""

from mcp_sim.infer.corrections import alternatives, corrections
from mcp_sim.infer.inference import Inferred, infer

__all__ = ["Inferred", "alternatives", "corrections", "infer"]
