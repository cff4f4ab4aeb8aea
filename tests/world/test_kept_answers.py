"""Idempotency keys among the arguments of tools: what is answered once, and what occupies a key."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

from mcp_sim import Simulator, World
from mcp_sim.simulator import persistence
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types.kinds import stores
from mcp_sim.world import kept_answers
from mcp_sim.world.trace import step_from_json

Json = Any
SPEC = """
tools:
  - name: create_charge
    description: Create a charge.
    inputSchema:
      type: object
      properties: {amount: {type: integer}, idempotencyKey: {type: string}}
      required: [amount]
  - name: create_refund
    description: Create a refund.
    inputSchema: {type: object, properties: {amount: {type: integer}, idempotencyKey: {type: string}}}
  - {name: list_charges, description: List charges., inputSchema: {type: object, properties: {}}}
"""
FIVE, SIX = {"amount": 5, "idempotencyKey": "k-1"}, {"amount": 6, "idempotencyKey": "k-1"}


def charges(folder: Path, ending: str = "", *, spec: str = SPEC) -> Simulator:
    return service(folder, spec, "records: {charge: 0, refund: 0}", ending=ending)


def fault(kind: str) -> str:
    return f"perturbations: [{{{kind}: {{}}, id: fault, tools: create_charge, when: {{nth: 1}}}}]"


async def test_the_same_key_and_arguments_get_the_first_answer_and_write_once(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        first = value(await world.call("create_charge", FIVE))
        assert value(await world.call("create_charge", FIVE)) == first
        assert world.view.count("charge") == 1
        assert [step["truth"].get("repeats") for step in world.ledger.steps[1:]] == [None, 1]
        assert (await world.call("create_charge", {"amount": 5})).ok
        assert (await world.call("create_charge", {"amount": 5})).ok
        assert world.view.count("charge") == 3


async def test_a_key_is_that_of_one_tool_and_one_caller(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        await world.call("create_charge", FIVE)
        assert (await world.call("create_refund", SIX)).ok
        assert (await world.call("create_charge", SIX, caller="ada")).ok
        assert world.view.count("charge") == 2


@pytest.mark.parametrize("others", [{}, {"status": "paid"}, {"kind": "card", "message": "Thanks", "key": "k"}])
async def test_other_arguments_under_a_known_key_are_a_conflict(tmp_path: Path, others: Json) -> None:
    async with charges(tmp_path).open() as world:
        await world.call("create_charge", FIVE)
        shown = message(await world.call("create_charge", {**SIX, **others}))
        assert shown == "409 Conflict: the idempotency key was already used with other arguments"
        assert world.view.count("charge") == 1


@pytest.mark.parametrize(
    ("errors", "shown"),
    [
        ("error_style: stripe", {"error": {"type": "idempotency_error"}}),
        ("error_style: google", {"error": {"code": 409}}),
        ("errors: {key_reused: '{status}: {idempotencyKey} is taken'}", "409: k-1 is taken"),
        ("errors: {conflict: 'Conflict: {message}'}", "Conflict: 409 Conflict: the idempotency key was already used"),
    ],
)
async def test_a_conflict_has_the_form_of_the_vendors_errors(tmp_path: Path, errors: str, shown: Json) -> None:
    async with charges(tmp_path, spec=f"{SPEC}\n{errors}\n").open() as world:
        await world.call("create_charge", FIVE)
        conflict: Json = message(await world.call("create_charge", SIX))
    if isinstance(shown, str):
        assert conflict.startswith(shown)
    else:
        assert shown["error"].items() <= conflict["error"].items()


@pytest.mark.parametrize("kind", ["lost_ack", "timeout: {commit: applied}", "disconnect: {at: after}"])
async def test_after_a_lost_answer_the_key_has_the_answer_that_was_lost(tmp_path: Path, kind: str) -> None:
    name, _, options = kind.partition(": ")
    ending = f"perturbations: [{{{name}: {options or '{}'}, tools: create_charge, when: {{nth: 1}}}}]"
    async with charges(tmp_path, ending).open() as world:
        assert not (await world.call("create_charge", FIVE)).ok
        assert value(await world.call("create_charge", FIVE))["id"] == "charge_00001"
        assert world.view.count("charge") == 1


@pytest.mark.parametrize("kind", ["error", "phantom_success"])
async def test_a_call_without_effect_does_not_occupy_its_key(tmp_path: Path, kind: str) -> None:
    async with charges(tmp_path, fault(kind)).open() as world:
        await world.call("create_charge", FIVE)
        assert world.view.count("charge") == 0
        assert (await world.call("create_charge", SIX)).ok
        assert world.view.count("charge") == 1


async def test_a_call_that_is_refused_does_not_occupy_its_key(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        assert not (await world.call("create_charge", {"amount": "five", "idempotencyKey": "k-1"})).ok
        assert (await world.call("create_charge", FIVE)).ok


async def test_a_backend_that_repeats_a_call_with_a_key_has_no_effect(tmp_path: Path) -> None:
    async with charges(tmp_path, fault("duplicate_effect")).open() as world:
        await world.call("create_charge", FIVE)
        assert world.view.count("charge") == 1


async def test_a_deferred_effect_occupies_its_key(tmp_path: Path) -> None:
    ending = "perturbations: [{delayed_visibility: {after: 3 calls}, tools: create_charge, when: {nth: 1}}]"
    async with charges(tmp_path, ending).open() as world:
        first = value(await world.call("create_charge", FIVE))
        assert value(await world.call("create_charge", FIVE)) == first
        for _ in range(4):
            await world.call("list_charges")
        assert world.view.count("charge") == 1


async def test_keys_expire_on_the_clock_of_the_world(tmp_path: Path) -> None:
    spec = f"{SPEC}\nsim: {{create_charge: {{idempotency: {{key: idempotencyKey, expires: 24h}}}}}}\n"
    async with charges(tmp_path, spec=spec).open() as world:
        await world.call("create_charge", FIVE)
        await world.advance(timedelta(hours=23))
        await world.call("create_charge", FIVE)
        assert world.view.count("charge") == 1
        await world.advance(timedelta(hours=1))
        await world.call("create_charge", FIVE)
        assert world.view.count("charge") == 2


async def test_forks_and_snapshots_know_the_keys_of_their_moment_and_a_reset_none(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        before = world.moment()
        await world.call("create_charge", FIVE)
        twin = world.fork()
        await twin.call("create_charge", FIVE)
        assert twin.view.count("charge") == 1
        after = world.moment()
        world.return_to(before)
        await world.call("create_charge", SIX)
        assert world.view.count("charge") == 1
        world.return_to(after)
        assert not (await world.call("create_charge", SIX)).ok
        world.reset()
        assert (await world.call("create_charge", SIX)).ok


async def test_repeating_a_ledger_leads_to_the_same_keys(tmp_path: Path) -> None:
    async with charges(tmp_path, fault("lost_ack")) as simulator:
        world = simulator.world("w")
        await world.call("create_charge", FIVE)
        again = simulator.repeated("again", [*map(step_from_json, world.ledger.steps)])
        assert value(await again.call("create_charge", FIVE))["id"] == "charge_00001"
        assert again.view.count("charge") == 1


@pytest.mark.parametrize("short", [0, persistence.SHORT], ids=["with snapshots", "from the start"])
async def test_a_stored_world_knows_its_keys_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    monkeypatch.setattr(persistence, "SHORT", short)
    simulator = charges(tmp_path, fault("lost_ack"))
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})

    async def in_a_process_of_its_own(arguments: Json) -> tuple[bool, World]:
        with store.open(identity(simulator.scenario, None, "1")) as opened:
            async with Simulator(simulator.scenario) as fresh:
                world = StoreKeeper(fresh, opened, "w").world(None, "virtual")
                return (await world.call("create_charge", arguments)).ok, world

    assert not (await in_a_process_of_its_own(FIVE))[0]
    for _ in range(2):
        is_ok, world = await in_a_process_of_its_own(FIVE)
        assert is_ok
        assert world.view.count("charge") == 1
    assert not (await in_a_process_of_its_own(SIX))[0]


async def test_a_world_forgets_the_oldest_keys_beyond_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answers, "KEPT", 3)
    async with charges(tmp_path).open() as world:
        for key in "abcd":
            await world.call("create_charge", {"amount": 1, "idempotencyKey": key})
        assert len(world.version.kept.answers) == len(world.version.kept.order) == 3
        await world.call("create_charge", {"amount": 1, "idempotencyKey": "d"})
        assert world.view.count("charge") == 4
        await world.call("create_charge", {"amount": 1, "idempotencyKey": "a"})
        assert world.view.count("charge") == 5


async def test_large_answers_are_forgotten_by_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "MOST_BYTES", 200)
    async with charges(tmp_path).open() as world:
        for key in "abcdef":
            await world.call("create_charge", {"amount": 1, "idempotencyKey": key})
        kept = world.version.kept
        assert 1 <= len(kept.answers) < 6
        assert 0 < kept.size <= 200
