"""`mcp-sim measure`: replay recorded sessions of a real server, and report how faithful the answers of a spec are."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import count, share, trust_option, writable_file
from mcp_sim.cli.terminal import Progress, json_option, note, print_json, print_table
from mcp_sim.recordings.columns import COLUMNS
from mcp_sim.recordings.responders import Responders, recorded_answers
from mcp_sim.recordings.score import Report, Scores, measure
from mcp_sim.spec.sessions import read_sessions, single_server
from mcp_sim.spec.sources import is_folder
from mcp_sim.types.readable import printable

SESSIONS_PER_PROCESS = 20  # starting a process costs more than replaying a few sessions
MOST_PROCESSES = 4  # each holds the compiled scenarios: more cost memory
MOST_CRASHES = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "spec",
        metavar="SPEC",
        help="a tool spec, scenario or tools/list result, or other recordings of the same sessions",
    )
    add("recordings", type=Path, metavar="RECORDINGS", help="a file with a recorded session, or a folder of them")
    add("--servers", metavar="GLOB", action="append", help="only servers that match; may be repeated")
    add("--sessions", metavar="GLOB", action="append", help="only sessions that match; may be repeated")
    add("--limit", metavar="N", type=count, help="at most the first N sessions of each server")
    add("--no-cold", action="store_true", help="do not compare with what the list of tools alone gives")
    add("--at-least", metavar="SCORE", type=share, help="exit 1 if the overall score is lower")
    add("--details", metavar="FILE", type=Path, help="write each call that differs, and why, as a line of JSON")
    add("--jobs", metavar="N", type=count, help="processes that share the work; default by sessions")
    trust_option(parser)
    json_option(parser, "the report")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if documents have errors or the score is below --at-least, 2 for invalid usage, 3 for crashes."""
    if args.details is not None:
        writable_file("--details", args.details)
    sessions = read_sessions(args.recordings, args.servers or ["*"], args.sessions or ["*"], args.limit)
    source: str | Responders = args.spec
    if is_folder(Path(args.spec)):
        source = recorded_answers(read_sessions(Path(args.spec)))
    else:
        single_server(sessions)
    processes = args.jobs or max(1, min(MOST_PROCESSES, os.cpu_count() or 1, len(sessions) // SESSIONS_PER_PROCESS))
    progress = Progress(sys.stderr, len(sessions) * (1 if args.no_cold else 2))
    try:
        report = asyncio.run(
            measure(
                source,
                sessions,
                trust=args.trust,
                cold=not args.no_cold,
                processes=processes,
                progress=progress.show,
            )
        )
    finally:
        progress.clear()
    if args.details is not None:
        imperfect = [call.to_json() for call in report.calls if not call.is_perfect]
        replace_file(args.details, "".join(json.dumps(call, ensure_ascii=False) + "\n" for call in imperfect))
    _print(report, as_json=args.json)
    return _exit_code(report, args.at_least)


def _exit_code(report: Report, at_least: float | None) -> int:
    for call in report.crashes[:MOST_CRASHES]:
        note(printable(f"crash: {call.server} {call.session}, call {call.seq}: {call.crash}"))
    if report.crashes:
        number = len(report.crashes)
        note(f"mcp-sim could not answer {number} {'call' if number == 1 else 'calls'}")
        return 3
    if at_least is not None and report.score < at_least:
        note(f"the score {report.score:.4f} is below {at_least:g}")
        return 1
    return 0


def _print(report: Report, *, as_json: bool) -> None:
    if as_json:
        print_json(report.to_json())
        return
    rows = [*_rows(report)]
    print_table(rows, right=range(1, len(rows[0])))


def _rows(report: Report) -> Iterator[list[str]]:
    """Yield a row for each tool and server, and one for what the list of tools alone gives."""
    cold = report.cold
    names = [column.name for column in COLUMNS if column.name in report.overall.columns]
    titles = [name.replace("_", "-") for name in names]
    yield ["tool", "calls", *titles, "form", "behaviour", "score", *(["cold"] if cold else [])]
    is_one = len(report.servers) == 1
    for (server, tool), scores in report.tools.items():
        against = [_number(cold.tools[server, tool].score)] if cold else []
        yield [tool if is_one else f"{server}/{tool}", *_cells(scores, names), *against]
    for server, scores in () if is_one else report.servers.items():
        yield [f"all of {server}", *_cells(scores, names), *([_number(cold.servers[server].score)] if cold else [])]
    yield ["all", *_cells(report.overall, names), *([_number(cold.score)] if cold else [])]
    if cold:
        yield ["cold", *_cells(cold.overall, names), ""]


def _cells(scores: Scores, names: Sequence[str]) -> list[str]:
    columns = [_number(scores.columns.get(name)) for name in names]
    return [str(scores.calls), *columns, *map(_number, (scores.form, scores.behaviour, scores.score))]


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
