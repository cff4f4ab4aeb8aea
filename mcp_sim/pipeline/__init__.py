"""What does one call of one tool pass through: the perturbations, and in their midst the world?"""

from mcp_sim.pipeline.innermost import Innermost
from mcp_sim.pipeline.pipeline import Passage, Pipeline

__all__ = ["Innermost", "Passage", "Pipeline"]
