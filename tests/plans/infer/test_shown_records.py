"""What tools do, read from the records that they take and show, where their names do not say it."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, result, simulator, tool

Json = Any


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


STATUS: Json = {"type": "string", "enum": ["active", "suspended", "terminated"]}
FIELDS: Json = {"team": TEXT, "wage": {"type": "number"}, "status": STATUS}


def tools_of(noun: str, *others: Json) -> list[Json]:
    shown = thing(**{f"{noun}_id": TEXT}, name=TEXT, **FIELDS)
    return [
        tool(f"create_{noun}", needed="name", name=TEXT, output=shown),
        tool(f"get_{noun}", needed=f"{noun}_id", **{f"{noun}_id": TEXT}, output=shown),
        *others,
    ]


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "wrapped"])
@pytest.mark.parametrize(
    ("name", "change", "after"),
    [
        ("transfer_{noun}", {"team": "North"}, {"team": "North"}),
        ("renegotiate_wage", {"wage": 41}, {"wage": 41}),
        ("terminate_{noun}", {}, {"status": "terminated"}),
        ("suspend_{noun}", {}, {"status": "suspended"}),
    ],
)
@pytest.mark.parametrize("noun", ["worker", "pilot"])
async def test_a_tool_that_takes_the_key_of_the_record_that_it_shows_changes_it(
    noun: str, name: str, change: Json, after: Json, wrapped: bool, tmp_path: Path
) -> None:
    shown = thing(**{f"{noun}_id": TEXT}, name=TEXT, **FIELDS)
    arguments = {f"{noun}_id": TEXT, **{key: FIELDS[key] for key in change}}
    result = thing(**{noun: shown}) if wrapped else shown
    changing = tool(name.format(noun=noun), needed=f"{noun}_id", **arguments, output=result)
    async with simulator(tmp_path, tools_of(noun, changing)).open() as world:
        created = await answered(world, f"create_{noun}", name="Ada")
        changed = await answered(world, changing["name"], **{f"{noun}_id": created[f"{noun}_id"]}, **change)
        assert (changed[noun] if wrapped else changed) == {**created, **after}
        assert await answered(world, f"get_{noun}", **{f"{noun}_id": created[f"{noun}_id"]}) == {**created, **after}


@pytest.mark.parametrize("name", ["prescribe", "hand_out"])
async def test_a_tool_that_shows_a_record_whose_key_it_does_not_take_makes_it(name: str, tmp_path: Path) -> None:
    fields: Json = {"recipe_id": TEXT, "drug": TEXT, "dose": TEXT}
    tools = [
        tool(name, needed="drug", drug=TEXT, dose=TEXT, output=thing(**fields)),
        tool("list_recipes", output=thing(recipes={"type": "array", "items": thing(**fields)})),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, name, drug="Ibuprofen", dose="400 mg")
        assert created in (await answered(world, "list_recipes"))["recipes"]


@pytest.mark.parametrize(
    ("name", "argument", "change", "after"),
    [
        ("adjust_stock", "delta", 7, 12),
        ("adjust_stock", "delta", -2, 3),
        ("restock", "quantity", 4, 9),
        ("withdraw_stock", "amount", 4, 1),
    ],
)
async def test_a_change_of_a_number_is_added_to_it(
    name: str, argument: str, change: int, after: int, tmp_path: Path
) -> None:
    item = thing(sku=TEXT, name=TEXT, stock={"type": "integer"})
    changed = thing(sku=TEXT, stock={"type": "integer"})
    tools = [
        tool("add_item", needed="name", name=TEXT, stock={"type": "integer"}, output=item),
        tool("get_item", needed="sku", sku=TEXT, output=item),
        tool(name, needed=f"sku {argument}", sku=TEXT, **{argument: {"type": "integer"}}, output=changed),
    ]
    async with simulator(tmp_path, tools).open() as world:
        sku = (await answered(world, "add_item", name="Lamp", stock=5))["sku"]
        assert await answered(world, name, sku=sku, **{argument: change}) == {"sku": sku, "stock": after}
        assert (await answered(world, "get_item", sku=sku))["stock"] == after


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({"skus": ["a", "c"]}, ["a", "c"]),
        ({"below_stock": 5}, ["a"]),
        ({"day": "2030-03-02"}, ["b"]),
    ],
)
async def test_lists_are_filtered_by_plurals_bounds_and_days(filters: Json, shown: list[str], tmp_path: Path) -> None:
    row = thing(
        sku=TEXT, full_name=TEXT, stock={"type": "integer"}, bought_at={"type": "string", "format": "date-time"}
    )
    arguments: Json = {"skus": {"type": "array", "items": TEXT}, "below_stock": {"type": "integer"}}
    found = thing(items={"type": "array", "items": row})
    tools = [tool("search_items", needed="", **arguments, day={"type": "string", "format": "date"}, output=found)]
    rows = [("a", "Desk lamp", 3, 1), ("b", "Floor lamp", 8, 2), ("c", "Chair", 9, 3)]
    state = [{"sku": sku, "full_name": name, "stock": stock, "bought_at": f"2030-03-0{day}T10:00:00Z"}
             for sku, name, stock, day in rows]  # fmt: skip
    async with simulator(tmp_path, tools, {"items": state}).open() as world:
        assert [item["sku"] for item in (await answered(world, "search_items", **filters))["items"]] == shown


@pytest.mark.parametrize(
    ("mention", "path"),
    [
        ({"{noun}": thing(id=TEXT, name=TEXT)}, []),
        ({"{noun}s": thing(data={"type": "array", "minItems": 1, "items": thing(id=TEXT, name=TEXT)})}, ["data", 0]),
        ({"source": thing(type={"const": "{noun}"}, id=TEXT, name=TEXT)}, []),
        ({"parts": {"type": "array", "minItems": 1, "items": thing(**{"{noun}_id": TEXT})}}, [0]),
    ],
    ids=["object", "related", "typed", "key"],
)
@pytest.mark.parametrize("state", [None, {"shelves": [{"shelf_id": "S1", "label": "A"}]}], ids=["free", "given"])
@pytest.mark.parametrize("noun", ["badge", "vessel", "ledger"])
async def test_a_record_that_an_answer_mentions_is_known_to_the_tools_that_take_its_id(
    noun: str, state: Json, mention: Json, path: list[Json], tmp_path: Path
) -> None:
    mentions: Json = json.loads(json.dumps(mention).replace("{noun}", noun))
    record = thing(id=TEXT, name=TEXT)
    tools = [
        tool("compare_versions", output=thing(report=TEXT, **mentions)),
        tool(f"create_{noun}", needed="name", name=TEXT, output=record),
        tool(f"list_{noun}s", output=thing(items={"type": "array", "items": record})),
        tool(f"get_{noun}", needed=f"{noun}_id", **{f"{noun}_id": TEXT}, output=record),
        tool(f"delete_{noun}", needed=f"{noun}_id", **{f"{noun}_id": TEXT}),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        shown = await answered(world, "compare_versions")
        part: Json = reduce(getitem, path, shown[next(iter(mentions))])
        key = part.get("id", part.get(f"{noun}_id"))
        known = await answered(world, f"get_{noun}", **{f"{noun}_id": key})
        assert known["name"] == part.get("name", known["name"])
        assert known in (await answered(world, f"list_{noun}s"))["items"]
        await answered(world, f"delete_{noun}", **{f"{noun}_id": key})
        assert "not found" in await refused(world, f"get_{noun}", **{f"{noun}_id": key})


@pytest.mark.parametrize("rival", [None, "club_member"])
@pytest.mark.parametrize("mention", [{"member": thing(id=TEXT)}, {"member_id": TEXT}], ids=["object", "key"])
async def test_the_last_word_of_an_entity_means_it_if_no_other_has_it(
    mention: Json, rival: str | None, tmp_path: Path
) -> None:
    record = thing(id=TEXT, name=TEXT)
    tools = [
        tool("compare_versions", output=thing(**mention)),
        *(tool(f"create_{noun}", needed="name", name=TEXT, output=record) for noun in ("team_member", rival) if noun),
        tool("get_team_member", needed="team_member_id", team_member_id=TEXT, output=record),
    ]
    async with simulator(tmp_path, tools).open() as world:
        shown = await answered(world, "compare_versions")
        key = shown.get("member_id") or shown["member"]["id"]
        known = await world.call("get_team_member", {"team_member_id": key})
        assert result(known).is_error is (rival is not None)


def user_tools(*others: Json) -> list[Json]:
    record = thing(id=TEXT, name=TEXT)
    return [
        tool("create_user", needed="name", name=TEXT, output=record),
        tool("list_users", output=thing(users={"type": "array", "items": record})),
        tool("get_user", needed="user_id", user_id=TEXT, output=record),
        *others,
    ]


@pytest.mark.parametrize("noun", ["permission", "grant", "badge"])
async def test_the_type_of_a_known_record_is_not_its_entity(noun: str, tmp_path: Path) -> None:
    fields: Json = {"type": {"type": "string", "enum": ["user", "group", "domain"]}, "role": TEXT}
    record = thing(id=TEXT, **fields)
    tools = user_tools(
        tool(f"create_{noun}", output=record, **fields),
        tool(f"list_{noun}s", output=thing(items={"type": "array", "items": record})),
        tool("compare_versions", output=thing(acl={"type": "array", "minItems": 1, "items": record})),
    )
    async with simulator(tmp_path, tools).open() as world:
        users = (await answered(world, "list_users"))["users"]
        created = await answered(world, f"create_{noun}", type="user", role="editor")
        assert created in (await answered(world, f"list_{noun}s"))["items"]
        assert (await answered(world, "list_users"))["users"] == users


@pytest.mark.parametrize(
    ("name", "sent"),
    [("list_orders", {"user_id": "ghost"}), ("create_note", {"meta": {"users": [{"id": "ghost"}]}})],
)
async def test_what_a_call_sends_is_not_a_record_of_the_answer(name: str, sent: Json, tmp_path: Path) -> None:
    shown: Json = {"user_id": TEXT, "meta": {"type": "object"}}
    arguments = {key: shown[key] for key in sent}
    tools = user_tools(tool(name, output=thing(orders={"type": "array"}, **arguments), **arguments))
    state = {"orders": [{"id": "o1", "user_id": "u1", "total": 3}]}
    async with simulator(tmp_path, tools, state).open() as world:
        before = world.view.count("user")
        assert sent.items() <= (await answered(world, name, **sent)).items()
        assert world.view.count("user") == before
        assert "not found" in await refused(world, "get_user", user_id="ghost")


async def test_an_answer_adds_at_most_a_hundred_records(tmp_path: Path) -> None:
    mentions = {"type": "array", "minItems": 150, "items": thing(user_id={"type": "string", "format": "uuid"})}
    async with simulator(tmp_path, user_tools(tool("compare_versions", output=thing(parts=mentions)))).open() as world:
        before = world.view.count("user")
        await answered(world, "compare_versions")
        assert world.view.count("user") == before + 100


async def test_a_key_written_as_number_and_as_text_is_one_record(tmp_path: Path) -> None:
    shown = thing(user_id={"const": 7}, user=thing(id={"const": "7"}))
    record = thing(id={"type": ["string", "integer"]}, name=TEXT)
    tools = [
        tool("create_user", needed="name", name=TEXT, output=record),
        tool("get_user", needed="user_id", user_id={"type": ["string", "integer"]}, output=record),
        tool("compare_versions", output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        before = world.view.count("user")
        await answered(world, "compare_versions")
        assert world.view.count("user") == before + 1


@pytest.mark.parametrize(("argument", "is_key"), [("limit", False), ("year", False), ("id", True), ("users", True)])
async def test_a_number_in_a_call_is_a_key_only_if_its_name_says_so(
    argument: str, is_key: bool, tmp_path: Path
) -> None:
    whole: Json = {"type": "integer"}
    record = thing(id=whole, name=TEXT)
    tools = [
        tool("create_user", needed="name", name=TEXT, output=record),
        tool("get_user", needed="user_id", user_id=whole, output=record),
        tool("compare_versions", **{argument: whole}, output=thing(user=thing(id={"const": 70_005}, name=TEXT))),
    ]
    async with simulator(tmp_path, tools).open() as world:
        before = world.view.count("user")
        await answered(world, "compare_versions", **{argument: 70_005})
        assert (world.view.count("user") == before) is is_key


@pytest.mark.parametrize("key", ["id", "ID"])
@pytest.mark.parametrize(("records", "added"), [({}, 1), ({"user": 3}, 0)], ids=["free", "counted"])
async def test_declared_entities_absorb_mentions_unless_their_number_is_fixed(
    records: Json, added: int, key: str, tmp_path: Path
) -> None:
    record = thing(id=TEXT, name=TEXT)
    shown = thing(users={"type": "array", "minItems": 1, "maxItems": 1, "items": thing(**{key: {"const": "u-9"}})})
    spec = {"entities": {"user": {"key": "id", "fields": {"id": TEXT, "name": TEXT}}}}
    tools = user_tools(tool("compare_versions", output=shown))
    async with simulator(tmp_path, tools, spec=spec, world={"records": records}).open() as world:
        before = world.view.count("user")
        await answered(world, "compare_versions")
        assert world.view.count("user") == before + added
        if added:
            assert set(await answered(world, "get_user", user_id="u-9")) == set(record["properties"])


@pytest.mark.parametrize("name", ["a_b_c_d_e_f_g_h_user", f"{'x' * 96}_user"])
async def test_a_very_long_name_names_no_entity(name: str, tmp_path: Path) -> None:
    compare = tool("compare_versions", output=thing(**{name: thing(id=TEXT, name=TEXT)}))
    async with simulator(tmp_path, user_tools(compare)).open() as world:
        shown = (await answered(world, "compare_versions"))[name]
        assert shown not in (await answered(world, "list_users"))["users"]
