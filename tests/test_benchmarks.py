"""The benchmarks run, and measure what they say: rules that do not fire, sessions that were abandoned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_benchmark_of_rules_prints_a_ratio_for_every_number_of_rules() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "perturbations.py"), "--quick"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "10", "100"] * 2
    assert all(row[2].endswith("x") for row in rows)


def test_the_benchmark_of_abandoned_sessions_tells_how_many_were_refused_and_who_gets_in_after_them() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "abandoned.py"), "--quick"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    as_it_is, all_fit, idle = (line for line in lines if line.startswith(("as it is", "room for all", "idle for")))
    assert as_it_is.startswith("as it is 20 30 ")
    assert as_it_is.endswith(" 503 and 200")
    assert all_fit.startswith("room for all 50 0 ")
    assert idle.endswith(" 200 and 200")
