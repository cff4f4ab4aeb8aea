"""The start of a server, over stdio or HTTP: the report of records, faults and guesses, and garbage collection."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mcp_sim.cli.judging import Judging
from mcp_sim.cli.serve_compile import Compilation
from mcp_sim.cli.terminal import counted, first_few
from mcp_sim.faults.trigger_evaluation import describe
from mcp_sim.server.call_log import CallLog
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.clock import DEFAULT_NOW, Mode, iso
from mcp_sim.types.scenario import PerturbationEntry, Scenario

LEVELS = ("debug", "info", "warning", "error")


class Loaded(NamedTuple):
    """What is served: over stdio, one `server` of its scenario."""

    simulator: Simulator
    server: str
    clock: Mode
    log: CallLog
    judging: Judging
    compilation: Compilation | None


def announcement(
    scenario: Scenario, counts: Mapping[str, int], seed: int, clock: Mode, reference: str
) -> Iterator[str]:
    """Yield the report of a server's start: what is in the world, what may go wrong, and what was guessed."""
    records = ", ".join(first_few([f"{entity} {count}" for entity, count in counts.items()]))
    models = ", ".join(dict.fromkeys(entry.kind for entry in scenario.world_models))
    yield f"  records  {records or 'none'}"
    faults = [entry for entry in scenario.perturbations if entry.enabled]
    width = max((len(entry.id) for entry in faults), default=0)
    for number, entry in enumerate(faults):
        yield f"  {'faults ' if number == 0 else '       '}  {entry.id:{width}}  {_fault(entry)}"
    if not faults:
        yield "  faults   none"
    default = " (default; `world.now` sets it)" if scenario.now == DEFAULT_NOW else ""
    yield f"  seed {seed}, clock {clock}, now {iso(scenario.now)}{default}, world model {models}"
    guessed = [f"{plan.tool}: {plan.verb}{f' {plan.entity}' if plan.entity else ''}" for plan in scenario.guesses]
    if guessed:
        tools = counted(len(scenario.domain.plans), "tool")
        share = f"{len(guessed)} of {tools} {'does' if len(guessed) == 1 else 'do'}"
        yield f"  GUESSED  what {share}; `mcp-sim plan {reference}` shows the lines that correct it:"
    yield from (f"             {guess}" for guess in first_few(guessed))


def _fault(entry: PerturbationEntry) -> str:
    most = "" if entry.fires.max is None else f", at most {entry.fires.max} times"
    silent = ", not visible to the agent" if entry.visible == "implicit" else ""
    return f"{entry.kind} on {', '.join(entry.tools) or 'every tool'}: {describe(entry.when)}{most}{silent}"


def logs_calls(args: argparse.Namespace) -> bool:
    """Whether the log level includes the report at the start, and a line per call."""
    return args.log_level in LEVELS[:2]


def freeze_collector() -> None:
    """Exclude everything loaded so far from garbage collection, since scanning it would slow down single calls."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 1_000)  # a collection of 100,000 new objects takes 0.1 s
    gc.enable()
