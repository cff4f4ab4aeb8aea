"""Has a world come to a point in its life: a duration since its start, so many calls, a time of its calendar?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

from mcp_sim.options import Span
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


def is_at_start(point: Span | datetime, start: datetime) -> bool:
    """Has every world come to the point when it begins?"""
    if isinstance(point, datetime):
        return point <= start
    return not (point.calls or point.time)


def never_between(begin: Span | datetime, end: Span | datetime, start: datetime) -> bool:
    """Is the end of a stretch not after its beginning? Calls and times cannot be compared."""
    if _calls(begin) is not None or _calls(end) is not None:
        first, last = _calls(begin), _calls(end)
        return first is not None and last is not None and last <= first
    return _moment(end, start) <= _moment(begin, start)


def _calls(point: Span | datetime) -> int | None:
    return None if isinstance(point, datetime) else point.calls


def _moment(point: Span | datetime, start: datetime) -> datetime:
    return point if isinstance(point, datetime) else start + (point.time or timedelta(0))
