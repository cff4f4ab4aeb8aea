"""Try a program out: in a process of its own, which gets a job and returns what it found. Both are JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from mcp_sim.recordings.columns import COLUMNS
from mcp_sim.recordings.compiling.evidence import answer_text, canonical_in_order
from mcp_sim.recordings.compiling.lifecycles import check_lifecycles
from mcp_sim.recordings.compiling.probes import Finding, Probe, differences
from mcp_sim.recordings.measure import score_sessions
from mcp_sim.recordings.report import Report
from mcp_sim.recordings.responders import Simulations
from mcp_sim.recordings.score import CallScore
from mcp_sim.simulator.compile import checked, load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.sessions import RecordedCall, Session
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, Problem

WRITES = frozenset({"create", "update", "delete"})
"""The verbs of tools that write records."""
_NOT_BEGUN = "@initial: fails"
"""Part of the message of a crash of a program that cannot fill its tables."""
WORST = 3
"""How many differing calls of a tool are reported."""
_LONGEST_ANSWER = 700


def job_of(folder: Path, held: Sequence[Session], shown: Sequence[Session], state: Json) -> Record:
    """Return the job to try out the server in a folder. `state`: that of worlds of probes; None: their own."""
    states = {id(session.state): session.state for session in (*held, *shown)}
    places = {identity: at for at, identity in enumerate(states)}
    return {
        "folder": str(folder),
        "states": [*states.values()],
        "held": [_job_session(session, places[id(session.state)]) for session in held],
        "shown": [_job_session(session, places[id(session.state)]) for session in shown],
        "state": state,
    }


def _job_session(session: Session, state: int) -> Record:
    calls = [
        {"tool": call.tool, "arguments": call.arguments, "answer": call.answer, "at": call.line.get("at")}
        for call in session.calls
    ]
    started = session.header.get("started")
    return {"server": session.server, "name": session.name, "state": state, "calls": calls, "started": started}


def try_out(job: Json) -> Json:
    """Return what is found in a job: problems of the file, findings of probes, and scores of recorded sessions."""
    folder = Path(job["folder"])
    problems = [problem for _, found in checked(folder / "scenario.json", [folder]) for problem in found]
    problems = [problem for problem in problems if problem.severity == "error"]
    if problems:
        return {"problems": [asdict(problem) for problem in problems]}
    try:
        return asyncio.run(_tried(job, folder))
    except DocumentError as error:
        return {"problems": [asdict(problem) for problem in error.problems]}


async def _tried(job: Record, folder: Path) -> Record:
    probe = await _probed(folder, job["state"])
    hung = any("did not end within" in finding.message for finding in probe.findings)
    held = Report([] if hung else await _scored(folder, job, "held"))
    shown = Report([] if hung else await _scored(folder, job, "shown"))
    findings = [*probe.findings, *_crashed(shown.calls), *_crashed(held.calls, is_held=True)]
    begins = [finding.message for finding in findings if _NOT_BEGUN in finding.message]
    if begins:
        return {"problems": [asdict(Problem(job["folder"], 0, "", begins[0]))]}
    return {
        "problems": [],
        "writes": {tool: plan.entity for tool, plan in probe.domain.plans.items() if plan.verb in WRITES},
        "findings": [asdict(finding) for finding in dict.fromkeys(findings)],
        "checks": {tool: sorted(found) for tool, found in probe.checks.items()},
        "answers": probe.answers,
        "held": _scores(held),
        "shown": _scores(shown),
        "differences": [_difference(call) for call in _worst(shown.calls)],
    }


async def _probed(folder: Path, state: Json) -> Probe:
    """Return the probe of one world. A second world must answer it alike: a program keeps nothing in its module."""
    scenario = load(folder / "scenario.json", trust=[folder], state=state)
    async with Simulator(scenario) as simulator:
        probe, again = (Probe(simulator.world("default"), scenario.domain) for _ in range(2))
        await probe.run()
        await check_lifecycles(probe)
        if not any("did not end within" in finding.message for finding in probe.findings):
            await again.run()
            await check_lifecycles(again)
            for tool, arguments in differences(probe.answers, again.answers):
                message = f"{tool}({arguments}) answers otherwise in a second world: keep nothing outside of the tables"
                probe.findings.append(Finding(tool, "reference", message))
    return probe


async def _scored(folder: Path, job: Record, which: str) -> list[CallScore]:
    sessions = [_session(one, job["states"]) for one in job[which]]
    async with Simulations(folder / "server.json", [folder]) as responders:
        return await score_sessions(responders, sessions)


def _session(one: Record, states: Sequence[Json]) -> Session:
    calls = [
        RecordedCall(call["tool"], call["arguments"], call["answer"], seq, {"at": call["at"]})
        for seq, call in enumerate(one["calls"], 1)
    ]
    return Session(
        one["server"], one["name"], Path(one["name"]), [], states[one["state"]], calls, {"started": one["started"]}
    )


def _scores(report: Report) -> Record:
    tools = {tool: {"score": scores.score or 0.0, "calls": scores.calls} for (_, tool), scores in report.tools.items()}
    return {"score": report.score if report.calls else None, "tools": tools}


def _crashed(calls: Iterable[CallScore], *, is_held: bool = False) -> Iterable[Finding]:
    """Yield the calls of recorded sessions that crashed, without the arguments of those that are held back."""
    for call in calls:
        if call.answered is None:
            made = call.tool if is_held else f"{call.tool}({canonical_in_order(call.arguments)[:300]})"
            yield Finding(call.tool, "crash", f"{made} crashed: {call.crash.removeprefix(f'{call.tool}: ')}")


def _worst(calls: Sequence[CallScore]) -> Iterable[CallScore]:
    """Yield the calls of each tool that differ most from their recording."""
    by_tool = dict[str, list[CallScore]]()
    for call in calls:
        if not call.is_perfect and call.answered is not None:
            by_tool.setdefault(call.tool, []).append(call)
    for found in by_tool.values():
        yield from sorted(found, key=_mean)[:WORST]


def _mean(call: CallScore) -> float:
    means = [sum(mark.value for mark in marks) / len(marks) for marks in call.marks.values() if marks]
    return sum(means) / max(len(means), 1) if means else float(len(COLUMNS))


def _difference(call: CallScore) -> Record:
    reasons = [reason for found in call.reasons.values() for reason in found if reason]
    return {
        "tool": call.tool,
        "mean": _mean(call),
        "call": f"session {call.session}, call {call.seq}: {call.tool} {canonical_in_order(call.arguments)[:400]}",
        "expected": answer_text(call.recorded, _LONGEST_ANSWER),
        "answered": answer_text(cast("dict[str, Any]", call.answered), _LONGEST_ANSWER),
        "reasons": list(dict.fromkeys(reasons))[:4],
    }
