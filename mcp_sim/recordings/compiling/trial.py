"""Try a program out: in a process of its own, which gets a job and returns what it found. Both are JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from mcp_sim.recordings.columns import COLUMNS
from mcp_sim.recordings.compiling.evidence import answer_text, canonical_in_order, violated_schemas
from mcp_sim.recordings.compiling.lifecycles import check_lifecycles
from mcp_sim.recordings.compiling.probes import INITIAL, Finding, Probe, differences, short
from mcp_sim.recordings.compiling.samples import differing_forms
from mcp_sim.recordings.compiling.single_calls import check_hooks
from mcp_sim.recordings.compiling.subject import PROGRAM as FILE
from mcp_sim.recordings.compiling.trial_arguments import KnownArguments
from mcp_sim.recordings.observed import observe
from mcp_sim.recordings.responders import Simulations, start_of
from mcp_sim.recordings.score import CallScore, Report, score_sessions
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.programs import declared_fields
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM

WRITES = frozenset({"create", "update", "delete"})  # the verbs of tools that write records
_NOT_BEGUN = "@initial: fails"  # part of the message of a crash of a program that cannot fill its tables
_MOST_SHAPES = 8  # in how many other states the program begins, to see whether it can
WORST = 3  # how many differing calls of a tool are reported
_LONGEST_ANSWER = 700  # a complaint is read by a model together with all others
_MOST_RECORDED = 8  # how many recorded sets of arguments of a tool trials know


def job_of(folder: Path, held: Sequence[Session], shown: Sequence[Session], known: Record) -> Record:
    """Return the job to try out the server in a folder. `known`: what trials know of it, see `known_of`."""
    states = {id(session.state): session.state for session in (*held, *shown)}
    places = {identity: at for at, identity in enumerate(states)}
    return {
        "folder": str(folder),
        "states": [*states.values()],
        "held": [_job_session(session, places[id(session.state)]) for session in held],
        "shown": [_job_session(session, places[id(session.state)]) for session in shown],
        **known,
    }


def known_of(
    sessions: Sequence[Session],
    shown: Sequence[Session],
    state: Json,
    samples: Sequence[RecordedCall] = (),
    *,
    is_own: bool,
) -> Record:
    """Return what trials know: the state at the start, unless the scenario has one of its `own`, and its time.

    Recorded arguments are those of `shown` sessions; those of sessions with the same state come first. The outputSchema
    of tools does not count where any of the `sessions` violates it.
    """
    ordered = sorted(shown, key=lambda session: session.state != state)
    recorded: dict[str, list[Record]] = {}
    calls = [*samples, *(call for session in ordered for call in session.calls)]
    for call in sorted(calls, key=lambda call: observe(call.answer).failed):
        recorded.setdefault(call.tool, []).append(call.arguments)
    started = next((start for session in ordered if (start := start_of(session)) is not None), None)
    return {
        "state": None if is_own else state,
        "given": state,
        "now": None if started is None else started.isoformat(),
        "recorded": {tool: some[:_MOST_RECORDED] for tool, some in recorded.items()},
        "lax": sorted({*violated_schemas(sessions)}),
        "samples": {call.tool: call.answer for call in samples if not observe(call.answer).failed},
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
    try:
        return asyncio.run(_tried(job, Path(job["folder"])))
    except DocumentError as error:
        return {"problems": [asdict(problem) for problem in error.problems if problem.severity == "error"]}


async def _tried(job: Record, folder: Path) -> Record:
    """Return what trials find, if there are to be any, and the scores of recorded sessions."""
    if not job["tries"]:
        return {"problems": [], "held": _scores(Report(await _scored(folder, job, "held")))}
    probe = await _probed(folder, job)
    hung = any("did not end within" in finding.message for finding in probe.findings)
    if not hung:
        functions = [function for program in probe.domain.programs for function in program.functions.values()]
        uses_libraries = any(function.effects.uses_libraries for function in functions)
        probe.findings += await _begun_otherwise(
            folder, job, is_taken=uses_libraries and not probe.domain.given.isdisjoint(probe.filled)
        )
    held = Report([] if hung else await _scored(folder, job, "held"))
    shown = Report([] if hung else await _scored(folder, job, "shown"))
    findings = [*probe.findings, *_crashed(shown.calls), *_crashed(held.calls, is_held=True)]
    fields = declared_fields(folder / FILE)
    begins = [finding.message for finding in findings if _NOT_BEGUN in finding.message]
    if begins:
        return {"problems": [asdict(Problem(job["folder"], 0, "", begins[0]))]}
    return {
        "problems": [],
        "writes": {tool: _written(plan, fields) for tool, plan in probe.domain.plans.items() if plan.verb in WRITES},
        "filled": probe.filled,
        "findings": [asdict(finding) for finding in dict.fromkeys(findings)],
        "checks": {tool: sorted(check) for tool, check in probe.checks.items()},
        "answers": probe.answers,
        "held": _scores(held),
        "shown": _scores(shown),
        "differences": [_difference(call) for call in _worst(shown.calls)],
    }


def _written(plan: Plan, fields: Mapping[str, Collection[str]]) -> str | None:
    """Return the table that a tool writes; None if it writes what functions do not see.

    `fields`: those that the program declares, by table. Functions know no others.
    """
    if plan.backend == "records" and not {*plan.sets.values()} <= {*fields.get(str(plan.entity), plan.sets.values())}:
        return None
    return plan.entity if plan.backend in (PROGRAM, "records") else None


async def _probed(folder: Path, job: Record) -> Probe:
    """Return the probe of one world.

    A second world must answer it alike: a program keeps nothing in its module.
    """
    now = None if job["now"] is None else datetime.fromisoformat(job["now"])
    scenario = load(folder / "scenario.json", trust=[folder], state=job["state"], now=now)
    known, lax = KnownArguments.of(job["given"], job["recorded"]), frozenset(job["lax"])
    async with Simulator(scenario) as simulator:
        probe, again = (Probe(simulator.world("default"), scenario.domain, known, lax) for _ in range(2))
        await probe.run()
        await check_lifecycles(probe)
        if not any("did not end within" in finding.message for finding in probe.findings):
            await again.run()
            await check_lifecycles(again)
            for tool, arguments in differences(probe.answers, again.answers):
                message = f"{tool}({arguments}) answers otherwise in a second world: keep nothing outside of the tables"
                probe.findings.append(Finding(tool, "varies", message))
            check_samples(probe, job["samples"])
            await check_hooks(probe)
    return probe


def check_samples(probe: Probe, samples: Mapping[str, Answer]) -> None:
    """Check that tools answer in the form of the real server's answers, as far as samples show them."""
    for tool, example in probe.examples.items():
        differing = differing_forms(samples[tool], example.answer) if tool in samples else None
        if tool in samples:
            probe.checked(tool, "sample")
        if differing is not None:
            wanted, served = differing
            call = f"{tool}({short(example.arguments)})"
            probe.note(tool, "defect", f"{call} answered with {served}; the sample of the real server is {wanted}")


