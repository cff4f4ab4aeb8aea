"""key_expired: the server has forgotten the idempotency key of a call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError

Json = Any
SPEC = """
tools:
  - name: create_charge
    inputSchema:
      type: object
      properties: {amount: {type: integer}, idempotency_key: {type: string}}
      required: [amount]
  - {name: list_charges, inputSchema: {type: object, properties: {}}}
"""
FIVE, SIX = {"amount": 5, "idempotency_key": "k"}, {"amount": 6, "idempotency_key": "k"}


def charges(folder: Path, options: str = "{}") -> Simulator:
    return service(folder, SPEC, "records: {charge: 0}", ending=f"perturbations: [{{key_expired: {options}, id: old}}]")


def outcomes(steps: Json) -> list[str]:
    return [decided["outcome"] for step in steps[1:] for decided in step["perturbations"]]


async def test_a_retry_with_the_same_key_writes_again_and_occupies_the_key(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        first = value(await world.call("create_charge", FIVE))
        second = value(await world.call("create_charge", FIVE))
        assert first["id"] != second["id"]
        await world.disable("old")
        assert value(await world.call("create_charge", FIVE)) == second
        assert world.view.count("charge") == 2
        calls = [step for step in world.ledger.steps if step["entry"] != "event"]
        assert outcomes(calls) == ["no_effect", "applied"]


async def test_other_arguments_under_a_forgotten_key_are_no_conflict(tmp_path: Path) -> None:
    async with charges(tmp_path).open() as world:
        await world.call("create_charge", FIVE)
        assert (await world.call("create_charge", SIX)).ok


async def test_younger_keys_are_still_known(tmp_path: Path) -> None:
    async with charges(tmp_path, "{older_than: 24h}").open() as world:
        first = value(await world.call("create_charge", FIVE))
        assert value(await world.call("create_charge", FIVE)) == first
        await world.advance(timedelta(hours=24))
        assert value(await world.call("create_charge", FIVE)) != first


def test_it_needs_a_tool_with_a_key(crm: Callable[[str], Simulator]) -> None:
    with pytest.raises(DocumentError, match="no tool in reach takes an idempotency key"):
        crm("perturbations: [{key_expired: {}}]")


@pytest.mark.parametrize(
    ("more", "retry", "outcome"),
    [
        ("", FIVE, "passed"),
        ("", {"amount": 5, "idempotency_key": "other"}, "failed"),
        (", {key_expired: {}, id: old}", FIVE, "failed"),
    ],
    ids=["same key", "new key", "same key, forgotten"],
)
async def test_a_retry_recovers_from_a_lost_answer_if_the_server_knows_its_key(
    tmp_path: Path, more: str, retry: Json, outcome: str
) -> None:
    lost = f"perturbations: [{{lost_ack: {{}}, id: lost, tools: create_charge, when: {{nth: 1}}}}{more}]"
    ending = f"{lost}\nexpect: [{{recovered: lost}}]"
    async with service(tmp_path, SPEC, "records: {charge: 0}", ending=ending).open() as world:
        assert not (await world.call("create_charge", FIVE)).ok
        assert (await world.call("create_charge", retry)).ok
        [verdict] = world.grade().verdicts
    assert verdict.outcome == outcome, verdict.because
