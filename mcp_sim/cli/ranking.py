"""`--against`: have agents of graded skill try the real server, and what is to be written about it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mcp_sim.libraries.sandbox import Limits, Stopped, Unconfined, run_confined
from mcp_sim.recordings.compiling.subject import Subject
from mcp_sim.recordings.ranking import Rank, Ranking
from mcp_sim.runs.validity.comparison import Validity
from mcp_sim.runs.validity.gating import Reference, compared, job_of, references
from mcp_sim.runs.validity.task import Task, read_task
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError

_TARGET = "mcp_sim.runs.validity.gating:played"
_SECONDS = 120  # how long the agents may take with a program, for all tasks


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a real server and tasks."""
    parser.add_argument(
        "--against",
        metavar="SERVER|SPEC",
        help="the real server's command ({folder}: a new folder for each run), or a document: keep no tool with which "
        "scripted agents rank clearly worse than without; takes minutes",
    )
    parser.add_argument(
        "--task",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a task for the agents, as for `mcp-sim validity`; may be repeated; default: what recorded sessions write",
    )


async def ranking(subject: Subject, args: argparse.Namespace, notify: Callable[[str], None]) -> Ranking | None:
    """Return what ranks agents on a simulation, after they have tried the real server; None without one."""
    if args.against is None:
        if args.task:
            raise UsageError("--task is for --against, which names the real server")
        return None
    tasks = [read_task(path) for path in args.task]
    if not tasks:  # a real server begins empty, so that sessions without a given state can be repeated there
        sessions = sorted((*subject.held, *subject.shown, *subject.scored), key=lambda session: bool(session.state))
        tasks = [Task(recording=session.file) for session in sessions]
    if not tasks:
        raise UsageError("--against: needs a task; name one with --task FILE, or recorded sessions")
    known = await references(args.against, tasks, args.trust, lambda name: notify(f"letting agents try {name}"))
    return _Agents(known)


class _Agents:
    """Agents that have tried a real server, and try simulations in confined processes."""

    def __init__(self, known: Sequence[Reference]) -> None:
        self._references = known

    def __call__(self, document: Path) -> list[Rank]:
        job, limits = {**job_of(document, self._references)}, Limits(memory=2 << 30, cpu=_SECONDS)
        try:
            sides = run_confined(_TARGET, job, seconds=2 * _SECONDS, limits=limits, readable=[document.parent])
            validities = compared(self._references, sides)
        except Unconfined as error:
            raise UsageError(f"--against: programs cannot be tried here: {error}") from None
        except (Stopped, LookupError, TypeError, ValueError) as error:  # the program may have forged the result
            why = f"the agents could not try it: {error}"
            return [Rank(_name(known), None, 0.0, why) for known in self._references]
        pairs = zip(self._references, validities, strict=True)
        return [_rank(_name(known), validity) for known, validity in pairs]


def _name(known: Reference) -> str:
    return known.task.task or f"a task of {', '.join(known.task.tools)}"


def _rank(task: str, validity: Validity) -> Rank:
    parting = next((f"{parting.tool} {parting.why}" for parting in validity.partings), "")
    return Rank(task, validity.rho, validity.faultless[0], parting)


def lines(validity: Sequence[Record]) -> Iterator[str]:
    """Yield how agents rank on what was written and on the inferred plans, by task."""
    for row in validity:
        rhos = (None if side is None else side["rho"] for side in (row["program"], row["plans"]))
        program, plans = ("-" if rho is None else f"{rho:.2f}" for rho in rhos)
        yield f"Agents rank as on the real server by {program} (plans alone {plans}): {row['task']}"
        if row["program"] is not None and row["program"]["parting"]:
            yield f"  {row['program']['parting']}"
