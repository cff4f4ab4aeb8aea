"""Odd tool lists: each is served, or refused with the reason, and nothing hangs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.long_walks import tools_of
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Observation, ToolResult
from mcp_sim.types.errors import BadArguments, Crash, DocumentError
from mcp_sim.types.scenario import Scenario

Json = Any
Schema = dict[str, Any]

PATIENCE = 20.0
STRING: Schema = {"type": "string"}


def tool(name: str, properties: Schema, required: tuple[str, ...] = (), **more: Json) -> Schema:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": [*required]}, **more}


def shows(properties: Schema, required: tuple[str, ...] = (), **more: Json) -> Schema:
    """An outputSchema."""
    return {"type": "object", "properties": properties, "required": [*required], **more}


def crud(noun: str, fields: Schema, **result: Json) -> list[Schema]:
    """Tools that make, show and list one kind of record."""
    record = shows({"id": STRING, **fields}, ("id", *fields), **result)
    rows = {"type": "array", "items": record}
    return [
        tool(f"create_{noun}", fields, (*fields,), outputSchema=record),
        tool(f"get_{noun}", {f"{noun}_id": STRING}, (f"{noun}_id",), outputSchema=record),
        tool(f"list_{noun}s", {}, outputSchema=shows({f"{noun}s": rows}, (f"{noun}s",))),
    ]


def scenario_of(path: Path, tools: list[Schema]) -> Scenario:
    """Return the scenario of a tools/list result. Raises `DocumentError`."""
    path = path / "bad.json"
    path.write_text(json.dumps({"tools": tools}, ensure_ascii=False), encoding="utf-8")
    return load(path)


async def walk(scenario: Scenario, calls: int = 120) -> float:
    """Walk within the patience of an agent; the share of calls that succeed. A crash is raised."""
    with anyio.fail_after(PATIENCE):
        async with Simulator(scenario).open() as world:
            walker = Walker(tools_of(world), 1, world)
            succeeded = 0
            for _ in range(calls):
                called, arguments = walker.call()
                observation = await world.call(called.id, arguments)
                walker.learn(called, arguments, observation)
                succeeded += observation.ok
            return succeeded / calls


def value(observation: Observation) -> Json:
    assert observation.ok, observation
    assert isinstance(observation.body, ToolResult)
    return observation.body.value


UNSATISFIABLE: dict[str, Schema] = {
    "a minimum above the maximum": {"type": "integer", "minimum": 10, "maximum": 1},
    "an enum that the type forbids": {"type": "integer", "enum": ["a", "b"]},
    "allOf of two types": {"allOf": [{"type": "string"}, {"type": "integer"}]},
    "a constant that its pattern forbids": {"type": "string", "const": "x", "pattern": "^y$"},
    "nothing at all": {"not": {}},
    "no multiple between the bounds": {"type": "integer", "minimum": 1, "maximum": 6, "multipleOf": 7},
    "more unique items than values": {"type": "array", "items": {"enum": [1]}, "uniqueItems": True, "minItems": 2},
    "a text longer than it may be": {"type": "string", "minLength": 9, "maxLength": 3},
}


@pytest.mark.parametrize("what", UNSATISFIABLE)
async def test_what_no_value_fits_in_is_refused_with_a_reason_that_names_it(tmp_path: Path, what: str) -> None:
    """A field that must be there and cannot be: at load, or when it is called, but never as an invalid answer."""
    tools = [tool("get_reading", {}, outputSchema=shows({"level": UNSATISFIABLE[what]}, ("level",)))]
    with anyio.fail_after(PATIENCE), pytest.raises((DocumentError, Crash), match="level"):
        async with Simulator(scenario_of(tmp_path, tools)).open() as world:
            await world.call("get_reading", {})


@pytest.mark.parametrize("what", UNSATISFIABLE)
async def test_an_optional_field_that_nothing_fits_in_is_left_out(tmp_path: Path, what: str) -> None:
    record = shows({"id": STRING, "name": STRING, "level": UNSATISFIABLE[what]}, ("id", "name"))
    tools = [
        tool("get_sensor", {"sensor_id": STRING}, ("sensor_id",), outputSchema=record),
        tool("list_sensors", {}, outputSchema=shows({"sensors": {"type": "array", "items": record}}, ("sensors",))),
    ]
    assert await walk(scenario_of(tmp_path, tools)) >= 0.7


@pytest.mark.parametrize("what", UNSATISFIABLE)
async def test_an_argument_that_nothing_fits_in_is_a_refusal_that_names_the_argument(tmp_path: Path, what: str) -> None:
    tools = [tool("create_sensor", {"name": STRING, "level": UNSATISFIABLE[what]}, ("name", "level"))]
    async with Simulator(scenario_of(tmp_path, tools)).open() as world:
        observation = await world.call("create_sensor", {"name": "Roof", "level": 3})
        assert not observation.ok
        assert isinstance(observation.body, ToolResult)
        assert "level" in str(observation.body.value)


async def test_a_record_that_must_link_to_one_of_its_own_kind_is_served(tmp_path: Path) -> None:
    assert await walk(scenario_of(tmp_path, crud("folder", {"name": STRING, "parent_folder_id": STRING}))) >= 0.7


async def test_an_entity_without_a_key_is_served(tmp_path: Path) -> None:
    record = shows({"temperature": {"type": "number"}, "wind": STRING}, ("temperature", "wind"))
    tools = [
        tool("get_weather", {"city": STRING}, ("city",), outputSchema=record),
        tool("list_forecasts", {}, outputSchema=shows({"forecasts": {"type": "array", "items": record}})),
        tool("create_forecast", {"wind": STRING}, ("wind",), outputSchema=record),
    ]
    assert await walk(scenario_of(tmp_path, tools)) >= 0.5


async def test_five_hundred_tools_in_one_list_are_planned_and_served(tmp_path: Path) -> None:
    firsts = ("red", "old", "tax", "sea", "air", "sky", "ice", "oil", "sun", "gas", "new", "top")
    nouns = ("invoice", "ticket", "order", "contact", "deal", "note", "task", "project", "user", "team", "report",
             "event", "comment", "message", "file")  # fmt: skip
    words = [f"{first}_{second}" for first in firsts for second in nouns]
    tools = [one for word in words for one in crud(word, {"name": STRING})][:500]
    assert len(tools) == 500
    assert await walk(scenario_of(tmp_path, tools)) >= 0.7


def nested(depth: int) -> Schema:
    """Objects in objects."""
    schema: Schema = {"type": "object", "properties": {"name": STRING}, "required": ["name"]}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"name": STRING, "part": schema}, "required": ["name", "part"]}
    return schema


def tree() -> Schema:
    """Return the schema of a node with optional nested nodes."""
    return {
        "type": "object",
        "properties": {"name": STRING, "parts": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }


def doubling(levels: int) -> Schema:
    """Return definitions that each refer twice to the next: 2^levels when expanded."""
    parts = {
        f"d{level}": shows({"a": {"$ref": f"#/$defs/d{level + 1}"}, "b": {"$ref": f"#/$defs/d{level + 1}"}}, ("a",))
        for level in range(levels)
    }
    return {**parts, f"d{levels}": STRING}


REFUSED = {"four hundred levels of objects", "a reference to nothing"}
"""No value can be held to these."""

DEEP: dict[str, Callable[[], tuple[Schema, Schema]]] = {
    "fifty levels of objects": lambda: (nested(50), {}),
    "four hundred levels of objects": lambda: (nested(400), {}),
    "a tree": lambda: ({"$ref": "#/$defs/node"}, {"node": tree()}),
    "two definitions that hold each other": lambda: (
        {"$ref": "#/$defs/hen"},
        {
            "hen": shows({"name": STRING, "egg": {"$ref": "#/$defs/egg"}}, ("name",)),
            "egg": shows({"size": STRING, "hen": {"$ref": "#/$defs/hen"}}, ("size",)),
        },
    ),
    "a definition that must hold itself": lambda: (
        {"$ref": "#/$defs/self"},
        {"self": shows({"inner": {"$ref": "#/$defs/self"}}, ("inner",))},
    ),
    "2^40 values in $defs": lambda: ({"$ref": "#/$defs/d0"}, doubling(40)),
    "a reference to itself": lambda: ({"$ref": "#/$defs/loop"}, {"loop": {"$ref": "#/$defs/loop"}}),
    "a reference to nothing": lambda: ({"$ref": "#/$defs/nowhere"}, {}),
}


@pytest.mark.parametrize("what", DEEP)
@pytest.mark.parametrize("place", ["argument", "result"])
async def test_schemas_without_end_are_served_or_refused_in_time(tmp_path: Path, what: str, place: str) -> None:
    part, definitions = DEEP[what]()
    tools = crud("plant", {"name": STRING})
    if place == "argument":
        tools[0]["inputSchema"]["properties"]["shape"] = part
        tools[0]["inputSchema"]["$defs"] = definitions
    else:
        for one in tools[:2]:
            one["outputSchema"] = {**one["outputSchema"], "$defs": definitions}
            one["outputSchema"]["properties"] = {**one["outputSchema"]["properties"], "shape": part}
    with anyio.fail_after(PATIENCE):
        if what in REFUSED:
            with pytest.raises(DocumentError, match="Schema"):
                scenario_of(tmp_path, tools)
        else:
            assert await walk(scenario_of(tmp_path, tools), 60) >= 0.7


def tangled(levels: int) -> Schema:
    """Definitions that refer to the next one twice: a naive check takes 2^levels steps."""
    parts: Schema = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(levels)}
    return {**parts, f"d{levels}": {"type": "object", "required": ["name"]}}


@pytest.mark.parametrize("place", ["argument", "result"])
def test_thirty_definitions_that_each_refer_twice_to_the_next_are_refused_with_the_reason(
    tmp_path: Path, place: str
) -> None:
    part, definitions = {"$ref": "#/$defs/d0"}, tangled(30)
    schema = shows({"name": STRING, "shape": part}, ("name",), **{"$defs": definitions})
    key = "inputSchema" if place == "argument" else "outputSchema"
    with pytest.raises(DocumentError, match="refer to each other too often"):
        scenario_of(tmp_path, [{**tool("read_plant", {"name": STRING}), key: schema}])


async def test_of_two_tools_of_one_name_the_first_is_served(tmp_path: Path) -> None:
    tools = [*crud("plant", {"name": STRING}), tool("get_plant", {"other": STRING}, ("other",))]
    scenario = scenario_of(tmp_path, tools)
    assert len(scenario.domain.tools) == len(tools) - 1
    assert await walk(scenario) >= 0.7


@pytest.mark.parametrize("depth", [60, 5_000])
async def test_arguments_that_nest_deeply_are_kept_or_refused(tmp_path: Path, depth: int) -> None:
    inner: Json = "end"
    for _ in range(depth):
        inner = {"part": inner}
    record = shows({"id": STRING, "layout": {"type": "object"}}, ("id", "layout"))
    tools = [
        tool("create_page", {"layout": {"type": "object"}}, ("layout",), outputSchema=record),
        tool("get_page", {"page_id": STRING}, ("page_id",), outputSchema=record),
    ]
    async with Simulator(scenario_of(tmp_path, tools)).open() as world:
        if depth > 1_000:
            with pytest.raises(BadArguments, match="nest"):
                await world.call("create_page", {"layout": inner})
            return
        made = value(await world.call("create_page", {"layout": inner}))
        assert value(await world.call("get_page", {"page_id": made["id"]}))["layout"] == inner
