"""`mcp-sim play`: run calls in one world, without MCP, and print one JSON line per call."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio

from mcp_sim.cli.files import open_trace
from mcp_sim.cli.judging import exit_code, headline, verdict_lines
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import Palette, json_line, note
from mcp_sim.cli.traces import ModelUsage
from mcp_sim.faults.compile import with_intensity
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.yaml12 import LARGEST
from mcp_sim.types import BrokenDelivery, Observation, Record, RpcError, ToolResult
from mcp_sim.types.clock import iso
from mcp_sim.types.errors import BadArguments, Crash, UsageError, did_you_mean
from mcp_sim.types.grades import count_guessed
from mcp_sim.types.json_values import decode
from mcp_sim.types.kinds import Sink
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

STDIN = 0
_HINT = 'Type calls, a line each: {"tool": ..., "arguments": {...}}. Ctrl-D ends.'


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario or tool spec: a file, or a shipped name")
    add(
        "calls",
        metavar="CALLS",
        nargs="?",
        default="-",
        help='file with lines of {"tool": ..., "arguments": {...}}; - (the default): stdin',
    )
    trust_option(parser)
    add("--seed", type=int, metavar="N", help="replace the scenario's seed")
    add("--intensity", type=float, metavar="0..1", help="replace the scenario's intensity of faults")
    add("--clock", choices=["virtual", "real"], help="virtual (the default): delays take no real time")
    add("--trace", type=Path, metavar="FILE", help="write the trace to FILE, as JSONL")
    add("--world-model", metavar="MODEL", help="builtin, openai:MODEL@URL, replay:DIR, upstream:SERVER, shadow:SERVER")
    add("--grade", action="store_true", help="judge the expectations at the end; exit 1 if one fails")
    add("--answer", metavar="TEXT", help="with --grade: the final answer of the agent")
    add("--strict", action="store_true", help="with --grade: verdicts that rest on a guess are inconclusive")


def run(args: argparse.Namespace) -> int:
    """Exit with 2 if a line is not a call or its tool is unknown, 3 after a crash, else 0 or as for --grade.

    Raises `UsageError` for options that only a grade heeds.
    """
    for option, is_given in (("--strict", args.strict), ("--answer", args.answer is not None)):
        if is_given and not args.grade:
            raise UsageError(f"{option} needs --grade")
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # its log has tracebacks; the crash has the reason
    scenario = with_intensity(load(args.scenario, world_model=args.world_model, trust=args.trust), args.intensity)
    with ExitStack() as stack:
        sinks = list[Sink]()
        if args.trace is not None:
            sink = open_trace(args.trace, scenario, [STDIN if args.calls == "-" else Path(args.calls)])
            stack.callback(sink.close)
            sinks.append(sink)
        lines = sys.stdin.buffer if args.calls == "-" else stack.enter_context(_opened(Path(args.calls)))
        if lines.isatty():
            note(_HINT)
        return anyio.run(_play, scenario, sinks, lines, args)


async def _play(scenario: Scenario, sinks: list[Sink], lines: BinaryIO, args: argparse.Namespace) -> int:
    source = "stdin" if args.calls == "-" else args.calls
    crashed, usage, unknown = False, ModelUsage(), False
    if lines.isatty():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the event loop's own waits for the next line
    async with Simulator(scenario, sinks).open(seed=args.seed, clock=args.clock) as world:
        for place, tool, tool_arguments in _calls(lines, source):
            try:
                crashed = not await _step(world, tool, tool_arguments) or crashed
            except BadArguments as error:
                raise UsageError(f"{place}: {error}") from None
            usage.note(world.ledger.newest)
            if not (tool in world.scenario.domain.tools or world.lists(tool)):
                unknown = True
                note(f"{place}: unknown tool {tool!r}{did_you_mean(tool, scenario.domain.tools)}")
        for sentence in usage.lines():
            note(sentence)
        if args.grade:
            await world.probe()
            grade = world.grade(args.answer, strict=args.strict)
            for line in verdict_lines(grade, Palette.of(sys.stderr)):
                note(line)
            if grade.guessed or count_guessed(world.ledger.steps)[0]:
                note(headline(grade, world.ledger.steps, Palette.of(sys.stderr)))
            if not unknown or grade.outcome == "crashed":
                return exit_code([grade.outcome])
    return 3 if crashed else 2 if unknown else 0


async def _step(world: World, tool: str, tool_arguments: Record) -> bool:
    """Make one call, wait for its delay as a client would, and print its line. Return False if it crashed."""
    try:
        observation = await world.call(tool, tool_arguments)
    except Crash as crash:
        _print({"tool": tool, "arguments": tool_arguments, "crash": crash.error})
        return False
    await anyio.sleep(world.clock.wait_seconds(observation.delay))
    step = world.ledger.newest["step"]
    _print(
        {
            "index": step["index"],
            "at": iso(world.clock.start + world.clock.elapsed()),
            "tool": tool,
            "arguments": tool_arguments,
            **_shown(observation),
            "applied": [decided["id"] for decided in step["perturbations"] if decided["outcome"] == "applied"],
            "guessed": step["guessed"],
            **({"source": step["source"]} if "source" in step else {}),
        }
    )
    return True


def _shown(observation: Observation) -> Record:
    """Return what the agent would see, including transport faults."""
    match observation.body:
        case ToolResult() as body:
            structured = body.value if body.form == "structured" else None
            return {"is_error": body.is_error, "structured": structured, "content": body.content}
        case RpcError(code, message, data):
            return {"is_error": True, "rpc_error": {"code": code, "message": message, "data": data}}
        case BrokenDelivery(how, status):
            return {"is_error": True, "broken": {"how": how, "status": status}}


def _calls(lines: BinaryIO, source: str) -> Iterator[tuple[str, str, Record]]:
    """Yield the calls of the input with their places, one per line; empty lines are skipped."""
    for number, line in enumerate(iter(partial(lines.readline, LARGEST + 1), b""), 1):
        place = f"{source}:{number}"
        if len(line) > LARGEST:
            raise UsageError(f"{place}: is longer than {LARGEST >> 20} MiB")
        if line.strip():
            try:
                value: Any = decode(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{place}: not JSON: {error}") from None
            call = cast("Record", value) if isinstance(value, dict) else {}
            tool: Any = call.get("tool")
            tool_arguments: Any = call.get("arguments")
            if not isinstance(tool, str) or not isinstance(tool_arguments, dict | None):
                raise UsageError(f'{place}: a call is {{"tool": NAME, "arguments": {{...}}}}')
            yield place, tool, cast("Record", tool_arguments or {})


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _print(value: Record) -> None:
    sys.stdout.buffer.write(json_line(value))
    sys.stdout.buffer.flush()
