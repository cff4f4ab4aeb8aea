"""`mcp-sim explain`: which call of a trace would fire what, and why the others did not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcp_sim.cli.terminal import Palette
from mcp_sim.cli.traces import Course, courses_of, header_of
from mcp_sim.server.telling import observed, shortened
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.explain import Explainer, Finding, at_intensity_of
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.trace import FORMAT

MARGIN = "    "


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", help="the scenario of the run, or another one that the calls are held against")
    parser.add_argument("--trace", type=Path, metavar="FILE", required=True, help="a file that --trace wrote")
    parser.add_argument("--world", metavar="NAME", help="only this world")
    parser.add_argument("--call", type=int, metavar="N", help="only the N-th call of a world")
    parser.add_argument("--id", metavar="ID", help="only this perturbation")


@dataclass(slots=True)
class _Tally:
    """How often each perturbation had a call in its reach, and how often it was decided for one."""

    reached: dict[str, int] = field(default_factory=dict[str, int])
    decided: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, finding: Finding) -> None:
        self.reached[finding.id] = self.reached.get(finding.id, 0) + 1
        self.decided[finding.id] = self.decided.get(finding.id, 0) + finding.decided


def run(args: argparse.Namespace) -> int:
    """Exit 0; 2 where the file is no trace."""
    scenario = load(args.scenario)
    ids = [entry.id for entry in scenario.perturbations]
    if args.id is not None and args.id not in ids:
        raise UsageError(f"the scenario has no perturbation {args.id!r}{did_you_mean(args.id, ids)}")
    same, courses = header_of(args.trace).get("sha256") == scenario.sha256, courses_of(args.trace)
    _refuse_missing(args, courses)
    palette = Palette.of(sys.stdout)
    if not same:
        print(palette.dim("the trace is of another scenario: what follows is what this one would do to its calls"))
    try:
        for course in courses.values():
            if args.world in (None, course.world):
                _tell(course, scenario, args, palette, is_same=same)
    except (AssertionError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{args.trace} is no trace: {error!r} is not as format {FORMAT} says") from None
    return 0


def _refuse_missing(args: argparse.Namespace, courses: Mapping[str, Course]) -> None:
    """Raises UsageError where the trace has no such world, or no such call in it."""
    if args.world is not None and args.world not in courses:
        raise UsageError(f"{args.trace} has no world {args.world!r}{did_you_mean(args.world, courses)}")
    wanted = [course for course in courses.values() if args.world in (None, course.world)]
    if args.call is not None and not any(step.get("index") == args.call for one in wanted for step in one.steps):
        raise UsageError(f"{args.trace} has no call {args.call}")


def _tell(course: Course, scenario: Scenario, args: argparse.Namespace, palette: Palette, *, is_same: bool) -> None:
    explainer = Explainer(at_intensity_of(scenario, course.steps) if is_same else scenario)
    tally = _Tally()
    print(palette.bold(f"world {course.world}"))
    first = course.steps[course.own]["n"] if course.own < len(course.steps) else 0
    for step, findings in explainer.findings(course.steps, course.own, course.stream):
        wanted = [finding for finding in findings if args.id in (None, finding.id)]
        if step["n"] < first or not wanted:
            continue
        for finding in wanted:
            tally.note(finding)
        if args.call in (None, step["index"]):
            print(_headline(step))
            for finding in wanted:
                print(_line(finding, step, palette, is_same=is_same))
    for line in _summary(scenario, tally, args.id):
        print(palette.dim(line))


def _headline(step: Record) -> str:
    seen = observed(step["served"] or step["truth"]["observation"])
    return f"#{step['index']} {step['tool']} {shortened(step['arguments'])} -> {seen}"


def _line(finding: Finding, step: Record, palette: Palette, *, is_same: bool) -> str:
    recorded = any(one["id"] == finding.id for one in step["perturbations"])
    name, why = f"{finding.id} ({finding.kind})", "; ".join(map(str, finding.why)) or "always"
    more = "".join(f"; {text}" for text in (finding.note, finding.erred and f"it erred: {finding.erred}") if text)
    if is_same and recorded != finding.decided:
        more += f"; the trace has it otherwise: {'decided' if recorded else 'not decided'}"
    if not finding.decided:
        return palette.dim(f"{MARGIN}no    {name}: {why}{more}")
    outcome = f", {finding.outcome.replace('_', ' ')}" if finding.outcome else ""
    return palette.yellow(f"{MARGIN}fires {name}{outcome}: {why}{more}")


def _summary(scenario: Scenario, tally: _Tally, wanted: str | None) -> Iterator[str]:
    """Each perturbation in one line: how many of the calls in its reach it was decided for."""
    for entry in scenario.perturbations:
        if wanted not in (None, entry.id):
            continue
        reached = tally.reached.get(entry.id, 0)
        if not entry.enabled:
            said = "is not enabled"
        elif entry.perturbation.is_timed():
            said = "acts by itself, at no call"
        elif not reached:
            said = f"no call was in its reach ({', '.join(entry.tools) or 'every tool'})"
        else:
            said = f"fires at {tally.decided[entry.id]} of {reached} calls in its reach"
        yield f"{entry.id}: {said}"
