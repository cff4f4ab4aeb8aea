"""Rows of tables in a given state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from support.states import STATES

from mcp_sim.types.given_rows import rows_of, unwrap_rows

ROWS = [{"id": "a", "n": 1}, {"id": "b", "n": 2}]
Json = Any


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        {"a": {"n": 1}, "b": {"n": 2}},
        {"a": {"id": "a", "n": 1}, "b": {"id": "b", "n": 2}},
        {"columns": ["id", "n"], "rows": [["a", 1], ["b", 2]]},
        {"columns": [{"name": "id", "type": "text"}, {"name": "n"}], "rows": [["a", 1], ["b", 2]], "name": "letters"},
        {"columns": {"id": "text", "n": "integer"}, "data": [["a", 1], ["b", 2]]},
        {"columns": ["id", "n"], "rows": ROWS},
        {"rows": ROWS},
        {"records": ROWS, "total": 2},
        {"items": {"a": {"n": 1}, "b": {"n": 2}}},
    ],
)
def test_tables_of_every_common_shape_have_the_same_rows(table: Json) -> None:
    assert rows_of(table, "id") == ROWS


@pytest.mark.parametrize(
    "value",
    [None, 1, "text", ["a"], [["a"]], {"a": "b"}, {"a": {}, "b": 1}, {"rows": ROWS, "title": "x"},
     {"columns": ["id"], "rows": [["a", 1]]}, {"columns": ["id", "id"], "rows": [["a", 1]]}],
)  # fmt: skip
def test_other_values_are_no_tables(value: Json) -> None:
    assert rows_of(value, "id") is None


def test_texts_become_a_field_where_plain_entries_are_possible() -> None:
    assert rows_of(["x", {"id": "b"}, {}], "id", "text") == [{"text": "x"}, {"id": "b"}, {}]
    assert rows_of({"a.md": "x", "b.md": {"text": "y"}}, "path", "text") == [
        {"path": "a.md", "text": "x"},
        {"path": "b.md", "text": "y"},
    ]


def test_what_a_table_holds_besides_its_rows_is_returned() -> None:
    assert unwrap_rows({"columns": ["id"], "rows": [["a"]], "name": "letters"}) == ([{"id": "a"}], {"name": "letters"})
    assert unwrap_rows({"rows": [], "next_id": 7}) == ([], {"next_id": 7})
    assert unwrap_rows({"title": "x", "rows": []}) == ({"title": "x", "rows": []}, {})


@given(STATES)
def test_any_value_has_rows_or_none(value: Json) -> None:
    for plain in ("", "text"):
        rows = rows_of(value, "id", plain)
        assert rows is None or all(isinstance(row, dict) for row in rows)
