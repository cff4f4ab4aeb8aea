"""Can it ever happen? Triggers beside each other that exclude each other, perturbations that another keeps out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from mcp_sim.spec.yaml12 import Path
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Stage
from mcp_sim.types.scenario import Fires, PerturbationEntry, When, in_reach
from mcp_sim.types.time_bounds import ENDLESS, Numbers, Stretch, are_apart, shared


class Bound(NamedTuple):
    """Outside of which part of a world's life something never holds, and what says so."""

    says: str
    stretch: Stretch


def contradictions(when: When, start: datetime, around: Sequence[Bound] = ()) -> Iterator[tuple[Path, str]]:
    """Where a `when` can never hold, and why. `around` is what must hold besides, whatever it says itself."""
    bounds = [*(around or [Bound("the world's start", Stretch(begin=start))]), *_bounds(when, start)]
    found = _apart(bounds, len(around)) or _never(when, shared(bound.stretch for bound in bounds))
    if found is not None:
        yield (), f"never holds: {found}"
        return
    for word, group in (("any", when.any), ("all", when.all)):
        for at, nested in enumerate(group):
            for path, problem in contradictions(nested, start, bounds):
                yield (word, at, *path), problem


def _bounds(when: When, start: datetime) -> list[Bound]:
    """What the triggers of a mapping demand, and those that stand alone under its `not`."""
    bounds = [Bound(trigger.why(), trigger.stretch(start)) for trigger in when.triggers]
    alone = [nested.triggers[0] for nested in when.none if _is_one(nested) and nested.triggers[0].is_clockwork]
    return bounds + [Bound(f"not {trigger.why()}", trigger.stretch(start).rest) for trigger in alone]


def _apart(bounds: Sequence[Bound], known: int) -> str | None:
    """Two that exclude each other; of the first `known` it was told already."""
    for bound in bounds[known:]:
        if bound.stretch.is_empty:
            return f"{bound.says} is over before it begins"
    for one, other in combinations(bounds, 2):
        if other in bounds[known:] and shared((one.stretch, other.stretch)).is_empty:
            return f"{one.says} and {other.says} exclude each other"
    return None


def _never(when: When, stretch: Stretch) -> str | None:
    """Why a mapping never holds within a stretch, as far as its counters and what stands under `not` tell."""
    if any(nested == When(per=nested.per) for nested in when.none):
        return "what stands under not always holds"
    counters = [(trigger.why(), numbers) for trigger in when.triggers if (numbers := trigger.numbers()) is not None]
    if are_apart([numbers for _, numbers in counters]):
        return f"{' and '.join(says for says, _ in counters)} exclude each other"
    if stretch.calls < ENDLESS and are_apart([Numbers(range(1, stretch.calls + 1)), *(n for _, n in counters)]):
        return f"{' and '.join(says for says, _ in counters)} takes more than the {stretch.calls} calls there can be"
    return None


def _is_one(when: When) -> bool:
    return len(when.triggers) == 1 and not (when.any or when.all or when.none)


def kept_out(entries: Sequence[PerturbationEntry], domain: Domain) -> list[str | None]:
    """For each entry the id of another that answers every call in question, so that it never comes to anything."""
    reach = [frozenset(tool for tool, one in domain.tools.items() if in_reach(entry.tools, one)) for entry in entries]
    always = [(at, entry) for at, entry in enumerate(entries) if _ends_every_call(entry)]
    return [
        next((outer.id for n, outer in always if reach[at] <= reach[n] and _stands_before(outer, n, entry, at)), None)
        for at, entry in enumerate(entries)
    ]


def _ends_every_call(entry: PerturbationEntry) -> bool:
    is_bound = entry.when != When() or entry.fires != Fires() or entry.group is not None
    return entry.enabled and not is_bound and entry.perturbation.ends_calls()


def _stands_before(outer: PerturbationEntry, at: int, inner: PerturbationEntry, place: int) -> bool:
    """Does a call meet `outer`, and then `inner` no more?"""
    stage, other = outer.perturbation.stage, inner.perturbation.stage
    if not inner.enabled or inner.perturbation.is_timed() or other is Stage.CATALOGUE:
        return False
    if stage is Stage.BEFORE and other is Stage.COMMIT:
        return True
    return other.depth(place) < stage.depth(at)


def conflicts(entries: Sequence[PerturbationEntry], domain: Domain) -> list[tuple[int, str]]:
    """Where two entries alter the same of a tool at the same time: the place of the second, and what is wrong."""
    found = list[tuple[int, str]]()
    enabled = [(at, entry) for at, entry in enumerate(entries) if entry.enabled]
    for (_, one), (at, other) in combinations(enabled, 2):
        both = [tool for tool in domain.tools.values() if in_reach(one.tools, tool) and in_reach(other.tools, tool)]
        altered = [
            f"{what} of {tool.id}"
            for tool in both
            for what in sorted(one.perturbation.alters(tool) & other.perturbation.alters(tool))
        ]
        if altered and not shared((_lasts(one, domain), _lasts(other, domain))).is_empty:
            found.append((at, f"{one.id} changes the {altered[0]} too; let one end before the other begins"))
    return found


def _lasts(entry: PerturbationEntry, domain: Domain) -> Stretch:
    """The part of a world's life outside of which an entry is never in force, where that is fixed."""
    is_fixed = entry.when == When(triggers=entry.when.triggers) and all(one.is_clockwork for one in entry.when.triggers)
    return shared(bound.stretch for bound in _bounds(entry.when, domain.now)) if is_fixed else Stretch()
