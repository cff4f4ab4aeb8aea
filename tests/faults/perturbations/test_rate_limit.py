"""rate_limit: so many calls in a window of time, and no more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.faults.perturbations.rate_limit import bucket, fixed, sliding
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World

ADA = {"contact_id": "con_00001"}
LIMITED = "perturbations: [{rate_limit: {limit: 2, window: 10s}, id: quota}]"
Crm = Callable[[str], Simulator]


async def answered(world: World, calls: int) -> list[bool]:
    return [(await world.call("get_contact", ADA)).ok for _ in range(calls)]


def outcomes(world: World) -> list[str]:
    return [decided["outcome"] for step in world.ledger.steps[1:] for decided in step["perturbations"]]


async def test_calls_beyond_the_quota_are_refused_until_the_window_ends(crm: Crm) -> None:
    async with crm(LIMITED).open() as world:  # a call takes a second: the first is at 1 s, the tenth at 10 s
        assert await answered(world, 12) == [True] * 2 + [False] * 7 + [True] * 2 + [False]
        assert outcomes(world) == ["no_effect"] * 2 + ["applied"] * 7 + ["no_effect"] * 2 + ["applied"]


async def test_retry_after_is_exact_an_agent_that_waits_so_long_is_let_through_and_not_before(crm: Crm) -> None:
    async with crm(LIMITED).open() as world:
        await answered(world, 2)
        refused = await world.call("get_contact", ADA)  # at 3 s
        assert refused.body == ToolResult(
            "429 Too Many Requests: at most 2 calls per 10s; try again in 7 s", form="text", is_error=True
        )
        early, late = world.fork(), world.fork()
        early.clock.advance(timedelta(seconds=5.999))
        assert await answered(early, 1) == [False]
        late.clock.advance(timedelta(seconds=6))  # the call itself takes the seventh
        assert await answered(late, 1) == [True]


async def test_a_refused_call_commits_nothing_and_the_world_is_not_asked(crm: Crm) -> None:
    async with crm("perturbations: [{rate_limit: {limit: 1, window: 1h}, tools: create_deal}]").open() as world:
        for _ in range(3):
            await world.call("create_deal", {"title": "Spring order", "amount": 1, "contact_id": "con_00001"})
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        assert [step["truth"] is None for step in world.ledger.steps[1:]] == [False, True, True]
        assert (await world.call("get_contact", ADA)).ok


async def test_each_world_has_a_quota_of_its_own_and_a_fork_keeps_what_was_used(crm: Crm) -> None:
    simulator = crm(LIMITED)
    async with simulator.open("a") as one, simulator.open("b") as other:
        assert await answered(one, 1) == [True]
        assert await answered(other, 2) == [True, True]
        twin = one.fork()
        assert await answered(twin, 2) == [True, False]
        assert await answered(one, 2) == [True, False]
        one.reset()
        assert await answered(one, 3) == [True, True, False]


async def test_a_message_of_ones_own_may_show_the_seconds(crm: Crm) -> None:
    entry = "perturbations: [{rate_limit: {limit: 1, window: 10s, message: 'slow {down}: {retry_after} s'}}]"
    async with crm(entry).open() as world:
        await answered(world, 1)
        refused = await world.call("get_contact", ADA)
    assert refused.body == ToolResult("slow {down}: 8 s", form="text", is_error=True)


@pytest.mark.parametrize(
    "options",
    [
        0,
        "many",
        {"window": "0s"},
        {"window": 60},
        {"limits": 1},
        {"burst": 3},
        {"per": "entity"},
        {"per": "arguments."},
        {"limit": 10_001, "counting": "sliding"},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["rate_limit"].model_validate(options)


async def test_a_sliding_window_never_lets_more_through_within_any_interval_of_its_length(crm: Crm) -> None:
    async with crm("perturbations: [{rate_limit: {limit: 2, window: 10s, counting: sliding}}]").open() as world:
        world.clock.advance(timedelta(seconds=7))  # the first calls are made at 8 s and 9 s
        assert await answered(world, 12) == [True] * 2 + [False] * 8 + [True] * 2


async def test_a_bucket_lets_a_burst_through_and_then_one_call_whenever_a_token_has_come(crm: Crm) -> None:
    entry = "{rate_limit: {limit: 2, window: 10s, counting: bucket, burst: 3}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        assert await answered(world, 14) == [True] * 3 + [False] * 2 + ([True] + [False] * 4) + [True] + [False] * 3
        world.clock.advance(timedelta(hours=1))  # it fills up, and no further
        assert await answered(world, 5) == [True] * 3 + [False] * 2


@given(
    st.sampled_from(["fixed", "sliding", "bucket"]),
    st.integers(1, 5),
    st.integers(1, 3_000_000),
    st.lists(st.integers(0, 900_000), max_size=60),
)
def test_an_agent_that_waits_as_long_as_is_shown_is_let_through_and_not_a_microsecond_earlier(
    counting: str, limit: int, window: int, pauses: list[int]
) -> None:
    ways = {"fixed": fixed(limit, window), "sliding": sliding(limit, window), "bucket": bucket(limit, window, limit)}
    admit, kept, now = ways[counting], None, 0
    for pause in pauses:
        now += pause
        following, wait = admit(kept, now)
        if wait > 0:
            assert admit(kept, now + wait - 1)[1] > 0
            assert admit(kept, now + wait)[1] <= 0
        else:
            kept = following


@given(st.integers(1, 4), st.integers(1, 1000), st.lists(st.integers(0, 400), max_size=80))
def test_a_sliding_window_holds_at_every_moment_and_remembers_no_more_than_its_quota(
    limit: int, window: int, pauses: list[int]
) -> None:
    admit, kept, now, passed = sliding(limit, window), None, 0, list[int]()
    for pause in pauses:
        now += pause
        following, wait = admit(kept, now)
        if wait <= 0:
            kept = following
            passed.append(now)
        assert len(kept or ()) <= limit
        assert sum(time > now - window for time in passed) <= limit


async def test_each_tool_or_value_of_an_argument_may_have_a_quota_of_its_own(crm: Crm) -> None:
    async with crm("perturbations: [{rate_limit: {limit: 1, window: 1h, per: tool}}]").open() as world:
        calls: list[tuple[str, dict[str, str]]] = [
            ("get_contact", ADA),
            ("list_deals", {}),
            ("get_contact", ADA),
            ("list_deals", {}),
        ]
        assert [(await world.call(*call)).ok for call in calls] == [True, True, False, False]
    entry = "{rate_limit: {limit: 1, window: 1h, per: arguments.contact_id}, tools: get_contact}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        keys = ("con_00001", "con_00002", "con_00001", "x" * 10_000, "x" * 10_000)
        passed = [(await world.call("get_contact", {"contact_id": key})).ok for key in keys]
        assert passed == [True, True, False, False, False]
        refused = [step["truth"] is None for step in world.ledger.steps[1:]]
        assert refused == [False, False, True, False, True]
        assert max(len(name) for _, name in world.version.memories) < 100


def test_a_quota_shared_by_an_argument_that_no_tool_has_is_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach has an argument 'contct_id'; did you mean 'contact_id'"):
        crm("perturbations: [{rate_limit: {limit: 1, per: arguments.contct_id}}]")


async def test_a_call_that_an_inner_limit_refuses_is_counted_once_by_the_outer_one(crm: Crm) -> None:
    limits = "[{rate_limit: {limit: 3, window: 1m}, id: outer}, {rate_limit: {limit: 1, window: 1m}, id: inner}]"
    async with crm(f"perturbations: {limits}").open() as world:
        assert await answered(world, 4) == [True] + [False] * 3
        assert outcomes(world) == ["no_effect"] * 2 + ["no_effect", "applied"] * 2 + ["applied", "preempted"]
