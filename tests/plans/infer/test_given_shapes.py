"""Given states in all shapes that people write: each of their values is shown by the tool that means it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import STRING, service, value

Json = Any

NOUNS = [("room", "post"), ("course", "assignment"), ("mailbox", "message"), ("shelf", "parcel")]
IDS = [{"price_id": "p-1", "name": "Oak"}, {"price_id": "p-2", "name": "Elm"}]

in_all_wrappers = pytest.mark.parametrize("place", ["bare", "in a wrapper", "in two wrappers", "beside other parts"])
of_all_nouns = pytest.mark.parametrize(("outer", "inner"), NOUNS)


def wrapped(place: str, state: dict[str, Json]) -> Json:
    others = {"version": 7, "owner": {"mood": "calm"}}
    return {
        "bare": state,
        "in a wrapper": {"backend": state},
        "in two wrappers": {"app": {"world": state}},
        "beside other parts": {**state, **others},
    }[place]


def tool(name: str, *required: str, output: Json = None) -> dict[str, Json]:
    schema = {"type": "object", "properties": dict.fromkeys(required, STRING), "required": [*required]}
    declared = {"outputSchema": {"type": "object", "properties": output, "required": [*output]}} if output else {}
    return {"name": name, "inputSchema": schema, **declared}


def several(noun: str) -> str:
    return {"mailbox": "mailboxes", "shelf": "shelves"}.get(noun, f"{noun}s")


@in_all_wrappers
@of_all_nouns
async def test_names_are_the_records(tmp_path: Path, outer: str, inner: str, place: str) -> None:
    state, listing = wrapped(place, {several(outer): ["North", "South"]}), tool(f"list_{several(outer)}")
    async with service(tmp_path, state, listing, tool(f"get_{inner}", f"{inner}_id")) as sim, sim.open() as world:
        assert value(await world.call(f"list_{several(outer)}")) == ["North", "South"]


@in_all_wrappers
@of_all_nouns
async def test_rows_under_their_parent_are_listed_by_it(tmp_path: Path, outer: str, inner: str, place: str) -> None:
    rows = {"North": [{"title": "Kelp", "pages": 31}, {"title": "Moss", "pages": 47}], "South": []}
    state = wrapped(place, {several(outer): ["North", "South"], several(inner): rows})
    tools = [tool(f"list_{several(outer)}"), tool(f"get_{several(inner)}", outer)]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        shown = [value(await world.call(f"get_{several(inner)}", {outer: name})) for name in ("North", "South")]
        assert shown == [[{**row, outer: "North"} for row in rows["North"]], []]
        assert not (await world.call(f"get_{several(inner)}", {outer: "East"})).ok


@pytest.mark.parametrize("key", ["room", "room_id", "room_name", "where"])
async def test_the_argument_that_asks_for_rows_is_their_parent(tmp_path: Path, key: str) -> None:
    state = {"inbox": {"North": [{"body": "Hello"}, {"body": "Bye"}]}, "rooms": ["North"]}
    async with service(tmp_path, state, tool("read_inbox", key), tool("list_rooms")) as sim, sim.open() as world:
        assert [row["body"] for row in value(await world.call("read_inbox", {key: "North"}))] == ["Hello", "Bye"]


@in_all_wrappers
async def test_rows_two_levels_below_are_found_by_the_ids_above(tmp_path: Path, place: str) -> None:
    state = wrapped(place, {
        "units": {"c1": [{"id": "u1", "name": "Reefs"}], "c2": [{"id": "u2", "name": "Kilns"}]},
        "pages": {"u1": [{"title": "Coral"}, {"title": "Sponge"}], "u2": [{"title": "Ash"}]},
    })  # fmt: skip
    tools = [tool("list_units", "course_id"), tool("list_pages", "course_id", "unit_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        rows = value(await world.call("list_pages", {"course_id": "c1", "unit_id": "u1"}))
        assert [row["title"] for row in rows] == ["Coral", "Sponge"]


@in_all_wrappers
@pytest.mark.parametrize(
    ("held", "asked", "rows"),
    [
        ({"teal": 17, "plum": 5}, "symbol", [{"symbol": "teal", "price": 17}, {"symbol": "plum", "price": 5}]),
        ({"p-1": "Oak", "p-2": "Elm"}, "price_id", IDS), ({"Oak": "p-1", "Elm": "p-2"}, "price_id", IDS),
    ],
)  # fmt: skip
async def test_values_under_names_are_records(tmp_path: Path, place: str, held: Json, asked: str, rows: Json) -> None:
    tools = [tool("list_prices"), tool("get_price", asked)]
    async with service(tmp_path, wrapped(place, {"prices": held}), *tools) as sim, sim.open() as world:
        assert value(await world.call("list_prices")) == rows
        assert value(await world.call("get_price", {asked: rows[1][asked]})) == rows[1]


@in_all_wrappers
@pytest.mark.parametrize("key", ["plate", "plate_id", "plate_number"])
async def test_a_record_is_shown_without_the_key_that_a_call_names(tmp_path: Path, place: str, key: str) -> None:
    held: Json = {"P1": {"city": "Ulm", "full": True}, "P2": {"city": "Jena", "full": False}}
    tools = [tool("get_plate", key), tool("list_plates"), tool("update_plate", key, "city")]
    async with service(tmp_path, wrapped(place, {"plates": held}), *tools) as sim, sim.open() as world:
        assert value(await world.call("get_plate", {key: "P2"})) == held["P2"]
        assert value(await world.call("list_plates")) == [{key: at, **row} for at, row in held.items()]
        await world.call("update_plate", {key: "P2", "city": "Bonn"})
        assert value(await world.call("get_plate", {key: "P2"})) == {**held["P2"], "city": "Bonn"}


@in_all_wrappers
async def test_members_are_read_and_changed_from_both_sides(tmp_path: Path, place: str) -> None:
    members_of = {"North": ["Ada"], "South": ["Ada", "Bo"]}
    state = wrapped(place, {"people": ["Ada", "Bo"], "rooms": ["North", "South"], "members": members_of})
    tools = [
        tool("list_people"), tool("get_people_in_room", "room"),
        tool("list_rooms"), tool("get_rooms_of_person", "person"),
        tool("add_person_to_room", "person", "room"), tool("remove_person_from_room", "person", "room"),
    ]  # fmt: skip
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:

        async def members(room: str) -> list[str]:
            return [row["person"] for row in value(await world.call("get_people_in_room", {"room": room}))]

        assert [await members("North"), await members("South")] == [["Ada"], ["Ada", "Bo"]]
        rooms = value(await world.call("get_rooms_of_person", {"person": "Ada"}))
        assert [row["room"] for row in rooms] == ["North", "South"]
        await world.call("add_person_to_room", {"person": "Bo", "room": "North"})
        await world.call("remove_person_from_room", {"person": "Ada", "room": "South"})
        assert [await members("North"), await members("South")] == [["Ada", "Bo"], ["Bo"]]
        assert value(await world.call("list_people")) == ["Ada", "Bo"]


@in_all_wrappers
@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (None, 1810), ({"balance": {"type": "number"}}, {"balance": 1810}),
        ({"result": {"type": "number"}}, {"result": 1810}), ({"amount": {"type": "number"}}, {"amount": 1810}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["get_balance", "get_account_balance"])
async def test_a_value_of_a_singleton_is_read(tmp_path: Path, place: str, name: str, output: Json, shown: Json) -> None:
    state = wrapped(place, {"account": {"balance": 1810, "holder": "Ada"}})
    async with service(tmp_path, state, tool(name, output=output)) as sim, sim.open() as world:
        assert value(await world.call(name)) == shown


@in_all_wrappers
@of_all_nouns
async def test_names_and_what_is_known_of_them_are_one_record(
    tmp_path: Path, outer: str, inner: str, place: str
) -> None:
    details = {"North": {inner: "wide", "age": 4}, "South": {inner: "flat", "age": 7}}
    state = wrapped(place, {several(outer): ["North", "South"], f"{outer}_details": details})
    tools = [tool(f"list_{several(outer)}"), tool(f"get_{outer}_details", f"{outer}_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        shown = value(await world.call(f"get_{outer}_details", {f"{outer}_id": "South"}))
        assert shown == {f"{outer}_id": "South", **details["South"]}


@in_all_wrappers
async def test_records_under_their_parent_and_their_own_key_are_found_by_both(tmp_path: Path, place: str) -> None:
    projects = {"red": {"rover": {"about": "Drives"}, "arm": {"about": "Grabs"}}, "blue": {"probe": {"about": "Dives"}}}
    notes = {"rover": [{"note_id": 11, "text": "Oil"}, {"note_id": 12, "text": "Air"}]}
    replies = {"11": [{"reply": "Done"}], "12": [{"reply": "Later"}]}
    state = wrapped(
        place, {"teams": {"red": "Red", "blue": "Blue"}, "projects": projects, "notes": notes, "replies": replies}
    )
    places = ("team_slug", "project_slug")
    tools = [
        tool("list_teams"), tool("get_team", "team_slug"), tool("list_projects", "team_slug"),
        tool("get_project", *places), tool("list_notes", *places), tool("list_replies", *places, "note_id"),
        tool("add_reply", *places, "note_id", "reply"),
    ]  # fmt: skip
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        listed = value(await world.call("list_projects", {"team_slug": "red"}))
        assert [(row["project_slug"], row["about"]) for row in listed] == [("rover", "Drives"), ("arm", "Grabs")]
        rover = {"team_slug": "red", "project_slug": "rover"}
        assert value(await world.call("get_project", rover)) == listed[0]
        assert [row["text"] for row in value(await world.call("list_notes", rover))] == ["Oil", "Air"]
        value(await world.call("add_reply", {**rover, "note_id": "12", "reply": "Now"}))
        rows = value(await world.call("list_replies", {**rover, "note_id": "12"}))
        assert [row["reply"] for row in rows] == ["Later", "Now"]


@in_all_wrappers
@pytest.mark.parametrize(
    ("name", "held", "arguments", "shown"),
    [
        ("balances", {"a-1": 10.5, "a-2": 88}, {"account_id": "a-2"}, {"balance": 88}),
        ("balance", {"a-1": 10.5, "a-2": 88}, {"account_id": "a-2"}, {"balance": 88}),
        ("salary", {"e-1": {"base": 50}, "e-2": {"base": 41}}, {"employee_id": "e-2"}, {"base": 41}),
        ("managers", {"e-1": "Bo", "e-2": "Cy"}, {"employee_id": "e-1"}, {"manager": "Bo"}),
        ("grades", {"bio": {"s1": 91, "s2": 67}, "art": {"s1": 55}}, {"course": "art", "pupil": "s1"}, {"grade": 55}),
        ("rates", {"EUR": {"USD": 1.08, "NOK": 11.4}}, {"base": "EUR", "target": "NOK"}, {"rate": 11.4}),
        ("fares", {"a": {"day": {"cost": 4}}, "b": {"day": {"cost": 9}}}, {"zone": "b", "time": "day"}, {"cost": 9}),
    ],
)  # fmt: skip
async def test_the_keys_of_something_else_lead_to_a_value(
    tmp_path: Path, place: str, name: str, held: Json, arguments: Json, shown: Json
) -> None:
    getter = "get_" + name.removesuffix("s")
    async with service(tmp_path, wrapped(place, {name: held}), tool(getter, *arguments)) as sim, sim.open() as world:
        asked: Json = {} if shown in held.values() else arguments  # an object of the state is shown as it is
        assert value(await world.call(getter, arguments)) == {**asked, **shown}
        assert not (await world.call(getter, dict.fromkeys(arguments, "nowhere"))).ok


@in_all_wrappers
@pytest.mark.parametrize(
    ("part", "held", "asked", "shown"),
    [
        ("current_user", {"login": "ada", "city": "Oslo"}, "get_current_user", {"login": "ada", "city": "Oslo"}),
        ("my_profile", {"login": "ada", "city": "Oslo"}, "get_my_profile", {"login": "ada", "city": "Oslo"}),
        ("account", {"unread": 14, "login": "ada"}, "get_unread_count", 14),
    ],
)
async def test_what_there_is_one_of_is_shown(
    tmp_path: Path, place: str, part: str, held: Json, asked: str, shown: Json
) -> None:
    async with service(tmp_path, wrapped(place, {part: held}), tool(asked)) as sim, sim.open() as world:
        assert value(await world.call(asked)) == shown


@in_all_wrappers
async def test_records_may_hold_only_lists_and_objects(tmp_path: Path, place: str) -> None:
    held: Json = {
        "Plain": {"parts": ["Front"], "layouts": {"a": {"size": 4}}},
        "Gaps": {"parts": ["Text"], "layouts": {}},
    }
    tools = [tool("list_models"), tool("get_model", "model_name")]
    async with service(tmp_path, wrapped(place, {"models": held}), *tools) as sim, sim.open() as world:
        rows = [{"model_name": name, **model} for name, model in held.items()]
        assert value(await world.call("list_models")) == rows
        assert value(await world.call("get_model", {"model_name": "Gaps"})) == held["Gaps"]


async def test_rows_under_a_parent_do_not_take_its_key_as_their_id(tmp_path: Path) -> None:
    state = {"teams": [{"id": "t-1"}, {"id": "t-2"}], "members": {"t-1": ["ada", "bo"], "t-2": ["cy"]}}
    tools = [tool("list_teams"), tool("list_members", "squad"), tool("get_team", "id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        rows = value(await world.call("list_members", {"squad": "t-1"}))
        assert [(row["name"], row["squad"]) for row in rows] == [("ada", "t-1"), ("bo", "t-1")]


@pytest.mark.parametrize("key", ["id", "telescope_id", "code", "name"])
@pytest.mark.parametrize("wrapper", ["telescopes", "results"])
async def test_the_keys_of_a_map_are_shown_whatever_a_result_calls_them(tmp_path: Path, key: str, wrapper: str) -> None:
    row = {"type": "object", "properties": {key: STRING, "mount": STRING}, "required": [key, "mount"]}
    rows = {"type": "object", "properties": {wrapper: {"type": "array", "items": row}}, "required": [wrapper]}
    tools = [
        {**tool("list_telescopes"), "outputSchema": rows},
        tool("list_bookings", "telescope"),
        {**tool("get_telescope", "telescope"), "outputSchema": row},
    ]
    state = {
        "telescopes": {"T1": {"mount": "alt-az"}, "T2": {"mount": "equatorial"}},
        "bookings": [{"booking_id": "b1", "telescope": "T1"}, {"booking_id": "b2", "telescope": "T2"}],
    }
    async with service(tmp_path, state, *tools) as simulator, simulator.open() as world:
        listed = value(await world.call("list_telescopes"))[wrapper]
        assert listed == [{key: "T1", "mount": "alt-az"}, {key: "T2", "mount": "equatorial"}]
        assert value(await world.call("get_telescope", {"telescope": "T2"})) == listed[1]


@pytest.mark.parametrize("name", ["till_balance", "visitor_count", "dome_status", "forecast"])
@pytest.mark.parametrize("output", [None, {"value": {}}])
async def test_a_tool_without_a_verb_shows_the_given_value_of_its_name(tmp_path: Path, name: str, output: Json) -> None:
    state = {"till": {"balance": 318.4, "open": True}, "visitor_count": 37, "site": {"dome": "shut"}, "forecast": "dry"}
    shown = {"till_balance": 318.4, "visitor_count": 37, "dome_status": "shut", "forecast": "dry"}[name]
    named = tool(name, output=output)
    others = [tool("list_tickets"), tool("ring_bell"), tool("toggle_dome")]
    async with service(tmp_path, {**state, "tickets": []}, named, *others) as simulator, simulator.open() as world:
        answer = value(await world.call(name))
        assert shown in ([*answer.values()] if isinstance(answer, dict) else [answer])
        assert not world.ledger.steps[-1]["guessed"]
        await world.call("ring_bell")
        assert world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize(("noun", "argument"), [("service_status", "status"), ("motto", "motto"), ("motto", "text")])
@pytest.mark.parametrize("verb", ["set", "update", "change"])
@in_all_wrappers
async def test_a_given_value_is_set_by_the_tool_of_its_name(
    tmp_path: Path, place: str, verb: str, noun: str, argument: str
) -> None:
    state = wrapped(place, {noun: "up", "status": "busy", "limits": {"cpu": "low"}})
    tools = [tool(f"get_{noun}"), tool(f"{verb}_{noun}", argument), tool("get_cpu")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert (await world.call(f"{verb}_{noun}", {argument: "down"})).ok
        assert value(await world.call(f"get_{noun}")) == "down"
        assert value(await world.call("get_cpu")) == "low"


async def test_a_value_of_another_type_does_not_replace_a_given_one(tmp_path: Path) -> None:
    setter = tool("set_motto")
    setter["inputSchema"] = {"type": "object", "properties": {"lines": {"type": "array"}}, "required": ["lines"]}
    async with service(tmp_path, {"motto": "up"}, tool("get_motto"), setter) as sim, sim.open() as world:
        assert (await world.call("set_motto", {"lines": ["down"]})).ok
        assert world.ledger.steps[-1]["guessed"]
        assert value(await world.call("get_motto")) == "up"


@in_all_wrappers
@of_all_nouns
@pytest.mark.parametrize("with_ids", [True, False])
async def test_rows_in_a_map_of_their_parents_are_records_beside_them(
    tmp_path: Path, outer: str, inner: str, place: str, with_ids: bool
) -> None:
    rows: Json = {"North": [{"weight": 31, "sealed": True}, {"weight": 47, "sealed": False}], "South": []}
    if with_ids:
        rows["North"] = [{f"{inner}_id": f"x-{row['weight']}", **row} for row in rows["North"]]
    tools = [tool(f"list_{several(outer)}"), tool(f"get_{outer}_{several(inner)}", outer)]
    tools += [tool(f"get_{inner}", f"{inner}_id")] if with_ids else []
    state = wrapped(place, {several(outer): rows})
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"list_{several(outer)}")) == ["North", "South"]
        shown = [value(await world.call(f"get_{outer}_{several(inner)}", {outer: name})) for name in rows]
        assert shown == [[{**row, outer: name} for row in held] for name, held in rows.items()]
        if with_ids:
            assert value(await world.call(f"get_{inner}", {f"{inner}_id": "x-47"})) == shown[0][1]


@in_all_wrappers
async def test_lists_under_names_are_shown_with_the_names(tmp_path: Path, place: str) -> None:
    state = wrapped(place, {"scenes": {"Dinner": ["l1", "l2"], "Night": []}, "lamps": [{"id": "l1"}, {"id": "l2"}]})
    async with service(tmp_path, state, tool("list_scenes"), tool("list_lamps")) as sim, sim.open() as world:
        rows = value(await world.call("list_scenes"))
        assert [[*row.values()] for row in rows] == [["Dinner", ["l1", "l2"]], ["Night", []]]


@in_all_wrappers
@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("whoami", "Profile of the tenant."),
        ("about_me", "Details of the tenant"),
        ("me", "The account of the tenant"),
        ("tenant_contact", "Returns how to reach somebody"),
        ("tenant_card", ""),
    ],
)
async def test_an_object_is_shown_by_the_tool_that_is_said_to(
    tmp_path: Path, name: str, about: str, place: str
) -> None:
    tenant: Json = {"full_name": "Ada", "since": "2021-03-01", "address": {"street": "Elm 4"}}
    tools = [{**tool(name), "description": about}, tool("list_bills")]
    state = wrapped(place, {"tenant": tenant, "bills": [{"bill_id": "b1", "sum": 5}]})
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(name)) == tenant


CLUBS = [("guest", "room", "post"), ("member", "group", "notice"), ("clerk", "desk", "memo")]


def club(person: str, place: str) -> Json:
    return {
        several(person): ["Ada", "Bo"],
        several(place): ["North", "South"],
        f"{person}_{several(place)}": {"Ada": ["North", "South"], "Bo": ["North"]},
        f"{person}_inbox": {"Bo": [{"author": "Ada", "to": "Bo", "text": "Hello"}]},
        f"{place}_inbox": {"North": [{"author": "Bo", "to": "North", "text": "Hi all"}]},
    }


ROWS: Json = {"result": {"type": "array", "items": {"type": "object", "properties": {
    "author": STRING, "to": STRING, "text": STRING}}}}  # fmt: skip
NAMES: Json = {"result": {"type": "array", "items": STRING}}


@pytest.mark.parametrize("wrapper", ["club", None])
@pytest.mark.parametrize(("person", "place", "noun"), CLUBS)
async def test_who_is_where_is_known_from_a_map_between_two_lists(
    tmp_path: Path, person: str, place: str, noun: str, wrapper: str | None
) -> None:
    state = club(person, place) if wrapper is None else {wrapper: club(person, place)}
    listing = tool(f"get_{several(person)}_in_{place}", place, output=NAMES)
    tools = [listing, tool(f"add_{person}_to_{place}", person, place), tool(f"list_{several(place)}", output=NAMES)]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(listing["name"], {place: "South"}))["result"] == ["Ada"]
        await world.call(f"add_{person}_to_{place}", {person: "Bo", place: "South"})
        assert value(await world.call(listing["name"], {place: "South"}))["result"] == ["Ada", "Bo"]
        assert not (await world.call(f"add_{person}_to_{place}", {person: "Cy", place: "South"})).ok
        assert value(await world.call(f"list_{several(place)}"))["result"] == ["North", "South"]


@pytest.mark.parametrize(("person", "place", "noun"), CLUBS)
async def test_messages_of_two_kinds_of_parents_are_read_and_sent_by_them(
    tmp_path: Path, person: str, place: str, noun: str
) -> None:
    tools = [
        tool(f"read_{place}_{noun}s", place, output=ROWS),
        tool("read_inbox", person, output=ROWS),
        tool(f"send_direct_{noun}", "to", "text"),
        tool(f"send_{place}_{noun}", place, "text"),
        tool(f"list_{several(person)}", output=NAMES),
    ]
    async with service(tmp_path, {"club": club(person, place)}, *tools) as sim, sim.open() as world:
        await world.call(f"send_{place}_{noun}", {place: "North", "text": "Open?"})
        await world.call(f"send_direct_{noun}", {"to": "Ada", "text": "Bye"})
        rows = value(await world.call(f"read_{place}_{noun}s", {place: "North"}))["result"]
        assert [(row["to"], row["text"]) for row in rows] == [("North", "Hi all"), ("North", "Open?")]
        shown = [value(await world.call("read_inbox", {person: name}))["result"] for name in ("Ada", "Bo")]
        assert [[row["text"] for row in rows] for rows in shown] == [["Bye"], ["Hello"]]
        assert not (await world.call("read_inbox", {person: "Cy"})).ok


@pytest.mark.parametrize(("person", "place", "noun"), CLUBS)
async def test_who_is_invited_with_an_address_is_new(tmp_path: Path, person: str, place: str, noun: str) -> None:
    tools = [
        tool(f"invite_{person}_to_club", person, f"{person}_email"),
        tool("read_inbox", person, output=ROWS),
        tool(f"add_{person}_to_{place}", person, place),
        tool(f"remove_{person}_from_club", person),
    ]
    async with service(tmp_path, {"club": club(person, place)}, *tools) as sim, sim.open() as world:
        invited = {person: "Cy", f"{person}_email": "cy@club.example"}
        assert (await world.call(f"invite_{person}_to_club", invited)).ok
        assert value(await world.call("read_inbox", {person: "Cy"}))["result"] == []
        assert (await world.call(f"add_{person}_to_{place}", {person: "Cy", place: "North"})).ok
        assert (await world.call(f"remove_{person}_from_club", {person: "Cy"})).ok
        assert not (await world.call("read_inbox", {person: "Cy"})).ok


@pytest.mark.parametrize(
    ("noun", "part", "argument", "places"),
    [
        ("webpage", "web_content", "url", ("www.kelp.example", "kelp.example/moss")),
        ("web_page", "sites", "url", ("https://kelp.example", "https://kelp.example/moss")),
        ("document", "disk", "file_path", ("notes/kelp.md", "moss.txt")),
    ],
)
async def test_texts_under_places_are_what_tools_look_up_by_a_place(
    tmp_path: Path, noun: str, part: str, argument: str, places: tuple[str, str]
) -> None:
    text: Json = {"result": STRING}
    tools = [tool(f"get_{noun}", argument, output=text), tool(f"post_{noun}", argument, "content")]
    state = {"net": {part: dict(zip(places, ["About kelp.", "About moss."], strict=True)), "requests": [""]}}
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"get_{noun}", {argument: places[1]})) == {"result": "About moss."}
        await world.call(f"post_{noun}", {argument: "new.example/ash.txt", "content": "About ash."})
        assert value(await world.call(f"get_{noun}", {argument: "new.example/ash.txt"})) == {"result": "About ash."}


@pytest.mark.parametrize("noun", ["letter", "parcel", "note"])
async def test_a_value_with_the_same_noun_does_not_hide_a_table(tmp_path: Path, noun: str) -> None:
    row = {"id": "1", "text": "Hi", "read": True}
    state = {"box": {f"default_{noun}": "none", f"initial_{noun}s": [row]}}
    tools = [tool(f"send_{noun}", "text"), tool(f"get_all_{noun}s"), tool(f"get_{noun}", f"{noun}_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        await world.call(f"send_{noun}", {"text": "Bye"})
        assert [row["text"] for row in value(await world.call(f"get_all_{noun}s"))] == ["Hi", "Bye"]
        assert value(await world.call(f"get_{noun}", {f"{noun}_id": "1"})) == row


SITES = [("museum", "museum_names"), ("hotel", "hotel_names"), ("shop", "names")]


@pytest.mark.parametrize(("noun", "argument"), SITES)
@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("get_{}s_address", STRING, ["Quay 1", "Quay 2"]),
        ("get_price_for_{}s", {"type": "number"}, [12.5, 8.0]),
        ("check_{}_opening_hours", STRING, ["9-17", "9-17"]),
        ("get_rating_reviews_for_{}s", STRING, ["Rating: 4\nReviews: Good, Great", "Rating: 4\nReviews: Good, Great"]),
        ("get_{}_reviews", {"type": "array", "items": STRING}, [["Good", "Great"], ["Good", "Great"]]),
    ],
)
async def test_a_map_shows_of_each_record_what_the_tool_is_named_after(
    tmp_path: Path, noun: str, argument: str, name: str, kind: Json, shown: list[Json]
) -> None:
    common = {"city": "Oslo", "opening_hours": "9-17", "rating": 4, "reviews": ["Good", "Great"]}
    rows = [{"name": "Kelp", "address": "Quay 1", "price": 12.5, **common},
            {"name": "Moss", "address": "Quay 2", "price": 8.0, **common}]  # fmt: skip
    texts: Json = {"type": "array", "items": STRING}
    read: Json = {
        "name": name.format(noun),
        "inputSchema": {"type": "object", "properties": {argument: texts}, "required": [argument]},
        "outputSchema": {"type": "object", "additionalProperties": kind},
    }
    state = {f"{noun}s": {f"{noun}_list": rows}}
    async with service(tmp_path, state, read, tool(f"list_{noun}s", "city")) as sim, sim.open() as world:
        assert value(await world.call(read["name"], {argument: ["Kelp"]})) == {"Kelp": shown[0]}
        both = value(await world.call(read["name"], {argument: ["Kelp", "Moss", "Ash"]}))
        assert both == {"Kelp": shown[0], "Moss": shown[1]}


@pytest.mark.parametrize(("part", "noun"), [("calendar", "event"), ("drive", "file"), ("ship", "cabin")])
async def test_rows_in_a_part_of_the_state_are_what_tools_name_after_both(tmp_path: Path, part: str, noun: str) -> None:
    row = {"id": "6", "title": "Sync", "place": "Quay", "start": "2031-05-15T10:00:00Z"}
    shape = {"type": "object", "properties": dict.fromkeys(row, STRING), "required": [*row]}
    rows = {"result": {"type": "array", "items": shape}}
    tools = [
        {**tool(f"create_{part}_{noun}", "title", "place", "start"), "outputSchema": shape},
        {**tool(f"reschedule_{part}_{noun}", f"{noun}_id", "new_start"), "outputSchema": shape},
        tool(f"get_day_{part}_{noun}s", "day", output=rows),
        tool(f"search_{part}_{noun}s", "query", output=rows),
    ]
    state = {part: {"owner": "Ada", f"initial_{noun}s": [row]}}
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"get_day_{part}_{noun}s", {"day": "2031-05-15"}))["result"] == [row]
        start = "2031-05-16T10:00:00Z"
        moved = value(await world.call(f"reschedule_{part}_{noun}", {f"{noun}_id": "6", "new_start": start}))
        assert moved == {**row, "start": start}
        await world.call(f"create_{part}_{noun}", {"title": "Sync 2", "place": "Pier", "start": start})
        shown = value(await world.call(f"search_{part}_{noun}s", {"query": "Sync"}))["result"]
        assert [each["title"] for each in shown] == ["Sync", "Sync 2"]


@pytest.mark.parametrize(("noun", "argument"), SITES)
async def test_a_map_shows_a_part_of_one_record(tmp_path: Path, noun: str, argument: str) -> None:
    name = argument.removesuffix("s")
    read: Json = {**tool(f"get_{noun}s_address", name), "outputSchema": {
        "type": "object", "additionalProperties": STRING}}  # fmt: skip
    rows = [{"name": "Kelp", "address": "Quay 1", "price": 12.5}, {"name": "Moss", "address": "Quay 2", "price": 8.0}]
    async with service(tmp_path, {f"{noun}s": rows}, read, tool(f"list_{noun}s")) as sim, sim.open() as world:
        assert value(await world.call(read["name"], {name: "Moss"})) == {"Moss": "Quay 2"}


@pytest.mark.parametrize("noun", ["reminder", "ticket", "parcel"])
@pytest.mark.parametrize(("ids", "following"), [((1001, 1002), 1003), (("X-04", "X-05"), "X-06")])
async def test_ids_in_rows_that_numbers_count_go_on(
    tmp_path: Path, noun: str, ids: tuple[Json, ...], following: Json
) -> None:
    state = {f"{noun}s": {str(at): {f"{noun}_id": key, "note": "Oak"} for at, key in enumerate(ids, 1)}}
    tools = [tool(f"add_{noun}", "note"), tool(f"list_{noun}s")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"add_{noun}", {"note": "Elm"}))[f"{noun}_id"] == following
        rows = value(await world.call(f"list_{noun}s", {}))
        assert [row[f"{noun}_id"] for row in rows] == [*ids, following]
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize("noun", ["reminder", "ticket", "parcel"])
async def test_rows_that_numbers_count_are_found_by_these(tmp_path: Path, noun: str) -> None:
    state = {f"{noun}s": {str(at): {f"{noun}_id": 1000 + at, "note": "Oak"} for at in (1, 2)}}
    tools = [tool(f"delete_{noun}", f"{noun}_id"), tool(f"list_{noun}s")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert (await world.call(f"delete_{noun}", {f"{noun}_id": "1"})).ok
        assert [row[f"{noun}_id"] for row in value(await world.call(f"list_{noun}s"))] == [1002]
