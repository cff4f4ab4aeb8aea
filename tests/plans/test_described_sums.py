"""Sums and numbers that descriptions promise, computed from the records of a given state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import INTEGER, NUMBER, STRING, service, tool, value

Json = Any
STATE: Json = {
    "invoices": [
        {"invoice_id": "I-1", "client": "Ada", "amount": 60.5, "paid": False},
        {"invoice_id": "I-2", "client": "Ada", "amount": 40, "paid": True},
        {"invoice_id": "I-3", "client": "Ada", "amount": 9.5, "paid": False},
        {"invoice_id": "I-4", "client": "Bo", "amount": 7},
    ],
    "trips": {
        "T-1": {"boat": "Tern", "guests": 3, "status": "booked"},
        "T-2": {"boat": "Tern", "guests": 4, "status": "cancelled"},
        "T-3": {"boat": "Auk", "guests": 5, "status": "cancelled"},
        "T-4": {"boat": "Auk", "guests": 6, "status": "in_progress"},
    },
    "bills": [
        {"bill_id": "B-1", "client": "Ada", "net_cost": 10, "gross_cost": 12, "status": "paid", "currency": "EUR"},
        {"bill_id": "B-2", "client": "Ada", "net_cost": 20, "gross_cost": 24, "status": "overdue", "currency": "EUR"},
        {"bill_id": "B-3", "client": "Ada", "net_cost": 5, "gross_cost": 6, "status": "draft", "currency": "EUR"},
    ],
}
OTHERS = [tool(f"get_{noun}", f"{noun}_id") for noun in ("invoice", "trip", "bill")]


@pytest.mark.parametrize(
    ("about", "asked", "expected"),
    [
        ("Get the total amount of all unpaid invoices of a client.", "Ada", 70),
        ("Get the total amount of all unpaid invoices of a client.", "Bo", 7),
        ("The sum of the amounts of invoices that are not paid", "Ada", 70),
        ("How much a client owes: the amounts of outstanding invoices", "Ada", 70),
        ("The total amount of all invoices, paid or unpaid", "Ada", 110),
        ("The total amount of all invoices (paid or not)", "Ada", 110),
        ("Return the number of paid invoices.", "Ada", 1),
        ("Return the total number of paid invoices.", "Ada", 1),
        ("The number of paid invoices and their total amount", "Ada", 1),
        ("Check a client. Returns the number of invoices.", "Ada", 3),
        ("How much a client owes: the gross costs of all bills", "Ada", 30),
        ("The total net cost of bills", "Ada", 35),
        ("The total net cost of bills that are not yet paid", "Ada", 25),
        ("How many guests a boat takes along", "Tern", 7),
        ("Number of guests on booked trips", "Tern", 3),
        ("Number of guests on booked trips", "Auk", 0),
        ("Number of guests on trips in progress", "Auk", 6),
    ],
)
async def test_a_sum_is_that_of_the_records_that_a_description_means(
    tmp_path: Path, about: str, asked: str, expected: float
) -> None:
    argument = "boat" if asked in {"Tern", "Auk"} else "client"
    summed = tool("check_figure", argument, about=about)
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        assert value(await world.call("check_figure", {argument: asked})) == {argument: asked, "figure": expected}
        assert world.ledger.newest["step"]["guessed"]


@pytest.mark.parametrize(
    "about",
    [
        "Audit a client.\n\nArgs:\n    client: The client\n    depth: the number of invoices to look at",
        "Audit a client. Takes the number of invoices to look at.",
        "Record the total amount of the invoices of a client.",
    ],
)
async def test_what_a_description_says_of_arguments_and_writes_is_no_sum(tmp_path: Path, about: str) -> None:
    async with (
        service(tmp_path, STATE, *OTHERS, tool("check_figure", "client", about=about)) as sim,
        sim.open() as world,
    ):
        assert "figure" not in value(await world.call("check_figure", {"client": "Ada"}))


@pytest.mark.parametrize(
    ("name", "place"),
    [("count", "count"), ("calculate", "calculate"), ("debt", "debt"), ("_", "result"), ("calculate_debt", "debt")],
)
async def test_a_sum_is_named_after_its_tool_and_always_guessed(tmp_path: Path, name: str, place: str) -> None:
    summed = tool(name, "client", about="The total amount of unpaid invoices")
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        assert value(await world.call(name, {"client": "Ada"})) == {"client": "Ada", place: 70}
        assert world.ledger.newest["step"]["guessed"]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({"result": NUMBER}, {"result": 36}),
        ({"bill_total": NUMBER, "bill_count": INTEGER}, {"bill_total": 36, "bill_count": 2}),
        ({"owed": INTEGER, "currency": STRING}, {"owed": 36, "currency": "EUR"}),
    ],
)
async def test_a_sum_has_the_form_that_is_declared(tmp_path: Path, shown: Json, expected: Json) -> None:
    schema = {"type": "object", "properties": shown, "required": [*shown], "additionalProperties": False}
    about = "The total gross cost of bills that are overdue or paid"
    summed = {**tool("client_debt", "client", about=about), "outputSchema": schema}
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        assert value(await world.call("client_debt", {"client": "Ada"})) == expected


async def test_a_number_that_names_nothing_is_no_sum(tmp_path: Path) -> None:
    shown = {"owed": NUMBER, "year": INTEGER}
    schema = {"type": "object", "properties": shown, "required": [*shown]}
    summed = {**tool("client_debt", "client", about="The sum of all unpaid invoices"), "outputSchema": schema}
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        result = value(await world.call("client_debt", {"client": "Ada"}))
        assert (result["owed"], result["year"] == 70) == (70, False)


async def test_a_declared_result_has_the_count_beside_the_sum(tmp_path: Path) -> None:
    parts = {"client": {"type": "string"}, "owed": NUMBER, "invoices": {"type": "integer"}}
    schema = {"type": "object", "properties": parts, "required": [*parts]}
    summed = {**tool("client_debt", "client", about="The sum of all unpaid invoices"), "outputSchema": schema}
    async with service(tmp_path, STATE, *OTHERS, summed) as sim, sim.open() as world:
        shown = value(await world.call("client_debt", {"client": "Ada"}))
        assert shown == {"client": "Ada", "owed": 70, "invoices": 2}
        assert world.ledger.newest["step"]["guessed"]  # only a description says what is summed up


@pytest.mark.parametrize(("noun", "owner"), [("order", "customer"), ("visit", "patient"), ("photo", "album")])
async def test_a_count_is_shown_beside_what_was_asked(tmp_path: Path, noun: str, owner: str) -> None:
    key = f"{owner}_id"
    row = {"type": "object", "properties": {"id": STRING, key: STRING}, "required": ["id", key]}
    counted = {"type": "object", "properties": {key: STRING, "count": INTEGER}, "required": [key, "count"]}
    listed = {"type": "object", "properties": {f"{noun}s": {"type": "array", "items": row}}, "required": [f"{noun}s"]}
    tools = [
        {**tool(f"count_{noun}s", key, about=f"Count the {noun}s."), "outputSchema": counted},
        {**tool(f"list_{noun}s"), "outputSchema": listed},
    ]
    async with service(tmp_path, {f"{noun}s": [{"id": "1", key: "c"}]}, *tools) as sim, sim.open() as world:
        for asked, count in (("c", 1), ("d", 0)):
            assert value(await world.call(f"count_{noun}s", {key: asked})) == {key: asked, "count": count}
