"""What can be done to the worlds of a server. HTTP exposes these methods; programs in the same process call them.

Records are changed as another actor of the same backend would change them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice, takewhile
from secrets import token_hex
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio
from anyio import CapacityLimiter, to_thread

from mcp_sim import __version__
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.edits import Editor, Inserter, value_problems
from mcp_sim.server.control import models as m
from mcp_sim.server.control.errors import Conflict, Invalid, NotFound, of_fault
from mcp_sim.server.control.following import Followed, follow
from mcp_sim.server.control.reading import about_world, fault_state, gestures, read_records, read_screens, summary
from mcp_sim.server.deliverability import Transport, check_deliverable
from mcp_sim.server.worlds import Worlds, WorldUnavailable
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Change, Key
from mcp_sim.types.clock import Mode
from mcp_sim.types.domain import Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import (
    BadArguments,
    Crash,
    DocumentError,
    InputRequired,
    StaleChange,
    UsageError,
    did_you_mean,
)
from mcp_sim.types.frozen import frozen
from mcp_sim.types.grades import Grade
from mcp_sim.types.json_values import decode
from mcp_sim.types.views import find_key
from mcp_sim.world.commits import Faults, Moment
from mcp_sim.world.deferred_commits import fitting
from mcp_sim.world.state import State
from mcp_sim.world.steering import change, settle
from mcp_sim.world.trace import observation_bytes
from mcp_sim.world.world import World

T = TypeVar("T")

BUSY_SECONDS = 30.0
"""Seconds that an act waits for the call that a world is answering. A language model may take as long; then the act is
refused, not the call."""


@frozen
class Setting:
    """How worlds are served: the seed and clock of new ones, and the transport, if any, by which agents reach them."""

    seed: int
    clock: Mode
    transport: Transport | None = None


class Controls:
    """Creates, reads, changes and ends the worlds of a server.

    An act is done while its world answers no call, and is an event of its ledger with its actor. Reading never waits
    for a call. What may take long is computed in a thread, one at a time, so that calls of other worlds go on.

    Raises `ControlError` for what cannot be done.
    """

    def __init__(self, simulator: Simulator, worlds: Worlds, setting: Setting) -> None:
        self._simulator, self._worlds, self._setting = simulator, worlds, setting
        self._snapshots = Snapshots()
        self._parents = WeakKeyDictionary[World, str]()
        self._thread = CapacityLimiter(1)

    # worlds

    def about(self) -> m.About:
        """Return what is served."""
        scenario = self._simulator.scenario
        return m.About(
            name=scenario.name,
            sha256=scenario.sha256,
            task=scenario.task,
            seed=self._setting.seed,
            servers={name: list(spec.tools) for name, spec in scenario.servers.items()},
            entities=list(scenario.domain.entities),
            expectations=[entry.id for entry in scenario.expectations],
            gestures=gestures(scenario.domain),
            clock=self._setting.clock,
            version=__version__,
        )

    def worlds(self, query: m.Page) -> m.WorldList:
        """Return the worlds, in the order in which they were created."""
        names = self._worlds.names()
        page = [self.world(name) for name in names[query.offset : query.offset + query.limit]]
        return m.WorldList(
            worlds=[summary(world_name, self._parents.get(world_name)) for world_name in page], total=len(names)
        )

    def world(self, name: str) -> World:
        """Return a world itself. Raises `NotFound`."""
        world = self._worlds.find(name)
        if world is None:
            raise NotFound(f"there is no world {name!r}{did_you_mean(name, self._worlds.names()[: m.MOST_ROWS])}")
        return world

    async def create(self, new: m.NewWorld) -> m.WorldSummary:
        """Create a world."""
        name = self._free(new.name)
        seed = self._setting.seed if new.seed is None else new.seed
        await self._apart(self._simulator.base(seed).counts)  # generates the records of a new seed
        clock = new.clock or self._setting.clock
        # Refuse faults that a new world cannot have, before a ledger names the world.
        trial = self._simulator.world(is_new=False, intensity=new.intensity, faults=new.faults is not False)
        faults = trial.version.faults
        for number, fault in enumerate([] if isinstance(new.faults, bool) else new.faults):
            try:
                faults = trial.engine.refit(faults, {"inject": fault})
            except DocumentError as error:
                raise of_fault(error, f"faults[{number}]") from None
        self._check_delivery(faults, clock)
        return self._added(
            self._simulator.world(
                self._free(name), seed=seed, stream=new.stream, clock=clock, intensity=new.intensity, faults=new.faults
            )
        )

    def inspect(self, name: str) -> m.WorldState:
        """Return the state of a world, without its records."""
        world = self.world(name)
        return about_world(world, self._parents.get(world), self._snapshots.of(world))

    async def close(self, name: str) -> None:
        """End a world, once it has answered. Agents that name it again begin a new one, where that is allowed."""
        world = self.world(name)
        await self._do(world, lambda: None)
        self._worlds.forget(name)

    async def fork(self, name: str, request: m.ForkRequest) -> m.WorldSummary:
        """Create a world that begins as another one is now."""
        world, twin = self.world(name), self._free(request.name)
        fork = await self._do(world, lambda: world.fork(self._free(twin), request.stream, request.actor))
        self._parents[fork] = name
        return self._added(fork)

    async def reset(self, name: str, request: m.Act) -> m.WorldSummary:
        """Return a world to its start."""
        world = self.world(name)
        await self._do(world, lambda: world.reset(request.actor))
        return summary(world, self._parents.get(world))

    # snapshots

    def snapshots(self, name: str) -> list[m.SnapshotState]:
        """Return the snapshots of a world."""
        return self.inspect(name).snapshots

    async def snapshot(self, name: str, request: m.NewSnapshot) -> m.Identified:
        """Take a snapshot of a world."""
        world = self.world(name)
        return m.Identified(id=await self._do(world, lambda: self._snapshots.take(world, request.name)))

    async def restore(self, name: str, request: m.Restore) -> m.WorldSummary:
        """Return a world to a snapshot."""
        world = self.world(name)
        moment = self._snapshots.get(world, request.snapshot)
        await self._do(world, lambda: world.return_to(moment, request.actor))
        return summary(world, self._parents.get(world))

    def drop_snapshot(self, name: str, snapshot: str) -> None:
        """Delete a snapshot of a world."""
        self._snapshots.drop(self.world(name), snapshot)

    # faults

    def faults(self, name: str) -> list[m.Fault]:
        """Return the faults of a world as they are now."""
        world = self.world(name)
        return [fault_state(world, entry) for entry in world.scenario.perturbations]

    async def inject(self, name: str, request: m.NewFault) -> m.Identified:
        """Add a fault."""
        world = self.world(name)
        try:
            self._check_delivery(world.refit({"inject": request.fault}), world.clock.mode)
            return m.Identified(id=await self._steered(world, world.inject(request.fault, request.actor)))
        except DocumentError as error:
            raise of_fault(error, "fault") from None

    async def switch(self, name: str, fault: str, request: m.Switch) -> m.Fault:
        """Enable or disable a fault."""
        world = self.world(name)
        known = [entry.id for entry in world.scenario.perturbations]
        if fault not in known:
            raise NotFound(f"the world {name} has no fault {fault!r}{did_you_mean(fault, known)}")
        if request.enabled:
            self._check_delivery(world.refit({"enable": fault}), world.clock.mode)
        await self._steered(world, (world.enable if request.enabled else world.disable)(fault, request.actor))
        return next(state for state in self.faults(name) if state.id == fault)

    def _check_delivery(self, faults: Faults, clock: Mode) -> None:
        """Raise `Conflict` if the transport cannot deliver one of the faults."""
        if self._setting.transport is not None:
            with _refusals():
                check_deliverable(faults.scenario, self._setting.transport, clock)

    # time, records, the answer

    async def advance(self, name: str, request: m.Advance) -> m.ClockState:
        """Advance the clock of a world."""
        world = self.world(name)
        await self._steered(world, world.advance(request.by, request.actor))
        return self.inspect(name).clock

    async def records(self, name: str, query: m.RecordQuery) -> m.RecordList:
        """Return records of a world."""
        return await self._apart(partial(read_records, self.world(name), query))

    async def screen(self, name: str, query: m.ScreenQuery) -> str:
        """Return what the screens of a world show, as HTML that only shows or in another form."""
        return await self._apart(partial(read_screens, self.world(name), query))

    async def call(self, name: str, request: m.ActorCall) -> m.CallAnswer:
        """Call a tool as someone other than the agent, without faults."""
        world = self.world(name)
        self._check_room(name)
        if request.tool not in world.scenario.domain.tools:
            problem = f"there is no tool {request.tool!r}{did_you_mean(request.tool, world.scenario.domain.tools)}"
            raise Invalid([m.Located(path="tool", message=problem)])
        try:
            act = world.act(request.tool, request.arguments, request.actor)
            return m.CallAnswer(observation=decode(observation_bytes(await self._steered(world, act))))
        except InputRequired:
            raise Conflict(f"{request.tool} asks its client questions, which only an agent answers") from None
        except (BadArguments, Crash) as error:
            raise Conflict(str(error)) from error

    async def change(self, name: str, request: m.Changes) -> m.Changed:
        """Change records as another actor."""
        world = self.world(name)
        self._check_room(name)
        return m.Changed(keys=await self._do(world, lambda: write_records(world, request)))

    async def answer(self, name: str, request: m.Answer) -> Grade:
        """Submit the final answer of the agent, and return the grade."""
        world = self.world(name)
        self._check_room(name)
        await self._do(world, lambda: world.submit(request.answer, request.actor))
        return await self.grade(name, m.GradeQuery())

    async def grade(self, name: str, query: m.GradeQuery) -> Grade:
        """Return the grade of a world as it is now."""
        await self.world(name).probe()
        return await self._apart(partial(self.world(name).grade, strict=query.strict, exercised=query.exercised))

    # ledgers

    def ledger(self, name: str, query: m.LedgerQuery) -> m.LedgerPage:
        """Return entries of a ledger, as far as the world keeps them."""
        ledger = self.world(name).ledger
        page = ledger.after(query.after, query.limit)
        entries = [m.LedgerEntry(number=number, entry=decode(line)) for number, line in page]
        return m.LedgerPage(entries=entries, oldest=ledger.added - len(ledger) + 1, newest=ledger.added)

    def follow(self, name: str, query: m.StreamQuery) -> AsyncGenerator[Followed]:
        """Yield the entries of a ledger with their numbers, then each new one, until the world ends."""
        world = self.world(name)
        return follow(world, query.after, lambda: self._worlds.find(name) is world)

    async def compare(self, name: str, query: m.CompareQuery) -> m.Comparison:
        """Compare the records and ledgers of two worlds."""
        return await self._apart(partial(compare, self.world(name), self.world(query.other), query.limit))

    # in common

    def _free(self, name: str | None) -> str:
        """Return the name of a new world. Raises `Conflict` if it is taken, or there is no room for a world."""
        if name is not None and self._worlds.find(name) is not None:
            raise Conflict(f"there is a world {name!r}; choose another name, or close that one")
        chosen = name or f"world-{token_hex(8)}"
        with _refusals():
            self._worlds.check_room(chosen)
        return chosen

    def _added(self, world: World) -> m.WorldSummary:
        with _refusals():
            self._worlds.add(world)
        return summary(world, self._parents.get(world))

    def _check_room(self, name: str) -> None:
        with _refusals():
            self._worlds.check(name)

    async def _do(self, world: World, act: Callable[[], T]) -> T:
        return await self._steered(world, world.engine.steer(world, act))

    async def _steered(self, world: World, act: Any) -> Any:
        """Wait for an act, as long as a world may take to answer a call."""
        with _refusals():
            try:
                with anyio.fail_after(BUSY_SECONDS):
                    done = await act
            except TimeoutError:
                raise Conflict(f"the world has been answering a call for {BUSY_SECONDS:g} s; try again") from None
        if self._worlds.find(world.name) is not world:
            raise Conflict(f"the world {world.name} was closed meanwhile")
        return done

    async def _apart(self, compute: Callable[[], T]) -> T:
        """Compute something in a thread."""
        return await to_thread.run_sync(compute, limiter=self._thread)


@contextmanager
def _refusals() -> Generator[None]:
    """Turn what a world refuses into a refusal of the control plane."""
    try:
        yield
    except DocumentError:
        raise
    except (UsageError, StaleChange, WorldUnavailable) as error:
        raise Conflict(str(error)) from error


def compare(a: World, b: World, limit: int) -> m.Comparison:
    """Return the differences of two worlds, at most `limit` of them."""
    differences = list(islice(_differences(a.view, b.view), limit + 1))
    steps = zip(a.ledger.steps, b.ledger.steps, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], steps))
    return m.Comparison(
        equal=not differences, differences=differences[:limit], more=len(differences) > limit, common_steps=common
    )


def _differences(a: State, b: State) -> Iterator[m.RecordDifference]:
    missing = object()
    for entity in dict.fromkeys((*a.entities(), *b.entities())):
        for key in _keys(a, b, entity):
            ours, theirs = a.get(entity, key), b.get(entity, key)
            if ours != theirs:
                first, other = ours or {}, theirs or {}
                names = dict.fromkeys((*first, *other))
                fields = [name for name in names if first.get(name, missing) != other.get(name, missing)]
                yield m.RecordDifference(entity=entity, key=key, a=ours, b=theirs, fields=fields)


def _keys(a: State, b: State, entity: str) -> list[Key]:
    """Return the keys of the records that may differ: of worlds with the same start, those that one of them wrote."""
    if a.base is b.base:
        return sorted({*a.written(entity), *b.written(entity)}, key=str)
    return list(dict.fromkeys(key for state in (a, b) for key, _ in state.rows(entity)))


MOST = 100
"""The most snapshots of one world. Snapshots keep alive what the world has replaced since."""

MOST_BYTES = 512 * 1024 * 1024
"""The most bytes that all snapshots keep alive."""


class Snapshots:
    """The snapshots of all worlds, by name. They end with their world."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[World, dict[str, Moment]] = WeakKeyDictionary()

    def of(self, world: World) -> dict[str, Moment]:
        return self._of.setdefault(world, {})

    def take(self, world: World, name: str | None) -> str:
        """Take a snapshot, and return its name. Raises `Conflict` if there is no room for it."""
        taken = self.of(world)
        if name in taken:
            raise Conflict(f"the world {world.name} has a snapshot {name!r}; choose another name, or delete that one")
        if len(taken) >= MOST:
            raise Conflict(f"the world {world.name} has {MOST} snapshots, which is the most; delete one")
        moment = world.moment()
        if moment.size + sum(snapshot.size for kept in self._of.values() for snapshot in kept.values()) > MOST_BYTES:
            raise Conflict("there is no room for another snapshot; delete some")
        chosen = name or next(text for n in range(1, MOST + 2) if (text := f"snapshot-{n}") not in taken)
        taken[chosen] = moment
        return chosen

    def get(self, world: World, name: str) -> Moment:
        """Return a snapshot. Raises `NotFound`."""
        taken = self.of(world)
        if name not in taken:
            raise NotFound(f"the world {world.name} has no snapshot {name!r}{did_you_mean(name, taken)}")
        return taken[name]

    def drop(self, world: World, name: str) -> None:
        """Delete a snapshot. Raises `NotFound`."""
        self.get(world, name)
        del self.of(world)[name]


