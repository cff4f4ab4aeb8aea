"""What of a world may a call change, where does a world come from, and what would a call find at a version?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rpds import HashTrieMap

from mcp_sim.types import Call, Memories, Tool, Turn
from mcp_sim.types.clock import Clock
from mcp_sim.types.draws import Draws
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.catalogue import CatalogueFault
from mcp_sim.world.state import State

NO_TOOL = Tool("", "", {"name": "", "inputSchema": {"type": "object"}})


@dataclass(frozen=True, slots=True)
class Version:
    """Everything of a world that a call may change: kept by reference, so that a snapshot and a fork are O(1)."""

    state: State
    counts: tuple[int, ...]
    facts: tuple[Any, ...]
    occurrences: HashTrieMap[str, int]
    memories: HashTrieMap[tuple[str, str], Any]
    index: int = 0
    n: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a world comes from and what it goes back to: all that worlds of one scenario and seed have in common."""

    scenario: Scenario
    seed: int
    stream: str
    first: Version
    timed: tuple[PerturbationEntry, ...] = ()
    """The perturbations that act by themselves."""
    lasting: tuple[CatalogueFault, ...] = ()
    """The perturbations of the catalogue."""


def turn_without_call(origin: Origin, clock: Clock, version: Version, elapsed: timedelta) -> Turn:
    """A turn of no call: what the next one would find, so much time after the clock's start."""
    return Turn(
        call=Call("", {}),
        index=version.index + 1,
        tool=NO_TOOL,
        view=version.state,
        start=clock.start,
        now=clock.start + elapsed,
        draws=Draws(origin.seed, origin.stream, "", 0),
        history=(),
        memories=Memories(version.memories, version.counts),
    )
