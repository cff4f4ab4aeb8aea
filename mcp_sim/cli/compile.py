"""`mcp-sim compile`: have a language model write a program for a server, and keep of it what passes the gate."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

import anyio

from mcp_sim.cli import writing
from mcp_sim.cli.drift import live_server
from mcp_sim.cli.files import read_text
from mcp_sim.cli.parsing import trust_option
from mcp_sim.recordings.compiling.samples import documented_calls, live_calls, sessions_in_order, with_samples
from mcp_sim.recordings.compiling.subject import Subject, read_subject
from mcp_sim.spec.sessions import RecordedCall, read_sessions
from mcp_sim.types.errors import UsageError

_SECONDS = 60.0  # how long a live server may take to start and for one answer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "spec",
        metavar="SPEC",
        help="a tool spec, a tools/list result, or a scenario with one server, whose state the model sees",
    )
    parser.add_argument(
        "--samples-from",
        metavar="FILE|DIR|COMMAND",
        help="show the model one answer of each tool: from recorded sessions, documentation, or a live server",
    )
    parser.add_argument(
        "--sample-tools",
        metavar="GLOB",
        action="append",
        default=[],
        help="also call these tools of a live server, which may write; may be repeated",
    )
    writing.arguments(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="the Python file to write; default: NAME.py beside the spec"
    )
    trust_option(parser)


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if no tool passes the gate or documents have errors, 4 if the model does not answer."""
    subject = writing.with_documentation(read_subject(args.spec, args.trust), args)
    if not subject.tools:
        raise UsageError(f"{args.spec}: lists no tools")
    return writing.run(_sampled(subject, args), args, args.output)


def _sampled(subject: Subject, args: argparse.Namespace) -> Subject:
    """Return a subject with the samples that the command line names. Raises `UsageError` for a source without any."""
    source: str | None = args.samples_from
    if source is None:
        return subject
    path = Path(source)
    # The gate also judges behaviour by recorded sessions.
    sessions = read_sessions(path) if path.is_dir() or path.suffix == ".jsonl" else []
    calls = sessions_in_order(sessions) if sessions else _calls(subject, source, args.sample_tools)
    sampled_subject = with_samples(replace(subject, held=sessions), calls, sessions[0].state if sessions else {})
    if not sampled_subject.samples:
        raise UsageError(
            f"--samples-from {source}: has no answer of a tool of {subject.server}; expected recorded sessions, a "
            "document with an example below the name of a tool, or a command that starts the server"
        )
    return sampled_subject


def _calls(subject: Subject, source: str, allowed: list[str]) -> list[RecordedCall]:
    path = Path(source)
    if path.is_file():
        return documented_calls(read_text(path), subject.tools)
    words = shlex.split(source)
    if not words or (len(words) == 1 and path.suffix in {".md", ".txt", ".json"}):
        raise UsageError(f"--samples-from {source}: no such file or folder")
    return anyio.run(_asked, subject, source, allowed)


async def _asked(subject: Subject, source: str, allowed: list[str]) -> list[RecordedCall]:
    async with live_server("--samples-from", source, {}, _SECONDS).opened() as server:
        return await live_calls(subject, server.call, allowed)
