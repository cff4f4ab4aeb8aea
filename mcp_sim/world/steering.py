"""What someone other than the agent does to a world: its faults, its time, its records.

Each act is recorded in the ledger, with who did it. The caller holds the lock of the world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from mcp_sim.types import Change, Due, PastCall, PastVersion, Record, Step
from mcp_sim.types.calls import Memories
from mcp_sim.types.clock import LONGEST
from mcp_sim.types.doubts import settle_changes
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import well_formed
from mcp_sim.types.kinds import Occasion
from mcp_sim.world.catalogue import LISTED, announced
from mcp_sim.world.commits import ACTED_UNTIL, MICROSECOND, Faults, Version, is_due, mark_acted
from mcp_sim.world.deferred_commits import fitting

if TYPE_CHECKING:
    from mcp_sim.types.scenario import PerturbationEntry
    from mcp_sim.world.world import World

OPERATOR = "operator"
"""The actor of an act whose actor is not named."""

MOST_INJECTED = 100
"""The most faults that may be added to one world. Each call tries the triggers of all of them."""

MOST_VERSIONS = 256
"""The most versions of the state that are kept for perturbations that read them. Versions share records, but what was
replaced lives as long as they do."""


# faults ---------------------------------------------------------------------------------------------------------------


def inject(world: World, entry: Record, actor: str) -> str:
    """Add a fault, written as in a document, and return its id."""
    if len(world.version.faults.injected) >= MOST_INJECTED:
        raise UsageError(f"{MOST_INJECTED} faults were added to the world {world.name}, which is the most; reset it")
    faults = world.refit({"inject": entry})
    added = faults.injected[-1]
    _change_faults(world, {"inject": added}, faults, actor)
    return added["id"]


def switch(world: World, fault: str, actor: str, *, on: bool) -> None:
    """Enable or disable a fault. Its counters continue where they were."""
    steered: Record = {"enable" if on else "disable": fault}
    _change_faults(world, steered, world.refit(steered), actor)


def _change_faults(world: World, steered: Record, faults: Faults, actor: str) -> None:
    settle(world)
    # A fault that is added after an hour must not act for the hour before it.
    if any(entry not in world.version.faults.timed for entry in faults.timed):
        _, world.version = mark_acted(world.version, world.clock.start, world.now)  # they act from now on
        _note_memory(world, ACTED_UNTIL)
    # Note which list of tools clients know, so that the next call notifies them if faults change it.
    memories = world.version.memories
    if ("", LISTED) not in memories:
        known = announced(world.version.faults.lasting, world.beginning())
        world.version = replace(world.version, memories=memories.insert(("", LISTED), known))
        _note_memory(world, ("", LISTED))  # before the change: clients know the list as it was
    _happened(world, actor, steered, with_faults(world, world.version, faults))


def _note_memory(world: World, name: tuple[str, str]) -> None:
    """Note a memory that a store has to save."""
    if world.unsaved is not None:
        world.unsaved.memories.add(name)


def with_faults(world: World, version: Version, faults: Faults) -> Version:
    """Return the version with other faults. The counters of those that were added begin at 0."""
    if faults is version.faults:
        return version
    if world.past_versions.maxlen != versions_kept(faults):
        known = world.past_versions or [PastVersion(version.index, world.now, version.state)]
        world.past_versions = deque(known, maxlen=versions_kept(faults))
    added = (0,) * (faults.counters - len(version.counts))
    return replace(version, faults=faults, counts=(*version.counts, *added))


def versions_kept(faults: Faults) -> int:
    """Return how many older versions of the state a world keeps with these faults."""
    return MOST_VERSIONS if faults.scenario.reads_past_versions else 0


def _happened(world: World, actor: str, steered: Record, version: Version) -> None:
    step = Step(world.version.n + 1, "event", world.now, actor=actor, steered=steered)
    world.record(step, version, {}, PastCall(version.index, "", {}, ok=True, at=step.at, changes=()))


def note(world: World, events: Sequence[Record], actor: str) -> None:
    """Record what happened beside the calls, such as a token that was refused. It changes nothing."""
    settle(world)
    for event in events:
        _happened(world, actor, event, world.version)


# time -----------------------------------------------------------------------------------------------------------------


def advance(world: World, span: timedelta, actor: str) -> None:
    """Let world time pass, and commit what has become due."""
    if world.clock.mode == "real":
        raise UsageError("the clock of this world is real and moves by itself; virtual clocks can be advanced")
    if not timedelta(0) < span <= LONGEST:
        raise UsageError(f"a clock can be advanced by more than 0 and at most {LONGEST.days} days")
    settle(world)
    _happened(world, actor, {"advance_ms": span / timedelta(milliseconds=1)}, world.version)
    world.clock.advance(span)
    settle(world)


def settle(world: World) -> None:
    """Commit what has become due."""
    now, index = world.now, world.version.index + 1
    due, state = world.version.state.split_agenda(lambda entry: is_due(entry, now, index))
    if due:
        world.version = replace(world.version, state=state)
    late = [(entry.at if entry.call is None else now, partial(_late, world, entry)) for entry in due]
    acts = [*late, *_acts(world, now)] if world.version.faults.timed else late
    # By time, and stable: late writes come before the acts of the same moment.
    for at, commit in sorted(acts, key=itemgetter(0)):
        commit(at)


def _late(world: World, entry: Due, at: datetime) -> None:
    """Commit an entry of the agenda, if it still fits."""
    changes = fitting(world.version.state, entry.changes, world.scenario.domain)
    world.commit_due(replace(entry, at=at, changes=changes))


def _acts(world: World, now: datetime) -> Iterator[tuple[datetime, partial[None]]]:
    """Yield the acts of scheduled perturbations since the last call, with their times."""
    since, world.version = mark_acted(world.version, world.clock.start, now)
    _note_memory(world, ACTED_UNTIL)
    start = world.clock.start
    for entry in world.version.faults.timed:
        for number, at in entry.perturbation.occasions(start, start + since * MICROSECOND, now):
            yield at, partial(_act, world, entry, number)


def _act(world: World, entry: PerturbationEntry, number: int, at: datetime) -> None:
    origin, version = world.origin, world.version
    draws = Draws(origin.seed, origin.stream, f"{entry.id}/act", number)
    actor, changes = entry.perturbation.act(Occasion(at, version.state, draws), version.faults.scenario.domain)
    if changes:
        world.commit_due(Due(at, actor, tuple(changes)))


# records --------------------------------------------------------------------------------------------------------------


def change(world: World, changes: Sequence[Change], actor: str) -> None:
    """Write records as another actor. Raises `StaleChange` if one is not at the version that was expected."""
    settle(world)
    memories = Memories(world.version.memories)
    settle_changes(memories, world.version.state, changes, world.version.index + 1)
    call_by(world, changes, actor, (), memories)


def call_by(
    world: World, changes: Sequence[Change], actor: str, absorbed: Sequence[Change], memories: Memories
) -> None:
    """Write what a call of another actor changed, the records that it showed for the first time, and what it left."""
    if changes or absorbed:
        world.commit_due(Due(world.now, actor, _writable(changes)), _writable(absorbed))
    world.version = replace(world.version, memories=memories.committed())
    for name in memories.staged:
        _note_memory(world, name)


def _writable(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes of a user's program as a trace of them shows them: they come from no JSON text."""
    return tuple(replace(change, record=well_formed(change.record)) for change in changes)
