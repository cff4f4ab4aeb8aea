"""What names only suggest refuses no call: links, owners, parts, and ids that nothing in the world issues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

Json = Any


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def id_of(noun: str, value: Json = TEXT) -> Json:
    """Return the argument that names a record, with its value or its schema."""
    return {f"{noun}_id": value}


def owned_tools(owner: str, item: str) -> list[Json]:
    """Return tools of an owner and of its parts, which refer to it."""
    whole, piece = thing(id=TEXT, name=TEXT, region=TEXT), thing(id=TEXT, title=TEXT, **id_of(owner))
    return [
        tool(f"create_{owner}", name=TEXT, output=whole),
        tool(f"get_{owner}", **id_of(owner), output=whole),
        tool(f"delete_{owner}", **id_of(owner)),
        tool(f"create_{item}", title=TEXT, **id_of(owner), output=piece),
        tool(f"get_{item}", **id_of(item), output=piece),
        tool(f"update_{item}", title=TEXT, **id_of(item), output=piece),
        tool(f"list_{item}s", **id_of(owner), output=thing(**{f"{item}s": {"type": "array", "items": piece}})),
        tool(f"delete_{owner}_{item}s", f"Delete the {item}s of a {owner}", **id_of(owner)),
        tool(f"unlink_{owner}_repo", f"Unlink the repository of a {owner}", **id_of(owner), output=whole),
        tool(f"get_{owner}_token", **id_of(owner), output=thing(token=TEXT, url=TEXT)),
    ]


OWNERS = [("site", "deploy"), ("project", "task"), ("clinic", "visit")]


@pytest.mark.parametrize(("owner", "item"), OWNERS)
async def test_a_link_that_is_guessed_forbids_no_deletion(owner: str, item: str, tmp_path: Path) -> None:
    declared = {owner: {"key": "id", "fields": {"id": TEXT, "name": TEXT, "region": TEXT}}}
    async with simulator(tmp_path, owned_tools(owner, item), spec={"entities": declared}).open() as world:
        whole = (await answered(world, f"create_{owner}", name="North"))["id"]
        piece = (await answered(world, f"create_{item}", title="First", **id_of(owner, whole)))["id"]
        await answered(world, f"delete_{owner}", **id_of(owner, whole))
        await refused(world, f"get_{owner}", **id_of(owner, whole))
        assert (await answered(world, f"get_{item}", **id_of(item, piece)))["title"] == "First"


@pytest.mark.parametrize(("owner", "item"), OWNERS)
async def test_a_plural_removes_all_that_belongs_to_a_record(owner: str, item: str, tmp_path: Path) -> None:
    async with simulator(tmp_path, owned_tools(owner, item)).open() as world:
        (whole, other) = [(await answered(world, f"create_{owner}", name=name))["id"] for name in ("North", "South")]
        for of in (whole, whole, other):
            await answered(world, f"create_{item}", title="First", **id_of(owner, of))
        await answered(world, f"delete_{owner}_{item}s", **id_of(owner, whole))
        assert (await answered(world, f"list_{item}s", **id_of(owner, whole)))[f"{item}s"] == []
        assert len((await answered(world, f"list_{item}s", **id_of(owner, other)))[f"{item}s"]) == 1
        await answered(world, f"delete_{owner}_{item}s", **id_of(owner, whole))


@pytest.mark.parametrize(("owner", "item"), OWNERS)
async def test_taking_something_from_a_record_leaves_the_record(owner: str, item: str, tmp_path: Path) -> None:
    async with simulator(tmp_path, owned_tools(owner, item)).open() as world:
        whole = await answered(world, f"create_{owner}", name="North")
        assert (await answered(world, f"unlink_{owner}_repo", **id_of(owner, whole["id"])))["id"] == whole["id"]
        assert await answered(world, f"get_{owner}", **id_of(owner, whole["id"])) == whole


@pytest.mark.parametrize(("owner", "item"), OWNERS)
async def test_an_owner_that_was_generated_refuses_no_change(owner: str, item: str, tmp_path: Path) -> None:
    change = tool(f"edit_{item}", title=TEXT, **id_of(owner), **id_of(item))
    sim = simulator(tmp_path, [*owned_tools(owner, item), change], world={"records": {owner: 3, item: 1}})
    async with sim.open() as world:
        [(piece, _)], owners = world.view.rows(item), [key for key, _ in world.view.rows(owner)]
        for title, whole in zip(("First", "Second", "Third"), owners, strict=True):
            await answered(world, f"edit_{item}", title=title, **id_of(owner, whole), **id_of(item, piece))
            assert (await answered(world, f"get_{item}", **id_of(item, piece)))["title"] == title


@pytest.mark.parametrize(("owner", "item"), OWNERS)
async def test_what_no_tool_creates_exists_for_a_new_record(owner: str, item: str, tmp_path: Path) -> None:
    async with simulator(tmp_path, owned_tools(owner, item)).open() as world:
        whole = (await answered(world, f"create_{owner}", name="North"))["id"]
        shown = await answered(world, f"get_{owner}_token", **id_of(owner, whole))
        assert shown == await answered(world, f"get_{owner}_token", **id_of(owner, whole))


@pytest.mark.parametrize("noun", ["channel", "room", "wallet"])
async def test_ids_that_nothing_creates_or_lists_are_unknowable(noun: str, tmp_path: Path) -> None:
    key, shown = id_of(noun), thing(id=TEXT, name=TEXT, topic=TEXT)
    tools = [
        tool(f"get_{noun}", **key, output=shown),
        tool(f"update_{noun}", **key, name=TEXT, output=shown),
        tool(f"delete_{noun}", **key, output=shown),
        tool("create_note", body=TEXT, **key, output=thing(id=TEXT, body=TEXT, **key)),
        tool("list_notes", output=thing(notes={"type": "array", "items": thing(id=TEXT, body=TEXT, **key)})),
    ]
    async with simulator(tmp_path, tools).open() as world:
        assert (await answered(world, "create_note", body="Hi", **id_of(noun, "71")))[f"{noun}_id"] == "71"
        assert (await answered(world, f"update_{noun}", name="Attic", **id_of(noun, "72")))["name"] == "Attic"
        assert (await answered(world, f"get_{noun}", **id_of(noun, "72")))["name"] == "Attic"
        for unknown in ("72", "73"):
            await answered(world, f"delete_{noun}", **id_of(noun, unknown))
            await refused(world, f"get_{noun}", **id_of(noun, unknown))


@pytest.mark.parametrize(
    ("noun", "field", "about"),
    [
        ("template", "alias", "The template ID or alias."),
        ("contact", "email", "Email or ID of the contact"),
        ("gadget", "slug", "The id or the slug"),
    ],
)
async def test_a_description_names_the_other_field_that_finds_a_record(
    noun: str, field: str, about: str, tmp_path: Path
) -> None:
    other: Json = {field: TEXT}
    shown = thing(id=TEXT, label=TEXT, **other)
    tools = [
        tool(f"create_{noun}", label=TEXT, **other, output=shown),
        tool(f"get_{noun}", id={**TEXT, "description": about}, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, f"create_{noun}", label="Blue", **{field: "ada-vos"})
        assert await answered(world, f"get_{noun}", id="ada-vos") == created
        await refused(world, f"get_{noun}", id="bob-vos")


@pytest.mark.parametrize("noun", ["member", "pump"])
async def test_a_list_becomes_no_key_of_a_renamed_record(noun: str, tmp_path: Path) -> None:
    rows = {f"s{number}": [{"id": f"s{number}", "order": ["s0"]}] for number in range(3)}
    shown = thing(id={"type": "array", "items": TEXT})
    arguments: Json = {noun: TEXT, "new_id": {"type": "integer"}, "output": shown}
    rename = tool(f"rename_{noun}", **arguments)
    async with simulator(tmp_path, [rename], {noun: rows}).open() as world:
        await answered(world, f"rename_{noun}", **{noun: "s2", "new_id": 4})


@pytest.mark.parametrize("value", [2.5, -0.5])
async def test_a_record_may_be_named_by_a_fraction(value: float, tmp_path: Path) -> None:
    state = {"book": {f"s{number}": {"id": f"s{number}", "name": ["s0"] * number} for number in range(3)}}
    number = {"type": "number"}
    shown = {"type": "object", "properties": {"id": number, "day": {"type": "boolean"}}, "required": ["id"]}
    use, lend = tool("use_book", "Use the book.", book_id=number, output=shown), tool("lend_book", "Lend the book.")
    use["inputSchema"]["required"] = []
    async with simulator(tmp_path, [lend, use], state).open() as world:
        await answered(world, "use_book", **id_of("book", value))
        await answered(world, "lend_book")


@pytest.mark.parametrize("noun", ["node", "sensor", "loan"])
async def test_a_read_without_its_optional_key_is_not_refused_where_nothing_exists_yet(
    noun: str, tmp_path: Path
) -> None:
    tools = [
        tool("show", f"Show all or a single {noun}", needed="", **{noun: TEXT}),
        tool(f"add_{noun}", f"Add a {noun}", **id_of(noun), status=TEXT),
        tool(f"remove_{noun}", f"Remove a {noun}", **id_of(noun)),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        assert "required" not in str(await answered(world, "show"))
        await answered(world, f"add_{noun}", **id_of(noun, "first"), status="open")
        assert "first" in str(await answered(world, "show"))


@pytest.mark.parametrize("noun", ["alarm", "timer", "route"])
async def test_a_change_that_names_no_record_invents_none(noun: str, tmp_path: Path) -> None:
    shown = thing(id=TEXT, label=TEXT)
    tools = [
        tool(f"update_{noun}", "", shown, "", label=TEXT, **id_of(noun)),
        tool(f"delete_{noun}", "", thing(deleted_id=TEXT), "", **id_of(noun)),
        tool(f"list_{noun}s", output=thing(**{f"{noun}s": {"type": "array", "items": shown}})),
    ]
    for rows in ([], [{"id": "A1", "label": "First"}]):
        async with simulator(tmp_path, tools, {f"{noun}s": rows}).open() as world:
            for act in ("update", "delete"):
                assert "*" not in str((await world.call(f"{act}_{noun}", {})).body)
            assert await answered(world, f"list_{noun}s") == {f"{noun}s": rows}


@pytest.mark.parametrize("noun", ["book", "boat"])
@pytest.mark.parametrize("act", ["check", "preview", "estimate", "simulate"])
async def test_a_tool_that_only_looks_makes_nothing(act: str, noun: str, tmp_path: Path) -> None:
    tools = [
        tool(f"{act}_{noun}", f"{act.title()} a {noun}. Returns the loan status.", **id_of(noun)),
        tool(f"lend_{noun}", f"Lend a {noun}. Returns the new loan.", **id_of(noun), member=TEXT),
        tool("get_loan", **id_of("loan")),
        tool("list_loans"),
    ]
    async with simulator(tmp_path, tools, {f"{noun}s": [{"id": "b1", "title": "Ada"}], "loans": []}).open() as world:
        await answered(world, f"{act}_{noun}", **id_of(noun, "b1"))
        assert await answered(world, "list_loans") == []
        await answered(world, f"lend_{noun}", **id_of(noun, "b1"), member="Ann")
        assert len(await answered(world, "list_loans")) == 1


@pytest.mark.parametrize(
    ("name", "key", "more"),
    [("add_timesheet_hours", "employee_id", "hours"), ("add_bonus_points", "member_id", "points"),
     ("multiply_cart_item", "item_id", "factor")],
)  # fmt: skip
async def test_ids_are_not_computed_with(name: str, key: str, more: str, tmp_path: Path) -> None:
    number = {"type": "integer"}
    taken: Json = {key: number, more: number}
    tools = [tool(name, output=thing(total=number), **taken)]
    async with simulator(tmp_path, tools).open() as world:
        assert (await answered(world, name, **{key: 12, more: 3}))["total"] not in (15, 36)


@pytest.mark.parametrize(("act", "noun"), [("update", "seat"), ("pay", "invoice"), ("adjust", "limit")])
async def test_a_change_of_a_numbered_record_computes_nothing(act: str, noun: str, tmp_path: Path) -> None:
    number = {"type": "integer"}
    shown = thing(amount=number, total=number, **id_of(noun, number))
    rows = thing(**{f"{noun}s": {"type": "array", "items": shown}})
    tools = [
        tool(f"{act}_{noun}", output=thing(total=number), amount=number, **id_of(noun, number)),
        tool(f"get_{noun}", output=shown, **id_of(noun, number)),
        tool(f"list_{noun}s", output=rows),
    ]
    assert backends(simulator(tmp_path, tools))[f"{act}_{noun}"] == "records"
