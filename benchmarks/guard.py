"""Take a snapshot of what the product infers and answers, or print every difference to an earlier snapshot.

    python benchmarks/guard.py BEFORE [DIR|FILE ...] [--recordings DIR] [--only SECTIONS] [--first N]

If the file BEFORE does not exist, the snapshot is written there, with the paths of the documents. Otherwise the
snapshot of the same documents is taken again and compared; the exit status is 1 if anything differs. Documents are
tools/list results, OpenAPI documents, and folders of them (as for `plans.py`); the shipped tool specs are always read.

- `plans`: the plans and entities of every document.
- `ledgers`: for each shipped scenario and seeds 0 to 4, the calls of the agent that knows the task, where it has a
  script, and a random walk after them, with the scenario's faults.
- `answers`: a random walk over the tools of every document.
- `oracle`: with recorded sessions, what `oracle.py --mutate` measures of each server; minutes for a thousand calls.

Of each call the tool and a hash of its entry in the ledger are kept, so that the first different call is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import oracle
import plans

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.long_walks import tools_of, unperturbed
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.recordings import read_sessions
from mcp_sim.runs.agents.clients import play
from mcp_sim.runs.agents.script import script_for
from mcp_sim.runs.agents.strategies import STRATEGIES
from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import Crash, McpSimError, UsageError
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

SECTIONS = ("plans", "ledgers", "answers", "oracle")
SEEDS = range(5)
CALLS = 40
"""The calls of a walk: with seeds 0 to 4 of all scenarios, the snapshot takes less than three minutes."""

Calls = dict[str, list[str]]
"""The calls of each run, by the run's name: the tool and a hash of the ledger's entry."""


def main(arguments: argparse.Namespace) -> int:
    """Take the snapshot, and write it or compare it. Return the exit status."""
    earlier: dict[str, Any] | None = (
        json.loads(arguments.before.read_text(encoding="utf-8")) if arguments.before.exists() else None
    )
    places = list(map(str, arguments.places)) or (earlier["places"] if earlier else [])
    if earlier is None and not places:
        sys.exit(f"{arguments.before}: no such snapshot; with documents, a snapshot is taken and written there")
    if missing := [place for place in places if not Path(place).exists()]:
        sys.exit(f"no such file or folder: {', '.join(missing)}")
    recordings: str = arguments.recordings or (earlier["recordings"] if earlier else None) or ""
    snapshot: dict[str, Any] = {"places": places, "recordings": recordings}
    sections = [section for section in arguments.only if section != "oracle" or recordings]
    if "oracle" in sections:
        snapshot["oracle"] = take_oracle(Path(recordings))
    for section in (section for section in TAKEN if section in sections):
        started = time.perf_counter()
        snapshot[section] = TAKEN[section](list(plans.documents(list(map(Path, places)), 0)))
        print(f"{section}: {len(snapshot[section])} taken in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if earlier is None:
        with arguments.before.open("x", encoding="utf-8") as stream:  # never replaces what another run wrote meanwhile
            json.dump(snapshot, stream, ensure_ascii=False)
        print(f"{arguments.before} written")
        return 0
    different = [line for section in sections for line in COMPARED[section](earlier[section], snapshot[section])]
    print(*different[: arguments.first], sep="\n")
    if len(different) > arguments.first:
        print(f"and {len(different) - arguments.first:,} more (--first N shows more)")
    print(f"{len(different)} differences" if different else f"no differences in {', '.join(sections)}")
    return 1 if different else 0


def take_plans(documents: Sequence[plans.Document]) -> plans.Found:
    """Return what is inferred from each document, without the order of keys: `answers` shows where it matters."""
    inferred = {document.name: plans.inferred(document, reasons=False) for document in documents}
    plans.remove_order(inferred)
    return inferred


def take_ledgers(_documents: Sequence[plans.Document]) -> Calls:
    """Return the calls in each shipped scenario with each seed."""
    runs: Calls = {}
    for name in sorted(shipped("scenarios")):
        scenario = load(name)
        for seed in SEEDS:
            runs[f"{name} seed {seed}"] = asyncio.run(played(scenario, seed))
    return runs


def take_answers(documents: Sequence[plans.Document]) -> Calls:
    """Return the calls of a walk over the tools of each document that can be loaded."""
    runs: Calls = {}
    for document in documents:
        try:
            scenario = plans.loaded(document)
        except McpSimError:
            continue
        runs[document.name] = asyncio.run(played(unperturbed(scenario), 1))
    return runs


def take_oracle(recordings: Path) -> dict[str, list[str]]:
    """Return the figures of each recorded server, with perfect and with altered answers of the model."""
    groups: dict[str, list[oracle.Replayed]] = {}
    for session in read_sessions(recordings, ["*"]):
        groups.setdefault(session.server, []).append(oracle.replay((session, True, False)))
    return {server: [*oracle.row("", done), *oracle.mutated_row("", done)] for server, done in groups.items()}


async def played(scenario: Scenario, seed: int) -> list[str]:
    """Return the calls of the scripted agent, if the scenario's task has a script, and of a walk after them."""
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(Simulator(scenario).open(seed=seed))
        try:
            script = script_for(scenario.task)
        except UsageError:
            script = None
        if script is not None:
            clients = {server: await stack.enter_async_context(connected(world, server)) for server in scenario.servers}
            await play(script, STRATEGIES["golden"], clients)
        await walk(world, seed)
        return [call_of(entry) for entry in world.ledger]


