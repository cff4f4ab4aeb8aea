"""The clock of a world. Nothing else in mcp-sim reads the time."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

Mode = Literal["virtual", "real"]

DEFAULT_NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)
"""The start of a world's time unless the scenario says otherwise: never the machine's date."""

LONGEST = timedelta(days=36_525)
"""The longest time of a world, a century. Then its clock stops, before any calendar ends."""

_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)", re.ASCII)


class Clock:
    """The time of a world. `elapsed` never decreases."""

    mode: Mode

    def __init__(self, start: datetime, elapsed: timedelta = timedelta(0)) -> None:
        self.start = start
        self._elapsed = elapsed

    def elapsed(self) -> timedelta:
        """Return the world time since the world's start."""
        return self._elapsed

    def advance(self, span: timedelta) -> None:
        """Let world time pass. Only a virtual clock can be moved; a real one moves by itself."""

    def wait_seconds(self, span: timedelta) -> float:
        """Return how many real seconds a client has to wait for `span` of world time."""
        return 0.0

    def resumed(self, elapsed: timedelta, away: float) -> Self:
        """Return a clock that was saved at `elapsed`, `away` real seconds ago."""
        return type(self)(self.start, elapsed)

    def fork(self) -> Self:
        """Return a clock with the same time that moves on its own."""
        return self.resumed(self.elapsed(), 0.0)

    def restarted(self) -> Self:
        """Return a clock at the world's start."""
        return self.resumed(timedelta(0), 0.0)


class VirtualClock(Clock):
    """A clock that moves only by `advance` and never sleeps."""

    mode = "virtual"

    def advance(self, span: timedelta) -> None:
        self._elapsed = min(self._elapsed + span, LONGEST)


class RealClock(Clock):
    """A clock that moves `speed` times as fast as real time."""

    mode = "real"

    def __init__(self, start: datetime, speed: float = 1.0, elapsed: timedelta = timedelta(0)) -> None:
        super().__init__(start, elapsed)
        self.speed = speed
        self._opened = time.monotonic()

    def elapsed(self) -> timedelta:
        seconds = (time.monotonic() - self._opened) * self.speed
        return min(self._elapsed + timedelta(seconds=min(seconds, LONGEST.total_seconds())), LONGEST)

    def wait_seconds(self, span: timedelta) -> float:
        return span.total_seconds() / self.speed

    def resumed(self, elapsed: timedelta, away: float) -> Self:
        return type(self)(self.start, self.speed, elapsed + timedelta(seconds=max(0.0, away) * self.speed))


def stopwatch() -> float:
    """Return real seconds, for what is measured beside a step, never for its content."""
    return time.perf_counter()


def wall_seconds() -> float:
    """Return real seconds that continue between processes: how long a world was saved. Never for a step's content."""
    return time.time()


def duration(text: str) -> timedelta:
    """Read a duration: `250ms`, `30s`, `5m`, `2h`, `1d`. Raises `ValueError` on anything else, also on bare numbers."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a duration; write 250ms, 30s, 5m, 2h or 1d")
    micros = float(match[1]) * _UNITS[match[2]]
    if micros > LONGEST / timedelta(microseconds=1):
        raise ValueError(f"{text!r} is longer than any world lasts: {LONGEST.days}d")
    return timedelta(microseconds=micros)


def iso(moment: datetime) -> str:
    """Return RFC 3339 in UTC with `Z`, with a fraction only if there is one."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    text = utc.isoformat()[: 26 if utc.microsecond else 19]
    return f"{text.rstrip('0')}Z" if utc.microsecond else f"{text}Z"


def iso_seconds(moment: datetime) -> str:
    """Return RFC 3339 in UTC with `Z`, cut to whole seconds."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.isoformat(timespec='seconds')[:19]}Z"
