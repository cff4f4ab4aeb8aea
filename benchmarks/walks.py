"""Check that random walks do not crash, contradict the world, or lose what they created; print a row per document.

    python benchmarks/walks.py [--calls N] [--seed N] [--details] [DOCUMENT ...]

A document is a scenario, a tool spec, a tools/list result, or a folder of tools/list results. The default are the
shipped tool specs, with 10,000 calls each. Perturbations are removed. Violations are counted by a checker that reads
the ledger and the plans, and shares no code with the product. The columns `get` and `list` are the created records that
a later get or list returned, and those that it was expected to return. Exits with 1 if anything crashes, contradicts
the world, or is lost, or if too few calls succeed. Programs are checked against the declarations of their tables
(tests/support/checker/tables.py): the walk finds fewer of the arguments that belong together, so it need not succeed as
often, and created records are not looked for.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from common.measuring import print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.long_walks import Walked, walked

from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import DocumentError, McpSimError

ENOUGH = 0.7
"""The share of calls that must succeed; a model that refuses everything would be consistent."""

PATIENCE = 480
"""Seconds that a walk may take. A walk that hangs is reported as a crash."""

FOUND = 0.95
"""The share of created records that must be found again."""

HEAD = ("document", "tools", "guesses", "calls", "success %", "get", "list", "violations", "crashes")


def main(arguments: argparse.Namespace) -> int:
    """Walk over every document, in as many processes as there are processors. Return the exit status."""
    named = documents(arguments.documents)
    tasks = [(document, arguments.seed, arguments.calls) for document in named]
    with ProcessPoolExecutor() as pool:
        walks = list(pool.map(walk_document, tasks))
    if arguments.details:
        for walk in walks:
            print_details(walk)
    whole = DocumentWalk("all", sum(line.tools for line in walks), sum(line.guesses for line in walks), total(walks))
    print_table("Random walks", HEAD, [row(line) for line in (*walks, whole)])
    print("", *(f"refused: {line.refused}" for line in walks if line.refused), sep="\n")
    bad = [line.name for line in walks if line.walk.success < ENOUGH and not (line.refused or line.has_program)]
    print(f"{whole.guesses} of {whole.tools} plans are guesses ({100 * whole.guesses / max(1, whole.tools):.1f} %)")
    print(f"documents in which less than {ENOUGH:.0%} of the calls succeed: {', '.join(bad) or 'none'}")
    found_share = whole.walk.found_again
    print(f"{100 * found_share:.1f} % of the created records that were queried are found")
    refused = any(line.refused for line in walks)
    return 1 if refused or bad or found_share < FOUND or whole.walk.crashes or whole.walk.report.violations else 0


@dataclass(frozen=True)
class DocumentWalk:
    """A document and the walk over it. `refused` is the error of a document that cannot be loaded."""

    name: str
    tools: int = 0
    guesses: int = 0
    walk: Walked = field(default_factory=Walked)
    refused: str = ""
    has_program: bool = False


def walk_document(asked: tuple[str, int, int]) -> DocumentWalk:
    """Walk over one document."""
    document, seed, calls = asked
    name = Path(document).stem
    try:
        scenario = load(document)
    except DocumentError as error:
        return DocumentWalk(name, refused=str(error))
    plans = scenario.domain.plans.values()
    signal.signal(signal.SIGALRM, raise_endless)
    signal.alarm(PATIENCE)
    try:
        walk = asyncio.run(walked(scenario, seed, calls))
    except (Endless, McpSimError) as error:
        walk = Walked(crashes=[str(error)])
    finally:
        signal.alarm(0)
    guesses, has_program = sum(plan.guessed for plan in plans), bool(scenario.domain.programs)
    return DocumentWalk(name, len(plans), guesses, walk, has_program=has_program)


class Endless(BaseException):
    """Raised when a walk takes too long. Not an `Exception`, so that only the benchmark catches it."""


def raise_endless(_number: int, frame: FrameType | None) -> None:
    """Raise `Endless` with the current position of the walk."""
    where = traceback.extract_stack(frame, limit=3)
    raise Endless(f"no end after {PATIENCE} s: " + " < ".join(f"{at.name}:{at.lineno}" for at in where[::-1]))


def documents(given: Sequence[str]) -> list[str]:
    """Return the named files, and the files in named folders."""
    if not given:
        return [f"calm_{name}" for name in shipped("tool_specs") if f"calm_{name}" in shipped("scenarios")]
    folders = {name: sorted(Path(name).glob("*.json")) if Path(name).is_dir() else [name] for name in given}
    return [str(path) for paths in folders.values() for path in paths]


def row(document: DocumentWalk) -> list[str]:
    walk, report = document.walk, document.walk.report
    shown = [f"{walk.found[kind]}/{walk.created[kind]}" for kind in ("get", "list")]
    wrong = [str(len(report.violations)), str(len(walk.crashes))]
    return [
        document.name,
        str(document.tools),
        str(document.guesses),
        f"{walk.calls:,}",
        f"{100 * walk.success:.1f}",
        *shown,
        *wrong,
    ]


def total(walks: Sequence[DocumentWalk]) -> Walked:
    """Return the sum of all walks."""
    whole = Walked()
    for walk in walks:
        whole = whole + walk.walk
    return whole


def print_details(document: DocumentWalk) -> None:
    """Print a few examples of each kind of problem."""
    walk = document.walk
    lines = [f"crash: {crash}" for crash in walk.crashes[:5]]
    lines += [f"lost: {lost}" for lost in dict.fromkeys(walk.lost[:5])]
    kinds = {(wrong.rule, wrong.tool): wrong for wrong in walk.report.violations}
    lines += [f"{wrong.rule} {wrong.tool} at {wrong.n}: {wrong.what[:300]}" for wrong in kinds.values()]
    for tool, failures in sorted(walk.failures.items(), key=lambda entry: -len(entry[1]))[:6]:
        lines.append(f"fails {len(failures)} times: {tool} {failures[0]}")
    print(f"\n{document.name}", *lines, sep="\n  ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "documents", nargs="*", metavar="DOCUMENT", help="documents to walk over (default: the shipped ones)"
    )
    parser.add_argument("--calls", type=int, default=10_000, help="calls per walk (default 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of worlds and walks (default 1)")
    parser.add_argument("--details", action="store_true", help="print examples of problems")
    sys.exit(main(parser.parse_args()))
