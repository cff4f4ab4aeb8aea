"""What the tests of the gate share."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path

import pytest
from support.warm import FORKING

from mcp_sim.recordings.compiling.gate import Gate
from mcp_sim.recordings.compiling.subject import PROGRAM
from mcp_sim.types import Record

_TRIED: dict[str, Record] = {}
"""What trials of plans without a program have shown."""


@pytest.fixture(autouse=True)
def _equal_plans_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] (pytest finds it)
    """Start no confined process for plans that another test has tried: it takes a third of a gate's time."""
    confined = Gate._confined  # pyright: ignore[reportPrivateUsage] (it is replaced)

    def confined_once(self: Gate, job: Record, folder: Path, hash_seed: int) -> Record:
        if (folder / PROGRAM).exists():
            return confined(self, job, folder, hash_seed)
        files = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.iterdir())}
        key = json.dumps([job, files, hash_seed]).replace(str(folder), "")
        if key not in _TRIED:
            _TRIED[key] = confined(self, job, folder, hash_seed)
        return deepcopy(_TRIED[key])

    monkeypatch.setattr(Gate, "_confined", confined_once)


@pytest.fixture(autouse=True)
def _confined_processes_are_forked(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] (pytest finds it)
    """Spare confined processes their imports, two thirds of a gate's time. They set the same limits."""
    monkeypatch.setattr(sys, "executable", FORKING)
