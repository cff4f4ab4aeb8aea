"""Effects of writes: their checks, their consequences, and batches of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_list, as_object, at, expanded, types_of
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan

Write: TypeAlias = Callable[[Turn, Invent], "Effect | Observation"]
Check: TypeAlias = Callable[[Turn], "Observation | None"]
"""What forbids a write before anything is written; None where nothing does."""

Step: TypeAlias = Callable[[View], "Change | Observation | None"]
"""One more change on what is written so far, or what forbids all of it; None where there is nothing to change."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A record as it is after the call (before it, where the call removes it), and what is written."""

    key: Key
    record: Record
    changes: tuple[Change, ...]


Consequence: TypeAlias = Callable[[Turn, Invent, Effect], "Effect | Observation"]
"""The effect together with what follows from it, or what forbids all of it."""


def with_checks(write: Write, *checks: Check | None) -> Write:
    """The write, refused where one of these forbids it; the first that does says why."""
    known = [check for check in checks if check is not None]
    if not known:
        return write

    def whole(turn: Turn, invent: Invent) -> Effect | Observation:
        for check in known:
            refused = check(turn)
            if refused is not None:
                return refused
        return write(turn, invent)

    return whole


def with_consequences(write: Write, *consequences: Consequence | None) -> Write:
    """The write with what follows from it, each on what those before it left: all of it or nothing."""
    known = [follow for follow in consequences if follow is not None]
    if not known:
        return write

    def whole(turn: Turn, invent: Invent) -> Effect | Observation:
        effect = write(turn, invent)
        for follow in known:
            if isinstance(effect, Observation):
                return effect
            effect = follow(turn, invent, effect)
        return effect

    return whole


def apply_steps(turn: Turn, entity: str, effect: Effect, steps: Iterable[Step]) -> Effect | Observation:
    """The effect on a record of this entity with a change for each of the steps, each on what those before it left."""
    view, changes = turn.view.after(effect.changes), list(effect.changes)
    for step in steps:
        change = step(view)
        if isinstance(change, Observation):
            return change
        if change is not None:
            changes.append(change)
            view = view.after([change])
    record = view.get(entity, effect.key)
    return Effect(effect.key, effect.record if record is None else record, tuple(changes))


@dataclass(frozen=True, slots=True)
class Failed:
    """An item that could not be done: its place from 0, what was given, and why."""

    part: int
    item: Json
    why: Observation


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of the items, by their places, the state after them, and all that is written."""

    done: tuple[tuple[int, Effect], ...]
    failed: tuple[Failed, ...]
    view: View

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(replace(change, part=part) for part, effect in self.done for change in effect.changes)


WriteMany: TypeAlias = Callable[[Turn, Invent], Batch]


def batch(tool: Tool, plan: Plan, write: Write) -> WriteMany:
    """One write after the other, each on what the one before left."""
    path = (plan.each or "").split(".")
    listed = _items(tool, plan)

    def write_all(turn: Turn, invent: Invent) -> Batch:
        done: list[tuple[int, Effect]] = []
        failed: list[Failed] = []
        view = turn.view
        for part, item in enumerate(listed(turn)):
            effect = write(_turn_for_item(turn, view, path, part, item), invent)
            if isinstance(effect, Observation):
                failed.append(Failed(part, item, effect))
            else:
                done.append((part, effect))
                view = view.after(effect.changes) if effect.changes else view
        return Batch(tuple(done), tuple(failed), view)

    return write_all


def _items(tool: Tool, plan: Plan) -> Callable[[Turn], Sequence[Json]]:
    """The items that a call lists: a list, one of them alone, or a text with commas between them."""
    fetch = argument(plan.each or "")
    is_text = "array" not in types_of(at(expanded(tool.input_schema), plan.each or ""))

    def listed(turn: Turn) -> Sequence[Json]:
        value = fetch(turn.call.arguments)
        if isinstance(value, str) and is_text:
            return [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list):
            return as_list(value)
        return [] if value is ABSENT or value is None else [value]

    return listed


def _turn_for_item(turn: Turn, view: View, path: Sequence[str], part: int, item: Json) -> Turn:
    """The turn as if the call were about one item alone, with chance of its own."""
    call = replace(turn.call, arguments=_with(turn.call.arguments, path, item))
    draws = turn.draws
    own = Draws(draws.seed, draws.stream, f"{draws.scope}#{part}", draws.occurrence)
    return replace(turn, call=call, view=view, draws=own)


def _with(arguments: Record, path: Sequence[str], item: Json) -> Record:
    head, *rest = path
    inner = _with(as_object(arguments.get(head)), rest, item) if rest else item
    return {**arguments, head: cast("Json", inner)}
