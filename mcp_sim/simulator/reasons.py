"""Why was a perturbation decided for a call, or why not? Each condition of its `when`, looked at once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_sim.faults.trigger_evaluation import Numbered, checks_of, counted, draw_of, nested_path
from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.kinds import Check, Role, Trigger


@dataclass(frozen=True, slots=True)
class Reason:
    """One condition: what it says (`nth 1`), what it met (`number 2`, `drew 0.6131`), and whether it held."""

    says: str
    met: str
    held: bool

    def __str__(self) -> str:
        verdict = "yes" if self.held else "no"
        return f"{self.says} ({self.met}: {verdict})" if self.met else f"{self.says} ({verdict})"


@dataclass(frozen=True, slots=True)
class _Looking:
    """At what call of what tool is looked, after it was decided about: counters have counted it."""

    tool: Tool
    domain: Domain
    turn: Turn


def reasons(numbered: Numbered, path: str, tool: Tool, domain: Domain, turn: Turn) -> tuple[Reason, ...]:
    """The conditions of a `when` in the order in which they are looked at; `path` is the perturbation's id.

    Where a filter does not hold, nothing else is looked at. The turn is one that was decided about already.
    """
    return tuple(_reasons(numbered, path, _Looking(tool, domain, turn)))


def _reasons(numbered: Numbered, path: str, at: _Looking) -> Iterator[Reason]:
    filters = [*_filters(numbered, path, at), *_nested(numbered, path, at, filters=True)]
    yield from filters
    if not all(reason.held for reason in filters):
        return
    yield from _nested(numbered, path, at, filters=False)
    number = counted(numbered, path, at.tool, at.domain, at.turn)
    for trigger, check in _checked(numbered, Role.COUNTER, path, at):
        yield Reason(trigger.why(), f"number {number}", check(at.turn, number))
    for trigger, check in _checked(numbered, Role.CHANCE, path, at):
        drawn = at.turn.draws.unit(draw_of(trigger, path))
        yield Reason(trigger.why(), f"drew {drawn:.4f}", check(at.turn, number))


def _filters(numbered: Numbered, path: str, at: _Looking) -> Iterator[Reason]:
    for trigger, check in _checked(numbered, Role.FILTER, path, at):
        try:
            yield Reason(trigger.why(), "", check(at.turn, 0))
        except Unevaluable as error:
            yield Reason(trigger.why(), str(error), held=False)


def _checked(numbered: Numbered, role: Role, path: str, at: _Looking) -> Iterator[tuple[Trigger, Check]]:
    triggers = [trigger for trigger in numbered.when.triggers if trigger.role is role]
    return zip(triggers, checks_of(triggers, role, at.tool, at.domain, path), strict=True)


def _nested(numbered: Numbered, path: str, at: _Looking, *, filters: bool) -> Iterator[Reason]:
    """`any`, `all` and `not`: those that are mere filters, or the others."""
    for word, group in (("any", numbered.any), ("all", numbered.all), ("not", numbered.none)):
        if group and all(one.is_filter for one in group) is filters:
            parts = [tuple(_reasons(one, nested_path(path, word, n), at)) for n, one in enumerate(group)]
            yield Reason(f"{word} of ({'; '.join(map(_joined, parts))})", "", _holds(word, parts))


def _holds(word: str, parts: Sequence[tuple[Reason, ...]]) -> bool:
    held = [all(reason.held for reason in part) for part in parts]
    return {"any": any(held), "all": all(held), "not": not any(held)}[word]


def _joined(part: tuple[Reason, ...]) -> str:
    return ", ".join(map(str, part)) or "always"
