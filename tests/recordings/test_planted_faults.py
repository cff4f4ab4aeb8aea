"""Faults in programs: `measure` scores each lower than the program without it."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from support.notebook_program import PROGRAM, write_specs
from support.notebook_server import record
from support.places import ROOT

from mcp_sim.recordings.score import measure
from mcp_sim.spec.sessions import read_sessions

sys.path.insert(0, str(ROOT / "benchmarks"))
mutants: Any = import_module("mutants")

Calls = list[tuple[str, dict[str, Any]]]
WALK: Calls = [
    ("create_note", {"title": "Two litres of milk", "text": "for Sunday"}),
    ("create_note", {"title": "Bread of rye", "text": "sliced"}),
    ("list_notes", {}),
    ("get_note", {"note_id": "note-41"}),
    ("delete_note", {"note_id": "note-41"}),
    ("get_note", {"note_id": "note-42"}),
    ("list_notes", {}),
    ("delete_note", {"note_id": "note-42"}),
    ("list_notes", {}),
]
OTHER: Calls = [("create_note", {"title": "Shoes for Ines", "text": "size 39"}), ("list_notes", {})]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two recorded sessions of a real server."""
    folder = tmp_path_factory.mktemp("notebook")
    asyncio.run(record(folder, "walk", WALK))
    asyncio.run(record(folder, "other", OTHER))
    return folder


def test_every_planted_fault_is_measured(notebook: Path) -> None:
    sessions = read_sessions(notebook)
    planted: list[tuple[str, str, str]] = [*mutants.mutants(PROGRAM, sessions)]
    names = {f"{kind}_{tool}": text for kind, tool, text in planted}
    write_specs(notebook, good=PROGRAM, **names)
    reports = {
        name: asyncio.run(measure(notebook / f"{name}.yaml", sessions, trust=[notebook], cold=False))
        for name in ("good", *names)
    }
    assert {kind for kind, _, _ in planted} == {*mutants.FAULTS}
    assert len(names) >= 6
    assert [name for name in names if not mutants.is_lower(reports[name], reports["good"])] == []
