"""`mcp-sim learn`: write a tool spec from recorded sessions, or have a language model write a program from them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

import anyio

from mcp_sim.cli import ranking, writing
from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.parsing import count, trust_option
from mcp_sim.cli.terminal import counted, first_few, note, note_step, print_json, print_table
from mcp_sim.recordings.compiling.subject import Subject, read_subject, recorded_subject, with_recordings
from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.learner import Learnt, learn
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.sessions import Session, read_sessions
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recordings", metavar="RECORDINGS", type=Path, help="a folder of recorded sessions, or a file with one")
    add("--spec", metavar="SPEC", help="the tool spec or list of tools; default: the recorded tools")
    add("--servers", metavar="GLOB", action="append", help="only servers that match; may be repeated")
    add("--sessions", metavar="GLOB", action="append", help="only sessions that match; may be repeated")
    add("--visible", metavar="N", type=count, help="show the model at most N sessions; default: two thirds of them")
    add("--seed", metavar="N", type=int, default=0, help="chooses the sessions to hold back; default 0")
    writing.arguments(parser)
    add(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="the tool spec to write, default NAME.yaml; with --by or --reply the folder for the program, "
        "default that of --spec",
    )
    trust_option(parser)


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if nothing is learnt or documents have errors, 4 if the model does not answer."""
    sessions = read_sessions(args.recordings, args.servers or ["*"], args.sessions or ["*"])
    subject = recorded_subject(sessions)
    if args.spec is not None:
        subject = read_subject(args.spec, args.trust)
    if not subject.tools:
        raise UsageError(f"{args.recordings}: the sessions list no tools; name a list of them with --spec")
    if args.by is None and args.reply is None and not args.show_prompt:
        return _learn(subject, sessions, args, args.output or Path(f"{writing.file_name(subject)}.yaml"))
    subject = with_recordings(writing.with_documentation(subject, args), sessions, args.visible, args.seed)
    folder = args.output or (subject.file.parent if subject.file is not None else Path())
    return writing.run(subject, args, folder / f"{writing.file_name(subject)}.py")


_DEEP = 5  # how many levels of the spec are written as blocks


def _learn(subject: Subject, sessions: Sequence[Session], args: argparse.Namespace, output: Path) -> int:
    """Learn a spec and write it. Return 0, or 1 if nothing was learnt that answers better than the inferred plans."""
    if output.suffix not in {".yaml", ".yml"}:
        raise UsageError(f"-o {output}: must be a YAML file, such as {subject.server}.yaml")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: the folder {output.parent} does not exist")
    ranks = anyio.run(ranking.ranking, replace(subject, held=sessions), args, note_step)
    learnt = anyio.run(learn, Draft.of(subject.document), sessions, note_step, ranks)
    notes = _write(learnt, output)
    report = learnt.to_json()
    if not learnt.is_empty:
        guesses = [plan.tool for plan in load(output, trust=args.trust).guesses]
        report |= {"spec": str(output), "guesses": guesses}
    if args.json:
        print_json(report)
    else:
        print_table([*_rows(report["tools"])], right=range(1, 3))
        where = "held-back sessions" if report["held_back"] else "the second half of the only session"
        scores = report["score"]
        print(f"{report['kept']} of {counted(len(report['tools']), 'tool')}; {where}: {scores['learnt']:.3f}, "
              f"inferred {scores['inferred']:.3f}.")  # fmt: skip
        for line in ranking.lines(report["validity"]):
            print(line)
        if report.get("guesses"):
            guesses = ", ".join(first_few(report["guesses"]))
            print(f"Plans that are still guesses: {guesses}; `mcp-sim plan {quote(report['spec'])}` shows why.")
    for line in notes:
        note(line)
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


def spec_text(document: Record) -> str:
    return "".join(yaml12.dump({key: value}, blocks=_DEEP if isinstance(value, dict) else 1)
                   for key, value in document.items())  # fmt: skip


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
