"""`mcp-sim import` of lists of tools and of functions, as vendors write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.specs_made import GET, LIST, has_no_errors, value

from mcp_sim.cli import main
from mcp_sim.spec.repair import repair_tools


def test_lists_of_every_shape_are_read(here: Path) -> None:
    for name, body in {
        "a": [GET],
        "b": {"tools": [GET]},
        "c": {"server": "Pets & Co", "tools": [GET], "instructions": "Be kind."},
        "d": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [GET]}},
    }.items():
        (here / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    assert main(["import", "tools", "--output", "out", "a.json", "b.json", "c.json", "d.json"]) == 0
    assert sorted(path.name for path in (here / "out").glob("*.tools.json")) == [
        "Pets_Co.tools.json", "a.tools.json", "b.tools.json", "d.tools.json"
    ]  # fmt: skip
    assert value(here / "out" / "Pets_Co.yaml")["instructions"] == "Be kind."


@pytest.mark.parametrize("begin", ["", "\ufeff", "\n"])
@pytest.mark.parametrize("file", ["pets.json", "pets.jsonl"])
def test_lines_of_json_rpc_have_the_tools_of_all_pages(here: Path, file: str, begin: str) -> None:
    results = [{"serverInfo": {"name": "x"}}, {"tools": [GET], "nextCursor": "2"}, {"tools": [LIST]}]
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, "result": result}) for at, result in enumerate(results)]
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    (here / file).write_text(begin + "\n".join([request, *lines]) + "\n", encoding="utf-8")
    assert main(["import", "tools", "--name", "pets", file]) == 0
    assert [tool["name"] for tool in value(here / "pets.tools.json")["tools"]] == [GET["name"], LIST["name"]]


def test_the_list_of_dockers_registry_has_arguments_in_place_of_a_schema(here: Path) -> None:
    arguments = [
        {"name": "title", "type": "string", "desc": "The title.", "optional": False},
        {"name": "tags", "type": "array", "items": {"type": "string"}, "desc": ""},
    ]
    (here / "tools.json").write_text(json.dumps([{"name": "add", "arguments": arguments}]), encoding="utf-8")
    assert main(["import", "tools", "--name", "clauses", "tools.json"]) == 0
    properties = {
        "title": {"type": "string", "description": "The title."},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["title"]}
    assert value(here / "clauses.tools.json")["tools"] == [{"name": "add", "inputSchema": schema}]


def in_python(**schema: Any) -> dict[str, Any]:
    """Return a tool with a property as pydantic writes `int | None = None`."""
    size = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    return {"name": "get_pet", "inputSchema": {"type": "object", "properties": {"size": size}, **schema}}


WRAPPED = {"type": "object", "properties": {"result": {"type": "string"}}, "x-fastmcp-wrap-result": True}


@pytest.mark.parametrize(
    ("tool", "is_lenient"),
    [
        ({**GET, "outputSchema": WRAPPED}, True),
        ({**GET, "_meta": {"_fastmcp": {"tags": []}}}, True),
        (in_python(title="get_petArguments"), True),
        (in_python(additionalProperties=False), True),
        (in_python(additionalProperties=False, title="Pet"), False),
        (in_python(additionalProperties=False, **{"$schema": "http://json-schema.org/draft-07/schema#"}), False),
        (in_python(), False),
        (GET, False),
    ],
)
def test_servers_of_fastmcp_are_known_to_read_texts_as_values(tool: Any, is_lenient: bool, here: Path) -> None:
    (here / "a.json").write_text(json.dumps([LIST, tool]), encoding="utf-8")
    assert main(["import", "tools", "a.json"]) == 0
    assert value(here / "a.yaml").get("arguments") == ("lenient" if is_lenient else None)


FUNCTIONS: dict[str, Any] = {
    "openai": [{"type": "function", "function": {"name": "get_pet", "parameters": GET["inputSchema"]}}],
    "responses": {"tools": [{"type": "function", "name": "get_pet", "parameters": GET["inputSchema"], "strict": True}]},
    "anthropic": [{"name": "get_pet", "input_schema": GET["inputSchema"]}, {"type": "bash_20250124", "name": "bash"}],
    "gemini": {"functionDeclarations": [{"name": "get_pet", "parameters": {
        "type": "OBJECT", "properties": {"pet_id": {"type": "STRING"}}}}]},
    "bfcl": {"id": "q1", "question": [], "function": [{"name": "get_pet", "parameters": {
        "type": "dict", "properties": {"pet_id": {"type": "String"}}}}]},
    "gemini, a list": [{"function_declarations": [{"name": "get_pet", "parameters": GET["inputSchema"]}]}],
    "bedrock": {"toolConfig": {"tools": [
        {"toolSpec": {"name": "get_pet", "inputSchema": {"json": GET["inputSchema"]}}}]}},
    "bedrock, a list": [{"toolSpec": {"name": "get_pet", "inputSchema": {"json": GET["inputSchema"]}}}],
    "cohere": [{"name": "get_pet", "parameter_definitions": {"pet_id": {"type": "str"}}}],
    "langchain": [{"name": "get_pet", "args_schema": GET["inputSchema"]}],
}  # fmt: skip


@pytest.mark.parametrize("functions", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_every_vendor_are_read(functions: Any, here: Path) -> None:
    (here / "f.json").write_text(json.dumps(functions), encoding="utf-8")
    assert main(["import", "openai", "f.json"]) == 0
    assert value(here / "f.tools.json")["tools"][0] == GET
    assert has_no_errors(here / "f.yaml")


@pytest.mark.parametrize("functions", [form for form in FUNCTIONS.values() if "id" not in form], ids=str)
def test_functions_that_are_taken_for_a_list_of_tools_lead_to_their_importer(
    functions: Any, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "f.json").write_text(json.dumps(functions), encoding="utf-8")
    assert main(["import", "tools", "f.json"]) == 2
    assert "convert it with `mcp-sim import openai FILE`" in capsys.readouterr().err


def test_functions_in_lines_are_read_and_a_response_is_the_output_schema(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    response: dict[str, Any] = {
        "type": "dict",
        "properties": {"size": {"type": "float"}, "of": {"type": "tuple", "items": {"type": "any"}}},
    }
    parameters: dict[str, Any] = {"type": "dict", "properties": {"a": {"type": "Object[]"}}, "required": ["a"]}
    lines: list[dict[str, Any]] = [
        {"name": "measure", "description": "Measures.", "parameters": parameters, "response": response},
        {"name": "plain", "parameters": {"type": "dict", "properties": {}}, "response": {"type": "string"}},
    ]
    (here / "f.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["import", "openai", "--name", "ruler", "f.json"]) == 0
    measure, plain = value(here / "ruler.tools.json")["tools"]
    properties: dict[str, Any] = {"size": {"type": "number"}, "of": {"type": "array", "items": {}}}
    assert measure["outputSchema"] == {"type": "object", "properties": properties}
    assert "outputSchema" not in plain
    captured = capsys.readouterr().err
    assert "measure: a: unknown type 'Object[]'; any value is accepted" in captured
    assert "plain: its response is not an object" in captured


def test_a_usable_list_is_served_to_the_byte() -> None:
    assert repair_tools([LIST, GET]).tools == [LIST, GET]
    assert repair_tools([LIST, GET]).doubts == ()
