"""Generated records are plausible: they fit country and trade, are linked, and their times and totals agree."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_sim.generate.records import generate
from mcp_sim.generate.setting import detect_setting
from mcp_sim.simulator.compile import load
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.scenario import GivenRecords

Json = Any
NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)
TEXT: dict[str, Json] = {"type": "string"}
NUMBER: dict[str, Json] = {"type": "number"}
TIME: dict[str, Json] = {"type": "string", "format": "date-time"}


def entity(name: str, *fields: Field) -> Entity:
    return Entity(name, "id", f"{name[:3]}_0001", {"id": Field("id", TEXT), **{field.name: field for field in fields}})


def world(
    *entities: Entity, count: int = 200, description: str = "", seed: int = 1
) -> dict[str, list[dict[str, Json]]]:
    domain = Domain({}, {one.name: one for one in entities}, {}, description, NOW)
    tables = generate(domain, {one.name: GivenRecords(count) for one in entities}, seed)
    return {name: [*rows.values()] for name, rows in tables.items()}


def needed(name: str, schema: dict[str, Json], link: str | None = None) -> Field:
    return Field(name, schema, link, required=True)


@pytest.mark.parametrize(
    ("description", "country", "theme"),
    [("The CRM of a Dutch bike-parts wholesaler.", "NL", "bikes"), ("A bakery in Munich", "DE", "food"),
     ("Clinic in São Paulo: patients and doctors", "BR", "health"), ("東京の本屋", "JP", "books"),
     ("Uma loja de roupas", "BR", "fashion"), ("Die Buchhandlung am Markt", "DE", "books"),
     ("متجر", "SA", "general"), ("", "US", "general"), ("x" * 100_000, "US", "general")],
)  # fmt: skip
def test_the_description_decides_country_and_trade(description: str, country: str, theme: str) -> None:
    found = detect_setting(description)
    assert (found.locale.country_code, found.theme.name) == (country, theme)


def test_people_of_a_dutch_shop_have_matching_mail_addresses_and_dutch_telephone_numbers() -> None:
    shop = entity(
        "customer", needed("name", TEXT), needed("email", TEXT), needed("phone", TEXT), needed("country", TEXT)
    )
    rows = world(shop, description="A Dutch web shop")["customer"]
    assert all(row["phone"].startswith("+31 ") for row in rows)
    assert sum(row["country"] == "Netherlands" for row in rows) > 150
    assert len({row["email"] for row in rows}) == len(rows)
    assert all(row["email"].isascii() and row["email"].endswith(".example") for row in rows)
    plain = [row for row in rows if row["name"].isascii()]
    assert len(plain) > 100
    assert all(
        row["email"].startswith(".".join(row["name"].lower().replace("'", ".").replace("-", ".").split()))
        for row in plain
    )


def test_some_records_are_linked_to_often_and_none_before_its_creation() -> None:
    customer = entity("customer", needed("created_at", TIME))
    order = entity("order", needed("created_at", TIME), needed("customer_id", TEXT, "customer"))
    tables = world(customer, order, count=500)
    made = {row["id"]: row["created_at"] for row in tables["customer"]}
    late = [row for row in tables["order"] if made[row["customer_id"]] > row["created_at"]]
    assert not late
    often = Counter(row["customer_id"] for row in tables["order"]).most_common()
    assert often[0][1] > 4
    assert len(often) < 400


def test_required_links_in_a_cycle_and_to_the_same_entity_have_targets() -> None:
    team = entity("team", needed("lead_id", TEXT, "person"))
    person = entity("person", needed("team_id", TEXT, "team"), needed("boss_id", TEXT, "person"))
    tables = world(team, person, count=50)
    people = {row["id"]: row for row in tables["person"]}
    assert all(row["lead_id"] in people for row in tables["team"])
    assert {row["team_id"] for row in people.values()} <= {row["id"] for row in tables["team"]}
    assert all(row["boss_id"] < row["id"] or row is tables["person"][0] for row in people.values())


def test_a_reply_is_in_the_channel_of_its_message_and_memberships_are_unique() -> None:
    scenario = load("calm_chat")
    tables = generate(scenario.domain, scenario.records, 3)
    messages = tables["message"]
    replies = [row for row in messages.values() if row["thread_id"] is not None]
    assert len(replies) > 50
    assert all(messages[row["thread_id"]]["channel_id"] == row["channel_id"] for row in replies)
    pairs = [(row["channel_id"], row["user_id"]) for row in tables["member"].values()]
    assert len(set(pairs)) > 0.9 * len(pairs)


def test_event_times_agree_with_the_status_and_precede_the_last_change() -> None:
    states = {"type": "string", "enum": ["pending", "paid", "shipped", "delivered", "cancelled"]}
    maybe = {"type": ["string", "null"], "format": "date-time"}
    times = [Field(name, maybe, required=True) for name in ("paid_at", "shipped_at", "delivered_at", "cancelled_at")]
    order = entity("order", needed("status", states), needed("created_at", TIME), needed("updated_at", TIME), *times)
    for row in world(order)["order"]:
        assert (row["cancelled_at"] is not None) == (row["status"] == "cancelled")
        assert (row["paid_at"] is not None) == (row["status"] in {"paid", "shipped", "delivered"})
        assert (row["delivered_at"] is not None) == (row["status"] == "delivered")
        shown = [row[time.name] for time in times if row[time.name] is not None]
        assert all(row["created_at"] <= time <= row["updated_at"] <= "2030-01-01T09:00:00Z" for time in shown)


def test_totals_are_sums_and_a_payment_has_the_amount_of_its_order() -> None:
    euros = {"type": "string", "enum": ["USD", "EUR"]}
    order = entity(
        "order", needed("subtotal", NUMBER), needed("tax", NUMBER), needed("total", NUMBER), needed("currency", euros)
    )
    line = entity(
        "order_line", needed("quantity", {"type": "integer"}), needed("unit_price", NUMBER), needed("total", NUMBER)
    )
    payment = entity("payment", needed("order_id", TEXT, "order"), needed("amount", NUMBER), needed("currency", euros))
    tables = world(order, line, payment)
    assert all(row["total"] == round(row["subtotal"] + row["tax"], 2) for row in tables["order"])
    assert all(row["total"] == round(row["quantity"] * row["unit_price"], 2) for row in tables["order_line"])
    orders = {row["id"]: row for row in tables["order"]}
    for row in tables["payment"]:
        assert (row["amount"], row["currency"]) == (
            orders[row["order_id"]]["total"],
            orders[row["order_id"]]["currency"],
        )


def test_line_items_add_up_to_the_total() -> None:
    line = {"quantity": {"type": "integer"}, "unit_price": NUMBER, "amount": NUMBER}
    lines = {"type": "array", "items": {"type": "object", "properties": line, "required": [*line]}}
    sums = [needed(name, NUMBER) for name in ("subtotal", "vat_rate", "vat_amount", "shipping_cost", "total")]
    for row in world(entity("order", needed("items", lines), *sums))["order"]:
        assert row["items"]
        assert all(one["amount"] == round(one["quantity"] * one["unit_price"], 2) for one in row["items"])
        assert row["subtotal"] == round(sum(one["quantity"] * one["unit_price"] for one in row["items"]), 2)
        assert row["vat_amount"] == pytest.approx(row["subtotal"] * row["vat_rate"] / 100, abs=0.011)
        assert row["total"] == round(row["subtotal"] + row["vat_amount"] + row["shipping_cost"], 2)


@pytest.mark.parametrize(
    ("noun", "name", "low", "high"),
    [
        ("patient", "temperature_c", 36, 40),
        ("vital_signs", "body_temperature", 36, 40),
        ("employee", "hours_per_week", 8, 40),
        ("contract", "weekly_hours", 8, 40),
        ("product", "discount_percent", 0, 30),
        ("job", "exit_code", 0, 0),
    ],
)
def test_numbers_are_usual_for_what_they_measure(noun: str, name: str, low: float, high: float) -> None:
    rows = world(entity(noun, needed(name, NUMBER)))[noun]
    assert all(low <= row[name] <= high for row in rows)


@pytest.mark.parametrize("name", ["born", "born_on"])
def test_people_are_born_years_before(name: str) -> None:
    rows = world(entity("employee", needed(name, {"type": "string", "format": "date"})))["employee"]
    assert all("1920" < row[name] < "2020" for row in rows)


def test_the_next_date_of_recent_records_is_to_come() -> None:
    rows = world(entity("patient", needed("next_visit", {"type": "string", "format": "date"})))["patient"]
    assert sum(row["next_visit"] >= "2030" for row in rows) > 100
