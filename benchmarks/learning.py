"""Learn tool specs from recorded sessions, and score them on sessions that they were not learnt from.

    python benchmarks/learning.py DIR [--only a,b] [--except a,b] [--json FILE]

DIR has a folder of recordings for each server (docs/measuring.md), such as `record_servers.py` writes. Each session is
held back once: the spec is learnt from the other sessions of its server (with more than four, in four parts), and
scored on the session. Servers with one session are left out. Prints for each server the composite of `mcp-sim measure`
on held-back sessions, inferred from the list of tools (cold) and with the learnt spec, their difference, and the
columns for structure, echo and exact answers, cold and learnt.

Exit status: 0, or 1 if a server scores lower with the learnt spec.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.learner import learn
from mcp_sim.recordings.learning.selection import folds_of, score
from mcp_sim.recordings.report import Report
from mcp_sim.recordings.score import CallScore
from mcp_sim.spec.sessions import Session, read_sessions

COLUMNS = ("structure", "echo", "exact")


async def compare(sessions: Sequence[Session]) -> tuple[Report, Report]:
    """Return the reports of the inferred and of the learnt answers to held-back sessions."""
    plain = Draft(sessions[0].server, sessions[0].tools)
    cold, learnt = list[CallScore](), list[CallScore]()
    for fold in folds_of(sessions):
        lessons = await learn(plain, fold.seen, lambda _: None)
        cold += await score(plain, fold.held)
        learnt += await score(lessons.draft, fold.held)
    return Report(cold), Report(learnt)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", metavar="DIR", type=Path)
    parser.add_argument("--only", metavar="NAMES", help="only these servers, separated by commas")
    parser.add_argument("--except", metavar="NAMES", dest="without", help="all but these servers")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures as JSON")
    args = parser.parse_args(argv)
    only, without = ((text or "").split(",") for text in (args.only, args.without))
    folders = [path for path in sorted(args.recordings.iterdir()) if path.is_dir() and [*path.glob("*.jsonl")]]
    rows: dict[str, dict[str, float]] = {}
    print(f"{'server':24} sessions   cold learnt   gain  ratio   structure        echo       exact")
    for folder in folders:
        if folder.name in without or (args.only and folder.name not in only):
            continue
        sessions = read_sessions(folder)
        if len(sessions) < 2:
            print(f"{folder.name:24} {len(sessions):8}   (one session: nothing to hold back)")
            continue
        cold, learnt = asyncio.run(compare(sessions))
        row = {"cold": cold.score, "learnt": learnt.score}
        for name in COLUMNS:
            row |= {f"{name}_{kind}": scores.overall.columns.get(name, 0.0) for kind, scores in _kinds(cold, learnt)}
        rows[folder.name] = {**row, "sessions": len(sessions)}
        print(f"{folder.name:24} {len(sessions):8} {_figures(row)}", flush=True)
    if rows:
        means = {key: sum(row[key] for row in rows.values()) / len(rows) for key in next(iter(rows.values()))}
        print(f"{'mean of servers':24} {'':8} {_figures(means)}")
    if args.json is not None:
        args.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    lower = [name for name, row in rows.items() if row["learnt"] < row["cold"] - 1e-9]
    print(f"lower than cold: {', '.join(lower) or 'none'}")
    return 1 if lower else 0


def _kinds(cold: Report, learnt: Report) -> tuple[tuple[str, Report], ...]:
    return ("cold", cold), ("learnt", learnt)


def _figures(row: dict[str, float]) -> str:
    cold, learnt = row["cold"], row["learnt"]
    ratio = learnt / cold if cold else float("nan")
    columns = " ".join(f"{row[f'{name}_cold']:5.3f} {row[f'{name}_learnt']:5.3f}" for name in COLUMNS)
    return f"{cold:6.3f} {learnt:6.3f} {learnt - cold:+6.3f} {ratio:6.2f} {columns}"


if __name__ == "__main__":
    sys.exit(main())
