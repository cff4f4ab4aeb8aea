"""`mcp-sim init`: write a first scenario for given tools, with a tool spec and a test."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import anyio

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.terminal import note
from mcp_sim.spec.trust import is_below, is_beside
from mcp_sim.types.errors import UsageError

NO_ANSWER = 4  # the exit code if no server answers

MOST_DOUBTS = 5  # a beginner sees the files first; `mcp-sim check` lists all


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a list of tools, the configuration of an MCP client, a URL, or a shipped tool spec",
    )
    parser.add_argument(
        "--program", action="store_true", help="also write a program for each server: what was inferred of it, to edit"
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="default: here")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if a tool spec has errors, 2 if a file exists already, 4 if no server answers."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # its log has messages, and these may have secrets
    return anyio.run(_run, args.source, args.folder, args.program)


async def _run(reference: str, folder: Path, has_programs: bool) -> int:
    from mcp_sim.runs.starter.starter import make_starter, read_source  # noqa: PLC0415 (loads the SDK)

    source = await read_source(reference)
    for server in source.unreached:
        note(f"{server.name}: {server.reason}")
    if source.unreached and not source.servers:
        return NO_ANSWER
    starter = await make_starter(source, folder, programs=has_programs)
    existing = [str(folder / name) for name in starter.files if (folder / name).exists()]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise UsageError(
            f"{', '.join(existing)} already {verb}, and init overwrites nothing; "
            f"name another folder: mcp-sim init {shlex.quote(reference)} FOLDER"
        )
    for name, text in starter.files.items():
        replace_file(folder / name, text)
    for doubt in starter.doubts[:MOST_DOUBTS]:
        note(doubt)
    spec = source.spec if isinstance(source.spec, Path) else None
    names_outside = spec is not None and not (is_below(spec, folder) or is_beside(spec, folder / "scenario.yaml"))
    reason = "it has a program" if has_programs else "it names a tool spec outside its folder" if names_outside else ""
    print("\n".join(_summary(starter.files, folder, works=starter.works, reason=reason)))
    return 0


def _summary(files: Iterable[str], folder: Path, *, works: bool, reason: str) -> Iterator[str]:
    """Yield what was written, and the commands to go on with. `reason`: why the scenario needs trust, if it does."""
    yield f"Wrote {', '.join(str(folder / name) for name in files)}."
    if not works:
        yield "No calls were found that make a task; write your own into scenario.yaml and script.yaml."
    yield "Next:"
    if folder != Path():
        yield f"  cd {shlex.quote(str(folder))}"
    if reason:
        yield f"  mcp-sim trust scenario.yaml  # {reason}"
    yield "  mcp-sim check scenario.yaml"
    yield "  mcp-sim run scenario.yaml -- python -m mcp_sim.runs.agents verify_then_retry --script script.yaml"
    yield "  mcp-sim run scenario.yaml --seeds 0..4 -- YOUR AGENT COMMAND"
    yield "  pip install pytest && python -m pytest"
