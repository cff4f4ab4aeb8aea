"""Tools that add a record to a list of another one or remove it, and numbers that such tools take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
PAIRS = [("student", "course", "enroll_student", "drop_student"), ("guest", "event", "invite_guest", "unlink_guest"),
         ("file", "case", "attach_file", "detach_file"),
         ("nurse", "shift", "assign_nurse", "unassign_nurse")]  # fmt: skip


@pytest.mark.parametrize(("member", "owner", "joining", "leaving"), PAIRS)
async def test_who_joins_or_leaves_is_in_the_list_of_the_record(
    tmp_path: Path, member: str, owner: str, joining: str, leaving: str
) -> None:
    listed, member_id, owner_id = f"{member}_ids", f"{member}_id", f"{owner}_id"
    empty: Json = []
    state: Json = {
        f"{member}s": [{"id": "m1", "name": "Ada"}, {"id": "m2", "name": "Bo"}],
        f"{owner}s": [{"id": "o1", "title": "First", listed: ["m1"]}, {"id": "o2", "title": "Second", listed: empty}],
        "badges": [{"id": "b1", member_id: "m1"}],
    }
    tools = [
        tool(joining, **{member_id: TEXT, owner_id: TEXT}),
        tool(leaving, **{member_id: TEXT, owner_id: TEXT}),
        tool(f"get_{member}", **{member_id: TEXT}),
        tool(f"{owner}_roster", **{owner_id: TEXT}),
        tool("list_badges", **{member_id: TEXT}),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        at = {owner_id: "o1"}
        await answered(world, joining, **at, **{member_id: "m2"})
        assert (await answered(world, f"{owner}_roster", **at))[listed] == ["m1", "m2"]
        await answered(world, leaving, **at, **{member_id: "m1"})
        assert (await answered(world, f"{owner}_roster", **at))[listed] == ["m2"]
        assert not any(step.get("guessed") for step in world.ledger.steps)
        assert await answered(world, f"get_{member}", **{member_id: "m1"}) == {"id": "m1", "name": "Ada"}
        assert "none" in await refused(world, joining, **at, **{member_id: "none"})


@pytest.mark.parametrize(
    ("role", "member", "owner", "joining", "leaving"),
    [("member", "worker", "team", "add_member_to_team", "remove_member_from_team"),
     ("watcher", "user", "issue", "add_watcher", "remove_watcher"),
     ("guest", "contact", "event", "invite_guest", "remove_guest_from_event"),
     ("entry", "film", "festival", "add_entry", "remove_entry")],
)  # fmt: skip
async def test_who_joins_in_a_role_is_in_the_list_of_that_role(
    tmp_path: Path, role: str, member: str, owner: str, joining: str, leaving: str
) -> None:
    listed = "entries" if role == "entry" else f"{role}s"
    state: Json = {f"{member}s": [{"id": "m1"}, {"id": "m2"}], f"{owner}s": [{"id": "o1", listed: ["m1"]}]}
    owner_id, member_id = f"{owner}_id", f"{member}_id"
    tools = [
        tool(joining, **{owner_id: TEXT, member_id: TEXT}),
        tool(leaving, **{owner_id: TEXT, member_id: TEXT}),
        tool(f"get_{owner}", **{owner_id: TEXT}),
        tool(f"list_{member}s"),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, joining, **{owner_id: "o1", member_id: "m2"})
        await answered(world, leaving, **{owner_id: "o1", member_id: "m1"})
        assert await answered(world, f"get_{owner}", **{owner_id: "o1"}) == {"id": "o1", listed: ["m2"]}
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize(("member", "place"), [("gardener", "bed"), ("guard", "gate"), ("nurse", "ward")])
async def test_an_update_that_changes_nothing_is_reported_as_a_guess(tmp_path: Path, member: str, place: str) -> None:
    state: Json = {f"{member}s": [{"id": "m1", "name": "Ada"}], f"{place}s": [{"id": "p1", "size": 4}]}
    assign = tool(f"assign_{member}", **{f"{member}_id": TEXT, f"{place}_id": TEXT})
    sim = simulator(tmp_path, [assign, tool(f"list_{member}s"), tool(f"list_{place}s")], state)
    async with sim.open() as world:
        await answered(world, f"assign_{member}", **{f"{member}_id": "m1", f"{place}_id": "p1"})
        assert world.ledger.steps[-1]["guessed"]
        assert [plan.tool for plan in sim.scenario.guesses] == [f"assign_{member}"]


@pytest.mark.parametrize("name", ["give_raise", "grant_bonus_to_employee", "give_day_off"])
async def test_what_a_record_is_given_neither_creates_it_nor_is_sure(tmp_path: Path, name: str) -> None:
    number = {"type": "number"}
    fields: Json = {"employee_id": TEXT, "name": TEXT, "salary": number}
    shown = {"type": "object", "properties": fields, "required": [*fields]}
    tools = [
        tool("hire_employee", name=TEXT, salary=number, output=shown),
        tool("get_employee", employee_id=TEXT, output=shown),
        tool(name, employee_id=TEXT, percent=number, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "hire_employee", name="Ada", salary=100)
        assert await answered(world, name, employee_id=created["employee_id"], percent=5) == created
        assert world.ledger.steps[-1]["guessed"]
        await refused(world, name, employee_id="none", percent=5)


@pytest.mark.parametrize(("act", "number"), [("pay", "amount"), ("complete", "hours"), ("assess", "points")])
async def test_a_number_that_no_given_record_has_is_a_guess(tmp_path: Path, act: str, number: str) -> None:
    amount: Json = {"type": "number"}
    tools = [
        tool(f"{act}_fine", **{"member_id": TEXT, number: amount}),
        tool("get_fine", member_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {"fines": {"m1": 2.5, "m2": 1.0}}).open() as world:
        await answered(world, f"{act}_fine", member_id="m1", **{number: 1.5})
        assert world.ledger.steps[-1]["guessed"]


def record(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


LIST: Json = {"type": "array", "items": TEXT}
TRIPS = [("exhibition", "artwork"), ("playlist", "song"), ("herd", "animal")]


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize(("owner", "member"), TRIPS)
async def test_ids_that_are_added_to_an_owner_enter_its_list(
    tmp_path: Path, owner: str, member: str, *, is_typed: bool, is_given: bool
) -> None:
    owner_id, listed, noun = f"{owner}Id", f"{member}Ids", owner.title()
    shape = record(id=TEXT, title=TEXT, **{listed: LIST}) if is_typed else None
    tools = [
        tool(f"create{noun}", title=TEXT, output=shape),
        tool(f"addTo{noun}", **{owner_id: TEXT, listed: LIST}, output=shape),
        tool(f"removeFrom{noun}", **{owner_id: TEXT, f"{member}Id": TEXT}, output=shape),
        tool(f"get{noun}", **{owner_id: TEXT}, output=shape),
        tool(f"create{member.title()}", title=TEXT),
    ]
    owners: Json = [{"id": "o1", "title": "First", listed: ["m1"]}]
    state: Json = {f"{owner}s": owners, f"{member}s": [{"id": f"m{number}"} for number in range(1, 4)]}
    sim = simulator(tmp_path, tools, state if is_given else None)
    async with sim.open() as world:
        key, first = "o1", ["m1"]
        if not is_given:
            key, first = (await answered(world, f"create{noun}", title="First"))["id"], []
        await answered(world, f"addTo{noun}", **{owner_id: key, listed: ["m2"]})
        await answered(world, f"addTo{noun}", **{owner_id: key, listed: ["m3", "m2"]})
        shown = await answered(world, f"get{noun}", **{owner_id: key})
        assert (shown["title"], shown[listed]) == ("First", [*first, "m2", "m3"])
        await answered(world, f"removeFrom{noun}", **{owner_id: key, f"{member}Id": "m2"})
        assert (await answered(world, f"get{noun}", **{owner_id: key}))[listed] == [*first, "m3"]
        assert "none" in await refused(world, f"addTo{noun}", **{owner_id: "none", listed: ["m2"]})


@pytest.mark.parametrize(
    ("act", "about", "owner"),
    [
        ("forward", "Forward a case to a clerk.", {}),
        ("hand_over", "Hand a case over to a clerk.", {}),
        ("transfer", "Transfer a case from one desk to a clerk.", {}),
        ("assign", "Assign a case to a clerk.", {"owner": "c1"}),
    ],
)
async def test_what_a_record_is_sent_to_does_not_enter_another_list(
    tmp_path: Path, act: str, about: str, owner: Json
) -> None:
    tools = [tool(f"{act}_case", about, case_id=TEXT, clerk_id=TEXT), tool("get_case", case_id=TEXT),
             tool("list_clerks")]  # fmt: skip
    case: Json = {"id": "k1", "watchers": ["c1"], **owner}
    async with simulator(tmp_path, tools, {"cases": [case], "clerks": [{"id": "c1"}, {"id": "c2"}]}).open() as world:
        await answered(world, f"{act}_case", case_id="k1", clerk_id="c2")
        assert world.ledger.steps[-1]["guessed"]
        assert (await answered(world, "get_case", case_id="k1"))["watchers"] == ["c1"]


@pytest.mark.parametrize(("noun", "verb", "value"), [("photo", "tag", "tag"), ("track", "label", "label")])
@pytest.mark.parametrize("is_typed", [True, False])
async def test_a_verb_with_the_noun_of_a_list_adds_to_it(
    tmp_path: Path, noun: str, verb: str, value: str, *, is_typed: bool
) -> None:
    key, listed = f"{noun}_id", f"{value}s"
    shape = record(id=TEXT, **{listed: LIST}) if is_typed else None
    names = [f"{verb}_{noun}", f"un{verb}_{noun}"]
    tools = [tool(name, **{key: TEXT, value: TEXT}, output=shape) for name in names]
    tools.append(tool(f"get_{noun}", **{key: TEXT}, output=shape))
    async with simulator(tmp_path, tools, {f"{noun}s": [{"id": "r1", listed: ["sea"]}]}).open() as world:
        await answered(world, names[0], **{key: "r1", value: "sky"})
        await answered(world, names[1], **{key: "r1", value: "sea"})
        assert await answered(world, f"get_{noun}", **{key: "r1"}) == {"id": "r1", listed: ["sky"]}


@pytest.mark.parametrize(
    ("listed", "row"),
    [("stops", {"name": "Hall", "minutes": 4}), ("items", {"sku": "A", "quantity": 2}), ("stops", {"name": "Hall"})],
)
async def test_values_enter_a_list_that_is_empty_everywhere(tmp_path: Path, listed: str, row: Json) -> None:
    types: Json = {name: {"type": "integer" if isinstance(value, int) else "string"} for name, value in row.items()}
    adds = tool(f"add_{listed[:-1]}_to_route", route_id=TEXT, **types)
    tools, empty = [adds, tool("get_route", route_id=TEXT)], list[Json]()
    async with simulator(tmp_path, tools, {"routes": [{"id": "r1", listed: empty}]}).open() as world:
        await answered(world, f"add_{listed[:-1]}_to_route", route_id="r1", **row)
        entered = row if len(row) > 1 else row["name"]
        assert await answered(world, "get_route", route_id="r1") == {"id": "r1", listed: [entered]}


@pytest.mark.parametrize(("role", "owner"), [("member", "team"), ("extra", "film")])
async def test_a_name_enters_a_list_of_plain_values_whatever_the_result_shows(
    tmp_path: Path, role: str, owner: str
) -> None:
    key, shape = f"{owner}_id", record(id=TEXT, title=TEXT, **{f"{role}s": LIST})
    number: Json = {"type": "integer"}
    tools = [
        tool(f"create_{owner}", title=TEXT, output=shape),
        tool(f"add_{role}", **{key: TEXT, "name": TEXT}, output=record(**{key: TEXT, f"{role}_count": number})),
        tool(f"get_{owner}", **{key: TEXT}, output=shape),
    ]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, f"create_{owner}", title="First")
        await answered(world, f"add_{role}", **{key: made["id"], "name": "Ada"})
        assert (await answered(world, f"get_{owner}", **{key: made["id"]}))[f"{role}s"] == ["Ada"]


@pytest.mark.parametrize("field", ["enrolled", "roster", "seated"])
@pytest.mark.parametrize(
    ("join", "leave"),
    [("enroll_pupil", "drop_class"), ("add_pupil", "remove_pupil"), ("assign_pupil", "unassign_pupil")],
)
async def test_a_list_of_keys_of_any_name_gets_and_loses_them(
    tmp_path: Path, field: str, join: str, leave: str
) -> None:
    classes: Json = {"ART": {"room": "A1", field: []}, "BIO": {"room": "C3", field: ["p2", "p1"]}}
    state = {"pupils": [{"pupil_id": "p1", "age": 9}, {"pupil_id": "p2", "age": 8}], "classes": classes}
    texts: Json = {"type": "object", "properties": {"result": {"type": "array", "items": TEXT}}, "required": ["result"]}
    tools = [
        tool("list_pupils"),
        tool("get_class", class_code=TEXT),
        tool(f"list_{field}_pupils", class_code=TEXT, output=texts),
        tool(join, class_code=TEXT, pupil_id=TEXT),
        tool(leave, class_code=TEXT, pupil_id=TEXT),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, join, class_code="ART", pupil_id="p1")
        await answered(world, leave, class_code="BIO", pupil_id="p1")
        shown = {code: await answered(world, "get_class", class_code=code) for code in classes}
        assert {code: row[field] for code, row in shown.items()} == {"ART": ["p1"], "BIO": ["p2"]}
        assert not {*shown["ART"]} - {"class_code", "room", field}
        assert await answered(world, f"list_{field}_pupils", class_code="ART") == {"result": ["p1"]}
        assert len(await answered(world, "list_pupils")) == 2


@pytest.mark.parametrize(
    ("listed", "argument"), [("crew", "crew_member"), ("staff", "staff_id"), ("cast", "cast_name")]
)
async def test_a_list_without_a_plural_gets_who_is_added(tmp_path: Path, listed: str, argument: str) -> None:
    tools = [tool(f"add_{listed}", ship_id=TEXT, **{argument: TEXT}), tool("show_ship", ship_id=TEXT)]
    async with simulator(tmp_path, tools, {"ships": [{"id": "s1", listed: ["Ada"]}]}).open() as world:
        await answered(world, f"add_{listed}", ship_id="s1", **{argument: "Bo"})
        assert await answered(world, "show_ship", ship_id="s1") == {"id": "s1", listed: ["Ada", "Bo"]}


async def test_two_keys_of_the_same_record_add_nothing_to_its_list(tmp_path: Path) -> None:
    tools = [tool("add_note", ship_id=TEXT, ship_number=TEXT), tool("show_ship", ship_id=TEXT)]
    async with simulator(tmp_path, tools, {"ships": [{"id": "s1", "crew": ["Ada"]}]}).open() as world:
        await world.call("add_note", {"ship_id": "s1", "ship_number": "7"})
        assert (await answered(world, "show_ship", ship_id="s1"))["crew"] == ["Ada"]


@pytest.mark.parametrize(("owner", "member"), [("crew", "sailor"), ("troupe", "dancer")])
async def test_a_named_group_is_made_and_joined_by_its_name(tmp_path: Path, owner: str, member: str) -> None:
    names: Json = {"type": "array", "items": TEXT}
    state: Json = {f"{member}s": ["Al", "Bo", "Cy"], f"{owner}s": {"Red": ["Al"], "Old guard": []}}
    tools = [
        tool(f"list_{member}s"),
        tool(f"list_{owner}s"),
        tool(f"get_{owner}_members", **{owner: TEXT}),
        tool(f"create_{owner}", name=TEXT, members=names),
        tool("add_member", **{owner: TEXT, member: TEXT}),
        tool("remove_member", **{owner: TEXT, member: TEXT}),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, "add_member", **{owner: "Old guard", member: "Bo"})
        await answered(world, "remove_member", **{owner: "Red", member: "Al"})
        await answered(world, f"create_{owner}", name="Blue", members=["Cy"])
        shown = [
            await answered(world, f"get_{owner}_members", **{owner: name}) for name in ("Red", "Old guard", "Blue")
        ]
        assert [row["members"] for row in shown] == [[], ["Bo"], ["Cy"]]
        assert len(await answered(world, f"list_{owner}s")) == 3
