"""What does a call of a tool write, whatever its verb; what forbids it, and what follows from it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.types import Change, Key, Observation, Record, Turn, View
from mcp_sim.types.kinds import Invent


@dataclass(frozen=True, slots=True)
class Effect:
    """A record as it is after the call (before it, where the call removes it), and what is written."""

    key: Key
    record: Record
    changes: tuple[Change, ...]


Write: TypeAlias = Callable[[Turn, Invent], "Effect | Observation"]

Check: TypeAlias = Callable[[Turn], "Observation | None"]
"""What forbids a write before anything is written; None where nothing does."""

Consequence: TypeAlias = Callable[[Turn, Invent, Effect], "Effect | Observation"]
"""The effect together with what follows from it, or what forbids all of it."""

Step: TypeAlias = Callable[[View], "Change | Observation | None"]
"""One more change on what is written so far, or what forbids all of it; None where there is nothing to change."""


def checked(write: Write, *checks: Check | None) -> Write:
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


def followed(write: Write, *consequences: Consequence | None) -> Write:
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


def stepped(turn: Turn, entity: str, effect: Effect, steps: Iterable[Step]) -> Effect | Observation:
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
