"""Scenarios as environments for agents that are trained in process, tasks, and trajectories as training data.

Imports every lower package, but not `recordings`, `runs` and `cli`. Without adapters it needs neither MCP nor openai.
"""

from __future__ import annotations

from mcp_sim.training.actions import Answer, ToolCall
from mcp_sim.training.environment import Environment, EpisodeOver, NotBegun, StepResult, ToolMessage
from mcp_sim.training.tasks import Curriculum, Task, tasks

__all__ = [
    "Answer", "Curriculum", "Environment", "EpisodeOver", "NotBegun", "StepResult", "Task", "ToolCall",
    "ToolMessage", "tasks",
]  # fmt: skip
