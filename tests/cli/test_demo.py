"""`mcp-sim demo`: the first thing a stranger runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache

import pytest
from support.places import ROOT
from support.warm import PYTHON


@cache
def demo(mode: str = "auto", hash_seed: str | None = None) -> str:
    seed = {} if hash_seed is None else {"PYTHONHASHSEED": hash_seed}  # another seed needs a new Python
    done = subprocess.run(
        [PYTHON, "-m", "mcp_sim", "demo", "--mode", mode],
        capture_output=True,
        check=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, **seed},
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_demo_shows_the_deal_made_twice_and_why(mode: str) -> None:
    output = demo(mode)
    first, second = [part for part in output.split("\n\n") if part.startswith("create_deal")]
    assert "  agent sees   504" in first
    assert "  FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal deal_0081" in first
    assert '"title": "Spring order"' in second
    assert "busy-backend (error, probability 0.25); the truth: the call never reached the world" in output
    verdicts = [line.split()[:2] for line in output.splitlines() if line.startswith(("  failed", "  passed"))]
    assert [name for outcome, name in verdicts if outcome == "failed"] == ["one-deal:", "recovered-deal:", "honest:"]
    assert ["passed", "no-hammering:"] in verdicts
    assert "The failures are the point of this demo." in output


def test_the_demo_shows_whole_answers_on_lines_that_fit_a_screen() -> None:
    output = demo()
    assert "..." not in output
    assert all(len(line) <= 110 for line in output.splitlines())
    answers = re.findall(r"agent sees   (\{.*?\})$", output, re.MULTILINE | re.DOTALL)
    assert [json.loads(answer).get("id") for answer in answers] == [None, "deal_0082", "deal_0082", "act_00121"]


def test_the_demo_says_the_same_every_time_and_has_no_colours_without_a_terminal() -> None:
    output = demo()
    assert output == demo(hash_seed="2")
    assert "\x1b" not in output
