"""Time bounds: the part of a world's life, and the calls by number, in which a trigger can hold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import lcm
from typing import Final, TypeAlias

from mcp_sim.types import Turn
from mcp_sim.types.options import Span

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)
UNLIMITED: Final = sys.maxsize
MOST_TRIED: Final = 10_000


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """From `begin` on and before `end`; later than `after` calls of the world, and not later than its `last`."""

    begin: datetime = EARLIEST
    end: datetime = LATEST
    after: int = 0
    last: int = UNLIMITED

    @property
    def calls(self) -> int:
        """How many calls there are in it at most."""
        return max(0, self.last - self.after)

    @property
    def is_empty(self) -> bool:
        return self.end <= self.begin or not self.calls

    @property
    def outside(self) -> TimeBounds:
        """What is outside of it; everything where that is not one stretch."""
        sides = (
            (self.begin != EARLIEST, TimeBounds(end=self.begin)),
            (self.end != LATEST, TimeBounds(begin=self.end)),
            (self.after > 0, TimeBounds(last=self.after)),
            (self.last != UNLIMITED, TimeBounds(after=self.last)),
        )
        outside = [outside for is_bound, outside in sides if is_bound]
        return outside[0] if len(outside) == 1 else TimeBounds()


def intersection(stretches: Iterable[TimeBounds]) -> TimeBounds:
    """What several have in common."""
    whole = [TimeBounds(), *stretches]
    return TimeBounds(
        max(one.begin for one in whole),
        min(one.end for one in whole),
        max(one.after for one in whole),
        min(one.last for one in whole),
    )


@dataclass(frozen=True, slots=True)
class CallNumbers:
    """Numbers of calls, from 1: those `listed`, in ascending order; with a `period`, again after every so many."""

    listed: Sequence[int]
    period: int | None = None

    def __contains__(self, number: int) -> bool:
        return (number if self.period is None else (number - 1) % self.period + 1) in self.listed


def are_disjoint(several: Sequence[CallNumbers]) -> bool:
    """Is there no number that all of them have? False also where that takes too long to find out."""
    ends = [call_numbers.listed for call_numbers in several if call_numbers.period is None]
    again = lcm(*(call_numbers.period or 1 for call_numbers in several))
    tried = min(ends, key=lambda listed: listed[-1], default=range(1, again + 1))
    looked_at = list(islice(tried, MOST_TRIED + 1))
    return len(looked_at) <= MOST_TRIED and not any(
        all(n in call_numbers for call_numbers in several) for n in looked_at
    )


TurnTest: TypeAlias = Callable[[Turn], bool]


def reached_test(point: Span | datetime) -> TurnTest:
    """True from the point on. Of calls, those count that the world had before: `5 calls` is reached by the sixth."""
    if isinstance(point, datetime):
        return lambda turn: turn.now >= point
    if point.calls is not None:
        calls = point.calls
        return lambda turn: turn.index > calls
    time = point.time or timedelta(0)
    return lambda turn: turn.now - turn.start >= time


def bounds_from(point: Span | datetime, start: datetime) -> TimeBounds:
    """The part of a world's life that begins at a point."""
    if isinstance(point, Span) and point.calls is not None:
        return TimeBounds(after=point.calls)
    return TimeBounds(begin=_moment(point, start))


def bounds_until(point: Span | datetime, start: datetime) -> TimeBounds:
    """The part of a world's life that ends at a point."""
    if isinstance(point, Span) and point.calls is not None:
        return TimeBounds(last=point.calls)
    return TimeBounds(end=_moment(point, start))


def _moment(point: Span | datetime, start: datetime) -> datetime:
    return point if isinstance(point, datetime) else start + (point.time or timedelta(0))
