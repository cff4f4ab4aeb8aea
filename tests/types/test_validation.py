"""Validation of values: the two libraries must agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcp_sim.types.json_schema.validation import Validator, compiled, compiles

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-5, 5)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10), st.sampled_from([0.5, -1.5, 2.0]), st.text("xyzé\n", max_size=4)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def options(**of: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=of)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return options(
        type=TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        properties=st.dictionaries(NAMES, inner, max_size=3),
        required=st.lists(NAMES, max_size=2, unique=True),
        additionalProperties=inner,
        patternProperties=st.dictionaries(st.sampled_from(["^a$", "b"]), inner, max_size=1),
        propertyNames=inner,
        minProperties=st.integers(0, 2),
        dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        items=inner,
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        contains=inner,
        uniqueItems=st.booleans(),
        minItems=st.integers(0, 2),
        maxLength=st.integers(0, 3),
        pattern=st.sampled_from(["x", "^[xy]+$"]),
        minimum=NUMBERS,
        exclusiveMaximum=NUMBERS,
        multipleOf=st.integers(1, 4),
        enum=st.lists(VALUES, min_size=1, max_size=3),
        const=VALUES,
        allOf=st.lists(inner, min_size=1, max_size=2),
        anyOf=st.lists(inner, min_size=1, max_size=2),
        oneOf=st.lists(inner, min_size=1, max_size=2),
        **{"not": inner, "if": inner, "then": inner, "else": inner},
    )


SCHEMAS = st.recursive(st.booleans() | options(type=TYPES), deeper, max_leaves=6).filter(lambda s: isinstance(s, dict))


@given(SCHEMAS, VALUES)
def test_both_validators_give_the_same_verdict(schema: dict[str, Any], value: Any) -> None:
    reference: Any = Draft202012Validator(schema)
    valid = reference.is_valid(value)
    validator = Validator(schema)
    assert validator.is_valid(value) == valid
    assert (validator.problems(value) == ()) == valid


def test_problems_name_every_place() -> None:
    schema = {
        "type": "object",
        "required": ["name"],
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "size": {"enum": ["S", "M"]}},
        "additionalProperties": False,
    }
    assert Validator(schema).problems({"tags": ["a", 1], "size": "XL", "colour": 1}) == (
        "'name' is a required property",
        "Additional properties are not allowed ('colour' was unexpected)",
        "size: 'XL' is not one of ['S', 'M']",
        "tags[1]: 1 is not of type 'string'",
    )


def test_a_sentence_about_a_huge_value_stays_short() -> None:
    (problem,) = Validator({"properties": {"a": {"type": "integer"}}}).problems({"a": "x" * 10_000_000})
    assert len(problem) < 400
    assert problem.endswith("is not of type 'integer'")


def test_a_pattern_that_cannot_be_compiled_is_not_enforced_and_the_rest_is() -> None:
    assert not compiles("(?P<x")
    validator = Validator({"properties": {"a": {"type": "string", "pattern": "(?P<x"}}})
    assert validator.is_valid({"a": "anything"})
    assert not validator.is_valid({"a": 1})


def test_references_to_other_documents_are_never_followed() -> None:
    with pytest.raises(ValueError, match="http://127"):
        compiled({"$ref": "http://127.0.0.1:9/schema.json"})


def test_an_invalid_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="banana"):
        compiled({"type": "banana"})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
        {"properties": {"a": {"pattern": "^(a+)+$"}}, "patternProperties": {"^(b+)+$": {}}},
    ],
)
def test_no_pattern_takes_more_than_linear_time_to_explain(schema: dict[str, Any]) -> None:
    value = {"a": "a" * 10_000 + "!", "b" * 10_000 + "!": 1}  # exponential in an engine that backtracks
    (problem,) = Validator(schema).problems(value)
    assert problem.startswith("a: ")
    assert "does not match" in problem


def test_a_schema_that_refers_to_itself_is_explained_however_deep_the_call_is() -> None:
    endless = {"type": "object", "not": {"$ref": "#/$defs/endless"}}
    validator = Validator({"$ref": "#/$defs/endless", "required": ["name"], "$defs": {"endless": endless}})

    def problems(depth: int) -> tuple[str, ...]:
        return problems(depth - 1) if depth else validator.problems({})

    assert {problems(depth) for depth in range(80)} == {('"name" is a required property',)}
