"""Given states of any form and the tools on them: tables, nested records, singletons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import STRING, service, value

from mcp_sim.plans.infer.given_state import read_given_state
from mcp_sim.plans.infer.names import parse_tool_names
from mcp_sim.plans.infer.state_tables import Nouns, collect_nouns
from mcp_sim.types import Observation, Tool, ToolResult

Json = Any


def tool(name: str, arguments: Json = None, *required: str, output: Json = None, about: str = "") -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": arguments or {}, "required": list(required)}
    more = {"outputSchema": {"type": "object", "properties": output}} if output else {}
    return {"name": name, "description": about, "inputSchema": schema, **more}


def refusal(observation: Observation) -> str:
    body = observation.body
    assert isinstance(body, ToolResult)
    assert body.is_error
    return str(body.value)


# what a state holds ---------------------------------------------------------------------------------------------------


def test_a_mapping_is_a_table_with_inner_or_outer_keys() -> None:
    found = read_given_state({
        "books": {"b1": {"book_id": "b1", "title": "Dune"}, "b2": {"book_id": "b2", "title": "Emma"}},
        "loans_db": {"7": {"title": "Dune"}, "8": {"title": "Emma"}},
    }, Nouns(frozenset({"book", "loan"}), frozenset({"loan_id"}), frozenset({"loan_id"})))  # fmt: skip
    assert (found.entities["book"].key, found.entities["book"].fields["book_id"].hidden) == ("book_id", False)
    assert (found.entities["loan"].key, found.entities["loan"].fields["loan_id"].hidden) == ("loan_id", False)
    assert [row["loan_id"] for row in found.records["loan"]] == [7, 8]


def test_nested_records_are_an_entity_if_tools_mention_them() -> None:
    shelf = {
        "shelf_id": "s1",
        "copies": {"c1": {"copy_id": "c1", "worn": False}, "c2": {"copy_id": "c2", "worn": True}},
    }
    entities = read_given_state({"shelves": {"s1": shelf}}, Nouns(frozenset({"shelf", "copy"}))).entities
    inside = entities["copy"].inside
    assert inside is not None
    assert (inside.entity, inside.field, entities["copy"].key) == ("shelf", "copies", "copy_id")
    assert "copy" not in read_given_state({"shelves": {"s1": shelf}}, Nouns(frozenset({"shelf"}))).entities


# how tools work on it -------------------------------------------------------------------------------------------------


async def test_nested_records_are_read(tmp_path: Path) -> None:
    copies = {"c1": {"copy_id": "c1", "price": 3}, "c2": {"copy_id": "c2", "price": 4}}
    sim = service(
        tmp_path, {"books": {"b1": {"book_id": "b1", "copies": copies}}},
        tool("get_copy", {"copy_id": STRING}, "copy_id"), tool("get_book", {"book_id": STRING}, "book_id"),
    )  # fmt: skip
    async with sim, sim.open() as world:
        assert value(await world.call("get_copy", {"copy_id": "c2"})) == {"copy_id": "c2", "price": 4}
        assert "c9" in refusal(await world.call("get_copy", {"copy_id": "c9"}))


async def test_nested_records_are_listed_by_their_holder_and_changes_of_them_are_guesses(tmp_path: Path) -> None:
    copies = {f"b{at}": {"book_id": f"b{at}", "copies": [{"copy_id": f"c{at}", "price": at}]} for at in (1, 2)}
    sim = service(
        tmp_path, {"books": copies}, tool("get_book", {"book_id": STRING}, "book_id"),
        tool("list_copies", {"book_id": STRING}), tool("update_copy", {"copy_id": STRING, "worn": STRING}, "copy_id"),
    )  # fmt: skip
    async with sim, sim.open() as world:
        assert value(await world.call("list_copies", {"book_id": "b2"})) == [{"copy_id": "c2", "price": 2}]
        assert (await world.call("update_copy", {"copy_id": "c2", "worn": "a bit"})).ok
        assert world.ledger.steps[-1]["guessed"]


async def test_a_counter_continues_the_format_of_given_ids(tmp_path: Path) -> None:
    state = {"cases": {"T7": {"case_id": "T7", "title": "Old"}}, "case_counter": 8}
    create = tool("create_case", {"title": STRING}, "title")
    async with service(tmp_path, state, create, tool("get_case", {"case_id": STRING}, "case_id")) as sim:
        world = sim.world("one")
        made = [value(await world.call("create_case", {"title": "New"}))["case_id"] for _ in range(2)]
        assert made == ["T8", "T9"]
        assert value(await world.call("get_case", {"case_id": "T9"}))["title"] == "New"


async def test_tables_of_rows_with_named_columns_are_read(tmp_path: Path) -> None:
    for rows in (
        {"columns": ["id", "title"], "rows": [["b1", "Dune"], ["b2", "Emma"]]},
        {"columns": [{"name": "id"}, {"name": "title"}], "rows": [["b1", "Dune"], ["b2", "Emma"]], "total": 2},
        {"rows": [{"id": "b1", "title": "Dune"}, {"id": "b2", "title": "Emma"}]},
        {"items": {"b1": {"title": "Dune"}, "b2": {"title": "Emma"}}},
    ):
        tools = tool("get_book", {"id": STRING}, "id"), tool("list_books")
        for state in ({"books": rows}, {"library": {"tables": {"books": rows}}}):
            async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
                assert value(await world.call("get_book", {"id": "b2"}))["title"] == "Emma"


INTEGERS = {"type": "array", "items": {"type": "integer"}}
PRICES = {"type": "object", "additionalProperties": {"type": "number"}}
ADA_AND_BEN = {"customers": [{"customer_id": "ada", "name": "Ada"}, {"customer_id": "ben", "name": "Ben"}]}
TERMS = {"deposit": 60.5, "days": 4}
LESSONS = {"Ada": {"monday": [{"at": "09:00"}], "friday": [{"at": "14:00"}]}, "Ben": {"monday": [{"at": "16:00"}]}}
GAUGES = {"North": [{"level": 3}], "South": [{"level": 8}, {"level": 9}]}
SHOWN_PARTS: dict[str, tuple[Json, Json, Json, Json]] = {
    "a value by its name, in a table that is not plural": (
        {"stock": {"hops": 12.5, "malt": 340}}, tool("check_stock", {"item": STRING}, "item"), {"item": "hops"},
        {"item": "hops", "stock": 12.5},
    ),
    "a record by a field named like it": (
        {"tanks": [{"tank": "T-1", "litres": 800}, {"tank": "T-2", "litres": 90}]},
        tool("get_tank", {"tank": STRING}, "tank"), {"tank": "T-2"}, {"tank": "T-2", "litres": 90},
    ),
    "a map, where the schema declares one": (
        {"prices": {"small": 2.5, "large": 4.0}}, tool("list_prices", output={"prices": PRICES}), {},
        {"prices": {"small": 2.5, "large": 4.0}},
    ),
    "an object that a result shows, in the plural": (
        {"terms": TERMS}, tool("get_terms", output={name: {"type": "number"} for name in TERMS}), {}, TERMS,
    ),
    "an object under another part of the noun": (
        {"firm": {"profile": {"name": "Hebridean Links", "vat": "GB 8"}, "staff": {"count": 4}}},
        tool("get_firm_profile"), {}, {"name": "Hebridean Links", "vat": "GB 8"},
    ),
    "rows of two parents": (
        {"lessons": LESSONS, "teachers": ["Ada", "Ben"]},
        tool("get_lessons", {"teacher": STRING, "day": STRING}, "teacher", "day"), {"teacher": "Ada", "day": "monday"},
        [{"at": "09:00", "teacher": "Ada", "day": "monday"}],
    ),
    "ids of members": (
        {**ADA_AND_BEN, "favourites": {"ada": [14, 11], "ben": [11]}},
        tool("get_favourites", {"customer_id": STRING}, "customer_id", output={"book_ids": INTEGERS}),
        {"customer_id": "ada"}, {"book_ids": [14, 11]},
    ),
    "details of a record": (
        {"stations": {"North": {"lat": 46.4}, "South": {"lat": 8.1}}},
        tool("station_info", {"station": STRING}, "station"), {"station": "South"}, {"lat": 8.1},
    ),
    "a value of its own beside the records that have it": (
        {"boats": [{"name": "Fen", "metres": 12}, {"name": "Ebb", "metres": 9}], "boat_owners": {"Fen": "Senara"}},
        tool("get_boat_owner", {"boat": STRING}, "boat"), {"boat": "Fen"}, {"boat": "Fen", "owner": "Senara"},
    ),
    "a price per unit": (
        {"prices": {"comte": 28.9, "bleu": 22.4}}, tool("get_price_per_kg", {"variety": STRING}, "variety"),
        {"variety": "bleu"}, {"variety": "bleu", "price": 22.4},
    ),
    "rows of a parent, by a noun without a verb": (
        {"stations": ["North", "South"], "readings": GAUGES},
        tool("readings_for_station", {"station": STRING}, "station"), {"station": "North"},
        [{"level": 3, "station": "North"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("part", SHOWN_PARTS)
async def test_every_part_is_shown_by_the_tool_that_means_it(tmp_path: Path, part: str) -> None:
    state, reader, arguments, shown = SHOWN_PARTS[part]
    async with service(tmp_path, state, reader) as simulator, simulator.open("w") as world:
        assert value(await world.call(reader["name"], arguments)) == shown


def test_arguments_are_known_by_the_noun_and_by_its_last_word() -> None:
    service_tool = Tool("plan", "gym", tool("get_training_plan", {"weekday": STRING}, "weekday"))
    nouns = collect_nouns(parse_tool_names({service_tool.id: service_tool}), {service_tool.id: service_tool})
    assert nouns.asked == {"training_plan": ["weekday"], "plan": ["weekday"]}


@pytest.mark.parametrize(
    ("noun", "act", "settled"),
    [("invoice", "pay", "paid"), ("loan", "return", "returned"), ("chore", "finish", "finished")],
)
async def test_a_state_before_the_noun_selects_among_given_records(
    tmp_path: Path, noun: str, act: str, settled: str
) -> None:
    shown = {f"{noun}_id": STRING, "title": STRING, settled: {"type": "boolean"}}
    rows = [
        {f"{noun}_id": "i-7", "title": "Rent", settled: False},
        {f"{noun}_id": "i-8", "title": "Gas", settled: True},
    ]
    every = {f"{noun}s": {"type": "array", "items": {"type": "object", "properties": shown}}}
    tools = [
        tool(f"list_overdue_{noun}s", output=every),
        tool(f"{act}_{noun}", {f"{noun}_id": STRING}, f"{noun}_id", output=shown),
    ]
    async with service(tmp_path, {f"{noun}s": rows}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(tools[0]["name"])) == {f"{noun}s": rows[:1]}
        assert world.ledger.newest["step"]["guessed"]  # no field says when it was due
        assert value(await world.call(tools[1]["name"], {f"{noun}_id": "i-7"})) == {**rows[0], settled: True}
        assert value(await world.call(tools[0]["name"])) == {f"{noun}s": []}
        assert refusal(await world.call(tools[1]["name"], {f"{noun}_id": "i-9"}))


@pytest.mark.parametrize(("parent", "row"), [("patient", "visit_note"), ("horse", "treatment"), ("boat", "inspection")])
async def test_a_history_lists_the_given_rows_that_its_description_names(tmp_path: Path, parent: str, row: str) -> None:
    state = {f"{parent}s": {"p-1": {"name": "Ines"}, "p-2": {"name": "Omar"}}, f"{row}s": {"p-1": [{"text": "Fine."}]}}
    about = f"{row.replace('_', ' ').capitalize()}s of a {parent}, newest first."
    tools = [
        tool(f"get_{parent}", {f"{parent}_id": STRING}, f"{parent}_id"),
        tool(f"add_{row}", {f"{parent}_id": STRING, "text": STRING}, f"{parent}_id", "text"),
        tool(f"get_{parent}_history", {f"{parent}_id": STRING}, f"{parent}_id", about=about),
    ]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call(f"add_{row}", {f"{parent}_id": "p-2", "text": "Lame."})
        for key, text in (("p-1", "Fine."), ("p-2", "Lame.")):
            shown = value(await world.call(f"get_{parent}_history", {f"{parent}_id": key}))
            assert [entry["text"] for entry in shown] == [text]


async def test_what_is_called_off_and_shown_is_not_removed(tmp_path: Path) -> None:
    shown = {"worker_id": STRING, "name": STRING, "active": {"type": "boolean"}}
    state = {"workers": [{"worker_id": "w-1", "name": "Ada", "active": True}]}
    tools = [tool(f"{act}_worker", {"worker_id": STRING}, "worker_id", output=shown) for act in ("get", "terminate")]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        ended = value(await world.call("terminate_worker", {"worker_id": "w-1"}))
        assert ended == {"worker_id": "w-1", "name": "Ada", "active": False}
        assert value(await world.call("get_worker", {"worker_id": "w-1"})) == ended


@pytest.mark.parametrize(
    ("name", "argument", "field"),
    [("reschedule_visit", "new_time", "start_time"), ("extend_visit", "new_date", "due_date"),
     ("relocate_visit", "new_address", "street_address")],
)  # fmt: skip
async def test_a_new_value_replaces_the_only_field_that_ends_so(
    tmp_path: Path, name: str, argument: str, field: str
) -> None:
    get = tool("get_visit", {"visit_id": STRING}, "visit_id")
    change = tool(name, {"visit_id": STRING, argument: STRING}, "visit_id", argument, about="Change a visit.")
    state = {"visits": [{"visit_id": "v-1", field: "before", "doctor": "Ada"}]}
    async with service(tmp_path, state, get, change) as simulator, simulator.open("w") as world:
        await world.call(name, {"visit_id": "v-1", argument: "after"})
        changed = {"visit_id": "v-1", field: "after", "doctor": "Ada"}
        assert value(await world.call("get_visit", {"visit_id": "v-1"})) == changed


@pytest.mark.parametrize(("first", "noun"), [("leave", "request"), ("refund", "claim"), ("visa", "case")])
async def test_a_part_of_its_name_means_given_records(tmp_path: Path, first: str, noun: str) -> None:
    key, texts = f"{noun}_id", {"type": "string"}
    rows: Json = [{key: "r1", "status": "pending", "note": "a"}, {key: "r2", "status": "approved", "note": "b"}]
    tools = [
        tool(f"list_pending_{noun}s"),
        tool(f"get_{first}_{noun}", {key: texts}, key),
        tool(f"approve_{first}", {key: texts}, key),
        tool(f"reject_{noun}", {key: texts}, key),
    ]
    async with service(tmp_path, {f"{first}_{noun}s": rows}, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"list_pending_{noun}s")) == [rows[0]]
        assert (await world.call(f"approve_{first}", {key: "r1"})).ok
        assert value(await world.call(f"get_{first}_{noun}", {key: "r1"}))["status"] == "approved"
        assert (await world.call(f"reject_{noun}", {key: "r2"})).ok
        assert value(await world.call(f"get_{first}_{noun}", {key: "r2"}))["status"] == "rejected"
        assert value(await world.call(f"list_pending_{noun}s")) == []
        assert refusal(await world.call(f"approve_{first}", {key: "r9"}))
