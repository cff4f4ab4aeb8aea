"""Has a world come to a point in its life: a duration since its start, so many calls, a time of its calendar?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

from mcp_sim.options import Span
from mcp_sim.stretches import Stretch
from mcp_sim.types import Turn

Reached: TypeAlias = Callable[[Turn], bool]


def reached(point: Span | datetime) -> Reached:
    """True from the point on. Of calls, those count that the world had before: `5 calls` is reached by the sixth."""
    if isinstance(point, datetime):
        return lambda turn: turn.now >= point
    if point.calls is not None:
        calls = point.calls
        return lambda turn: turn.index > calls
    time = point.time or timedelta(0)
    return lambda turn: turn.now - turn.start >= time


def since(point: Span | datetime, start: datetime) -> Stretch:
    """The part of a world's life that begins at a point."""
    if isinstance(point, Span) and point.calls is not None:
        return Stretch(after=point.calls)
    return Stretch(begin=_moment(point, start))


def before(point: Span | datetime, start: datetime) -> Stretch:
    """The part of a world's life that ends at a point."""
    if isinstance(point, Span) and point.calls is not None:
        return Stretch(last=point.calls)
    return Stretch(end=_moment(point, start))


def _moment(point: Span | datetime, start: datetime) -> datetime:
    return point if isinstance(point, datetime) else start + (point.time or timedelta(0))
