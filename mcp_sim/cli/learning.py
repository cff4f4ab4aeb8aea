"""`mcp-sim learn` without a language model: write a tool spec with what recorded sessions show."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

import anyio

from mcp_sim.cli import ranking
from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.output import print_json, table_lines
from mcp_sim.cli.terminal import Palette, StepProgress, counted, first_few
from mcp_sim.recordings.compiling.subject import Subject
from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.learner import Learnt, learn
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError

_DEEP = 5
"""How many levels of the spec are written as blocks."""


def run(subject: Subject, sessions: Sequence[Session], args: argparse.Namespace, output: Path) -> int:
    """Learn a spec and write it. Return 0, or 1 if nothing was learnt that answers better than the inferred plans."""
    if output.suffix not in {".yaml", ".yml"}:
        raise UsageError(f"-o {output}: must be a YAML file, such as {subject.server}.yaml")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: the folder {output.parent} does not exist")
    progress = StepProgress()
    try:
        ranks = anyio.run(ranking.ranking, replace(subject, held=sessions), args, progress.say)
        learnt = anyio.run(learn, Draft.of(subject.document), sessions, progress.say, ranks)
    finally:
        progress.clear()
    notes = _write(learnt, output)
    report = {
        **learnt.to_json(),
        **({} if learnt.is_empty else {"spec": str(output), "guesses": _guesses(output, args)}),
    }
    if args.json:
        print_json(report)
    else:
        _print(report)
    for line in notes:
        print(line, file=sys.stderr)
    return 1 if learnt.is_empty else 0


def _write(learnt: Learnt, output: Path) -> list[str]:
    """Write the spec, and its list of tools beside it. Return sentences about what was written."""
    if learnt.is_empty:
        return [f"Nothing was written: {learnt.why or 'the recordings show nothing that a spec could hold'}."]
    tools = output.with_name(f"{output.stem}.tools.json")
    listed = json.dumps({"tools": [*learnt.draft.tools]}, indent=2, ensure_ascii=False) + "\n"
    notes = list[str]()
    for path, text in ((tools, listed), (output, spec_text(learnt.draft.document(tools.name)))):
        copy = back_up(path)
        replace_file(path, text)
        notes.append(f"Wrote {path}." + (f" Its previous content is in {copy}." if copy is not None else ""))
    return notes


def _guesses(spec: Path, args: argparse.Namespace) -> list[str]:
    """Return the tools of a spec whose plans are guesses."""
    return [plan.tool for plan in load(spec, trust=args.trust).guesses]


def spec_text(document: Record) -> str:
    """Return a tool spec as YAML."""
    return "".join(yaml12.dump({key: value}, blocks=_DEEP if isinstance(value, dict) else 1)
                   for key, value in document.items())  # fmt: skip


def _print(report: Record) -> None:
    heading, *rows = table_lines([*_rows(report["tools"])], right=range(1, 3))
    print(Palette.of(sys.stdout).bold(heading))
    print("\n".join(rows))
    where = "held-back sessions" if report["held_back"] else "the second half of the only session"
    scores = report["score"]
    print(f"{report['kept']} of {counted(len(report['tools']), 'tool')}; {where}: {scores['learnt']:.3f}, "
          f"inferred {scores['inferred']:.3f}.")  # fmt: skip
    for line in ranking.lines(report["validity"]):
        print(line)
    if report.get("guesses"):
        guesses = ", ".join(first_few(report["guesses"]))
        print(f"Plans that are still guesses: {guesses}; `mcp-sim plan {quote(report['spec'])}` shows why.")


def _rows(tools: Record) -> Iterator[list[str]]:
    yield ["tool", "inferred", "learnt", "what", "why not"]
    for name, tool in tools.items():
        yield [
            name,
            _number(tool["inferred_score"]),
            _number(tool["score"]),
            ", ".join(tool["learnt"]) or "-",
            tool["why"],
        ]


def _number(score: Json) -> str:
    return "-" if score is None else f"{score:.3f}"
