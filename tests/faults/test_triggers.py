"""Triggers: when they hold, through the Simulator; and what of them is refused at load."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.spec.when import contradictions
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws, below
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import Role, triggers
from mcp_sim.types.scenario import When

Crm = Callable[[str], Simulator]
ADA = {"contact_id": "con_00001"}


async def struck(
    simulator: Simulator, calls: int, tool: str = "get_contact", arguments: Any = ADA, seed: int = 1
) -> list[int]:
    """The numbers of the calls, from 1, that the only perturbation was applied to."""
    async with simulator.open(seed=seed) as world:
        return [n for n in range(1, calls + 1) if (await world.call(tool, arguments)).delay]


async def refused(simulator: Simulator, calls: int) -> list[int]:
    """The numbers of the calls, from 1, that failed; no time passes but that of the calls."""
    async with simulator.open(seed=1) as world:
        return [n for n in range(1, calls + 1) if not (await world.call("get_contact", ADA)).ok]


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


def test_draws_of_two_perturbations_for_the_same_calls_have_nothing_to_do_with_each_other() -> None:
    one, other = below(0.5, "one/probability"), below(0.5, "other/probability")
    calls = [Draws(7, "", "call", occurrence) for occurrence in range(10_000)]
    both = sum(one(draws) and other(draws) for draws in calls)
    follows = sum(one(draws) and one(following) for draws, following in pairwise(calls))
    for struck in (both, follows):
        assert abs(struck - 2500) <= 4.5 * (10_000 * 0.25 * 0.75) ** 0.5


async def test_probability_0_never_and_1_always(crm: Crm) -> None:
    assert await struck(crm(slow("{probability: 0}")), 50) == []
    assert len(await struck(crm(slow("{probability: 1}")), 50)) == 50


async def test_first_is_the_beginning_and_carries_what_came_to_nothing(crm: Crm) -> None:
    assert await struck(crm(slow("{first: 2}")), 5) == [1, 2]
    async with crm("perturbations: [{lost_ack: {}, id: lost, when: {first: 2}}]").open() as world:
        deal = {"title": "Spring order", "amount": 1, "contact_id": "con_00001"}
        answers = [
            (await world.call(*call)).ok
            for call in (("get_contact", ADA), ("get_contact", ADA), ("create_deal", deal), ("create_deal", deal))
        ]
    assert answers == [True, True, False, True]


async def test_a_burst_is_the_first_few_of_every_so_many(crm: Crm) -> None:
    assert await struck(crm(slow("{burst: {every: 5, length: 2}}")), 12) == [1, 2, 6, 7, 11, 12]


async def test_after_holds_from_its_point_on_and_until_before_it(crm: Crm) -> None:
    for point in ("3 calls", "4s", "'2029-03-01T09:00:04Z'", "'2029-03-01T10:00:04+01:00'"):
        after = crm(f"perturbations: [{{error: {{}}, when: {{after: {point}}}}}]")
        until = crm(f"perturbations: [{{error: {{}}, when: {{until: {point}}}}}]")
        assert await refused(after, 6) == [4, 5, 6]
        assert await refused(until, 6) == [1, 2, 3]


async def test_between_includes_its_beginning_and_not_its_end(crm: Crm) -> None:
    for points in ("[2 calls, 4 calls]", "[3s, 5s]", "[2 calls, 5s]", "['2029-03-01T09:00:03Z', 4 calls]"):
        assert await refused(crm(f"perturbations: [{{error: {{}}, when: {{between: {points}}}}}]"), 6) == [3, 4]


async def test_a_point_is_a_filter_for_the_counter_beside_it(crm: Crm) -> None:
    assert await refused(crm("perturbations: [{error: {}, when: {after: 2 calls, nth: 2}}]"), 6) == [4]


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("{until: 0s}", "never holds"),
        ("{until: 0 calls}", "never holds"),
        ("{until: 2029-03-01T09:00:00Z}", "never holds"),
        ("{between: [5m, 5m]}", "never holds"),
        ("{between: [5 calls, 2 calls]}", "never holds"),
        ("{between: [10m, 2029-03-01T09:05:00Z]}", "never holds"),
        ("{between: [5m]}", "between"),
        ("{after: 5}", "or a time such as"),
        ("{after: 2029-03-01}", "or a time such as"),
        ("{burst: {every: 3, length: 3}}", "less than every"),
    ],
)
def test_time_bounds_that_never_hold_are_refused_at_load(crm: Crm, when: str, shown: str) -> None:
    with pytest.raises(DocumentError, match=shown):
        crm(f"perturbations: [{{latency: 1s, when: {when}}}]")


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
    from mcp_sim.types.call_matchers import argument_test
    from mcp_sim.types.conditions import matcher

    test = argument_test("order.lines.0.sku", matcher("a"))
    assert test({"order": {"lines": [{"sku": "a"}]}})
    assert not test({"order": {"lines": []}})
    assert test({"order.lines.0.sku": "a", "order": {"lines": [{"sku": "b"}]}})


async def test_the_ledger_says_why(crm: Crm) -> None:
    whens = ["{nth: [1, 2]}", "{every: 1}", "{probability: 1}", "{arguments: {contact_id: con_00001}}"]
    whens += ["{first: 3}", "{burst: {every: 5, length: 2}}", "{after: 1s}", "{until: 5 calls}", "{between: [0s, 5m]}"]
    entries = ", ".join(f"{{latency: 1s, when: {when}}}" for when in whens)
    async with crm(f"perturbations: [{entries}]").open() as world:
        await world.call("get_contact", ADA)
        shown = [decided["why"] for decided in world.ledger.steps[-1]["perturbations"]]
    assert shown[:4] == ["nth 1, 2", "every 1", "probability 1", 'arguments contact_id "con_00001"']
    assert shown[4:] == ["first 3", "burst of 2 in 5", "after 1s", "until 5 calls", "between 0s and 5m"]


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


# what can never hold, or is hardly meant ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("{after: 5m, until: 2m}", "when: never holds: after 5m and until 2m exclude each other"),
        ("{after: 20 calls, until: 10 calls}", "after 20 calls and until 10 calls exclude"),
        ("{between: [5m, 10m], after: 15m}", "between 5m and 10m and after 15m exclude"),
        ("{after: 10m, not: {after: 5m}}", "after 10m and not after 5m exclude"),
        ("{not: {after: 0s}}", "the world's start and not after 0s exclude"),
        ("{not: {}}", "never holds: its `not` has no triggers"),
        ("{after: 10m, all: [{nth: 1}, {until: 2m}]}", r"when\.all\[1\]: never holds: after 10m and until 2m"),
        ("{after: 10m, any: [{until: 2m}, {nth: 1}]}", r"when\.any\[0\]: never holds"),
        ("{history: {at_least: 5}, until: 3 calls}", "history of 5 .* and until 3 calls exclude"),
        ("{first: 3, nth: 5}", "first 3 and nth 5 exclude"),
        ("{every: 2, burst: {every: 4, length: 1}}", "every 2 and burst of 1 in 4 exclude"),
        ("{until: 10 calls, nth: 20}", "nth 20 needs more than the 10 calls"),
        ("{after: 5 calls, all: [{until: 10 calls, every: 6}]}", "every 6 needs more than the 5 calls"),
        ("{per: arguments.titel, nth: 1}", "no tool in reach has an argument 'titel'"),
        ("{state: 'false'}", "gives false"),
        ("{arguments: {amount: {gt: 5, lt: 3}}}", "nothing is above 5 and below 3"),
    ],
)
def test_triggers_that_exclude_each_other_are_refused_at_load(crm: Crm, when: str, shown: str) -> None:
    with pytest.raises(DocumentError, match=rf"scenario\.yaml:\d+: .*{shown}"):
        crm(f"perturbations:\n  - latency: 1s\n    when: {when}\n")


clockwork = st.fixed_dictionaries(
    {},
    optional={
        "after": st.integers(0, 9).map("{} calls".format),
        "until": st.integers(1, 9).map("{} calls".format),
        "between": st.tuples(st.integers(0, 5), st.integers(6, 9)).map(lambda ends: [f"{n} calls" for n in ends]),
        "nth": st.lists(st.integers(1, 12), min_size=1, max_size=2),
        "first": st.integers(1, 6),
        "every": st.integers(1, 6),
        "burst": st.integers(1, 4).flatmap(
            lambda length: st.fixed_dictionaries({"every": st.integers(length + 1, 6), "length": st.just(length)})
        ),
    },
)


@given(clockwork)
def test_what_is_shown_to_exclude_each_other_is_exactly_what_never_holds(written: dict[str, Any]) -> None:
    when = When(tuple(triggers[name].model_validate(options) for name, options in written.items()))
    start = datetime(2030, 1, 1, tzinfo=UTC)
    tool, domain = Tool("t", "", {"name": "t"}), Domain({}, {}, {}, "", start)
    checks = [(trigger.role, trigger.compile(tool, domain, "")) for trigger in when.triggers]
    number, held = 0, list[int]()
    for index in range(1, 100):
        turn: Any = SimpleNamespace(index=index)
        if all(check(turn, 0) for role, check in checks if role is Role.FILTER):
            number += 1
            held += [index] if all(check(turn, number) for role, check in checks if role is Role.COUNTER) else []
    assert bool(held) is not bool(list(contradictions(when, start)))


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("{latency: 1s, when: {probability: 0}}", "probability: never holds"),
        ("{latency: 1s, when: {per: tool, probability: 0.5}}", "has no effect without a counter beside it"),
        ("{latency: 1s, tools: update_contact, when: {arguments: {stage: ledd}}}", 'no tool in reach takes "ledd"'),
        ("{latency: 1s, tools: create_deal, when: {arguments: {amount: {in: ['4', '5']}}}}", "no tool in reach takes"),
        ("{error: {}, id: all}, {lost_ack: {}}", r"\[1\]: never has an effect: all answers"),
        ("{lost_ack: {}}, {error: {}, id: all}", r"\[0\]: never has an effect: all answers"),
        ("{disconnect: {at: before}, id: gone}, {truncate: 1}", "never has an effect: gone answers"),
    ],
)
def test_what_is_hardly_meant_is_a_warning(crm: Crm, entry: str, shown: str) -> None:
    (warning,) = crm(f"perturbations: [{entry}]").scenario.warnings
    assert re.search(rf"scenario\.yaml:\d+: warning: .*{shown}", str(warning))


@pytest.mark.parametrize(
    "entries",
    [
        "{latency: 1s, when: {arguments: {stage: {not: ledd}}}}",
        "{latency: 1s, when: {arguments: {amount: {gt: 3}}}}",
        "{error: {}, tools: create_deal}, {lost_ack: {}, tools: create_*}",
        "{error: {}, when: {probability: 1}}, {lost_ack: {}}",
        "{error: {}, fires: 1}, {lost_ack: {}}",
        "{error: {}, enabled: false}, {lost_ack: {}}",
        "{timeout: {commit: applied}}, {lost_ack: {}}",
        "{truncate: 1}, {error: {}}",
    ],
)
def test_what_may_happen_is_not_doubted(crm: Crm, entries: str) -> None:
    assert not crm(f"perturbations: [{entries}]").scenario.warnings
