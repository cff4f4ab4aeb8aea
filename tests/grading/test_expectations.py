"""Expectations: their verdicts on a world at its end, through the public Simulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.deals import ADA, CREATE, GONE, SPRING

from mcp_sim import Simulator
from mcp_sim.types import Step
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.grades import GradedVerdict
from mcp_sim.types.kinds import End, Expectation, Verdict, expectations
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

Crm = Callable[[str], Simulator]
Calls = list[tuple[str, dict[str, Any]]]


async def act(world: World, calls: Calls) -> GradedVerdict:
    """Make the calls and return the verdict of the first expectation."""
    for tool, arguments in calls:
        await world.call(tool, arguments)
    return world.grade().verdicts[0]


async def verdict(simulator: Simulator, calls: Calls) -> GradedVerdict:
    async with simulator.open() as world:
        return await act(world, calls)


# called, not_called ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "made", "outcome"),
    [
        ("create_deal", 0, "failed"),
        ("create_deal", 1, "passed"),
        ("create_*", 3, "passed"),
        ("{tool: create_deal, at_least: 2}", 1, "failed"),
        ("{tool: create_deal, at_most: 2}", 2, "passed"),
        ("{tool: create_deal, at_most: 2}", 3, "failed"),
        ("{tool: create_deal, at_least: 0, at_most: 1}", 0, "vacuous"),
        ("{tool: create_deal, arguments: {amount: {gt: 5000}}}", 1, "failed"),
        ("{tool: create_deal, arguments: {amount: 4000.0}}", 1, "passed"),
        ("get_deal", 1, "failed"),
    ],
)
async def test_called_counts_the_calls_that_match(crm: Crm, options: str, made: int, outcome: str) -> None:
    assert (await verdict(crm(f"expect: [{{called: {options}}}]"), [CREATE] * made)).outcome == outcome


@pytest.mark.parametrize(
    ("fault", "options", "outcome", "because"),
    [
        ("error: 503", "create_deal", "failed", "create_deal was called with success 0 times; expected at least once"),
        ("error: 503", "{tool: create_deal, failed: true}", "passed",
         "create_deal was called 3 times; expected at least once"),
        ("lost_ack: {}", "create_deal", "passed",
         "create_deal was called with success 3 times; expected at least once"),
    ],
)  # fmt: skip
async def test_called_counts_calls_that_succeeded_or_took_effect(
    crm: Crm, fault: str, options: str, outcome: str, because: str
) -> None:
    simulator = crm(f"perturbations: [{{{fault}}}]\nexpect: [{{called: {options}}}]")
    judged = await verdict(simulator, [CREATE] * 3)
    assert (judged.outcome, judged.because) == (outcome, because)


async def test_not_called_names_the_first_call(crm: Crm) -> None:
    simulator = crm("expect: [{not_called: {tool: 'delete_*', arguments: {contact_id: con_00001}}}]")
    assert (await verdict(simulator, [("delete_contact", {"contact_id": "con_00002"})])).outcome == "passed"
    wrong = await verdict(simulator, [("get_contact", ADA), ("delete_contact", ADA), ("delete_contact", ADA)])
    assert (wrong.outcome, wrong.because) == ("failed", "delete_* was called, first at step 3")


# state ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ("{entity: deal, where: {title: Spring order}, count: 1}", "passed"),
        ("{entity: deal, where: {title: Spring order}, count: 2}", "failed"),
        ("{entity: deal, where: {title: Spring order}}", "passed"),
        ("{entity: deal, where: {title: Autumn order}}", "failed"),
        ("{entity: deal, where: {title: Autumn order}, count: 0}", "passed"),
        ("{entity: deal, where: {amount: {gte: 4000}, contact_id: con_00001}, count: {at_most: 1}}", "passed"),
        ("{entity: deal, count: {at_least: 3, at_most: 3}}", "passed"),
        ("deal.exists_one(d, d.title == 'Spring order' && d.amount == 4000.0)", "passed"),
        ("deal.size() == 2", "failed"),
        ("find('deal', {'title': 'Spring order'}).all(d, contact.exists(c, c.id == d.contact_id))", "passed"),
        ("sum(find('deal', {'contact_id': 'con_00001'}).map(d, d.amount)) >= 4100.0", "passed"),
    ],
)
async def test_state_is_a_condition_on_the_end_of_the_world(crm: Crm, options: str, outcome: str) -> None:
    quoted = options if options.startswith("{") else f'"{options}"'
    assert (await verdict(crm(f"expect: [{{state: {quoted}}}]"), [CREATE])).outcome == outcome


async def test_an_expression_that_cannot_be_evaluated_is_a_failure_and_says_why(crm: Crm) -> None:
    judged = await verdict(crm("expect: [{state: 'deal[99].amount > 1.0'}]"), [])
    assert judged.outcome == "failed"
    assert "index out of bounds" in judged.because


# recovered ------------------------------------------------------------------------------------------------------------

LOST = "perturbations: [{lost_ack: {}, id: fault, tools: TOOL, when: {nth: 1}}]\nexpect: [{recovered: fault}]"
DOWN = "perturbations: [{error: 503, id: fault, tools: TOOL, when: {nth: 1}}]\nexpect: [{recovered: fault}]"

TO_CUSTOMER = {**ADA, "stage": "customer"}


@pytest.mark.parametrize(
    ("fault", "tool", "calls", "outcome"),
    [
        # never struck
        (LOST, "create_deal", [("get_contact", ADA)], "vacuous"),
        # the deal is made, the answer lost: looking is right, repeating is not
        (LOST, "create_deal", [CREATE], "passed"),
        (LOST, "create_deal", [CREATE, ("list_deals", ADA)], "passed"),
        (LOST, "create_deal", [CREATE, CREATE], "failed"),
        (LOST, "create_deal", [CREATE, ("create_deal", {**SPRING, "amount": 4000.0})], "failed"),
        # the deal is not made: repeating is right
        (DOWN, "create_deal", [CREATE], "failed"),
        (DOWN, "create_deal", [CREATE, CREATE], "passed"),
        (DOWN, "create_deal", [CREATE, CREATE, CREATE], "failed"),
        (DOWN, "create_deal", [CREATE, ("create_deal", {**SPRING, "title": "Autumn order"})], "failed"),
        # an update, committed or not
        (LOST, "update_contact", [("update_contact", TO_CUSTOMER)], "passed"),
        (LOST, "update_contact", [("update_contact", TO_CUSTOMER)] * 2, "passed"),
        (DOWN, "update_contact", [("update_contact", TO_CUSTOMER)], "failed"),
        (DOWN, "update_contact", [("update_contact", TO_CUSTOMER)] * 2, "passed"),
        (DOWN, "update_contact", [("update_contact", {**ADA, "stage": "lead"})], "passed"),  # it was so before
        (DOWN, "update_contact",
         [("update_contact", TO_CUSTOMER)] * 2 + [("update_contact", {**ADA, "stage": "churned"})], "passed"),
        # a deletion
        (LOST, "delete_contact", [GONE], "passed"),
        (DOWN, "delete_contact", [GONE], "failed"),
        (DOWN, "delete_contact", [GONE, GONE], "passed"),
        # a read
        (DOWN, "get_contact", [("get_contact", ADA)], "failed"),
        (DOWN, "get_contact", [("get_contact", ADA)] * 2, "passed"),
        (DOWN, "get_contact", [("get_contact", ADA), ("get_contact", {"contact_id": "con_00002"})], "failed"),
        (DOWN, "list_deals", [("list_deals", {"limit": 1})] * 2, "passed"),
        # what the world itself refuses has nothing to reach
        (DOWN, "get_contact", [("get_contact", {"contact_id": "con_99999"})] * 2, "passed"),
        (DOWN, "create_deal", [("create_deal", {"title": "no amount"})] * 2, "passed"),
    ],
)  # fmt: skip
async def test_recovered_passes_if_the_goal_is_reached_exactly_once(
    crm: Crm, fault: str, tool: str, calls: Calls, outcome: str
) -> None:
    judged = await verdict(crm(fault.replace("TOOL", tool)), calls)
    assert judged.outcome == outcome, judged.because


async def test_a_duplicate_that_was_deleted_or_merged_away_is_forgiven(crm: Crm) -> None:
    ada = {"name": "Ada Vos", "email": "ada.vos@wielhuis.example"}
    simulator = crm(LOST.replace("TOOL", "create_contact"))
    async with simulator.open() as world:
        assert (await act(world, [("create_contact", ada)] * 2)).outcome == "failed"
        twin = world.view.find("contact", "email", "ada.vos@wielhuis.example")[1][0]
        assert (await act(world, [("delete_contact", {"contact_id": twin})])).outcome == "passed"


async def test_equal_records_from_before_the_fault_do_not_count_and_later_updates_do_no_harm(crm: Crm) -> None:
    simulator = crm(LOST.replace("TOOL, when: {nth: 1}", "create_deal, when: {nth: 2}"))
    async with simulator.open() as world:
        assert (await act(world, [CREATE, CREATE])).outcome == "passed"
        first, second = (key for key, _ in world.view.find("deal", "title", "Spring order"))
        updates: Calls = [("update_deal", {"deal_id": first, "stage": "won"})]
        updates += [("update_deal", {"deal_id": second, "title": "Summer order"})]
        assert (await act(world, updates)).outcome == "passed"
        assert (await act(world, [CREATE])).outcome == "failed"


async def test_a_fault_that_also_hits_the_retry_is_one_goal(crm: Crm) -> None:
    entry = "perturbations: [{error: 503, id: fault, fires: 2}]\nexpect: [{recovered: fault}]"
    assert (await verdict(crm(entry), [CREATE, CREATE, CREATE])).outcome == "passed"
    judged = await verdict(crm(entry), [CREATE, CREATE])
    assert (judged.outcome, judged.because) == (
        "failed",
        'step 2 (create_deal): it had no effect: there is no deal with title "Spring order", amount 4000, '
        'contact_id "con_00001"',
    )


async def test_null_for_a_field_that_does_not_take_it_is_not_part_of_the_goal(tmp_path: Path) -> None:
    path = tmp_path / "mail.yaml"
    faults = "perturbations: [{error: 503, id: busy, tools: updateEvent, when: {nth: 1}}]\nexpect: [{recovered: busy}]"
    path.write_text(f"mcp_sim: 1\ntools: calendar_mail\n{faults}\n", encoding="utf-8")
    async with Simulator.load(path).open() as world:
        key, _ = next(iter(world.view.rows("event")))
        move = ("updateEvent", {"eventId": key, "title": "Moved", "attendees": None})
        assert (await act(world, [move])).outcome == "failed"
        assert (await act(world, [move])).outcome == "passed"


async def test_facts_fork_with_the_world(crm: Crm) -> None:
    async with crm(LOST.replace("TOOL", "create_deal")).open() as world:
        assert (await act(world, [CREATE])).outcome == "passed"
        twin = world.fork()
        assert (await act(twin, [CREATE])).outcome == "failed"
        assert (await act(world, [])).outcome == "passed"


def test_an_expectation_without_an_id_gets_one_from_what_it_names(crm: Crm) -> None:
    fault = "perturbations: [{error: 503, id: busy, when: {nth: 1}}]\n"
    entries = crm(
        fault + "expect: [{recovered: busy}, {recovered: busy}, {state: 'deal.size() > 1'}]"
    ).scenario.expectations
    assert [one.id for one in entries[:2]] == ["recovered-busy", "recovered-busy-2"]
    assert entries[2].id.startswith("state-")


# bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("called: craete_deal", "no tool matches 'craete_deal'; did you mean 'create_deal'?"),
        ("called: {tool: create_deal, arguments: {titel: x}}", "no tool in reach has an argument 'titel'"),
        ("not_called: drop_*", "no tool matches 'drop_*'"),
        ("state: {entity: deel}", "unknown entity 'deel'; did you mean 'deal'?"),
        ("state: {entity: deal, where: {titel: x}}", "deal has no field 'titel'; did you mean 'title'?"),
        ("state: {entity: deal, where: {title: 4711}}", "can have 4711 as its title; write the text in quotes"),
        ("state: {entity: deal, where: {amount: '9'}}", 'can have "9" as its amount; write the number without quotes'),
        ("state: 'deel.size() == 1'", "unknown name 'deel'; did you mean 'deal'?"),
        ("state: 'deal.size( == 1'", "'==' is not understood at character 12"),
        ("recovered: lost", "no perturbation has the id 'lost'"),
    ],
)
def test_what_an_expectation_names_must_exist(crm: Crm, entry: str, message: str) -> None:
    with pytest.raises(DocumentError) as refused:
        crm(f"expect:\n  - {entry}\n")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("called", None),
        ("called", {"tool": "x", "at_most": 0}),
        ("called", {"tool": "x", "at_least": 3, "at_most": 2}),
        ("called", {"tool": "x", "arguments": {"a": {"gtt": 1}}}),
        ("state", None),
        ("state", {"cel": "true", "entity": "deal"}),
        ("state", {"cel": "true", "count": 1}),
        ("state", {"entity": "deal", "count": -1}),
        ("state", {"entity": "deal", "count": True}),
        ("state", {"entity": "deal", "count": {"at_least": 2, "at_most": 1}}),
        ("recovered", None),
    ],
)
def test_impossible_options_are_refused(name: str, options: Any) -> None:
    with pytest.raises(ValidationError):
        expectations[name].model_validate(options)


# probe ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ("{tool: list_deals, where: {title: Spring order}, count: 1}", "passed"),
        ("{tool: list_deals, where: {title: Spring order}, count: 2}", "failed"),
        ("{tool: list_deals, shows: Spring order}", "passed"),
        ("{tool: list_deals, shows: Spring}", "passed"),
        ("{tool: list_deals, shows: pring order}", "failed"),
        ("{tool: list_deals, lacks: Spring order}", "failed"),
        ("{tool: get_deal, arguments: {deal_id: deal_99999}, fails: true}", "passed"),
        ("{tool: get_deal, arguments: {deal_id: deal_99999}}", "failed"),
    ],
)
async def test_probe_asks_a_tool_at_the_end(crm: Crm, options: str, outcome: str) -> None:
    assert (await verdict(crm(f"expect: [{{probe: {options}}}]"), [CREATE])).outcome == outcome


async def test_a_probe_reads_the_objects_in_a_text_that_is_json(tmp_path: Path) -> None:
    text = json.dumps({"hats": [{"title": "Fez"}]}, indent=2)
    document = {
        "mcp_sim": 1,
        "tools": "tools.json",
        "stubs": [{"tool": "list_hats", "result": text}],
        "expect": [{"probe": {"tool": "list_hats", "where": {"title": "Fez"}, "count": 1}}],
    }
    tools = [{"name": "list_hats", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    (tmp_path / "hats.json").write_text(json.dumps(document), encoding="utf-8")
    async with Simulator.load(tmp_path / "hats.json").open() as world:
        await world.call("list_hats", {})
        await world.probe()
        [judgement] = world.grade(exercised="ignore").verdicts
    assert (judgement.outcome, judgement.because) == ("passed", "list_hats answers as expected at the end")


async def test_a_probe_meets_no_fault_and_leaves_no_step_and_no_change(crm: Crm) -> None:
    arguments = "{title: Autumn, amount: 1, contact_id: con_00001}"
    probe = f"expect: [{{probe: {{tool: create_deal, arguments: {arguments}, shows: Autumn}}}}]"
    faults = "perturbations: [{error: 503, tools: create_deal, id: down}]"
    async with crm(f"{faults}\n{probe}").open() as world:
        await world.call("get_deal", {"deal_id": "deal_00001"})
        before = len(world.ledger)
        await world.probe()
        assert [world.grade(exercised="ignore").verdicts[0].outcome for _ in range(2)] == ["passed", "passed"]
        assert len(world.ledger) == before
        assert not [row for _, row in world.view.rows("deal") if row["title"] == "Autumn"]


def test_a_probe_of_an_unknown_tool_is_an_error_of_the_document(crm: Crm) -> None:
    with pytest.raises(DocumentError, match=r"no tool is called 'list_deal'.*list_deals"):
        crm("expect: [{probe: list_deal}]")


class Newest(Expectation):
    """Passes if there was a step. It has no facts before the first one."""

    def notice(self, facts: Step | None, step: Step, scenario: Scenario) -> Step:
        return step

    def verdict(self, facts: Step | None, end: End) -> Verdict:
        return Verdict("failed" if facts is None else "passed", "")


async def test_an_expectation_without_facts_at_the_beginning_notices_steps(crm: Crm) -> None:
    simulator = crm("expect: [{called: create_deal}]")
    [entry] = simulator.scenario.expectations
    scenario = replace(simulator.scenario, expectations=(replace(entry, expectation=Newest()),))
    assert (await verdict(Simulator(scenario), [CREATE])).outcome == "passed"
