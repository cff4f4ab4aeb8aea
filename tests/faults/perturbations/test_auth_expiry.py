"""auth_expiry: the agent's access runs out, and must be renewed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World

ADA = {"contact_id": "con_00001"}
Crm = Callable[[str], Simulator]

NOTES = """\
mcp_sim: 1
name: notes
tools:
  - {name: create_note, inputSchema: {type: object, properties: {text: {type: string}}, required: [text]}}
  - {name: get_note, inputSchema: {type: object, properties: {note_id: {type: string}}, required: [note_id]}}
  - {name: renew_session, inputSchema: {type: object, properties: {}}}
"""


@pytest.fixture
def notes(tmp_path: Path) -> Crm:
    """Return a simulator of a notebook with a session to renew. The argument is YAML appended to its scenario."""
    (tmp_path / "notes.yaml").write_text(NOTES)

    def simulator(ending: str) -> Simulator:
        (tmp_path / "scenario.yaml").write_text(f"mcp_sim: 1\nname: notes-run\ntools: notes.yaml\n{ending}\n")
        return Simulator.load(tmp_path / "scenario.yaml")

    return simulator


async def noted(world: World, calls: int) -> str:
    """Return a sign per call: `+` answered, `-` refused."""
    return "".join(["+" if (await world.call("create_note", {"text": "milk"})).ok else "-" for _ in range(calls)])


async def test_after_so_many_calls_every_call_is_refused_until_the_access_is_renewed(notes: Crm) -> None:
    entry = "{auth_expiry: {after: 2 calls, refresh: renew_session}, id: session}"
    async with notes(f"perturbations: [{entry}]").open() as world:
        before = world.view.count("note")
        assert await noted(world, 4) == "++--"
        refused = await world.call("create_note", {"text": "milk"})
        shown = "401 Unauthorized: the access expired after 2 calls"
        assert refused.body == ToolResult(shown, form="text", is_error=True)
        step = world.ledger.steps[-1]
        assert (step["truth"], step["committed"]) == (None, [])
        assert (await world.call("renew_session", {})).ok
        assert await noted(world, 3) == "++-"
        outcomes = [step["perturbations"][0]["outcome"] for step in world.ledger.steps[1:]]
        letters = "++---" + "+" + "++-"
        assert outcomes == ["no_effect" if letter == "+" else "applied" for letter in letters]
        assert world.view.count("note") == before + 4


async def test_after_so_much_time_too_and_a_refresh_in_time_prevents_it(notes: Crm) -> None:
    entry = "{auth_expiry: {after: 10s, refresh: 'renew_*', status: 403}}"
    async with notes(f"perturbations: [{entry}]").open() as world:
        assert await noted(world, 11) == "+" * 9 + "--"
        refused = await world.call("get_note", {"note_id": "x"})
        assert isinstance(refused.body, ToolResult)
        assert refused.body.value == "403 Forbidden: the access expired after 10s"
        assert (await world.call("renew_session", {})).ok
        world.clock.advance(timedelta(seconds=8))
        assert (await world.call("renew_session", {})).ok
        assert await noted(world, 10) == "+" * 9 + "-"


async def test_a_refresh_may_fail_some_times_for_each_access_anew_or_always(notes: Crm) -> None:
    entry = "{auth_expiry: {after: 1 call, refresh: renew_session, refresh_fails: 2}}"
    async with notes(f"perturbations: [{entry}]").open() as world:
        for _ in range(2):
            assert await noted(world, 2) == "+-"
            renewed = [(await world.call("renew_session", {})).ok for _ in range(3)]
            assert renewed == [False, False, True]
    entry = "{auth_expiry: {after: 1 call, refresh: renew_session, refresh_fails: always}}"
    async with notes(f"perturbations: [{entry}]").open() as world:
        assert not any([(await world.call("renew_session", {})).ok for _ in range(5)])
        assert await noted(world, 3) == "+--"


async def test_without_a_refresh_tool_the_access_is_gone_for_good_and_a_fork_shares_its_age(crm: Crm) -> None:
    async with crm("perturbations: [{auth_expiry: 2 calls, tools: get_*}]").open() as world:
        assert (await world.call("get_contact", ADA)).ok
        twin = world.fork()
        answers = [(await twin.call("get_contact", ADA)).ok for _ in range(3)]
        assert answers == [True, False, False]
        assert (await twin.call("list_deals", {})).ok  # not in reach
        assert (await world.call("get_contact", ADA)).ok


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{auth_expiry: {after: 1h, refresh: renew_sesion}}", "no tool matches 'renew_sesion'; did you mean 'renew_se"),
        (
            "{auth_expiry: {after: 1h, refresh: renew_session}, tools: create_note}",
            "is not in reach; add it to `tools`",
        ),
        ("{auth_expiry: {after: 1h, refresh: renew_session}, tools: renew_session}", "there is nothing to reject"),
        ("{auth_expiry: {after: 10}}", "10 is not a span; write a duration"),
    ],
)
def test_a_refresh_that_cannot_be_is_reported_at_load(notes: Crm, entry: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        notes(f"perturbations: [{entry}]")


@pytest.mark.parametrize(
    "options",
    [None, {"after": "1h", "refresh_fails": 1}, {"after": "1h", "status": 400}, {"after": "1h", "refresh": ""}],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["auth_expiry"].model_validate(options)
