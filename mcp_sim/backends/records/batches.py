"""What does a call write that names several records at once: the same for each item, as far as each can be done?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.effects import Effect, Write
from mcp_sim.types import Change, Json, Observation, Record, Tool, Turn, View
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_list, as_object, at, expanded, types_of
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan


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
            effect = write(_about(turn, view, path, part, item), invent)
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


def _about(turn: Turn, view: View, path: Sequence[str], part: int, item: Json) -> Turn:
    """The turn as if the call were about one item alone, with chance of its own."""
    call = replace(turn.call, arguments=_with(turn.call.arguments, path, item))
    draws = turn.draws
    own = Draws(draws.seed, draws.stream, f"{draws.scope}#{part}", draws.occurrence)
    return replace(turn, call=call, view=view, draws=own)


def _with(arguments: Record, path: Sequence[str], item: Json) -> Record:
    head, *rest = path
    inner = _with(as_object(arguments.get(head)), rest, item) if rest else item
    return {**arguments, head: cast("Json", inner)}
