"""Sums and numbers that descriptions promise, computed from the records of a given state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, service, tool, value

Json = Any
STATE: Json = {
    "invoices": [
        {"invoice_id": "I-1", "client": "Ada", "amount": 60.5, "paid": False},
        {"invoice_id": "I-2", "client": "Ada", "amount": 40, "paid": True},
        {"invoice_id": "I-3", "client": "Ada", "amount": 9.5, "paid": False},
        {"invoice_id": "I-4", "client": "Bo", "amount": 7, "paid": False},
    ],
    "trips": {
        "T-1": {"boat": "Tern", "guests": 3, "status": "booked"},
        "T-2": {"boat": "Tern", "guests": 4, "status": "cancelled"},
    },
}
OTHERS = [tool("get_invoice", "invoice_id"), tool("get_trip", "trip_id")]


@pytest.mark.parametrize(
    ("about", "argument", "expected"),
    [
        ("Get the total amount of all unpaid invoices of a client.", "client", 70),
        ("The sum of the amounts of invoices that are not paid", "client", 70),
        ("How much a client owes: the amounts of outstanding invoices", "client", 70),
        ("Return the number of paid invoices.", "client", 1),
        ("How many guests a boat takes along", "boat", 7),
        ("Number of guests on booked trips", "boat", 3),
    ],
)
async def test_a_sum_is_that_of_the_records_that_a_description_means(
    tmp_path: Path, about: str, argument: str, expected: float
) -> None:
    asked = {"client": "Ada", "boat": "Tern"}[argument]
    summed = tool("check_figure", argument, about=about)
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        assert value(await world.call("check_figure", {argument: asked})) == {argument: asked, "figure": expected}


async def test_a_declared_result_has_the_count_beside_the_sum(tmp_path: Path) -> None:
    parts = {"client": {"type": "string"}, "owed": NUMBER, "invoices": {"type": "integer"}}
    schema = {"type": "object", "properties": parts, "required": [*parts]}
    summed = {**tool("client_debt", "client", about="The sum of all unpaid invoices"), "outputSchema": schema}
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        shown = value(await world.call("client_debt", {"client": "Ada"}))
        assert shown == {"client": "Ada", "owed": 70, "invoices": 2}
        assert world.ledger.newest["step"]["guessed"]  # only a description says what is summed up
