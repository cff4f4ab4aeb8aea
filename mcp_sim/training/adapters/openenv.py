"""A scenario as an environment of OpenEnv 0.10.0, whose server gives each WebSocket session an episode of its own.

app = create_fastapi_app(environment_class("flaky_crm"), CallToolAction, CallToolObservation, max_concurrent_envs=512)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from openenv.core.env_server import Environment
from openenv.core.env_server.mcp_types import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
    ToolError,
    ToolErrorType,
)
from openenv.core.env_server.types import Action, Observation, State

from mcp_sim.training import Answer, ToolCall
from mcp_sim.training import Environment as Simulated

SUBMIT = "submit_answer"  # the tool that ends the episode with the agent's final answer

_SUBMIT_TOOL = Tool(
    name=SUBMIT,
    description="End the task with the final answer.",
    input_schema={"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
)


def environment_class(scenario: str | Path, **options: Any) -> type[Environment]:
    """Return the class of the environments of a scenario. `options` are those of `mcp_sim.training.Environment`."""

    class McpSimEnvironment(Environment[Action, Observation, State]):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._episode = Simulated(scenario, **options)
            self._state = State(episode_id=str(uuid4()), step_count=0)

        def reset(
            self, seed: int | None = None, episode_id: str | None = None, stream: str = "", **_: Any
        ) -> Observation:
            self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
            return Observation(
                done=False, reward=None, metadata={"task": self._episode.reset(seed=seed, stream=stream)}
            )

        def step(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
            if isinstance(action, ListToolsAction):
                return ListToolsObservation(done=self._episode.done, tools=[*self._tools(), _SUBMIT_TOOL])
            if not isinstance(action, CallToolAction):
                raise TypeError(f"expected a call or the list of tools, got {type(action).__name__}")
            self._state.step_count += 1
            if action.tool_name == SUBMIT:
                result = self._episode.step(Answer(str(action.arguments.get("answer", ""))))
            else:
                result = self._episode.step(ToolCall(action.tool_name, action.arguments))
            seen = result.messages[0] if result.messages else None
            crash = self._episode.crash
            return CallToolObservation(
                done=result.done,
                reward=result.reward,
                tool_name=action.tool_name,
                error=ToolError(error_type=ToolErrorType.TRANSPORT_ERROR, message=crash) if crash else None,
                result={"text": seen.text if seen else "", "is_error": seen.is_error if seen else False},
                metadata=result.info,
            )

        def _tools(self) -> list[Tool]:
            return [
                Tool(name=tool["name"], description=tool["description"], input_schema=tool["input_schema"])
                for tool in self._episode.tools("anthropic")
            ]

        @property
        def state(self) -> State:
            return self._state

        def close(self) -> None:
            self._episode.close()

    return McpSimEnvironment
