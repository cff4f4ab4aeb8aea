"""The benchmark of rules runs, and what it measures are rules that match and do not fire."""

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
