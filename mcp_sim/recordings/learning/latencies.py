"""Learn how long tools take: the median of recorded times, and how far they spread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median, pstdev

from mcp_sim.spec.sessions import Session
from mcp_sim.types import Record

_FEWEST = 3
"""How many calls of a tool must have recorded times."""
_SHORTEST = 1.0
"""In milliseconds. Shorter times are noise of the recording."""
_SIGMAS = (0.05, 3.0)
"""Below, a spread is not worth a declaration; above, a few calls waited for something that is not the tool."""
_UNLIKE = log(3)
"""How far the logarithm of the median of a session may be from that of all others."""


def learnt_latencies(sessions: Sequence[Session]) -> dict[str, Record]:
    """Return how long each tool takes, as a spec declares it; nothing of tools whose sessions disagree."""
    latencies = {tool: _latency(times) for tool, times in _times(sessions).items() if _agree(times)}
    return {tool: latency for tool, latency in latencies.items() if latency}


def _times(sessions: Sequence[Session]) -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the logarithms of the milliseconds that the calls of each tool took, by session.

    Calls that overlapped others waited for them, too.
    """
    by_tool = defaultdict[str, list[list[float]]](list)
    for session in sessions:
        times_by_tool = defaultdict[str, list[float]](list)
        for call in session.calls:
            taken = call.line.get("ms")
            if isinstance(taken, int | float) and not isinstance(taken, bool) and not call.line.get("overlaps"):
                times_by_tool[call.tool].append(log(max(_SHORTEST, taken)))
        for tool, times in times_by_tool.items():
            by_tool[tool].append(times)
    return by_tool


def _agree(times: Sequence[Sequence[float]]) -> bool:
    """Whether each session, held back, takes about as long as the others show. A single one is halved."""
    parts = times if len(times) > 1 else [times[0][::2], times[0][1::2]]
    rest = [[time for other in parts if other is not held_back for time in other] for held_back in parts]
    return all(
        not held_back or not others or abs(median(held_back) - median(others)) <= _UNLIKE
        for held_back, others in zip(parts, rest, strict=True)
    )


def _latency(times: Sequence[Sequence[float]]) -> Record:
    every = [number for time in times for number in time]
    usual = round(exp(median(every)))
    if len(every) < _FEWEST or usual <= _SHORTEST:
        return {}
    low, high = _SIGMAS
    return {"median": f"{usual}ms", "sigma": round(min(high, max(low, pstdev(every))), 2)}
