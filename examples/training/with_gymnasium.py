"""A scenario as an environment of Gymnasium 1.4.0 (`pip install gymnasium`): texts in, texts out.

An action is the message of a model as JSON.

python examples/training/with_gymnasium.py      check it with Gymnasium's own checker
"""

from __future__ import annotations

import json
import string
from typing import Any

import gymnasium
from gymnasium.utils.env_checker import check_env

from mcp_sim.training import Environment

TEXT = gymnasium.spaces.Text(max_length=100_000, charset=string.printable)


class McpSim(gymnasium.Env[str, str]):
    """Episodes of one scenario."""

    observation_space = action_space = TEXT

    def __init__(self, scenario: str, **options: Any) -> None:
        self._episode = Environment(scenario, **options)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return self._episode.reset(seed=seed, **(options or {})), {"tools": self._episode.tools()}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        try:
            message = json.loads(action)
        except ValueError:
            message = None
        result = self._episode.step(message if isinstance(message, dict) else {"content": 0})  # what is no message
        text = "\n".join(seen.text for seen in result.messages)
        kept = "".join(sign for sign in text if sign in string.printable)
        return kept, result.reward or 0.0, result.terminated, result.truncated, result.info


if __name__ == "__main__":
    check_env(McpSim("flaky_crm"), skip_render_check=True)
    print("Gymnasium: check_env passes")
