"""What others do to a world while it runs: faults, time, records, the answer, and a return to an earlier moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator, World
from mcp_sim.cli import main
from mcp_sim.simulator import persistence
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types import Change, Record
from mcp_sim.types.errors import DocumentError, StaleChange, UsageError
from mcp_sim.types.kinds import stores
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.steering import MOST_INJECTED
from mcp_sim.world.trace import header_line

Crm = Callable[[str], Simulator]
DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
DOWN = {"error": {"status": 503}, "id": "down", "tools": "list_*", "when": {"nth": 2}}
COIN: Record = {"error": {}, "id": "coin", "when": {"probability": 0.5}}


async def listed(world: World, times: int) -> list[bool]:
    """Return whether each of some calls was answered without an error."""
    return [(await world.call("list_deals")).ok for _ in range(times)]


def events(world: World) -> list[Record]:
    return [step for step in world.ledger.steps if step["entry"] == "event"]


async def test_an_injected_fault_acts_on_later_calls_of_its_world_and_its_forks(crm: Crm) -> None:
    async with crm("").open() as world:
        await listed(world, 3)
        before = world.fork()
        assert await world.inject(DOWN, "ann") == "down"
        twin = world.fork()
        assert await listed(world, 3) == await listed(twin, 3) == [True, False, True]
        assert await listed(before, 3) == [True, True, True]
        (event,) = events(world)
        assert (event["actor"], event["steered"], event["committed"]) == ("ann", {"inject": DOWN}, [])
        world.reset()
        assert await listed(world, 3) == [True, True, True]


async def test_an_injected_fault_draws_like_a_declared_one(crm: Crm) -> None:
    declared = f"perturbations: [{json.dumps(COIN)}]"
    async with crm(declared).open() as world, crm("").open() as other:
        await other.inject(COIN)
        drawn = await listed(world, 20)
        assert await listed(other, 20) == drawn
        assert {True, False} == {*drawn}


async def test_counters_continue_while_other_faults_are_enabled_and_disabled(crm: Crm) -> None:
    off, other = "{error: {}, id: off, enabled: false}", "{error: {}, id: other, when: {every: 2}}"
    async with crm(f"perturbations: [{off}, {other}]").open() as world:
        assert await listed(world, 3) == [True, False, True]
        await world.enable("off", "ann")
        assert await listed(world, 1) == [False]
        await world.disable("off", "ann")
        assert await listed(world, 2) == [True, False]
        await world.disable("other", "ann")
        assert await listed(world, 3) == [True, True, True]
        await world.enable("other", "ann")
        assert await listed(world, 2) == [True, False]
        assert [event["steered"] for event in events(world)] == [
            {"enable": "off"},
            {"disable": "off"},
            {"disable": "other"},
            {"enable": "other"},
        ]


async def test_an_invalid_fault_is_refused_with_its_problems_and_changes_nothing(crm: Crm) -> None:
    async with crm("").open() as world:
        with pytest.raises(DocumentError) as refused:
            await world.inject({"eror": {}, "tools": "no_such_tool", "when": {"nht": 1}})
        assert [problem.path for problem in refused.value.problems] == ["[0].eror", "[0].when.nht", "[0].tools"]
        await world.inject(DOWN)
        with pytest.raises(DocumentError, match="'down' is the id of another fault"):
            await world.inject(DOWN)
        with pytest.raises(UsageError, match="did you mean 'down'"):
            await world.enable("dwn")
        assert len(events(world)) == 1


async def test_the_same_fault_may_be_injected_twice_and_so_often_only(crm: Crm) -> None:
    async with crm("").open() as world:
        names = [await world.inject({"latency": "1s"}) for _ in range(MOST_INJECTED)]
        assert len({*names}) == MOST_INJECTED
        with pytest.raises(UsageError, match="reset it"):
            await world.inject({"latency": "1s"})


async def test_changes_of_others_that_are_injected_begin_at_that_time(crm: Crm) -> None:
    more = {"external_change": {"do": "insert", "entity": "deal", "every": "1m"}}
    async with crm("").open() as world:
        await world.advance(timedelta(minutes=10), "ann")
        await world.inject(more)
        await world.advance(timedelta(minutes=3), "ann")
        by_colleague = [event["at"] for event in events(world) if event["committed"]]
        assert len(by_colleague) == 3
        assert by_colleague == sorted(by_colleague)
        assert world.clock.elapsed() == timedelta(minutes=13)


async def test_a_hidden_tool_is_announced_with_the_next_call_as_is_its_return(crm: Crm) -> None:
    async with crm("").open() as world:
        await world.inject({"hide_tool": {"announced": True}, "tools": "create_deal", "id": "hidden"})
        assert not world.lists("create_deal")
        assert (await world.call("list_deals")).notifications
        assert not (await world.call("list_deals")).notifications
        await world.disable("hidden")
        assert world.lists("create_deal")
        assert (await world.call("list_deals")).notifications


async def test_records_are_changed_by_a_named_actor_unless_they_were_written_since(crm: Crm) -> None:
    async with crm("").open() as world:
        deal = {**(world.view.get("deal", "deal_0001") or {}), "stage": "lost"}
        await world.change([Change("put", "deal", "deal_0001", deal, expected=0)], "colleague")
        shown: Any = (await world.call("get_deal", {"deal_id": "deal_0001"})).body
        assert shown.value["stage"] == "lost"
        with pytest.raises(StaleChange):
            await world.change([Change("remove", "deal", "deal_0001", expected=0)], "colleague")
        assert [event["actor"] for event in events(world)] == ["colleague"]


EXPECT = "expect:\n  - recovered: {perturbation: lost, injected: true}\n  - answered: {contains: done}\n"


async def traced(simulator: Simulator, trace: Path) -> World:
    """Return a world that met an injected fault, was taken back, met it again, and whose agent then answered."""
    scenario = simulator.scenario
    sink = Jsonl(trace, header_line(scenario.name, scenario.sha256, "1", scenario.path))
    async with Simulator(scenario, [sink]).open() as world:
        await world.inject({"lost_ack": {}, "id": "lost", "tools": "create_deal", "when": {"nth": 1}}, "ann")
        moment = world.moment()
        await world.call("create_deal", DEAL)
        await world.call("create_deal", DEAL)
        assert world.grade("done").outcome == "failed"
        world.return_to(moment, "ann")
        await world.call("create_deal", DEAL)
        world.submit("it is done", "ann")
    sink.close()
    return world


async def test_a_world_that_is_taken_back_is_what_it_was(crm: Crm, tmp_path: Path) -> None:
    world = await traced(crm(EXPECT), tmp_path / "run.jsonl")
    async with crm(EXPECT).open() as straight:
        await straight.inject({"lost_ack": {}, "id": "lost", "tools": "create_deal", "when": {"nth": 1}}, "ann")
        await straight.call("create_deal", DEAL)
        assert world.ledger.newest["answer"] == "it is done"
        assert world.ledger.steps[-1] == straight.ledger.steps[-1]
        assert world.grade() == straight.grade("done")
        assert [one.outcome for one in world.grade().verdicts] == ["passed", "passed"]


async def test_grade_and_explain_read_what_was_done_to_a_world_from_its_trace(
    crm: Crm, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    simulator, trace = crm(EXPECT), str(tmp_path / "run.jsonl")
    await traced(simulator, Path(trace))
    assert main(["grade", trace, "--scenario", simulator.scenario.path]) == 0
    assert "passed" in capsys.readouterr().out
    assert main(["explain", trace, "--scenario", simulator.scenario.path, "--id", "lost"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "    fires lost (lost_ack), applied: nth 1 (number 1: yes)",
        "lost: fires at 1 of 1 matching calls",
    ]
    assert main(["show", trace]) == 0
    shown = capsys.readouterr().out
    assert "(ann) added the fault lost" in shown
    assert "taken back to step 2" in shown


@pytest.mark.parametrize("short", [0, persistence.SHORT], ids=["with snapshots", "from the start"])
async def test_a_store_keeps_what_was_done_to_a_world(
    crm: Crm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    monkeypatch.setattr(persistence, "SHORT", short)
    simulator = crm("perturbations: [{error: {}, id: declared, tools: get_deal}]")
    acts: list[Callable[[World], Any]] = [
        lambda world: world.inject(DOWN, "ann"),
        lambda world: world.disable("declared", "ann"),
        lambda world: world.call("get_deal", {"deal_id": "deal_0001"}),
        lambda world: world.call("list_deals"),
        lambda world: world.advance(timedelta(minutes=1), "ann"),
        lambda world: world.change([Change("remove", "deal", "deal_0002")], "ann"),
        lambda world: world.call("list_deals"),
    ]
    async with simulator.open("w") as whole:
        for act in acts:
            await act(whole)
    steps, at = list[Record](), timedelta()
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    for act in acts:
        with store.open(identity(simulator.scenario, None, "1")) as opened:
            async with Simulator(simulator.scenario) as fresh:
                world = StoreKeeper(fresh, opened, "w").world(None, "virtual")
                await act(world)
                steps, at = world.ledger.steps, world.clock.elapsed()
    assert steps == whole.ledger.steps
    assert at == whole.clock.elapsed()
    assert [step["perturbations"] for step in steps if step["entry"] == "call"][-1][0]["id"] == "down"
