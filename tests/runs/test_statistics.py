"""Statistics of runs, against published tables and the results of other programs."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.runs.statistics import (
    Interval,
    Pairs,
    mcnemar,
    paired_interval,
    pairs_needed,
    pass_hat,
    runs_needed,
    wilson,
)

COUNTS = st.integers(0, 40)
PAIRS = st.builds(Pairs, COUNTS, COUNTS, COUNTS, COUNTS)


def rounded(interval: Interval, digits: int = 4) -> tuple[float, float]:
    return round(interval.low, digits), round(interval.high, digits)


@pytest.mark.parametrize(
    ("passes", "runs", "expected"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_agrees_with_table_i_of_newcombe_1998(passes: int, runs: int, expected: tuple[float, float]) -> None:
    assert rounded(wilson(passes, runs)) == expected
    assert rounded(wilson(runs - passes, runs)) == (round(1 - expected[1], 4), round(1 - expected[0], 4))


def test_wilson_without_runs_excludes_nothing() -> None:
    assert wilson(0, 0) == Interval(0, 1)


@pytest.mark.parametrize(
    ("k", "tasks", "expected"),
    [(1, [(3, 4), (0, 4)], 0.375), (2, [(3, 4)], 0.5), (4, [(3, 4), (4, 4)], 0.5), (3, [(2, 2)], None), (1, [], None)],
)
def test_pass_hat_k_is_the_share_of_choices_of_k_runs_that_all_passed(
    k: int, tasks: list[tuple[int, int]], expected: float | None
) -> None:
    assert pass_hat(k, tasks) == expected


@given(passes=st.integers(0, 12), failures=st.integers(0, 12))
def test_pass_hat_falls_as_k_grows(passes: int, failures: int) -> None:
    runs = passes + failures
    found = [pass_hat(k, [(passes, runs)]) for k in range(1, runs + 1)]
    assert found == sorted(found, key=lambda value: -(value or 0))
    assert all(value is not None and 0 <= value <= 1 for value in found)


@pytest.mark.parametrize(
    ("clean", "faulted", "p"),
    [(121, 59, 0.000004), (70, 59, 0.378688), (80, 59, 0.089452), (30, 60, 0.00206), (10, 30, 0.002221), (10, 10, 1.0)],
)
def test_mcnemar_agrees_with_vassar_college_as_statsmodels_tests_do(clean: int, faulted: int, p: float) -> None:
    assert mcnemar(Pairs(101, clean, faulted, 33)) == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize("fewer", [0, 1, 7, 460, 499])
def test_mcnemar_adds_up_the_binomial_distribution(fewer: int) -> None:
    exact = Fraction(sum(comb(fewer + 500, k) for k in range(fewer + 1)), 2 ** (fewer + 499))
    assert mcnemar(Pairs(1, 500, fewer, 1)) == float(exact)


def test_mcnemar_of_many_pairs_agrees_with_the_normal_distribution() -> None:
    expected = 2 * NormalDist().cdf(-(5_200 - 5_000 - 1) / 10_200**0.5)
    assert mcnemar(Pairs(1, 5_200, 5_000, 1)) == pytest.approx(expected, rel=1e-3)


def test_mcnemar_finds_nothing_where_no_pair_differs() -> None:
    assert mcnemar(Pairs(5, 0, 0, 5)) == 1


@pytest.mark.parametrize(
    ("pairs", "confidence", "expected"),
    [
        (Pairs(1, 1, 7, 12), 0.95, (-0.517, -0.026)),  # Fagerland et al., Statistical Analysis of Contingency Tables
        (Pairs(565, 28, 25, 0), 0.9, (-0.0148, 0.0247)),  # R: PropCIs::scoreci.mp(25, 28, 618, 0.9)
        (Pairs(20, 0, 0, 0), 0.95, (-0.1611, 0.1611)),  # z^2 / (n + z^2)
    ],
)
def test_the_interval_of_a_cost_is_tangos(pairs: Pairs, confidence: float, expected: tuple[float, float]) -> None:
    found = paired_interval(pairs, confidence)
    assert (found.low, found.high) == pytest.approx(expected, abs=6e-4)


@given(PAIRS)
def test_the_interval_holds_the_cost_and_turns_with_it(pairs: Pairs) -> None:
    found, turned = (
        paired_interval(pairs),
        paired_interval(Pairs(pairs.both, pairs.only_second, pairs.only_first, pairs.neither)),
    )
    assert -1 <= found.low <= pairs.difference <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((-turned.high, -turned.low), abs=1e-9)


def test_pairs_are_counted_by_what_passed() -> None:
    pairs = Pairs.count([(True, True), (True, False), (True, False), (False, True), (False, False)])
    assert pairs == Pairs(1, 2, 1, 1)
    assert pairs.difference == pytest.approx(0.2)


@pytest.mark.parametrize(("first", "second", "runs"), [(0.5, 0.6, 388), (0.6, 0.7, 356), (0.1, 0.2, 199)])
def test_runs_needed_agrees_with_the_tables_of_fleiss_without_correction(
    first: float, second: float, runs: int
) -> None:
    assert runs_needed(first, second) == runs_needed(second, first) == runs
    assert runs_needed(first, first) is None


def test_pairs_needed_agrees_with_the_example_of_connor() -> None:
    assert pairs_needed(0.4, 0.5) == 23
    assert pairs_needed(-0.4, 0.5) == 23
    assert pairs_needed(0.0, 0.5) is None
    assert pairs_needed(0.5, 0.1) == pairs_needed(0.5, 0.5)