# changes of records ---------------------------------------------------------------------------------------------------


def write_records(world: World, request: m.Changes) -> list[Key]:
    """Write the changes of a request as one event. Return the keys.

    Raises `Invalid` for what cannot be a change here, `Conflict` for what the present records do not allow.
    """
    settle(world)
    view, changes = world.view, list[Change]()
    for at, requested in enumerate(request.changes):
        entity = _entity(world, requested, f"changes[{at}]")
        done = _change(world, view, entity, requested, at)
        if not fitting(view, (done,), world.scenario.domain):
            links = "other records link to it" if done.op == "remove" else "one of its links leads to no record"
            raise Conflict(f"changes[{at}]: {requested.do} {requested.entity} {done.key}: {links}")
        changes.append(done)
        view = view.apply((done,))
    change(world, changes, request.actor)
    return [done.key for done in changes]


def _entity(world: World, requested: m.RecordChange, place: str) -> Entity:
    entities = world.scenario.domain.entities
    if requested.entity not in entities:
        problem = f"there is no entity {requested.entity!r}{did_you_mean(requested.entity, entities)}"
        raise Invalid([m.Located(path=f"{place}.entity", message=problem)])
    entity = entities[requested.entity]
    values = {} if isinstance(requested, m.Delete) else requested.values
    problems = value_problems(entity, values)
    if problems:
        raise Invalid([m.Located(path=f"{place}.values", message=problem) for problem in problems])
    return entity


def _change(world: World, view: State, entity: Entity, requested: m.RecordChange, at: int) -> Change:
    """Return a change, computed on the records as the ones before leave them."""
    draws = Draws(world.origin.seed, world.origin.stream, f"control/{world.version.n}", at)
    if isinstance(requested, m.Insert):
        inserted = Inserter(entity, requested.values).inserted(view, world.now, draws)
        if inserted is None:
            raise Conflict(f"changes[{at}]: a required link of {entity.name} has no record to lead to")
        return inserted
    key = find_key(view, entity.name, requested.key)
    if key is None:
        raise Conflict(f"changes[{at}]: there is no {entity.name} {requested.key!r}")
    if isinstance(requested, m.Delete):
        return Change("remove", entity.name, key)
    edited = Editor(entity, requested.values).edited(view, key, world.now, Chance(draws.key))
    if edited is None:
        raise Conflict(f"changes[{at}]: {entity.name} {requested.key!r} has these values already")
    return edited
