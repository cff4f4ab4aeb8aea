"""A short run that writes one line of every kind of a trace, as shown in `docs/extending.md`."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from support.endpoint import serving
from support.places import ROOT

from mcp_sim import Simulator, World, __version__
from mcp_sim.types import Change, Due, Step
from mcp_sim.types.errors import Crash
from mcp_sim.types.json_values import decode
from mcp_sim.world.trace import answer_line, header_line

PATH = "examples/quickstart/lost_ticket.yaml"
SCENARIO = ROOT / PATH
SHOWN_URL = "http://127.0.0.1:8000/v1"
TICKET = {"subject": "Printer on fire", "requester": "mila@example.org", "priority": "urgent"}


class Kept:
    """A sink that keeps its lines."""

    def __init__(self) -> None:
        self.lines = list[bytes]()

    def write(self, line: bytes, step: Step | None = None) -> None:
        self.lines.append(line)

    def close(self) -> None:
        return


async def every_kind_of_line() -> dict[str, Any]:
    """Return lines by kind: header, reset, call, event, fork, crash, answer."""
    kept = Kept()
    scenario = Simulator.load(SCENARIO).scenario
    kept.write(header_line(scenario.name, scenario.sha256, __version__, PATH))
    async with Simulator(scenario, sinks=[kept]).open("w1") as world:
        await world.call("create_ticket", TICKET)
        put_on_agenda(world)
        await world.call("get_ticket", {"ticket_id": "T-0031"})
        world.fork("w2", stream="b")
        kept.write(answer_line("w1", "The ticket is T-0031."))
    async with AsyncExitStack() as left_open:
        async with serving() as endpoint:
            asking = Simulator.load(SCENARIO, world_model=f"openai:some-model@{endpoint.url}").scenario
            world = await left_open.enter_async_context(Simulator(asking, sinks=[kept]).open("w3"))
        with suppress(Crash):  # the endpoint has gone
            await world.call("create_ticket", TICKET)
    lines = [line.replace(endpoint.url.encode(), SHOWN_URL.encode()) for line in reversed(kept.lines)]
    return {kind_of(line): line for line in map(decode, lines)}


def put_on_agenda(world: World) -> None:
    """Schedule that the ticket is solved a moment later."""
    record = world.view.get("ticket", "T-0031")
    assert record is not None
    change = Change("put", "ticket", "T-0031", {**record, "status": "solved"})
    due = Due(world.clock.start + world.clock.elapsed() + timedelta(milliseconds=500), "colleague", (change,))
    world.version = replace(world.version, state=world.view.apply((), (due,)))


def kind_of(line: dict[str, Any]) -> str:
    if "format" in line:
        return "header"
    return (
        line["step"]["entry"] if "step" in line else next(kind for kind in ("crash", "fork", "answer") if kind in line)
    )
