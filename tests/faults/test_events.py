"""What others do right before a call: events of their own in the ledger, whatever becomes of the call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Change, Proceed, ToolResult, Transition, Turn
from mcp_sim.types.errors import Crash
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.commits import replayed

DEAL = "deal_0001"
UPDATE = {"deal_id": DEAL, "stage": "won"}


class Colleague(Perturbation):
    """Writes one more exclamation mark behind the title of a deal, before the call."""

    stage = Stage.WORLD

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        deal = turn.view.get("deal", DEAL) or {}
        change = Change(
            "put", "deal", DEAL, {**deal, "title": f"{deal['title']}!"}, expected=turn.view.version("deal", DEAL)
        )
        transition = await proceed(turn.after((change,)))
        return replace(transition, events=(turn.by("a colleague", change), *transition.events))


class Twice(Perturbation):
    """Asks the world a second time, on the state after the first."""

    stage = Stage.COMMIT

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        first = await proceed(turn)
        second = await proceed(turn.after(first.changes))
        return replace(second, changes=(*first.changes, *second.changes))


class Broken(Perturbation):
    """Fails as no kind should."""

    stage = Stage.BEFORE

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        raise RuntimeError("a bug")


def scenario(*kinds: Perturbation) -> Scenario:
    entries = (PerturbationEntry(f"p{at}", type(kind).__name__.lower(), kind) for at, kind in enumerate(kinds))
    return replace(load("calm_crm"), perturbations=tuple(entries))


def title(text: str) -> str:
    """The title without what the colleague wrote behind it."""
    return text.rstrip("!")


async def test_the_event_appears_before_the_call_which_is_answered_on_the_state_after_it() -> None:
    async with Simulator(scenario(Colleague())).open() as world:
        before = world.view
        observation = await world.call("update_deal", UPDATE)
        assert isinstance(observation.body, ToolResult)
        assert observation.body.value["title"].endswith("!")
        reset, event, call = world.ledger.steps
        assert [step["n"] for step in (reset, event, call)] == [1, 2, 3]
        assert (event["entry"], event["actor"], event["at"]) == ("event", "a colleague", call["at"])
        assert event["committed"][0]["record"]["title"] == observation.body.value["title"]
        assert call["truth"]["observation"]["result"] == observation.body.value
        assert call["served"] is None
        assert [change["record"]["stage"] for change in call["committed"]] == ["won"]
        assert [past.tool for past in world.history] == ["", "update_deal"]
        assert list(replayed(before, world.ledger.steps).rows("deal")) == list(world.view.rows("deal"))


async def test_several_events_follow_one_another_in_file_order_each_on_the_state_after_the_last() -> None:
    async with Simulator(scenario(Colleague(), Colleague())).open() as world:
        await world.call("get_deal", {"deal_id": DEAL})
        steps = world.ledger.steps
        titles = [step["committed"][0]["record"]["title"] for step in steps if step["entry"] == "event"]
        assert titles == [f"{title(titles[0])}!", f"{title(titles[0])}!!"]
        assert (world.view.get("deal", DEAL) or {})["title"] == titles[1]


async def test_an_event_stays_when_the_call_is_refused_and_is_one_however_often_the_world_is_asked() -> None:
    error = perturbations["error"].model_validate({})
    async with Simulator(scenario(error, Colleague())).open() as world:
        assert not (await world.call("update_deal", UPDATE)).ok
        assert [step["entry"] for step in world.ledger.steps] == ["reset", "event", "call"]
        assert world.view.version("deal", DEAL) == 1
    async with Simulator(scenario(Twice(), Colleague())).open() as world:
        assert (await world.call("update_deal", UPDATE)).ok
        assert [step["entry"] for step in world.ledger.steps] == ["reset", "event", "call"]
        assert world.view.version("deal", DEAL) == 3


async def test_a_call_that_crashes_leaves_no_event() -> None:
    async with Simulator(scenario(Broken(), Colleague())).open() as world:
        with pytest.raises(Crash, match="a bug"):
            await world.call("update_deal", UPDATE)
        assert [step["entry"] for step in world.ledger.steps] == ["reset"]
        assert world.view.version("deal", DEAL) == 0
