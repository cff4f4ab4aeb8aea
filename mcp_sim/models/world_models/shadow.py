"""The world model that reads from a real server and writes into the world."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property
from typing import cast

from mcp_sim.models.language_model.effects import has_failed
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.second_look import next_key, with_keys
from mcp_sim.models.language_model.subjects import scalars
from mcp_sim.models.real_server.connection import RealServer
from mcp_sim.models.real_server.options import RealServerOptions
from mcp_sim.models.real_server.overlay import Overlay, Written
from mcp_sim.models.taken_answers import TakenAnswers
from mcp_sim.types import (
    Attempt,
    Call,
    Change,
    Json,
    Key,
    Memories,
    Observation,
    Record,
    Tool,
    ToolResult,
    Transition,
    Turn,
)
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.calls import Request
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.error_templates import invalid_arguments
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.json_values import READS, is_key, replace_part, value_at
from mcp_sim.types.kinds import Predictor, world_models
from mcp_sim.types.plans import Plan


@world_models.register("shadow")
class Shadow(RealServerOptions):
    """Read from a real server, write into the world, and show both: the real server is never written to.

    A tool is passed on only if it certainly reads: by its annotation, a declared verb, or a plan as good as certain.
    All others act on the world's records. Answers of the real server are shown with written fields replaced, deleted
    records left out, and created ones added to the lists and searches that they match. Each world has its own writes;
    resets, forks and faults work on them.
    """

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        plans = {tool.id: domain.plans[tool.id] for tool in tools if not domain.only_reads(tool)}
        kept = [name for name, plan in plans.items() if any(variant.verb in READS for variant in plan.variants)]
        read = [domain.plans[tool.id] for tool in tools if domain.only_reads(tool)]
        warning = (
            f"{', '.join(kept)}: not certain to read only, so the world answers, not the real server; "
            "`sim: {TOOL: {verb: ...}}` in the tool spec makes it certain"
        )
        return [*([warning] if kept else []), *_not_laid_over(plans.values(), read)]

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        async with self.opened() as server:
            yield Shadowing(domain, server)


def _not_laid_over(writing: Iterable[Plan], reading: Iterable[Plan]) -> Iterator[str]:
    """Yield a warning for each store but records: which tools write to it, and which ones do not show that."""
    readers = _by_store(reading)
    for store, names in _by_store(writing).items():
        answers = f"the answers of {', '.join(readers[store])} are" if store in readers else "all answers are"
        yield (
            f"{', '.join(names)} ({store}): writes to other stores than records stay in the world; "
            f"{answers} those of the real server alone"
        )


def _by_store(plans: Iterable[Plan]) -> Mapping[str, Sequence[str]]:
    """Return the tools of plans by their stores, without those on records, and those without a store."""
    groups = dict[str, list[str]]()
    for plan in plans:
        if plan.backend not in ("records", "schema_only"):
            groups.setdefault(plan.backend, []).append(plan.tool)
    return groups


OWNER = "shadow"
WORLD, UPSTREAM, BOTH = "world", "upstream", "upstream and world"
"""What the ledger calls the sources of answers."""
_LACKING = ("the real server does not know what the world has written",)
ACTOR = "the real server"  # the actor of events by which the world gets to know records before it writes them


@frozen
class _Reader:
    """A tool that certainly reads records of one entity: one by its key, or all of them."""

    tool: Tool
    key: str | None


class Shadowing:
    """A predictor that never writes to the real server."""

    def __init__(self, domain: Domain, server: RealServer) -> None:
        self._domain, self._server, self._answers = domain, server, TakenAnswers(domain, OWNER)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        if self._domain.only_reads(turn.tool):
            return await self._read(turn)
        if turn.problems:
            return Transition(invalid_arguments(turn), source=WORLD)
        # What the real server has of the concerned records becomes known before it is written.
        known = list[Change]()
        for entity, key in self._concerned(turn):
            reader, now = self._readers.get((entity.name, key is not None)), turn.after(known)
            if key is None or reader is None:
                known += await self._listed(now, entity.name)
            elif not self._is_settled(now, entity.name, key):
                known += await self._shown_by(now, reader, {reader.key or "": key})
        transition = self._of_the_world(turn.after(known))
        events = (turn.by(ACTOR, *known), *transition.events) if known else transition.events
        return replace(transition, events=events)

    async def request(self, request: Request, memories: Memories) -> Record:
        return await self._server.request(request)

    # reads

    async def _read(self, turn: Turn) -> Transition:
        written = Written(turn.view, turn.memories.of(OWNER))
        if self._is_of_the_world(turn, written):
            return self._of_the_world(turn)
        observation = await self._asked(turn)
        overlay = Overlay(self._answers.adoption(turn), written)
        if has_failed(observation):
            return Transition(
                observation, is_real=True, source=UPSTREAM, guesses=_LACKING if overlay.may_hide_writes else ()
            )
        laid = overlay.lay(observation)
        taken = overlay.adoption.taken(laid.observation)
        source = BOTH if laid.is_changed else UPSTREAM
        return replace(taken, is_real=True, source=source, guesses=_LACKING if laid.is_unsure else ())

    async def _asked(self, turn: Turn) -> Observation:
        """Return the answer of the real server, which is asked once for each call."""
        earlier: tuple[Call, Observation] | None = turn.memories.shared.get(OWNER)
        if earlier is not None and earlier[0] == turn.call:
            return earlier[1]
        answer = await self._server.call(turn.tool.name, turn.call.arguments, turn.call.client)
        turn.memories.shared[OWNER] = turn.call, observation_of_answer(answer)
        return turn.memories.shared[OWNER][1]

    def _is_of_the_world(self, turn: Turn, written: Written) -> bool:
        """Whether a call asks for a record that the world alone has, or has deleted."""
        tool = self._answers.tool(turn)
        if tool.plan.verb != "get" or tool.plan.key is None or tool.entity is None:
            return False
        key = _key(value_at(self._answers.plain(turn).call.arguments, tool.plan.key))
        if key is None:
            return False
        return any(
            written.is_created(tool.entity.name, form) or written.is_deleted(tool.entity.name, form)
            for form in _forms(key)
        )

    def _of_the_world(self, turn: Turn) -> Transition:
        """Return what the tool's plan answers from the world's records, in the form of those of the real server."""
        transition = self._with_ids(turn, replace(self._answers.planned(turn), source=WORLD))
        readable = None if turn.tool.output_schema is not None else Readable.of(transition.observation)
        if readable is None or not transition.observation.ok:
            return transition
        written, value = Written(turn.view, turn.memories.of(OWNER)), readable.value
        for subject in self._answers.adoption(turn).subjects(value):
            names = written.form(subject.entity.name)[1]
            kept = {name: subject.value[name] for name in names if name in subject.value}
            value = replace_part(value, subject.path, kept) if subject.key_field in kept else value
        if equal(value, readable.value):
            return transition
        return replace(transition, observation=replace(transition.observation, body=readable.write(value)))

    def _with_ids(self, turn: Turn, transition: Transition) -> Transition:
        """Return a transition whose new records have ids like those of the real server, which continue them."""
        written, renamed = Written(turn.view, turn.memories.of(OWNER)), dict[Key, Key]()
        changes, given = list[Change](), set(scalars(turn.call.arguments))
        for change in transition.changes:
            key, record, entity = change.key, change.record, self._domain.entities.get(change.entity)
            like, is_new = written.form(change.entity)[0], turn.view.version(change.entity, key) == 0
            is_new = is_new and record is not None and turn.view.get(change.entity, key) is None
            if is_new and like is not None and entity is not None and change.key not in given:
                key = renamed[change.key] = next_key(turn.view.after(changes), change.entity, like)
                record = {**(record or {}), entity.key: key}
            changes.append(replace(change, key=key, record=record))
        body = transition.observation.body
        if not renamed or not isinstance(body, ToolResult):
            return transition
        observation = replace(transition.observation, body=with_keys(body, renamed))
        return replace(transition, observation=observation, changes=tuple(changes))

    # writes

    def _concerned(self, turn: Turn) -> Iterator[tuple[Entity, Key | None]]:
        """Yield what a write concerns: records by their keys; for a new one, whatever has its ids."""
        tool, plain = self._answers.tool(turn), self._answers.plain(turn)
        if tool.plan.verb == "create" and tool.entity is not None:
            yield tool.entity, None
        natural = tool.entity.key if tool.entity is not None and tool.entity.natural else None
        keys = [(tool.entity, name) for name, field in tool.plan.sets.items() if field == natural]
        for entity, argument in (*self._answers.adoption(turn).named_records(), *keys):
            value = value_at(plain.call.arguments, argument)
            for item in cast("list[Json]", value) if isinstance(value, list) else (value,):
                key = _key(item)
                if entity is not None and key is not None:
                    yield entity, key

    @staticmethod
    def _is_settled(turn: Turn, entity: str, key: Key) -> bool:
        """Whether the world has written a record, so that the real server is not asked for it any more."""
        written = Written(turn.view, turn.memories.of(OWNER))
        return any(written.is_deleted(entity, form) or bool(written.fields(entity, form)) for form in _forms(key))

    async def _listed(self, turn: Turn, entity: str) -> tuple[Change, ...]:
        """Return what the real server lists of an entity, once for each world."""
        memory, reader = turn.memories.of(OWNER), self._readers.get((entity, False))
        if reader is None or memory.get(f"listed/{entity}", False):
            return ()
        memory.set(f"listed/{entity}", True)
        return await self._shown_by(turn, reader, {})

    async def _shown_by(self, turn: Turn, reader: _Reader, arguments: Record) -> tuple[Change, ...]:
        """Return, as changes, what the real server shows when it is read."""
        observation = observation_of_answer(await self._server.call(reader.tool.name, arguments))
        if has_failed(observation):
            return ()
        asked = replace(turn, call=Call(reader.tool.id, arguments), tool=reader.tool)
        adoption = self._answers.adoption(asked)
        laid = Overlay(adoption, Written(turn.view, turn.memories.of(OWNER))).lay(observation)
        return adoption.taken(laid.observation).absorbed

    @cached_property
    def _readers(self) -> Mapping[tuple[str, bool], _Reader]:
        """The tools that certainly read one record by its key (True), or all records, by entity."""
        readers: dict[tuple[str, bool], _Reader] = {}
        for name, plan in self._domain.plans.items():
            tool, needed = self._domain.tools[name], required(self._domain.tools[name].input_schema)
            is_plain = plan.choice is None and name not in self._domain.wrappers and self._domain.only_reads(tool)
            if not is_plain or plan.entity is None:
                continue
            if plan.verb == "get" and plan.key is not None and needed <= {plan.key}:
                readers.setdefault((plan.entity, True), _Reader(tool, plan.key))
            if plan.verb == "list" and not needed:
                readers.setdefault((plan.entity, False), _Reader(tool, None))
        return readers


def _key(value: Json) -> Key | None:
    return value if is_key(value) else None


def _forms(key: Key) -> tuple[Key, ...]:
    """Return a key as a text and as a number."""
    other: Key = str(key) if isinstance(key, int) else int(key) if key.isdecimal() and len(key) < 16 else key
    return key, other
