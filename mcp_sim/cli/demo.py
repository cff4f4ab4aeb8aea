"""`mcp-sim demo`: run a scripted agent against the flaky CRM over a real MCP connection.

The agent is naive: it takes a timeout for a failure and calls again. The true state at each call is read from the
server's trace. The verdicts come from repeating the same calls in this process, in an identical world.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, cast

import anyio
from mcp_types import CallToolResult, TextContent

from mcp_sim.cli.judging import verdict_lines
from mcp_sim.cli.terminal import Palette
from mcp_sim.server.call_log import fault_lines
from mcp_sim.server.testing import spawned
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Record
from mcp_sim.types.json_values import decode
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.trace import step_from_json

SCENARIO = "flaky_crm"
MOST_TRIES = 4  # the demo ends also where its fault never stops
WIDTH = 110  # longer lines are hard to read
ANSWER = "The deal is created, and in the stage proposal."
"""What the agent reports to its user: it believes so."""

POINT = (
    "The failures are the point of this demo. The first create_deal worked, and only its answer was lost: the "
    "agent that repeats it without a look makes a second deal. An agent that looks first passes."
)

Ask: TypeAlias = Callable[..., Awaitable[Record | None]]
"""Calls a tool, with a comment of the agent. Returns None if the answer is an error."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", choices=["auto", "legacy"], default="auto", help="the agent's protocol era")


def run(args: argparse.Namespace) -> int:
    """Print calls, answers, faults and true states, then the verdicts. Exit with 0."""
    scenario = load(SCENARIO)
    with TemporaryDirectory(prefix="mcp-sim-demo-") as folder:
        trace = Path(folder) / "trace.jsonl"
        anyio.run(_work, scenario, trace, args.mode)
        anyio.run(_judge, scenario, list(_steps(trace)))
    return 0


async def _work(scenario: Scenario, trace: Path, mode: str) -> None:
    paint = Palette.of(sys.stdout)
    print(paint.bold(f"An agent is connected to `mcp-sim serve {SCENARIO}`, over stdio. Its task:"))
    print(textwrap.indent(textwrap.fill(scenario.task, 100), "  "))
    options = ("--trace", str(trace), "--clock", "virtual", "--log-level", "warning")
    async with spawned(SCENARIO, *options, mode=mode) as client:

        async def ask(tool: str, tool_arguments: Record, thought: str = "") -> Record | None:
            """Make a call, and print it, its answer, and what the agent cannot see."""
            result = await client.call_tool(tool, tool_arguments)
            print(f"\n{paint.bold(tool)}{paint.dim(f'   {thought}' if thought else '')}")
            print(_wrapped("  arguments    ", _json(tool_arguments)))
            answer = _wrapped("  agent sees   ", _text(result))
            print(paint.red(answer) if result.is_error else answer)
            for line in fault_lines(step_from_json(list(_steps(trace))[-1])):
                print(f"  {paint.yellow(line.strip())}")
            return None if result.is_error else cast("Record", result.structured_content)

        # A naive agent: it works on the task, and repeats every call that has failed.
        contacts = await ask("search_contacts", {"query": "Ada Vos"})
        ada = contacts["contacts"][0]["id"] if contacts else ""
        spring = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": ada}
        deal = await _until_done(ask, "create_deal", spring)
        await _until_done(ask, "update_deal", {"deal_id": deal["id"], "stage": "proposal"})
        note = {"type": "note", "subject": "Sent the offer", "contact_id": ada, "occurred_at": "2029-03-01T09:00:00Z"}
        await _until_done(ask, "log_activity", {**note, "deal_id": deal["id"]})


async def _until_done(ask: Ask, tool: str, tool_arguments: Record) -> Record:
    for attempt in range(MOST_TRIES):
        result = await ask(tool, tool_arguments, "" if attempt == 0 else "It failed, so once more.")
        if result is not None:
            return result
    return {}


def _text(result: CallToolResult) -> str:
    if result.structured_content is not None:
        return _json(result.structured_content)
    return " ".join(block.text for block in result.content if isinstance(block, TextContent))


def _json(value: Any) -> str:
    """Return JSON that is wrapped between members, not within them."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ":\N{NO-BREAK SPACE}"))


def _wrapped(label: str, text: str) -> str:
    """Return a labelled text as a block of lines. Nothing is cut, so that answers can be compared."""
    whole = textwrap.TextWrapper(
        WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_long_words=False, break_on_hyphens=False
    )
    return whole.fill(text).replace("\N{NO-BREAK SPACE}", " ")


def _steps(trace: Path) -> Iterator[Record]:
    """Return the calls in a trace. Each is written before its answer is sent."""
    entries: list[Any] = [decode(line) for line in trace.read_bytes().splitlines()]
    return (entry["step"] for entry in entries if entry.get("step", {}).get("entry") == "call")


async def _judge(scenario: Scenario, steps: list[Record]) -> None:
    paint = Palette.of(sys.stdout)
    async with Simulator(scenario).open() as world:
        for step in steps:
            await world.call(step["tool"], step["arguments"])
        print(f"\n{paint.bold('Its final answer:')} {ANSWER}")
        print(paint.bold("\nWhat the scenario expected:"))
        for line in verdict_lines(world.grade(ANSWER), paint):
            print(textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent=" " * 11))
    print(f"\n{textwrap.fill(POINT, WIDTH)}")
    print(f"\nYour own agent next:  mcp-sim run {SCENARIO} -- YOUR AGENT COMMAND")
