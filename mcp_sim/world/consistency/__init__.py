"""Does a transition agree with the world (rules R1 to R8), whoever predicted it?

Each finding is a sentence that names the rule, the record and the value, so that a model that is asked again knows what
to mend. What a tool's plan does not tell about a result is not judged here.
"""

from __future__ import annotations

from mcp_sim.world.consistency.inspecting import Inspection, inspection

__all__ = ["Inspection", "inspection"]
