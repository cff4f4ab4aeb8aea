"""Operations on lists of numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from mcp_sim.backends.arithmetic.numbers import PRECISION, RESULTS, computation
from mcp_sim.backends.compute.operation import LIST, Operation, phrases, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json

Numbers = list[float]


def _of_list(name: str, known_as: str, compute: Callable[[Any], Json], *places: str) -> Operation:
    roles = (role("numbers", LIST, "values, data, nums, list, array, items, dataset, samples"), PRECISION)
    return Operation(
        name, phrases(known_as), roles, computation(lambda g: compute(_all(g["numbers"]))), (*RESULTS, *places)
    )


def _all(values: Sequence[Json]) -> Numbers:
    """Return the numbers of a list. Raises `Refused` if it is empty or has other items."""
    if not values:
        raise Refused("invalid", "Cannot compute on an empty list: at least one number is required")
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Refused("invalid", f"All elements must be numbers; got {value!r}")
    return list(values)


def _mean(numbers: Numbers) -> float:
    return math.fsum(numbers) / len(numbers)


def _median(numbers: Numbers) -> float:
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _mode(numbers: Numbers) -> float:
    return Counter(numbers).most_common(1)[0][0]


def _variance(numbers: Numbers, *, sample: bool = False) -> float:
    if sample and len(numbers) < 2:
        raise Refused("invalid", "At least two numbers are required")
    mean = _mean(numbers)
    return math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - sample)


def _statistics(numbers: Numbers) -> Json:
    mean, variance = _mean(numbers), _variance(numbers)
    return {
        "count": len(numbers),
        "sum": math.fsum(numbers),
        "mean": mean,
        "median": _median(numbers),
        "min": min(numbers),
        "max": max(numbers),
        "std_dev": math.sqrt(variance),
        "variance": variance,
    }


OPERATIONS: tuple[Operation, ...] = (
    _of_list("sum", "sum, sum_all, total, add, add_up", math.fsum, "sum", "total"),
    _of_list("product", "product, multiply", math.prod, "product"),
    _of_list("mean", "mean, average, avg, arithmetic_mean", _mean, "mean", "average"),
    _of_list("median", "median", _median, "median"),
    _of_list("mode", "mode", _mode, "mode"),
    _of_list("minimum", "min, minimum, smallest, lowest", min, "min", "minimum"),
    _of_list("maximum", "max, maximum, largest, highest", max, "max", "maximum"),
    _of_list("range", "range", lambda n: max(n) - min(n), "range"),
    _of_list("variance", "variance, population_variance", _variance, "variance"),
    _of_list("sample_variance", "sample_variance", lambda n: _variance(n, sample=True), "variance"),
    _of_list(
        "standard_deviation",
        "standard_deviation, std, stddev, std_dev, stdev, population_standard_deviation",
        lambda n: math.sqrt(_variance(n)),
        "std_dev",
        "standard_deviation",
    ),
    _of_list(
        "sample_standard_deviation",
        "sample_standard_deviation",
        lambda n: math.sqrt(_variance(n, sample=True)),
        "std_dev",
        "standard_deviation",
    ),
    _of_list("sorted", "sort, sorted", sorted, "sorted"),
    _of_list("statistics", "statistics, stats, descriptive_statistics, summary_statistics, describe", _statistics),
)
