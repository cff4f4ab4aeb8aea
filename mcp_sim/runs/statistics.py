"""Statistics of passed and failed runs.

All intervals are two-sided. Sample sizes are those of a two-sided test.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import ceil, comb, sqrt
from random import Random
from statistics import NormalDist, correlation, fmean, quantiles

from mcp_sim.types.frozen import frozen

CONFIDENCE = 0.95  # the usual level
POWER = 0.8  # the usual power for sample sizes
_RESAMPLES = 1000  # enough for two digits of a 95 % interval
_BISECTIONS = 60  # halves an interval of doubles to their precision


@frozen
class Interval:
    """A confidence interval."""

    low: float
    high: float


def wilson(passes: float, runs: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of a pass rate, by E. B. Wilson (1927). Without runs it is 0 to 1."""
    if runs == 0:
        return Interval(0.0, 1.0)
    z, rate = _z(confidence), passes / runs
    centre = rate + z * z / (2 * runs)
    margin = z * sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    low, high = (centre - margin) / scale, (centre + margin) / scale
    return Interval(0.0 if passes == 0 else low, 1.0 if passes == runs else high)


def newcombe(first: tuple[float, float], second: tuple[float, float]) -> Interval:
    """Return the interval of the first pass rate minus the second, by R. G. Newcombe (1998), his method 10.

    Each is `(passes, runs)`. If one has no runs, it is as wide as what that rate may be.
    """
    rates = [passes / runs if runs else 0.5 for passes, runs in (first, second)]
    (low, high), (other_low, other_high) = (
        (interval.low, interval.high) for interval in (wilson(*first), wilson(*second))
    )
    difference = rates[0] - rates[1]
    below = sqrt((rates[0] - low) ** 2 + (other_high - rates[1]) ** 2)
    above = sqrt((high - rates[0]) ** 2 + (rates[1] - other_low) ** 2)
    return Interval(difference - below, difference + above)


def pass_hat(k: int, tasks: Iterable[tuple[int, int]]) -> float | None:
    """Return pass^k, the probability that k runs of a task all pass, as estimated without bias by tau-bench.

    Each task is `(passes, runs)`. Tasks with fewer than k runs are left out; None if no task is left.
    """
    shares = [comb(passes, k) / comb(runs, k) for passes, runs in tasks if runs >= k]
    return fmean(shares) if shares else None


@frozen
class Pairs:
    """Pairs of runs: in how many both passed, only the first, only the second, or neither.

    The first is the run without faults, or that of the earlier report. Numbers of a projection may be fractions.
    """

    both: float = 0
    only_first: float = 0
    only_second: float = 0
    neither: float = 0

    @classmethod
    def count(cls, pairs: Iterable[tuple[bool, bool]]) -> Pairs:
        """Count pairs of (the first passed, the second passed)."""
        counts = Counter(pairs)
        return cls(*(counts[kind] for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def total(self) -> float:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """The pass rate of the first runs minus that of the second."""
        return (self.only_first - self.only_second) / self.total if self.total else 0.0


def mcnemar(pairs: Pairs) -> float:
    """Return the two-sided p-value of McNemar's exact test: 1 if no pair differs."""
    counts = int(pairs.only_first), int(pairs.only_second)
    fewer, differing = min(counts), sum(counts)
    tail, term = 0, 1
    for k in range(fewer + 1):
        tail += term
        term = term * (differing - k) // (k + 1)  # comb(differing, k + 1)
    return min(1.0, tail / 2 ** (differing - 1)) if differing else 1.0


def paired_interval(pairs: Pairs, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval of the difference, by T. Tango (1998). Without pairs it is -1 to 1."""
    if pairs.total == 0:
        return Interval(-1.0, 1.0)
    z = _z(confidence)
    low = (
        -1.0
        if pairs.difference == -1
        else _root(lambda difference: _score(pairs, difference) - z, -1.0, pairs.difference)
    )
    high = (
        1.0 if pairs.difference == 1 else _root(lambda difference: _score(pairs, difference) + z, pairs.difference, 1.0)
    )
    return Interval(low, high)


def _score(pairs: Pairs, difference: float) -> float:
    """Return Tango's statistic for a difference. It falls as the difference grows."""
    n, b, c = pairs.total, pairs.only_first, pairs.only_second
    linear, constant = (2 * n - b + c) * difference - b - c, -c * difference * (1 - difference)
    likeliest = (sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * likeliest + difference * (1 - difference))
    deviation = b - c - n * difference
    if variance <= 0:
        return 0.0 if deviation == 0 else float("inf") if deviation > 0 else float("-inf")
    return deviation / sqrt(variance)


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


# agreement of ranks ---------------------------------------------------------------------------------------------------


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, with mean ranks for ties; None if a side ranks nothing."""
    if len(first) < 2 or len({*first}) == 1 or len({*second}) == 1:
        return None
    return correlation(_ranks(first), _ranks(second))


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [
        bisect_left(ordered, value) + (bisect_right(ordered, value) - bisect_left(ordered, value) + 1) / 2
        for value in values
    ]


def spearman_interval(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> Interval | None:
    """Return the percentile bootstrap of Spearman's rho. Rows are agents, columns the fault streams that both met.

    Agents and streams are drawn again. None if more than half of the draws rank nothing.
    """
    random, rhos = Random(0), list[float]()  # noqa: S311 (chance, not a secret)
    agents, streams = range(len(first)), range(len(first[0]))
    for _ in range(_RESAMPLES):
        rows, columns = random.choices(agents, k=len(agents)), random.choices(streams, k=len(streams))
        means = ([fmean(side[row][column] for column in columns) for row in rows] for side in (first, second))
        rho = spearman(*means)
        rhos += [] if rho is None else [rho]
    if len(rhos) < _RESAMPLES / 2:
        return None
    low, *_, high = quantiles(rhos, n=40, method="inclusive")  # the 2.5th and 97.5th percentiles
    return Interval(low, high)