async def walk(world: World, seed: int) -> None:
    walker = Walker(tools_of(world), seed, world)
    for _ in range(CALLS):
        tool, arguments = walker.call()
        try:
            observation = await world.call(tool.id, arguments)
        except Crash:  # its entry in the ledger is compared
            continue
        walker.learn(tool, arguments, observation)


def call_of(entry: Mapping[str, Any]) -> str:
    """Return the tool of an entry in the ledger and a hash of what is the same for the same seed and calls."""
    body = {name: value for name, value in entry.items() if name != "measured"}
    tool = entry.get("step", entry.get("crash", {})).get("tool", "")
    crashed = " crash" if "crash" in entry else ""
    return f"{tool}{crashed} {sha256(json.dumps(body).encode()).hexdigest()[:12]}"


def different_plans(earlier: plans.Found, later: plans.Found) -> Iterator[str]:
    for each in plans.differing(earlier, later, {}):
        yield "\n  ".join([f"{each.document}: {each.kind} {each.name}", *each.fields[: plans.SHOWN]])


def different_calls(earlier: Calls, later: Calls) -> Iterator[str]:
    """Yield a line for each run that differs, with its first different call."""
    for name, before, after in plans.matched(earlier, later, {}):
        if before is None or after is None:
            yield f"{name}: {'new' if before is None else 'missing'}"
        elif before != after:
            pairs = zip([*before, "(end)"], [*after, "(end)"], strict=False)
            at, (was, now) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"{name}: entry {at} of {len(before)}: {was} -> {now}"


def different_figures(earlier: dict[str, list[str]], later: dict[str, list[str]]) -> Iterator[str]:
    """Yield a line for each figure of a server that differs."""
    names = [*oracle.HEAD, *oracle.MUTATED]
    for server in {**earlier, **later}:
        for name, was, now in zip(names, earlier.get(server, names), later.get(server, names), strict=True):
            if was != now:
                yield f"{server}: {name}: {was} -> {now}"


TAKEN: dict[str, Any] = {"plans": take_plans, "ledgers": take_ledgers, "answers": take_answers}
COMPARED: dict[str, Any] = {
    "plans": different_plans,
    "ledgers": different_calls,
    "answers": different_calls,
    "oracle": different_figures,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, metavar="BEFORE", help="the earlier snapshot; written if it is missing")
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|FILE", help="documents (default: as in BEFORE)")
    parser.add_argument("--recordings", metavar="DIR", help="recorded sessions for the oracle")
    parser.add_argument("--only", type=lambda text: text.split(","), default=SECTIONS, help="sections, by commas")
    parser.add_argument("--first", type=int, default=40, metavar="N", help="print at most N differences (default 40)")
    sys.exit(main(parser.parse_intermixed_args()))
