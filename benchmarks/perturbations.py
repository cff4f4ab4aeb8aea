"""Measure perturbations that match the called tool but do not fire.

    python benchmarks/perturbations.py [--quick]

Worlds with 0, 10 and 100 rules (40 % probability, 40 % nth, 20 % arguments) take turns in one run, round after round.
The result of a world is the median of its rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from table import micro, print_table, ratio

from mcp_sim import Simulator
from mcp_sim.world.world import World

RULES = (0, 10, 100)
NEVER = 1_000_000_000
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "get": ("get_contact", {"contact_id": "con_00001"}),
    "list, 20 of 250": ("list_deals", {}),
}
HEAD = """\
mcp_sim: 1
name: rules
tools: crm
world:
  records: {company: 100, contact: 500, deal: 250, activity: 150}
"""


def main(*, quick: bool) -> None:
    rounds, calls = (3, 50) if quick else (30, 500)
    with TemporaryDirectory() as folder:
        simulators = [load_simulator(Path(folder, f"{rules}.yaml"), rules) for rules in RULES]
    asyncio.run(measure(simulators, rounds, calls))


def load_simulator(path: Path, rules: int) -> Simulator:
    path.write_text(scenario_text(rules), encoding="utf-8")
    return Simulator.load(path)


def scenario_text(rules: int) -> str:
    entries = "\n".join(f"  - {rule}" for rule in entries_that_never_fire(rules))
    return f"{HEAD}perturbations:\n{entries}\n" if entries else HEAD


def entries_that_never_fire(rules: int) -> Iterator[str]:
    """Yield typical entries: of each ten, four draw, four count calls, two compare an argument."""
    whens = ["{probability: 1.0e-12}"] * 4 + [f"{{nth: {NEVER}}}"] * 4 + ["{arguments: {contact_id: nobody}}"] * 2
    for at in range(rules):
        yield f"{{error: {{status: 503}}, id: rule-{at}, tools: [get_contact, list_deals], when: {whens[at % 10]}}}"


async def measure(simulators: Sequence[Simulator], rounds: int, calls: int) -> None:
    for simulator in simulators:
        await simulator.start()
    for title, (tool, arguments) in CALLS.items():
        spans: dict[int, list[float]] = {rules: [] for rules in RULES}
        for _ in range(rounds):
            for rules, simulator in zip(RULES, simulators, strict=True):
                spans[rules].append(await seconds_per_call(simulator.world(), tool, arguments, calls))
        print_rows(title, {rules: statistics.median(span) for rules, span in spans.items()})
    for simulator in simulators:
        await simulator.aclose()


async def seconds_per_call(world: World, tool: str, arguments: dict[str, Any], calls: int) -> float:
    """Return processor seconds of a call, in a fresh world."""
    await world.call(tool, arguments)
    before = time.process_time()
    for _ in range(calls):
        await world.call(tool, arguments)
    fired = sum(len(step.get("perturbations", ())) for step in world.ledger.steps)
    assert not fired, "a rule fired that should not"
    return (time.process_time() - before) / calls


def print_rows(title: str, figures: dict[int, float]) -> None:
    reference = figures[0]
    rows = [
        [str(rules), micro(span), ratio(span, reference), micro((span - reference) / rules) if rules else "-"]
        for rules, span in figures.items()
    ]
    print_table(f"A call ({title}) under rules that do not fire", ["rules", "us CPU", "ratio", "us per rule"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    main(quick=parser.parse_args().quick)
