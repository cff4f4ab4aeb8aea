"""`mcp-sim check`: every problem of scenarios and tool specs, each with its place."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import asdict
from pathlib import Path

import anyio

from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import MOST_NAMED, Palette, counted, json_option, print_json
from mcp_sim.simulator.compile import Checked, checked
from mcp_sim.types.errors import Problem, UsageError
from mcp_sim.types.scenario import Scenario

_IN_SCRIPTS = (re.compile(rb"^task:", re.MULTILINE), re.compile(rb"^steps:", re.MULTILINE))
"""What begins lines of the script of an agent. Scenarios have no steps."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a scenario, tool spec, script or tools/list result: a file, a folder, or a shipped name",
    )
    trust_option(parser)
    json_option(parser, "the problems")
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings too, such as guessed plans")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or with 1 if a document has an error, or with --strict a warning."""
    documents = [
        document
        for path in args.paths
        for document in (_checked_script(Path(path)) if _is_script(Path(path)) else checked(path, args.trust))
    ]
    checked_documents = [
        (file, [*problems, *([] if scenario is None else _problems_in_worlds(scenario))])
        for file, problems, scenario in documents
    ]
    if args.json:
        print_json([asdict(problem) for _, problems in checked_documents for problem in problems])
    else:
        palette = Palette.of(sys.stdout)
        for file, problems in checked_documents:
            # Of warnings without a line, only the first are shown.
            placeless = [problem for problem in problems if not problem.line and problem.severity == "warning"]
            rest = placeless[MOST_NAMED - 1 :] if len(placeless) > MOST_NAMED else []
            for problem in (problem for problem in problems if problem not in rest):
                print(palette.red(str(problem)) if problem.severity == "error" else palette.yellow(str(problem)))
            if rest:
                print(palette.yellow(f"{file}: warning: {len(rest)} more like these; --json lists all"))
            if not _has_error(problems):
                warnings = f", {counted(len(problems), 'warning')}" if problems else ""
                print(f"{file}: {palette.green('ok')}{warnings}")
    return 1 if any(problems if args.strict else _has_error(problems) for _, problems in checked_documents) else 0


def _is_script(path: Path) -> bool:
    """Whether a file has the calls of a scripted agent, as `init` writes them beside a scenario."""
    if path.suffix not in {".yaml", ".yml"} or not path.is_file():
        return False
    data = path.read_bytes()
    return all(pattern.search(data) for pattern in _IN_SCRIPTS)


def _checked_script(path: Path) -> list[Checked]:
    """Return a script of an agent with its problems."""
    from mcp_sim.runs.agents.script import read_script  # noqa: PLC0415 (it loads the SDK, and few files are scripts)

    try:
        read_script(path)
    except UsageError as error:
        return [(str(path), [Problem(str(path), 0, "", str(error).removeprefix(f"{path}: "))], None)]
    return [(str(path), [], None)]


def _problems_in_worlds(scenario: Scenario) -> list[Problem]:
    """Return why no world can be opened, else the warnings of what is tried in worlds."""
    from mcp_sim.simulator.check_calls import problems_at_start  # noqa: PLC0415 (it loads the generators)

    return anyio.run(problems_at_start, scenario) or [*_idle_passes(scenario), *_failing_tools(scenario)]


def _idle_passes(scenario: Scenario) -> list[Problem]:
    """Return a warning for each agent that passes a scenario without doing its task."""
    if not scenario.expectations:
        return []
    from mcp_sim.runs.agents.trials import passing_without_the_task  # noqa: PLC0415 (it loads the SDK)

    sentences = anyio.run(passing_without_the_task, scenario)
    return [Problem(scenario.path, 0, "expect", sentence, "warning") for sentence in sentences]


def _failing_tools(scenario: Scenario) -> list[Problem]:
    """Return a warning for each tool whose valid call crashes, or contradicts what is inferred about the tool."""
    from mcp_sim.simulator.check_calls import failing_tools  # noqa: PLC0415 (it loads the generators)

    sentences = anyio.run(failing_tools, scenario)
    return [Problem(scenario.path, 0, "", sentence, "warning") for sentence in sentences]


def _has_error(problems: list[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
