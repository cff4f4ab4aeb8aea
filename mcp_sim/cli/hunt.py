"""`mcp-sim hunt`: search for faults that make an agent fail, and write them as regression tests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import anyio

from mcp_sim.cli.agent_options import Ticker, agent_command, agent_options, chosen_seeds, journal_header, quieten
from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import count, writable_folder
from mcp_sim.cli.terminal import Palette, counted, json_option, note, print_json
from mcp_sim.runs.agent import AgentCommand, AgentNotStarted
from mcp_sim.runs.hunting.case import CaseWriter
from mcp_sim.runs.hunting.faults import Placed, Places, chosen_faults
from mcp_sim.runs.hunting.journal import Journal
from mcp_sim.runs.hunting.search import Aims, FailsWithoutFaults, Search, Weakness
from mcp_sim.runs.hunting.trials import Tester, without_own_faults
from mcp_sim.runs.runner import Settings
from mcp_sim.runs.starter.texts import test_text
from mcp_sim.server.standard_streams import leave_at_signals
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import is_shipped, locate
from mcp_sim.types import Record
from mcp_sim.types.errors import Crash
from mcp_sim.types.scenario import Scenario

ORIGIN = "Found by `mcp-sim hunt`: with these faults the agent failed, without them it passed."
FOUND, CRASHED, UNDECIDED = 1, 3, 4  # 2 is argparse's; the others are those of `mcp-sim run`
MOST_ALSO = 6  # the report of a weakness fits on a screen


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    parser.usage = "mcp-sim hunt SCENARIO [OPTIONS] -- AGENT COMMAND..."
    agent_options(parser)
    add("--runs", type=count, default=200, metavar="N", help="runs of the agent at most (default 200)")
    add("--faults", type=count, default=2, metavar="N", help="faults at a time at most (default 2)")
    add("--weaknesses", type=count, default=5, metavar="N", help="stop after finding N (default 5)")
    add("--kinds", metavar="KIND,...", help="kinds of faults to try (default: all that hunts try)")
    add("--tools", metavar="GLOB,...", help="tools to try faults at (default: all)")
    add("--clock", choices=["virtual", "real"], default="virtual", help="virtual (the default): delays take no time")
    add("-o", "--output", type=Path, metavar="DIR", help="folder of the regression tests (default: the scenario's)")
    add("--journal", type=Path, metavar="FILE", help="the runs so far (default: SCENARIO.hunt.jsonl in that folder)")
    json_option(parser, "the weaknesses")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 if the agent survived everything, 1 if it has weaknesses, 3 after a crash, 4 if it is undecided."""
    scenario = load(args.scenario, world_model=args.world_model, trust=args.trust)
    agent = agent_command(scenario, args)
    hunt = _Hunt(scenario, agent, args)
    quieten()
    with Journal(hunt.journal, hunt.header) as journal:
        if journal.length:
            note(f"{journal.length} runs are taken from {hunt.journal}; delete it if the agent has changed since")
        try:
            received = anyio.run(hunt.search, journal)
        except (AgentNotStarted, Crash) as error:
            note(f"mcp-sim: {error}")
            if hunt.weaknesses:
                hunt.report(as_json=args.json)
            return CRASHED
        except FailsWithoutFaults as error:
            note(f"mcp-sim: {error}")
            note("A hunt begins with an agent that passes; see `mcp-sim run --no-faults`.")
            return UNDECIDED
    hunt.report(as_json=args.json)
    if received:
        note(f"interrupted; the same command goes on from {hunt.journal}")
        return 128 + received[0]
    return hunt.exit_code


