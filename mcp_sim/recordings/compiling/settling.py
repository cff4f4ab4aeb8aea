"""What is kept of a program: the functions that no call contradicts, and those that others need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from anyio import to_thread

from mcp_sim.recordings.compiling.combining import clusters
from mcp_sim.recordings.compiling.gate import Gate, Judged
from mcp_sim.recordings.compiling.removal import without_tools
from mcp_sim.recordings.ranking import Rank, is_clearly_less, mean_rho, reason
from mcp_sim.types.frozen import frozen

TOLERANCE = 1e-6  # equal scores may differ by rounding

Notify: TypeAlias = Callable[[str], None]  # gets a sentence about what is in progress


@frozen
class Settled:
    """What remains of a program."""

    judged: Judged | None
    """None if nothing may be kept."""
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    """The tools whose functions were taken out, and why."""
    excused: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    """The tools whose functions are kept although a call contradicts them, since others need them."""


async def settle(gate: Gate, best: Judged, notify: Notify) -> Settled:
    """Return a program without the functions that fail, or answer worse than the plans, and why each was taken out."""
    dropped = {tool: [*why] for tool, why in best.left_out.items()}
    excused = dict[str, list[str]]()
    current = best
    if current.whole:
        return Settled(None, dropped)
    while failing := {
        tool: why for tool, why in {**current.failing(), **_left_alone(current, best)}.items() if tool not in excused
    }:
        notify(f"trying without {', '.join(failing)}")
        without = await _without(gate, current, [*failing])
        # Some that fail are kept, since others that work would go with them: those that create the records that others
        # work on, if sessions are answered no better without them.
        if without is None or _is_less(current, without):
            needed = []
        else:
            needed = [
                tool
                for tool, tables in _orphaned(without, best)
                if tool in failing and "creates" in current.checks.get(tool, ()) and without.writing(tables)
            ]
        if needed:
            excused |= {tool: failing[tool] for tool in needed}
            continue
        dropped |= failing
        if without is None:
            return Settled(None, dropped)
        current = without
        unusable = _unusable(current, best)
        if unusable is not None:
            return Settled(None, dropped | {tool: [unusable] for tool in current.functions})
    kept = await _better(gate, current, dropped, excused, notify)
    kept = None if kept is None else await _ranking_agents(gate, kept, dropped, notify)
    return Settled(kept, dropped, {} if kept is None else excused)


def _left_alone(current: Judged, best: Judged) -> dict[str, list[str]]:
    """Return the tools whose functions work on records that no tool writes any more."""
    return {
        other: [f"works on {', '.join(sorted(tables))}, which the plan of {tool} does not write"]
        for tool, tables in _orphaned(current, best)
        for other in current.writing(tables)
    }


def _unusable(current: Judged, best: Judged) -> str | None:
    """Return why nothing can be kept: plans would work on first rows of a form that they do not know.

    Recordings decide better, where there are some.
    """
    if best.held.score is not None or best.shown.score is not None:
        return None
    for tool, tables in _orphaned(current, best):
        given = ", ".join(sorted(tables & {*current.filled}))
        if given:
            return f"@initial fills {given}, which the plan of {tool} does not write: the plans alone are better"
    return None


def _orphaned(current: Judged, best: Judged) -> Iterator[tuple[str, set[str]]]:
    """Yield the tools whose functions were taken out, and the tables in which no tool creates records any more.

    Such a tool may create other records by its plan, which functions do not see. If its plan writes nothing, the
    records that a world begins with remain.
    """
    left = {table for other in current.functions.values() for table in other.effects.creates}
    for tool in (function for function in best.functions if function not in current.functions):
        seen = {current.writes[tool]} if tool in current.writes else {*current.filled}
        yield tool, {*best.functions[tool].effects.creates} - seen - left


async def _better(
    gate: Gate, current: Judged, dropped: dict[str, list[str]], excused: Collection[str], notify: Notify
) -> Judged | None:
    """Take out what answers recordings worse than the plans, as long as the whole does not suffer.

    All such functions go at once if that helps, else one after the other, else with those that share their tables.
    """
    plans, tried = gate.plans, set[str]()
    while worse := [tool for tool in _worse(current, plans) if tool not in tried]:
        tried |= {*worse}
        groups = [sorted(group) for group in clusters(current) if not group.isdisjoint(worse)]
        for tools in (worse, *([tool] for tool in worse if len(worse) > 1), *groups):
            if not current.functions.keys() >= {*tools}:
                continue
            notify(f"trying without {', '.join(tools)}")
            without = await _without(gate, current, tools)
            is_worse = without is not None and (without.failing().keys() - {*excused} or _left_alone(without, current))
            if without is None or is_worse or _is_less(without, current):
                continue
            shown = next(tool for tool in tools if tool in worse)
            dropped |= {tool: [_comparison(current, plans, tool if tool in worse else shown)] for tool in tools}
            current = without
            if tools is worse:
                break
    if not _is_less(current, plans):
        return current
    (behaviour, score), (plan_behaviour, plan) = current.agreement(), plans.agreement()
    figures = f"behaviour {behaviour:.3f} and score {score:.3f}, the plans {plan_behaviour:.3f} and {plan:.3f}"
    dropped |= {tool: [f"{current.basis()}: the program as a whole has {figures}"] for tool in current.functions}
    return None


async def _ranking_agents(gate: Gate, current: Judged, dropped: dict[str, list[str]], notify: Notify) -> Judged | None:
    """Take out the groups of tools with which agents rank clearly worse than with the plans.

    The program goes as a whole if that is true of it and no group helps.
    """

    async def ranks(text: str | None) -> Sequence[Rank]:
        return await to_thread.run_sync(gate.ranks, text)

    plans = await ranks(None)
    if not plans:
        return current
    notify("letting agents try what is kept")
    ours = await ranks(current.text)
    while is_clearly_less(ours, plans):
        why = reason(ours, plans)
        best: tuple[float, frozenset[str], Judged] | None = None
        for group in clusters(current):
            notify(f"letting agents try the rest without {', '.join(sorted(group))}")
            without = await _without(gate, current, sorted(group))
            if without is None or without.failing().keys() - current.failing().keys():
                continue
            rho = mean_rho(await ranks(without.text))
            if rho > mean_rho(ours) and (best is None or rho > best[0]):
                best = rho, group, without
        if best is None:
            dropped |= {tool: [why] for tool in current.functions}
            return None
        _, group, current = best
        dropped |= {tool: [why] for tool in sorted(group)}
        ours = await ranks(current.text)
    return current


def _is_less(judged: Judged, other: Judged) -> bool:
    """Whether a program answers sessions worse than another: by behaviour, and with the same behaviour by score."""
    (behaviour, score), (other_behaviour, other_score) = judged.agreement(), other.agreement()
    if abs(behaviour - other_behaviour) > TOLERANCE:
        return behaviour < other_behaviour
    return score < other_score - TOLERANCE


def _comparison(judged: Judged, plans: Judged, tool: str) -> str:
    """Return how a function and its plan answer, with a call that shows it unless it is held back."""
    is_held = tool in judged.held.tools
    ours, theirs = (judged.held, plans.held) if is_held else (judged.shown, plans.shown)
    sessions = "gate sessions" if is_held else "shown sessions"
    figures = f"{sessions}: {ours.tools[tool]:.3f}, its plan {theirs.tools[tool]:.3f}"
    call = next((difference.call for difference in judged.differences if difference.tool == tool), None)
    return figures if call is None else f"{figures}; see {call}"


def _worse(judged: Judged, plans: Judged) -> list[str]:
    """Return the tools that agree less with recordings than their plans, the worst first.

    Behaviour decides; with the same behaviour, the score. Sessions that the author has seen decide where those that are
    held back make no difference.
    """
    losses = {tool: _losses(judged, plans, tool) for tool in judged.functions}
    worse = [tool for tool, loss in losses.items() if next(filter(None, loss), 0.0) > 0]
    return sorted(worse, key=losses.__getitem__, reverse=True)


def _losses(judged: Judged, plans: Judged, tool: str) -> tuple[float, ...]:
    """Return what a tool loses against its plan, what decides first; nothing if no session calls it."""
    return tuple(
        _rounded(theirs - values[tool])
        for ours, plan in ((judged.held, plans.held), (judged.shown, plans.shown))
        for values, theirs in ((ours.behaviours, plan.behaviours.get(tool)), (ours.tools, plan.tools.get(tool)))
        if tool in values and theirs is not None
    )


def _rounded(loss: float) -> float:
    return 0.0 if abs(loss) <= TOLERANCE else loss


async def _without(gate: Gate, judged: Judged, tools: Sequence[str]) -> Judged | None:
    """Judge a program without the functions of some tools; None if nothing is left, or it cannot be used."""
    if not judged.functions.keys() - {*tools}:
        return None
    text = without_tools(judged.text, judged.answering, tools)
    verdict = await to_thread.run_sync(gate.judge, text)
    return None if verdict.whole else verdict
