"""The form in which worlds are stored: entries with deltas, and snapshots.

The ledger has every write. A delta has what else a call changes: counters, memories, the time, the agenda. A world is
restored from a snapshot, or from its start, and from the entries that follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

from rpds import HashTrieMap

from mcp_sim.simulator.tagged_json import dumps, loads
from mcp_sim.types import Call, Change, Due, Observation, PastCall, PastVersion, Record
from mcp_sim.types.clock import wall_seconds
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.kinds import StoredEntry
from mcp_sim.world.commits import Unsaved, Version
from mcp_sim.world.kept_answers import KeptAnswers
from mcp_sim.world.state import Overlay, Row, Segment, State
from mcp_sim.world.steering import versions_kept
from mcp_sim.world.trace import History, Ledger, changes_of, observation_of, step_from_json
from mcp_sim.world.world import World

TAGGED = tuple(field.name for field in fields(Version) if field.name not in ("state", "faults", "kept"))
MICROSECOND = timedelta(microseconds=1)  # the finest time that Python has: nothing is lost


# deltas ---------------------------------------------------------------------------------------------------------------


def delta(world: World, unsaved: Unsaved, saved_agenda: tuple[Due, ...]) -> bytes:
    """Return what has changed besides the ledger since a world was last saved, with that agenda."""
    version = world.version
    tagged: Record = {"memories": {name: version.memories[name] for name in sorted(unsaved.memories)}}
    if version.state.agenda is not saved_agenda:
        tagged["agenda"] = version.state.agenda
    body: Record = {
        **_times(world),
        "counts": version.counts,
        "occurrences": {scope: version.occurrences[scope] for scope in sorted(unsaved.scopes)},
    }
    if tagged["memories"] or "agenda" in tagged:
        body["rest"] = dumps(tagged).decode()
    return encode(body)


class Unreadable(Exception):
    """An entry of a ledger cannot be taken over: the one that follows `whole` others."""

    def __init__(self, whole: int, reason: str) -> None:
        self.whole = whole
        super().__init__(reason)


def replay(world: World, entries: Sequence[StoredEntry]) -> None:
    """Let a world take over entries that follow its own. Raises `Unreadable` for the first that does not fit."""
    times: Record = {}
    for place, entry in enumerate(entries):
        try:
            _replay_line(world, entry.line)
            if entry.delta:
                times = decode(entry.delta)
                world.version = _after(world.version, times)
                world.crashed = times["crashed"]
        except (McpSimError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise Unreadable(place, f"entry {entry.at} is not as it was saved ({error!r})") from error
    if times:
        _set_clock(world, times)


def _replay_line(world: World, line: bytes) -> None:
    body = decode(line)
    if "step" not in body:
        world.answer = body.get("answer", world.answer)
        world.ledger.append(line)
        return
    step = body["step"]
    past = None if step["entry"] == "reset" else past_of(step, step.get("index", world.version.index))
    world.repeat(step_from_json(step), line, past)
    for call, observation in _keyed([body]):
        world.keyed_calls.learn(call, observation)


def _after(version: Version, body: Record) -> Version:
    """Return the version after a delta."""
    occurrences, memories, agenda = version.occurrences, version.memories, version.state.agenda
    for scope, count in body["occurrences"].items():
        occurrences = occurrences.insert(scope, count)
    if "rest" in body:
        rest: Record = loads(body["rest"].encode())
        agenda = rest.get("agenda", agenda)
        for name, value in rest["memories"].items():
            memories = memories.insert(name, value)
    state = version.state if agenda is version.state.agenda else replace(version.state, agenda=agenda)
    return replace(version, state=state, counts=tuple(body["counts"]), occurrences=occurrences, memories=memories)


def _times(world: World) -> Record:
    """Return the time of a world, and its first crash."""
    return {"elapsed": world.clock.elapsed() // MICROSECOND, "wall": wall_seconds(), "crashed": world.crashed}


def _set_clock(world: World, times: Record) -> None:
    world.clock = world.clock.resumed(times["elapsed"] * MICROSECOND, wall_seconds() - times["wall"])


# snapshots ------------------------------------------------------------------------------------------------------------


def snapshot_of(world: World) -> bytes:
    """Return a whole world, without its ledger."""
    version = world.version
    body = {
        **_times(world),
        "steering": version.faults.steering,
        "kept": version.kept.to_json(),
        "answer": world.answer,
        "state": {entity: _overlay_json(overlay) for entity, overlay in version.state.overlays.items()},
        "rest": dumps({name: getattr(version, name) for name in TAGGED} | {"agenda": version.state.agenda}).decode(),
    }
    return encode(body)


def restore(world: World, snapshot: bytes, lines: Sequence[bytes]) -> None:
    """Let a world become that of a snapshot; `lines` are the newest of its ledger up to then."""
    body: Record = decode(snapshot)
    rest: Record = loads(body["rest"].encode())
    overlays = {entity: _overlay(overlay) for entity, overlay in body["state"].items()}
    size = sum(row.size for overlay in overlays.values() for row in overlay.rows().values())
    state = State(world.origin.first.state.base, HashTrieMap(overlays), rest.pop("agenda"), size)
    faults = reduce(world.engine.refit, body["steering"], world.origin.first.faults)
    kept = KeptAnswers.from_json(body["kept"])
    world.version, world.crashed = Version(state=state, faults=faults, kept=kept, **rest), body["crashed"]
    world.answer = body["answer"]
    _set_clock(world, body)
    lines = [line for line in lines if line]
    world.ledger = Ledger(world.ledger.keep, lines[-world.ledger.keep :])
    world.history = History(world.ledger.keep)
    # The steps from the newest reset on, with the lengths of their lines.
    entries = [(entry, len(line)) for line in lines if "step" in (entry := decode(line))]
    opened = max((at for at, (entry, _) in enumerate(entries) if entry["step"]["entry"] == "reset"), default=0)
    entries = entries[opened:]
    index = 0
    for entry, size in entries:
        step = entry["step"]
        index = step.get("index", index)
        if step["entry"] != "reset":
            world.history.append(past_of(step, index), size)
    for call, observation in _keyed([entry for entry, _ in entries]):
        world.keyed_calls.learn(call, observation)
    world.past_versions = deque[PastVersion](maxlen=versions_kept(faults))
    if world.scenario.reads_past_versions:
        world.past_versions.extend(_past_versions(world, [entry["step"] for entry, _ in entries]))


def _past_versions(world: World, steps: Sequence[Record]) -> Iterator[PastVersion]:
    """Yield the versions of the state that the steps record; only the newest if they do not reach back to a reset."""
    state, index = world.origin.first.state, 0
    if steps and steps[0]["entry"] == "reset":
        for step in steps:
            index = step.get("index", index)
            changes = [Change.from_json(body) for body in (*step.get("committed", ()), *step.get("absorbed", ()))]
            if changes or step["entry"] == "reset":
                state = state.apply(changes)
                yield PastVersion(index, datetime.fromisoformat(step["at"]), state)
    else:
        yield PastVersion(world.version.index, world.clock.start + world.clock.elapsed(), world.version.state)


def _overlay_json(overlay: Overlay) -> Record:
    rows = [
        [key, row.version, row.born, row.record, *([row.removed] if row.removed is not None else [])]
        for key, row in overlay.rows().items()
    ]
    return {"born": overlay.born, "count": overlay.count, "last_key": overlay.last_key, "rows": rows}


def _overlay(body: Record) -> Overlay:
    rows = {
        key: Row(record, version, born, 0 if record is None else len(encode(record)), *removed)
        for key, version, born, record, *removed in body["rows"]
    }
    return Overlay((Segment(rows),) if rows else (), HashTrieMap(), body["born"], body["count"], body["last_key"])


# entries of a ledger --------------------------------------------------------------------------------------------------


def _keyed(entries: Sequence[Record]) -> Iterator[tuple[Call, Observation]]:
    """Yield the calls with an idempotency key, and their observations."""
    for entry in entries:
        key, step = entry["measured"].get("key"), entry["step"]
        if key is not None:
            call = Call(step["tool"], step["arguments"], step.get("answers", {}), key, step.get("caller", ""))
            yield call, observation_of(step["served"] or step["truth"]["observation"])


def past_of(step: Mapping[str, Any], index: int) -> PastCall:
    """Return a ledger entry in the form in which later calls look back at it."""
    absorbed = changes_of(step.get("absorbed", ()))
    changes = (*changes_of(step["committed"]), *absorbed)
    at = datetime.fromisoformat(step["at"])
    if step["entry"] == "event":
        return PastCall(index, "", {}, ok=True, at=at, changes=changes, absorbed=absorbed)
    observation = step["served"] or step["truth"]["observation"]
    ok = "result" in observation and not observation.get("is_error", observation.get("is_failure", False))
    return PastCall(index, step["tool"], step["arguments"], ok, at, changes, absorbed)
