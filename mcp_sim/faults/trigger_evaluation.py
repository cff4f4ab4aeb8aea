"""Evaluate the `when` of a perturbation for a call.

The call is taken as it was sent. Filters are evaluated first, then counters, which count the calls that pass the
filters from 1, then probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import Check, Role, Trigger
from mcp_sim.types.kinds import triggers as trigger_kinds
from mcp_sim.types.scenario import When

Decide: TypeAlias = Callable[[Turn], bool]
"""Decides whether a `when` holds for a call. Raises `Unevaluable` if that depends on a condition that fails."""

Counter: TypeAlias = Callable[[Turn], int]


@frozen
class NumberedWhen:
    """A `when` mapping with the slot of its counter, and the nested mappings with theirs."""

    when: When
    slot: int
    any: tuple[NumberedWhen, ...]
    all: tuple[NumberedWhen, ...]
    none: tuple[NumberedWhen, ...]

    @property
    def is_filter(self) -> bool:
        return all(trigger.role is Role.FILTER for trigger in self.when.triggers) and all(
            nested.is_filter for nested in (*self.any, *self.all, *self.none)
        )

    @property
    def depends_on_time_only(self) -> bool:
        return all(trigger.depends_on_time_only for trigger in self.when.triggers) and all(
            nested.depends_on_time_only for nested in (*self.any, *self.all, *self.none)
        )


def number_counters(when: When, slots: count[int]) -> NumberedWhen:
    """Assign a counter slot to the mapping and to the nested ones."""
    slot = next(slots)
    any_, all_, none = (
        tuple(number_counters(nested, slots) for nested in group) for group in (when.any, when.all, when.none)
    )
    return NumberedWhen(when, slot, any_, all_, none)


def compile_when(numbered: NumberedWhen, tool: Tool, domain: Domain, path: str, carried_by: str = "") -> Decide:
    """Compile one `when` mapping. `path` is the prefix of its draw purposes."""
    when = numbered.when
    checks = {role: compile_checks(when.triggers, role, tool, domain, path) for role in Role}
    nested = [
        _nested(group, word, tool, domain, path)
        for group, word in ((numbered.any, "any"), (numbered.all, "all"), (numbered.none, "not"))
        if group
    ]
    # Nested filters come before the counter, so that `count` counts the same calls whether a filter is nested or not.
    early = [check for check, is_filter in nested if is_filter]
    late = [check for check, is_filter in nested if not is_filter]
    filters, counters, chances = checks[Role.FILTER], checks[Role.COUNTER], checks[Role.CHANCE]
    number = _counter(numbered.slot, path, tool, domain, when.per)
    carries_over = bool(carried_by) and any(trigger.carries_over for trigger in when.triggers)

    def decide(turn: Turn) -> bool:
        for check in filters:
            if not check(turn, 0):
                return False
        if early and not _all_hold(early, turn):
            return False
        n = number(turn) if counters else 0
        carried = carries_over and bool(turn.memories.of(carried_by).get("carried"))
        # Before `carried` decides: nested counters count every call that passes the filters, also those whose result
        # does not matter.
        held = _all_hold(late, turn)
        return carried or (
            held and all(check(turn, n) for check in counters) and all(check(turn, n) for check in chances)
        )

    if not (filters or early or late) and len(counters) + len(chances) <= 1:
        return _single(counters, chances, number, carried_by if carries_over else None)
    return decide


def _single(counters: Sequence[Check], chances: Sequence[Check], number: Counter, carried_by: str | None) -> Decide:
    """Compile the common cases, a single trigger or none at all, without loops."""
    if counters:
        check, carried = counters[0], (carried_by or "", "carried")
        if carried_by is None:
            return lambda turn: check(turn, number(turn))
        return lambda turn: check(turn, number(turn)) or bool(turn.memories.get(carried, False))
    if chances:
        draw = chances[0]
        return lambda turn: draw(turn, 0)
    return lambda _: True


def _nested(group: Sequence[NumberedWhen], word: str, tool: Tool, domain: Domain, path: str) -> tuple[Decide, bool]:
    """Compile `any`, `all` or `not`, and return whether it is only a filter. All parts are evaluated, as they count."""
    parts = [compile_when(nested, tool, domain, nested_path(path, word, at)) for at, nested in enumerate(group)]
    is_filter = all(nested.is_filter for nested in group)
    if word == "any":
        return lambda turn: _any_holds(parts, turn), is_filter
    if word == "all":
        return lambda turn: _all_hold(parts, turn), is_filter
    return lambda turn: not _any_holds(parts, turn), is_filter


def _all_hold(parts: Sequence[Decide], turn: Turn) -> bool:
    """Whether all hold. All are evaluated, since they may count calls. An error only matters if no other is false."""
    held, errors = _verdicts(parts, turn)
    if errors and all(held):
        raise errors[0]
    return all(held)


def _any_holds(parts: Sequence[Decide], turn: Turn) -> bool:
    """Whether any holds. All are evaluated, since they may count calls. An error only matters if no other is true."""
    held, errors = _verdicts(parts, turn)
    if errors and not any(held):
        raise errors[0]
    return any(held)


def _verdicts(decisions: Sequence[Decide], turn: Turn) -> tuple[list[bool], list[Unevaluable]]:
    held, errors = list[bool](), list[Unevaluable]()
    for decide in decisions:
        try:
            held.append(decide(turn))
        except Unevaluable as error:
            errors.append(error)
    return held, errors


def compile_checks(triggers: Sequence[Trigger], role: Role, tool: Tool, domain: Domain, path: str) -> list[Check]:
    """Compile the triggers of one role. `path` is the prefix of their draw purposes."""
    return [trigger.compile(tool, domain, draw_purpose(trigger, path)) for trigger in triggers if trigger.role is role]


def draw_purpose(trigger: Trigger, path: str) -> str:
    """Return the purpose of a trigger's draws."""
    return f"{path}/{trigger_kinds.name_of(trigger)}"


