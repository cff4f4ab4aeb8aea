"""Singletons that tools get and set without a key, and their declarations in a spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

from mcp_sim.simulator.compile import load
from mcp_sim.spec.write_overrides import spec_text

Json = Any
TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def tool(name: str, arguments: Json = None, *needed: str, output: Json = None) -> Json:
    schema: Json = {"type": "object", "properties": arguments or {}, "required": [*needed]}
    return {"name": name, "inputSchema": schema} | ({"outputSchema": output} if output else {})


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}\n"


RADIO = spec(
    tool("get_volume"),
    tool("set_volume", {"level": {**COUNT, "minimum": 0, "maximum": 11}}, "level"),
    tool("get_settings"),
    tool("update_settings", {"language": TEXT, "bass": COUNT}),
    tool("list_stations"),
)


async def test_a_singleton_returns_what_was_set(tmp_path: Path) -> None:
    async with service(tmp_path, RADIO, "records: {}") as sim, sim.open() as world:
        await world.call("set_volume", {"level": 7})
        assert value(await world.call("get_volume", {})) == {"level": 7}
        before = value(await world.call("get_settings", {}))
        assert set(before) == {"language", "bass"}
        await world.call("update_settings", {"bass": before["bass"] + 1})
        assert value(await world.call("get_settings", {})) == {**before, "bass": before["bass"] + 1}


@pytest.mark.parametrize("noun", ["mode", "volume", "language"])
@pytest.mark.parametrize("origin", ["inferred", "given", "declared"])
async def test_a_singleton_may_have_a_field_of_its_name(tmp_path: Path, noun: str, origin: str) -> None:
    tools = spec(tool(f"get_{noun}"), tool(f"set_{noun}", {noun: TEXT}, noun))
    fields = f"{{{noun}: {{type: string}}, unit: {{type: string}}}}"
    declared = f"entities: {{{noun}: {{singleton: true, fields: {fields}}}}}\n" if origin == "declared" else ""
    world = f"state: {{{noun}: {{{noun}: first, unit: x}}}}" if origin == "given" else ""
    async with service(tmp_path, tools + declared, world) as sim, sim.open() as opened:
        for setting in ("second", "third"):
            value(await opened.call(f"set_{noun}", {noun: setting}))
            assert value(await opened.call(f"get_{noun}", {}))[noun] == setting


@pytest.mark.parametrize(
    "others",
    [
        (tool("set_lamp", {"lamp_id": TEXT, "colour": TEXT}, "lamp_id"),),
        (tool("create_lamp", {"colour": TEXT}),),
        (tool("list_lamps"),),
        (tool("get_room", {"lamp_id": TEXT}, "lamp_id"),),
    ],
)
def test_an_entity_that_any_tool_names_or_lists_is_no_singleton(others: tuple[Json, ...], tmp_path: Path) -> None:
    path = tmp_path / "lamps.json"
    path.write_text(json.dumps({"tools": [tool("get_lamp"), *others]}), encoding="utf-8")
    entity = load(path).domain.entities.get("lamp")
    assert entity is None or not entity.singleton


async def test_a_spec_may_declare_a_singleton(tmp_path: Path) -> None:
    overrides = """
    entities: {boiler: {singleton: true, fields: {target: {type: integer}}, required: [target]}}
    sim: {heat: {verb: update, entity: boiler, sets: {degrees: target}}, look: {verb: get, entity: boiler}}
    """
    tools = f"    {spec(tool('heat', {'degrees': COUNT}, 'degrees'), tool('look'))}"
    async with service(tmp_path, tools + overrides, "records: {}") as sim, sim.open() as world:
        await world.call("heat", {"degrees": 21})
        assert value(await world.call("look", {})) == {"target": 21}


def test_the_written_spec_of_a_singleton_is_equivalent(tmp_path: Path) -> None:
    head = f"mcp_sim: 1\nname: radio\n{RADIO}"
    (tmp_path / "radio.yaml").write_text(head, encoding="utf-8")
    before = load(tmp_path / "radio.yaml").domain
    (tmp_path / "radio.yaml").write_text(spec_text(head, before, ""), encoding="utf-8")
    after = load(tmp_path / "radio.yaml").domain
    assert after.entities == before.entities
    assert [(plan.verb, plan.entity, plan.sets, plan.fixed) for plan in after.plans.values()] == [
        (plan.verb, plan.entity, plan.sets, plan.fixed) for plan in before.plans.values()
    ]


# tools that do several things ---------------------------------------------------------------------------------------

MANY = tool(
    "manage_card",
    {
        "operation": {"type": "string", "enum": ["create", "get", "list", "frobnicate"]},
        "card_id": TEXT,
        "title": {**TEXT, "description": "The title (required for create)"},
    },
    "operation",
)


async def test_a_spec_corrects_one_operation_and_the_others_stay(tmp_path: Path) -> None:
    overrides = "sim: {manage_card: {choices: {frobnicate: {verb: delete, entity: card, key: card_id}}}}"
    async with service(tmp_path, spec(MANY) + overrides, "records: {card: 2}") as sim, sim.open() as world:
        card = value(await world.call("manage_card", {"operation": "create", "title": "Red"}))
        value(await world.call("manage_card", {"operation": "frobnicate", "card_id": card["id"]}))
        assert not (await world.call("manage_card", {"operation": "get", "card_id": card["id"]})).ok
