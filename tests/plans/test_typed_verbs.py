"""What typed tools do: batches, puts, toggles, first values of new records, and numbers that sum up records."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, cast

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any
FLAG, WHOLE, AMOUNT, TIME = ({"type": "boolean"}, {"type": "integer"}, {"type": "number"},
                             {"type": "string", "format": "date-time"})  # fmt: skip
STATES: Json = {"type": "string", "enum": ["open", "held", "approved"]}


def thing(*optional: str, **fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [name for name in fields if name not in optional]}


def rows(schema: Json) -> Json:
    return {"type": "array", "items": schema}


CLAIM = {"claim_id": TEXT, "title": TEXT, "status": STATES}
CREATE_CLAIM = tool("create_claim", needed="title", title=TEXT, output=thing(**CLAIM))
GET_CLAIM = tool("get_claim", needed="claim_id", claim_id=TEXT, output=thing(**CLAIM))


@pytest.mark.parametrize(("verb", "state"), [("hold", "held"), ("approve", "approved")])
async def test_rows_of_a_batch_report_what_happened_to_each_item(tmp_path: Path, verb: str, state: str) -> None:
    row = thing("error", claim_id=TEXT, **{state: FLAG}, error=TEXT)
    result = {"results": rows(row), f"{state}_count": WHOLE}
    many = tool(
        f"{verb}_claims", needed="claim_ids", claim_ids={"type": "array", "items": TEXT}, output=thing(**result)
    )
    async with simulator(tmp_path, [CREATE_CLAIM, GET_CLAIM, many]).open() as world:
        key = (await answered(world, "create_claim", title="Roof"))["claim_id"]
        shown = await answered(world, many["name"], claim_ids=[key, "none"])
        done, failed = shown["results"]
        assert done == {"claim_id": key, state: True}
        assert (failed["claim_id"], failed[state]) == ("none", False)
        assert "none" in failed["error"]
        assert shown[f"{state}_count"] == 1
        assert (await answered(world, "get_claim", claim_id=key))["status"] == state


@pytest.mark.parametrize("verb", ["archive", "delete", "approve"])
@pytest.mark.parametrize(
    ("key", "asked", "many"),
    [
        ("id", "member_id", "member_ids"),
        ("uuid", "id", "ids"),
        ("gid", "team_member_id", "ids"),
        ("number", "number", "numbers"),
    ],
)
async def test_rows_of_a_batch_name_each_item_by_the_key_that_other_tools_take(
    tmp_path: Path, verb: str, key: str, asked: str, many: str
) -> None:
    kind: Json = WHOLE if key == "number" else {**TEXT, **({"format": "uuid"} if key == "uuid" else {})}
    member = thing(**{key: kind}, name=TEXT)
    row = thing("error", **{asked: kind}, done=FLAG, error=TEXT)
    batch = tool(f"{verb}_team_members", **{many: rows(kind)}, output=thing(results=rows(row), failed_count=WHOLE))
    tools = [
        tool("create_team_member", name=TEXT, output=member),
        tool("get_team_member", **{asked: kind}, output=member),
        batch,
    ]
    async with simulator(tmp_path, tools).open() as world:
        known = (await answered(world, "create_team_member", name="Ada"))[key]
        unknown = {"uuid": "00000000-0000-4000-8000-000000000000", "number": 99_999}.get(key, "none")
        shown = await answered(world, batch["name"], **{many: [known, unknown]})
        assert [(row[asked], row["done"]) for row in shown["results"]] == [(known, True), (unknown, False)]
        assert ("error" in shown["results"][0], shown["failed_count"]) == (False, 1)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("total", 3), ("totalCount", 3), ("gate_passes_count", 3), ("passes_total", 3), ("active_count", 2),
        ("active_passes", 2), ("total_visits", 6), ("average_visits", 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["", "page."])
async def test_numbers_beside_rows_sum_them_up(tmp_path: Path, name: str, count: float, place: str) -> None:
    fields = {"id": TEXT, "active": FLAG, "visits": WHOLE}
    listed = thing(passes=rows(thing(**fields)), total_results=WHOLE, **{name: AMOUNT})
    state = [{"id": str(at), "active": at < 2, "visits": at + 1} for at in range(3)]
    tools = [tool("list_gate_passes", output=thing(page=listed) if place else listed)]
    async with simulator(tmp_path, tools, {"gate_passes": state}).open() as world:
        shown = await answered(world, "list_gate_passes")
        assert (shown["page"] if place else shown)[name] == count


async def test_put_updates_a_record_or_creates_it(tmp_path: Path) -> None:
    rule = {"rule_id": TEXT, "name": TEXT, "limit": WHOLE, "enabled": FLAG}
    put = tool("put_rule", "Update a rule.", needed="rule_id", output=thing(**rule), **rule)
    async with simulator(tmp_path, [put, tool("list_rules", output=thing(rules=rows(thing(**rule))))]).open() as world:
        before = len((await answered(world, "list_rules"))["rules"])
        for limit in (10, 25):
            shown = await answered(world, "put_rule", rule_id="R-1", name="Lamps", limit=limit)
            assert (shown["rule_id"], shown["limit"], shown["enabled"]) == ("R-1", limit, True)
        assert len((await answered(world, "list_rules"))["rules"]) == before + 1


PASS = {"pass_id": TEXT, "holder": TEXT, "active": FLAG, "visits_left": WHOLE, "used": WHOLE}
PASSES = [
    tool("issue_pass", needed="holder", holder=TEXT, visits={**WHOLE, "default": 0}, output=thing(**PASS)),
    tool("toggle_pass_active", needed="pass_id", pass_id=TEXT, output=thing(**PASS)),
    tool("visit_pass", needed="pass_id", pass_id=TEXT, output=thing(**PASS)),
    tool("renew_pass", needed="pass_id", pass_id=TEXT, output=thing(**PASS)),
    tool("get_pass", needed="pass_id", pass_id=TEXT, output=thing(**PASS)),
    tool("list_passes", needed="", active_only={**FLAG, "default": True}, output=thing(passes=rows(thing(**PASS)))),
]


@pytest.mark.parametrize("visits", [None, 0, 2])
async def test_flags_and_counters_of_new_records_follow_the_arguments(tmp_path: Path, visits: int | None) -> None:
    async with simulator(tmp_path, PASSES).open() as world:
        created = await answered(world, "issue_pass", holder="Ada", **({} if visits is None else {"visits": visits}))
        assert (created["active"], created["visits_left"], created["used"]) == (True, visits or 0, 0)


async def test_a_toggle_negates_a_flag_and_the_default_of_a_filter_applies(tmp_path: Path) -> None:
    async with simulator(tmp_path, PASSES).open() as world:
        key = (await answered(world, "issue_pass", holder="Ada"))["pass_id"]
        assert [(await answered(world, "toggle_pass_active", pass_id=key))["active"] for _ in range(3)] == [
            False, True, False
        ]  # fmt: skip
        shown = (await answered(world, "list_passes"))["passes"]
        assert all(row["active"] for row in shown)
        whole = (await answered(world, "list_passes", active_only=False))["passes"]
        assert key in {row["pass_id"] for row in whole} - {row["pass_id"] for row in shown}


@pytest.mark.parametrize("place", ["", "result", "data.kiln"])
@pytest.mark.parametrize("beside", [{}, {"message": TEXT}, {"ok": FLAG}])
async def test_a_flag_is_that_of_the_record_which_the_result_shows(tmp_path: Path, place: str, beside: Json) -> None:
    record = shown = thing(kiln_id=TEXT, name=TEXT, active=FLAG, fired=FLAG)
    for name in filter(None, reversed(place.split("."))):
        shown = thing(**{name: shown}, **beside)
    tools = [
        tool("create_kiln", name=TEXT, output=shown),
        tool("get_kiln", id=TEXT, output=shown),
        tool("toggle_kiln_active", id=TEXT, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:

        async def kiln(called: str, **arguments: Json) -> Json:
            return reduce(getitem, filter(None, place.split(".")), await answered(world, called, **arguments))

        created = await kiln("create_kiln", name="Raku")
        assert set(created) == set(record["properties"])
        toggled = await kiln("toggle_kiln_active", id=created["kiln_id"])
        assert toggled == {**created, "active": not created["active"]} == await kiln("get_kiln", id=created["kiln_id"])


async def test_an_update_of_which_nothing_is_known_is_guessed(tmp_path: Path) -> None:
    async with simulator(tmp_path, PASSES).open() as world:
        key = (await answered(world, "issue_pass", holder="Ada", visits=1))["pass_id"]
        await answered(world, "renew_pass", pass_id=key)
        assert world.ledger.steps[-1]["guessed"]


async def test_a_state_is_stamped_with_the_time_of_the_call(tmp_path: Path) -> None:
    order = {"order_id": TEXT, "status": {"type": "string", "enum": ["open", "cancelled"]}, "created_at": TIME}
    tools = [
        tool("create_order", needed="note", note=TEXT, output=thing(**order)),
        tool("cancel_order", needed="order_id", order_id=TEXT, output=thing(order_id=TEXT, cancelled_at=TIME)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "create_order", note="x")
        await world.advance(timedelta(hours=1))
        cancelled = await answered(world, "cancel_order", order_id=created["order_id"])
        assert cancelled["cancelled_at"] > created["created_at"]


PART = {"part_id": TEXT, "kind": TEXT, "unit_cost_eur": AMOUNT, "quantity": WHOLE, "allocated": WHOLE, "active": FLAG}


async def test_numbers_of_a_declared_digest_are_computed(tmp_path: Path) -> None:
    row = thing(kind=TEXT, parts=WHOLE, total_quantity=WHOLE)
    result = {"part_count": WHOLE, "total_units": WHOLE, "total_value_eur": AMOUNT, "active_parts": WHOLE,
              "average_quantity": AMOUNT, "by_kind": rows(row), "summary": TEXT}  # fmt: skip
    add = tool("add_part", needed="kind", kind=TEXT, unit_cost_eur=AMOUNT, quantity=WHOLE, output=thing(**PART))
    sums = tool("stock_report", output=thing(**result))
    async with simulator(tmp_path, [add, sums], world={"records": {"part": 0}}).open() as world:
        for kind, cost, quantity in (("bolt", 0.5, 100), ("bolt", 1.5, 10), ("saw", 20, 3)):
            await answered(world, "add_part", kind=kind, unit_cost_eur=cost, quantity=quantity)
        shown = await answered(world, "stock_report")
    assert "113 total units" in shown.pop("summary")
    assert shown == {
        "part_count": 3, "total_units": 113, "total_value_eur": 125.0, "active_parts": 3, "average_quantity": 37.67,
        "by_kind": [
            {"kind": "bolt", "parts": 2, "total_quantity": 110}, {"kind": "saw", "parts": 1, "total_quantity": 3}
        ],
    }  # fmt: skip


@pytest.mark.parametrize("currency", ["usd", "eur"])
async def test_amounts_with_a_currency_in_their_names_agree(tmp_path: Path, currency: str) -> None:
    price, cost, total = f"unit_price_{currency}", f"line_total_{currency}", f"total_{currency}"
    line = thing(sku=TEXT, quantity=WHOLE, **{price: AMOUNT, cost: AMOUNT})
    sale = {"sale_id": TEXT, "lines": rows(line), total: AMOUNT}
    given = rows(thing(sku=TEXT, quantity=WHOLE))
    tools = [
        tool("create_sale", items=given, output=thing(**sale)),
        tool("list_sales", output=thing(sales=rows(thing(**sale)), **{f"total_{total}": AMOUNT})),
    ]
    async with simulator(tmp_path, tools).open() as world:
        await answered(world, "create_sale", items=[{"sku": "none", "quantity": 3}])
        shown = await answered(world, "list_sales")
        for row in shown["sales"]:
            assert all(item[cost] == pytest.approx(item[price] * item["quantity"], abs=0.01) for item in row["lines"])
            assert row[total] == pytest.approx(sum(item[cost] for item in row["lines"]), abs=0.01)
        assert shown[f"total_{total}"] == pytest.approx(sum(row[total] for row in shown["sales"]), abs=0.01)


async def test_generated_amounts_and_dates_agree(tmp_path: Path) -> None:
    day = {"type": "string", "format": "date"}
    leave = {"leave_id": TEXT, "from_date": day, "to_date": day}
    worker = {"worker_id": TEXT, "name": TEXT, "monthly_salary": AMOUNT}
    tools = [tool(f"list_{name}", output=thing(**{name: rows(thing(**fields))}))
             for name, fields in (("parts", PART), ("leaves", leave), ("workers", worker))]  # fmt: skip
    async with simulator(tmp_path, tools).open() as world:
        assert all(row["allocated"] <= row["quantity"] for row in (await answered(world, "list_parts"))["parts"])
        leaves = (await answered(world, "list_leaves"))["leaves"]
        assert leaves
        assert all(row["from_date"] < row["to_date"] for row in leaves)
        assert all(row["monthly_salary"] < 15_000 for row in (await answered(world, "list_workers"))["workers"])


VEHICLE = {"vehicle_id": TEXT, "plate": TEXT, "odometer_km": WHOLE, "seats": WHOLE, "seats_available": WHOLE}
TRIP = {"trip_id": TEXT, "vehicle_id": TEXT, "status": {"type": "string", "enum": ["in_progress", "completed"]},
        "distance_km": AMOUNT, "started_at": TIME, "ended_at": TIME}  # fmt: skip
TRIP_SHOWN = thing("ended_at", **TRIP)
FLEET = [
    tool("register_vehicle", plate=TEXT, odometer_km=WHOLE, seats=WHOLE, output=thing(**VEHICLE)),
    tool("get_vehicle", vehicle_id=TEXT, output=thing(**VEHICLE)),
    tool("add_mileage", vehicle_id=TEXT, km=WHOLE, output=thing(**VEHICLE)),
    tool("start_trip", vehicle_id=TEXT, output=TRIP_SHOWN),
    tool("end_trip", trip_id=TEXT, distance_km=AMOUNT, output=TRIP_SHOWN),
    tool("list_trips", vehicle_id=TEXT, output=thing(trips=rows(TRIP_SHOWN), total_km=AMOUNT)),
    tool("audit_trips", trip_ids={"type": "array", "items": TEXT},
         output=thing(results=rows(thing("error", trip_id=TEXT, audited=FLAG, error=TEXT)))),
]  # fmt: skip


async def test_what_is_added_to_a_named_record_changes_it(tmp_path: Path) -> None:
    async with simulator(tmp_path, FLEET).open() as world:
        created = await answered(world, "register_vehicle", plate="B 1", odometer_km=10, seats=4)
        assert created["seats_available"] == 4
        added = await answered(world, "add_mileage", vehicle_id=created["vehicle_id"], km=5)
        assert added == {**created, "odometer_km": 15}
        assert await answered(world, "get_vehicle", vehicle_id=created["vehicle_id"]) == added


async def test_an_unknown_verb_on_keys_reports_each_and_is_guessed(tmp_path: Path) -> None:
    async with simulator(tmp_path, FLEET).open() as world:
        key = (await answered(world, "register_vehicle", plate="B 1", odometer_km=10, seats=4))["vehicle_id"]
        trip = await answered(world, "start_trip", vehicle_id=key)
        shown = (await answered(world, "audit_trips", trip_ids=[trip["trip_id"], "none"]))["results"]
        assert [(row["trip_id"], row["audited"]) for row in shown] == [(trip["trip_id"], True), ("none", False)]
        assert world.ledger.steps[-1]["guessed"]


async def test_what_ends_is_completed_stamped_and_summed(tmp_path: Path) -> None:
    async with simulator(tmp_path, FLEET).open() as world:
        key = (await answered(world, "register_vehicle", plate="B 1", odometer_km=10, seats=4))["vehicle_id"]
        for distance in (2.5, 4):
            trip = await answered(world, "start_trip", vehicle_id=key)
            assert (trip["status"], "ended_at" in trip) == ("in_progress", False)
            ended = await answered(world, "end_trip", trip_id=trip["trip_id"], distance_km=distance)
            assert ended["status"] == "completed"
            assert ended["ended_at"] > trip["started_at"]
        assert (await answered(world, "list_trips", vehicle_id=key))["total_km"] == 6.5


ENTRY = {"id": TEXT, "cake_id": TEXT, "judge": TEXT, "score": WHOLE}
CAKES = [
    tool("add_cake", needed="title baker", title=TEXT, baker=TEXT, output=thing(id=TEXT, title=TEXT, baker=TEXT)),
    tool("score_cake", "Give a score.", needed="cake_id judge score", cake_id=TEXT, judge=TEXT, score=WHOLE,
         output=thing(**ENTRY)),
    tool("ranking", "Rank the cakes.", needed="", limit=WHOLE,
         output=thing(cakes=rows(thing(cake_id=TEXT, title=TEXT, average_score=AMOUNT, scores=WHOLE)))),
]  # fmt: skip


async def test_a_verb_of_its_own_makes_entries_and_a_ranking_sums_them_up(tmp_path: Path) -> None:
    async with simulator(tmp_path, CAKES, world={"records": {"cake": 0, "score": 0}}).open() as world:
        keys = [(await answered(world, "add_cake", title=title, baker="Ada"))["id"] for title in ("Tart", "Roll")]
        for key, points in ((keys[0], 4), (keys[0], 5), (keys[1], 9)):
            shown = await answered(world, "score_cake", cake_id=key, judge="Bo", score=points)
            assert (shown["cake_id"], shown["score"]) == (key, points)
            assert shown["id"] != key
        best = {"cake_id": keys[1], "title": "Roll", "average_score": 9, "scores": 1}
        assert (await answered(world, "ranking"))["cakes"][0] == best
        assert (await answered(world, "ranking", limit=1))["cakes"] == [best]


HARVEST = {"id": TEXT, "picked_on": {"type": "string", "format": "date"}, "kg": AMOUNT}
HARVESTS = [
    tool("log_harvest", needed="picked_on kg", output=thing(**HARVEST), picked_on=HARVEST["picked_on"], kg=AMOUNT),
    tool("harvest_report", needed="year", year=WHOLE,
         output=thing(year=WHOLE, total_kg=AMOUNT, harvest_count=WHOLE, harvests=rows(thing(**HARVEST)))),
]  # fmt: skip


async def test_a_report_of_a_year_has_its_records_and_their_sums(tmp_path: Path) -> None:
    async with simulator(tmp_path, HARVESTS, world={"records": {"harvest": 0}}).open() as world:
        created = [await answered(world, "log_harvest", picked_on=day, kg=kg) for day, kg in
                (("2031-05-01", 4), ("2031-06-01", 3), ("2032-05-01", 9))]  # fmt: skip
        report = await answered(world, "harvest_report", year=2031)
        assert report == {"year": 2031, "total_kg": 7, "harvest_count": 2, "harvests": created[:2]}


async def test_lines_cost_what_the_records_that_they_name_cost(tmp_path: Path) -> None:
    shown = thing(id=TEXT, seat=TEXT, ticket_price=AMOUNT)
    line = thing(show_id=TEXT, quantity=WHOLE, unit_price=AMOUNT, line_total=AMOUNT)
    tools = [
        tool("create_show", needed="seat ticket_price", seat=TEXT, ticket_price=AMOUNT, output=shown),
        tool("place_order", needed="lines", lines=rows(thing(show_id=TEXT, quantity=WHOLE)),
             output=thing(id=TEXT, lines=rows(line), total=AMOUNT)),
    ]  # fmt: skip
    async with simulator(tmp_path, tools).open() as world:
        key = (await answered(world, "create_show", seat="A", ticket_price=9.5))["id"]
        order = await answered(world, "place_order", lines=[{"show_id": key, "quantity": 3}])
        assert order["lines"] == [{"show_id": key, "quantity": 3, "unit_price": 9.5, "line_total": 28.5}]
        assert order["total"] == 28.5


PLOT = {"id": TEXT, "garden_id": TEXT, "status": STATES, "beds_planned": WHOLE}
PLOTS = [
    tool("create_garden", needed="name", name=TEXT, output=thing(id=TEXT, name=TEXT)),
    tool("create_plot", needed="garden_id", garden_id=TEXT, output=thing(**PLOT)),
    tool("get_plot", needed="plot_id", plot_id=TEXT, output=thing(**PLOT)),
    tool("move_plot", needed="plot_id to_garden_id", plot_id=TEXT, to_garden_id=TEXT, output=thing(**PLOT)),
    tool("judge_plot", needed="plot_id verdict", plot_id=TEXT, verdict={**STATES, "enum": ["held", "approved"]},
         output=thing(**PLOT)),
    tool("allot_beds", needed="plot_id beds", plot_id=TEXT, beds=WHOLE, output=thing(**PLOT)),
]  # fmt: skip


async def test_arguments_of_other_names_set_the_only_field_that_they_can_mean(tmp_path: Path) -> None:
    async with simulator(tmp_path, PLOTS).open() as world:
        first, second = [(await answered(world, "create_garden", name=name))["id"] for name in ("N", "S")]
        key = (await answered(world, "create_plot", garden_id=first))["id"]
        await answered(world, "move_plot", plot_id=key, to_garden_id=second)
        await answered(world, "judge_plot", plot_id=key, verdict="approved")
        await answered(world, "allot_beds", plot_id=key, beds=4)
        shown = await answered(world, "get_plot", plot_id=key)
        assert shown == {"id": key, "garden_id": second, "status": "approved", "beds_planned": 4}


@pytest.mark.parametrize(("part", "whole"), [("song", "playlist"), ("driver", "route"), ("volunteer", "shift")])
async def test_removing_a_record_from_another_keeps_both(tmp_path: Path, part: str, whole: str) -> None:
    alone, whole_shown = (
        {"id": TEXT, "label": TEXT, "place": TEXT},
        {"id": TEXT, "name": TEXT, f"{part}_ids": rows(TEXT)},
    )
    named = {f"{whole}_id": TEXT, f"{part}_id": TEXT}
    tools = [
        tool(f"create_{part}", needed="label place", label=TEXT, place=TEXT, output=thing(**alone)),
        tool(f"get_{part}", needed=f"{part}_id", output=thing(**alone), **{f"{part}_id": TEXT}),
        tool(f"create_{whole}", needed="name", name=TEXT, output=thing(**whole_shown)),
        tool(f"add_{part}_to_{whole}", needed=" ".join(named), output=thing(**whole_shown), **named),
        tool(f"remove_{part}_from_{whole}", needed=" ".join(named), output=thing(**whole_shown), **named),
    ]
    async with simulator(tmp_path, tools).open() as world:
        keys = [(await answered(world, f"create_{part}", label=text, place="x"))["id"] for text in ("A", "B")]
        at = {f"{whole}_id": (await answered(world, f"create_{whole}", name="W"))["id"]}
        added = [await answered(world, f"add_{part}_to_{whole}", **at, **{f"{part}_id": key}) for key in keys]
        assert added[-1][f"{part}_ids"] == keys
        shown = await answered(world, f"remove_{part}_from_{whole}", **at, **{f"{part}_id": keys[0]})
        assert (shown["id"], shown[f"{part}_ids"]) == (at[f"{whole}_id"], keys[1:])
        assert (await answered(world, f"get_{part}", **{f"{part}_id": keys[0]}))["label"] == "A"


LINE = thing(sku=TEXT, quantity=WHOLE, reserved=WHOLE, unit_price=AMOUNT, line_total=AMOUNT)


@pytest.mark.parametrize(
    ("owner", "rows_are", "adding", "removing"),
    [
        ("order", "lines", "add_item_to_order", "remove_item_from_order"),
        ("order", "items", "add_order_line", "remove_order_line"),
        ("cart", "positions", "add_product_to_cart", "remove_product_from_cart"),
        ("quote", "entries", "add_entry", "remove_entry"),
    ],
)
async def test_what_is_added_with_a_quantity_is_a_line_of_its_record(
    tmp_path: Path, owner: str, rows_are: str, adding: str, removing: str
) -> None:
    key, text, whole = f"{owner}_id", cast("Json", TEXT), cast("Json", WHOLE)
    shown = thing(**{f"{owner}_id": TEXT, "customer": TEXT, rows_are: rows(LINE), "total": AMOUNT})
    price = thing(sku=TEXT, name=TEXT, unit_price=AMOUNT)
    tools = [
        tool("create_product", sku=TEXT, name=TEXT, unit_price=AMOUNT, output=price),
        tool("get_product", sku=TEXT, output=price),
        tool(f"create_{owner}", customer=TEXT, output=shown),
        tool(f"get_{owner}", **{key: text}, output=shown),
        tool(adding, **{key: text, "sku": text, "quantity": whole}, output=shown),
        tool(removing, **{key: text, "sku": text}, output=shown),
    ]
    async with simulator(tmp_path, tools, world={"records": {"product": 0, owner: 0}}).open() as world:
        for sku, cost in (("L-1", 2.5), ("S-2", 10)):
            await answered(world, "create_product", sku=sku, name=sku, unit_price=cost)
        made = await answered(world, f"create_{owner}", customer="Ada")
        at = {key: made[key]}
        assert (made[rows_are], made["total"]) == ([], 0)
        await answered(world, adding, **at, sku="L-1", quantity=4)
        changed = await answered(world, adding, **at, sku="S-2", quantity=1)
        assert changed[rows_are] == [
            {"sku": "L-1", "quantity": 4, "reserved": 0, "unit_price": 2.5, "line_total": 10},
            {"sku": "S-2", "quantity": 1, "reserved": 0, "unit_price": 10, "line_total": 10},
        ]
        assert (changed["total"], world.ledger.steps[-1]["guessed"]) == (20, False)
        assert await answered(world, f"get_{owner}", **at) == changed
        await answered(world, adding, **at, sku="none", quantity=1)
        assert world.ledger.steps[-1]["guessed"]
        await answered(world, removing, **at, sku="none")
        left = await answered(world, removing, **at, sku="L-1")
        assert ([line["sku"] for line in left[rows_are]], left["total"]) == (["S-2"], 10)
        assert "no 'L-1'" in await refused(world, removing, **at, sku="L-1")
        assert not world.ledger.steps[-1].get("findings")
