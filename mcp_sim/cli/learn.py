"""`mcp-sim learn`: write a tool spec from recorded sessions, or have a language model write a program from them."""

from __future__ import annotations

import argparse
from pathlib import Path

from mcp_sim.cli import learning, writing
from mcp_sim.cli.parsing import count, trust_option
from mcp_sim.recordings.compiling.subject import read_subject, recorded_subject, with_recordings
from mcp_sim.spec.sessions import read_sessions
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recordings", metavar="RECORDINGS", type=Path, help="a folder of recorded sessions, or a file with one"
    )
    parser.add_argument("--spec", metavar="SPEC", help="the tool spec or list of tools; default: the recorded tools")
    parser.add_argument("--servers", metavar="GLOB", action="append", help="only servers that match; may be repeated")
    parser.add_argument("--sessions", metavar="GLOB", action="append", help="only sessions that match; may be repeated")
    parser.add_argument(
        "--visible", metavar="N", type=count, help="show the model at most N sessions; default: two thirds of them"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="chooses the sessions to hold back; default 0")
    writing.arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="the tool spec to write, default NAME.yaml, here; with --by or --reply the folder for the program, "
        "default that of --spec, else here",
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
        return learning.run(subject, sessions, args, args.output or Path(f"{writing.file_name(subject)}.yaml"))
    subject = with_recordings(writing.with_documentation(subject, args), sessions, args.visible, args.seed)
    folder = args.output or (subject.file.parent if subject.file is not None else Path())
    return writing.run(subject, args, folder / f"{writing.file_name(subject)}.py")
