"""`mcp-sim run`: run an agent in worlds of a scenario, judge what it did, and report."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from mcp_sim.cli.agent_options import MOST_RUNS, Ticker, agent_command, agent_options, chosen_seeds, quieten
from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import count, share, writable_file, writable_folder
from mcp_sim.cli.streams import write_command
from mcp_sim.cli.terminal import Palette, note
from mcp_sim.runs.agent import AgentCommand, AgentNotStarted
from mcp_sim.runs.reports.report import Report
from mcp_sim.runs.reports.text import report_lines
from mcp_sim.runs.results import CLEAN, Condition, RunPlan, RunResult
from mcp_sim.runs.summary import CRASHED, summarise
from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import Crash, Unwritable, UsageError
from mcp_sim.types.scenario import Scenario

SUMMARY = "GITHUB_STEP_SUMMARY"  # the variable that names the file with the summary of a job


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "mcp-sim run SCENARIO [OPTIONS] -- AGENT COMMAND..."
    agent_options(parser)
    parser.add_argument("--repeat", type=count, default=1, metavar="N", help="runs of each seed (default 1)")
    parser.add_argument("--intensity", metavar="0,0.3,0.6", help="intensities of faults, each a condition of its own")
    parser.add_argument("--baseline", action="store_true", help="also run every seed without faults, and compare")
    parser.add_argument("--no-faults", action="store_true", help="run without faults only")
    parser.add_argument(
        "--require", type=share, default=1.0, metavar="0..1", help="the pass rate that is required (default 1)"
    )
    parser.add_argument("--strict", action="store_true", help="verdicts that rest on a guess are inconclusive")
    parser.add_argument("--clock", choices=["virtual", "real"], help="real (the default): delays take real time")
    reports = parser.add_argument_group("reports")
    reports.add_argument("--json", metavar="FILE", help="write everything as JSON; - for stdout")
    reports.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    reports.add_argument("--markdown", type=Path, metavar="FILE", help="write a report for a pull request")
    reports.add_argument("--html", type=Path, metavar="FILE", help="write a page that shows each step of the runs")
    reports.add_argument(
        "--github", action="store_true", help="in GitHub Actions: write the summary of the job, and annotate failures"
    )
    reports.add_argument("--traces", type=Path, metavar="DIR", help="write the trace of every run into a folder")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 if the agent passes, 1 if it fails, 3 after a crash or if it does not start, 4 if it is undecided."""
    scenario = load(args.scenario, world_model=args.world_model, trust=args.trust)
    _check_folders(args)
    # The runs to make: all conditions of a seed one after the other.
    conditions, seeds = _conditions(scenario, args), chosen_seeds(scenario, args.seeds)
    if len(conditions) * len(seeds) * args.repeat > MOST_RUNS:
        raise UsageError(f"these are more than {MOST_RUNS} runs")
    plans = [
        RunPlan(condition, seed, repetition)
        for repetition in range(1, args.repeat + 1)
        for seed in seeds
        for condition in conditions
    ]
    agent = agent_command(scenario, args)
    quieten()
    results, failure, received = list[RunResult](), None, list[int]()
    with _trace_folder(args) as traces:
        try:
            received = anyio.run(_run, scenario, plans, agent, results, args, traces)
        except (AgentNotStarted, Crash, Unwritable) as error:
            failure = error
        report = _report(scenario, plans, results, args)
        if failure is None or results:
            _write(report, args, traces)
    if failure is not None:
        note(f"mcp-sim: {failure}")
        return CRASHED
    return 128 + received[0] if received else report.exit_code


async def _run(
    scenario: Scenario,
    plans: Sequence[RunPlan],
    agent: AgentCommand,
    results: list[RunResult],
    args: argparse.Namespace,
    traces: Path | None,
) -> list[int]:
    """Make the runs. Return the signals that ended them."""
    from mcp_sim.runs.runner import Settings, run_all  # noqa: PLC0415 (loads the SDK)
    from mcp_sim.server.standard_streams import leave_at_signals  # noqa: PLC0415 (see above)

    settings = Settings(agent, args.clock or scenario.clock.mode or "real", args.jobs, args.strict, traces)
    ticker = Ticker(len(plans))

    def done(result: RunResult) -> None:
        results.append(result)
        ticker.note(result.outcome)

    with anyio.CancelScope() as scope, leave_at_signals(scope.cancel) as received:
        try:
            await run_all(scenario, plans, settings, done)
        finally:
            ticker.close()
    return received


# what to run ----------------------------------------------------------------------------------------------------------


def _conditions(scenario: Scenario, args: argparse.Namespace) -> list[Condition]:
    clean = Condition(CLEAN, has_faults=False)
    if args.no_faults and (args.intensity is not None or args.baseline):
        raise UsageError("--no-faults leaves nothing for --intensity and --baseline to compare")
    if args.no_faults or not any(entry.enabled for entry in scenario.perturbations):
        return [clean]
    if args.intensity is None:
        faulted = [Condition("faults")]
    else:
        faulted = [Condition.at(share) for share in _shares(args.intensity)]
    return [clean, *faulted] if args.baseline else faulted


