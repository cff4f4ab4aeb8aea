"""Schemas for engines: bounded, without what engines refuse, and within the original."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcp_sim.models.language_model.observations import read_observation
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.models.language_model.tighten import FORMATS, IMPOSSIBLE, Bounds, bounded, tighten, whole_schema
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.json_schema.validation import Validator

Json = Any
ALLOWED = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "prefixItems", "minItems", "maxItems", "anyOf"}
    | {"enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum"}
)


def nodes(schema: Json) -> Iterator[dict[str, Json]]:
    """Yield every schema within a tightened schema."""
    if not isinstance(schema, dict):
        return
    node = cast("dict[str, Json]", schema)
    yield node
    for part in (node.get("items"), *node.get("prefixItems", ()), *node.get("anyOf", ())):
        yield from nodes(part)
    for part in node.get("properties", {}).values():
        yield from nodes(part)


BOUNDS: dict[str, frozenset[str]] = {
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "array": frozenset({"maxItems"}),
    "object": frozenset({"properties", "required"}),
    "boolean": frozenset(),
    "null": frozenset(),
}


def problems(node: dict[str, Json]) -> Iterator[str]:
    """What in one node of a tightened schema could make an engine refuse it or run away."""
    yield from node.keys() - ALLOWED
    kind = node.get("type")
    if kind == "string" and len(node.keys() & {"pattern", "maxLength"}) != 1:
        yield "a string with no end, or with two"
    elif kind in BOUNDS and not BOUNDS[kind] <= node.keys():
        yield f"endless {kind}"
    elif kind is None and not node.keys() & {"enum", "const", "anyOf"}:
        yield "anything"
    if kind == "object" and node["additionalProperties"] is not False:
        yield "endless keys"


def values(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    """Draw values that are valid under a tightened schema."""
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values(branch) for branch in schema["anyOf"]])
    return VALUES[schema["type"]](schema)


def objects(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    parts = {name: values(part) for name, part in schema["properties"].items()}
    needed = set(schema["required"])
    return st.fixed_dictionaries(
        {name: part for name, part in parts.items() if name in needed},
        optional={name: part for name, part in parts.items() if name not in needed},
    )


def arrays(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    if "prefixItems" in schema:
        return fixed(schema["prefixItems"])
    return st.lists(values(schema["items"]), min_size=schema.get("minItems", 0), max_size=schema["maxItems"])


@st.composite
def fixed(draw: st.DrawFn, parts: list[dict[str, Json]]) -> list[Json]:
    return [draw(values(part)) for part in parts]


def texts(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    if "pattern" in schema:
        return st.from_regex(str(schema["pattern"]), fullmatch=True)
    return st.text(min_size=schema.get("minLength", 0), max_size=schema["maxLength"])


VALUES: dict[str, Callable[[dict[str, Json]], st.SearchStrategy[Json]]] = {
    "object": objects,
    "array": arrays,
    "string": texts,
    "integer": lambda schema: st.integers(schema.get("minimum"), schema.get("maximum")),
    "number": lambda schema: st.floats(schema["minimum"], schema["maximum"]),
    "boolean": lambda schema: st.booleans(),
    "null": lambda schema: st.none(),
}


def schemas() -> st.SearchStrategy[Json]:
    """Satisfiable schemas as tool authors write them, with everything that engines refuse."""
    number = st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": st.integers(-50, 0),
            "exclusiveMaximum": st.integers(60, 90),
            "multipleOf": st.sampled_from([1, 5, 0.01, 0.5]),
            "description": st.just("a number"),
        },
    )
    text = st.one_of(
        st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(0, 400)}),
        st.fixed_dictionaries(
            {"type": st.just("string"), "format": st.sampled_from([*FORMATS, "regex", "vendor-key"])}
        ),
        st.fixed_dictionaries({"type": st.just("string"), "pattern": st.sampled_from(PATTERNS)}),
        st.fixed_dictionaries({"enum": st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True)}),
    )
    leaf = st.one_of(number, text, st.just({"type": "boolean"}), st.just({"type": ["string", "null"]}), st.just(True))
    return st.recursive(leaf, _compound, max_leaves=6)


def roots() -> st.SearchStrategy[dict[str, Json]]:
    return schemas().filter(lambda schema: isinstance(schema, dict))


PATTERNS = ["^con_[0-9]{5,}$", "^[A-Z]{3}-\\d+$", "^(open|closed)$", "[a-z]+", "^(?:a|bc)*d?$", "^[^@\\s]+@[^@\\s]+$"]


def _compound(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    names = st.sampled_from(["id", "name", "notes"])
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)},
        optional={
            "required": st.lists(st.sampled_from(["id", "other"]), max_size=2, unique=True),
            "minProperties": st.integers(0, 4),
            "dependentRequired": st.just({"name": ["id"]}),
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 1), "maxItems": st.integers(1, 100), "uniqueItems": st.just(True)},
    )
    tuples = st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"type": "array", "prefixItems": parts})
    either = st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"anyOf": parts})
    both = inner.map(lambda part: {"allOf": [part, {"description": "both"}]})
    referred = inner.map(lambda part: {"anyOf": [part, {"$ref": "#/$defs/one"}]})
    return st.one_of(objects, arrays, tuples, either, both, referred)


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_what_is_valid_under_a_tightened_schema_is_valid_under_the_original(data: st.DataObject) -> None:
    original = {**data.draw(roots()), "$defs": {"one": {"type": "null"}}}
    tightened = tighten(original)
    assume(tightened != IMPOSSIBLE)
    value = data.draw(values(tightened))
    assert Validator(tightened).problems(value) == ()
    assert Validator(original).problems(value) == ()


@given(schemas())
def test_a_tightened_schema_has_bounds_everywhere_and_nothing_that_engines_refuse(original: Json) -> None:
    found = [(node, list(problems(node))) for node in nodes(tighten(original)) if list(problems(node))]
    assert not found


OPEN = Bounds(text=4_000, items=100, is_open=True)
LOOSE: dict[str, tuple[Json, list[Json]]] = {
    "undeclared properties": ({"properties": {"a": {"type": "string"}}}, [{"a": "x", "b": {"c": [1]}}]),
    "any items": ({"type": "array"}, [[1, "a", None, {"b": []}], []]),
    "any value": ({"type": "object", "properties": {"a": {}}}, [{"a": 1}, {"a": [None]}]),
    "long texts and lists": ({"type": "array", "items": {"type": "string"}}, [["x" * 4_000] * 100]),
    "large numbers": ({"type": "array", "items": {"type": "number"}}, [[-1e12, 0.1, 10**15]]),
    "numbers of whole type": ({"type": "integer"}, [-(10**15), 10**15]),
    "equal items": ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [[*range(60)]]),
    "several types": ({"type": ["array", "null"], "items": {"type": ["string", "null"]}}, [None, [None]]),
}


@pytest.mark.parametrize("name", LOOSE)
def test_an_open_schema_allows_what_the_original_allows(name: str) -> None:
    schema, allowed = LOOSE[name]
    for value in allowed:
        assert Validator(schema).problems(value) == ()
        assert Validator(tighten(schema, OPEN)).problems(value) == ()


@given(st.data())
def test_what_the_schema_of_a_whole_answer_allows_is_an_answer_in_one_of_its_forms(data: st.DataObject) -> None:
    schema: Json = {"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}
    whole = whole_schema(tighten(schema), Bounds())
    answer = data.draw(values(whole))
    body = read_observation(Reply(json.dumps(answer)), schema).body
    assert isinstance(body, RpcError | ToolResult)
    if "degrees" in answer:
        assert isinstance(body, ToolResult)
        assert (body.value, body.is_error) == (answer, False)
    else:
        assert isinstance(body, RpcError) == ("error" in answer)
        assert isinstance(body, RpcError) or body.is_error is answer["isError"]


def test_the_shipped_tools_are_tightened_without_loss_of_a_field() -> None:
    tools = json.loads(Path("tool_specs/crm/crm.tools.json").read_text())["tools"]
    for tool in tools:
        tightened = tighten(tool["outputSchema"])
        assert not [problem for node in nodes(tightened) for problem in problems(node)]
        assert list(tightened["properties"]) == list(tool["outputSchema"]["properties"])


def test_a_schema_that_must_recur_is_impossible() -> None:
    assert tighten({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}) == IMPOSSIBLE


@pytest.mark.parametrize("pattern", ["(?=a)b", "a\\b", "(a)\\1", "^a$|b", "\\p{L}", "[", "(?i)a"])
def test_a_pattern_that_engines_do_not_know_is_left_out(pattern: str) -> None:
    assert bounded(pattern) is None


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_is_narrowed_to_a_pattern_that_ends(name: str) -> None:
    assert not any(sign in FORMATS[name] for sign in "*+")
    assert bounded(FORMATS[name]) is not None
