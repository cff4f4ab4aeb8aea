"""Objects and keys within generated values stand for records that other tools find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, simulator, tool

from mcp_sim.types.json_schema.shapes import as_list

Json = Any


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows(name: str, row: Json) -> Json:
    return thing(**{name: {"type": "array", "items": row}})


def server(key: str, noun: str, field: str, shape: Json) -> list[Json]:
    """Return tools for records of a noun, and for projects with a field of that shape."""
    shown, project = thing(**{key: TEXT, "name": TEXT}), thing(**{key: TEXT, "title": TEXT, field: shape})
    argument = f"{noun}_{key}"
    return [
        tool(f"get_{noun}", needed=argument, **{argument: TEXT}, output=shown),
        tool(f"list_{noun}s", output=rows(f"{noun}s", shown)),
        tool(f"create_{noun}", needed="name", name=TEXT, output=shown),
        tool("list_projects", output=rows("projects", project)),
        tool("create_project", needed="title", title=TEXT, output=project),
    ]


def inner(value: Json) -> list[Json]:
    """Return the objects with a name, at any depth."""
    if isinstance(value, list):
        return [item for part in as_list(value) for item in inner(part)]
    return [value] if "name" in value else [item for part in value.values() for item in inner(part)]


PLACES: dict[str, Callable[[Json], Json]] = {
    "{}": lambda shape: shape,
    "former_{}": lambda shape: shape,
    "{}s": lambda shape: {"type": "array", "items": shape, "minItems": 1},
    "history": lambda shape: {"type": "array", "items": thing(**{"{}": shape}), "minItems": 1},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("noun", "key"), [("team", "id"), ("clinic", "gid"), ("editor", "uid")])
async def test_an_object_named_after_an_entity_is_one_of_its_records(
    noun: str, key: str, place: str, tmp_path: Path
) -> None:
    shape = PLACES[place](thing(**{key: TEXT, "name": TEXT}))
    if place == "history":
        shape["items"] = thing(**{noun: shape["items"]["properties"]["{}"]})
    field = place.format(noun)
    async with simulator(tmp_path, server(key, noun, field, shape)).open() as world:
        listed = await answered(world, "list_projects")
        new = await answered(world, "create_project", title="Relaunch")
        shown = inner([*(row[field] for row in listed["projects"]), new[field]])
        assert len(shown) >= len(listed["projects"])
        for record in shown:
            assert await answered(world, f"get_{noun}", **{f"{noun}_{key}": record[key]}) == record


@pytest.mark.parametrize(("noun", "key"), [("product", "id"), ("style", "key"), ("device", "uuid")])
async def test_a_key_within_an_object_is_that_of_a_record_with_its_name(noun: str, key: str, tmp_path: Path) -> None:
    line = thing(**{f"{noun}_{key}": TEXT, f"{noun}_name": TEXT, "quantity": {"type": "integer"}})
    shape = {"type": "array", "items": line, "minItems": 1}
    async with simulator(tmp_path, server(key, noun, "lines", shape)).open() as world:
        for project in (await answered(world, "list_projects"))["projects"]:
            for shown in project["lines"]:
                record = await answered(world, f"get_{noun}", **{f"{noun}_{key}": shown[f"{noun}_{key}"]})
                assert record["name"] == shown[f"{noun}_name"]


async def test_an_alternative_that_is_a_reference_names_a_record_too(tmp_path: Path) -> None:
    kind, text = {"type": "string", "enum": ["user_reference"]}, {"type": "string"}
    reference = thing(id=text, type=kind)
    user = thing(id=text, type={"type": "string", "enum": ["user"]}, email={"type": "string", "format": "email"})
    tools = [
        tool("list_users", output=rows("users", user)),
        tool("create_user", needed="email", email=TEXT, output=user),
        tool("list_tickets", output=rows("tickets", thing(id=text, user={"oneOf": [reference, user]}))),
        tool("create_ticket", needed="title", title=TEXT, output=thing(id=text, title=text)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        known = {row["id"] for row in (await answered(world, "list_users"))["users"]}
        shown = [row["user"] for row in (await answered(world, "list_tickets"))["tickets"]]
        assert "user_reference" in [row["type"] for row in shown]
        assert known.issuperset(row["id"] for row in shown)


@pytest.mark.parametrize("noun", ["tag", "watcher"])
async def test_taking_something_from_a_record_is_answered_though_nothing_says_what_it_has(
    noun: str, tmp_path: Path
) -> None:
    task = thing(id=TEXT, title=TEXT)
    tools = [
        tool("create_task", needed="title", title=TEXT, output=task),
        tool("get_task", needed="task_id", task_id=TEXT, output=task),
        tool(f"add_{noun}", needed="task_id", task_id=TEXT, label=TEXT),
        tool(f"remove_{noun}", needed="task_id", task_id=TEXT),
        tool(f"list_{noun}s", needed="task_id", task_id=TEXT),
    ]
    async with simulator(tmp_path, tools).open() as world:
        new = await answered(world, "create_task", title="Move")
        result = await world.call(f"remove_{noun}", {"task_id": new["id"]})
        assert "not found" not in str(result.body)
        assert await answered(world, "get_task", task_id=new["id"]) == new


@pytest.mark.parametrize(("name", "schema", "begins"), [
    ("allocated", {"type": "integer"}, 0),
    ("status", {"enum": ["open", "packed"]}, "open"),
    ("is_returned", {"type": "boolean"}, False),
])  # fmt: skip
async def test_what_a_server_adds_to_a_new_line_has_its_first_value(
    name: str, schema: Json, begins: Json, tmp_path: Path
) -> None:
    line, shown = thing(sku=TEXT, quantity={"type": "integer"}), thing(sku=TEXT, quantity={"type": "integer"})
    shown["properties"][name], shown["required"] = schema, [*shown["required"], name]
    order = thing(order_id=TEXT, lines={"type": "array", "items": shown})
    tools = [tool("create_order", lines={"type": "array", "items": line}, output=order)]
    async with simulator(tmp_path, tools).open() as world:
        new = await answered(world, "create_order", lines=[{"sku": "lamp", "quantity": 2}])
        assert new["lines"] == [{"sku": "lamp", "quantity": 2, name: begins}]


@pytest.mark.parametrize("name", ["quantity_on_hand", "on_hand", "stock_on_hand"])
async def test_of_a_new_record_nothing_is_on_hand(name: str, tmp_path: Path) -> None:
    shown = thing(sku=TEXT, price={"type": "number"}, **{name: {"type": "integer"}})
    tools = [tool("create_product", needed="sku price", sku=TEXT, price={"type": "number"}, output=shown)]
    async with simulator(tmp_path, tools).open() as world:
        assert await answered(world, "create_product", sku="L-1", price=4) == {"sku": "L-1", "price": 4, name: 0}
