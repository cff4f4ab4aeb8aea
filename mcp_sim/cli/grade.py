"""`mcp-sim grade`: judge the worlds of a trace by the expectations of their scenario."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mcp_sim.cli.files import read_text
from mcp_sim.cli.judging import exit_code, grade_lines, report_json
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import Palette, json_option, note, print_json
from mcp_sim.cli.traces import WorldTrace, only_world, read_header, read_worlds
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.explain import as_it_ran
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.sources import shipped
from mcp_sim.types import Record
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.grades import Grade
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.trace import FORMAT, step_from_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", type=Path, metavar="TRACE", help="a file that --trace wrote")
    parser.add_argument("--scenario", metavar="SCENARIO", help="the scenario; needed if its file was moved")
    parser.add_argument("--world", metavar="NAME", help="only this world")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--answer", metavar="TEXT", help="the agent's final answer, if the trace lacks it")
    answer.add_argument("--answer-file", type=Path, metavar="FILE", help="a file with the agent's final answer")
    parser.add_argument("--strict", action="store_true", help="verdicts that rest on a guess are inconclusive")
    trust_option(parser)
    json_option(parser, "the grades")


def run(args: argparse.Namespace) -> int:
    """Exit as for the worst grade: 0 passed, 1 failed, 3 crashed, 4 inconclusive or not exercised."""
    answer = args.answer if args.answer_file is None else read_text(args.answer_file)
    worlds = read_worlds(args.trace)
    if not worlds:
        raise UsageError(f"{args.trace} has no world to judge")
    if args.world is not None or answer is not None:
        world = only_world(worlds, args.world, args.trace)
        worlds = {world.world: world}
    scenario = scenario_of(args.trace, args.scenario, args.trust)
    grades = dict(grades_of(worlds, scenario, args.trace, answer, strict=args.strict))
    if args.json:
        print_json(report_json(scenario, grades))
    else:
        palette = Palette.of(sys.stdout)
        for name, grade in grades.items():
            for line in grade_lines(name, grade, worlds[name].since_opening(), palette):
                print(line)
    if any(verdict.outcome == "not judged" for grade in grades.values() for verdict in grade.verdicts):
        note("not judged: the final answer; give it with --answer TEXT or --answer-file FILE")
    return exit_code(grade.outcome for grade in grades.values())


def scenario_of(trace: Path, wanted: str | None = None, trust: Iterable[Path] = ()) -> Scenario:
    """Return the scenario of a trace: the `wanted` one, or the file that the trace names, or a shipped one.

    `trust`: trusted files and folders. A scenario that has changed since is reported on stderr. Raises `UsageError` if
    it cannot be found.
    """
    header = read_header(trace)
    scenario = load(wanted or named_scenario(trace, header), trust=trust)
    if scenario.sha256 != header.get("sha256"):
        note(f"{trace} was made with another version of {scenario.path}")
    return scenario


def named_scenario(trace: Path, header: Record) -> str:
    """Return the scenario that a trace names. Raises `UsageError` if it cannot be found."""
    reference = reference_of(header)
    if reference is None:
        raise UsageError(f"cannot find the scenario {header.get('scenario')!r} of {trace}; name it with --scenario")
    return reference


def reference_of(header: Record) -> str | None:
    """Return the scenario that a trace names, if it is a file or one that ships."""
    path = header.get("path")
    if isinstance(path, str) and Path(path).is_file():
        return path
    name = str(header.get("scenario")).replace("-", "_")
    return name if name in shipped("scenarios") else None


def grades_of(
    worlds: Mapping[str, WorldTrace], scenario: Scenario, trace: Path, answer: str | None, *, strict: bool
) -> Iterator[tuple[str, Grade]]:
    """Yield the grade of each world of a trace. Raises `UsageError` if the file is not a trace."""
    for name, world_trace in worlds.items():
        try:
            if world_trace.steps[0]["entry"] != "reset":
                raise UsageError(f"{trace}: the first steps of world {name} are missing, so that it cannot be judged")
            steps = world_trace.since_opening()
            simulator = Simulator(as_it_ran(scenario, steps))
            world = simulator.repeated(world_trace.world, [step_from_json(step) for step in steps])
            crash = world_trace.crash_since_opening()
            if crash is not None:
                world.crashed = str(Crash(crash["tool"], crash["error"]))
            yield name, world.grade(world_trace.answer if answer is None else answer, strict=strict)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = f"a step of world {name} is broken ({type(error).__name__}: {error})"
            raise UsageError(f"{trace} is not a trace of format {FORMAT}: {reason}") from None
