"""Runs of the benchmarks of perturbations, abandoned sessions, world models and planning."""

from __future__ import annotations

import subprocess
import sys

from anyio import run_process
from support.endpoint import serving
from support.places import ROOT

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": ""}


def test_the_benchmark_of_rules_prints_a_ratio_for_every_number_of_rules() -> None:
    done = subprocess.run(_quick("perturbations.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "10", "100"] * 2
    assert all(row[2].endswith("x") for row in rows)


def test_the_benchmark_of_abandoned_sessions_prints_refusals_and_the_statuses_of_later_clients() -> None:
    done = subprocess.run(_quick("abandoned.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    names = ("default limits", "enough sessions", "closed after 1 s")
    default, enough, closed = (line for line in lines if line.startswith(names))
    assert default.startswith("default limits 20 30 ")
    assert default.endswith(" 503 and 200")
    assert enough.startswith("enough sessions 50 0 ")
    assert closed.endswith(" 200 and 200")


def test_the_benchmark_of_the_built_in_world_model_has_a_line_for_every_verb() -> None:
    done = subprocess.run(_quick("builtin.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    for verb in ("get", "create", "update", "delete", "list", "search"):
        assert any(line.startswith(verb) for line in done.stdout.splitlines()), done.stdout


def test_the_benchmark_of_planning_compares_two_sizes_of_every_case() -> None:
    done = subprocess.run(_quick("planning.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    parts = {row[-8] for row in rows if row[-1:] and row[-1].endswith("x")}
    assert parts >= {"tool", "property", "word", "blank"}


async def test_the_benchmark_of_a_language_model_compares_requests_and_prompt_tokens_with_the_whole_state() -> None:
    async with serving() as engine:
        done = await run_process([*_quick("llm.py"), engine.url, "tiny"], check=True, env=ENVIRONMENT)
    lines = done.stdout.decode().splitlines()
    whole, always, undetermined = (
        next(line for line in lines if line.startswith(name))
        for name in ("whole state each time", "mcp-sim, ask: always", "mcp-sim, ask: undetermined")
    )
    assert whole.split()[4] == "1.00"
    assert float(always.split()[3]) > float(undetermined.split()[3])
    assert engine.asked


def _quick(script: str) -> list[str]:
    return [sys.executable, str(ROOT / "benchmarks" / script), "--quick"]
