"""Triggers: when they hold, through the Simulator; and what of them is refused at load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.draws import Draws, below
from mcp_sim.errors import DocumentError
from mcp_sim.extensions import triggers

Crm = Callable[[str], Simulator]
ADA = {"contact_id": "con_00001"}


async def struck(
    simulator: Simulator, calls: int, tool: str = "get_contact", arguments: Any = ADA, seed: int = 1
) -> list[int]:
    """The numbers of the calls, from 1, that the only perturbation was applied to."""
    async with simulator.open(seed=seed) as world:
        return [n for n in range(1, calls + 1) if (await world.call(tool, arguments)).delay]


def slow(when: str) -> str:
    return f"perturbations: [{{latency: 1s, id: slow, when: {when}}}]"


async def test_nth_is_one_call_or_several(crm: Crm) -> None:
    assert await struck(crm(slow("{nth: 2}")), 5) == [2]
    assert await struck(crm(slow("{nth: [1, 4, 4]}")), 5) == [1, 4]


async def test_every_is_each_kth_call(crm: Crm) -> None:
    assert await struck(crm(slow("{every: 3}")), 10) == [3, 6, 9]
    assert await struck(crm(slow("{every: 1}")), 3) == [1, 2, 3]


async def test_probability_lies_within_its_binomial_bounds_and_repeats_with_the_seed(crm: Crm) -> None:
    simulator = crm(slow("{probability: 0.25}"))
    first = await struck(simulator, 1000)
    assert abs(len(first) - 250) < 4 * (1000 * 0.25 * 0.75) ** 0.5
    assert await struck(simulator, 1000) == first
    assert await struck(simulator, 1000, seed=2) != first


async def test_probability_0_never_and_1_always(crm: Crm) -> None:
    assert await struck(crm(slow("{probability: 0}")), 50) == []
    assert len(await struck(crm(slow("{probability: 1}")), 50)) == 50


@given(st.floats(0, 1), st.text(max_size=5), st.integers())
def test_the_compiled_draw_is_the_draw(probability: float, purpose: str, seed: int) -> None:
    draws = Draws(seed, "", "call", 1)
    drawn = draws.unit(purpose)
    assert below(probability, purpose)(draws) is (drawn < probability)
    assert not below(drawn, purpose)(draws)
    assert below(drawn + 2**-53, purpose)(draws)


@pytest.mark.parametrize(
    ("matchers", "arguments", "holds"),
    [
        ("{amount: {gt: 1000}}", {"amount": 1001}, True),
        ("{amount: {gt: 1000}}", {"amount": 1000}, False),
        ("{amount: 4000, title: {contains: order}}", {"amount": 4000.0}, True),
        ("{amount: 4000, title: {contains: tyre}}", {"amount": 4000}, False),
        ("{currency: EUR}", {}, False),
        ("{currency: {exists: false}}", {}, True),
        ("{currency: {not: EUR}}", {}, True),
        ("{currency: {not: EUR}}", {"currency": "EUR"}, False),
    ],
)
async def test_arguments_hold_where_all_matchers_do(
    crm: Crm, matchers: str, arguments: dict[str, Any], holds: bool
) -> None:
    simulator = crm(f"perturbations: [{{latency: 1s, tools: create_deal, when: {{arguments: {matchers}}}}}]")
    call = {"title": "Spring order", "amount": 1, "contact_id": "con_00001", **arguments}
    assert await struck(simulator, 1, "create_deal", call) == ([1] if holds else [])


def test_a_dotted_argument_reaches_nested_values_unless_the_call_has_one_of_that_name() -> None:
    from mcp_sim.calls import argument_test
    from mcp_sim.conditions import matcher

    test = argument_test("order.lines.0.sku", matcher("a"))
    assert test({"order": {"lines": [{"sku": "a"}]}})
    assert not test({"order": {"lines": []}})
    assert test({"order.lines.0.sku": "a", "order": {"lines": [{"sku": "b"}]}})


async def test_the_ledger_says_why(crm: Crm) -> None:
    whens = ["{nth: [1, 2]}", "{every: 1}", "{probability: 1}", "{arguments: {contact_id: con_00001}}"]
    entries = ", ".join(f"{{latency: 1s, when: {when}}}" for when in whens)
    async with crm(f"perturbations: [{entries}]").open() as world:
        await world.call("get_contact", ADA)
        told = [decided["why"] for decided in world.ledger.steps[-1]["perturbations"]]
    assert told == ["nth 1, 2", "every 1", "probability 1", 'arguments contact_id "con_00001"']


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nth", 0),
        ("nth", []),
        ("nth", [1, 0]),
        ("nth", True),
        ("nth", "1"),
        ("nth", None),
        ("every", 0),
        ("every", 1.5),
        ("probability", 1.01),
        ("probability", -0.1),
        ("probability", True),
        ("probability", "0.5"),
        ("arguments", {}),
        ("arguments", "title"),
        ("arguments", {"title": {"contain": "x"}}),
    ],
)
def test_impossible_options_are_refused(name: str, options: Any) -> None:
    with pytest.raises(ValidationError):
        triggers[name].model_validate(options)


def test_an_argument_that_no_tool_in_reach_has_is_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach has an argument 'titel'; did you mean 'title'"):
        crm("perturbations: [{latency: 1s, tools: create_deal, when: {arguments: {titel: x}}}]")
