"""What programs write again and again: wrong arguments in the words of pydantic and zod, front matter, sizes, times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError, create_model

from mcp_sim.programs.helpers import (
    argument_failure,
    byte_size,
    front_matter,
    javascript_length,
    markdown_table,
    money,
    pydantic_refusal,
    stamp,
    time_ago,
    tool_failure,
    unknown_tool_failure,
    with_front_matter,
    yaml_text,
    yaml_value,
    zod_problems,
)
from mcp_sim.programs.world import World

Json = Any
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "array": list[Any], "object": dict[str, Any],
}  # fmt: skip
VALUES: list[Json] = [None, True, 7, 2.5, "", "x" * 80, "maybe", [1], {"a": 1}]


class Called:
    """A world of which only the called tool matters."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self.input_schema = schema


def worded(schema: dict[str, Json], arguments: dict[str, Json]) -> str:
    return str(pydantic_refusal(cast("World", Called(schema)), "save", arguments, ["a problem"]).value)


def own_words(error: ValidationError) -> str:
    return re.sub(r"pydantic\.dev/[\d.]+/", "pydantic.dev/2.14/", str(error))


def refused_by_pydantic(kind: str, arguments: dict[str, Json]) -> str:
    """Return pydantic's own words; an empty text where it converts the value."""
    model = create_model("saveArguments", item=(TYPES[kind], ...), name=(str, ...))
    try:
        model.model_validate(arguments)
    except ValidationError as error:
        return own_words(error)
    return ""


REFUSED = [
    (kind, value) for kind, value in product(TYPES, VALUES) if refused_by_pydantic(kind, {"item": value, "name": ""})
]


@pytest.mark.parametrize(("kind", "value"), REFUSED, ids=str)
def test_wrong_arguments_are_in_the_words_of_pydantic(kind: str, value: Json) -> None:
    schema = {"properties": {"item": {"type": kind}, "name": {"type": "string"}}, "required": ["item", "name"]}
    for arguments in ({"item": value}, {"item": value, "name": 5}):
        assert worded(schema, arguments) == f"Error executing tool save: {refused_by_pydantic(kind, arguments)}"


def test_unions_name_each_type() -> None:
    model = create_model("saveArguments", item=(int | str | None, None))
    schema = {"properties": {"item": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}}}
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"item": [1]})
    assert worded(schema, {"item": [1]}) == f"Error executing tool save: {own_words(caught.value)}"


def test_what_pydantic_does_not_word_is_shown_as_it_is() -> None:
    schema = {"properties": {"item": {"type": "string", "pattern": "^a"}}}
    assert worded(schema, {"item": "b"}) == (
        "Error executing tool save: 1 validation error for saveArguments\na problem"
    )


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({"type": "string"}, None, [("", "Invalid input: expected string, received null")]),
        ({"type": "integer", "minimum": 1}, 0, [("", "Too small: expected number to be >=1")]),
        ({"type": "integer"}, 1.5, [("", "Invalid input: expected int, received number")]),
        ({"enum": ["a", "b"]}, "c", [("", 'Invalid option: expected one of "a"|"b"')]),
        ({"type": "array", "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "number"}}}},
         [{"n": 1}, {}, 5],
         [("[1].n", "Invalid input: expected number, received undefined"),
          ("[2]", "Invalid input: expected object, received number")]),
    ],
)  # fmt: skip
def test_zod_names_the_path_and_both_types(schema: Json, value: Json, problems: list[tuple[str, str]]) -> None:
    assert [*zod_problems(schema, value)] == problems


@pytest.mark.parametrize(
    "text", ["# A\n", "---\nx: 1\n---\n# A\n", "---\nx: [1]\ny:\n  - z\n---\n", "---\nnot closed\n"]
)
def test_front_matter_is_split_and_joined_unchanged(text: str) -> None:
    assert with_front_matter(*front_matter(text)) == text


def test_invalid_yaml_is_a_value_error() -> None:
    assert yaml_value("tags: [a, b]") == {"tags": ["a", "b"]}
    with pytest.raises(ValueError, match="front matter"):
        yaml_value("tags: [a")


def test_values_are_shown_as_services_show_them() -> None:
    assert stamp(datetime(2029, 3, 1, 9, 0, 0, 5000, tzinfo=UTC)) == "2029-03-01T09:00:00Z"
    assert stamp(datetime(2029, 3, 1, 9, 0, 0, 5000, tzinfo=UTC), "milliseconds") == "2029-03-01T09:00:00.005Z"
    assert money(1901, "eur") == "19.01 EUR"
    assert javascript_length("a😀") == 3


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.sampled_from(["no", "2029-01-01", "a: b", "it's", "1"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_yaml_that_is_written_means_the_same(value: Json) -> None:
    assert yaml_value(yaml_text(value)) == value


def test_yaml_is_written_as_the_usual_libraries_do() -> None:
    note = {"title": "A: b", "tags": ["x", "no"], "due": "2029-01-01", "of": {"ids": [{"id": 1, "on": True}]}, "e": []}
    assert yaml_text(note) == (
        'title: "A: b"\ntags:\n  - x\n  - "no"\ndue: "2029-01-01"\nof:\n  ids:\n    - id: 1\n      "on": true\ne: []'
    )


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (5, "just now"),
        (60, "1 minute ago"),
        (7300, "2 hours ago"),
        (-172_800, "in 2 days"),
        (400 * 86_400, "1 year ago"),
    ],
)
def test_times_are_shown_relative_to_now(ago: int, words: str) -> None:
    now = datetime(2029, 3, 1, tzinfo=UTC)
    assert time_ago(now, now - timedelta(seconds=ago)) == words


def test_sizes_and_tables() -> None:
    assert [byte_size(size) for size in (0, 1023, 1536, 5 << 30)] == ["0 B", "1023 B", "1.5 KB", "5 GB"]
    assert byte_size(1_500_000, digits=0, base=1000) == "2 MB"
    assert markdown_table(["a", "b"], [[1, 2], {"a": 3}]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |"


def test_failures_are_worded_as_each_sdk_does() -> None:
    world = cast("World", Called({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}))

    def words(sdk: str) -> list[Any]:
        problems = ["id: 'x' is not of type 'integer'"]
        failures = [tool_failure(sdk, "get", "gone"), unknown_tool_failure(sdk, "get")]
        return [
            str(failure.value) for failure in (*failures, argument_failure(sdk, world, "get", {"id": "x"}, problems))
        ]

    python, fastmcp = words("python"), words("fastmcp")
    assert python[:2] == ["Error executing tool get: gone", "Unknown tool: get"]
    assert python[2].startswith("Error executing tool get: 1 validation error for getArguments\nid\n")
    assert fastmcp[:2] == ["Error calling tool 'get': gone", "Unknown tool: 'get'"]
    assert words("python-lowlevel")[2] == "Input validation error: 'x' is not of type 'integer'"
    assert words("typescript") == [
        "gone",
        "MCP error -32602: Tool get not found",
        "MCP error -32602: Input validation error: Invalid arguments for tool get: "
        "Invalid input: expected number, received string at id",
    ]
    assert words("typescript-lowlevel")[0] == "Error: gone"
    with pytest.raises(ValueError, match="expected one of python"):
        tool_failure("rust", "get", "gone")
