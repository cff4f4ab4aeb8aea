"""Print grades, and choose the exit code for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mcp_sim.cli.terminal import Palette
from mcp_sim.types import Record
from mcp_sim.types.grades import Grade, GradedVerdict, GradeOutcome, failed_first
from mcp_sim.types.readable import printable
from mcp_sim.types.scenario import Scenario

EXIT_CODES: dict[GradeOutcome, int] = {"passed": 0, "failed": 1, "inconclusive": 4, "not exercised": 4, "crashed": 3}


def exit_code(outcomes: Iterable[GradeOutcome]) -> int:
    """Return the exit code for several worlds: that of the worst outcome."""
    codes = {EXIT_CODES[outcome] for outcome in outcomes}
    return next((code for code in (3, 1, 4) if code in codes), 0)


def report_json(scenario: Scenario, grades: Mapping[str, Grade]) -> Record:
    """Return the report of worlds by name, as JSON."""
    worlds = {name: grade.to_json() for name, grade in grades.items()}
    return {"scenario": scenario.name, "sha256": scenario.sha256, "worlds": worlds}


def grade_lines(world: str, grade: Grade, palette: Palette) -> Iterator[str]:
    """Yield the outcome of a world, its verdicts, and its reward."""
    colours = {"passed": palette.green, "failed": palette.red, "crashed": palette.red}
    outcome = colours.get(grade.outcome, palette.yellow)(grade.outcome)
    yield f"{palette.bold(f'world {printable(world)}')}: {outcome}: {printable(grade.because)}"
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
    for name, holds in (("guessed", verdict.guessed), ("gate", verdict.gate), ("optional", verdict.optional)):
        if holds:
            notes.append(name)
    return f" ({', '.join(notes)})" if notes else ""
