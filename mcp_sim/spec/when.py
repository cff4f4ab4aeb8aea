"""Read and check `when` mappings, and find those that can never hold or have an effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any, NamedTuple

from mcp_sim.spec.messages import shown
from mcp_sim.spec.places import Place
from mcp_sim.spec.yaml12 import Path
from mcp_sim.types import Tool
from mcp_sim.types.call_matchers import quota_problems
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UnknownKind, did_you_mean
from mcp_sim.types.kinds import COMBINATORS, Role, Stage, triggers
from mcp_sim.types.options import per
from mcp_sim.types.scenario import Fires, PerturbationEntry, When
from mcp_sim.types.time_bounds import UNLIMITED, CallNumbers, TimeBounds, are_disjoint, intersection
from mcp_sim.types.tools import in_reach


def read_when(place: Place) -> When:
    """Read a `when` mapping. Invalid parts are noted as errors and left out."""
    if not place.is_mapping:
        place.error(f"expected a mapping of triggers, got {shown(place.value)}")
        return When()
    body = place.mapping
    read = [_trigger(place, name) for name in body if name not in COMBINATORS]
    return When(
        triggers=tuple(trigger for trigger in read if trigger is not None),
        any=_nested_list(place, "any"),
        all=_nested_list(place, "all"),
        none=(read_when(place.at("not")),) if "not" in body else (),
        per=_per(place.at("per")) if "per" in body else None,
    )


def _trigger(place: Place, name: str) -> Any:
    try:
        kind = triggers[name]
    except UnknownKind:
        place.at(name).error(f"unknown trigger{did_you_mean(name, [*triggers.names(), *COMBINATORS])}")
        return None
    return place.at(name).read(kind)


def _nested_list(place: Place, word: str) -> tuple[When, ...]:
    if word not in place.mapping:
        return ()
    at = place.at(word)
    if not at.items:
        got = "an empty list" if at.is_list else shown(at.value)
        at.error(f"expected a list of mappings of triggers, got {got}")
    return tuple(read_when(nested) for nested in at.items)


def _per(place: Place) -> str | None:
    try:
        return per(place.value)
    except ValueError as error:
        place.error(str(error))
        return None


def check_when(place: Place, when: When, domain: Domain, tools: Sequence[Tool], *, is_complete: bool) -> None:
    """Note what is impossible or doubtful with these tools.

    If `is_complete` (all of it was read), also note whether it can never hold.
    """
    _check_triggers(place, when, domain, tools)
    for path, problem in contradictions(when, domain.now) if is_complete else ():
        place.at(*path).error(problem)


def _check_triggers(place: Place, when: When, domain: Domain, tools: Sequence[Tool]) -> None:
    if when.per is not None and not any(trigger.role is Role.COUNTER for trigger in when.triggers):
        place.at("per").warning("has no effect without a counter beside it: nth, first, every or burst")
    for problem in () if when.per is None else quota_problems(when.per, tools):
        place.at("per").error(problem)
    for trigger in when.triggers:
        at = place.at(triggers.name_of(trigger))
        for problem in trigger.problems(domain, tools):
            at.error(problem)
        for doubt in trigger.warnings(domain, tools):
            at.warning(doubt)
    for word, group in (("any", when.any), ("all", when.all)):
        for index, nested in enumerate(group):
            _check_triggers(place.at(word, index), nested, domain, tools)
    for nested in when.none:
        _check_triggers(place.at("not"), nested, domain, tools)


class _Bound(NamedTuple):
    """The part of a world's life outside which something never holds, and the trigger that says so."""

    why: str
    time_bounds: TimeBounds


def contradictions(when: When, start: datetime, around: Sequence[_Bound] = ()) -> Iterator[tuple[Path, str]]:
    """Yield each path of a `when` that can never hold, and why. `around` are bounds that must hold as well."""
    bounds = [*(around or [_Bound("the world's start", TimeBounds(begin=start))]), *_bounds(when, start)]
    reason = _apart(bounds, len(around)) or _never(when, intersection(bound.time_bounds for bound in bounds))
    if reason is not None:
        yield (), f"never holds: {reason}"
        return
    for word, group in (("any", when.any), ("all", when.all)):
        for at, nested in enumerate(group):
            for path, problem in contradictions(nested, start, bounds):
                yield (word, at, *path), problem


def _bounds(when: When, start: datetime) -> list[_Bound]:
    """Return the bounds of the triggers of a mapping, and of single triggers under its `not`."""
    bounds = [_Bound(trigger.why(), trigger.time_bounds(start)) for trigger in when.triggers]
    alone = [nested.triggers[0] for nested in when.none if _is_one(nested) and nested.triggers[0].depends_on_time_only]
    return bounds + [_Bound(f"not {trigger.why()}", trigger.time_bounds(start).outside) for trigger in alone]


def _apart(bounds: Sequence[_Bound], known: int) -> str | None:
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
