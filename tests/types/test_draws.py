"""Draws: pure, evenly spread, and dependent on seed, stream, purpose and occurrence only."""

from __future__ import annotations

import subprocess
import sys
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.types.draws import Draws


@given(st.integers(), st.text(), st.text(), st.integers(0))
def test_a_draw_is_a_number_from_zero_to_one_and_the_same_again(seed: int, stream: str, purpose: str, n: int) -> None:
    drawn = Draws(seed, stream, "call", n).unit(purpose)
    assert 0 <= drawn < 1
    assert drawn == Draws(seed, stream, "call", n).unit(purpose)


def test_a_draw_is_the_first_53_bits_of_sha_256_over_the_call_and_the_purpose() -> None:
    import hashlib

    key = hashlib.sha256(b"7\x1falpha\x1fcall\x1f3").digest()
    bits = int(hashlib.sha256(key + b"what").hexdigest(), 16) >> (256 - 53)
    assert Draws(7, "alpha", "call", 3).unit("what") == bits / 2**53


def test_draws_are_evenly_spread() -> None:
    drawn = [Draws(1, "", "call", n).unit("p") for n in range(20_000)]
    assert abs(mean(drawn) - 0.5) < 0.01
    assert abs(sum(value < 0.1 for value in drawn) / 20_000 - 0.1) < 0.01


def test_another_stream_seed_scope_or_occurrence_is_another_draw() -> None:
    base = Draws(1, "", "call", 0)
    others = [Draws(2, "", "call", 0), Draws(1, "b", "call", 0), Draws(1, "", "other", 0), Draws(1, "", "call", 1)]
    assert len({draws.unit("p") for draws in [base, *others]}) == 5
    assert len({draws.generator("p").random() for draws in [base, *others]}) == 5


def test_draws_do_not_depend_on_the_process() -> None:
    program = "from mcp_sim.types.draws import Draws; d = Draws(3, 's', 'c', 4); "
    program += "print(d.unit('p'), d.generator('q').random())"
    shown = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    draws = Draws(3, "s", "c", 4)
    assert shown == {f"{draws.unit('p')} {draws.generator('q').random()}\n"}


def test_a_choice_is_one_of_the_options() -> None:
    draws = Draws(1, "", "call", 0)
    assert draws.choice("p", ["only"]) == "only"
    assert {Draws(1, "", "call", n).choice("p", "ab") for n in range(20)} == {"a", "b"}
