"""When perturbations apply, how they nest, what becomes of them: through the Simulator, on the shipped CRM."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types.clock import duration
from mcp_sim.types.kinds import perturbations, triggers
from mcp_sim.types.options import Span
from mcp_sim.types.scenario import Fires, PerturbationEntry, Scenario, When

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
ADA = {"contact_id": "con_00001"}


@cache
def calm() -> Scenario:
    return load("calm_crm")


def entry(name: str, kind: str, options: Any = None, *, tools: tuple[str, ...] = (), **more: Any) -> PerturbationEntry:
    """An entry; `when` maps trigger keywords to options."""
    when = more.pop("when", {})
    compiled = when if isinstance(when, When) else when_of(when)
    perturbation = perturbations[kind].model_validate(options)
    return PerturbationEntry(name, kind, perturbation, tools=tools, when=compiled, **more)


def when_of(when: dict[str, Any], **nested: Any) -> When:
    return When(tuple(triggers[name].model_validate(options) for name, options in when.items()), **nested)


async def decided(entries: list[PerturbationEntry], calls: list[tuple[str, Any]]) -> list[list[tuple[str, str]]]:
    """Return for each call the decided perturbations and their outcomes."""
    scenario = replace(calm(), perturbations=tuple(entries))
    async with Simulator(scenario).open(seed=11) as world:
        for tool, arguments in calls:
            await world.call(tool, arguments)
        steps = [step for step in world.ledger.steps if step["entry"] == "call"]
        return [[(d["id"], d["outcome"]) for d in step["perturbations"]] for step in steps]


POOL = [
    entry("a", "error", {"status": 500}, when={"probability": 0.5}),
    entry("b", "lost_ack", tools=("create_*",), when={"probability": 0.4}),
    entry("c", "latency", "2s", when={"every": 2}),
    entry("d", "error", {"status": 429}, tools=("get_*",), when={"probability": 0.3}),
    entry("e", "latency", {"min": "1s", "max": "9s"}, when={"arguments": {"contact_id": "con_00001"}}),
    entry("f", "rate_limit", {"limit": 3, "window": "10s"}),
    entry("g", "rate_limit", {"limit": 1, "window": "3s", "counting": "bucket", "per": "tool"}),
    entry("h", "timeout", {"commit": "coin"}, when={"probability": 0.2}),
    entry("i", "quota_exhausted", {"limit": 9}, when={"arguments": {"contact_id": {"exists": True}}}),
    entry("j", "outage", {"lasts": "4s", "start": "6s", "recovery": "4s"}),
    entry("k", "auth_expiry", {"after": "6 calls", "refresh": "list_deals"}, when={"every": 3}),
    entry("l", "permission_denied", {"entity": "deal"}, when={"probability": 0.3}),
    entry("m", "not_found_glitch", when={"probability": 0.6}),
    entry("n", "conflict", when={"every": 4}),
    entry("o", "validation_quirk", {"rule": "lowercase"}, tools=("create_*",), when={"probability": 0.5}),
]
MIXED: list[tuple[str, Any]] = [
    ("create_deal", SPRING),
    ("get_contact", ADA),
    ("update_deal", {"deal_id": "deal_0001", "stage": "won"}),
    ("get_contact", ADA),
    ("list_deals", {}),
] * 5


@settings(max_examples=25)
@given(st.lists(st.sampled_from(POOL), unique_by=lambda entry: entry.id))
async def test_decisions_stay_when_other_perturbations_come_go_or_move(chosen: list[PerturbationEntry]) -> None:
    ids = {one.id for one in chosen}
    together = await decided(chosen, MIXED)
    everything = await decided(POOL, MIXED)
    assert [{name for name, _ in call} for call in together] == [
        {name for name, _ in call} & ids for call in everything
    ]


async def test_nth_that_came_to_nothing_is_carried_to_the_next_call_in_question() -> None:
    lost = entry("lost", "lost_ack", when={"nth": 1})
    calls = [("get_contact", ADA), ("get_contact", ADA), ("create_deal", SPRING), ("create_deal", SPRING)]
    assert await decided([lost], calls) == [
        [("lost", "no_effect")],
        [("lost", "no_effect")],
        [("lost", "applied")],
        [],
    ]


async def test_a_before_kind_that_answers_preempts_later_ones_and_commit_kinds_but_not_transport() -> None:
    entries = [
        entry("slow", "latency", "1s"),
        entry("lost", "lost_ack"),
        entry("first", "error", {"status": 500}),
        entry("second", "error", {"status": 503}),
    ]
    assert await decided(entries, [("create_deal", SPRING)]) == [
        [("slow", "applied"), ("lost", "preempted"), ("first", "applied"), ("second", "preempted")]
    ]


async def test_fires_counts_what_was_applied_and_caps_the_rest() -> None:
    capped = entry("e", "error", {"status": 500}, fires=Fires(max=2))
    outcomes = await decided([capped], [("get_contact", ADA)] * 4)
    assert [call[0][1] for call in outcomes] == ["applied", "applied", "capped", "capped"]


async def test_fires_per_tool_and_a_cooldown_in_calls_and_in_time() -> None:
    per_tool = entry("e", "error", {"status": 500}, fires=Fires(max=1, per="tool"))
    outcomes = await decided([per_tool], [("get_contact", ADA), ("list_deals", {})] * 2)
    assert [call[0][1] for call in outcomes] == ["applied", "applied", "capped", "capped"]
    for cooldown in (Span(calls=2), Span(time=duration("3s"))):
        resting = entry("e", "error", {"status": 500}, fires=Fires(cooldown=cooldown))
        outcomes = await decided([resting], [("get_contact", ADA)] * 5)
        assert [call[0][1] for call in outcomes] == ["applied", "capped", "capped", "applied", "capped"]


async def test_of_a_group_only_the_first_in_file_order_is_applied() -> None:
    entries = [entry("x", "latency", "1s", group="slow"), entry("y", "latency", "5s", group="slow")]
    assert await decided(entries, [("get_contact", ADA)]) == [[("x", "applied"), ("y", "preempted")]]


async def test_filters_come_before_counters() -> None:
    second_ada = entry("e", "error", {"status": 500}, when={"nth": 2, "arguments": {"contact_id": "con_00001"}})
    other = {"contact_id": "con_00002"}
    calls = [("get_contact", other), ("get_contact", ADA), ("get_contact", other), ("get_contact", ADA)]
    assert await decided([second_ada], calls) == [[], [], [], [("e", "applied")]]


async def test_nested_mappings_count_on_their_own_and_any_all_and_not_combine_them() -> None:
    either = when_of({}, any=(when_of({"nth": 1}), when_of({"every": 3})))
    assert await decided([entry("e", "error", when=either)], [("get_contact", ADA)] * 6) == [
        [("e", "applied")] if call in (1, 3, 6) else [] for call in range(1, 7)
    ]
    neither = when_of({}, none=(when_of({"every": 2}),))
    outcomes = await decided([entry("e", "error", when=neither)], [("get_contact", ADA)] * 4)
    assert [bool(call) for call in outcomes] == [True, False, True, False]
    both = when_of({"every": 2}, all=(when_of({"arguments": {"contact_id": "con_00001"}}),))
    other = {"contact_id": "con_00002"}
    calls = [("get_contact", ADA), ("get_contact", other), ("get_contact", ADA)]
    assert await decided([entry("e", "error", when=both)], calls) == [[], [], [("e", "applied")]]


async def test_a_counter_split_per_tool_or_argument_counts_each_apart() -> None:
    per_tool = entry("e", "error", when=when_of({"nth": 1}, per="tool"))
    outcomes = await decided([per_tool], [("get_contact", ADA), ("list_deals", {}), ("list_deals", {})])
    assert [bool(call) for call in outcomes] == [True, True, False]
    per_contact = entry("e", "error", when=when_of({"nth": 1}, per="arguments.contact_id"))
    other = {"contact_id": "con_00002"}
    outcomes = await decided([per_contact], [("get_contact", ADA), ("get_contact", other), ("get_contact", ADA)])
    assert [bool(call) for call in outcomes] == [True, True, False]


async def test_answer_and_transport_kinds_nest_with_the_last_listed_outermost() -> None:
    scenario = replace(calm(), perturbations=(entry("one", "latency", "1s"), entry("two", "latency", "2s")))
    async with Simulator(scenario).open() as world:
        observation = await world.call("get_contact", ADA)
        assert observation.delay == duration("3s")
        assert world.clock.elapsed() == duration("4s")


async def test_a_disabled_entry_is_as_if_it_were_not_there() -> None:
    assert await decided([entry("e", "error", enabled=False)], [("get_contact", ADA)]) == [[]]
