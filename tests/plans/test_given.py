"""Records of backends in a given state of any shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from support.states import STATES, leaves

from mcp_sim.plans.given import Sought, innermost, take_given

NOTE = Sought("note", "id", frozenset({"note"}))
TEXT = Sought("note", "id", frozenset({"note"}), plain="text")
ROWS = [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]
Json = Any


@pytest.mark.parametrize(
    "notes",
    [ROWS, {"a": "x", "b": "y"}, {"a": {"text": "x"}, "b": {"text": "y"}}, {"rows": ROWS},
     {"columns": ["id", "text"], "rows": [["a", "x"], ["b", "y"]]}],
)  # fmt: skip
@pytest.mark.parametrize("name", ["notes", "Note", "my_notes", "allNotes"])
def test_records_are_found_in_every_shape_and_under_wrappers(name: str, notes: Json) -> None:
    for state in ({name: notes}, {"vault": {name: notes}}, {"server": {"vault": {name: notes}}}):
        taken = take_given(state, [TEXT])
        assert taken.records == {"note": ROWS}
        assert taken.rest is None


def test_the_rest_of_a_state_keeps_its_places() -> None:
    state = {"vault": {"notes": ROWS, "owner": "Ada"}, "tags": ["x"], "empty": {}, "none": None}
    taken = take_given(state, [NOTE])
    assert taken.records == {"note": ROWS}
    assert taken.rest == {"vault": {"owner": "Ada"}, "tags": ["x"], "empty": {}, "none": None}


def test_what_a_table_holds_besides_its_rows_stays_in_the_rest() -> None:
    assert take_given({"notes": {"rows": ROWS, "next_id": 3}}, [NOTE]).rest == {"notes": {"next_id": 3}}
    whole = take_given({"rows": ROWS, "next_id": 3}, [NOTE], is_whole=True)
    assert (whole.records, whole.rest) == ({"note": ROWS}, {"next_id": 3})


def test_a_state_without_known_names_is_the_first_table_if_it_is_whole() -> None:
    assert take_given({"store": {"a": "x", "b": "y"}}, [TEXT], is_whole=True).records == {"note": ROWS}
    assert take_given({"store": {"a": "x", "b": "y"}}, [TEXT]).records == {"note": []}
    assert innermost({"vault": {"pages": ROWS}}) == ROWS


def test_a_table_whose_rows_cannot_be_records_is_left() -> None:
    refusing = Sought("note", "id", frozenset({"note"}), read=lambda row: row if "text" in row else None)
    state = {"notes": [{"id": "a", "text": "x"}, {"id": "b"}]}
    assert take_given(state, [refusing]).rest == state


def test_only_some_objects_of_a_large_one_are_searched_and_none_is_lost() -> None:
    state = {f"part_{at}": {"size": at} for at in range(1000)} | {"notes": ROWS}
    taken = take_given(state, [NOTE])
    assert taken.records == {"note": []}
    assert taken.rest == state


@given(STATES)
def test_no_value_of_any_state_is_lost(state: Json) -> None:
    for sought, is_whole in ((NOTE, False), (TEXT, False), (NOTE, True), (TEXT, True)):
        taken = take_given(state, [sought], is_whole=is_whole)
        kept = leaves([*taken.records.values()]) + leaves(taken.rest)
        assert not leaves(state) - kept - leaves(None)