async def _begun_otherwise(folder: Path, job: Record, *, is_taken: bool) -> list[Finding]:
    """Return what the author should know about `@initial`: where it fails, or finds nothing, in states of other shapes.

    These are the given state without some of its parts, within another object, and with mappings instead of lists.
    `is_taken`: what is built in may have the records of the given state, so that tables need not have them.
    """
    given: Json = job["given"]
    if not isinstance(given, dict) or not given:
        return []
    state = cast("Record", given)
    usual = await _counts(folder, state)
    if isinstance(usual, str):
        return []
    if not usual and is_taken:
        return []
    if not usual:
        return [Finding(INITIAL, "advice", f"leaves all tables empty, though the given state is {short(state)}")]
    shapes: list[tuple[str, Record, bool]] = [
        ("nothing", {}, False),
        *((f"no {name!r}", {other: first for other, first in state.items() if other != name}, False) for name in state),
        ("all of it under a key", {"database": state}, True),
        ("mappings by id instead of lists", {name: _as_mapping(value) for name, value in state.items()}, True),
    ]
    findings = list[Finding]()
    for what, shape, has_all in shapes[:_MOST_SHAPES]:
        counts = await _counts(folder, shape)
        if isinstance(counts, str):
            findings.append(Finding(INITIAL, "advice", f"a state with {what}, {short(shape)}: {counts}"))
        elif has_all and set(usual) - set(counts):
            missed = ", ".join(sorted(set(usual) - set(counts)))
            message = f"a state with {what}, {short(shape)}, leaves these tables empty: {missed}; use records()"
            findings.append(Finding(INITIAL, "advice", message))
    return findings


