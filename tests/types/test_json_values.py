"""The values of a JSON text are counted without parsing it."""

from __future__ import annotations

import json
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.types import json_values
from mcp_sim.types.json_values import FIELD_WEIGHT, MOST_WEIGHT, has_many_values

TEXTS = st.text('ab,:[]{}"\\\n\u00e9', max_size=6)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(TEXTS, inner, max_size=8),
    max_leaves=40,
)


def weight(value: Any) -> int:
    """Return the weight of a value as `MOST_WEIGHT` declares it; an empty list or object weighs as much as one item."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return max(1, FIELD_WEIGHT * len(fields)) + sum(map(weight, fields.values()))
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return max(1, len(items)) + sum(map(weight, items))
    return 0


@given(VALUES, st.booleans(), st.integers(0, 60))
def test_values_are_counted_whatever_their_texts_contain(value: Any, is_ascii: bool, most: int) -> None:
    data = json.dumps(value, ensure_ascii=is_ascii).encode()
    with patch.object(json_values, "MOST_WEIGHT", most):
        assert has_many_values(data) is (weight(value) > most)


@pytest.mark.parametrize("is_many", [True, False])
@pytest.mark.parametrize("text", ["", ",", '"', "\\", '\\"'])
def test_many_texts_are_as_many_values(text: str, is_many: bool) -> None:
    data = json.dumps([text] * (MOST_WEIGHT + is_many), separators=(",", ":")).encode()
    assert has_many_values(data) is is_many
