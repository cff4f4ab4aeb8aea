"""conflict: someone else edits the record first, and the call that would write to it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.commits import replayed

DEAL = {"deal_id": "deal_0002"}
WIN = {**DEAL, "stage": "won"}
Crm = Callable[[str], Simulator]


def events(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [step for step in steps if step["entry"] == "event"]


async def test_the_edit_of_someone_else_is_an_event_and_then_the_call_is_refused(crm: Crm) -> None:
    entry = "{conflict: {values: {title: Snow chains}, actor: bob}, id: race, tools: update_deal, when: {nth: 1}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        start = world.view
        before = await world.call("get_deal", DEAL)
        refused = await world.call("update_deal", WIN)
        shown = "409 Conflict: deal deal_0002 was changed by someone else in the meantime"
        assert refused.body == ToolResult(shown, form="text", is_error=True)
        event, call = world.ledger.steps[-2:]
        assert (event["entry"], event["actor"], event["at"]) == ("event", "bob", call["at"])
        assert [change["key"] for change in event["committed"]] == ["deal_0002"]
        assert (call["truth"], call["committed"]) == (None, [])
        assert call["perturbations"] == [{"id": "race", "kind": "conflict", "outcome": "applied", "why": "nth 1"}]
        assert world.view.version("deal", "deal_0002") == 1

        reread = await world.call("get_deal", DEAL)
        assert isinstance(before.body, ToolResult)
        assert isinstance(reread.body, ToolResult)
        now = "2029-03-01T09:00:02Z"
        assert reread.body.value == {**before.body.value, "title": "Snow chains", "updated_at": now}
        assert (await world.call("update_deal", WIN)).ok
        assert (world.view.get("deal", "deal_0002") or {})["title"] == "Snow chains"
        assert list(replayed(start, world.ledger.steps).rows("deal")) == list(world.view.rows("deal"))


async def test_without_values_one_field_that_the_call_does_not_set_gets_another_value_drawn_by_seed(crm: Crm) -> None:
    simulator = crm("perturbations: [{conflict: {}, id: race, tools: update_deal}]")

    async def edit(seed: int) -> dict[str, Any]:
        async with simulator.open(seed=seed) as world:
            before = world.view.get("deal", "deal_0002") or {}
            await world.call("update_deal", {**DEAL, "stage": "won", "title": "Mine"})
            after = world.view.get("deal", "deal_0002") or {}
            return {name: after[name] for name in after if after[name] != before.get(name)}

    edits = [await edit(seed) for seed in range(8)]
    assert all(len(edit.keys() - {"updated_at"}) == 1 for edit in edits)
    assert not any(edit.keys() & {"stage", "title", "id", "contact_id", "company_id", "created_at"} for edit in edits)
    assert [await edit(seed) for seed in range(8)] == edits
    assert len({repr(edit) for edit in edits}) > 1


async def test_no_effect_on_reads_on_creates_on_what_does_not_exist_and_where_nothing_would_change(crm: Crm) -> None:
    async with crm("perturbations: [{conflict: {values: {title: Chains}}, tools: '*_deal'}]").open() as world:
        assert (await world.call("get_deal", DEAL)).ok
        assert (await world.call("create_deal", {"title": "x", "amount": 1, "contact_id": "con_00001"})).ok
        assert not (await world.call("update_deal", {"deal_id": "deal_9999", "stage": "won"})).ok
        assert (await world.call("update_deal", WIN)).ok
        steps = world.ledger.steps[1:]
        assert [step["perturbations"][0]["outcome"] for step in steps] == ["no_effect"] * 4
        assert all(step["truth"] is not None for step in steps)


async def test_a_deletion_meets_it_too_and_nothing_happens_where_the_trigger_does_not_hold(crm: Crm) -> None:
    entry = "{conflict: {}, tools: delete_contact, when: {nth: 1}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        made = await world.call("create_contact", {"name": "Bo Lind", "email": "bo@example.org"})
        assert isinstance(made.body, ToolResult)
        bo = {"contact_id": made.body.value["id"]}
        assert not (await world.call("delete_contact", bo)).ok
        assert world.view.get("contact", bo["contact_id"]) is not None
        assert (await world.call("delete_contact", bo)).ok
        assert len(events(world.ledger.steps)) == 1


async def test_latency_applies_to_the_refusal_and_what_answers_first_keeps_the_other_one_from_editing(crm: Crm) -> None:
    entries = "[{lost_ack: {}, id: lost}, {conflict: {}, id: race}, {latency: 2s, id: slow}]"
    async with crm(f"perturbations: {entries}").open() as world:
        assert (await world.call("update_deal", WIN)).delay.total_seconds() == 2
        decided = {d["id"]: d["outcome"] for d in world.ledger.steps[-1]["perturbations"]}
        assert decided == {"lost": "preempted", "race": "applied", "slow": "applied"}
        assert len(events(world.ledger.steps)) == 1
    async with crm("perturbations: [{error: 503}, {conflict: {}, id: race}]").open() as world:
        await world.call("update_deal", WIN)
        assert world.ledger.steps[-1]["perturbations"][1]["outcome"] == "preempted"
        assert events(world.ledger.steps) == []


async def test_a_late_answer_may_hide_the_conflict_but_the_edit_stays(crm: Crm) -> None:
    async with crm("perturbations: [{timeout: {commit: applied, after: 1s}}, {conflict: {}}]").open() as world:
        refused = await world.call("update_deal", WIN)
        assert isinstance(refused.body, ToolResult)
        assert "504" in refused.body.value
        assert len(events(world.ledger.steps)) == 1
        assert (world.view.get("deal", "deal_0002") or {})["stage"] == "proposal"


async def test_an_expectation_sees_the_event_and_judges_the_call_that_was_refused(crm: Crm) -> None:
    ending = "perturbations: [{conflict: {}, id: race, when: {nth: 1}}]\nexpect: [{recovered: race}]"
    async with crm(ending).open() as world:
        await world.call("update_deal", WIN)
        assert [verdict.outcome for verdict in world.grade().verdicts] == ["failed"]
        await world.call("update_deal", WIN)
        assert [verdict.outcome for verdict in world.grade().verdicts] == ["passed"]


async def test_a_link_that_leads_nowhere_is_not_written(crm: Crm) -> None:
    async with crm(
        "perturbations: [{conflict: {values: {contact_id: con_99999}}, tools: update_deal}]"
    ).open() as world:
        assert (await world.call("update_deal", WIN)).ok
        assert world.ledger.steps[-1]["perturbations"][0]["outcome"] == "no_effect"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{conflict: {}, tools: [get_*, create_*]}", "no tool in reach updates or deletes a record"),
        ("{conflict: {values: {titel: x}}, tools: update_deal}", "deal has no field 'titel'; did you mean 'title'"),
        ("{conflict: {values: {id: x}}, tools: update_deal}", "'id' identifies the deal"),
        ("{conflict: {values: {stage: maybe}}, tools: update_deal}", "stage: 'maybe'"),
    ],
)
def test_what_cannot_be_edited_is_reported_at_load(crm: Crm, entry: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{entry}]")


@pytest.mark.parametrize("options", [{"values": "x"}, {"actor": ""}, {"field": "stage"}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["conflict"].model_validate(options)
