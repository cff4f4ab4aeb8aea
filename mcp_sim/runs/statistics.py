"""Statistics of passed and failed runs.

All intervals are two-sided. Sample sizes are those of a two-sided test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, comb, sqrt
from statistics import NormalDist, fmean

from mcp_sim.types.frozen import frozen

CONFIDENCE = 0.95
POWER = 0.8
_BISECTIONS = 60


@frozen
class Interval:
    """A confidence interval."""

    low: float
    high: float


def wilson(passes: int, runs: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a pass rate, by E. B. Wilson (1927). Without runs it is 0 to 1."""
    if runs == 0:
        return Interval(0.0, 1.0)
    z, rate = _z(confidence), passes / runs
    centre = rate + z * z / (2 * runs)
    margin = z * sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    low, high = (centre - margin) / scale, (centre + margin) / scale
    return Interval(0.0 if passes == 0 else low, 1.0 if passes == runs else high)


def pass_hat(k: int, tasks: Iterable[tuple[int, int]]) -> float | None:
    """Return pass^k, the probability that k runs of a task all pass, as estimated without bias by tau-bench.

    Each task is `(passes, runs)`. Tasks with fewer than k runs are left out; None if no task is left.
    """
    shares = [comb(passes, k) / comb(runs, k) for passes, runs in tasks if runs >= k]
    return fmean(shares) if shares else None


@frozen
class Pairs:
    """Pairs of runs, with and without faults: how many passed both, only one, or none."""

    both: int = 0
    only_clean: int = 0
    only_faulted: int = 0
    neither: int = 0

    @classmethod
    def count(cls, pairs: Iterable[tuple[bool, bool]]) -> Pairs:
        """Count pairs of (passed without faults, passed with faults)."""
        found = list(pairs)
        return cls(*(found.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def total(self) -> int:
        return self.both + self.only_clean + self.only_faulted + self.neither

    @property
    def cost(self) -> float:
        """The pass rate without faults minus the pass rate with them."""
        return (self.only_clean - self.only_faulted) / self.total if self.total else 0.0


def mcnemar(pairs: Pairs) -> float:
    """Return the two-sided p-value of McNemar's exact test: 1 if no pair differs."""
    fewer, differing = min(pairs.only_clean, pairs.only_faulted), pairs.only_clean + pairs.only_faulted
    tail, term = 0, 1
    for k in range(fewer + 1):
        tail += term
        term = term * (differing - k) // (k + 1)  # comb(differing, k + 1)
    return min(1.0, tail / 2 ** (differing - 1)) if differing else 1.0


def paired_interval(pairs: Pairs, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval of the cost, by T. Tango (1998). Without pairs it is -1 to 1."""
    if pairs.total == 0:
        return Interval(-1.0, 1.0)
    z = _z(confidence)
    low = -1.0 if pairs.cost == -1 else _root(lambda cost: _score(pairs, cost) - z, -1.0, pairs.cost)
    high = 1.0 if pairs.cost == 1 else _root(lambda cost: _score(pairs, cost) + z, pairs.cost, 1.0)
    return Interval(low, high)


def _score(pairs: Pairs, cost: float) -> float:
    """Return Tango's statistic for a cost. It falls as the cost grows."""
    n, b, c = pairs.total, pairs.only_clean, pairs.only_faulted
    linear, constant = (2 * n - b + c) * cost - b - c, -c * cost * (1 - cost)
    likeliest = (sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * likeliest + cost * (1 - cost))
    difference = b - c - n * cost
    if variance <= 0:
        return 0.0 if difference == 0 else float("inf") if difference > 0 else float("-inf")
    return difference / sqrt(variance)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses zero, by bisection."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def runs_needed(first: float, second: float, power: float = POWER, confidence: float = CONFIDENCE) -> int | None:
    """Return how many runs of each of two agents show that their pass rates differ, None if the rates are equal.

    By J. L. Fleiss (Statistical Methods for Rates and Proportions), without correction for continuity.
    """
    if first == second:
        return None
    mean = (first + second) / 2
    spread = _z(confidence) * sqrt(2 * mean * (1 - mean))
    spread += NormalDist().inv_cdf(power) * sqrt(first * (1 - first) + second * (1 - second))
    return ceil((spread / (first - second)) ** 2)


def pairs_needed(cost: float, differing: float, power: float = POWER, confidence: float = CONFIDENCE) -> int | None:
    """Return how many pairs show a cost, None for no cost. `differing` is the share of pairs that differ.

    By R. J. Connor (1987). A share smaller than the cost is impossible, and raised to it.
    """
    if cost == 0:
        return None
    share = max(differing, abs(cost))
    spread = _z(confidence) * sqrt(share) + NormalDist().inv_cdf(power) * sqrt(share - cost * cost)
    return ceil((spread / cost) ** 2)


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
