"""Typed tools whose names say little: the type of the result says which records they show, read and change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

from mcp_sim.world.world import World

Json = Any
COUNT: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}


def typed(title: str, **fields: Json) -> Json:
    return {"type": "object", "title": title, "properties": fields, "required": [*fields]}


def listed(row: Json) -> Json:
    """Return the result of a function with a list, as servers in Python declare it."""
    rows: Json = {"type": "array", "items": row}
    return {"type": "object", "properties": {"result": rows}, "required": ["result"]}


async def asked(world: World, called: str, **arguments: Json) -> tuple[Json, bool]:
    """Return the answer, without its wrapper, and whether it is a guess."""
    answer = await answered(world, called, **arguments)
    return answer.get("result", answer), world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("noun", "mark", "owner"), [("van", "plate", "driver"), ("boat", "hull", "skipper"), ("phone", "imei", "client")]
)
async def test_rows_are_known_by_the_text_that_their_tools_require_not_by_an_owner(
    noun: str, mark: str, owner: str, is_first: bool, tmp_path: Path
) -> None:
    owned: dict[str, Json] = {f"{owner}_id": COUNT}
    fields = dict[str, Json]({mark: TEXT, **owned, "age": COUNT})
    row = typed(noun.title(), **fields)
    tools = [
        tool(f"register_{noun}", f"Register a {noun}.", output=row, **fields),
        tool(f"find_{noun}s", f"Find {noun}s of a {owner}.", output=listed(row), **owned),
        tool("update_age", f"Set the age of a {noun}.", output=row, **dict[str, Json]({mark: TEXT, "age": COUNT})),
    ]
    rows = [{mark: key, f"{owner}_id": at, "age": at} for at, key in enumerate(("A-1", "B-2"), 1)]
    rows = rows if is_first else [dict(sorted(row.items(), reverse=True)) for row in rows]
    state = {f"{owner}s": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}], f"{noun}s": rows}
    async with simulator(tmp_path, tools, state=state).open() as world:
        new = {mark: "C-3", f"{owner}_id": 2, "age": 7}
        if is_first:
            assert await asked(world, f"register_{noun}", **new) == (new, False)
            found, _ = await asked(world, f"find_{noun}s", **{f"{owner}_id": 2})
            assert [row[mark] for row in found] == ["B-2", "C-3"]
        assert (await asked(world, "update_age", **{mark: "B-2", "age": 9}))[0] == {**rows[1], "age": 9}


@pytest.mark.parametrize("single", ["settings", "info", "details"])
@pytest.mark.parametrize(("verb", "noun", "there"), [("restock", "part", "stock"), ("refill", "tank", "quantity")])
async def test_a_verb_without_a_noun_is_about_the_type_of_its_result(
    verb: str, noun: str, there: str, single: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{"sku": TEXT, there: COUNT, "price": NUMBER})
    tools = [
        tool(verb, f"Add received pieces to the {noun}.", output=row, sku=TEXT, qty=COUNT),
        tool(f"get_{noun}", f"Get a {noun}.", output=row, sku=TEXT),
    ]
    state = {f"{noun}s": [{"sku": "S1", there: 4, "price": 2.5}], single: {"currency": "EUR", "rate": 2}}
    async with simulator(tmp_path, tools, state=state).open() as world:
        expected = {"sku": "S1", there: 7, "price": 2.5}
        assert (await asked(world, verb, sku="S1", qty=3))[0] == expected
        assert await asked(world, f"get_{noun}", sku="S1") == (expected, False)


@pytest.mark.parametrize(
    ("holder", "act", "unit"), [("job", "labour", "hours"), ("trip", "distance", "km"), ("roast", "rest", "minutes")]
)
async def test_an_amount_with_the_key_of_a_record_enters_the_number_that_both_name(
    holder: str, act: str, unit: str, tmp_path: Path
) -> None:
    row = typed(holder.title(), **{"id": COUNT, "about": TEXT, f"{act}_{unit}": NUMBER})
    tools = [
        tool(f"log_{act}", f"Add {act} to a {holder}.", output=row, **{f"{holder}_id": COUNT, unit: NUMBER}),
        tool(f"get_{holder}", f"Get a {holder}.", output=row, **{f"{holder}_id": COUNT}),
    ]
    rows = [{"id": at, "about": "x", f"{act}_{unit}": 1.5} for at in (1, 2)]
    async with simulator(tmp_path, tools, state={f"{holder}s": rows}).open() as world:
        expected = {**rows[1], f"{act}_{unit}": 3.5}
        assert await asked(world, f"log_{act}", **{f"{holder}_id": 2, unit: 2}) == (expected, False)
        assert await asked(world, f"get_{holder}", **{f"{holder}_id": 2}) == (expected, False)


@pytest.mark.parametrize("word", ["last", "latest", "newest"])
@pytest.mark.parametrize(("noun", "owner"), [("reading", "meter"), ("visit", "patient"), ("inspection", "hive")])
async def test_the_last_record_is_read_and_none_is_made(noun: str, owner: str, word: str, tmp_path: Path) -> None:
    row, of_owner = typed(noun.title(), date=TEXT, value=COUNT, text=TEXT), dict[str, Json]({owner: TEXT})
    tools = [
        tool(f"{word}_{noun}", f"The {word} {noun} of a {owner}.", output=row, **of_owner),
        tool(f"get_{noun}s", f"The {noun}s of a {owner}.", output=listed(row), **of_owner),
    ]
    rows = [{"date": f"2026-0{at}-01", "value": at, "text": "x"} for at in (3, 5)]
    async with simulator(tmp_path, tools, state={f"{noun}s": {"A": rows, "B": rows[:1]}}).open() as world:
        assert (await asked(world, f"{word}_{noun}", **{owner: "A"}))[0] == rows[1]
        assert (await asked(world, f"get_{noun}s", **{owner: "A"}))[0] == rows


@pytest.mark.parametrize(("noun", "field", "word"), [("hive", "strength", "weak"), ("road", "surface", "paved")])
async def test_a_list_that_its_name_only_describes_shows_known_rows_and_is_a_guess(
    noun: str, field: str, word: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{"name": TEXT, field: TEXT, "year": COUNT})
    tools = [
        tool(f"{word}_{noun}s", f"The {noun}s that are {word}.", output=listed(row)),
        tool(f"get_{noun}", f"Get a {noun}.", output=row, name=TEXT),
    ]
    rows = [{"name": name, field: value, "year": 1} for name, value in (("A", word), ("B", "other"), ("C", word))]
    async with simulator(tmp_path, tools, state={f"{noun}s": rows}).open() as world:
        assert await asked(world, f"{word}_{noun}s") == ([rows[0], rows[2]], True)


@pytest.mark.parametrize(
    ("name", "about", "kept"),
    [
        ("low_stock", "Parts whose stock is below the threshold.", ["A"]),
        ("parts_to_order", "Parts with a stock under the threshold", ["A"]),
        ("well_stocked", "Parts whose stock is over the threshold.", ["C"]),
    ],
)
async def test_a_threshold_bounds_the_number_that_the_description_mentions(
    name: str, about: str, kept: list[str], tmp_path: Path
) -> None:
    row = typed("Part", sku=TEXT, stock=COUNT, price=NUMBER)
    tools = [
        tool(name, about, output=listed(row), needed="", threshold={**COUNT, "default": 5}),
        tool("get_part", "Get a part.", output=row, sku=TEXT),
    ]
    rows = [{"sku": sku, "stock": stock, "price": 1.5} for sku, stock in (("A", 3), ("B", 5), ("C", 8))]
    async with simulator(tmp_path, tools, state={"parts": rows}).open() as world:
        assert [row["sku"] for row in (await asked(world, name, threshold=5))[0]] == kept
        assert [row["sku"] for row in (await asked(world, name, threshold=0))[0]] == (
            [] if kept == ["A"] else ["A", "B", "C"]
        )


@pytest.mark.parametrize(("act", "entered"), [("add", "part"), ("add", "dose")])
async def test_what_enters_a_list_has_the_defaults_of_the_call(act: str, entered: str, tmp_path: Path) -> None:
    item = typed("Line", sku=TEXT, qty=COUNT)
    row = typed("Job", id=COUNT, about=TEXT, **{f"{entered}s": {"type": "array", "items": item}})
    amount = {**COUNT, "default": 1}
    tools = [
        tool(
            f"{act}_{entered}_to_job", "Use one.", output=row, needed="job_id sku", job_id=COUNT, sku=TEXT, qty=amount
        ),
        tool("get_job", "Get a job.", output=row, job_id=COUNT),
    ]
    async with simulator(tmp_path, tools, state={"jobs": [{"id": 1, "about": "x", f"{entered}s": []}]}).open() as world:
        answer, _ = await asked(world, f"{act}_{entered}_to_job", job_id=1, sku="S1")
        assert answer[f"{entered}s"] == [{"sku": "S1", "qty": 1}]


@pytest.mark.parametrize(("place", "noun"), [("apiary", "hive"), ("garden", "tree"), ("depot", "truck")])
async def test_lists_of_names_say_where_given_records_belong(place: str, noun: str, tmp_path: Path) -> None:
    row, names = typed(noun.title(), name=TEXT, age=COUNT, frames=COUNT), listed(TEXT)
    tools = [
        tool(f"list_{noun}s", f"Names of the {noun}s in a {place}.", names, place, **dict[str, Json]({place: TEXT})),
        tool(f"get_{noun}", f"Details of a {noun}.", row, name=TEXT),
        tool(
            f"move_{noun}",
            f"Move a {noun} to another {place}.",
            row,
            name=TEXT,
            **dict[str, Json]({f"to_{place}": TEXT}),
        ),
    ]
    places = f"{place}s" if place != "apiary" else "apiaries"
    tools.append(tool(f"list_{places}", f"Names of all {places}.", names))
    rows = {key: {"age": at, "frames": 8} for at, key in enumerate(("No. 1", "No. 2", "No. 3"))}
    state = {places: {"north": ["No. 1", "No. 2"], "south": ["No. 3"]}, f"{noun}s": rows}
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert await asked(world, f"list_{noun}s", **{place: "north"}) == (["No. 1", "No. 2"], False)
        await asked(world, f"move_{noun}", name="No. 1", **{f"to_{place}": "south"})
        assert (await asked(world, f"list_{noun}s", **{place: "north"}))[0] == ["No. 2"]
        assert sorted((await asked(world, f"list_{noun}s", **{place: "south"}))[0]) == ["No. 1", "No. 3"]
        assert await asked(world, f"get_{noun}", name="No. 2") == ({"name": "No. 2", "age": 1, "frames": 8}, False)


@pytest.mark.parametrize(
    ("part", "noun"), [("harvest_kg", "harvest"), ("rainfall_ml", "rainfall"), ("output_litres", "output")]
)
async def test_numbers_under_names_are_read_whatever_their_unit(part: str, noun: str, tmp_path: Path) -> None:
    number = {"type": "object", "properties": {"result": NUMBER}, "required": ["result"]}
    tools = [tool(f"get_{noun}", f"The {noun} of a field this year.", number, field=TEXT)]
    async with simulator(tmp_path, tools, state={part: {"north": 31.5, "south": 12}}).open() as world:
        assert await asked(world, f"get_{noun}", field="south") == (12, False)


@pytest.mark.parametrize("values", [("weak", "strong"), ("on_sale", "sold_out"), ("valid",)])
async def test_new_records_have_words_that_given_ones_have(values: tuple[str, ...], tmp_path: Path) -> None:
    row = typed("Colony", name=TEXT, strength=TEXT)
    tools = [tool("add_colony", "Add a colony.", row, name=TEXT), tool("list_colonies", "", listed(row))]
    rows = [{"name": str(at), "strength": value} for at, value in enumerate(values)]
    async with simulator(tmp_path, tools, state={"colonies": rows}).open() as world:
        shown = [(await asked(world, "add_colony", name=f"New {at}"))[0]["strength"] for at in range(5)]
        assert {*shown} <= {*values}


@pytest.mark.parametrize(("noun", "of", "many"), [("ticket", "show", "seats"), ("booking", "cabin", "nights")])
async def test_a_new_record_costs_as_many_as_it_names(noun: str, of: str, many: str, tmp_path: Path) -> None:
    key: dict[str, Json] = {f"{of}_id": TEXT}
    row = typed(noun.title(), **{"id": TEXT, "holder": TEXT, "total": NUMBER, many: COUNT, **key})
    tools = [tool(f"create_{noun}", f"Create a {noun}.", row, holder=TEXT, **{many: COUNT, **key})]
    state = {
        f"{of}s": [{"id": "A1", "price": 12.5}],
        f"{noun}s": [{"id": "T1", "holder": "Bo", "total": 7.5, many: 1, f"{of}_id": "A1"}],
    }
    async with simulator(tmp_path, tools, state=state).open() as world:
        answer, _ = await asked(world, f"create_{noun}", holder="Ada", **{many: 3, f"{of}_id": "A1"})
        assert answer["total"] == 37.5


@pytest.mark.parametrize(("name", "left"), [("seats_left", "available"), ("free_places", "remaining")])
async def test_a_result_repeats_the_given_record_that_a_call_names(name: str, left: str, tmp_path: Path) -> None:
    shown = typed("Places", **{"show_id": TEXT, "capacity": COUNT, "sold": COUNT, left: COUNT})
    tools = [
        tool(name, "How many there still are.", shown, show_id=TEXT),
        tool("get_show", "Get a show.", typed("Show", id=TEXT, name=TEXT, capacity=COUNT, sold=COUNT), show_id=TEXT),
    ]
    row = {"id": "A1", "name": "Tides", "capacity": 80, "sold": 30}
    async with simulator(tmp_path, tools, state={"shows": [row]}).open() as world:
        assert (await asked(world, name, show_id="A1"))[0] == {"show_id": "A1", "capacity": 80, "sold": 30, left: 50}


@pytest.mark.parametrize(("noun", "text"), [("notice", "text"), ("tag", "label"), ("rule", "content")])
async def test_the_text_of_a_create_is_the_record_where_given_ones_are_only_texts(
    noun: str, text: str, tmp_path: Path
) -> None:
    tools = [
        tool(f"add_{noun}", f"Add a {noun}.", **dict[str, Json]({text: TEXT})),
        tool(f"get_{noun}s", "", listed(TEXT)),
    ]
    async with simulator(tmp_path, tools, state={f"{noun}s": ["Shut on Monday", "No dogs"]}).open() as world:
        await world.call(f"add_{noun}", {text: "Mind the step"})
        assert (await asked(world, f"get_{noun}s"))[0] == ["Shut on Monday", "No dogs", "Mind the step"]


@pytest.mark.parametrize(
    ("noun", "flag", "act"), [("plot", "rent_paid", "mark_rent_paid"), ("task", "report_sent", "send_report")]
)
async def test_a_verb_sets_the_flag_that_ends_with_its_participle(
    noun: str, flag: str, act: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{f"{noun}_no": COUNT, "size": COUNT, flag: {"type": "boolean"}})
    key = dict[str, Json]({f"{noun}_no": COUNT})
    word = flag.rpartition("_")[2]
    tools = [
        tool(act, "", row, **key),
        tool(f"get_{noun}", f"Get a {noun}.", row, **key),
        tool(f"un{word}_{noun}s", f"The {noun}s that are not {word}.", listed(row)),
    ]
    rows = [{f"{noun}_no": at, "size": 3, flag: False} for at in (1, 2)]
    async with simulator(tmp_path, tools, state={f"{noun}s": rows}).open() as world:
        assert (await asked(world, act, **{f"{noun}_no": 2}))[0] == {**rows[1], flag: True}
        assert (await asked(world, f"get_{noun}", **{f"{noun}_no": 2}))[0][flag] is True
        if word == "paid":
            assert (await asked(world, f"un{word}_{noun}s"))[0] == rows[:1]


@pytest.mark.parametrize(("noun", "other"), [("booking", "sailing"), ("ticket", "team")])
async def test_a_new_id_changes_the_link_to_such_a_record(noun: str, other: str, tmp_path: Path) -> None:
    row = typed(noun.title(), **{"reference": TEXT, other: TEXT, "seats": COUNT})
    tools = [
        tool(
            f"change_{other}",
            f"Move a {noun} to another {other}.",
            row,
            reference=TEXT,
            **dict[str, Json]({f"new_{other}_id": TEXT}),
        ),
        tool(f"get_{noun}", f"Get a {noun}.", row, reference=TEXT),
    ]
    state = {
        f"{other}s": [{"id": "A1", "name": "a"}, {"id": "B2", "name": "b"}],
        f"{noun}s": {"R1": {other: "A1", "seats": 2}},
    }
    async with simulator(tmp_path, tools, state=state).open() as world:
        moved = {"reference": "R1", other: "B2", "seats": 2}
        assert (await asked(world, f"change_{other}", reference="R1", **{f"new_{other}_id": "B2"}))[0] == moved
        assert (await asked(world, f"get_{noun}", reference="R1"))[0] == moved


@pytest.mark.parametrize(("noun", "key"), [("plot", "plot_no"), ("locker", "number"), ("room", "room_number")])
async def test_a_number_that_a_caller_chooses_is_not_taken_by_an_invented_record(
    noun: str, key: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), **{key: COUNT, "area": NUMBER, "note": TEXT})
    tools = [
        tool(f"add_{noun}", f"Add a {noun}.", row, **dict[str, Json]({key: COUNT, "area": NUMBER, "note": TEXT})),
        tool(f"get_{noun}", f"Get a {noun}.", row, **dict[str, Json]({key: COUNT})),
    ]
    async with simulator(tmp_path, tools).open() as world:
        for number in (1, 2):
            new = {key: number, "area": 40, "note": "sunny"}
            assert (await asked(world, f"add_{noun}", **new))[0] == new
            assert (await asked(world, f"get_{noun}", **{key: number}))[0] == new
        assert not (await world.call(f"add_{noun}", {key: 1, "area": 2, "note": "x"})).ok


@pytest.mark.parametrize(
    ("act", "about", "state"),
    [
        ("open_sales", "Put a scheduled show on sale.", "on_sale"),
        ("start_show", "A show that is on sale is now on stage", "on_stage"),
    ],
)
async def test_a_state_that_no_verb_means_is_the_last_that_the_description_mentions(
    act: str, about: str, state: str, tmp_path: Path
) -> None:
    row = typed("Show", id=TEXT, name=TEXT, status=TEXT)
    tools = [tool(act, about, row, show_id=TEXT), tool("get_show", "Get a show.", row, show_id=TEXT)]
    states = ("scheduled", "on_sale", "on_stage")
    shows = [{"id": f"S{at}", "name": "x", "status": each} for at, each in enumerate(states)]
    async with simulator(tmp_path, tools, state={"shows": shows}).open() as world:
        assert (await asked(world, act, show_id="S0"))[0]["status"] == state


@pytest.mark.parametrize("count", ["sold", "seats_booked", "places_left"])
async def test_a_count_of_what_a_new_record_names_is_a_guess_afterwards(count: str, tmp_path: Path) -> None:
    show, ticket = (
        typed("Show", id=TEXT, name=TEXT, **dict[str, Json]({count: COUNT})),
        typed("Ticket", id=TEXT, show_id=TEXT, buyer=TEXT),
    )
    tools = [
        tool("get_show", "Get a show.", show, show_id=TEXT),
        tool("create_ticket", "Create a ticket.", ticket, show_id=TEXT, buyer=TEXT),
    ]
    shows = [{"id": key, "name": "x", count: 7} for key in ("S1", "S2")]
    state = {"shows": shows, "tickets": [{"id": "T1", "show_id": "S1", "buyer": "Bo"}]}
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert not (await asked(world, "get_show", show_id="S1"))[1]
        await asked(world, "create_ticket", show_id="S1", buyer="Ada")
        assert (await asked(world, "get_show", show_id="S1"))[1]
        assert not (await asked(world, "get_show", show_id="S2"))[1]


@pytest.mark.parametrize(
    "about", ["Assign a clerk; an open case becomes active.", "Assign a clerk. The case becomes active"]
)
async def test_what_else_becomes_of_a_record_is_a_guess(about: str, tmp_path: Path) -> None:
    row = typed("Case", id=TEXT, clerk=TEXT, status=TEXT)
    tools = [
        tool("assign_clerk", about, row, case_id=TEXT, clerk=TEXT),
        tool("get_case", "Get a case.", row, case_id=TEXT),
    ]
    cases = [{"id": key, "clerk": "Bo", "status": "open"} for key in ("C1", "C2")]
    async with simulator(tmp_path, tools, state={"cases": cases}).open() as world:
        assert (await asked(world, "assign_clerk", case_id="C1", clerk="Ada"))[1]
        assert not (await asked(world, "get_case", case_id="C2"))[1]


@pytest.mark.parametrize(("noun", "name"), [("hive", "Hive A"), ("meeting_room", "Meeting room 3")])
async def test_a_record_that_is_called_like_its_noun_is_named_once(noun: str, name: str, tmp_path: Path) -> None:
    tools = [tool(f"get_{noun}", f"Get a {noun}.", typed("It", name=TEXT, size=COUNT, age=COUNT), name=TEXT)]
    async with simulator(tmp_path, tools, state={f"{noun}s": [{"name": "Attic", "size": 1, "age": 2}]}).open() as world:
        assert (await refused(world, f"get_{noun}", name=name)).startswith(f"{name} not found")
        assert (await refused(world, f"get_{noun}", name="Loft")).startswith(
            f"{noun[:1].upper()}{noun[1:].replace('_', ' ')} Loft not"
        )


FLAG: Json = {"type": "boolean"}


@pytest.mark.parametrize(("noun", "word"), [("show", "details"), ("order", "info"), ("list", "details")])
async def test_details_of_what_a_verb_is_called_like_are_those_of_the_record(
    noun: str, word: str, tmp_path: Path
) -> None:
    row = typed(noun.title(), slug=TEXT, about=TEXT, minutes=COUNT)
    tools = [
        tool(f"{noun}_{word}", f"A {noun} by its slug.", row, slug=TEXT),
        tool(f"find_{noun}s", "", listed(row)),
    ]
    rows = {key: {"slug": key, "about": "x", "minutes": 5} for key in ("a-1", "b-2")}
    async with simulator(tmp_path, tools, state={f"{noun}s": rows}).open() as world:
        assert (await asked(world, f"{noun}_{word}", slug="b-2"))[0] == rows["b-2"]
        assert await refused(world, f"{noun}_{word}", slug="nope")


@pytest.mark.parametrize(
    ("name", "noun"), [("open_requests", "request"), ("weekly_schedule", "slot"), ("log_entries", "entry")]
)
async def test_a_list_that_takes_nothing_required_makes_no_record(name: str, noun: str, tmp_path: Path) -> None:
    many = "entries" if noun == "entry" else f"{noun}s"
    row = typed(noun.title(), id=COUNT, day=TEXT, about=TEXT)
    tools = [
        tool(name, "", listed(row), needed="", day=TEXT),
        tool(f"get_{noun}", f"Get a {noun}.", row, **dict[str, Json]({f"{noun}_id": COUNT})),
    ]
    rows = [{"id": at, "day": day, "about": "x"} for at, day in enumerate(("mon", "tue"), 1)]
    async with simulator(tmp_path, tools, state={many: rows}).open() as world:
        assert (await asked(world, name))[0] == rows
        assert (await asked(world, name, day="tue"))[0] == rows[1:]
        assert await refused(world, f"get_{noun}", **{f"{noun}_id": 3})


@pytest.mark.parametrize(
    ("act", "about", "flag", "before"),
    [
        ("mark_played", "Mark a request as played.", "played", False),
        ("pause_request", "Take a request off the list (active = false).", "active", True),
        ("hush_request", "Sets muted=True.", "muted", False),
    ],
)
async def test_a_flag_is_set_that_the_name_or_the_description_says(
    act: str, about: str, flag: str, before: bool, tmp_path: Path
) -> None:
    row = typed("Request", id=COUNT, about=TEXT, **dict[str, Json]({flag: FLAG}))
    tools = [tool(act, about, row, request_id=COUNT), tool("get_request", "Get a request.", row, request_id=COUNT)]
    rows = [{"id": at, "about": "x", flag: before} for at in (1, 2)]
    async with simulator(tmp_path, tools, state={"requests": rows}).open() as world:
        assert (await asked(world, act, request_id=2))[0] == {**rows[1], flag: not before}
        assert (await asked(world, "get_request", request_id=2))[0][flag] is not before


@pytest.mark.parametrize(("word", "guessed"), [("", False), ("; the price is computed anew", True)])
async def test_a_number_grows_by_what_is_extra(word: str, guessed: bool, tmp_path: Path) -> None:
    row = typed("Rental", id=COUNT, days=COUNT, price=NUMBER)
    tools = [
        tool("extend_rental", f"Extend a rental by some days{word}.", row, rental_id=COUNT, extra_days=COUNT),
        tool("get_rental", "Get a rental.", row, rental_id=COUNT),
    ]
    rows = [{"id": at, "days": 3, "price": 12.5} for at in (1, 2)]
    async with simulator(tmp_path, tools, state={"rentals": rows}).open() as world:
        assert await asked(world, "extend_rental", rental_id=2, extra_days=2) == ({**rows[1], "days": 5}, guessed)


@pytest.mark.parametrize("flag", ["active", "is_active"])
async def test_inactive_records_are_shown_on_demand(flag: str, tmp_path: Path) -> None:
    row = typed("Show", slug=TEXT, about=TEXT, **dict[str, Json]({flag: FLAG}))
    tools = [tool("list_shows", "List shows.", listed(row), needed="", include_inactive={**FLAG, "default": False})]
    rows = [{"slug": key, "about": "x", flag: key == "a"} for key in ("a", "b")]
    async with simulator(tmp_path, tools, state={"shows": rows}).open() as world:
        assert (await asked(world, "list_shows"))[0] == rows[:1]
        assert (await asked(world, "list_shows", include_inactive=True))[0] == rows


async def test_a_cancellation_that_deletes_deletes(tmp_path: Path) -> None:
    row, done = typed("Job", id=TEXT, about=TEXT, hours=COUNT), typed("Deleted", deleted=FLAG)
    tools = [tool("cancel_job", "Delete a job.", done, job_id=TEXT), tool("get_job", "Get a job.", row, job_id=TEXT)]
    jobs = [{"id": key, "about": "x", "hours": 1} for key in ("J1", "J2")]
    async with simulator(tmp_path, tools, state={"jobs": jobs}).open() as world:
        assert (await asked(world, "cancel_job", job_id="J1"))[0] == {"deleted": True}
        assert await refused(world, "get_job", job_id="J1")
        assert await asked(world, "get_job", job_id="J2") == (jobs[1], False)


@pytest.mark.parametrize(
    ("act", "about", "state"),
    [
        ("archive_task", "Archive a task that is done.", "archived"),
        ("escalate_task", "Escalate a task that is still open.", "escalated"),
        ("hold_task", "Hold a task that is not yet done", "on_hold"),
    ],
)
async def test_a_state_that_a_record_has_before_is_not_what_a_verb_leads_to(
    act: str, about: str, state: str, tmp_path: Path
) -> None:
    row = typed("Task", id=TEXT, name=TEXT, status=TEXT)
    tools = [tool(act, about, row, task_id=TEXT), tool("get_task", "Get a task.", row, task_id=TEXT)]
    tasks = [{"id": f"T{at}", "name": "x", "status": each} for at, each in enumerate(("open", "done"))]
    async with simulator(tmp_path, tools, state={"tasks": tasks}).open() as world:
        for key in ("T0", "T1"):
            assert (await asked(world, act, task_id=key))[0]["status"] == state


@pytest.mark.parametrize(("part", "whole"), [("order_item", "order"), ("user_session", "user")])
async def test_the_id_of_a_parent_names_no_part(part: str, whole: str, tmp_path: Path) -> None:
    tools = [tool(f"delete_{part}", f"Delete a {part}.", **dict[str, Json]({"item_id": TEXT})), tool(f"list_{part}s")]
    rows = [{"item_id": key, f"{whole}_id": "O1"} for key in ("I1", "I2")]
    async with simulator(
        tmp_path, tools, state={f"{whole}s": [{f"{whole}_id": "O1"}], f"{part}s": rows}
    ).open() as world:
        assert await refused(world, f"delete_{part}", item_id="O1")
        assert str(await answered(world, f"list_{part}s")).count("O1") == 2


@pytest.mark.parametrize(("extra", "before", "after"), [("guests", 2, 3), ("items", ["a"], ["a", "b"])])
async def test_what_is_extra_is_added_also_where_it_is_optional(
    extra: str, before: Json, after: Json, tmp_path: Path
) -> None:
    schema: Json = COUNT if extra == "guests" else {"type": "array", "items": TEXT}
    row = typed("Booking", id=TEXT, note=TEXT, **dict[str, Json]({extra: schema}))
    more = dict[str, Json]({f"additional_{extra}": schema})
    tools = [
        tool("update_booking", "Update a booking.", row, "booking_id", booking_id=TEXT, note=TEXT, **more),
        tool("get_booking", "Get a booking.", row, booking_id=TEXT),
    ]
    async with simulator(
        tmp_path, tools, state={"bookings": [{"id": "B1", "note": "x", extra: before}]}
    ).open() as world:
        change = {f"additional_{extra}": 1 if extra == "guests" else ["b"]}
        assert (await asked(world, "update_booking", booking_id="B1", **change))[0][extra] == after


@pytest.mark.parametrize(
    ("about", "kept"),
    [("Stock at or below the threshold.", ["A", "B"]), ("One or more parts with stock under the threshold.", ["A"])],
)
async def test_a_threshold_includes_its_own_number_only_where_the_description_says_so(
    about: str, kept: list[str], tmp_path: Path
) -> None:
    row = typed("Part", sku=TEXT, stock=COUNT, price=NUMBER)
    tools = [tool("list_parts", about, listed(row), threshold=COUNT)]
    rows = [{"sku": sku, "stock": stock, "price": 1.5} for sku, stock in (("A", 3), ("B", 5), ("C", 8))]
    async with simulator(tmp_path, tools, state={"parts": rows}).open() as world:
        assert [row["sku"] for row in (await asked(world, "list_parts", threshold=5))[0]] == kept


async def test_a_flag_is_denied_by_not(tmp_path: Path) -> None:
    row = typed("Mail", id=TEXT, text=TEXT, spam=FLAG)
    tools = [tool("mark_not_spam", "", row, mail_id=TEXT), tool("get_mail", "Get a mail.", row, mail_id=TEXT)]
    async with simulator(tmp_path, tools, state={"mails": [{"id": "M1", "text": "x", "spam": True}]}).open() as world:
        assert (await asked(world, "mark_not_spam", mail_id="M1"))[0]["spam"] is False


@pytest.mark.parametrize("call", [{}, {"email": "a@b.example"}])
async def test_records_are_deleted_by_a_value_inside_them(call: Json, tmp_path: Path) -> None:
    row = typed("Ticket", id=TEXT, subject=TEXT, assignee=typed("Person", email=TEXT))
    tools = [
        tool("create_ticket", "Create a ticket.", row, subject=TEXT),
        tool("delete_tickets", "Delete tickets.", needed="", email=TEXT),
    ]
    async with simulator(tmp_path, tools).open() as world:
        await answered(world, "create_ticket", subject="x")
        await world.call("delete_tickets", call)
        assert "crash" not in str(world.ledger.steps[-1])
