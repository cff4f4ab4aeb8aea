"""How agents went on after calls that failed by a fault: same key, new key, no key, looked first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import service

from mcp_sim.runs.results import Retry, count_retries, find_retries, retry_sentence

Json = Any
SPEC = """
tools:
  - name: create_charge
    inputSchema:
      type: object
      properties: {amount: {type: integer}, idempotency_key: {type: string}}
      required: [amount]
  - {name: list_charges, inputSchema: {type: object, properties: {}}}
  - {name: list_refunds, inputSchema: {type: object, properties: {}}}
"""
FAULT = "perturbations: [{lost_ack: {}, id: lost, tools: create_charge, when: {nth: 1}}]"
KEYED, OTHER_KEY = {"amount": 5, "idempotency_key": "a"}, {"amount": 5, "idempotency_key": "b"}
BARE: tuple[str, dict[str, Any]] = ("create_charge", {"amount": 5})
LOOK: tuple[str, dict[str, Any]] = ("list_charges", {})
REFUNDS: tuple[str, dict[str, Any]] = ("list_refunds", {})


@pytest.mark.parametrize(
    ("first", "later", "how", "looked"),
    [
        (KEYED, [("create_charge", KEYED)], "same key", False),
        (KEYED, [("create_charge", OTHER_KEY)], "new key", False),
        (KEYED, [BARE], "no key", False),
        ({"amount": 5}, [BARE], "no key", False),
        (KEYED, [LOOK, ("create_charge", KEYED)], "same key", True),
        (KEYED, [("create_charge", KEYED), LOOK], "same key", False),
        (KEYED, [LOOK], "not repeated", True),
        (KEYED, [REFUNDS, ("create_charge", {"amount": 6})], "not repeated", False),
    ],
)
async def test_the_next_call_with_the_same_arguments_is_the_retry(
    tmp_path: Path, first: Json, later: Json, how: str, looked: bool
) -> None:
    async with service(tmp_path, SPEC, "records: {charge: 0, refund: 0}", ending=FAULT).open() as world:
        for tool, arguments in (("create_charge", first), *later):
            await world.call(tool, arguments)
        retries = find_retries(world.ledger.steps, world.scenario.domain)
    assert [(retry.fault, retry.call, retry.how, retry.looked) for retry in retries] == [("lost", 1, how, looked)]


def test_the_report_counts_them_by_fault() -> None:
    retries = [
        Retry("lost", 1, "same key", True),
        Retry("lost", 4, "no key", False),
        Retry("down", 2, "new key", False),
    ]
    counts = count_retries(retries, "lost")
    assert counts == {"same key": 1, "no key": 1, "looked first": 1}
    shown = (
        "Calls that failed by lost: 1 repeated with the same key, 1 repeated without a key; the agent looked first once"
    )
    assert retry_sentence("lost", counts) == shown
