"""`mcp-sim validity`: whether agents rank on a simulation as they do on a real server."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import anyio

from mcp_sim.cli.parsing import count, number, trust_option
from mcp_sim.cli.terminal import Palette, Progress, json_option, note, print_json
from mcp_sim.runs.agents.strategies import SKILLS
from mcp_sim.runs.validity.comparison import Validity, compare, run_real, run_simulation
from mcp_sim.runs.validity.recorded_task import recorded_task, with_recording
from mcp_sim.runs.validity.sides import is_document, open_side, open_simulation
from mcp_sim.runs.validity.task import read_task
from mcp_sim.types.readable import printable, table_lines

STREAMS = 6  # with 16 agents 96 runs on each side; a real server that starts in a second needs two minutes
VALID = 0.8  # the rank correlation from which on a simulation is called valid for a task


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="the simulation: a tool spec, scenario, or tools/list result")
    parser.add_argument(
        "--against",
        required=True,
        metavar="SERVER",
        help="the real server's command ({folder}: a new folder for each run), or a document",
    )
    parser.add_argument(
        "--task",
        required=True,
        type=Path,
        metavar="FILE",
        help="a task in YAML (prepare, steps, goal), or a recorded session whose writes are the task",
    )
    parser.add_argument("--streams", metavar="N", type=count, default=STREAMS, help=f"fault streams; default {STREAMS}")
    parser.add_argument("--jobs", metavar="N", type=count, default=2, help="runs at a time; default 2")
    parser.add_argument(
        "--at-least", metavar="RHO", type=partial(number, -1, 1), help="exit 1 if the rank correlation is lower"
    )
    trust_option(parser)
    json_option(parser, "the report")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if rho is below --at-least or not defined, 2 for invalid usage, 3 for crashes."""
    progress = Progress(sys.stderr, len(SKILLS) * args.streams * 2)
    try:
        validity = anyio.run(_compared, args, progress)
    finally:
        progress.clear()
    if args.json:
        print_json(validity.to_json())
    else:
        print("\n".join(map(printable, _lines(validity))))
    if args.at_least is not None and (validity.rho is None or validity.rho < args.at_least):
        note(f"the rank correlation is below {args.at_least:g}")
        return 1
    return 0


async def _compared(args: argparse.Namespace, progress: Progress) -> Validity:
    task, session = with_recording(read_task(args.task))
    empty = not is_document(args.against)
    async with AsyncExitStack() as stack:
        progress.show(0, f"starting {args.against}")
        real = await stack.enter_async_context(open_side(args.against, task, args.trust, empty=empty))
        spec = await stack.enter_async_context(open_simulation(args.spec, task, args.trust, empty=empty))
        if session is not None:
            task = recorded_task(task, session, real.domain)
        done = itertools.count(step=args.jobs)

        def notify(text: str) -> None:
            progress.show(next(done), text)

        real_runs = await run_real(real, task, args.streams, args.jobs, notify)
        return compare(await run_simulation(spec, task, real_runs, args.streams, args.jobs, notify), real_runs)


def _lines(validity: Validity) -> Iterator[str]:
    first, second = validity.means
    rows = [["agent", validity.names[0], validity.names[1]]]
    rows += [[name, f"{first[name]:.3f}", f"{second[name]:.3f}"] for name in SKILLS]
    heading, *others = table_lines(rows, right=range(1, 3))
    yield Palette.of(sys.stdout).bold(heading)
    yield from others
    yield _rho_line(validity)
    if validity.faultless[0] < 1:
        yield f"without faults the best agent reaches {validity.faultless[0]:.3f} of the goal on {validity.names[0]}:"
        yield from (f"    {problem}" for problem in validity.problems[0][:3])
    for parting in validity.partings:
        yield f"{parting.runs} runs part at {parting.tool}: it {parting.why}"
        yield from (f"    {name}: {text}" for name, text in zip(validity.names, parting.answers, strict=True))


def _rho_line(validity: Validity) -> str:
    if validity.rho is None:
        return "rank correlation: none, since all agents score the same on one side: not valid for this task"
    interval = validity.interval
    shown = "" if interval is None else f", 95 % interval {interval.low:.2f} to {interval.high:.2f} (bootstrap)"
    verdict = "valid" if validity.rho >= VALID else "not valid"
    return f"rank correlation (Spearman's rho): {validity.rho:.2f}{shown}: {verdict} for this task"
