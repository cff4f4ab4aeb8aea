"""Persistence: save a world after every call, and restore it before the next.

Saved is only what scenario and seed do not determine: writes, counters, memories, facts, the time, the ledger. Several
processes may use one world in turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.to_thread import run_sync
from rpds import HashTrieMap

from mcp_sim.simulator.simulator import Simulator
from mcp_sim.simulator.tagged_json import TaggedJsonError, dumps, loads
from mcp_sim.types import Call, Change, Observation, PastCall, PastVersion, Record
from mcp_sim.types.clock import Clock, Mode, wall_seconds
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.kinds import OpenStore, SavedWorld
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.commits import Version
from mcp_sim.world.idempotency import KEPT
from mcp_sim.world.state import Overlay, Row, State
from mcp_sim.world.trace import History, Ledger, observation_of
from mcp_sim.world.world import World

FORMAT = 3
TAGGED = tuple(field.name for field in fields(Version) if field.name != "state")
MICROSECOND = timedelta(microseconds=1)


class StoreKeeper:
    """Keeps one world in an open store, with its ledger."""

    def __init__(self, simulator: Simulator, store: OpenStore, name: str) -> None:
        self._simulator, self._store, self._name = simulator, store, name
        self._lock = anyio.Lock()
        self._revision = 0
        self._lines = list[bytes]()

    def world(self, seed: int | None, clock: Mode | None) -> World:
        """Return the stored world, or a new one. Raises `UsageError` if the stored world cannot be read."""
        saved = self._store.acquire(self._name)
        try:
            world = self._simulator.world(self._name, seed=seed, clock=clock, keeper=self, is_new=saved is None)
            self._resume(world, saved)
            self._put(world)
        finally:
            self._store.release()
        return world

    def write(self, line: bytes) -> None:
        """Add a line of the ledger; it is stored with the call."""
        self._lines.append(line)

    def close(self) -> None:
        return

    async def answer(self, world: World, call: Call) -> Observation:
        """Answer a call on the stored state of the world, and store the new state."""
        async with self._lock:
            saved = await run_sync(self._store.acquire, self._name)
            try:
                self._resume(world, saved)
                return world.keyed_calls.known(call) or await self._answered(world, call)
            finally:
                self._store.release()

    async def _answered(self, world: World, call: Call) -> Observation:
        try:
            observation = await self._simulator.answer(world, call)
            world.keyed_calls.learn(call, observation)
            return observation
        finally:
            self._put(world)

    def _resume(self, world: World, saved: SavedWorld | None) -> None:
        if saved is None or saved.revision == self._revision:
            return
        try:
            _restore(world, decode(saved.state), self._store.lines(self._name, max(world.ledger.keep, KEPT)))
        except (TaggedJsonError, KeyError, ValueError, TypeError) as error:
            raise UsageError(f"the world {self._name} cannot be read from its store: {error}") from error
        self._revision = saved.revision

    def _put(self, world: World) -> None:
        """Store the world, if its ledger has new lines."""
        if self._lines:
            self._store.save(self._name, SavedWorld(self._revision + 1, encode(_saved_state(world))), self._lines)
            self._revision += 1
            self._lines.clear()


def identity(scenario: Scenario, seed: int | None, version: str) -> str:
    """Return the text that all worlds of one store share: scenario, hash, seed, intensity, version."""
    number = scenario.seed if seed is None else seed
    about = f"sha256 {scenario.sha256[:16]}, seed {number}, intensity {scenario.intensity!r}, mcp-sim {version}"
    return f"{scenario.name} ({about})"


def _saved_state(world: World) -> Record:
    version = world.version
    return {
        "format": FORMAT,
        "state": {entity: _overlay_json(overlay) for entity, overlay in version.state.overlays.items()},
        "rest": dumps({name: getattr(version, name) for name in TAGGED} | {"agenda": version.state.agenda}).decode(),
        "crashed": world.crashed,
        "elapsed": world.clock.elapsed() // MICROSECOND,
        "wall": wall_seconds(),
    }


def _restore(world: World, saved_state: Record, lines: Sequence[bytes]) -> None:
    if saved_state["format"] != FORMAT:
        raise ValueError(f"its format is {saved_state['format']}, not {FORMAT}")
    rest: Record = loads(saved_state["rest"].encode())
    overlays = {entity: _overlay(body) for entity, body in saved_state["state"].items()}
    size = sum(row.size for overlay in overlays.values() for row in overlay.rows().values())
    state = State(world.origin.first.state.base, HashTrieMap(overlays), rest.pop("agenda"), size)
    world.version, world.crashed = Version(state=state, **rest), saved_state["crashed"]
    world.clock = _clock(world.clock, saved_state)
    world.ledger = Ledger(world.ledger.keep, lines[-world.ledger.keep :])
    world.history = History(world.ledger.keep)
    entries = _lines_since_reset(lines)
    for past, size in _pasts(entries):
        world.history.append(past, size)
    for call, observation in _keyed(entries):
        world.keyed_calls.learn(call, observation)
    if world.scenario.reads_past_versions:
        world.past_versions.clear()
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


def _clock(clock: Clock, saved_state: Record) -> Clock:
    return clock.resumed(saved_state["elapsed"] * MICROSECOND, wall_seconds() - saved_state["wall"])


def _overlay_json(overlay: Overlay) -> Record:
    rows = [[key, row.version, row.born, row.record] for key, row in overlay.rows().items()]
    return {"born": overlay.born, "count": overlay.count, "last_key": overlay.last_key, "rows": rows}


def _overlay(body: Record) -> Overlay:
    rows = {
        key: Row(record, version, born, 0 if record is None else len(encode(record)))
        for key, version, born, record in body["rows"]
    }
    return Overlay(rows, HashTrieMap(), body["born"], body["count"], body["last_key"])


def _pasts(entries: Sequence[tuple[Record, int]]) -> Iterator[tuple[PastCall, int]]:
    """Yield the calls and events of ledger entries, with their size in bytes."""
    index = 0
    for entry, size in entries:
        step = entry["step"]
        index = step.get("index", index)
        if step["entry"] != "reset":
            yield past_of(step, index), size


def _keyed(entries: Sequence[tuple[Record, int]]) -> Iterator[tuple[Call, Observation]]:
    """Yield the calls with an idempotency key, and their observations."""
    for entry, _ in entries:
        key, step = entry["measured"].get("key"), entry["step"]
        if key is not None:
            call = Call(step["tool"], step["arguments"], step.get("answers", {}), key)
            yield call, observation_of(step["served"] or step["truth"]["observation"])


def _lines_since_reset(lines: Sequence[bytes]) -> list[tuple[Record, int]]:
    """Return the steps in ledger lines from the newest reset on, with the length of each line in bytes."""
    entries = [(entry, len(line)) for line in lines if "step" in (entry := decode(line))]
    opened = max((at for at, (entry, _) in enumerate(entries) if entry["step"]["entry"] == "reset"), default=0)
    return entries[opened:]


def past_of(step: Mapping[str, Any], index: int) -> PastCall:
    """Return a ledger entry in the form in which later calls look back at it."""
    changes = tuple(Change.from_json(body) for body in (*step["committed"], *step.get("absorbed", ())))
    at = datetime.fromisoformat(step["at"])
    if step["entry"] == "event":
        return PastCall(index, "", {}, ok=True, at=at, changes=changes)
    observation = step["served"] or step["truth"]["observation"]
    ok = "result" in observation and not observation.get("is_error", False)
    return PastCall(index, step["tool"], step["arguments"], ok, at, changes)
