"""`mcp-sim curriculum`: write the next scenarios for an agent, from what it failed at."""

from __future__ import annotations

import argparse
import inspect
import shlex
from collections.abc import Iterator
from pathlib import Path

import anyio

from mcp_sim.cli.agent_options import Ticker, agent_command, chosen_seeds, journal_header, quieten, run_options
from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import count, script_option, writable_folder
from mcp_sim.cli.terminal import json_option, note, print_json
from mcp_sim.generate.fiction.theme import Theme, read_theme
from mcp_sim.generate.fiction.world import LEAST_ROWS, MOST_ROWS, fiction_scenario, invent, tables
from mcp_sim.libraries.search.pages import read_given_pages
from mcp_sim.models.language_model.domains import DOMAINS, system_text
from mcp_sim.models.language_model.prompt import system
from mcp_sim.runs.agent import AgentNotStarted
from mcp_sim.runs.agents.script import Script, read_as, read_script, script_for
from mcp_sim.runs.comparison import RunsReport, read_report
from mcp_sim.runs.curriculum import Curriculum, Losses, faults_for
from mcp_sim.runs.hunting.case import CaseWriter
from mcp_sim.runs.hunting.faults import Placed, Places
from mcp_sim.runs.hunting.journal import Journal
from mcp_sim.runs.hunting.trials import Setup, Tester, Trial, without_own_faults
from mcp_sim.runs.runner import Settings
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec import yaml12
from mcp_sim.types import Record
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import perturbations
from mcp_sim.types.scenario import Scenario

ORIGIN = "Written by `mcp-sim curriculum`: the scripted agent golden passes, and the agent failed."
NEW_SEEDS = 3
HARDER = 2
"""How many times as many rows a fictional world has as the one before: as many more pages among which to find some."""
CRASHED = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "mcp-sim curriculum RUNS... -o DIR [OPTIONS]"
    parser.add_argument("reports", nargs="+", type=Path, metavar="RUNS", help="JSON reports of runs of one scenario")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="write the scenarios there")
    parser.add_argument("--agent", type=shlex.split, metavar="COMMAND", help="your agent (default: that of the runs)")
    run_options(parser)
    script_option(parser)
    parser.add_argument("--keep", type=count, default=10, metavar="N", help="write at most N scenarios (default 10)")
    parser.add_argument("--runs", type=count, default=200, metavar="N", help="runs of the agent at most (default 200)")
    parser.add_argument("--faults", type=count, default=2, metavar="N", help="faults at a time at most (default 2)")
    parser.add_argument("--fiction", metavar="THEME", help="use new worlds of this theme, with twice the rows")
    parser.add_argument(
        "--domain",
        choices=["mcp", *DOMAINS],
        default="mcp",
        help="the form of the prompt for a language model as the environment (default mcp)",
    )
    json_option(parser, "the scenarios")


