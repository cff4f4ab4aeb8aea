"""The clock: bounded, so that no scenario reaches the end of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mcp_sim.types.clock import LONGEST, RealClock, VirtualClock, duration

LAST_START = datetime(2999, 12, 31, 23, 59, 59, tzinfo=UTC)


def test_a_clock_stops_at_the_longest_time_of_a_world() -> None:
    clock = VirtualClock(LAST_START)
    for _ in range(3):
        clock.advance(timedelta(days=30_000))
    assert clock.elapsed() == LONGEST
    assert RealClock(LAST_START, speed=1e300).elapsed() == LONGEST
    assert clock.start + clock.elapsed() < datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["36526d", "999999999999999999999d", f"{'9' * 400}d", "5", "-5s", "5 s", "١s", ""])
def test_an_invalid_or_too_long_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|longer than any world lasts"):
        duration(text)
