"""Time bounds: the time of a world, and the numbers of its calls, within which a trigger can hold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import lcm
from typing import Final, TypeAlias

from mcp_sim.types import Turn
from mcp_sim.types.frozen import frozen
from mcp_sim.types.options import Span

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)
UNLIMITED: Final = sys.maxsize
MOST_TRIED: Final = 10_000
"""The most numbers that `are_disjoint` tries. Periods that have no common divisor repeat together only after their
product."""


@frozen
class TimeBounds:
    """From the time `begin` on and before `end`; after the world's first `after` calls, and until its call `last`."""

    begin: datetime = EARLIEST
    end: datetime = LATEST
    after: int = 0
    last: int = UNLIMITED

    @property
    def calls(self) -> int:
        """The most calls within the bounds."""
        return max(0, self.last - self.after)

    @property
    def is_empty(self) -> bool:
        return self.end <= self.begin or not self.calls

    @property
    def outside(self) -> TimeBounds:
        """The bounds of what is outside; everything, if that is not one range."""
        sides = (
            (self.begin != EARLIEST, TimeBounds(end=self.begin)),
            (self.end != LATEST, TimeBounds(begin=self.end)),
            (self.after > 0, TimeBounds(last=self.after)),
            (self.last != UNLIMITED, TimeBounds(after=self.last)),
        )
        outside = [outside for is_bound, outside in sides if is_bound]
        return outside[0] if len(outside) == 1 else TimeBounds()


def intersection(several: Iterable[TimeBounds]) -> TimeBounds:
    """Return the bounds that lie within all of these."""
    whole = [TimeBounds(), *several]
    return TimeBounds(
        max(bounds.begin for bounds in whole),
        min(bounds.end for bounds in whole),
        max(bounds.after for bounds in whole),
        min(bounds.last for bounds in whole),
    )


@frozen
class CallNumbers:
    """Numbers of calls, from 1: those `listed`, in ascending order; with a `period`, again after each period."""

    listed: Sequence[int]
    period: int | None = None

    def __contains__(self, number: int) -> bool:
        return (number if self.period is None else (number - 1) % self.period + 1) in self.listed


def are_disjoint(several: Sequence[CallNumbers]) -> bool:
    """Whether no number is in all of these. False also if it takes too long to find out."""
    ends = [numbers.listed for numbers in several if numbers.period is None]
    again = lcm(*(numbers.period or 1 for numbers in several))
    tried = min(ends, key=lambda listed: listed[-1], default=range(1, again + 1))
    looked_at = list(islice(tried, MOST_TRIED + 1))
    return len(looked_at) <= MOST_TRIED and not any(
        all(n in call_numbers for call_numbers in several) for n in looked_at
    )


TurnTest: TypeAlias = Callable[[Turn], bool]
"""A condition on a turn."""


def reached_test(point: Span | datetime) -> TurnTest:
    """Return a test that holds from the point on. A point of `5 calls` is reached by the world's sixth call."""
    if isinstance(point, datetime):
        return lambda turn: turn.now >= point
    if point.calls is not None:
        calls = point.calls
        return lambda turn: turn.index > calls
    time = point.time or timedelta(0)
    return lambda turn: turn.now - turn.start >= time


def bounds_from(point: Span | datetime, start: datetime) -> TimeBounds:
    """Return the bounds that begin at a point, in a world that begins at `start`."""
    if isinstance(point, Span) and point.calls is not None:
        return TimeBounds(after=point.calls)
    return TimeBounds(begin=_moment(point, start))


def bounds_until(point: Span | datetime, start: datetime) -> TimeBounds:
    """Return the bounds that end at a point, in a world that begins at `start`."""
    if isinstance(point, Span) and point.calls is not None:
        return TimeBounds(last=point.calls)
    return TimeBounds(end=_moment(point, start))


def _moment(point: Span | datetime, start: datetime) -> datetime:
    return point if isinstance(point, datetime) else start + (point.time or timedelta(0))