@frozen
class _Lesson:
    """A scenario in which faults are placed, at some seeds, and the calls that carry out its task."""

    scenario: Scenario
    source: Path
    script: Script
    seeds: list[int]


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if no scenario was kept, 3 after a crash or if the agent does not start."""
    if args.fiction is not None and args.script is not None:
        raise UsageError("--script does not go with --fiction, whose worlds have tasks and calls of their own")
    reports = [read_report(path) for path in args.reports]
    documents = {report.document: report.scenario for report in reports}
    if len(documents) > 1:
        raise UsageError(f"these are reports of several scenarios: {', '.join(documents.values())}; give those of one")
    source = Path(*documents)
    if not source.is_file():
        raise UsageError(f"{reports[0].path}: its scenario {source} does not exist; run from the same folder")
    args.agent = args.agent or list(reports[0].agent)
    losses = Losses.of(reports)
    if not losses.shares and not losses.without_faults:
        raise UsageError("the agent failed in none of these runs; see `mcp-sim hunt` for faults that it fails at")
    before = load(source, world_model=args.world_model, trust=args.trust)
    agent_command(before, args)
    writable_folder("--output", args.output)
    quieten()
    written, tried = list[Record](), _Tried()
    try:
        for lesson in _lessons(before, source, reports, args):
            left = args.keep - len(written), args.runs - tried.runs
            if min(left) > 0:
                written += anyio.run(_teach, lesson, losses, left, args, tried)
    except (AgentNotStarted, Crash) as error:
        note(f"mcp-sim: {error}")
        return CRASHED
    if args.json:
        print_json({"runs": tried.runs, "unsolved": tried.unsolved, "survived": tried.survived, "scenarios": written})
    else:
        for line in written:
            print(f"{line['scenario']}: seed {line['seed']}, {', '.join(line['faults']) or 'no fault'}")
        solved = f"the agent solved {tried.survived} others, golden failed {tried.unsolved}"
        print(f"Kept {len(written)} in {tried.runs} runs; {solved}.")
    return 0 if written else 1


class _Tried:
    """What was tried in all lessons."""

    runs = unsolved = survived = 0


def _lessons(before: Scenario, source: Path, reports: list[RunsReport], args: argparse.Namespace) -> Iterator[_Lesson]:
    """Yield the scenario with its new seeds, or a new world of the theme for each of them."""
    first = 1 + max((run.seed for report in reports for run in report.runs), default=before.seed)
    seeds = chosen_seeds(before, args.seeds or f"{first}..{first + NEW_SEEDS - 1}")
    if args.fiction is None:
        beside = source.with_name("script.yaml")
        script = args.script or (beside if beside.is_file() else None)
        yield _Lesson(before, source, script_for(before.task) if script is None else read_script(script), seeds)
        return
    theme = read_theme(args.fiction)
    base = Simulator(before).base(before.seed)
    given = sum(base.count(table) for table in theme.tables if table in before.domain.entities)
    if not given:
        raise UsageError(f"--fiction {args.fiction}: the scenario has none of its tables: {', '.join(theme.tables)}")
    rows = min(MOST_ROWS, max(LEAST_ROWS, HARDER * given))
    for seed in seeds:
        yield _fictional(theme, rows, seed, args)


def _fictional(theme: Theme, rows: int, seed: int, args: argparse.Namespace) -> _Lesson:
    """Write a world of a theme. Its script searches and reads a page about each row of the answer."""
    fiction = invent(theme, rows=rows, seed=seed)
    document = fiction_scenario(fiction, Path(args.fiction).stem, seed)
    path = args.output / f"{document['name']}.yaml"
    replace_file(path, yaml12.dump(document, blocks=4))
    table, pages = next(tables(fiction)), read_given_pages(fiction.state())
    names = [str(row[table.expectation["key"]]) for row in table.rows]
    urls = [next(page["url"] for page in pages if name in page["title"]) for name in names]
    calls = [{"call": "web_search", "arguments": {"query": name}} for name in names]
    calls += [{"call": "web_extractor", "arguments": {"url": url}} for url in urls]
    lines = [
        [*table.rows[0]],
        ["---"] * len(table.rows[0]),
        *([str(cell) for cell in row.values()] for row in table.rows),
    ]
    answer = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    script = read_as(Script, {"task": table.ask, "steps": calls, "answer": answer}, path)
    return _Lesson(load(path, world_model=args.world_model, trust=args.trust), path, script, [seed])


async def _teach(
    lesson: _Lesson, losses: Losses, left: tuple[int, int], args: argparse.Namespace, tried: _Tried
) -> list[Record]:
    """Search the next scenarios of a lesson, at most as many, with at most as many runs. Return what was written."""
    scenario, stem = lesson.scenario, lesson.source.stem.replace(".", "-")
    agent = agent_command(scenario, args)
    lesson.script.refuse_unknown(scenario.domain.tools)
    searched = without_own_faults(scenario)
    places = Places(searched, faults_for(scenario, {kind for kind, _ in losses.shares}))
    ticker = Ticker(left[1])
    with Journal(args.output / f"{stem}.curriculum.jsonl", journal_header(searched, args, "virtual")) as journal:
        settings = Settings(agent, "virtual", args.jobs)
        tester = Tester(searched, settings, journal, left[1], lambda _, trial: ticker.note(trial.outcome))
        curriculum = Curriculum(tester, lesson.script, places, losses, args.faults)
        try:
            await curriculum.run(lesson.seeds, left[0])
        finally:
            ticker.close()
            tried.runs += tester.runs
            tried.unsolved += curriculum.unsolved
            tried.survived += curriculum.survived
    writer = CaseWriter(scenario, lesson.source, args.output, args.agent, ORIGIN)
    return [
        _written(lesson, writer, f"{stem}-next-{number}", kept, args) for number, kept in enumerate(curriculum.kept, 1)
    ]


def _written(
    lesson: _Lesson, writer: CaseWriter, name: str, kept: tuple[Setup, Trial], args: argparse.Namespace
) -> Record:
    """Write a scenario, and the instructions for a language model as its environment. Return its line of the report."""
    setup, trial = kept
    files = {
        "scenario": (args.output / f"{name}.yaml", writer.text(name, setup, trial)),
        "instructions": (
            args.output / f"{name}.{args.domain}.md",
            _instructions(args.domain, lesson.scenario, setup, lesson.script) + "\n",
        ),
    }
    for path, text in files.values():
        replace_file(path, text)
    return {
        **{key: str(path) for key, (path, _) in files.items()},
        "seed": setup.seed,
        "faults": [fault.text for fault in setup.faults],
        "because": trial.because,
    }


def _instructions(domain: str, scenario: Scenario, setup: Setup, script: Script) -> str:
    """Return the system prompt of a scenario for a language model that is the environment, in the form of a domain.

    Its instructions say which fault to simulate where. In the domain `search` they have the query and its answer, too.
    """
    texts = dict[str, str]()
    for fault in setup.faults:
        text = f"{_text(fault)} Answer all other calls truthfully."
        texts[fault.tool] = f"{texts[fault.tool]} {text}" if fault.tool in texts else text
    if domain == "mcp":
        return system(scenario.domain, texts)
    lines = [f"- {tool}: {text}" for tool, text in texts.items()]
    lines += [f"Target query: {scenario.task}", f"Reference answer: {script.answer}"] if domain == "search" else []
    return system_text(domain, None, scenario.domain, "\n".join(lines))


def _text(placed: Placed) -> str:
    """Return what a fault does where, as sentences."""
    manual = (inspect.getdoc(perturbations[placed.fault.kind]) or "").partition("\n")[0]
    options = ", ".join(f"{name} {value}" for name, value in placed.fault.options.items())
    calls = "all calls" if placed.nth is None else f"call {placed.nth}"
    return f"At {calls}{f' ({options})' if options else ''}: {manual}"
