"""Commands that never return."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from mcp_sim.faults.library_tables import entity_of, missing
from mcp_sim.types import Change, Observation, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import USUAL_TIMEOUT
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration

_SESSION = "main"
"""The session of tools that have one shell."""


@perturbations.register("hang")
class Hang(Perturbation):
    """Let a command of a shell wait for input that never comes: the call times out, and the session stays blocked.

    Later commands time out as well, until the agent presses Ctrl-C (the command `\\x03`) or starts the shell again. An
    agent that only repeats the command gets no further.
    """

    stage = Stage.BEFORE

    message: str = Field(
        default="timed out: the command has not returned; it may be waiting for input",
        min_length=1,
        description="The error text.",
    )
    after: Duration | None = Field(
        default=None, description="How long the agent waits for the error. Default: on the real clock 2s, else 0s."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, "shell_session")

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            known: Record = turn.view.get(entity, _SESSION) or {"id": _SESSION, "cwd": "", "state": ""}
            command = turn.call.arguments.get("command")
            if known.get("blocked") or not isinstance(command, str) or not command.strip():
                return turn.no_effect(await proceed(turn))
            change = Change("put", entity, _SESSION, {**known, "blocked": command})
            answer = ToolResult(self.message, form="text", is_error=True)
            return Transition(Observation(answer, turn.wait(self.after, USUAL_TIMEOUT)), (change,))

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, "shell_session", "a shell")
