"""Functions of lists of numbers."""

from __future__ import annotations

import math
import statistics as exact
from collections.abc import Sequence

from mcp_sim.types import Json

Numbers = Sequence[float]


def mean(numbers: Numbers) -> float:
    """Return the arithmetic mean."""
    return exact.fmean(numbers)


def median(numbers: Numbers) -> float:
    """Return the median; the mean of the middle two if there is no middle one."""
    return exact.median(numbers)


def mode(numbers: Numbers) -> float:
    """Return the most frequent number, the first of several."""
    return exact.mode(numbers)


def value_range(numbers: Numbers) -> float:
    """Return the difference of the largest and the smallest number."""
    return max(numbers) - min(numbers)


def variance(numbers: Numbers) -> float:
    """Return the variance of a population."""
    return float(exact.pvariance(numbers))


def sample_variance(numbers: Numbers) -> float:
    """Return the variance of a sample. Raises `ValueError` for a single number."""
    return float(exact.variance(numbers))


def standard_deviation(numbers: Numbers) -> float:
    """Return the standard deviation of a population."""
    return exact.pstdev(numbers)


def sample_standard_deviation(numbers: Numbers) -> float:
    """Return the standard deviation of a sample. Raises `ValueError` for a single number."""
    return exact.stdev(numbers)


def statistics(numbers: Numbers) -> Json:
    """Return the usual statistics of a population by name."""
    return {
        "count": len(numbers),
        "sum": math.fsum(numbers),
        "mean": mean(numbers),
        "median": median(numbers),
        "min": min(numbers),
        "max": max(numbers),
        "std_dev": standard_deviation(numbers),
        "variance": variance(numbers),
    }
