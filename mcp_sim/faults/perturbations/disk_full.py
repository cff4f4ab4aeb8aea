"""Disks without space."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from mcp_sim.faults.results import entity_of, missing, proceed_twice
from mcp_sim.types import Change, Proceed, Record, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

_SIZE = 20_509_264  # KiB, of a partition that the world does not have


@perturbations.register("disk_full")
class DiskFull(Perturbation):
    """Let a partition be full during a call of a shell: what a command writes there is cut off, and the command fails.

    `df` shows it as full. No effect on a call that writes nothing there and does not ask.
    """

    stage = Stage.BEFORE

    mount: str = Field(default="/", description="Where the partition is mounted.", examples=["/var/log"])

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, "partition")

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            row: Record = turn.view.get(entity, self.mount) or {
                "mount": self.mount,
                "device": "/dev/vdc1",
                "size": _SIZE,
            }
            change = Change("put", entity, self.mount, {**row, "used": row["size"], "is_full": True})
            truth, other = await proceed_twice(turn, proceed, turn.after([change]))
            is_same = (truth.observation, truth.changes) == (other.observation, other.changes)
            return turn.no_effect(truth) if is_same else other

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, "partition", "a shell")
