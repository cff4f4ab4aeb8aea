"""Do random walks crash, contradict the world, or lose what they created? A table with a row for each document.

    python benchmarks/walks.py [--calls N] [--seed N] [--details] [DOCUMENT ...]

A document is a scenario, a tool spec, a tools/list result, or a folder of such; without any, the shipped tool specs are
walked, 10,000 calls each. Perturbations are left out. What is wrong is counted by a checker that shares no code with
the product: it reads the ledger and the plans. `created/found` are the records that a call created, and how many of
them a later get, and a later list, shows. Exits 1 where anything crashes or contradicts the world.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from table import print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from long_walks import Walked, walked

from mcp_sim.documents import load, shipped
from mcp_sim.errors import DocumentError

HEAD = ("document", "tools", "guesses", "calls", "success %", "get", "list", "violations", "per 1,000", "crashes")


def main(arguments: argparse.Namespace) -> int:
    """Walk over every document; the exit status."""
    rows, walks = list[list[str]](), list[Walked]()
    refused = list[str]()
    tools = guesses = 0
    for document in documents(arguments.documents):
        try:
            scenario = load(document)
        except DocumentError as error:
            rows.append([Path(document).stem, "refused", *["-"] * (len(HEAD) - 2)])
            refused.append(f"refused: {error}")
            continue
        walk = asyncio.run(walked(scenario, arguments.seed, arguments.calls))
        walks.append(walk)
        plans = scenario.domain.plans.values()
        guessed = sum(plan.guessed for plan in plans)
        tools, guesses = tools + len(plans), guesses + guessed
        rows.append(row(Path(document).stem, len(plans), guessed, walk))
        if arguments.details:
            print_details(Path(document).stem, walk)
    whole = total(walks)
    print_table("Random walks", HEAD, [*rows, row("all", tools, guesses, whole)])
    print("", *refused, sep="\n")
    bad = sum(walk.success < 0.7 for walk in walks)
    print(
        f"\n{guesses} of {tools} plans are guesses ({100 * guesses / tools:.1f} %); {bad} documents below 70 % success"
    )
    return 1 if refused or whole.crashes or whole.report.violations else 0


def documents(given: Sequence[str]) -> list[str]:
    """The files that are meant: those of folders one by one."""
    if not given:
        return [f"calm_{name}" for name in shipped("tool_specs") if f"calm_{name}" in shipped("scenarios")]
    folders = {name: sorted(Path(name).glob("*.json")) if Path(name).is_dir() else [name] for name in given}
    return [str(path) for paths in folders.values() for path in paths]


def row(name: str, tools: int, guesses: int, walk: Walked) -> list[str]:
    found = [f"{walk.found[kind]}/{walk.created[kind]}" for kind in ("get", "list")]
    report = walk.report
    return [
        name, str(tools), str(guesses), f"{walk.calls:,}", f"{100 * walk.success:.1f}", *found,
        str(len(report.violations)), f"{report.per_thousand:.2f}", str(len(walk.crashes)),
    ]  # fmt: skip


def total(walks: Sequence[Walked]) -> Walked:
    """All walks as one."""
    whole = Walked()
    for walk in walks:
        whole = whole + walk
    return whole


def print_details(name: str, walk: Walked) -> None:
    """Examples of what went wrong, a few of each kind."""
    lines = [f"crash: {crash}" for crash in walk.crashes[:5]]
    lines += [f"lost: {lost}" for lost in dict.fromkeys(walk.lost[:5])]
    kinds = {(one.rule, one.tool): one for one in walk.report.violations}
    lines += [f"{one.rule} {one.tool} at {one.n}: {one.what[:300]}" for one in kinds.values()]
    for tool, failures in sorted(walk.failures.items(), key=lambda entry: -len(entry[1]))[:6]:
        lines.append(f"fails {len(failures)} times: {tool} {failures[0]}")
    print(f"\n{name}", *lines, sep="\n  ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", help="what to walk over; default: what ships")
    parser.add_argument("--calls", type=int, default=10_000, help="of each walk (default 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="of worlds and walks (default 1)")
    parser.add_argument("--details", action="store_true", help="print examples of what went wrong")
    sys.exit(main(parser.parse_args()))
