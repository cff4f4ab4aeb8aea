"""Problems of invalid tool specs, and of schemas that no value fits, are reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.pets import PETS, ProblemsIn

from mcp_sim.simulator.compile import load
from mcp_sim.types.json_schema.satisfiability import is_satisfiable

Json = Any

WRONG_SPECS: dict[str, tuple[str, list[str]]] = {
    "tools that break a client": (
        "mcp_sim: 1\ntools:\n"
        "  - {name: a}\n"
        "  - {name: b, inputSchema: {}}\n"
        "  - {name: c, inputSchema: {type: object}}\n"
        "  - {name: c, inputSchema: {type: object}}\n"
        "  - {name: d, inputSchema: {type: object}, outputSchema: {type: array}}\n"
        "  - {inputSchema: {type: object}}\n"
        "  - 7\n"
        "  - {name: e, inputSchema: {type: object}, annotations: {readOnlyHint: 'yes'}, description: 3}\n",
        [
            'x.yaml:3: tools[0]: has no inputSchema; for a tool without arguments write {"type": "object"}',
            "x.yaml:4: tools[1].inputSchema: is without a type; clients accept only `type: object`",
            "x.yaml:6: warning: tools[3].name: duplicate tool 'c' is left out; names must be unique within a server",
            "x.yaml:7: warning: tools[4].outputSchema: is of type 'array'; clients with a handshake (up to 2025-11-25)",
            "x.yaml:8: tools[5]: has no name",
            "x.yaml:9: tools[6]: expected a tool, got 7",
            "x.yaml:10: tools[7].description: expected a string, got 3",
            "x.yaml:10: tools[7].annotations.readOnlyHint: expected true or false, got 'yes'",
        ],
    ),
    "schemas that are none": (
        "mcp_sim: 1\ntools:\n"
        "  - name: a\n    inputSchema:\n      type: object\n      required: x\n"
        "      properties:\n        n: {type: strng}\n"
        '  - {name: b, inputSchema: {type: object, properties: {x: {$ref: "#/$defs/q"}}}}\n',
        [
            "x.yaml:6: tools[0].inputSchema.required: is not a valid JSON Schema: 'x' is not of type 'array'",
            "x.yaml:8: tools[0].inputSchema.properties.n.type: is not a valid JSON Schema: 'strng' is not valid",
            "x.yaml:9: tools[1].inputSchema: is not a usable JSON Schema: Pointer '/$defs/q' does not exist",
        ],
    ),
    "what the spec says of its tools": (
        PETS
        + "entities:\n  pet: {fields: {owner: {link: ownr}}}\n"
        + "sim:\n  get_pt: {verb: get}\n  get_pet: {key: pt_id, sets: {nme: name}}\n  list_pets: {backend: recrds}\n"
        + "examples:\n  - {tool: get_pet, arguments: {pet_id: 3}, result: {}}\n  - {tool: get_x, result: {}}\n",
        [
            "x.yaml:15: sim.get_pt: unknown tool 'get_pt'; did you mean 'get_pet'?",
            "x.yaml:16: sim.get_pet.key: get_pet has no argument 'pt_id'; did you mean 'pet_id'?",
            "x.yaml:16: sim.get_pet.sets.nme: get_pet has no argument 'nme'",
            "x.yaml:17: sim.list_pets.backend: unknown backend; did you mean 'records'?",
            "x.yaml:19: examples[0].arguments: violates the inputSchema of get_pet: pet_id: 3 is not of type 'string'",
            "x.yaml:19: examples[0].result: violates the outputSchema of get_pet: 'id' is a required property",
            "x.yaml:20: examples[1].tool: unknown tool 'get_x'; did you mean 'get_pet'?",
        ],
    ),
    "links to nowhere": (
        PETS + "entities:\n  pet: {fields: {friend: {link: pett}}}\n",
        ["x.yaml:13: entities.pet.fields.friend.link: unknown entity 'pett'; did you mean 'pet'?"],
    ),
    "wrong types and keys": (
        PETS
        + "version: 1.2\nentities:\n  pet: {fields: {x: 3}, key_lik: 1}\n"
        + "sim: {get_pet: {verb: fetch, among: []}}\n"
        + "errors: {not_found: {txt: a}, invalid: 3, a: {}, b: {rpc: {code: -32019, message: a}}}\n"
        + "unknown_tool: http\n",
        [
            'x.yaml:12: version: expected a string, got 1.2; quote it: "1.2"',
            "x.yaml:14: entities.pet.fields.x: expected a mapping, got 3",
            "x.yaml:14: entities.pet.key_lik: unknown key; did you mean 'key_like'?",
            "x.yaml:15: sim.get_pet.verb: expected 'create', 'get', 'list'",
            "x.yaml:15: sim.get_pet.among: unknown key",
            "x.yaml:16: errors.not_found.txt: unknown key; did you mean 'text'?",
            "x.yaml:16: errors.invalid: expected a text, or a mapping with one of text, json, structured, rpc",
            "x.yaml:16: errors.a: write exactly one of text, json, structured, rpc",
            "x.yaml:16: errors.b.rpc: code -32019 is reserved for crashes of mcp-sim; choose another",
            "x.yaml:17: unknown_tool: expected 'rpc' or 'is_error', got 'http'",
        ],
    ),
    "how, of what is no field": (
        "mcp_sim: 1\nname: shop\ntools:\n"
        "  - {name: adjust_stock, inputSchema: &sku {type: object, properties: {sku: {type: string}, level: {}}}}\n"
        "  - {name: take_stock, inputSchema: *sku}\n"
        "  - {name: count_stock, inputSchema: *sku}\n"
        "  - {name: move_stock, inputSchema: {type: object, properties: {sku: {type: string}, mode: {enum: [in]}}}}\n"
        "entities: {item: {key: sku, fields: {quantity: {type: integer}, moves: {type: integer}}}}\n"
        "sim:\n"
        "  adjust_stock: {verb: update, entity: item, key: sku, sets: {level: quantity}, how: {level: add}}\n"
        "  take_stock: {verb: update, entity: item, key: sku, sets: {level: quantity}, how: {quantty: subtract}}\n"
        "  count_stock: {verb: update, entity: item, key: sku, how: {quantity: add}}\n"
        "  move_stock:\n"
        "    choice: mode\n"
        "    choices: {in: {verb: update, entity: item, key: sku, fixed: {moves: 1}, how: {mode: add}}}\n",
        [
            "x.yaml:10: sim.adjust_stock.how.level: `level` is an argument; `how` takes fields: quantity",
            "x.yaml:11: sim.take_stock.how.quantty: take_stock writes no field 'quantty'; did you mean 'quantity'?",
            "x.yaml:12: sim.count_stock.how.quantity: count_stock writes no field 'quantity'; map an argument to it: "
            "`sets: {level: quantity}`",
            "x.yaml:15: sim.move_stock.choices.in.how.mode: move_stock writes no field 'mode'",
        ],
    ),
    "a file of tools that is missing": (
        "mcp_sim: 1\ntools: pets.tools.json\n",
        ["x.yaml:2: tools: file 'pets.tools.json' not found in the folder of x.yaml"],
    ),
}


@pytest.mark.parametrize("case", WRONG_SPECS)
def test_a_wrong_tool_spec_is_reported_with_all_its_problems(problems_in: ProblemsIn, case: str) -> None:
    text, expected = WRONG_SPECS[case]
    problems = problems_in(text)
    assert len(problems) == len(expected), problems
    for problem, beginning in zip(problems, expected, strict=True):
        assert problem.startswith(beginning)


def test_a_pattern_that_cannot_be_compiled_is_a_warning(problems_in: ProblemsIn) -> None:
    tools = "  - {name: list_pets, inputSchema: {type: object, properties: {name: {type: string, pattern: '(?<x'}}}}\n"
    problems = problems_in("mcp_sim: 1\ntools:\n" + tools)
    assert problems[0].startswith(
        "x.yaml:3: warning: tools[0].inputSchema.properties.name.pattern: the pattern '(?<x' cannot be compiled"
    )
    assert load("x.yaml").domain.tools


IMPOSSIBLE = """\
mcp_sim: 1
tools:
  - name: make_box
    inputSchema:
      type: object
      properties: {label: {type: string, minLength: 5, maxLength: 3}}
    outputSchema:
      type: object
      properties: {sides: {type: array, items: {type: integer, minimum: 7, maximum: 6}}, %s: {$ref: "#"}}
      required: [box]
