"""System clocks that jump while a server runs and between runs: calls stay whole, and no world time goes back."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from support.places import ROOT
from support.stdio_process import Wire
from support.warm import COLD

DAY = 86_400
JUMPS = [0, 10 * DAY, -10 * DAY, 3650 * DAY, -3650 * DAY, 0]
"""Seconds by which the system clock is ahead of the real time, one after the other."""

JUMPING = """
import sys, time
from pathlib import Path

real, ahead = time.time, Path(sys.argv[1])
time.time = lambda: real() + float(ahead.read_text())

from mcp_sim.cli import main

sys.exit(main(sys.argv[2:]))
"""


def serve(folder: Path, first: int, jumps: list[int]) -> None:
    """Run a server whose clock jumps before each of its calls; the first is there before the start."""
    ahead, script = folder / "ahead", folder / "jumping.py"
    script.write_text(JUMPING)
    ahead.write_text(str(jumps[0]))
    options = ["calm_crm", "--world", "w", "--clock", "real", "--store", folder / "worlds.db"]
    command = [COLD, script, ahead, "serve", *options, "--trace", folder / "t.jsonl"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as process:
        server = Wire(process)
        server.handshake()
        for number, jump in enumerate(jumps, first):
            ahead.write_text(str(jump))
            server.call(number, "create_deal", {"title": f"{number}", "amount": 1, "contact_id": "con_00001"})
            assert not server.answer()["result"].get("isError")
        server.leave()


def test_jumps_of_the_clock_lose_no_call_and_turn_no_time_back(tmp_path: Path) -> None:
    serve(tmp_path, 1, JUMPS)
    for run, jump in enumerate((-10 * DAY, 10 * DAY), 1):
        serve(tmp_path, 1 + run * len(JUMPS), [jump] * len(JUMPS))
    with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection:
        lines = [line for (line,) in connection.execute("SELECT line FROM entries ORDER BY at")]
    steps = [json.loads(line)["step"] for line in lines]
    calls = [step for step in steps if step["entry"] == "call"]
    assert [call["arguments"]["title"] for call in calls] == [f"{n}" for n in range(1, 3 * len(JUMPS) + 1)]
    times = [datetime.fromisoformat(step["at"]) for step in steps]
    assert times == sorted(times)
    spans = [times[2 * len(JUMPS) - 1] - times[0], times[-1] - times[0]]
    assert spans[0] < timedelta(hours=1)  # the clock was turned back between the first two runs
    assert timedelta(days=19) < spans[1] < timedelta(days=21)
    assert (tmp_path / "t.jsonl").read_bytes().splitlines()[1:] == lines
