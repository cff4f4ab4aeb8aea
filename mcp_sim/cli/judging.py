"""Judge the worlds of a server when they end: verdicts on stderr, a report, and the exit code for them."""

from __future__ import annotations

import sys
from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, cast

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.terminal import Palette
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.grades import Grade, GradedVerdict, GradeOutcome, count_guessed, failed_first, guessed_share
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.readable import printable
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

MOST_DETAILS = 20
"""The number of worlds whose verdicts are shown; of the others only the outcome is. A report with the verdicts of
thousands of worlds is not read."""
SECONDS_BETWEEN_REPORTS = 1.0  # the file is written anew each time, and worlds may end by the hundred
MOST_BYTES = 16 * 1024 * 1024
"""The bytes of the grades in a report. Of the worlds after those only the outcomes are counted, under `more`."""


EXIT_CODES: dict[GradeOutcome, int] = {"passed": 0, "failed": 1, "inconclusive": 4, "not exercised": 4, "crashed": 3}


class Judging:
    """Judges worlds by the expectations of their scenario, if it has any or there is a report.

    `say`, if any, writes lines for people. The report is written at most once a second, in the event loop that `judge`
    is called in, and it is complete after `finish`. It keeps the worlds of an earlier report of the same scenario.
    Raises `UsageError` if the report cannot be written.
    """

    def __init__(self, scenario: Scenario, say: Callable[[Iterable[str]], None] | None, report: Path | None) -> None:
        self._scenario, self._report = scenario, report
        self._say: Callable[[Iterable[str]], None] = say or (lambda _: None)
        earlier = {} if report is None else _earlier(report, scenario)
        self._worlds: Record = as_object(earlier.get("worlds"))
        self._more: Record = as_object(earlier.get("more"))
        self._room = MOST_BYTES - len(encode(self._worlds))
        self._judged = 0
        self._written_at = -SECONDS_BETWEEN_REPORTS
        self._due: TimerHandle | None = None
        """The next time to write the report, if it lacks a world."""
        self._write()

    def judge(self, world: World) -> None:
        """Judge a world that has ended, unless no tool was called. The final answer of its agent is not known."""
        if not self._scenario.expectations and self._report is None:
            return
        if not world.version.index and not world.crashed:
            self._say([not_judged(world.name)])
            return
        grade = world.grade()
        self._judged += 1
        lines = list(grade_lines(world.name, grade, world.ledger.steps, Palette.of(sys.stderr)))
        self._say(lines if self._judged <= MOST_DETAILS else lines[:1])
        self._keep(world.name, grade.to_json())
        if self._report is not None and self._due is None:
            wait = self._written_at + SECONDS_BETWEEN_REPORTS - monotonic()
            self._due = get_running_loop().call_later(max(0.0, wait), self.finish)

    def _keep(self, name: str, grade: Record) -> None:
        """Put a grade into the report, instead of an earlier one of the same world; count its outcome if it is full.

        What is counted has no name: a world that ends again there is counted again.
        """
        earlier = self._worlds.pop(name, None)
        self._room += 0 if earlier is None else len(encode({name: earlier}))
        size = len(encode({name: grade}))
        if size <= self._room:
            self._room -= size
            self._worlds[name] = grade
        else:
            self._more[grade["outcome"]] = self._more.get(grade["outcome"], 0) + 1

    def finish(self) -> None:
        """Write the report, if it lacks a world."""
        if self._due is None:
            return
        self._due.cancel()
        self._due, self._written_at = None, monotonic()
        try:
            self._write()
        except UsageError as error:
            self._say([str(error)])

    def _write(self) -> None:
        if self._report is not None:
            more: Record = {"more": self._more} if self._more else {}
            body = {**report_json(self._scenario, {}), "worlds": self._worlds, **more}
            replace_file(self._report, f"{encode(body).decode()}\n")


def _earlier(path: Path, scenario: Scenario) -> Record:
    """Return an earlier report, {} for one of another scenario. Raises `UsageError` if the file is something else."""
    try:
        text = read_whole(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    try:
        earlier: Any = decode(text) if text.strip() else {}
    except (ValueError, RecursionError):
        earlier = None
    report = cast("Record", earlier) if isinstance(earlier, dict) else None
    worlds: Any = {} if report == {} else None if report is None else report.get("worlds")
    if not isinstance(worlds, dict):
        raise UsageError(f"--report {path}: the file is not a report, and would be replaced")
    return report if report and report.get("sha256") == scenario.sha256 else {}


def exit_code(outcomes: Iterable[GradeOutcome]) -> int:
    """Return the exit code for several worlds: that of the worst outcome."""
    codes = {EXIT_CODES[outcome] for outcome in outcomes}
    return next((code for code in (3, 1, 4) if code in codes), 0)


def report_json(scenario: Scenario, grades: Mapping[str, Grade]) -> Record:
    worlds = {name: grade.to_json() for name, grade in grades.items()}
    return {"scenario": scenario.name, "sha256": scenario.sha256, "worlds": worlds}


def not_judged(world: str) -> str:
    """Return what is shown instead of the grade of a world in which nothing happened."""
    return f"world {printable(world)}: not judged, since no tool was called"


def headline(grade: Grade, steps: Sequence[Record], palette: Palette) -> str:
    """Render the outcome, why it is, and how many of the answers in the `steps` of a ledger are guessed."""
    colours = {"passed": palette.green, "failed": palette.red, "crashed": palette.red}
    outcome = colours.get(grade.outcome, palette.yellow)(grade.outcome)
    guessed, calls = count_guessed(steps)
    share = f". {guessed_share(guessed, calls)}" if guessed else ""
    return f"{outcome}: {printable(grade.because)}{share}"


def grade_lines(world: str, grade: Grade, steps: Sequence[Record], palette: Palette) -> Iterator[str]:
    """Yield the outcome of a world, its verdicts, and its reward. `steps` are those of its ledger."""
    yield f"{palette.bold(f'world {printable(world)}')}: {headline(grade, steps, palette)}"
    yield from (f"  {line}" for line in verdict_lines(grade, palette, with_steps=True))
    yield palette.dim(f"  reward {grade.explanation}")


def verdict_lines(grade: Grade, palette: Palette, *, with_steps: bool = False) -> Iterator[str]:
    """Yield a line for each verdict; `with_steps` with the numbers of the deciding steps in the trace."""
    colours = {"passed": palette.green, "failed": palette.red}
    width = max((len(verdict.outcome) for verdict in grade.verdicts), default=0)
    for verdict in failed_first(grade.verdicts):
        word = colours.get(verdict.outcome, palette.yellow)(f"{verdict.outcome:{max(width, 8)}}")
        yield f"{word} {printable(f'{verdict.id}: {verdict.because}')}{_notes(verdict, with_steps=with_steps)}"


def _notes(verdict: GradedVerdict, *, with_steps: bool) -> str:
    """Return the steps that decided a verdict, and its options, in brackets."""
    notes = list[str]()
    if with_steps and verdict.steps:
        notes.append(f"step{'' if len(verdict.steps) == 1 else 's'} {', '.join(map(str, verdict.steps))}")
    is_marked = verdict.guessed and verdict.outcome != "inconclusive"  # then its sentence says so
    for name, holds in (("guessed", is_marked), ("gate", verdict.gate), ("optional", verdict.optional)):
        if holds:
            notes.append(name)
    return f" ({', '.join(notes)})" if notes else ""
