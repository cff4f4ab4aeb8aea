"""not_found_glitch: a record that exists is not found, for once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError

ADA = {"contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


async def test_the_record_is_not_found_in_the_tools_own_words_and_the_next_look_finds_it(crm: Crm) -> None:
    async with crm("perturbations: [{not_found_glitch: {}, id: blink, when: {nth: 1}}]").open() as world:
        missing = await world.call("get_contact", ADA)
        unknown = await world.call("get_contact", {"contact_id": "con_99999"})
        assert isinstance(missing.body, ToolResult)
        assert isinstance(unknown.body, ToolResult)
        assert missing.body.value == "404 Not Found: no contact with id 'con_00001'"
        assert missing.body.value == unknown.body.value.replace("con_99999", "con_00001")
        step = world.ledger.steps[1]
        assert step["truth"]["observation"]["result"]["name"] == "Ada Vos"
        assert step["committed"] == []
        assert [d["outcome"] for d in step["perturbations"]] == ["applied"]
        assert (await world.call("get_contact", ADA)).ok


async def test_no_effect_on_lists_on_writes_and_where_there_is_no_such_record(crm: Crm) -> None:
    async with crm("perturbations: [{not_found_glitch: {}}]").open() as world:
        assert (await world.call("list_deals", {})).ok
        assert (await world.call("update_deal", {"deal_id": "deal_0002", "stage": "won"})).ok
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        steps = world.ledger.steps[1:]
        assert [step["perturbations"][0]["outcome"] for step in steps] == ["no_effect"] * 3
        assert [step["served"] for step in steps] == [None] * 3


async def test_it_is_applied_again_by_seed_and_composes_with_latency_and_an_error(crm: Crm) -> None:
    entries = "[{not_found_glitch: {}, id: blink, when: {probability: 0.5}}, {latency: 1s}]"

    async def run(seed: int) -> list[bool]:
        async with crm(f"perturbations: {entries}").open(seed=seed) as world:
            answers = [await world.call("get_contact", ADA) for _ in range(30)]
            assert all(answer.delay.total_seconds() == 1 for answer in answers)
            return [answer.ok for answer in answers]

    first = await run(1)
    assert 5 <= sum(first) <= 25
    assert await run(1) == first
    assert await run(2) != first
    async with crm("perturbations: [{error: 503}, {not_found_glitch: {}}]").open() as world:
        await world.call("get_contact", ADA)
        assert [d["outcome"] for d in world.ledger.steps[-1]["perturbations"]] == ["applied", "preempted"]


async def test_a_message_of_ones_own_may_name_an_argument(crm: Crm) -> None:
    entry = "{not_found_glitch: 'nobody called {contact_id}, {x}', tools: get_contact}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        missing = await world.call("get_contact", ADA)
    assert missing.body == ToolResult("nobody called con_00001, {x}", form="text", is_error=True)


def test_without_a_tool_that_gets_one_record_it_is_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach is one that does get"):
        crm("perturbations: [{not_found_glitch: {}, tools: [list_*, create_*]}]")