def _shares(text: str) -> list[float]:
    try:
        shares = [float(piece) for piece in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise UsageError(f"--intensity takes numbers from 0 to 1, as in 0,0.3,0.6, not {text!r}")
    return list(dict.fromkeys(shares))


def _check_folders(args: argparse.Namespace) -> None:
    """Raise `UsageError` before anything runs, if a report or a trace cannot be written."""
    if args.github and not os.environ.get(SUMMARY):
        raise UsageError(f"--github works in GitHub Actions, which set {SUMMARY}")
    for option in ("json", "junit", "markdown", "html"):
        path = getattr(args, option)
        if path in (None, "-"):
            continue
        if not Path(path).absolute().parent.is_dir():
            raise UsageError(f"--{option} {path}: there is no folder {Path(path).parent}")
        writable_file(f"--{option}", Path(path))
    if args.traces is not None:
        writable_folder("--traces", args.traces)


@contextmanager
def _trace_folder(args: argparse.Namespace) -> Generator[Path | None]:
    """Yield the folder for the traces: the requested one, or one for the time that it takes to write the page."""
    if args.traces is not None or args.html is None:
        yield args.traces
        return
    with TemporaryDirectory(prefix="mcp-sim-") as folder:
        yield Path(folder)


# reports --------------------------------------------------------------------------------------------------------------


def _report(scenario: Scenario, plans: Sequence[RunPlan], results: list[RunResult], args: argparse.Namespace) -> Report:
    order = {plan: at for at, plan in enumerate(plans)}
    results.sort(key=lambda result: order[result.plan])
    if args.traces is None:
        results = [replace(result, trace=None, errors_file=None) for result in results]
    summary = summarise(scenario, results)
    return Report(
        scenario,
        args.scenario,
        tuple(args.agent),
        results,
        summary,
        args.require,
        len(plans),
        tuple(_options(scenario, args)),
    )


def _options(scenario: Scenario, args: argparse.Namespace) -> list[str]:
    """Return the options that a command needs to repeat a run, also for a user who has not trusted the documents."""
    usual: dict[str, object] = {"answer_file": None, "clock": None, "world_model": None}
    usual |= {"timeout": "10m", "transport": "http", "jobs": args.jobs if args.answer_file is None else 4}
    given = {name: getattr(args, name) for name, value in usual.items() if getattr(args, name) != value}
    words = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    trusted = [word for path in args.trust or scenario.relying for word in ("--trust", str(path))]
    return [*trusted, *words, *(["--strict"] if args.strict else ())]


def _write(report: Report, args: argparse.Namespace, traces: Path | None) -> None:
    """Write the files that were asked for, also those after one that fails, and print the report.

    Raises `UsageError` in the end if one cannot be written: the runs take longer than to free space on a disk.
    """
    failures = list[str]()
    for path, text in _files(report, args, traces):
        try:
            replace_file(path, text)
        except UsageError as error:
            failures.append(str(error))
    if args.json == "-":
        print(_as_json(report))
    else:
        palette = Palette.of(sys.stdout)
        colours = {0: palette.green, 1: palette.red}
        *lines, conclusion = report_lines(report)
        print("\n".join([*lines, colours.get(report.exit_code, palette.yellow)(conclusion)]))
    if args.github:
        from mcp_sim.runs.reports.ci import github_annotations  # noqa: PLC0415 (rarely needed)
        from mcp_sim.runs.reports.markdown import markdown  # noqa: PLC0415 (rarely needed)

        with Path(os.environ[SUMMARY]).open("a", encoding="utf-8") as summary:
            summary.write(markdown(report))
        for line in github_annotations(report):
            write_command(line)
    if failures:
        raise UsageError("\n".join(failures))


def _files(report: Report, args: argparse.Namespace, traces: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield the files that were asked for, with their text."""
    if args.json not in (None, "-"):
        yield Path(args.json), _as_json(report) + "\n"
    if args.junit is not None:
        from mcp_sim.runs.reports.ci import junit  # noqa: PLC0415 (XML is rarely needed)

        yield args.junit, junit(report).decode()
    if args.markdown is not None:
        from mcp_sim.runs.reports.markdown import markdown  # noqa: PLC0415 (rarely needed)

        yield args.markdown, markdown(report)
    if args.html is not None and traces is not None:
        from mcp_sim.cli.viewer.page import runs_page  # noqa: PLC0415 (rarely needed)

        yield args.html, runs_page(report, traces, is_kept=args.traces is not None)


def _as_json(report: Report) -> str:
    return json.dumps(report.to_json(), indent=2, ensure_ascii=False)
