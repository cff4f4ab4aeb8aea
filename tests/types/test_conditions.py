"""Matchers: what they accept, what they refuse at load, and that no pattern can stall a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.types.conditions import ABSENT, OPERATORS, at_path, contradiction, equal, matcher

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("written", "found", "holds"),
    [
        (1, 1.0, True),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        (None, None, True),
        (None, ABSENT, False),
        (None, 0, False),
        ("a", "a", True),
        ("1", 1, False),
        ([1, {"b": True}], [1.0, {"b": True}], True),
        ([1, {"b": True}], [1, {"b": 1}], False),
        ([1], [1, 2], False),
        ({"equals": {"a": 1, "b": 2}}, {"b": 2.0, "a": 1}, True),
        ({"equals": {"a": 1}}, {"a": 1, "b": 2}, False),
        ({"not": "a"}, "b", True),
        ({"not": "a"}, ABSENT, True),
        ({"not": {"gt": 3}}, 4, False),
        ({"in": [1, "a", None]}, None, True),
        ({"in": [1, "a"]}, True, False),
        ({"in": [1]}, ABSENT, False),
        ({"contains": "pring"}, "Spring", True),
        ({"contains": "x"}, "Spring", False),
        ({"contains": 1}, [2, 1.0], True),
        ({"contains": 1}, [True], False),
        ({"contains": "a"}, {"a": None}, True),
        ({"contains": 1}, "1", False),
        ({"contains": "a"}, 7, False),
        ({"contains": "a"}, ABSENT, False),
        ({"matches": "^Spring.*r$"}, "Spring order", True),
        ({"matches": "order"}, "Spring order", True),
        ({"matches": "^order"}, "Spring order", False),
        ({"matches": "1"}, 1, False),
        ({"matches": "a"}, ABSENT, False),
        ({"gt": 3}, 3, False),
        ({"gt": 3}, 3.5, True),
        ({"gte": 3}, 3, True),
        ({"lt": 3}, 2, True),
        ({"lt": 3}, False, False),
        ({"lte": 3}, "2", False),
        ({"gt": "2029-03-01"}, "2029-03-02T00:00:00Z", True),
        ({"gt": "a"}, 7, False),
        ({"gt": 1}, ABSENT, False),
        ({"exists": True}, None, True),
        ({"exists": True}, ABSENT, False),
        ({"exists": False}, ABSENT, True),
        ({"exists": False}, None, False),
        ({"gte": 1, "lt": 3}, 2, True),
        ({"gte": 1, "lt": 3}, 3, False),
        ({"exists": True, "not": None}, None, False),
    ],
)
def test_a_matcher_holds_as_its_operators_say(written: Any, found: Any, holds: bool) -> None:
    assert matcher(written)(found) is holds


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"contain": "x"}, "unknown operator 'contain'; did you mean 'contains'?"),
        ({"title": "x", "equals": 1}, "unknown operator 'title'"),
        ({}, "{equals: {}}"),
        ({"in": 3}, "not a list"),
        ({"gt": True}, "neither a number nor a string"),
        ({"gt": None}, "neither a number nor a string"),
        ({"exists": "yes"}, "neither true nor false"),
        ({"matches": 3}, "not a regular expression"),
        ({"matches": "(a"}, "unclosed group"),
        ({"matches": "(?=a)b"}, "look-around"),
        ({"matches": "((a{1000}){1000}){1000}"}, "cannot be used"),
        ({"not": {"gtt": 1}}, "did you mean 'gt'?"),
        ({1: 2}, "unknown operator 1"),
    ],
)
def test_an_invalid_matcher_is_refused_with_a_hint(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        matcher(written)
    assert message in str(refused.value)


def test_no_pattern_takes_more_than_linear_time() -> None:
    search = matcher({"matches": "^(a+)+$"})  # exponential in an engine that backtracks
    assert not search("a" * 200_000 + "b")
    assert search("a" * 200_000)


def test_a_lone_surrogate_matches_no_pattern_and_breaks_nothing() -> None:
    assert matcher({"matches": "."})("\ud800") is False
    assert matcher("\ud800")("\ud800") is True


@given(JSON)
def test_every_json_value_equals_itself_and_a_matcher_of_it_agrees(value: Any) -> None:
    assert equal(value, value)
    assert matcher({"equals": value})(value)
    assert not matcher({"not": {"equals": value}})(value)
    assert matcher({"in": [value]})(value)


@given(JSON, JSON)
def test_equality_is_symmetric_and_distinguishes_true_from_one(one: Any, other: Any) -> None:
    assert equal(one, other) is equal(other, one)
    assert equal(one, other) is matcher({"equals": other})(one)
    if equal(one, other):
        assert isinstance(one, bool) is isinstance(other, bool)


@given(st.sampled_from(OPERATORS), JSON, JSON | st.just(ABSENT))
def test_a_matcher_that_is_accepted_answers_for_every_value(name: str, operand: Any, found: Any) -> None:
    try:
        accepted = matcher({name: operand})
    except ValueError:
        return
    assert accepted(found) in (True, False)


def test_a_path_leads_through_objects_and_lists_or_is_absent() -> None:
    order = {"lines": [{"sku": "a"}, {"sku": "b"}], "note": None}
    assert at_path(order, ["lines", "1", "sku"]) == "b"
    assert at_path(order, ["note"]) is None
    for path in (["lines", "2"], ["lines", "x"], ["note", "x"], ["gone"], ["lines", "-1"]):
        assert at_path(order, path) is ABSENT


@pytest.mark.parametrize(
    ("written", "is_contradiction"),
    [
        ({"gt": 5, "lt": 3}, True),
        ({"gt": 5, "lte": 5}, True),
        ({"gte": 5, "lte": 5}, False),
        ({"gt": 5, "lt": 6}, False),
        ({"gt": "a", "lt": 6}, True),
        ({"gte": 5, "matches": "x"}, True),
        ({"gte": "a", "matches": "x", "contains": "y"}, False),
        ({"equals": 3, "gt": 4}, True),
        ({"equals": 5, "gt": 4}, False),
        ({"in": []}, True),
        ({"in": [1, 5], "not": 1}, False),
        ({"in": [1], "not": 1}, True),
        ({"exists": False, "equals": 1}, True),
        ({"exists": False, "not": 1}, False),
        ({"not": {"gt": 5, "lt": 3}}, False),
        ("x", False),
    ],
)
def test_operators_that_exclude_each_other_are_a_contradiction(written: Any, is_contradiction: bool) -> None:
    assert (contradiction(written) is not None) is is_contradiction


@given(st.dictionaries(st.sampled_from(("gt", "gte", "lt", "lte", "equals")), st.integers(0, 4), min_size=1))
def test_bounds_are_a_contradiction_exactly_if_no_number_satisfies_them(written: dict[str, int]) -> None:
    halves = [half / 2 for half in range(-2, 12)]
    assert (contradiction(written) is not None) is not any(map(matcher(written), halves))
