"""Given states of any shape, and the plain values in them."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from hypothesis import strategies as st

Json = Any
_NAMES = st.sampled_from(
    ["notes", "note", "rows", "data", "items", "columns", "vault", "id", "text", "count", "a", "b"]
)
_PLAIN = st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["", "a", "id", "text", "x y"]))
STATES: st.SearchStrategy[Json] = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4), max_leaves=25
)
"""Values in which the names of tables, of their rows and of columns are frequent."""


def leaves(value: Json) -> Counter[str]:
    """Return how often each plain value occurs in a value. Names of columns do not count."""
    if isinstance(value, dict):
        parts = cast("dict[str, Json]", value)
        return sum((leaves(inner) for name, inner in parts.items() if name != "columns"), Counter[str]())
    if isinstance(value, list):
        return sum((leaves(inner) for inner in cast("list[Json]", value)), Counter[str]())
    return Counter([repr(value)])
