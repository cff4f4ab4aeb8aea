"""Rows, records and texts in results, with and without a plan."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sim.faults.results import ResultShape
from mcp_sim.types import Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_values import MISSING, get_part, replace_part, replace_shown
from mcp_sim.types.plans import Envelope, Plan

TOOL = Tool("list_things", "", {"name": "list_things", "inputSchema": {"type": "object"}})
FIELDS = {
    "name": Field("name", {"type": "string"}),
    "colour": Field("colour", {"type": "string", "enum": ["red"]}),
    "box": Field("box", {"type": "string"}, link="box"),
}
THING = Entity("thing", key="sku", fields=FIELDS)
UNKNOWN = ResultShape(TOOL, None, None)
KNOWN = ResultShape(TOOL, Plan("list_things", "list", "thing", envelope=Envelope(rows="data.things")), THING)


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ([{"id": 1}], ()),
        ({"items": [{"id": 1}], "total": 1}, ("items",)),
        ({"tags": ["a"], "data": {"items": [{"id": 1}]}}, ("data", "items")),
        ({"id": 1, "tags": ["a", "b"]}, None),
        ({"items": []}, None),
        ("text", None),
        (3, None),
    ],
)
def test_without_a_plan_rows_are_the_first_list_of_objects(value: Any, rows: Any) -> None:
    assert UNKNOWN.rows(value) == rows


def test_with_a_plan_rows_are_at_its_path_or_where_a_real_server_has_them() -> None:
    assert KNOWN.rows({"data": {"things": []}, "other": [{"id": 1}]}) == ("data", "things")
    assert KNOWN.rows({"other": [{"id": 1}]}) == ("other",)
    assert KNOWN.rows({"data": {"things": None}}) is None
    assert KNOWN.records({"data": {"things": [{"sku": 1}, "no record", {"sku": 2}]}}) == [
        ("data", "things", 0),
        ("data", "things", 2),
    ]


def test_a_single_record_is_the_whole_result_or_at_the_path_of_the_plan() -> None:
    assert UNKNOWN.records({"id": 1}) == [()]
    one = ResultShape(TOOL, Plan("get_thing", "get", "thing", envelope=Envelope(record="thing")), THING)
    assert one.records({"thing": {"sku": 1}}) == [("thing",)]
    assert one.records({"error": "x"}) == []


def test_keys_and_links_are_recognised_by_the_entity_or_by_their_names() -> None:
    assert [name for name in ("sku", "name", "colour", "box", "owner_id") if KNOWN.is_key(name)] == [
        "sku",
        "box",
        "owner_id",
    ]
    names = ("id", "user_id", "tag_ids", "uuid", "next_cursor", "video", "monkey", "name")
    assert [name for name in names if UNKNOWN.is_key(name)] == ["id", "user_id", "tag_ids", "uuid", "next_cursor"]
    assert (KNOWN.key_of({"sku": 4}), UNKNOWN.key_of({"id": 5}), UNKNOWN.key_of({})) == (4, 5, None)


def test_keys_dates_and_choices_are_no_texts() -> None:
    values = {"sku": "a", "name": "b", "colour": "red", "box": "c", "made": "2029-01-01", "count": 3, "note": "d"}
    assert [name for name, value in values.items() if KNOWN.is_text(name, value)] == ["name", "note"]


def test_a_part_is_replaced_in_a_copy() -> None:
    value = {"a": [{"b": 1}, {"b": 2}], "c": 3}
    assert replace_part(value, ("a", 1, "b"), 9) == {"a": [{"b": 1}, {"b": 9}], "c": 3}
    assert value["a"] == [{"b": 1}, {"b": 2}]
    assert replace_part(value, (), 4) == 4
    assert get_part(value, ("a", 2)) is MISSING
    assert get_part(value, ("c", "d")) is MISSING
    assert replace_shown(value, "x.y", 0) == value
    assert replace_shown({"x": {"y": 1}}, "x.y", 0) == {"x": {"y": 0}}
