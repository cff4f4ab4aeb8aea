"""A fresh import passes `check`, whatever the list has: what cannot be served is left out with a reason."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.specs_made import names

from mcp_sim.cli import main

TEXT = {"type": "string"}
ODD: dict[str, Any] = {
    "unknown reference": {"$ref": "#/definitions/Nope"},
    "reference elsewhere": {"$ref": "http://schemas.invalid/a.json"},
    "reference to a number": {"$ref": 5},
    "reference to the whole": {"$ref": "#"},
    "unknown type": {"type": "wurst"},
    "type as a text": "string",
    "no schema": 5,
    "null": None,
    "never": False,
    "nothing fits its not": {"not": {}},
    "empty enum": {"enum": []},
    "repeated enum": {"enum": ["a", "a"]},
    "lengths that exclude each other": {"type": "string", "minLength": 5, "maxLength": 2},
    "bounds that exclude each other": {"type": "integer", "minimum": 5, "maximum": 3},
    "types that exclude each other": {"allOf": [TEXT, {"type": "integer"}]},
    "an enum that breaks its pattern": {"type": "string", "pattern": "^a$", "enum": ["b"]},
    "a pattern that no engine takes": {"type": "string", "pattern": "(?<=a)["},
    "a lookahead": {"type": "string", "pattern": "(?!a)b(?=c)"},
    "a bound beyond any float": {"type": "integer", "maximum": 10**400},
    "a negative length": {"type": "string", "minLength": -1, "maxLength": 2.5},
    "steps of nothing": {"type": "number", "multipleOf": 0},
    "required as a flag": {"type": "string", "required": True},
    "properties as a list": {"type": "object", "properties": []},
    "a default of another type": {"type": "integer", "default": "many"},
    "deep": reduce(lambda inner, _: {"type": "object", "properties": {"a": inner}}, range(30), TEXT),
}
ROOTS: list[Any] = [
    None, True, "object", [], {}, {"type": "array", "items": TEXT}, {"type": ["object", "null"]}, {"type": "string"},
    {"type": "object", "not": {}}, {"type": "object", "anyOf": []}, {"type": "object", "properties": 5},
    {"type": "object", "required": ["gone"], "additionalProperties": False}, {"$schema": "http://schemas.invalid/x"},
    {"$id": "not a uri %", "type": "object"},
]  # fmt: skip
NAMES: list[Any] = ["get_pet", "get_pet", "GET_PET", "", 5, None, "a" * 300, "get pet", "a\nb", "..", "gr\u00f6\u00dfe"]


def placed(schema: Any, *, is_required: bool) -> dict[str, Any]:
    """Return a schema of an object that has an odd one for a property."""
    return {"type": "object", "properties": {"a": schema, "id": TEXT}, "required": ["a"] if is_required else []}


def imported(kind: str, value: Any, folder: Path) -> list[str]:
    """Import a value, and return the names of the tools that are left. Fails if `check` finds an error."""
    (folder / "odd.json").write_text(json.dumps(value), encoding="utf-8")
    assert main(["import", kind, "--name", "odd", "-o", str(folder / "out"), str(folder / "odd.json")]) == 0
    assert main(["check", str(folder / "out" / "odd.yaml")]) == 0
    return names(folder / "out" / "odd.tools.json")


@pytest.mark.parametrize("is_required", [False, True], ids=["optional", "required"])
@pytest.mark.parametrize("key", ["inputSchema", "outputSchema"])
def test_odd_schemas_are_served_or_left_out(key: str, tmp_path: Path, *, is_required: bool) -> None:
    tools = [
        {"name": f"get_{index}", "inputSchema": {"type": "object"}, key: placed(schema, is_required=is_required)}
        for index, schema in enumerate(ODD.values())
    ]
    tools += [{"name": f"list_{index}", "inputSchema": {"type": "object"}, key: root} for index, root in
              enumerate(ROOTS)]  # fmt: skip
    assert imported("tools", tools, tmp_path) == [tool["name"] for tool in tools]


def test_a_result_that_nothing_satisfies_is_not_declared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = placed({"type": "integer", "minimum": 5, "maximum": 3}, is_required=True)
    assert imported("tools", [{"name": "get_pet", "inputSchema": {"type": "object"}, "outputSchema": schema}], tmp_path)
    assert "tools[0] (get_pet).outputSchema: no result fits, since " in capsys.readouterr().err


def test_odd_names_are_served_or_left_out(tmp_path: Path) -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES] + [None, 5, "get_pet", []]
    assert imported("tools", tools, tmp_path) == ["get_pet", "GET_PET", *NAMES[6:]]


def test_odd_operations_of_openapi_are_served_or_left_out(tmp_path: Path) -> None:
    def content(schema: Any) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": placed(schema, is_required=True)}}}

    paths = {
        f"/pets/{index}": {
            "post": {
                "operationId": f"make_{index}",
                "parameters": [{"name": "size", "in": "query", "schema": schema}],
                "requestBody": content(schema),
                "responses": {"200": {"description": "A pet.", **content(schema)}},
            }
        }
        for index, schema in enumerate(ODD.values())
    }
    document = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": paths}
    assert len(imported("openapi", document, tmp_path)) == len(ODD)


@settings(max_examples=5, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from([*ODD.values()])] * 3, st.sampled_from(NAMES)), min_size=5, max_size=9)
)
def test_mixed_odd_lists_pass(rows: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    tools = [
        {
            "name": name,
            "inputSchema": placed({"type": "array", "items": first}, is_required=True),
            "outputSchema": placed({"anyOf": [second, third]}, is_required=True),
        }
        for first, second, third, name in rows
    ]
    imported("tools", tools, tmp_path_factory.mktemp("odd"))
