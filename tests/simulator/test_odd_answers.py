"""Tools whose schemas or names are odd answer validly, or `check` gives the reason why they cannot."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from support.odd_lists import odd_arguments, odd_list

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check, load
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import BadArguments, Crash, DocumentError
from mcp_sim.types.scenario import Scenario

Json = Any
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
PATIENCE = 120.0


def shows(value: Json, **more: Json) -> Schema:
    """An outputSchema with one required property."""
    return {"type": "object", "properties": {"value": value}, "required": ["value"], **more}


def saved(folder: Path, *tools: Schema) -> Path:
    listed = [{"inputSchema": {"type": "object"}, **tool} for tool in tools]
    path = folder / "odd.json"
    path.write_text(json.dumps({"tools": listed}))
    return path


async def answers(scenario: Scenario, *calls: tuple[str, Json]) -> list[Json]:
    """Return the results of calls, each validated under its outputSchema; None for a call that fails."""
    results: list[Json] = []
    with anyio.fail_after(PATIENCE):
        async with Simulator(scenario).open() as world:
            for name, arguments in calls:
                observation = await world.call(name, arguments)
                assert isinstance(observation.body, ToolResult)
                results.append(observation.body.value if observation.ok else None)
                schema = scenario.domain.tools[name].output_schema
                if observation.ok and schema is not None:
                    validate(schema, results[-1])
    return results


VALUES: dict[str, Json] = {
    "null beside what is impossible": {"anyOf": [{"oneOf": [{}, {}]}, {"type": "null"}]},
    "null beside a list that is too long": {
        "type": ["array", "null"], "items": {"enum": [1]}, "uniqueItems": True, "minItems": 2,
    },
    "not a text": {"not": TEXT},
    "not several types": {"not": {"type": ["string", "number", "null"]}},
    "an object without a field": {"type": "object", "not": {"required": ["id"]}},
    "an object that a field would exclude": {"type": "object", "not": {"properties": {"a": TEXT}}},
    "look-ahead for a password": {"type": "string", "pattern": r"^(?=.*[A-Z])(?=.*\d).{8,}$"},
    "negative look-ahead": {"type": "string", "pattern": "^(?!.*--)[a-z-]{2,10}$"},
    "look-behind": {"type": "string", "pattern": "(?<=a)b"},
    "a back-reference": {"type": "string", "pattern": r"^(\w)\1$"},
    "a named group of Python": {"type": "string", "pattern": "(?P<n>a)(?P=n)"},
    "oneOf of two lengths": {"oneOf": [TEXT, {"type": "string", "maxLength": 5}]},
    "oneOf of integer and number": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    "oneOf of two multiples": {"type": "integer", "oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
    "oneOf of two requirements": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "allOf of two patterns": {"type": "string", "allOf": [{"pattern": "^[ab]+$"}, {"pattern": "^[bc]+$"}]},
    "2,000 items": {"type": "array", "minItems": 2000, "items": {"type": "integer"}},
    "both booleans": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 2},
    "enough of some items": {"type": "array", "items": TEXT, "contains": {"const": "a"}, "minContains": 2},
    "too few is excluded": {"type": "array", "not": {"maxItems": 2}},
    "names from an enum": {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 2},
    "a tiny step": {"type": "number", "multipleOf": 0.01, "minimum": 0.005, "maximum": 0.025},
    "a huge bound": {"type": "integer", "minimum": 10**30},
    "else that is false": {"properties": {"k": {"enum": ["a", "b"]}}, "required": ["k"], "type": "object",
                           "if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["v"]}, "else": False},
}  # fmt: skip


@pytest.mark.parametrize("what", VALUES)
async def test_a_result_with_an_odd_value_is_valid(tmp_path: Path, what: str) -> None:
    scenario = load(saved(tmp_path, {"name": "measure", "outputSchema": shows(VALUES[what])}))
    (result,) = await answers(scenario, ("measure", {}))
    assert "value" in result


OLD: dict[str, tuple[str, Schema]] = {
    "exclusiveMinimum as a flag": ("draft-04", {"minimum": 5, "exclusiveMinimum": True, "type": "number"}),
    "items as a list": ("draft-07", {"type": "array", "items": [TEXT, {"type": "integer"}], "additionalItems": False,
                                     "minItems": 2}),
    "dependencies": ("draft-07", {"type": "object", "dependencies": {"a": ["b"]}, "required": ["a"]}),
    "contains without minContains": ("draft-06", {"type": "array", "contains": {"const": 1}, "minContains": 0}),
    "an anchor": ("2020-12", {"allOf": [{"$ref": "#node"}], "required": ["name"]}),
    "a dynamic reference": ("2020-12", {"$dynamicRef": "#node", "type": "object", "required": ["name"]}),
}  # fmt: skip


@pytest.mark.parametrize("what", OLD)
async def test_each_dialect_is_understood(tmp_path: Path, what: str) -> None:
    dialect, value = OLD[what]
    host = "http://json-schema.org" if "draft" in dialect else "https://json-schema.org/draft"
    address = f"{host}/{dialect}/schema"
    node = {"$anchor": "node", "$dynamicAnchor": "node", "properties": {"name": {"type": "integer", "minimum": 7}}}
    named = {"$defs": {"node": node}} if "2020" in dialect else {}
    schema = shows(value, **{"$schema": address}, **named)
    (result,) = await answers(load(saved(tmp_path, {"name": "measure", "outputSchema": schema})), ("measure", {}))
    assert "value" in result


@pytest.mark.parametrize("kind", ["boolean", "object", "array", "number", "null"])
async def test_records_whose_id_is_no_text_are_answered_validly(tmp_path: Path, kind: str) -> None:
    key: Schema = {"type": kind}
    record = {"type": "object", "properties": {"id": key, "name": TEXT}, "required": ["id", "name"]}
    asked = {"type": "object", "properties": {"id": key}, "required": ["id"]}
    rows = {"type": "object", "properties": {"things": {"type": "array", "items": record}}, "required": ["things"]}
    named = {"type": "object", "properties": {"id": key, "name": TEXT}}
    tools = (
        {"name": "create_thing", "inputSchema": named, "outputSchema": record},
        {"name": "get_thing", "inputSchema": asked, "outputSchema": record},
        {"name": "list_things", "outputSchema": rows},
    )
    value = {"boolean": True, "object": {"a": 1}, "array": [1], "number": 1.5, "null": None}[kind]
    scenario = load(saved(tmp_path, *tools))
    created, _, listed, with_id = await answers(
        scenario, ("create_thing", {"name": "A"}), ("get_thing", {"id": value}), ("list_things", {}),
        ("create_thing", {"name": "B", "id": value}),
    )  # fmt: skip
    assert created["name"] == "A"
    assert listed["things"]
    assert with_id is None or with_id["name"] == "B"


UNSATISFIABLE: dict[str, tuple[Schema, str]] = {
    "a required name that is excluded": (
        {"type": "object", "properties": {"a": TEXT}, "required": ["a", "b"], "additionalProperties": False},
        "additionalProperties and required exclude each other",
    ),
    "contradictory bounds": (
        shows({"type": "integer", "minimum": 10, "maximum": 1}),
        "properties and required exclude each other",
    ),
    "equal alternatives": (shows({"oneOf": [TEXT, TEXT]}), "properties and required exclude each other"),
    "a part that contains itself": (
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        "itself",
    ),
}


@pytest.mark.parametrize("what", UNSATISFIABLE)
def test_a_result_that_no_value_fits_is_an_error_at_its_place(tmp_path: Path, what: str) -> None:
    schema, reason = UNSATISFIABLE[what]
    found = check([saved(tmp_path, {"name": "measure", "outputSchema": schema})])
    (error,) = [one for one in found if one.severity == "error"]
    assert (error.path, error.message.startswith("no value fits in measure: ")) == ("tools[0].outputSchema", True)
    assert reason in error.message


UNFOUND: dict[str, tuple[Json, str]] = {
    "a billion items": (
        {"type": "array", "minItems": 10**9},
        "its minItems is 1,000,000,000, and at most 10,000 items",
    ),
    "a billion characters": ({"type": "string", "minLength": 10**9}, "its minLength is 1,000,000,000, and at most"),
    "a billion properties": ({"type": "object", "minProperties": 10**9}, "its minProperties is 1,000,000,000"),
}


@pytest.mark.parametrize("what", UNFOUND)
async def test_a_result_that_is_not_generated_is_a_warning_and_a_crash_with_the_reason(
    tmp_path: Path, what: str
) -> None:
    value, reason = UNFOUND[what]
    path = saved(tmp_path, {"name": "measure", "outputSchema": shows(value)}, {"name": "rest"})
    (warning,) = [one for one in check([path]) if "no valid result" in one.message]
    assert (warning.path, warning.severity) == ("tools[0].outputSchema", "warning")
    assert reason in warning.message
    async with Simulator(load(path)).open() as world:
        assert (await world.call("rest", {})).ok
        with anyio.fail_after(PATIENCE), pytest.raises(Crash, match="no valid result can be generated") as crash:
            await world.call("measure", {})
        assert reason in crash.value.error


async def test_keys_of_long_patterns_are_generated_in_time(tmp_path: Path) -> None:
    given = {"type": "object", "properties": {"id": {"type": "string", "pattern": "^[a-z]{50000}$"}, "title": TEXT}}
    create = {"name": "create_thing", "inputSchema": given, "outputSchema": given}
    (made,) = await answers(load(saved(tmp_path, create)), ("create_thing", {"title": "a"}))
    assert len(made["id"]) == 50_000


@pytest.mark.parametrize("dialect", [5, "urn:odd"])
def test_an_unknown_dialect_is_an_error(tmp_path: Path, dialect: Json) -> None:
    schema = {"$schema": dialect, "type": "object"}
    with pytest.raises(DocumentError, match="Schema"):
        load(saved(tmp_path, {"name": "measure", "outputSchema": schema}))


@settings(max_examples=10, derandomize=True, database=None)
@given(st.integers(0, 10_000))
def test_random_odd_lists_never_crash_and_never_answer_invalidly(number: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.json"
        path.write_text(odd_list(Random(number)))
        warned = [one.message for one in check([path])]
        try:
            scenario = load(path)
        except DocumentError:
            return
        anyio.run(call_at_random, scenario, Random(number), warned)


async def call_at_random(scenario: Scenario, random: Random, warned: list[str]) -> None:
    """Make a few odd calls. A crash without a warning of `check` fails, and so does an invalid result."""
    tools = [*scenario.domain.tools.values()]
    async with Simulator(scenario).open() as world:
        for tool in (random.choice(tools) for _ in range(6 if tools else 0)):
            with anyio.fail_after(PATIENCE):
                try:
                    observation = await world.call(tool.id, odd_arguments(tool.definition, random))
                except BadArguments:
                    continue
                except Crash:
                    assert any(one.startswith(f"no valid result of {tool.name} ") for one in warned)
                    continue
            body = observation.body
            if observation.ok and isinstance(body, ToolResult) and tool.output_schema is not None:
                assert body.form == "structured"
                validate(tool.output_schema, body.value)


def validate(schema: Schema, value: Json) -> None:
    """Validate a result by a library that judges no results in mcp-sim, as far as it can."""
    validator: Any = validator_for(schema, default=Draft202012Validator)
    with suppress(re.error, RecursionError):  # patterns of another dialect, and references to themselves
        validator(schema).validate(value)
