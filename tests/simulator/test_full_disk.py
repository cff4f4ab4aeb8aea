"""A full disk, with two server processes on one store: no call is half-kept, and calls go on once there is space."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from support.stdio_process import Wire, serving

from mcp_sim.types.errors import CRASH_CODE

DISK = 8 << 20
"""The size of the file system in bytes."""

ROUNDS = 12
LARGE = "x" * 100


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    """Yield a folder that is a small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        reason = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        reason = str(error)
    if reason:
        pytest.skip(f"no small file system can be mounted here, which needs root on Linux: {reason}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)


@contextmanager
def full(folder: Path, left: int) -> Generator[None]:
    """Fill a file system, up to some bytes."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream, suppress(OSError):
        while True:
            stream.write(bytes(4096))
    os.truncate(filler, max(0, filler.stat().st_size - left))
    try:
        yield
    finally:
        filler.unlink()


def create(server: Wire, number: int, title: str) -> bool:
    """Create a deal. Returns whether it was answered; if not, it must have crashed."""
    server.call(number, "create_deal", {"title": title, "amount": 1, "contact_id": "con_00001"})
    answer = server.answer()
    assert answer["id"] == number
    if "error" in answer:
        assert answer["error"]["code"] == CRASH_CODE
        return False
    assert not answer["result"].get("isError")
    return True


def steps_in(lines: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line)["step"] for line in lines]


@pytest.mark.parametrize("traces", [("a.jsonl", "a.jsonl"), ("a.jsonl", "b.jsonl")], ids=["one trace", "two traces"])
def test_answered_stored_and_traced_calls_are_the_same_on_a_disk_that_fills_up(
    disk: Path, traces: tuple[str, str]
) -> None:
    store, draws = disk / "worlds.db", random.Random(1)
    words = ("calm_crm", "--world", "w", "--store", str(store), "--log-level", "error")
    answered, refused, number = list[str](), list[str](), 0
    with (
        serving(*words, "--trace", str(disk / traces[0])) as one,
        serving(*words, "--trace", str(disk / traces[1])) as other,
    ):
        for server in (one, other):
            server.wait_until_started()
        for _ in range(ROUNDS):
            with full(disk, left=draws.choice((0, 4096, 16384, 65536))):
                for _ in range(6):
                    number += 1
                    title = f"{number} {draws.choice(('', LARGE))}"
                    (answered if create(draws.choice((one, other)), number, title) else refused).append(title)
            for server in (one, other):
                number += 1
                assert create(server, number, f"{number}")
                answered.append(f"{number}")
        for server in (one, other):
            server.leave()
    assert refused
    with closing(sqlite3.connect(store)) as connection:
        lines = [line for (line,) in connection.execute("SELECT line FROM entries ORDER BY at")]
    steps = steps_in(lines)
    assert [step["n"] for step in steps] == [*range(1, len(steps) + 1)]
    assert [step["arguments"]["title"] for step in steps if step["entry"] == "call"] == answered
    for name in set(traces):
        traced = (disk / name).read_bytes()
        assert traced.endswith(b"\n")
        assert traced.splitlines()[1:] == lines
