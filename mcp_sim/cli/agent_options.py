"""The options of commands that run an agent, and the progress of its runs."""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from mcp_sim import __version__
from mcp_sim.cli.parsing import count, positive_seconds, trust_option
from mcp_sim.cli.terminal import Progress, note
from mcp_sim.runs.agent import AgentCommand, model_keys
from mcp_sim.runs.hunting.journal import PROGRAMS, program_hashes
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.scenario import Scenario

SECONDS_BETWEEN_LINES = 2.0  # a log without a terminal would have a line for each run
MOST_RUNS = 100_000  # a mistyped range of seeds must not start a run of days
_RANGE = re.compile(r"(-?\d+)(?:\.\.(-?\d+))?")


def agent_options(parser: argparse.ArgumentParser) -> None:
    """Add the scenario, the command of the agent, and how it is run."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario: a file, or a shipped name")
    parser.add_argument(
        "agent",
        metavar="AGENT COMMAND",
        nargs="+",
        help="the command of your agent, with the placeholders {task}, {url}, {mcp_config}, {dir}",
    )
    run_options(parser)


def run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    trust_option(parser)
    add("--seeds", metavar="0..49", help="seeds, as 0..49 or 1,2,7 (default: the scenario's)")
    add("--jobs", type=count, default=4, metavar="N", help="runs at a time (default 4)")
    add("--timeout", default="10m", metavar="SPAN", help="time of one run (default 10m)")
    add("--transport", choices=["http", "stdio"], default="http", help="what {mcp_config} describes (default http)")
    add("--answer-file", metavar="FILE", help="file with the agent's final answer (default: its stdout)")
    add("--world-model", metavar="MODEL", help="builtin, openai:MODEL@URL, replay:DIR, upstream:SERVER, shadow:SERVER")


def agent_command(scenario: Scenario, args: argparse.Namespace) -> AgentCommand:
    """Return the command of the agent. Raises `UsageError` if it cannot work."""
    timeout = f"{args.timeout}s" if args.timeout.replace(".", "", 1).isdigit() else args.timeout
    seconds = positive_seconds("--timeout", timeout)
    agent = AgentCommand(tuple(args.agent), seconds, args.transport, args.answer_file, model_keys(scenario))
    agent.check(scenario)
    if args.jobs > 1 and not agent.is_parallel():
        raise UsageError("--answer-file needs {dir}, the folder of each run, as in {dir}/answer.txt, or --jobs 1")
    return agent


def journal_header(scenario: Scenario, args: argparse.Namespace, clock: str) -> Record:
    """Return what identifies the runs of a journal: scenario, agent and options."""
    return {
        "hunt": 1,
        "mcp_sim": __version__,
        "scenario": scenario.sha256,
        "agent": list(args.agent),
        PROGRAMS: program_hashes(args.agent),
        **{name: getattr(args, name) for name in ("timeout", "transport", "answer_file", "world_model")},
        "clock": clock,
    }


def chosen_seeds(scenario: Scenario, text: str | None) -> list[int]:
    """Return the seeds of `--seeds`; the scenario's own without it. Raises `UsageError` if they are invalid."""
    return [scenario.seed] if text is None else seeds_in(text)


def seeds_in(text: str) -> list[int]:
    """Return the seeds of numbers and ranges, such as `0..49` or `1,2,7`. Raises `UsageError`."""
    return list(dict.fromkeys(seed for span in text.split(",") for seed in _span(span.strip(), text)))


def _span(span: str, text: str) -> range:
    match = _RANGE.fullmatch(span)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last:
        raise UsageError(f"--seeds takes numbers and ranges from low to high, as in 0..49 or 1,2,7, not {text!r}")
    if last - first >= MOST_RUNS:
        raise UsageError(f"--seeds: these are more than {MOST_RUNS} runs")
    return range(first, last + 1)


def quieten() -> None:
    """Leave the logs of libraries out of the output of runs."""
    for logger in ("mcp", "httpx2", "openai", "uvicorn", "mcp_sim.server"):
        logging.getLogger(logger).setLevel(logging.ERROR)


@dataclass(slots=True)
class Ticker:
    """Progress on stderr: a bar on a terminal, otherwise a line every few seconds."""

    total: int
    counts: Counter[str] = field(default_factory=Counter[str])
    shown: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        Progress(sys.stderr, self.total).show(0, "")

    def note(self, outcome: str) -> None:
        """Count a run, and show the progress."""
        self.counts[outcome] += 1
        text = ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items())
        done = self.counts.total()
        if sys.stderr.isatty():
            Progress(sys.stderr, self.total).show(done, text)
        elif done < self.total and time.monotonic() - self.shown >= SECONDS_BETWEEN_LINES:
            self.shown = time.monotonic()
            note(f"{done} of {self.total} runs: {text}")

    def say(self, text: str) -> None:
        """Print a line above the progress."""
        self.close()
        note(text)

    def close(self) -> None:
        Progress(sys.stderr, self.total).clear()
