"""How long an agent waits for failures that imitate waiting. Worlds do not sleep, so these tests do not either."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from mcp_sim import Simulator
from mcp_sim.types.clock import Mode

Crm = Callable[[str], Simulator]
FAULTS = {
    "lost_ack: {}": 2,
    "timeout: {}": 30,
    "error: {status: 504}": 2,
    "error: {status: 408, style: rpc}": 2,
    "error: {status: 503}": 0,
    "outage: {lasts: 1d, status: 504}": 2,
    "outage: {lasts: 1d}": 0,
    "disconnect: {at: before}": 0,
    "disconnect: {at: middle}": 1,
    "disconnect: {}": 1,
    "disconnect: {then: stall}": 0,
}
"""Fault -> seconds that an agent waits for it on the real clock."""


async def _waited(crm: Crm, fault: str, clock: Mode) -> float:
    simulator = crm(f"perturbations: [{{{fault}}}]\n")
    async with simulator.open(clock=clock) as world:
        deal = {"title": "Spring order", "amount": 1, "contact_id": "con_00001"}
        observation = await world.call("create_deal", deal)
        return observation.delay / timedelta(seconds=1)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_takes_time_on_the_real_clock_only(fault: str, crm: Crm) -> None:
    assert await _waited(crm, fault, "real") == FAULTS[fault]
    assert await _waited(crm, fault, "virtual") == (30 if fault.startswith("timeout") else 0)


@pytest.mark.parametrize("kind", ["lost_ack", "timeout", "error", "disconnect", "outage"])
async def test_an_option_overrides_the_default_on_every_clock(kind: str, crm: Crm) -> None:
    options = "lasts: 1d, after: 7s" if kind == "outage" else "after: 7s"
    assert await _waited(crm, f"{kind}: {{{options}}}", "real") == 7
    assert await _waited(crm, f"{kind}: {{{options}}}", "virtual") == 7
