"""Find triggers that can never hold together, and perturbations that can never have an effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from mcp_sim.spec.yaml12 import Path
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Stage
from mcp_sim.types.scenario import Fires, PerturbationEntry, When, in_reach
from mcp_sim.types.time_bounds import UNLIMITED, CallNumbers, TimeBounds, are_disjoint, intersection


class Bound(NamedTuple):
    """The part of a world's life outside which something never holds, and the trigger that says so."""

    why: str
    time_bounds: TimeBounds


def contradictions(when: When, start: datetime, around: Sequence[Bound] = ()) -> Iterator[tuple[Path, str]]:
    """Yield each path of a `when` that can never hold, and why. `around` are bounds that must hold as well."""
    bounds = [*(around or [Bound("the world's start", TimeBounds(begin=start))]), *_bounds(when, start)]
    reason = _apart(bounds, len(around)) or _never(when, intersection(bound.time_bounds for bound in bounds))
    if reason is not None:
        yield (), f"never holds: {reason}"
        return
    for word, group in (("any", when.any), ("all", when.all)):
        for at, nested in enumerate(group):
            for path, problem in contradictions(nested, start, bounds):
                yield (word, at, *path), problem


def _bounds(when: When, start: datetime) -> list[Bound]:
    """Return the bounds of the triggers of a mapping, and of single triggers under its `not`."""
    bounds = [Bound(trigger.why(), trigger.time_bounds(start)) for trigger in when.triggers]
    alone = [nested.triggers[0] for nested in when.none if _is_one(nested) and nested.triggers[0].depends_on_time_only]
    return bounds + [Bound(f"not {trigger.why()}", trigger.time_bounds(start).outside) for trigger in alone]


def _apart(bounds: Sequence[Bound], known: int) -> str | None:
    """Return why two bounds exclude each other. The first `known` bounds were already compared with one another."""
    for bound in bounds[known:]:
        if bound.time_bounds.is_empty:
            return f"{bound.why} ends before it begins"
    for first, other in combinations(bounds, 2):
        if other in bounds[known:] and intersection((first.time_bounds, other.time_bounds)).is_empty:
            return f"{first.why} and {other.why} exclude each other"
    return None


def _never(when: When, time_bounds: TimeBounds) -> str | None:
    """Return why a mapping never holds within its bounds, judged by its counters and by its `not`."""
    if any(nested == When(per=nested.per) for nested in when.none):
        return "its `not` has no triggers"
    counters = [
        (trigger.why(), call_numbers)
        for trigger in when.triggers
        if (call_numbers := trigger.call_numbers()) is not None
    ]
    if are_disjoint([call_numbers for _, call_numbers in counters]):
        return f"{' and '.join(why for why, _ in counters)} exclude each other"
    if time_bounds.calls < UNLIMITED and are_disjoint(
        [CallNumbers(range(1, time_bounds.calls + 1)), *(n for _, n in counters)]
    ):
        return f"{' and '.join(why for why, _ in counters)} needs more than the {time_bounds.calls} calls there can be"
    return None


def _is_one(when: When) -> bool:
    return len(when.triggers) == 1 and not (when.any or when.all or when.none)


def shadowed_by(entries: Sequence[PerturbationEntry], domain: Domain) -> list[str | None]:
    """Return for each entry the id of another one that answers all its calls first, or None."""
    reach = [
        frozenset(tool for tool, value in domain.tools.items() if in_reach(entry.tools, value)) for entry in entries
    ]
    always = [(at, entry) for at, entry in enumerate(entries) if _ends_every_call(entry)]
    return [
        next((outer.id for n, outer in always if reach[at] <= reach[n] and _acts_first(outer, n, entry, at)), None)
        for at, entry in enumerate(entries)
    ]


def _ends_every_call(entry: PerturbationEntry) -> bool:
    is_bound = entry.when != When() or entry.fires != Fires() or entry.group is not None
    return entry.enabled and not is_bound and entry.perturbation.ends_calls()


def _acts_first(outer: PerturbationEntry, at: int, inner: PerturbationEntry, place: int) -> bool:
    """Whether a call that `outer` answers never reaches `inner`."""
    stage, other = outer.perturbation.stage, inner.perturbation.stage
    if not inner.enabled or inner.perturbation.is_timed() or other is Stage.CATALOGUE:
        return False
    if stage is Stage.BEFORE and other is Stage.COMMIT:
        return True
    return other.depth(place) < stage.depth(at)


def conflicts(entries: Sequence[PerturbationEntry], domain: Domain) -> list[tuple[int, str]]:
    """Return where two entries change the same part of a tool at the same time: the index of the second, and why."""
    problems = list[tuple[int, str]]()
    enabled = [(at, entry) for at, entry in enumerate(entries) if entry.enabled]
    for (_, perturbation_entry), (at, other) in combinations(enabled, 2):
        both = [
            tool
            for tool in domain.tools.values()
            if in_reach(perturbation_entry.tools, tool) and in_reach(other.tools, tool)
        ]
        altered = [
            f"{what} of {tool.id}"
            for tool in both
            for what in sorted(perturbation_entry.perturbation.alters(tool) & other.perturbation.alters(tool))
        ]
        if altered and not intersection((_lasts(perturbation_entry, domain), _lasts(other, domain))).is_empty:
            problems.append(
                (at, f"{perturbation_entry.id} also changes the {altered[0]}; let one end before the other begins")
            )
    return problems


def _lasts(entry: PerturbationEntry, domain: Domain) -> TimeBounds:
    """Return the part of a world's life in which an entry can be in force, all of it if that is not fixed."""
    is_fixed = entry.when == When(triggers=entry.when.triggers) and all(
        trigger.depends_on_time_only for trigger in entry.when.triggers
    )
    return intersection(bound.time_bounds for bound in _bounds(entry.when, domain.now)) if is_fixed else TimeBounds()
