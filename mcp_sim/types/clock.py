"""The time of a world. Nothing else in mcp-sim reads the time."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

Mode = Literal["virtual", "real"]

DEFAULT_NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)
"""Where a world's time starts unless the scenario says otherwise: never the machine's date."""

LONGEST = timedelta(days=36_525)
"""A world lasts a century; then its clock stands, before the calendar's end is reached anywhere."""

_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)", re.ASCII)


class Clock(Protocol):
    """Tells a world its time. `elapsed` never goes back."""

    mode: Mode
    start: datetime

    def elapsed(self) -> timedelta:
        """World time since the world's start."""
        ...

    def advance(self, span: timedelta) -> None:
        """Let world time pass; only the virtual clock can be moved, the real one moves by itself."""
        ...

    def wait_seconds(self, span: timedelta) -> float:
        """How many real seconds a client has to wait for `span` of world time."""
        ...

    def fork(self) -> Clock:
        """A clock that stands where this one stands and moves on its own."""
        ...

    def restarted(self) -> Clock:
        """A clock that stands at the world's start."""
        ...

    def resumed(self, elapsed: timedelta, away: float) -> Clock:
        """A clock that stood at `elapsed` when it was put away, `away` real seconds ago."""
        ...


class VirtualClock:
    """Moves when told to, never sleeps."""

    mode: Mode = "virtual"

    def __init__(self, start: datetime, elapsed: timedelta = timedelta(0)) -> None:
        self.start = start
        self._elapsed = elapsed

    def elapsed(self) -> timedelta:
        return self._elapsed

    def advance(self, span: timedelta) -> None:
        self._elapsed = min(self._elapsed + span, LONGEST)

    def wait_seconds(self, span: timedelta) -> float:
        return 0.0

    def fork(self) -> VirtualClock:
        return VirtualClock(self.start, self._elapsed)

    def restarted(self) -> VirtualClock:
        return VirtualClock(self.start)

    def resumed(self, elapsed: timedelta, away: float) -> VirtualClock:
        return VirtualClock(self.start, elapsed)


class RealClock:
    """Elapsed real time counts, `speed` times as fast."""

    mode: Mode = "real"

    def __init__(self, start: datetime, speed: float = 1.0, elapsed: timedelta = timedelta(0)) -> None:
        self.start = start
        self.speed = speed
        self._before = elapsed
        self._opened = time.monotonic()

    def elapsed(self) -> timedelta:
        seconds = (time.monotonic() - self._opened) * self.speed
        return min(self._before + timedelta(seconds=min(seconds, LONGEST.total_seconds())), LONGEST)

    def advance(self, span: timedelta) -> None:
        return

    def wait_seconds(self, span: timedelta) -> float:
        return span.total_seconds() / self.speed

    def fork(self) -> RealClock:
        return RealClock(self.start, self.speed, self.elapsed())

    def restarted(self) -> RealClock:
        return RealClock(self.start, self.speed)

    def resumed(self, elapsed: timedelta, away: float) -> RealClock:
        return RealClock(self.start, self.speed, elapsed + timedelta(seconds=max(0.0, away) * self.speed))


def stopwatch() -> float:
    """Real seconds, for what is measured beside a step; never for what is in it."""
    return time.perf_counter()


def wall_seconds() -> float:
    """Real seconds that go on between processes, for how long a world was put away; never for what is in it."""
    return time.time()


def duration(text: str) -> timedelta:
    """`250ms`, `30s`, `5m`, `2h`, `1d` as a span; raises ValueError on anything else, bare numbers included."""
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a duration; write 250ms, 30s, 5m, 2h or 1d")
    micros = float(found[1]) * _UNITS[found[2]]
    if micros > LONGEST / timedelta(microseconds=1):
        raise ValueError(f"{text!r} is longer than any world lasts: {LONGEST.days}d")
    return timedelta(microseconds=micros)


def iso(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`; fractions only where there are any."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    text = utc.isoformat()[: 26 if utc.microsecond else 19]
    return f"{text.rstrip('0')}Z" if utc.microsecond else f"{text}Z"


def iso_seconds(moment: datetime) -> str:
    """The same without fractions, whatever is left of the second."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.isoformat(timespec='seconds')[:19]}Z"
