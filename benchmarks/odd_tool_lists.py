"""Load odd tool lists and call their tools; print how many are refused, crash, or answer with invalid results.

    python benchmarks/odd_tool_lists.py [--lists N] [--calls N] [--seed N] [--details] [--quick]

The lists are generated from the seed: odd names, keywords, dialects, sizes, contradictions and depths. Each is loaded,
with the errors and warnings of `mcp-sim check`. If it is not refused, its tools are called with arguments that mostly
fit their inputSchema, and with wrong, empty and unknown ones, such as cursors that no list returned. `jsonschema`,
which mcp-sim does not use to judge results, validates every structured result under the outputSchema as it was written.
`no answer` counts calls that crash where a warning said that the tool cannot be answered; any other crash is counted as
a crash. `unjudged` counts results that `jsonschema` could not judge. Exits with 1 if anything crashes, is invalid, or
is too slow.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from table import print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.odd_lists import odd_arguments, odd_list

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Tool, ToolResult
from mcp_sim.types.errors import BadArguments, Crash, DocumentError
from mcp_sim.types.scenario import Scenario

SLOWEST_LOAD = 10.0
SLOWEST_CALL = 10.0
"""Bounds in seconds of processor time. What takes longer is interrupted and counted as a crash."""

JUDGED_WITHIN = 2.0
"""Seconds that the validation of one result may take."""

UNANSWERABLE = "no valid result of {} is generated"
"""The beginning of the warning that a tool cannot be answered."""


class Late(BaseException):
    """Raised when something takes too long. Not an `Exception`, so that nothing in between catches it."""


@dataclass
class Counts:
    """What happened to the lists and calls."""

    lists: int = 0
    refused: int = 0
    warned: int = 0
    calls: int = 0
    succeeded: int = 0
    unanswered: int = 0
    crashes: int = 0
    invalid: int = 0
    unjudged: int = 0
    slowest_load: float = 0.0
    slowest_call: float = 0.0
    slowest: str = ""
    kinds: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, str] = field(default_factory=dict[str, str])

    def note_call(self, seconds: float, shown: str) -> None:
        """Note the slowest call."""
        if seconds > self.slowest_call:
            self.slowest_call, self.slowest = seconds, shown

    def note(self, kind: str, example: str) -> None:
        """Count a problem by its kind, with the first example of it."""
        self.kinds[kind] += 1
        self.examples.setdefault(kind, example)


HEAD = ("lists", "refused", "warned", "calls", "succeeded", "no answer", "crashes", "invalid", "unjudged",
        "load s", "call s")  # fmt: skip


def main(arguments: argparse.Namespace) -> int:
    """Load and call all lists. Return the exit status."""
    counts = Counts()
    with TemporaryDirectory() as folder, suppress(KeyboardInterrupt):  # the table shows the lists so far
        for number in range(arguments.lists):
            name = f"{arguments.seed}/{number}"
            path = Path(folder) / "odd.json"
            path.write_text(odd_list(Random(name)))
            call_list(path, name, arguments.calls, counts)
    if arguments.details:
        for kind, number in counts.kinds.most_common():
            print(f"{number} x {kind}\n    {counts.examples[kind]}")
        print(f"slowest call: {counts.slowest}")
    figures = [getattr(counts, one.name) for one in fields(counts)][: len(HEAD)]
    row = [f"{figure:.2f}" if isinstance(figure, float) else f"{figure:,}" for figure in figures]
    print_table("Odd tool lists", HEAD, [row])
    slow = counts.slowest_load > SLOWEST_LOAD or counts.slowest_call > SLOWEST_CALL
    return 1 if counts.crashes or counts.invalid or slow else 0


def call_list(path: Path, name: str, calls: int, counts: Counts) -> None:
    """Load one list and call its tools."""
    counts.lists += 1
    start = time.process_time()
    try:
        with within(SLOWEST_LOAD):
            scenario = load(path)
    except DocumentError as error:
        counts.refused += 1
        counts.note(f"refused: {kind_of(error)}", name)
        return
    except (Late, Exception) as error:  # noqa: BLE001 (what crashes is counted)
        counts.crashes += 1
        counts.note(f"load: {kind_of(error)}", f"{name} {place_of(error)}")
        return
    finally:
        counts.slowest_load = max(counts.slowest_load, time.process_time() - start)
    warnings = [problem.message for problem in scenario.warnings]
    counts.warned += bool(warnings)
    asyncio.run(call_tools(scenario, Random(f"calls {name}"), name, calls, warnings, counts))


async def call_tools(
    scenario: Scenario, random: Random, name: str, calls: int, warnings: list[str], counts: Counts
) -> None:
    """Call random tools of one scenario."""
    tools = [*scenario.domain.tools.values()]
    async with Simulator(scenario).open() as world:
        for _ in range(calls if tools else 0):
            tool = random.choice(tools)
            given = odd_arguments(tool.definition, random)
            shown = f"{name} {tool.name[:40]!r} {json.dumps(given)[:200]}"
            start = time.process_time()
            counts.calls += 1
            try:
                with within(SLOWEST_CALL):
                    observation = await world.call(tool.id, given)
            except BadArguments:
                continue
            except (Late, Exception) as error:  # noqa: BLE001 (what crashes is counted)
                warned = isinstance(error, Crash) and is_warned(tool.name, warnings)
                counts.unanswered += warned
                counts.crashes += not warned
                counts.note(f"{'no answer' if warned else 'crash'}: {kind_of(error)}", f"{shown} {place_of(error)}")
                continue
            finally:
                counts.note_call(time.process_time() - start, shown)
            counts.succeeded += observation.ok
            if observation.ok and isinstance(observation.body, ToolResult):
                judge(tool, observation.body, shown, counts)


def is_warned(tool: str, warnings: list[str]) -> bool:
    """Whether `check` warned that a tool cannot be answered."""
    return any(warning.startswith(UNANSWERABLE.format(tool)) for warning in warnings)


def judge(tool: Tool, body: ToolResult, shown: str, counts: Counts) -> None:
    """Validate a result under the outputSchema of its tool."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (only the benchmark needs it)
    from jsonschema.validators import validator_for  # noqa: PLC0415 (see above)

    schema = tool.definition.get("outputSchema")
    if schema is None:
        return
    if body.form != "structured":
        counts.invalid += 1
        counts.note("invalid: not structured", shown)
        return
    value = json.loads(json.dumps(body.value))
    try:
        with within(JUDGED_WITHIN):
            validator: Any = validator_for(schema, default=Draft202012Validator)(schema)
            error = next(iter(validator.iter_errors(value)), None)
    except KeyboardInterrupt:
        raise
    except BaseException as failed:  # noqa: BLE001 (the tables of `jsonschema` panic where Python's stack is full)
        counts.unjudged += 1
        counts.note(f"unjudged: {kind_of(failed)}", shown)
        return
    if error is not None:
        counts.invalid += 1
        words = f"{error.validator}: {json.dumps(error.validator_value)[:120]}"
        counts.note(f"invalid: {words}", f"{shown} -> {json.dumps(value)[:300]}")


def kind_of(error: BaseException) -> str:
    """Return an error in a few words."""
    return " ".join(f"{type(error).__name__} {error}".split())[:160]


def place_of(error: BaseException) -> str:
    """Return where an error was raised, or where its cause was."""
    frames = traceback.extract_tb((error.__cause__ or error.__context__ or error).__traceback__)[-3:]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[::-1])


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Raise `Late` if the block takes longer."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise Late(f"no end after {seconds:g} s")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=220, help="number of lists (default 220)")
    parser.add_argument("--calls", type=int, default=50, help="calls per list (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="seed of lists and calls (default 1)")
    parser.add_argument("--details", action="store_true", help="print each kind of problem with an example")
    parser.add_argument("--quick", action="store_true", help="only a few lists")
    given = parser.parse_args()
    if given.quick:
        given.lists, given.calls = 10, 10
    sys.exit(main(given))
