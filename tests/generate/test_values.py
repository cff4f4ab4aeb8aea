"""Generated values are valid under schemas of any kind, and unsatisfiable schemas are reported."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.strategies import NOW

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.satisfiability import impossible_parts, is_satisfiable
from mcp_sim.types.json_schema.validation import Validator

Json = Any
Schema = dict[str, Any]
MOMENT = Moment(NOW, NOW)


def is_valid(value: Json, schema: Json) -> bool:
    judge: Any = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return judge.is_valid(value)


def made(schema: Schema, count: int = 12, name: str = "x") -> list[Json]:
    make = value_maker("thing", name, expanded(schema))
    return [make(chance_of("salt", at), {}, MOMENT) for at in range(count)]


TREE: Schema = {
    "type": "object",
    "properties": {"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    "required": ["label", "children"],
}


def kinds(name: str, count: int, parts: Schema) -> Schema:
    """Return the schema of one of several kinds of a thing, all with the same required parts."""
    ways = [{**parts, "kind": {"const": f"{name}{at}"}} for at in range(count)]
    return {"anyOf": [{"type": "object", "properties": way, "required": [*way]} for way in ways]}


LAYERS: Schema = {"type": "array", "items": {"$ref": "#/$defs/layer"}}
FILLS: Schema = {"type": "object", "additionalProperties": {"$ref": "#/$defs/fill"}}
CASES: dict[str, Schema] = {
    "bounds": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    "half open": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e-4},
    "multiple of a fraction": {"type": "number", "multipleOf": 0.25, "minimum": 1.1, "maximum": 1.6},
    "whole multiples": {"type": "integer", "multipleOf": 2.5, "minimum": 1},
    "huge": {"type": "integer", "minimum": 10**15, "maximum": 10**15 + 3},
    "negative": {"type": "number", "maximum": -3.5},
    "pattern and length": {"type": "string", "pattern": "^[a-z]+$", "minLength": 12, "maxLength": 14},
    "pattern without anchors": {"type": "string", "pattern": "[0-9]{3}"},
    "format and length": {"type": "string", "format": "email", "maxLength": 60},
    "unique": {"type": "array", "items": {"enum": [1, 2, 3, "1"]}, "minItems": 4, "uniqueItems": True},
    "unique booleans": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
    "prefix": {"type": "array", "prefixItems": [{"const": 1}, {"type": "boolean"}], "items": False, "minItems": 2},
    "prefix and rest": {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"},
                        "minItems": 3},
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "minContains": 2},
    "contains at most": {"type": "array", "contains": {"type": "string"}, "maxContains": 1,
                         "items": {"type": ["string", "integer"]}},
    "one of": {"oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}]},
    "any of objects": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind"]}]},
    "shared properties and alternatives": {
        "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
        "oneOf": [{"properties": {"card": {"type": "string", "pattern": r"^\d{4}$"}}, "required": ["card"]},
                  {"properties": {"iban": {"type": "string", "minLength": 15}}, "required": ["iban"]}]},
    "all of": {"allOf": [{"type": "integer", "minimum": 10}, {"maximum": 20}, {"multipleOf": 4}, {"multipleOf": 6}]},
    "all of the same property": {"allOf": [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5}}, "required": ["a"]},
        {"properties": {"a": {"maximum": 7}}}]},
    "two patterns": {"allOf": [{"type": "string", "pattern": "^[a-z]"}, {"pattern": "[0-9]$"}]},
    "not": {"type": "string", "enum": ["a", "b", "c"], "not": {"const": "b"}},
    "not an integer": {"type": "number", "minimum": 0, "maximum": 2, "not": {"type": "integer"}},
    "if then else": {
        "type": "object",
        "properties": {"status": {"enum": ["open", "closed"]}, "closed_at": {"type": "string", "format": "date-time"}},
        "required": ["status"],
        "if": {"properties": {"status": {"const": "closed"}}},
        "then": {"required": ["closed_at"]},
        "else": {"not": {"required": ["closed_at"]}}},
    "const": {"const": {"a": [1, None]}},
    "dependent": {
        "type": "object", "properties": {"card": {"type": "string"}, "expiry": {"type": "string"}},
        "dependentRequired": {"card": ["expiry", "cvc"]}, "required": ["card"]},
    "dependent schemas": {
        "type": "object", "properties": {"a": {"type": "integer"}},
        "dependentSchemas": {"a": {"properties": {"b": {"const": 1}}, "required": ["b"]}}, "required": ["a"]},
    "many properties": {"type": "object", "minProperties": 4, "additionalProperties": {"type": "integer"}},
    "few properties": {"type": "object", "properties": {name: {"type": "string"} for name in "abcdef"},
                       "required": ["c"], "maxProperties": 2},
    "named properties": {"type": "object", "propertyNames": {"pattern": "^k[0-9]$"}, "minProperties": 2,
                         "additionalProperties": {"type": "boolean"}},
    "pattern properties": {"type": "object", "patternProperties": {"^S_": {"type": "string"}},
                           "additionalProperties": False, "minProperties": 1},
    "undeclared required": {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}},
    "recursion": {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}},
    "recursion through alternatives": {
        "$ref": "#/$defs/e",
        "$defs": {"e": {"anyOf": [{"type": "integer"}, {
            "type": "object", "properties": {"left": {"$ref": "#/$defs/e"}}, "required": ["left"]}]}}},
    "recursion through a union of many": {
        "type": "object", "additionalProperties": {"$ref": "#/$defs/layer"}, "minProperties": 1,
        "$defs": {"layer": kinds("layer", 12, {"layers": LAYERS, "above": LAYERS, "fills": FILLS, "strokes": FILLS}),
                  "fill": kinds("fill", 12, {"stops": LAYERS, "more": FILLS})}},
    "a base that two extend": {
        "allOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/c"}],
        "$defs": {"a": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
                  "b": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {"n": {"type": "string"}}, "required": ["n"]},
                  "c": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {"size": {"const": 3}}, "required": ["size"]}}},
    "references in conditions": {
        "type": "object", "properties": {"a": {"$ref": "#/$defs/flag"}}, "required": ["a"],
        "if": {"properties": {"a": {"$ref": "#/$defs/on"}}}, "then": {"required": ["b"]},
        "$defs": {"flag": {"type": "boolean"}, "on": {"const": True}}},
    "anything": {},
    "types": {"type": ["integer", "null", "string"]},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_are_valid_under_every_keyword(name: str) -> None:
    for value in made(CASES[name]):
        assert is_valid(value, CASES[name]), value


# schemas that a value is known for ------------------------------------------------------------------------------------

PLAIN = st.one_of(
    st.integers(-40, 40), st.sampled_from(["", "a", "ab", "order", "K-12", "2030-01-02", "x y"]), st.booleans()
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)
PATTERNS = ("^[a-z]*$", "^[A-Z]-[0-9]{2}$", "[a-z]", "^.{0,12}$", r"\d", r"^\d{4}-\d{2}-\d{2}$")


@st.composite
def around(draw: st.DrawFn, value: Json, depth: int = 0) -> Schema:
    """Draw a schema that this value satisfies."""
    schema = draw(_form(value))
    if depth > 2 or draw(st.integers(0, 2)):
        return schema
    other = draw(VALUES.flatmap(_form))
    match draw(st.sampled_from(["allOf", "anyOf", "oneOf", "not", "if", "enum"])):
        case "allOf":
            return {"allOf": [schema, draw(around(value, depth + 1))]}
        case "anyOf":
            return {"anyOf": draw(st.permutations([schema, other]))}
        case "oneOf":
            return schema if is_valid(value, other) else {"oneOf": [schema, other]}
        case "not":
            return schema if is_valid(value, other) else {**schema, "not": other}
        case "if":
            then, otherwise = (schema, other) if is_valid(value, other) else (other, schema)
            return {"if": other, "then": then, "else": otherwise}
        case _:
            return {"enum": [value, draw(VALUES)]}


@st.composite
def _form(draw: st.DrawFn, value: Json) -> Schema:
    match value:
        case bool():
            return draw(st.sampled_from([{"type": "boolean"}, {"const": value}]))
        case int():
            low, high = value - draw(st.integers(0, 30)), value + draw(st.integers(0, 30))
            more = draw(
                st.sampled_from(
                    [
                        {},
                        {"minimum": low, "maximum": high},
                        {"exclusiveMinimum": low - 1},
                        {"multipleOf": abs(value) or 3},
                    ]
                )
            )
            return {"type": draw(st.sampled_from(["integer", "number"])), **more}
        case str():
            fitting: list[Schema] = [{"pattern": one} for one in PATTERNS if is_valid(value, {"pattern": one})]
            more = draw(st.sampled_from([{}, {"minLength": len(value)}, {"maxLength": len(value)}, *fitting]))
            return {"type": "string", **more}
        case list():
            return draw(_list(cast("list[Json]", value)))
        case _:
            return draw(_object(value))


@st.composite
def _list(draw: st.DrawFn, value: list[Json]) -> Schema:
    schema: Schema = {"type": "array", "minItems": draw(st.integers(0, len(value)))}
    if draw(st.booleans()):
        schema["maxItems"] = draw(st.integers(len(value), len(value) + 3))
    match draw(st.integers(0, 2)):
        case 0 if value:
            schema["prefixItems"] = [draw(around(item, 2)) for item in value]
        case 1 if value:
            schema["items"] = {"anyOf": [draw(around(item, 2)) for item in value]}
        case _:
            pass
    unique = all(
        one != other or isinstance(one, bool) is not isinstance(other, bool)
        for at, one in enumerate(value)
        for other in value[:at]
    )
    return {**schema, "uniqueItems": True} if unique and draw(st.booleans()) else schema


@st.composite
def _object(draw: st.DrawFn, value: dict[str, Json]) -> Schema:
    names = sorted(value)
    schema: Schema = {"type": "object", "properties": {name: draw(around(value[name], 1)) for name in names}}
    schema["required"] = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    more: list[Schema] = [
        {},
        {"additionalProperties": False},
        {"minProperties": len(value)},
        {"maxProperties": len(value)},
    ]
    if len(names) > 1:
        more.append({"dependentRequired": {names[0]: names[1:]}})
    return {**schema, **draw(st.sampled_from(more))}


@settings(derandomize=True)
@given(data=st.data())
def test_whatever_has_a_value_gets_one(data: st.DataObject) -> None:
    value = data.draw(VALUES)
    schema = data.draw(around(value))
    assert is_valid(value, schema)
    for one in made(schema, 4):
        assert is_valid(one, schema), one


# what would take for ever ---------------------------------------------------------------------------------------------


def doubled(word: str, times: int) -> Schema:
    """Return definitions that each contain the next one twice."""
    parts: Schema = {f"d{at}": {word: [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(times)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{times}": {"type": "object", "required": ["x"]}}}


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_exponentially_nested_alternatives_are_refused_or_shortened(word: str) -> None:
    assert Validator(doubled(word, 12)).problems({}) == ("does not match its schema",)
    with pytest.raises(ValueError, match="more than 100,000"):
        Validator(doubled(word, 30))


def test_exponentially_nested_properties_are_supported() -> None:
    parts: Schema = {
        f"d{at}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/d{at + 1}"} for name in "ab"}}
        for at in range(30)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": {**parts, "d30": {"type": "string"}}}
    assert Validator(schema).problems({"a": {"b": 1}}) != ()
    assert all(is_valid(value, schema) for value in made(schema, 2))


# what nothing satisfies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 4}, "its minimum and maximum exclude each other"),
        ({"type": "integer", "exclusiveMinimum": 5, "maximum": 5}, "maximum and exclusiveMinimum"),
        ({"type": "integer", "exclusiveMinimum": 5, "exclusiveMaximum": 6}, "exclude each other"),
        ({"type": "number", "multipleOf": 10, "minimum": 11, "maximum": 19}, "and multipleOf exclude each other"),
        ({"type": "string", "enum": [1, 2]}, "its type and enum exclude each other"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength and maxLength exclude each other"),
        ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3}, "items, minItems and"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "required"),
        ({"type": "object", "required": ["a", "b"], "maxProperties": 1}, "required"),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}}},
         "properties and required exclude each other"),
    ],
)  # fmt: skip
def test_unsatisfiable_schemas_are_reported_and_optional_properties_left_out(schema: Schema, reason: str) -> None:
    assert reason in impossible_parts(schema)[()]
    whole = {"type": "object", "properties": {"odd": schema, "plain": {"type": "integer"}}, "required": ["plain"]}
    assert all(is_valid(value, whole) for value in made(whole))


@pytest.mark.parametrize(
    ("kind", "bound"), [("array", "minItems"), ("object", "minProperties"), ("string", "minLength")]
)
def test_optional_properties_that_only_enormous_values_satisfy_are_left_out(kind: str, bound: str) -> None:
    schema = {"type": "object", "properties": {"huge": {"type": kind, bound: 10**9}}}
    assert made(schema, 3) == [{}, {}, {}]


@pytest.mark.parametrize("name", CASES)
def test_a_satisfiable_schema_is_no_contradiction(name: str) -> None:
    assert is_satisfiable(expanded(CASES[name])) is not False
