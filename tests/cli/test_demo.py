"""`mcp-sim demo`: the first thing a stranger runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.places import ROOT


def demo(*arguments: str, hash_seed: str = "0") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mcp_sim", "demo", *arguments],
        capture_output=True,
        check=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_demo_shows_the_deal_made_twice_and_why(mode: str) -> None:
    lines = demo("--mode", mode).splitlines()
    assert 20 <= len(lines) <= 40
    assert all(len(line) <= 250 for line in lines)
    creations = [at for at, line in enumerate(lines) if line.startswith("create_deal")]
    assert len(creations) == 2
    first, second = creations
    assert lines[first + 1].startswith("  agent sees:  error") or "504" in lines[first + 1]
    assert lines[first + 2].startswith("  FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal")
    assert '"title":"Spring order"' in lines[second + 1]
    assert any(line.startswith("  FAULT busy-backend (error") and "never reached the world" in line for line in lines)
    verdicts = [line.split()[:2] for line in lines if line.startswith(("  failed", "  passed", "  vacuous"))]
    assert verdicts[:2] == [["failed", "one-deal:"], ["passed", "no-hammering:"]]
    assert verdicts[2][0] == "failed"
    assert verdicts[2][1].startswith("recovered-")


def test_the_demo_says_the_same_every_time_and_has_no_colours_without_a_terminal() -> None:
    output = demo(hash_seed="1")
    assert output == demo(hash_seed="2")
    assert "\x1b" not in output
