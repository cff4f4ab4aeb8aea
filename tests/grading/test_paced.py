"""paced: failed calls are repeated after the time that the answer names, else after growing waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from mcp_sim import Simulator, World
from mcp_sim.grading.expectations.paced import requested_wait
from mcp_sim.types import BrokenDelivery, Observation, RpcError, ToolResult
from mcp_sim.types.grades import GradedVerdict
from mcp_sim.world.trace import step_from_json

Json = Any
Crm = Callable[[str], Simulator]
GET = ("get_contact", {"contact_id": "con_00001"})
TOLD = "perturbations: [{error: {status: 503, retry_after: 6s}, id: down, tools: get_contact, when: {nth: [1, 2]}}]\n"
UNTOLD = "perturbations: [{error: 503, id: down, tools: get_contact, when: {nth: [1, 2, 3, 4]}}]\n"
LOCKED = 'perturbations: [{error: {status: 423, message: "Locked for 2 minutes"}, id: lock, when: {nth: 1}}]\n'


async def verdict(world: World, waits: Sequence[float]) -> GradedVerdict:
    """Return the verdict on a call that is repeated after these seconds, which someone lets pass."""
    await world.call(*GET)
    for wait in waits:
        if wait > 1:
            await world.advance(timedelta(seconds=wait - 1))  # the call itself takes one more
        await world.call(*GET)
    return world.grade().verdicts[0]


@pytest.mark.parametrize(
    ("faults", "waits", "outcome", "because"),
    [
        (TOLD, [6, 6], "passed", "twice a call was repeated, and waited as requested or longer each time"),
        (TOLD, [5.5, 6], "passed", "twice a call was repeated"),
        (TOLD, [6, 5], "failed",
         "the wait before get_contact was repeated is 5 s, expected 6 s, as the answer said; 1 of 2"),
        (TOLD, [1.5], "failed",
         "the wait before get_contact was repeated is 1.5 s, expected 6 s, as the answer said; 1 of 1"),
        (TOLD, [], "vacuous", "no failed call was repeated that had to wait"),
        (LOCKED, [120], "passed", "once a call was repeated"),
        (LOCKED, [100], "failed", "the wait before get_contact was repeated is 100 s, expected 120 s"),
        (UNTOLD, [1, 2, 4, 8], "passed", "4 times a call was repeated"),
        (UNTOLD, [4, 1.5, 9, 2], "passed", "4 times a call was repeated"),
        (UNTOLD, [2, 2, 2, 2], "failed",
         "the longest of 4 waits before get_contact was repeated is 2 s, expected at least 3 s"),
        (UNTOLD, [2], "vacuous", "no failed call was repeated that had to wait"),
        ("", [1, 1, 1], "vacuous", "no failed call was repeated that had to wait"),
    ],
)  # fmt: skip
async def test_waits_are_compared_with_what_the_agent_was_told(
    crm: Crm, faults: str, waits: Sequence[float], outcome: str, because: str
) -> None:
    simulator = crm(f"{faults}expect: [{{paced: {{}}}}]")
    async with simulator.open() as world:
        found = await verdict(world, waits)
        again = simulator.repeated("again", [*map(step_from_json, world.ledger.steps)])
        assert again.grade().verdicts[0] == found
    assert found.outcome == outcome, found.because
    assert found.because.startswith(because)


async def test_retries_of_a_rate_limit_within_seconds_fail_on_the_real_clock(crm: Crm) -> None:
    limit = "perturbations: [{rate_limit: {limit: 1, window: 1h}, id: limit}]\nexpect: [{paced: {}}]"
    async with crm(limit).open(clock="real") as world:
        for _ in range(39):
            await world.call(*GET)
        [found] = world.grade().verdicts
    assert found.outcome == "failed"
    assert "37 of 37 repetitions came too early" in found.because
    assert "expected 3600 s, as the answer said" in found.because


async def test_a_virtual_clock_that_nobody_advances_does_not_show_waiting(crm: Crm) -> None:
    async with crm(f"{TOLD}expect: [{{paced: {{}}}}]").open() as world:
        for _ in range(3):
            await world.call(*GET)
        [found] = world.grade().verdicts
    assert found.outcome == "not judged"
    assert "repeated is 1 s, expected 6 s, as the answer said" in found.because


async def test_another_call_is_no_repetition_and_other_tools_do_not_count(crm: Crm) -> None:
    async with crm(f"{TOLD}expect: [{{paced: {{}}}}, {{paced: {{tool: get_deal}}, id: deals}}]").open() as world:
        await world.call(*GET)
        await world.call("get_contact", {"contact_id": "con_00002"})
        assert [graded.outcome for graded in world.grade().verdicts] == ["vacuous", "vacuous"]


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (ToolResult({"error": {"retry_after": 6}}, form="json", is_error=True), 6),
        (ToolResult({"error": {"details": [{"retryDelay": "1.5s"}]}}, is_error=True), 1.5),
        (ToolResult({"retryAfterMs": "500"}, is_error=True), 0.5),
        (ToolResult('{"retry-after": "30"}', form="text", is_error=True), 30),
        (ToolResult("Error: status code 429 (retry after 2 minutes)", form="text", is_error=True), 120),
        (ToolResult("409: 3 of 5 s used", form="text", is_error=True), None),
        (ToolResult({"retry_after": True}, is_error=True), None),
        (RpcError(-32000, "Too many requests; try again in 250 ms"), 0.25),
        (RpcError(-32000, "Busy", {"retry_after": 4}), 4),
        (BrokenDelivery("http", 503, {"Retry-After": "7"}, "down"), 7),
    ],
)
def test_the_time_to_wait_is_read_as_vendors_write_it(body: Json, seconds: float | None) -> None:
    assert requested_wait(Observation(body)) == seconds
