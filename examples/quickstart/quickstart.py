"""Run two agents into the same fault: one repeats the call, the other checks first.

python examples/quickstart/quickstart.py
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from mcp_sim import Simulator, World
from mcp_sim.types import ToolResult

SCENARIO = Path(__file__).parent / "lost_ticket.yaml"
ANSWER = "The ticket is open."
TICKET = {"subject": "Printer on fire", "requester": "mila@example.org", "priority": "urgent"}


async def main() -> None:
    """Meet the fault once, then continue in two forks."""
    async with Simulator.load(SCENARIO).open() as world:
        answer = await world.call("create_ticket", TICKET)
        assert isinstance(answer.body, ToolResult)
        print(f"create_ticket: {answer.body.value}")
        hasty, careful = world.fork("hasty"), world.fork("careful")
        await hasty.call("create_ticket", TICKET)
        if not await is_open(careful):
            await careful.call("create_ticket", TICKET)
        for twin in (hasty, careful):
            report(twin)


async def is_open(world: World) -> bool:
    """Return whether there is a ticket with this subject."""
    answer = await world.call("list_tickets", {"requester": TICKET["requester"]})
    assert isinstance(answer.body, ToolResult)
    return any(ticket["subject"] == TICKET["subject"] for ticket in answer.body.value["tickets"])


def report(world: World) -> None:
    """Print the verdicts of the scenario's expectations."""
    print(f"\n{world.name}")
    for verdict in world.grade(ANSWER).verdicts:
        print(f"  {verdict.outcome:8} {verdict.id}: {verdict.because}")


if __name__ == "__main__":
    asyncio.run(main())
