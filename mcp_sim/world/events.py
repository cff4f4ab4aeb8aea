"""What happens in a world by itself: which of what was put off is due, and what do others do meanwhile?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from mcp_sim.types import Due
from mcp_sim.types.draws import Draws
from mcp_sim.types.kinds import Occasion
from mcp_sim.types.scenario import PerturbationEntry
from mcp_sim.world.state import State
from mcp_sim.world.versions import Origin, Version

MICROSECOND = timedelta(microseconds=1)

LOOKED_AT = ("", "looked-at")
"""Where a world remembers up to when others have acted, in microseconds since its start."""


def is_due(due: Due, now: datetime, index: int) -> bool:
    """Has the time come, or the call, for which it was put off?"""
    return due.at <= now if due.call is None else due.call <= index


def looked_at(version: Version, start: datetime, now: datetime) -> tuple[int, Version]:
    """Up to when others have acted, and the version in which they have until now."""
    since = version.memories.get(LOOKED_AT, -1)
    memories = version.memories.insert(LOOKED_AT, (now - start) // MICROSECOND)
    return since, replace(version, memories=memories)


def occasions(
    origin: Origin, start: datetime, since: int, now: datetime
) -> Iterator[tuple[datetime, PerturbationEntry, int]]:
    """When others act from then on until now, and which of them for the how-manieth time."""
    for entry in origin.timed:
        for number, at in entry.perturbation.occasions(start, start + since * MICROSECOND, now):
            yield at, entry, number


def acted(origin: Origin, state: State, entry: PerturbationEntry, number: int, at: datetime) -> Due | None:
    """What one of them does to the world as it stands; None where that is nothing."""
    draws = Draws(origin.seed, origin.stream, f"{entry.id}/act", number)
    actor, changes = entry.perturbation.act(Occasion(at, state, draws), origin.scenario.domain)
    return Due(at, actor, tuple(changes)) if changes else None
