"""Commands that never return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from mcp_sim.faults.results import entity_of, missing, proceed_twice
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import USUAL_TIMEOUT
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration

_NEXT = "next"
"""The record that blocks whichever session runs the next command. The shell removes it."""


@perturbations.register("hang")
class Hang(Perturbation):
    r"""Let a command of a shell wait for input that never comes: the call times out, and the session stays blocked.

    Later commands time out as well, until the agent presses Ctrl-C (the command `\x03`) or starts the shell again. A
    process started by such a command goes on running.
    """

    stage = Stage.BEFORE

    message: str = Field(
        default="timed out: the command has not returned; it may be waiting for input",
        min_length=1,
        description="The error text, of tools that have one.",
    )
    after: Duration | None = Field(
        default=None, description="How long the agent waits for the error. Default: on the real clock 2s, else 0s."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, "shell_session")
        waits = Change("put", entity, _NEXT, {"id": _NEXT, "blocked": self.message})

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            truth, other = await proceed_twice(turn, proceed, turn.after([waits]))
            changes = [change for change in other.changes if (change.entity, change.key) != (entity, _NEXT)]
            if len(changes) == len(other.changes):  # the call has run no command
                return turn.no_effect(truth)
            return Transition(replace(other.observation, delay=turn.wait(self.after, USUAL_TIMEOUT)), tuple(changes))

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, "shell_session", "a shell")