def call_number(numbered: NumberedWhen, path: str, tool: Tool, domain: Domain, turn: Turn) -> int:
    """Return the number that the counter of a `when` has assigned to the present call."""
    if numbered.when.per is None:
        return turn.memories.counts[numbered.slot]
    share = partition_by(tool, domain, numbered.when.per)
    return turn.memories.of(path).get(f"count:{share(turn)}", 0)


def nested_path(path: str, word: str, at: int) -> str:
    """Return the path of a nested `when`, which names its draws and counters."""
    return f"{path}/{word}[{at}]"


def _counter(slot: int, path: str, tool: Tool, domain: Domain, per: str | None) -> Counter:
    """Return a function that counts a call and returns its number, from 1; with `per`, each value has its own count."""
    if per is None:

        def number(turn: Turn) -> int:
            # A slot in a list is cheaper than a memory by name, and most counters count every call.
            counts = turn.memories.counts
            counts[slot] += 1
            return counts[slot]

        return number
    share = partition_by(tool, domain, per)

    def split_number(turn: Turn) -> int:
        memory, name = turn.memories.of(path), f"count:{share(turn)}"
        n = memory.get(name, 0) + 1
        memory.set(name, n)
        return n

    return split_number


def partition_by(tool: Tool, domain: Domain, per: str | None) -> Callable[[Turn], str]:
    """Return a function that maps a call to its counter: one for all, or one per tool, entity or argument value."""
    if per is None:
        return lambda _: ""
    if per.startswith("arguments."):
        name = per.removeprefix("arguments.")
        return lambda turn: canonical(turn.call.arguments.get(name))
    plan = domain.plans.get(tool.id)
    fixed = (plan.entity if plan and per == "entity" else None) or tool.id
    return lambda _: fixed


def describe(when: When) -> str:
    """Describe a `when` briefly, for the ledger."""
    parts = [trigger.why() for trigger in when.triggers]
    for word, group in (("any", when.any), ("all", when.all), ("not", when.none)):
        if group:
            parts.append(f"{word} of ({'; '.join(describe(nested) for nested in group)})")
    return ", ".join(parts) or "always"
