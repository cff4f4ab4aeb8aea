"""Frozen dataclasses behave as those of the standard library, but for assignments at run time."""

from __future__ import annotations

from dataclasses import field

import pytest

from mcp_sim.types.frozen import frozen


@frozen
class Point:
    x: int
    y: float = 0.0
    note: str = field(default="", compare=False, repr=False)


@frozen
class Place(Point):
    """A point with a name."""

    name: str = ""


@frozen
class Single:
    value: tuple[object, ...]


@frozen
class Nothing: ...


@frozen
class Named:
    name: str
    rank: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


@pytest.mark.parametrize(
    ("value", "equal", "other", "text"),
    [
        (Point(1, 2.0, "a"), Point(1, 2.0, "b"), Point(2, 2.0, "a"), "Point(x=1, y=2.0)"),
        (Place(1, name="a"), Place(1, note="b", name="a"), Point(1), "Place(x=1, y=0.0, name='a')"),
        (Single((1,)), Single((1,)), Single(()), "Single(value=(1,))"),
        (Nothing(), Nothing(), Single(()), "Nothing()"),
        (Named("a", 1), Named("a", 2), Named("b", 1), "a"),
    ],
)
def test_values_are_compared_hashed_and_shown_by_their_fields(
    value: object, equal: object, other: object, text: str
) -> None:
    assert value == equal
    assert hash(value) == hash(equal)
    assert value != other
    assert other != value
    assert repr(value) == text


def test_a_value_within_itself_is_shown_once() -> None:
    inner: list[object] = []
    value = Single((inner,))
    inner.append(value)
    assert repr(value) == "Single(value=([...],))"
