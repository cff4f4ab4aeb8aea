"""The schema for editors takes what load takes, and refuses what load refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.pets import HEAD

from mcp_sim.spec import yaml12
from mcp_sim.spec.editor_schema import scenario_schema, tool_spec_schema
from mcp_sim.spec.sources import shipped
from mcp_sim.types.json_schema.validation import Validator


@pytest.mark.parametrize(("folder", "schema"), [("scenarios", scenario_schema), ("tool_specs", tool_spec_schema)])
def test_what_ships_is_valid_under_the_editor_schema(folder: str, schema: Callable[[], dict[str, Any]]) -> None:
    Draft202012Validator.check_schema(schema())
    validator = Validator(schema())
    for path in shipped(folder).values():
        value = yaml12.load(path.read_bytes(), path.name).value
        assert validator.problems(value) == (), path.name


@pytest.mark.parametrize(
    "entry",
    [
        "{error: 503}",
        "{error: , when: {nth: 1, any: [{every: 2}], not: {probability: 0.5}}}",
        "{latency: {min: 1s, max: 2s}, fires: {max: 2, per: tool, cooldown: 5 calls}}",
        "{lost_ack: {}, tools: [a, b], when: {arguments: {x: {gt: 1}}, per: arguments.x}}",
    ],
)
def test_the_editor_schema_takes_every_form_of_an_entry(entry: str) -> None:
    value = yaml12.load(f"{HEAD}perturbations: [{entry}]".encode(), "x.yaml").value
    assert Validator(scenario_schema()).problems(value) == ()


@pytest.mark.parametrize(
    "entry",
    ["{errr: 503}", "{}", "{error: 1, latency: 1s}", "{error: 503, when: {nht: 1}}", "{error: 503, fires: x}", "error"],
)
def test_the_editor_schema_refuses_what_load_refuses(entry: str) -> None:
    value = yaml12.load(f"{HEAD}perturbations: [{entry}]".encode(), "x.yaml").value
    assert Validator(scenario_schema()).problems(value)
