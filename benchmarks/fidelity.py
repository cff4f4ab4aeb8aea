"""Measure how faithful the simulations are, by form, behaviour and validity; write the means into docs/recording.md.

    python benchmarks/fidelity.py RECORDINGS [--again DIR] [--validity SCRATCH] [--only a,b] [--streams N] [--json FILE]

RECORDINGS has a folder of sessions for each server, as `record_servers.py` writes them; `--again` a second recording of
the same sessions. For each server: what is inferred from its list of tools, what `learn` makes of the sessions (each is
scored by a spec that was learnt from others), the program of the catalogue, and the real server run twice. Of a server
that the catalogue lacks, the program is what `compile` makes of the reply to its prompt in `replies/`.

`--validity`: run the tasks in `validity_tasks/` instead, against the servers that `record_servers.py` has installed
into SCRATCH; the learnt spec is one of all sessions. `--json` keeps the figures: what is not run again keeps its own.

Exit status: 0, 1 if a learnt spec behaves worse than what is inferred, or 2 if the usage is invalid.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from mcp_sim.cli import main as mcp_sim
from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.learner import learn
from mcp_sim.recordings.learning.selection import TOLERANCE, folds_of, score
from mcp_sim.recordings.responders import recorded_answers
from mcp_sim.recordings.score import CallScore, Report, measure
from mcp_sim.runs.validity.comparison import compare, run_real, run_simulation
from mcp_sim.runs.validity.sides import open_side
from mcp_sim.runs.validity.task import read_task
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import Session, read_sessions
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import McpSimError

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "recording.md"
TABLE = re.compile(r"(<!-- written by benchmarks/fidelity.py -->\n\n)(?:\|.*\n)+")
TASKS, DECLARATIONS, REPLIES = HERE / "validity_tasks", HERE / "recorded_servers", HERE / "replies"
KINDS = ("inferred", "learnt", "compiled", "real twice")
Row = dict[str, Any]


def measured(folder: Path, again: Path | None) -> Row:
    """Return form and behaviour of each kind of simulation of one server."""
    sessions = read_sessions(folder)
    row: Row = {"calls": sum(len(session.calls) for session in sessions)}
    if len(sessions) > 1:
        inferred, learnt = asyncio.run(learnt_reports(sessions))
        row |= {"inferred": _halves(inferred), "learnt": _halves(learnt)}
    with tempfile.TemporaryDirectory() as scratch:
        if (document := compiled(folder, Path(scratch))) is not None:
            row["compiled"] = _halves(asyncio.run(measure(document, sessions, trust=True, cold=False)))
    if again is not None and (again / folder.name).is_dir():
        other = recorded_answers(read_sessions(again / folder.name))
        row["real twice"] = _halves(asyncio.run(measure(other, sessions, cold=False)))
    return row


async def learnt_reports(sessions: Sequence[Session]) -> tuple[Report, Report]:
    """Return the reports of the inferred and of the learnt answers to held-back sessions.

    Each session is held back once: the spec is learnt from the others (with more than four, in four parts).
    """
    plain = Draft(sessions[0].server, sessions[0].tools)
    cold, learnt = list[CallScore](), list[CallScore]()
    for fold in folds_of(sessions):
        lessons = await learn(plain, fold.seen, lambda _: None)
        cold += await score(plain, fold.held)
        learnt += await score(lessons.draft, fold.held)
    return Report(cold), Report(learnt)


def compiled(folder: Path, scratch: Path) -> str | None:
    """Return the program of a server: that of the catalogue, else one that `compile` writes; None if there is none."""
    if is_simulated(folder.name, read_sessions(folder)):
        return folder.name
    reply, program = REPLIES / f"{folder.name}.md", scratch / f"{folder.name}.py"
    if not reply.exists():
        return None
    if mcp_sim(["compile", str(folder / "tools.json"), "--reply", str(reply), "-o", str(program)]) != 0:
        raise SystemExit(f"{reply}: not all functions are kept")
    return str(program.with_suffix(".yaml"))


def is_simulated(service: str, sessions: Sequence[Session]) -> bool:
    """Whether the catalogue has the server of this name, and not another one with other tools."""
    if service not in shipped("tool_specs"):
        return False
    tools = {tool.name for tool in load(service).domain.tools.values()}
    return {str(tool["name"]) for session in sessions for tool in session.tools} <= tools


def is_worse(row: Row) -> bool:
    """Whether what is learnt behaves worse than what is inferred."""
    (_, before), (_, after) = (row.get(kind) or (None, None) for kind in ("inferred", "learnt"))
    return (after or 0.0) < (before or 0.0) - TOLERANCE


def _halves(report: Report) -> list[float | None]:
    return [report.overall.form, report.overall.behaviour]


# validity -------------------------------------------------------------------------------------------------------------


def ranked(recordings: Path, scratch: Path, server: str, streams: int) -> dict[str, Row]:
    """Return the validity of each kind of simulation of a server, by task."""
    with tempfile.TemporaryDirectory() as name:
        kinds = simulations(recordings / server, Path(name))
        return {
            path.stem: asyncio.run(ranked_task(path, kinds, command_of(scratch, server), streams, Path(name)))
            for path in sorted((TASKS / server).glob("*.yaml"))
        }


def simulations(folder: Path, scratch: Path) -> dict[str, str]:
    """Return the documents of the simulations of a server; what the catalogue lacks is written."""
    kinds = {"inferred": str(folder / "tools.json")}
    learnt = scratch / "learnt.yaml"
    if mcp_sim(["learn", str(folder), "-o", str(learnt)]) == 0:
        kinds["learnt"] = str(learnt)
    program = compiled(folder, scratch)
    return kinds if program is None else {**kinds, "compiled": program}


def command_of(scratch: Path, server: str) -> str:
    """Return the command of an installed server, with `{folder}` for the folder of a run."""
    declared = yaml.safe_load((DECLARATIONS / f"{server}.yaml").read_text(encoding="utf-8"))
    words = [word.replace("{dir}", "{folder}") for word in declared["command"]]
    places = (scratch / server / "bin", scratch / server / "node_modules" / ".bin")
    program = next((place / words[0] for place in places if (place / words[0]).exists()), Path(words[0]))
    return shlex.join([str(program.absolute()), *words[1:]])


async def ranked_task(path: Path, kinds: dict[str, str], command: str, streams: int, trusted: Path) -> Row:
    """Return rho of each kind, with its interval and the first parting."""
    task, jobs = read_task(path), os.cpu_count() or 1

    def notify(text: str) -> None:
        print(f"\r{path.parent.name} {path.stem}: {text[:60]:60}", end="", file=sys.stderr, flush=True)

    row: Row = {}
    async with open_side(command, task, [], empty=True) as real_side:
        real = await run_real(real_side, task, streams, jobs, notify)
        for kind, document in kinds.items():
            try:
                async with open_side(document, task, [trusted], empty=True) as side:
                    validity = compare(await run_simulation(side, task, real, streams, jobs, notify), real)
            except McpSimError as error:
                row[kind] = {"error": str(error)}
                continue
            row[kind] = validity.to_json()
    print(file=sys.stderr)
    return row


# the page -------------------------------------------------------------------------------------------------------------


def servers_table(rows: dict[str, Row]) -> Iterator[str]:
    """Yield the lines of the table of each server."""
    yield f"| server | calls | {' | '.join(KINDS)} |"
    yield f"| --- | ---: | {' | '.join('---' for _ in KINDS)} |"
    for server, row in rows.items():
        yield f"| {server} | {row['calls']} | {' | '.join(_cell(row.get(kind)) for kind in KINDS)} |"


def means_table(rows: dict[str, Row]) -> Iterator[str]:
    """Yield the lines of the table of the page: the means over the servers that were measured."""
    yield "| answers | servers | calls | form | behaviour |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kind in KINDS:
        measured_rows = [row for row in rows.values() if row.get(kind)]
        halves = (fmean(row[kind][half] or 0.0 for row in measured_rows) if measured_rows else 0.0 for half in (0, 1))
        form, behaviour = (f"{half:.2f}" for half in halves)
        calls = sum(row["calls"] for row in measured_rows)
        yield f"| {kind} | {len(measured_rows)} | {calls} | {form} | {behaviour} |"


def tasks_table(ranks: dict[str, dict[str, Row]]) -> Iterator[str]:
    """Yield the lines of the table of validity."""
    yield f"| task | {' | '.join(KINDS[:3])} |"
    yield f"| --- | {' | '.join('---' for _ in KINDS[:3])} |"
    for server, tasks in ranks.items():
        for task, row in tasks.items():
            yield f"| {server}: {task} | {' | '.join(_rank(row.get(kind)) for kind in KINDS[:3])} |"


def _cell(halves: Sequence[float | None] | None) -> str:
    if halves is None:
        return "-"
    return " / ".join("-" if half is None else f"{half:.2f}" for half in halves)


def _rank(row: Row | None) -> str:
    if row is None:
        return "-"
    if row.get("rho") is None:
        return "none"
    interval = row["interval"]
    return f"{row['rho']:.2f}" + ("" if interval is None else f" ({interval[0]:.2f} to {interval[1]:.2f})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", metavar="RECORDINGS", type=Path)
    parser.add_argument("--again", metavar="DIR", type=Path)
    parser.add_argument("--validity", metavar="SCRATCH", type=Path)
    parser.add_argument("--only", metavar="NAMES", default="")
    parser.add_argument("--streams", metavar="N", type=int, default=6)
    parser.add_argument("--json", metavar="FILE", type=Path)
    args = parser.parse_args()
    kept: Row = {"servers": {}, "validity": {}}
    if args.json is not None and args.json.exists():
        kept = json.loads(args.json.read_text(encoding="utf-8"))
    only = [name for name in args.only.split(",") if name]
    for folder in sorted(path for path in args.recordings.iterdir() if [*path.glob("*.jsonl")]):
        if only and folder.name not in only:
            continue
        if args.validity is None:
            print(f"measuring {folder.name}", file=sys.stderr)
            kept["servers"][folder.name] = measured(folder, args.again)
        elif (TASKS / folder.name).is_dir():
            kept["validity"][folder.name] = ranked(args.recordings, args.validity, folder.name, args.streams)
        if args.json is not None:
            args.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    servers = dict(sorted(kept["servers"].items()))
    print(*servers_table(servers), "", *tasks_table(kept["validity"]), sep="\n")
    table = "".join(f"{line}\n" for line in means_table(servers))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda match: match[1] + table, text), encoding="utf-8")
    print(f"wrote {PAGE}")
    worse = [name for name, row in kept["servers"].items() if is_worse(row)]
    print(f"learnt behaves worse than inferred: {', '.join(worse) or 'nowhere'}")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
