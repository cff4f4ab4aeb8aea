"""A scenario as a text environment of SkyRL (`pip install skyrl-gym==0.4.0`), for models that call tools as Qwen does.

    python examples/training/with_skyrl.py      play a scripted episode

A row of the data set has the columns `scenario` and `start`, the parameters of `Environment.reset`. The first prompt is
that of the scenario: its tools and its task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from mcp_sim.training import Environment, tasks

CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
PROMPT = 'Call functions as <tool_call>{{"name": ..., "arguments": {{...}}}}</tool_call>. The functions:\n{}'


class McpSim(BaseTextEnv):
    """Episodes of a scenario; the texts of the agent are its actions."""

    def __init__(self, env_config: Any, extras: dict[str, Any]) -> None:
        super().__init__()
        self._episode, self._start = Environment(extras["scenario"]), extras["start"]

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        task = self._episode.reset(**self._start)
        tools = PROMPT.format("\n".join(map(json.dumps, self._episode.tools())))
        return [{"role": "system", "content": tools}, {"role": "user", "content": task}], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        result = self._episode.step({"content": CALL.sub("", action), "tool_calls": [*calls_in(action)]})
        return BaseTextEnvStepOutput(
            observations=[message.to_json() for message in result.messages],
            reward=result.reward or 0.0,
            done=result.done,
            metadata=result.info,
        )


def calls_in(text: str) -> Iterator[Any]:
    """Yield the calls of a text; of one that is not JSON an empty call, which the environment refuses."""
    for written in CALL.findall(text):
        try:
            yield json.loads(written)
        except ValueError:
            yield {}


if __name__ == "__main__":
    skyrl_gym.register("mcp_sim", entry_point=McpSim)
    [task] = tasks("flaky_crm", [7])
    environment = skyrl_gym.make("mcp_sim", env_config={}, extras={"scenario": "flaky_crm", "start": task.start})
    (system, user), _ = environment.init([])
    assert "create_deal" in system["content"]
    assert user["content"].startswith("Create the deal")
    create = {"name": "create_deal", "arguments": {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}}
    lost = environment.step(f"I create it.\n<tool_call>\n{json.dumps(create)}\n</tool_call>")
    assert "504" in lost["observations"][0]["content"]
    assert "Error" in environment.step("<tool_call>{oops</tool_call>")["observations"][0]["content"]
    over = environment.step("I could not do it.")
    assert over["done"]
    assert 0 < over["reward"] < 1
    print("SkyRL: a scripted episode, reward", over["reward"])
