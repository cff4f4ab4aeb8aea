"""`mcp-sim compile`: have a language model write a program for a server, and keep of it what passes the gate."""

from __future__ import annotations

import argparse
from pathlib import Path

from mcp_sim.cli import samples, writing
from mcp_sim.cli.parsing import trust_option
from mcp_sim.recordings.compiling.subject import read_subject
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "spec",
        metavar="SPEC",
        help="a tool spec, a tools/list result, or a scenario with one server, whose state the model sees",
    )
    samples.arguments(parser)
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
    return writing.run(samples.sampled(subject, args), args, args.output)
