"""Count the source files that one call goes through, and the jumps between them.

    python benchmarks/path.py [--files]

Every call is warm: it has been made a few times before it is counted. An entry is the start of a function of mcp_sim,
or of the next stretch of a coroutine or generator. A jump is an entry in another file than the entry before it. The
entries of a load vary by some dozens between runs, because the order of sets does: PYTHONHASHSEED fixes it.
`--files` prints the files in the order of their first entries, with their numbers of entries.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from table import print_table

import mcp_sim
from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.world import World

PACKAGE = Path(mcp_sim.__file__).parent
SCENARIO = "flaky_crm"
GET: tuple[str, dict[str, Any]] = ("get_contact", {"contact_id": "con_00001"})
CREATE: tuple[str, dict[str, Any]] = ("create_deal", {"title": "Path", "amount": 4000, "contact_id": "con_00001"})
WARM_UP = 5
"""Calls before the one that is counted. The fault at the first create is over by then."""

SETTLE = 20
"""Turns of the event loop that a server may take to finish after its client has the answer."""


@dataclass
class Route:
    """The files of all function entries during a piece of work."""

    name: str
    entries: list[str] = field(default_factory=list[str])
    faults: str = ""

    @property
    def jumps(self) -> int:
        """Entries in another file than the entry before."""
        return sum(before != after for before, after in pairwise(self.entries))

    @property
    def files(self) -> Counter[str]:
        """Entries by file, in the order of the first of each."""
        return Counter(self.entries)


def main(*, files: bool) -> None:
    """Count and print everything."""
    loads = [loaded(f"the {which} in a process") for which in ("first", "second")]
    calls = asyncio.run(called())
    rows = [[one.name, str(len(one.files)), str(one.jumps), str(len(one.entries)), one.faults] for one in calls]
    print_table(f"One warm call, {SCENARIO}", ["", "files", "jumps", "entries", "faults"], rows)
    rows = [[one.name, str(len(one.files)), f"{len(one.entries):,}"] for one in loads]
    print_table(f"Loading {SCENARIO}", ["", "files", "entries"], rows)
    for one in calls if files else ():
        print_table(one.name, ["file", "entries"], [[name, str(number)] for name, number in one.files.items()])


def loaded(name: str) -> Route:
    """The route of a load. The first one imports modules that the second one has."""
    route = Route(name)
    with recorded(route.entries):
        Simulator.load(SCENARIO)
    return route


async def called() -> list[Route]:
    """The routes of calls in process and through a client."""
    async with Simulator.load(SCENARIO).open() as world:
        routes = [
            await warm("get_contact, in process", world, lambda: world.call(*GET)),
            await warm("create_deal, in process", world, lambda: world.call(*CREATE)),
        ]
    async with Simulator.load(SCENARIO).open() as world, connected(world) as client:
        return [*routes, await warm("get_contact, served", world, lambda: client.call_tool(*GET))]


async def warm(name: str, world: World, call: Callable[[], Awaitable[object]]) -> Route:
    """The route of one call after others like it, and the faults that were decided for it."""
    for _ in range(WARM_UP):
        await call()
        await settled()
    route = Route(name)
    with recorded(route.entries):
        await call()
        await settled()
    step = world.ledger.newest["step"]
    route.faults = ", ".join(fault["id"] for fault in step.get("perturbations", ())) or "none"
    return route


async def settled() -> None:
    """Let the server finish what it does after its answer."""
    for _ in range(SETTLE):
        await asyncio.sleep(0)


@contextmanager
def recorded(entries: list[str]) -> Generator[None]:
    """Note the file of every entry into a function of mcp_sim, in this thread."""
    start = len(str(PACKAGE)) + 1
    prefix = str(PACKAGE)

    def note(frame: FrameType, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(prefix):
            entries.append(Path(file[start:]).as_posix())

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="print the files of each call")
    main(files=parser.parse_args().files)
