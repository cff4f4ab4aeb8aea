"""The report of what was kept of a program: tool by tool, what was checked and why it was left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mcp_sim.recordings.compiling.gate import Gate, Judged
from mcp_sim.recordings.compiling.rounds import Outcome
from mcp_sim.recordings.ranking import validity_report
from mcp_sim.types import Record


def report_of(gate: Gate, outcome: Outcome) -> Record:
    """Return what happened, as JSON."""
    judged, plans = outcome.judged, gate.plans
    tools = {str(tool["name"]): _tool_report(str(tool["name"]), gate, outcome) for tool in gate.subject.tools}
    held, ranks = None if judged is None else judged.held.score, gate.ranks(None)
    ours = [None] * len(ranks) if judged is None else gate.ranks(judged.text)
    return {
        "server": gate.subject.server,
        "kept": sum(tool["kept"] for tool in tools.values()),
        "tools": tools,
        "hooks": _hooks_report(outcome),
        "sessions": {
            "shown": [session.name for session in gate.subject.shown],
            "held_back": [session.name for session in gate.subject.held],
            "scored": [session.name for session in gate.subject.scored],
        },
        "held_back": {"program": held, "plans": plans.held.score},
        "scored": {"program": None if judged is None else gate.score(judged.text), "plans": gate.score(None)},
        "shown": {"program": None if judged is None else judged.shown.score, "plans": plans.shown.score},
        "validity": validity_report(zip(ours, ranks, strict=True)),
        "rounds": outcome.tally.rounds,
        "tokens": outcome.tally.tokens,
        "complaints": outcome.complaints,
        "votes": {tool: vote.to_json() for tool, vote in outcome.votes.items()},
    }


def _hooks_report(outcome: Outcome) -> Record:
    """Return whether each hook and resource of the program was kept, and why not."""
    kept: Collection[str] = () if outcome.judged is None else outcome.judged.hooks
    hooks: Iterable[str] = () if outcome.best is None else outcome.best.hooks
    return {name: {"kept": name in kept, "why": [*outcome.dropped.get(name, ())]} for name in hooks}


def _tool_report(tool: str, gate: Gate, outcome: Outcome) -> Record:
    judged, plans = outcome.judged, gate.plans
    kept = judged is not None and tool in judged.functions
    shown = judged or outcome.best
    return {
        "kept": kept,
        "result": "kept" if kept else _left_out(tool, shown, outcome),
        "checks": [] if shown is None else [*shown.checks.get(tool, ())],
        "held_back": None if shown is None else shown.held.tools.get(tool),
        "plan": plans.held.tools.get(tool),
        "why": _excuse(tool, outcome) if kept else _why(tool, outcome),
    }


def _excuse(tool: str, outcome: Outcome) -> list[str]:
    """Return what is wrong with a function that is kept all the same; empty if nothing."""
    why = outcome.excused.get(tool, ())
    return [f"kept, since other functions work on what it creates: {reason}" for reason in why]


def _left_out(tool: str, shown: Judged | None, outcome: Outcome) -> str:
    """Return whether a tool never had a function, or lost it."""
    had = shown is None or shown.whole or tool in shown.functions or tool in outcome.dropped
    return "dropped" if had else "missing"


def _why(tool: str, outcome: Outcome) -> list[str]:
    """Return why a tool has no function of the program."""
    best = outcome.best
    if best is None:
        return outcome.complaints.split("\n")[:1]
    if tool in outcome.dropped:
        return [*outcome.dropped[tool]]
    if best.whole:
        return [*best.whole]
    if tool in best.functions:
        return ["the rest failed with it"]
    return ["the program has no function for it"]
