"""Schemas that constrain several fields together hold for every record that is served, created and changed."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

Json = Any
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
STATUS: Schema = {"type": "string", "enum": ["open", "closed"]}
FIELDS: Schema = {"id": TEXT, "title": TEXT, "status": STATUS}
"""Fields of every ticket."""

PARTS: dict[str, Schema] = {
    "if, then, else": {
        "properties": {"closed_at": {"type": "string", "format": "date-time"}},
        "if": {"properties": {"status": {"const": "closed"}}},
        "then": {"required": ["closed_at"]},
        "else": {"not": {"required": ["closed_at"]}},
    },
    "dependentRequired": {"properties": {"card": TEXT, "expiry": TEXT}, "dependentRequired": {"card": ["expiry"]}},
    "dependentSchemas": {
        "properties": {"reopened": {"type": "boolean"}, "reason": TEXT},
        "dependentSchemas": {"reopened": {"required": ["reason"]}},
    },
    "oneOf by a constant": {
        "properties": {"kind": TEXT},
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "card"}, "number": {"pattern": "^[0-9]{4}$"}}, "required": ["number"]},
            {"properties": {"kind": {"const": "bank"}, "iban": TEXT}, "required": ["iban"]},
        ],
    },
    "anyOf": {
        "properties": {"mail": TEXT, "phone": TEXT},
        "anyOf": [{"required": ["mail"]}, {"required": ["phone"]}],
    },
    "allOf": {
        "properties": {"priority": {"type": "integer"}},
        "allOf": [{"properties": {"priority": {"minimum": 1}}}, {"properties": {"priority": {"maximum": 2}}}],
    },
    "const": {"properties": {"object": {"const": "ticket"}}, "required": ["object"]},
    "contains": {
        "properties": {"tags": {"type": "array", "items": TEXT, "contains": {"const": "vip"}}},
        "required": ["tags"],
    },
    "propertyNames": {
        "properties": {
            "extra": {"type": "object", "propertyNames": {"pattern": "^x_"}, "minProperties": 2,
                      "additionalProperties": TEXT},
        },
        "required": ["extra"],
    },
    "minProperties": {"properties": {"first": TEXT, "second": TEXT, "third": TEXT}, "minProperties": 5},
    "maxProperties": {"properties": {"fourth": TEXT, "fifth": TEXT}, "maxProperties": 6},
}  # fmt: skip


def ticket(*names: str, closed: bool = False) -> Schema:
    """Return the schema of a ticket with these parts; two with the same keyword are combined with `allOf`."""
    whole: Schema = {"type": "object", "properties": dict(FIELDS), "required": [*FIELDS]}
    apart: list[Schema] = []
    for name in names:
        words = {word: part for word, part in PARTS[name].items() if word not in {"properties", "required"}}
        whole["properties"] |= PARTS[name].get("properties", {})
        whole["required"] += PARTS[name].get("required", [])
        if words.keys() & whole.keys():
            apart.append(words)
        else:
            whole |= words
    extra = {"allOf": [*whole.get("allOf", []), *apart]} if apart else {}
    return {**whole, **extra, **({"additionalProperties": False} if closed else {})}


def tools(record: Schema) -> list[Schema]:
    """Return tools that create, get, update and list tickets."""
    rows = {"type": "object", "properties": {"tickets": {"type": "array", "items": record}}, "required": ["tickets"]}
    named: Schema = {"ticket_id": TEXT}
    one = {"type": "object", "properties": named, "required": ["ticket_id"]}
    parts: Schema = {"title": TEXT, "status": STATUS}
    return [
        {"name": "list_tickets", "inputSchema": {"type": "object"}, "outputSchema": rows},
        {"name": "get_ticket", "inputSchema": one, "outputSchema": record},
        {"name": "create_ticket", "inputSchema": {"type": "object", "properties": parts}, "outputSchema": record},
        {"name": "update_ticket", "inputSchema": {**one, "properties": {**named, **parts}},
         "outputSchema": record},
    ]  # fmt: skip


async def everything_served(folder: Path, record: Schema) -> list[Json]:
    """Return all tickets that a short session serves: initial, updated and created ones."""
    path = folder / "tickets.json"
    path.write_text(json.dumps({"tools": tools(record)}))
    async with Simulator(load(path)).open() as world:
        tickets = (await result_of(world, "list_tickets", {}))["tickets"]
        for status in ("open", "closed", "open"):
            tickets += [
                await result_of(world, "update_ticket", {"ticket_id": t["id"], "status": status}) for t in tickets[:2]
            ]
            tickets.append(await result_of(world, "create_ticket", {"title": "Roof", "status": status}))
        tickets.append(await result_of(world, "create_ticket", {}))
        tickets += (await result_of(world, "list_tickets", {}))["tickets"]
        return [*tickets, *[await result_of(world, "get_ticket", {"ticket_id": one["id"]}) for one in tickets[-3:]]]


async def result_of(world: World, tool: str, arguments: Json) -> Json:
    observation = await world.call(tool, arguments)
    assert observation.ok, observation
    assert isinstance(observation.body, ToolResult)
    return observation.body.value


def assert_valid(schema: Schema) -> None:
    judge: Any = Draft202012Validator(schema)
    with TemporaryDirectory() as folder:
        served = anyio.run(everything_served, Path(folder), schema)
    assert len(served) > 40
    for record in served:
        judge.validate(record)


@pytest.mark.parametrize("name", PARTS)
def test_a_constraint_holds_in_every_answer(name: str) -> None:
    assert_valid(ticket(name))


@settings(max_examples=20, derandomize=True)
@given(names=st.lists(st.sampled_from([*PARTS]), unique=True, min_size=2, max_size=4), closed=st.booleans())
def test_several_constraints_hold_together(names: list[str], closed: bool) -> None:
    crowded = {"minProperties", "maxProperties"} & set(names)
    assert_valid(
        ticket(*(name for name in names if name not in crowded), closed=closed and "oneOf by a constant" not in names)
    )


def test_both_alternatives_of_a_schema_occur_in_a_world() -> None:
    with TemporaryDirectory() as folder:
        served = anyio.run(everything_served, Path(folder), ticket("oneOf by a constant"))
    assert {record["kind"] for record in served} == {"card", "bank"}


def test_filters_find_records_by_the_alternative_that_is_shown(tmp_path: Path) -> None:
    alternatives = ticket("oneOf by a constant")
    alternatives["properties"]["kind"] = {"enum": ["card", "bank"]}
    listing = tools(alternatives)[0]
    listing["inputSchema"] = {"type": "object", "properties": {"kind": alternatives["properties"]["kind"]}}
    (tmp_path / "tickets.json").write_text(json.dumps({"tools": [listing, *tools(alternatives)[1:]]}))

    async def kinds() -> dict[str, set[str]]:
        async with Simulator(load(tmp_path / "tickets.json")).open() as world:
            listed = {kind: await result_of(world, "list_tickets", {"kind": kind}) for kind in ("card", "bank")}
            return {kind: {row["kind"] for row in result["tickets"]} for kind, result in listed.items()}

    assert anyio.run(kinds) == {"card": {"card"}, "bank": {"bank"}}


def test_what_a_schema_only_requires_has_the_same_order_in_every_process() -> None:
    names = [f"part_{letter}" for letter in "abcdefgh"]
    with TemporaryDirectory() as folder:
        served = anyio.run(everything_served, Path(folder), {**ticket(), "anyOf": [{"required": names[::-1]}]})
    assert {tuple(name for name in record if name in names) for record in served} == {tuple(names)}
