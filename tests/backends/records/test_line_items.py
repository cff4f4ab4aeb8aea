"""Bookings over given records: completed lines, seats, payments."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from support.given import STRING, Json, refused, service, tool, value

FERRY: Json = {
    "crossings": {
        "F1": {
            "crossing_id": "F1",
            "harbour": "North",
            "dates": {
                "2031-06-01": {"status": "sailing", "free_places": {"deck": 2, "cabin": 1}, "prices": {"deck": 9}},
                "2031-06-02": {"status": "cancelled"},
                "03.06.2031": {"status": "sailing", "free_places": {"deck": 5}, "prices": {"deck": 9}},
            },
        }
    },
    "riders": {
        "r1": {
            "rider_id": "r1",
            "wallets": {
                "w1": {"kind": "voucher", "amount": 20.0},
                "w2": {"kind": "card", "last_four": "1234"},
                "bo@pay.example": {"kind": "voucher", "amount": 0.3},
            },
            "tickets": ["K1"],
        }
    },
    "tickets": {
        "K1": {
            "ticket_id": "K1",
            "rider_id": "r1",
            "berth": "deck",
            "legs": [{"crossing_id": "F1", "harbour": "North", "date": "2031-05-01", "price": 7}],
            "guests": [{"name": "Ada"}],
            "paid": [{"wallet_id": "w1", "amount": 7}],
        }
    },
}
ROWS: Json = {"type": "array", "items": {"type": "object"}}
PAYMENTS: Json = {
    "type": "array",
    "items": {"anyOf": [{"type": "object", "properties": {"wallet_id": STRING, "amount": {"type": "number"}}}]},
}
BOOK = tool("book_ticket", "rider_id", "berth", "legs", "guests", "wallets", legs=ROWS, guests=ROWS, wallets=PAYMENTS)
MOVE = tool("update_ticket_legs", "ticket_id", "legs", "wallet_id", legs=ROWS)
ASKED: Json = {
    "rider_id": "r1",
    "berth": "deck",
    "legs": [{"crossing_id": "F1", "date": "2031-06-01"}],
    "guests": [{"name": "Bo"}],
    "wallets": [{"wallet_id": "w1", "amount": 9}],
}


def asking(**others: Json) -> Json:
    return {**deepcopy(ASKED), **others}


async def test_lines_are_completed_with_data_of_the_records_that_they_name(tmp_path: Path) -> None:
    async with service(tmp_path, FERRY, BOOK) as simulator, simulator.open("w") as world:
        made = value(await world.call("book_ticket", asking()))
        assert made["legs"] == [{"crossing_id": "F1", "harbour": "North", "date": "2031-06-01", "price": 9}]
        assert made["paid"] == [{"wallet_id": "w1", "amount": 9}]
        assert "wallets" not in made


async def test_lines_that_name_missing_or_unavailable_records_are_refused(tmp_path: Path) -> None:
    async with service(tmp_path, FERRY, BOOK) as simulator, simulator.open("w") as world:
        for leg in (
            {"crossing_id": "F9", "date": "2031-06-01"},
            {"crossing_id": "F1", "date": "2031-09-09"},
            {"crossing_id": "F1", "date": "2031-06-02"},
        ):
            assert refused(await world.call("book_ticket", asking(legs=[leg])))


async def test_a_booking_takes_seats_and_is_refused_if_none_are_left(tmp_path: Path) -> None:
    shown = tool("get_crossing", "crossing_id")
    async with service(tmp_path, FERRY, BOOK, shown) as simulator, simulator.open("w") as world:
        await world.call("book_ticket", asking())
        crossing = value(await world.call("get_crossing", {"crossing_id": "F1"}))
        assert crossing["dates"]["2031-06-01"]["free_places"] == {"deck": 1, "cabin": 1}
        assert refused(await world.call("book_ticket", asking(guests=[{"name": "Bo"}, {"name": "Cy"}])))
        less = [{"crossing_id": "F1", "date": "2031-06-01", "seats": -4}]
        assert refused(await world.call("book_ticket", asking(legs=less)))


async def test_a_payment_reduces_the_payers_own_balance(tmp_path: Path) -> None:
    shown = tool("get_rider", "rider_id")
    async with service(tmp_path, FERRY, BOOK, MOVE, shown) as simulator, simulator.open("w") as world:
        assert refused(await world.call("book_ticket", asking(wallets=[{"wallet_id": "w9", "amount": 9}])))
        assert refused(await world.call("book_ticket", asking(wallets=[{"wallet_id": "w1", "amount": 99}])))
        assert refused(await world.call("book_ticket", asking(wallets=[{"wallet_id": "w1", "amount": -9}])))
        await world.call("book_ticket", asking())
        assert value(await world.call("get_rider", {"rider_id": "r1"}))["wallets"]["w1"]["amount"] == 11
        legs = [{"crossing_id": "F1", "date": "2031-06-01"}]
        assert refused(await world.call("update_ticket_legs", {"ticket_id": "K1", "legs": legs, "wallet_id": "w9"}))
        moved = value(await world.call("update_ticket_legs", {"ticket_id": "K1", "legs": legs, "wallet_id": "w2"}))
        assert moved["legs"][0]["price"] == 9


async def test_existing_lines_are_kept(tmp_path: Path) -> None:
    async with service(tmp_path, FERRY, MOVE) as simulator, simulator.open("w") as world:
        legs = [{"crossing_id": "F1", "date": "2031-05-01"}, {"crossing_id": "F1", "date": "2031-06-01"}]
        moved = value(await world.call("update_ticket_legs", {"ticket_id": "K1", "legs": legs, "wallet_id": "w2"}))
        assert [leg["price"] for leg in moved["legs"]] == [7, 9]


async def test_an_id_or_date_with_dots_is_one_key(tmp_path: Path) -> None:
    shown = tool("get_rider", "rider_id"), tool("get_crossing", "crossing_id")
    async with service(tmp_path, FERRY, BOOK, *shown) as simulator, simulator.open("w") as world:
        leg, wallet = {"crossing_id": "F1", "date": "03.06.2031"}, {"wallet_id": "bo@pay.example", "amount": 0.1}
        await world.call("book_ticket", asking(legs=[leg], wallets=[wallet]))
        crossing = value(await world.call("get_crossing", {"crossing_id": "F1"}))
        assert crossing["dates"]["03.06.2031"]["free_places"] == {"deck": 4}
        rider = value(await world.call("get_rider", {"rider_id": "r1"}))
        assert rider["wallets"]["bo@pay.example"] == {"kind": "voucher", "amount": 0.2}
