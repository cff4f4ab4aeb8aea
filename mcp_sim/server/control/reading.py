"""Read worlds: their summaries, faults and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice

from mcp_sim.faults.trigger_evaluation import describe
from mcp_sim.libraries.screens import screens
from mcp_sim.server.control import models as m
from mcp_sim.server.control.errors import Conflict, Invalid
from mcp_sim.types import Change, Key, Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_values import encode
from mcp_sim.types.programs import GESTURES
from mcp_sim.types.scenario import PerturbationEntry
from mcp_sim.types.views import find_key
from mcp_sim.world.commits import Moment
from mcp_sim.world.state import State
from mcp_sim.world.world import World

MOST_PAGE_BYTES = 4 * 1024 * 1024
"""A page of records ends after so many bytes."""


def summary(world: World, parent: str | None) -> m.WorldSummary:
    return m.WorldSummary(**_summary(world, parent))


def _summary(world: World, parent: str | None) -> Record:
    return {
        "name": world.name,
        "seed": world.origin.seed,
        "stream": world.origin.stream,
        "calls": world.version.index,
        "steps": world.version.n,
        "entries": world.ledger.added,
        "now": world.now,
        "parent": parent,
        "crashed": world.crashed,
    }


def about_world(world: World, parent: str | None, snapshots: Mapping[str, Moment]) -> m.WorldState:
    """Return the state of a world, without its records."""
    clock, start = world.clock, world.clock.start
    elapsed = clock.elapsed()
    milliseconds = elapsed / timedelta(milliseconds=1)
    return m.WorldState(
        **_summary(world, parent),
        clock=m.ClockState(mode=clock.mode, start=start, now=start + elapsed, elapsed_ms=milliseconds),
        records=world.view.counts(),
        faults=[fault_state(world, entry) for entry in world.scenario.perturbations],
        snapshots=[
            m.SnapshotState(name=name, step=snapshot.version.n, now=start + snapshot.elapsed)
            for name, snapshot in snapshots.items()
        ],
        answer=world.answer,
        bytes=world.size,
    )


def fault_state(world: World, entry: PerturbationEntry) -> m.Fault:
    return m.Fault(
        id=entry.id,
        kind=entry.kind,
        tools=list(entry.tools),
        when=describe(entry.when),
        visible=entry.visible,
        enabled=entry.enabled,
        injected=any(injected["id"] == entry.id for injected in world.version.faults.injected),
        applied=entry.id in world.version.applied,
    )


def read_records(world: World, query: m.RecordQuery) -> m.RecordList:
    """Return a page of records. Raises `Invalid` for an unknown entity, `Conflict` for a step that is not kept."""
    state = _state_at(world, query.step)
    if query.entity not in state.entities() and query.entity not in world.scenario.domain.entities:
        known = [*state.entities(), *world.scenario.domain.entities]
        problem = f"there is no entity {query.entity!r}{did_you_mean(query.entity, known)}"
        raise Invalid([m.Located(path="entity", message=problem)])
    if query.key is not None:
        key = find_key(state, query.entity, query.key)
        record = None if key is None else state.get(query.entity, key)
        records = [] if key is None or record is None else [_stored(state, query.entity, key, record)]
        return m.RecordList(records=records, total=len(records), next=None)
    rows = islice(state.rows(query.entity), query.offset, query.offset + query.limit)
    records = list(_bounded(state, query.entity, rows))
    total, end = state.count(query.entity), query.offset + len(records)
    return m.RecordList(records=records, total=total, next=end if end < total and records else None)


def read_screens(world: World, query: m.ScreenQuery) -> str:
    """Return what the screens of a world show, one below the other. Raises `Conflict` for a step that is not kept."""
    view = _state_at(world, query.step)
    shown = screens(view.entities(), lambda name: (record for _, record in view.rows(name)), query.form)
    if query.form != "html":
        return "\n\n".join(shown)
    return "<hr>".join(shown) or "<!doctype html><p>No screen is open.</p>"


def gestures(domain: Domain) -> dict[str, m.Gesture]:
    """Return what a person can do on a screen. A gesture that several tools declare is not known."""
    declared = [
        (function.options["gesture"], tool, function)
        for program in domain.programs
        for tool, function in program.functions.items()
        if "gesture" in function.options
    ]
    counts = Counter(gesture for gesture, _, _ in declared)
    return {
        gesture: m.Gesture(tool=tool, arguments=[*function.parameters[: GESTURES[gesture]]])
        for gesture, tool, function in declared
        if counts[gesture] == 1
    }


def _bounded(state: State, entity: str, rows: Iterable[tuple[Key, Record]]) -> Iterator[m.StoredRecord]:
    """Yield records up to a number of bytes, and at least one."""
    size = 0
    for key, record in rows:
        size += len(encode(record))
        if size > MOST_PAGE_BYTES and size > len(encode(record)):
            return
        yield _stored(state, entity, key, record)


def _stored(state: State, entity: str, key: Key, record: Record) -> m.StoredRecord:
    return m.StoredRecord(key=key, version=state.version(entity, key), record=record)


def _state_at(world: World, step: int | None) -> State:
    return world.view if step is None else state_after(world, step)


def state_after(world: World, n: int) -> State:
    """Return the state after a step of the ledger. Raises `Conflict` if the ledger does not reach back to its start."""
    steps = list[Record]()  # the kept ones since the newest reset, without those that were taken back
    for entry in world.ledger:
        if "fork" in entry and entry["fork"]["of"] == entry["world"]:
            steps = [step for step in steps if step["n"] <= entry["fork"]["n"]]
        elif "step" in entry:
            steps = [entry["step"]] if entry["step"]["entry"] == "reset" else [*steps, entry["step"]]
    if not steps or steps[0]["entry"] != "reset" or n < steps[0]["n"]:
        raise Conflict(f"the ledger of {world.name} does not reach back to step {n}; its trace does")
    if n > steps[-1]["n"]:
        raise Invalid([m.Located(path="step", message=f"the newest step of {world.name} is {steps[-1]['n']}")])
    state = world.origin.first.state
    for step in steps:
        if step["n"] > n:
            break
        changes = (*step.get("committed", ()), *step.get("absorbed", ()))
        state = state.apply([Change.from_json(body) for body in changes])
    return state
