"""When does a `when` hold for a call?

Deciding looks at the call as it came: filters first; counters count the calls that pass them, from 1; chance is drawn
last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.json_text import canonical
from mcp_sim.types.kinds import Check, Role, Trigger
from mcp_sim.types.kinds import triggers as trigger_kinds
from mcp_sim.types.scenario import When

Decide: TypeAlias = Callable[[Turn], bool]
"""Raises Unevaluable where a condition errs on which the decision depends."""

Counter: TypeAlias = Callable[[Turn], int]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A `when` mapping with the place of its counter (None where it needs none)."""

    when: When
    slot: int
    any: tuple[Numbered, ...]
    all: tuple[Numbered, ...]
    none: tuple[Numbered, ...]

    @property
    def is_filter(self) -> bool:
        return all(trigger.role is Role.FILTER for trigger in self.when.triggers) and all(
            nested.is_filter for nested in (*self.any, *self.all, *self.none)
        )

    @property
    def is_clockwork(self) -> bool:
        return all(trigger.is_clockwork for trigger in self.when.triggers) and all(
            nested.is_clockwork for nested in (*self.any, *self.all, *self.none)
        )


def numbered_in(when: When, slots: count[int]) -> Numbered:
    """The mapping with a place for its counter, and those within."""
    slot = next(slots)
    any_, all_, none = (
        tuple(numbered_in(nested, slots) for nested in group) for group in (when.any, when.all, when.none)
    )
    return Numbered(when, slot, any_, all_, none)


def decision(numbered: Numbered, tool: Tool, domain: Domain, path: str, carried_by: str = "") -> Decide:
    """The decision of one `when` mapping; `path` names its draws."""
    when = numbered.when
    checks = {role: checks_of(when.triggers, role, tool, domain, path) for role in Role}
    nested = [
        _nested(group, word, tool, domain, path)
        for group, word in ((numbered.any, "any"), (numbered.all, "all"), (numbered.none, "not"))
        if group
    ]
    early = [check for check, is_filter in nested if is_filter]
    late = [check for check, is_filter in nested if not is_filter]
    filters, counters, chances = checks[Role.FILTER], checks[Role.COUNTER], checks[Role.CHANCE]
    number = _counter(numbered.slot, path, tool, domain, when.per)
    carries = bool(carried_by) and any(trigger.carries for trigger in when.triggers)

    def decide(turn: Turn) -> bool:
        for check in filters:
            if not check(turn, 0):
                return False
        if early and not _all_hold(early, turn):
            return False
        n = number(turn) if counters else 0
        carried = carries and bool(turn.memories.of(carried_by).get("carried"))
        held = _all_hold(late, turn)
        return carried or (
            held and all(check(turn, n) for check in counters) and all(check(turn, n) for check in chances)
        )

    if not (filters or early or late) and len(counters) + len(chances) <= 1:
        return _single(counters, chances, number, carried_by if carries else None)
    return decide


def _single(counters: Sequence[Check], chances: Sequence[Check], number: Counter, carried_by: str | None) -> Decide:
    """The common cases, a trigger alone or none at all, without the loops."""
    if counters:
        check, carried = counters[0], (carried_by or "", "carried")
        if carried_by is None:
            return lambda turn: check(turn, number(turn))
        return lambda turn: check(turn, number(turn)) or bool(turn.memories.get(carried, False))
    if chances:
        draw = chances[0]
        return lambda turn: draw(turn, 0)
    return lambda _: True


def _nested(group: Sequence[Numbered], word: str, tool: Tool, domain: Domain, path: str) -> tuple[Decide, bool]:
    """`any`, `all` or `not` of nested mappings, and whether it is a mere filter. Each is looked at: it may count."""
    parts = [decision(nested, tool, domain, nested_path(path, word, at)) for at, nested in enumerate(group)]
    is_filter = all(nested.is_filter for nested in group)
    if word == "any":
        return lambda turn: _any_holds(parts, turn), is_filter
    if word == "all":
        return lambda turn: _all_hold(parts, turn), is_filter
    return lambda turn: not _any_holds(parts, turn), is_filter


def _all_hold(parts: Sequence[Decide], turn: Turn) -> bool:
    """Each is looked at, since it counts calls of its own. One that errs matters only where no other says no."""
    held, errors = _verdicts(parts, turn)
    if errors and all(held):
        raise errors[0]
    return all(held)


def _any_holds(parts: Sequence[Decide], turn: Turn) -> bool:
    """Each is looked at, since it counts calls of its own. One that errs matters only where no other says yes."""
    held, errors = _verdicts(parts, turn)
    if errors and not any(held):
        raise errors[0]
    return any(held)


def _verdicts(parts: Sequence[Decide], turn: Turn) -> tuple[list[bool], list[Unevaluable]]:
    held, errors = list[bool](), list[Unevaluable]()
    for part in parts:
        try:
            held.append(part(turn))
        except Unevaluable as error:
            errors.append(error)
    return held, errors


def checks_of(triggers: Sequence[Trigger], role: Role, tool: Tool, domain: Domain, path: str) -> list[Check]:
    """What the triggers of one role, compiled, say of a call; `path` names their draws."""
    return [trigger.compile(tool, domain, draw_of(trigger, path)) for trigger in triggers if trigger.role is role]


def draw_of(trigger: Trigger, path: str) -> str:
    """The purpose of a trigger's draws."""
    return f"{path}/{trigger_kinds.name_of(trigger)}"


def counted(numbered: Numbered, path: str, tool: Tool, domain: Domain, turn: Turn) -> int:
    """The number that a call has by the counter of a `when`, once it was counted."""
    if numbered.when.per is None:
        return turn.memories.counts[numbered.slot]
    part = splitter(tool, domain, numbered.when.per)
    return turn.memories.of(path).get(f"count:{part(turn)}", 0)


def nested_path(path: str, word: str, at: int) -> str:
    """How the draws and counters of a nested `when` are named."""
    return f"{path}/{word}[{at}]"


def _counter(slot: int, path: str, tool: Tool, domain: Domain, per: str | None) -> Counter:
    """Counts a call and gives its number, from 1; split by `per`, each value has a count of its own."""
    if per is None:

        def number(turn: Turn) -> int:
            counts = turn.memories.counts
            counts[slot] += 1
            return counts[slot]

        return number
    part = splitter(tool, domain, per)

    def split_number(turn: Turn) -> int:
        memory, name = turn.memories.of(path), f"count:{part(turn)}"
        n = memory.get(name, 0) + 1
        memory.set(name, n)
        return n

    return split_number


def splitter(tool: Tool, domain: Domain, per: str | None) -> Callable[[Turn], str]:
    """Which of several counters a call belongs to: one for all, or one per tool, entity or value of an argument."""
    if per is None:
        return lambda _: ""
    if per.startswith("arguments."):
        name = per.removeprefix("arguments.")
        return lambda turn: canonical(turn.call.arguments.get(name))
    plan = domain.plans.get(tool.id)
    fixed = (plan.entity if plan and per == "entity" else None) or tool.id
    return lambda _: fixed


def describe(when: When) -> str:
    """A `when` in few words, for the ledger; empty where it always holds."""
    parts = [trigger.why() for trigger in when.triggers]
    for word, group in (("any", when.any), ("all", when.all), ("not", when.none)):
        if group:
            parts.append(f"{word} of ({'; '.join(describe(nested) for nested in group)})")
    return ", ".join(parts) or "always"
