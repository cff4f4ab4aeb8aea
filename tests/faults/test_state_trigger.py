"""The triggers that look at the world: `state` and `history`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError

Crm = Callable[[str], Simulator]
ADA: tuple[str, Any] = ("get_contact", {"contact_id": "con_00001"})
UNKNOWN_CONTACT: tuple[str, Any] = ("get_contact", {"contact_id": "con_99999"})
LIST: tuple[str, Any] = ("list_deals", {})
SPRING: tuple[str, Any] = ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})
WON: tuple[str, Any] = ("update_deal", {"deal_id": "deal_0001", "amount": 1})
OPEN: tuple[str, Any] = ("update_deal", {"deal_id": "deal_0002", "amount": 1})


async def affected(simulator: Simulator, *calls: tuple[str, Any]) -> list[bool]:
    """Return for each call whether the only perturbation, a latency, was applied to it."""
    async with simulator.open(seed=1) as world:
        return [(await world.call(*call)).delay.total_seconds() > 0 for call in calls]


def slow(when: str, tools: str = "'*'") -> str:
    return f"perturbations: [{{latency: 1s, id: slow, tools: {tools}, when: {when}}}]"


async def test_state_sees_the_record_that_the_key_argument_names(crm: Crm) -> None:
    simulator = crm(slow("{state: \"record.stage == 'won'\"}", "update_deal"))
    assert await affected(simulator, WON, OPEN) == [True, False]


async def test_state_sees_counts_as_the_call_finds_them(crm: Crm) -> None:
    assert await affected(crm(slow("{state: count.deal >= 3}")), LIST, SPRING, LIST) == [False, False, True]


async def test_state_sees_arguments_time_and_whole_tables_by_find(crm: Crm) -> None:
    assert await affected(crm(slow("{state: args.amount > 1000.0}", "create_deal")), SPRING) == [True]
    assert await affected(crm(slow("{state: args.currency == null}", "create_deal")), SPRING) == [True]
    late = "{state: \"now >= timestamp('2029-03-01T09:00:02Z')\"}"
    assert await affected(crm(slow(late)), ADA, ADA) == [False, True]
    found = "{state: \"find('deal', {'amount': {'gt': 1000}}).size() > 0\"}"
    assert await affected(crm(slow(found)), SPRING, LIST) == [False, True]


async def test_a_state_that_errs_decides_nothing_and_the_ledger_says_why(crm: Crm) -> None:
    async with crm(slow("{state: \"record.stage == 'won'\"}")).open() as world:
        assert (await world.call(*LIST)).ok
        step = world.ledger.newest["step"]
        assert step["perturbations"] == []
        (erred,) = step["errors"]
        assert (erred["id"], erred["kind"]) == ("slow", "latency")
        assert erred["why"].startswith("record.stage == 'won': ")
        await world.call("get_deal", {"deal_id": "deal_0001"})
        assert "errors" not in world.ledger.newest["step"]
        assert [one["id"] for one in world.ledger.newest["step"]["perturbations"]] == ["slow"]


async def test_an_error_counts_only_where_the_decision_depends_on_it(crm: Crm) -> None:
    errs = "{state: \"record.stage == 'won'\"}"
    assert await affected(crm(slow(f"{{any: [{errs}, {{nth: 2}}]}}")), LIST, LIST, LIST) == [False, True, False]
    assert await affected(crm(slow(f"{{not: {errs}}}")), LIST) == [False]
    assert await affected(crm(slow(f"{{all: [{errs}, {{nth: 2}}]}}")), LIST, LIST) == [False, False]


async def test_state_is_a_filter_for_the_counter_beside_it(crm: Crm) -> None:
    simulator = crm(slow("{state: \"args.deal_id == 'deal_0001'\", nth: 2}", "update_deal"))
    assert await affected(simulator, WON, OPEN, WON) == [False, False, True]


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("recrd.stage == 'won'", "unknown name 'recrd'; did you mean 'record'"),
        ("args.titel == 'x'", "has an argument 'titel'; did you mean 'title'"),
        ("count.deals > 1", "unknown entity 'deals'; did you mean 'deal'"),
        ("count.deal >", "state"),
        ("deal.size() > 1", "unknown name 'deal'"),
    ],
)
def test_a_state_that_names_what_is_not_there_is_refused_at_load(crm: Crm, condition: str, shown: str) -> None:
    with pytest.raises(DocumentError, match=shown):
        crm(slow(f'{{state: "{condition}"}}', "create_deal"))


async def test_a_word_in_a_text_is_no_name(crm: Crm) -> None:
    simulator = crm(slow("{state: \"args.title == 'count.deals args.x'\"}", "create_deal"))
    named = ("create_deal", {**SPRING[1], "title": "count.deals args.x"})
    assert await affected(simulator, SPRING, named) == [False, True]


async def test_history_counts_what_was_served_before(crm: Crm) -> None:
    once = crm(slow("{history: {tool: get_*, outcome: error}}"))
    assert await affected(once, ADA, UNKNOWN_CONTACT, LIST, ADA) == [False, False, True, True]
    twice = crm(slow("{history: {tool: list_deals, at_least: 2}}"))
    assert await affected(twice, LIST, ADA, LIST, ADA) == [False, False, False, True]
    assert await affected(crm(slow("{history: {}}")), ADA, ADA) == [False, True]


async def test_history_within_calls_and_within_a_time(crm: Crm) -> None:
    for within in ("2 calls", "2s"):
        simulator = crm(f"perturbations: [{{error: {{}}, when: {{history: {{tool: list_deals, within: {within}}}}}}}]")
        async with simulator.open() as world:
            answers = [(await world.call(*call)).ok for call in (LIST, ADA, ADA, ADA)]
        assert answers == [True, False, False, True]


async def test_history_does_not_count_what_others_did_in_between(crm: Crm) -> None:
    simulator = crm(
        "perturbations: [{conflict: {}, id: c, tools: update_deal, when: {nth: 1}},"
        " {latency: 1s, when: {history: {tool: update_deal, at_least: 2}}}]"
    )
    assert await affected(simulator, OPEN, LIST, OPEN, LIST) == [False, False, False, True]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ("{tool: lst_deals}", "no tool matches 'lst_deals'; did you mean 'list_deals'"),
        ("{at_least: 5, within: 3 calls}", "never holds"),
        ("{within: 3}", "is not a span"),
        ("{at_least: 0}", "at_least"),
    ],
)
def test_a_history_that_cannot_be_is_refused_at_load(crm: Crm, options: str, shown: str) -> None:
    with pytest.raises(DocumentError, match=shown):
        crm(slow(f"{{history: {options}}}"))


async def test_the_ledger_says_why(crm: Crm) -> None:
    whens = ["{state: 'true'}", "{history: {tool: list_*, outcome: ok, at_least: 1, within: 5m}}"]
    async with crm(f"perturbations: [{', '.join(f'{{latency: 1s, when: {when}}}' for when in whens)}]").open() as world:
        await world.call(*LIST)
        await world.call(*LIST)
        shown = [decided["why"] for decided in world.ledger.newest["step"]["perturbations"]]
    assert shown == ["state true", "history of 1 list_* ok within 5m"]
