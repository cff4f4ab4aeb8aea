"""Count the source files that one call goes through, and the jumps between them.

    python benchmarks/path.py [--scenario NAME] [--files]

Every call is warm: it is made a few times before it is counted. An entry is the start of a function of mcp_sim, or the
resumption of a coroutine or generator. A jump is an entry in another file than the entry before it. The entries of a
load vary by some dozens between runs, because the order of sets varies; set PYTHONHASHSEED to fix it.

`--scenario` names a scenario with the tools of the CRM: flaky_crm (the default) or calm_crm. `--files` prints the files
in the order of their first entries, with their numbers of entries.
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
from mcp_sim.world.world import World

PACKAGE = Path(mcp_sim.__file__).parent
SCENARIO = "flaky_crm"
GET: tuple[str, dict[str, Any]] = ("get_contact", {"contact_id": "con_00001"})
CREATE: tuple[str, dict[str, Any]] = ("create_deal", {"title": "Path", "amount": 4000, "contact_id": "con_00001"})
WARM_UP = 5
"""Calls before the counted one. They include the fault that strikes the first create."""

SETTLE = 20
"""Turns of the event loop that a server may take to finish after its client has the answer."""


@dataclass
class Route:
    """The files of all function entries of a call or a load, in order."""

    name: str
    entries: list[str] = field(default_factory=list[str])
    faults: str = ""

    @property
    def jumps(self) -> int:
        """Return the number of entries in another file than the entry before."""
        return sum(before != after for before, after in pairwise(self.entries))

    @property
    def files(self) -> Counter[str]:
        """Return the number of entries by file, in the order of first entries."""
        return Counter(self.entries)


def main(*, scenario: str, files: bool) -> None:
    """Count and print everything."""
    loads = [trace_load(f"the {which} in a process", scenario) for which in ("first", "second")]
    calls = asyncio.run(trace_calls(scenario))
    rows = [[one.name, str(len(one.files)), str(one.jumps), str(len(one.entries)), one.faults] for one in calls]
    print_table(f"One warm call, {scenario}", ["", "files", "jumps", "entries", "faults"], rows)
    rows = [[load.name, str(len(load.files)), f"{len(load.entries):,}"] for load in loads]
    print_table(f"Loading {scenario}", ["", "files", "entries"], rows)
    for call in calls if files else ():
        print_table(call.name, ["file", "entries"], [[name, str(number)] for name, number in call.files.items()])


def trace_load(name: str, scenario: str) -> Route:
    """Return the route of a load. The first load in a process also imports modules."""
    route = Route(name)
    with record_entries(route.entries):
        Simulator.load(scenario)
    return route


async def trace_calls(scenario: str) -> list[Route]:
    """Return the routes of calls in process and through a client."""
    async with Simulator.load(scenario).open() as world:
        routes = [
            await trace_warm_call("get_contact, in process", world, lambda: world.call(*GET)),
            await trace_warm_call("create_deal, in process", world, lambda: world.call(*CREATE)),
        ]
    async with Simulator.load(scenario).open() as world, connected(world) as client:
        return [*routes, await trace_warm_call("get_contact, served", world, lambda: client.call_tool(*GET))]


async def trace_warm_call(name: str, world: World, call: Callable[[], Awaitable[object]]) -> Route:
    """Return the route of one call after others like it, with the faults that were decided for it."""
    for _ in range(WARM_UP):
        await call()
        await settle()
    route = Route(name)
    with record_entries(route.entries):
        await call()
        await settle()
    step = world.ledger.newest["step"]
    route.faults = ", ".join(fault["id"] for fault in step.get("perturbations", ())) or "none"
    return route


async def settle() -> None:
    """Let the server finish its work after the answer."""
    for _ in range(SETTLE):
        await asyncio.sleep(0)


@contextmanager
def record_entries(entries: list[str]) -> Generator[None]:
    """Append the file of every entry into a function of mcp_sim in this thread."""
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
    parser.add_argument("--scenario", default=SCENARIO, metavar="NAME", help=f"what to load (default {SCENARIO})")
    parser.add_argument("--files", action="store_true", help="print the files of each call")
    options = parser.parse_args()
    main(scenario=options.scenario, files=options.files)