async def _counts(folder: Path, state: Json) -> dict[str, int] | str:
    """Return the tables of the program that are not empty in a world with this state; or why it cannot begin."""
    try:
        scenario = load(folder / "scenario.json", trust=[folder], state=state)
        tables = {f"{program.prefix}{table}" for program in scenario.domain.programs for table in program.tables}
        names = [name for name in tables if not scenario.domain.entities[name].singleton]
        async with Simulator(scenario) as simulator:
            view = simulator.world("default").view
            return {name: view.count(name) for name in names if view.count(name)}
    except DocumentError as error:
        return "; ".join(problem.message for problem in error.problems)


def _as_mapping(value: Json) -> Json:
    """Return a list of objects with ids as a mapping by these ids; anything else as it is."""
    if not isinstance(value, list):
        return value
    rows = [cast("Record", row) for row in cast("list[Json]", value) if isinstance(row, dict) and "id" in row]
    keyed: Record = {str(row["id"]): {name: inner for name, inner in row.items() if name != "id"} for row in rows}
    return keyed if rows and len(keyed) == len(cast("list[Json]", value)) else cast("Json", value)


async def _scored(folder: Path, job: Record, which: str) -> list[CallScore]:
    sessions = [_session(item, job["states"]) for item in job[which]]
    async with Simulations(folder / "server.json", [folder]) as responders:
        return await score_sessions(responders, sessions)


def _session(row: Record, states: Sequence[Json]) -> Session:
    calls = [
        RecordedCall(call["tool"], call["arguments"], call["answer"], seq, {"at": call["at"]})
        for seq, call in enumerate(row["calls"], 1)
    ]
    return Session(
        row["server"], row["name"], Path(row["name"]), [], states[row["state"]], calls, {"started": row["started"]}
    )


def _scores(report: Report) -> Record:
    """Return the fields of an `Agreement`."""
    tools = {tool: scores for (_, tool), scores in report.tools.items()}
    return {
        "score": report.score if report.calls else None,
        "tools": {tool: scores.score or 0.0 for tool, scores in tools.items()},
        "calls": {tool: scores.calls for tool, scores in tools.items()},
        "behaviour": report.overall.behaviour if report.calls else None,
        "behaviours": {tool: scores.behaviour or 0.0 for tool, scores in tools.items()},
    }


def _crashed(calls: Iterable[CallScore], *, is_held: bool = False) -> Iterable[Finding]:
    """Yield the calls of recorded sessions that crashed, without the arguments of those that are held back."""
    for call in calls:
        if call.answered is None:
            label = call.tool if is_held else f"{call.tool}({canonical_in_order(call.arguments)[:300]})"
            yield Finding(call.tool, "crash", f"{label} crashed: {call.crash.removeprefix(f'{call.tool}: ')}")


def _worst(calls: Sequence[CallScore]) -> Iterable[CallScore]:
    """Yield the calls of each tool that differ most from their recording."""
    by_tool = dict[str, list[CallScore]]()
    for call in calls:
        if not call.is_perfect and call.answered is not None:
            by_tool.setdefault(call.tool, []).append(call)
    for scores in by_tool.values():
        yield from sorted(scores, key=_mean)[:WORST]


def _mean(call: CallScore) -> float:
    means = [sum(mark.value for mark in marks) / len(marks) for marks in call.marks.values() if marks]
    return sum(means) / max(len(means), 1) if means else float(len(COLUMNS))


def _difference(call: CallScore) -> Record:
    reasons = [reason for group in call.reasons.values() for reason in group if reason]
    return {
        "tool": call.tool,
        "mean": _mean(call),
        "call": f"session {call.session}, call {call.seq}: {call.tool} {canonical_in_order(call.arguments)[:400]}",
        "expected": answer_text(call.recorded, _LONGEST_ANSWER),
        "answered": answer_text(cast("dict[str, Any]", call.answered), _LONGEST_ANSWER),
        "reasons": list(dict.fromkeys(reasons))[:4],
    }