class _Hunt:
    """A hunt from its options to its files."""

    def __init__(self, scenario: Scenario, agent: AgentCommand, args: argparse.Namespace) -> None:
        """Check all options before anything runs. Raises `UsageError`."""
        source = locate(args.scenario)
        self.args, self.scenario = args, without_own_faults(scenario)
        self.folder = writable_folder("--output", args.output or (Path() if is_shipped(source) else source.parent))
        self.stem = source.stem.replace(".", "-")
        self.journal = args.journal or self.folder / f"{self.stem}.hunt.jsonl"
        self.settings = Settings(agent, args.clock, args.jobs)
        self.writer = CaseWriter(scenario, source, self.folder, args.agent, ORIGIN)
        faults = chosen_faults(None if args.kinds is None else args.kinds.split(","))
        self.places = Places(self.scenario, faults, [] if args.tools is None else args.tools.split(","))
        self.last_search: Search | None = None
        self.runs, self.is_complete = 0, False

    @property
    def header(self) -> Record:
        """What identifies the hunt: trials of another one say nothing about this."""
        return journal_header(self.scenario, self.args, self.args.clock)

    async def search(self, journal: Journal) -> list[int]:
        """Make the search. Return the signals that ended it."""
        ticker = Ticker(self.args.runs)
        tester = Tester(
            self.scenario, self.settings, journal, self.args.runs, lambda _, trial: ticker.note(trial.outcome)
        )
        aims = Aims(self.args.faults, self.args.weaknesses)
        self.last_search = Search(tester, self.places, aims, ticker.say)
        with anyio.CancelScope() as scope, leave_at_signals(scope.cancel) as received:
            try:
                self.is_complete = await self.last_search.run(chosen_seeds(self.scenario, self.args.seeds))
            finally:
                self.runs = tester.runs
                ticker.close()
        return received

    @property
    def weaknesses(self) -> Sequence[Weakness]:
        return () if self.last_search is None else self.last_search.weaknesses

    @property
    def exit_code(self) -> int:
        return FOUND if self.weaknesses else 0

    def report(self, *, as_json: bool) -> None:
        """Write the regression tests, and print what was found."""
        ranked = sorted(self.weaknesses, key=lambda weakness: not weakness.is_avoidable)
        ranked_files = [(weakness, self._write(weakness)) for weakness in ranked]
        if as_json:
            print_json(
                {
                    "runs": self.runs,
                    "complete": self.is_complete,
                    "weaknesses": [_as_json(ranked_weakness, file) for ranked_weakness, file in ranked_files],
                }
            )
            return
        palette = Palette.of(sys.stdout)
        for number, (weakness, file) in enumerate(ranked_files, 1):
            print(palette.bold(f"{number}. {_text(weakness.setup.faults)}"))
            print("\n".join(f"   {line}" for line in self._details(weakness, file)))
        count = counted(len(ranked_files), "weakness", "weaknesses") if ranked_files else "no weakness"
        colour = palette.red if ranked_files else palette.green
        print(colour(f"Found {count} in {counted(self.runs, 'run')}; {self._ended}."))

    @property
    def _ended(self) -> str:
        """Why the search ended."""
        if len(self.weaknesses) >= self.args.weaknesses:
            return f"--weaknesses {self.args.weaknesses} ended the search"
        if self.is_complete:
            return "nothing else was left to try"
        return f"--runs {self.args.runs} ended the search" if self.runs >= self.args.runs else "it was cut short"

    def _details(self, weakness: Weakness, file: Path) -> Iterator[str]:
        yield from weakness.trial.because.splitlines()
        if weakness.is_steady is False:
            yield "When the run was repeated, the agent did not fail in this way."
        if not weakness.is_avoidable:
            yield "No agent could have avoided it: it gets no sign of the fault, and no tool shows what was written."
        for also in weakness.also[:MOST_ALSO]:
            yield f"also: {_text(also)}"
        if len(weakness.also) > MOST_ALSO:
            yield f"also: {len(weakness.also) - MOST_ALSO} more"
        yield f"wrote {file} and {file.with_name(_test_name(file))}"

    def _write(self, weakness: Weakness) -> Path:
        """Write a weakness as a scenario and a test, and return the file of the scenario."""
        number = 1
        while True:
            file = self.folder / f"{self.stem}-hunt-{number}.yaml"
            text = self.writer.text(file.stem, weakness.setup, weakness.trial)
            if not file.exists() or file.read_text(encoding="utf-8") == text:
                break
            number += 1
        replace_file(file, text)
        test = file.with_name(_test_name(file))
        if not test.exists():
            replace_file(test, test_text(file.name, self.args.agent))
        return file


def _test_name(file: Path) -> str:
    return f"test_{file.stem.replace('-', '_')}.py"


def _text(faults: Sequence[Placed]) -> str:
    return " + ".join(fault.text for fault in faults)


def _as_json(weakness: Weakness, file: Path) -> Record:
    return {
        "faults": [fault.entry() for fault in weakness.setup.faults],
        "seed": weakness.setup.seed,
        "steady": weakness.is_steady,
        "avoidable": weakness.is_avoidable,
        **{name: value for name, value in asdict(weakness.trial).items() if name in ("because", "failed", "called")},
        "also": [[fault.entry() for fault in faults] for faults in weakness.also],
        "file": str(file),
    }