sim: {make_box: {verb: create, entity: box}}
"""


def test_a_schema_that_no_value_fits_is_reported_with_its_tool_and_its_place(problems_in: ProblemsIn) -> None:
    assert problems_in(IMPOSSIBLE % "box") == [
        "x.yaml:6: warning: tools[0].inputSchema.properties.label: "
        "no value fits in make_box: its type, minLength and maxLength exclude each other",
        "x.yaml:7: tools[0].outputSchema: no value fits in make_box: a required part contains itself, without end",
        "x.yaml:9: warning: tools[0].outputSchema.properties.sides.items: "
        "no value fits in make_box: its minimum and maximum exclude each other",
    ]
    assert not [problem for problem in problems_in(IMPOSSIBLE % "inner") if "without end" in problem]


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ({"not": {}}, "its not allows no value"),
        ({"required": ["a"], "properties": {"a": {"not": {}}}}, "its type, properties and required exclude each other"),
        (
            {"allOf": [{"required": ["a"]}, {"properties": {"a": False}}]},
            "its type, allOf/0 and allOf/1 exclude each other",
        ),
        ({"anyOf": [{"type": "string"}, False]}, "its type and anyOf exclude each other"),
        ({"properties": {"a": {"not": {}}, "b": {"anyOf": [{"minimum": 2, "maximum": 1}, {}]}}}, None),
    ],
)
def test_a_result_that_cannot_exist_is_reported(problems_in: ProblemsIn, output: Json, reason: str | None) -> None:
    tool = {"name": "get_a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", **output}}
    found = [
        one for one in problems_in(json.dumps({"mcp_sim": 1, "tools": [tool]})) if ".outputSchema: no value" in one
    ]
    assert [one.partition("no value fits in get_a: ")[2] for one in found] == ([] if reason is None else [reason])


@pytest.mark.parametrize(
    ("schema", "ends"),
    [
        ({"required": ["a"], "properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}, True),
        ({"required": ["a"], "properties": {"a": {"oneOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}}}, False),
        ({"required": ["a"], "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}, True),
        ({"required": ["a"], "properties": {"a": {"type": "array", "minItems": 1, "items": {"$ref": "#"}}}}, False),
        ({"required": ["a"], "properties": {"a": {"type": ["object", "null"], "required": ["b"]}}}, True),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {
                    "a": {"required": ["b"], "properties": {"b": {"$ref": "#/$defs/b"}}},
                    "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]},
                },
            },
            True,
        ),
    ],
)
def test_a_schema_comes_to_an_end_unless_what_it_requires_holds_itself(schema: dict[str, Any], *, ends: bool) -> None:
    assert (is_satisfiable({"type": "object", **schema}) is not False) is ends
