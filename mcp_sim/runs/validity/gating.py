"""How agents rank on a simulation that is being written, compared with a real server: a part of the gate.

The real server is run once for each task. Simulations may be run in a confined process (`played`), since a program
that a model wrote may be in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import anyio

from mcp_sim.runs.validity.comparison import SIDE_RUNS, SideRuns, Validity, compare, run_real, run_simulation
from mcp_sim.runs.validity.recorded_task import recorded_task, with_recording
from mcp_sim.runs.validity.sides import open_side, open_simulation
from mcp_sim.runs.validity.task import Task
from mcp_sim.types import Json
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.frozen import frozen

MOST_TASKS = 3
STREAMS = 2
"""Fault streams. With 16 agents and the two runs without faults, a real server is started 34 times for a task."""
SECONDS = 300.0
"""How long the real server is run for all tasks. Those that it has not finished by then are left out."""
JOBS = 2


@frozen
class Reference:
    """A task, and how agents do it on the real server."""

    task: Task
    real: SideRuns


async def references(
    server: str, tasks: Iterable[Task], trust: Sequence[Path], notify: Callable[[str], None]
) -> list[Reference]:
    """Run agents on a real server, in the first MOST_TASKS of the tasks that can be carried out there.

    Raises `UsageError` with the reasons if none can.
    """
    known, problems = list[Reference](), list[str]()
    with anyio.move_on_after(SECONDS):
        for task in tasks:
            try:
                known.append(await _reference(server, task, trust, notify))
            except (UsageError, Crash) as error:
                problems.append(str(error))
            if len(known) == MOST_TASKS:
                break
    if not known:
        reasons = "; ".join(problems[:MOST_TASKS]) or f"no task was done within {SECONDS:g} seconds"
        raise UsageError(f"--against: agents cannot be compared: {reasons}")
    return known


async def _reference(server: str, task: Task, trust: Sequence[Path], notify: Callable[[str], None]) -> Reference:
    task, session = with_recording(task)
    async with open_side(server, task, trust, empty=True) as real:
        if session is not None:
            task = recorded_task(task, session, real.domain)
        return Reference(task, await run_real(real, task, STREAMS, JOBS, notify))


def job_of(document: Path, references: Iterable[Reference]) -> Mapping[str, Json]:
    """Return the job to run agents on the simulation of a document."""
    rows = [
        {
            "task": reference.task.model_dump(mode="json", exclude_unset=True),
            "real": SIDE_RUNS.dump_python(reference.real, mode="json"),
        }
        for reference in references
    ]
    return {"document": str(document), "references": rows}


def played(job: Json) -> Json:
    """Run agents on a simulation, as a job says. Return their runs, one entry for each task."""
    return anyio.run(_played, job)


async def _played(job: Mapping[str, Json]) -> list[Json]:
    document = Path(job["document"])
    sides = list[Json]()
    for row in job["references"]:
        task, real = Task.model_validate(row["task"]), SIDE_RUNS.validate_python(row["real"])
        async with open_simulation(str(document), task, [document.parent], empty=True) as side:
            runs = await run_simulation(side, task, real, STREAMS, 1, lambda _: None)
            sides.append(SIDE_RUNS.dump_python(runs, mode="json"))
    return sides


def compared(references: Sequence[Reference], sides: Json) -> list[Validity]:
    """Return how agents rank, from what `played` returned."""
    rows = [SIDE_RUNS.validate_python(side) for side in cast("list[Json]", sides)]
    return [compare(side, reference.real) for side, reference in zip(rows, references, strict=True)]
