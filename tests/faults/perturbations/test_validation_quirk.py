"""validation_quirk: undocumented validation of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.faults.perturbations.validation_quirk import RULES
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations

Crm = Callable[[str], Simulator]


def deal(**more: Any) -> dict[str, Any]:
    return {"title": "Spring order", "amount": 4000, "contact_id": "con_00001", **more}


async def test_arguments_that_break_the_rule_are_refused_and_nothing_is_done(crm: Crm) -> None:
    entry = "{validation_quirk: {argument: amount, accepts: {lt: 1000}}, id: cap, tools: create_deal}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        refused = await world.call("create_deal", deal())
        assert refused.body == ToolResult("Invalid arguments: amount: not accepted", form="text", is_error=True)
        step = world.ledger.steps[-1]
        assert (step["truth"], step["committed"]) == (None, [])
        assert (await world.call("create_deal", deal(amount=999))).ok
        outcomes = [step["perturbations"][0]["outcome"] for step in world.ledger.steps[1:]]
        assert outcomes == ["applied", "no_effect"]
        assert len(world.view.find("deal", "title", "Spring order")) == 1


@pytest.mark.parametrize(
    ("options", "title", "shown"),
    [
        ("{max_length: 5}", "Spring", "title: must have at most 5 characters"),
        ("{max_length: 5}", "Sprin", None),
        ("{rule: no_emoji}", "Spring \U0001f337", "title: must not contain emoji"),
        ("{rule: no_emoji}", "Spring \u2600", "title: must not contain emoji"),
        ("{rule: no_emoji}", "Frühling 春 © ", None),
        ("{rule: ascii}", "Frühling", "title: must be ASCII"),
        ("{rule: uppercase}", "Spring", "title: must be upper case"),
        ("{rule: uppercase}", "SPRING 1", None),
        ("{rule: lowercase}", "Spring", "title: must be lower case"),
        ("{rule: trimmed}", "Spring ", "title: must not begin or end with a space"),
        ("{rule: one_line}", "Spring\nsummer", "title: must be one line"),
        ("{rule: no_html}", "Spring & summer", "title: must not contain HTML"),
    ],
)
async def test_the_rules_for_texts(crm: Crm, options: str, title: str, shown: str | None) -> None:
    options = options.replace("{", "{argument: title, ", 1)
    async with crm(f"perturbations: [{{validation_quirk: {options}, tools: create_deal}}]").open() as world:
        observation = await world.call("create_deal", deal(title=title))
    if shown is None:
        assert observation.ok
    else:
        assert observation.body == ToolResult(f"Invalid arguments: {shown}", form="text", is_error=True)


def test_every_rule_has_a_text_that_breaks_it_and_one_that_keeps_it() -> None:
    broken = {"uppercase": "a", "lowercase": "A", "trimmed": " ", "one_line": "a\nb", "no_html": "<"}
    for name, (keeps, demand) in RULES.items():
        assert keeps("")
        assert not keeps(broken.get(name, "\U0001f337"))
        assert demand.startswith("must")


async def test_without_an_argument_every_text_is_held_to_it_nested_ones_too(crm: Crm) -> None:
    rule = perturbations["validation_quirk"].model_validate({"rule": "ascii"})
    from mcp_sim.faults.perturbations.validation_quirk import ValidationQuirk, texts

    assert isinstance(rule, ValidationQuirk)
    arguments = {"a": "x", "b": [{"c": "ü"}], "d": 1}
    assert [name for name, value in texts(arguments, "") if not rule.keeps(value)] == ["b.0.c"]
    async with crm("perturbations: [{validation_quirk: {rule: ascii}}]").open() as world:
        assert not (await world.call("create_deal", deal(title="Frühling"))).ok
        assert (await world.call("list_deals", {"limit": 1})).ok


async def test_an_argument_that_was_not_given_keeps_every_rule(crm: Crm) -> None:
    entry = "{validation_quirk: {argument: currency, accepts: USD}, tools: create_deal}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        assert (await world.call("create_deal", deal())).ok
        assert not (await world.call("create_deal", deal(currency="EUR"))).ok
        assert (await world.call("create_deal", deal(currency="USD"))).ok


async def test_it_composes_with_latency_and_a_message_of_ones_own_names_what_is_wrong(crm: Crm) -> None:
    entry = "{validation_quirk: {argument: title, max_length: 3, message: '{argument} {value}?'}, id: quirk}"
    async with crm(
        f"perturbations: [{{lost_ack: {{}}, id: lost}}, {entry}, {{latency: 2s, id: slow}}]"
    ).open() as world:
        refused = await world.call("create_deal", deal())
        assert refused.body == ToolResult("title Spring order?", form="text", is_error=True)
        assert refused.delay.total_seconds() == 2
        decided = {d["id"]: d["outcome"] for d in world.ledger.steps[-1]["perturbations"]}
        assert decided == {"lost": "preempted", "quirk": "applied", "slow": "applied"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("{argument: titel, max_length: 3}", "has an argument 'titel'; did you mean 'title'"),
        ("{argument: stage, max_length: 50}", "every value that the schema of 'stage' allows keeps this rule"),
        ("{argument: stage, accepts: maybe}", "no value that the schema of 'stage' allows keeps this rule"),
    ],
)
def test_a_rule_that_can_never_or_only_bite_is_reported_at_load(crm: Crm, options: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{{validation_quirk: {options}, tools: [create_deal, update_deal]}}]")


@pytest.mark.parametrize(
    "options",
    [
        None,
        {"argument": "title"},
        {"accepts": "x"},
        {"rule": "ascii", "max_length": 3},
        {"rule": "polite"},
        {"argument": "title", "accepts": {"contain": "x"}},
        {"max_length": 0},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["validation_quirk"].model_validate(options)
