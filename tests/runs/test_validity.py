"""`mcp-sim validity`: whether scripted agents rank on two sides alike."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.notebook_program import FORGETS, PROGRAM, write_specs
from support.notebook_server import record
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.runs.agents.strategies import SKILLS
from mcp_sim.runs.statistics import spearman, spearman_interval
from mcp_sim.runs.validity.sides import open_side
from mcp_sim.runs.validity.task import read_task
from mcp_sim.runs.validity.trial import Trial

TASK = """\
steps:
  - call: create_note
    arguments: {title: Milk, text: two litres}
    keep: {note: id}
    check: {call: list_notes, shows: [Milk], keep: {note: id}}
  - call: create_note
    arguments: {title: Bread, text: of rye}
    check: {call: list_notes, shows: [Bread]}
goal:
  - {tool: list_notes, where: {title: Milk}, count: 1, keep: {note: id}}
  - {tool: get_note, arguments: {note_id: "{note}"}, shows: two litres}
  - {tool: list_notes, where: {title: Bread, text: of rye}, count: 1}
"""

SESSION: list[tuple[str, dict[str, Any]]] = [
    ("create_note", {"title": "Milk", "text": "two litres"}),
    ("get_note", {"note_id": "note-41"}),
    ("create_note", {"title": "Bread"}),
    ("delete_note", {"note_id": "note-41"}),
    ("list_notes", {}),
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording of a real server, two programs for it, and a task."""
    folder = tmp_path_factory.mktemp("notebook")
    asyncio.run(record(folder, "milk", SESSION))
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    write_specs(folder, good=PROGRAM, forgets=FORGETS)
    return folder


def compared(folder: Path, capsys: pytest.CaptureFixture[str], spec: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Compare a document with the good program, and return the exit code and the report."""
    against = ["--against", str(folder / "good.yaml"), "--trust", str(folder)]
    code = main(["validity", str(folder / spec), *against, "--json", "--streams", "3", *options])
    captured = capsys.readouterr()
    assert captured.out, captured.err
    return code, json.loads(captured.out)


def test_a_simulation_ranks_agents_as_itself(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = compared(notebook, capsys, "good.yaml", "--task", str(notebook / "task.yaml"), "--at-least", "1")
    assert (code, report["rho"], report["partings"]) == (0, 1.0, [])
    scores = [real for _, real in report["agents"].values()]
    assert len(scores) >= 12
    assert report["agents"]["golden"] == [1.0, 1.0]
    assert len({*scores}) >= 4, "agents of different skill score differently"


def test_a_simulation_that_forgets_writes_ranks_nothing(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = compared(notebook, capsys, "forgets.yaml", "--task", str(notebook / "task.yaml"), "--at-least", "0")
    assert (code, report["rho"]) == (1, None)
    assert report["without_faults"] == [0.0, 1.0]
    assert report["partings"][0]["tool"] == "list_notes"


@pytest.mark.parametrize(("spec", "is_valid"), [("good.yaml", True), ("forgets.yaml", False)])
def test_the_writes_of_a_recording_are_a_task(
    notebook: Path, capsys: pytest.CaptureFixture[str], spec: str, is_valid: bool
) -> None:
    _, report = compared(notebook, capsys, spec, "--task", str(notebook / "milk.jsonl"))
    assert report["without_faults"][1] == 1.0
    assert (report["rho"] == 1.0, report["without_faults"][0] == 1.0) == (is_valid, is_valid)


async def test_each_run_gets_a_fresh_real_server(notebook: Path) -> None:
    server = Path(__file__).parents[1] / "support" / "notebook_server.py"
    task = read_task(notebook / "task.yaml")
    async with open_side(f"{PYTHON} {server}", task, [], empty=True) as real:
        trial = Trial(real, task, frozenset({"list_notes", "get_note"}))
        runs = [await trial.run(SKILLS["golden"], "", stream) for stream in (None, 1)]
    assert [(run.score, run.problems) for run in runs] == [(1.0, []), (1.0, [])]
    assert any(call.fault for call in runs[1].calls)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("steps: []", "task.yaml: needs steps and a goal, or a recording"),
        (TASK.replace("create_note", "add_note"), "has no tool add_note, which the task calls"),
        (TASK.replace("count: 1", "count: 7", 1), "the task is not done without faults"),
        (TASK.replace("litres}\n    keep", "litres}\n    kep"), "kep"),
    ],
)
def test_a_task_that_cannot_be_used_is_explained(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str, message: str
) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(task, encoding="utf-8")
    spec, trust = str(notebook / "good.yaml"), ["--trust", str(notebook)]
    assert main(["validity", spec, "--against", spec, "--task", str(path), *trust]) == 2
    assert message in capsys.readouterr().err


def test_a_goal_that_holds_from_the_start_is_refused(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(f"{TASK.partition('goal:')[0]}goal:\n  - {{tool: list_notes, lacks: Butter}}\n", encoding="utf-8")
    spec, trust = str(notebook / "good.yaml"), ["--trust", str(notebook)]
    assert main(["validity", spec, "--against", spec, "--task", str(path), *trust]) == 2
    assert "the goal holds although nothing was done" in capsys.readouterr().err


def test_ranks_with_ties_correlate_as_spearman_has_it() -> None:
    assert spearman([1, 2, 3, 4], [2, 4, 6, 9]) == pytest.approx(1)
    assert spearman([1, 2, 2, 4], [4, 3, 2, 1]) == pytest.approx(-0.9486832980505138)  # as scipy.stats.spearmanr
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    interval = spearman_interval([[1, 2], [2, 3], [5, 6], [7, 9]], [[1, 2], [2, 3], [6, 5], [9, 9]])
    assert interval is not None
    assert -1 <= interval.low <= interval.high <= 1


def test_a_misspelt_document_is_not_taken_for_a_server(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--against", "memory", "--task"]
    assert main(["validity", "memry", *options, str(notebook / "task.yaml")]) == 2
    assert "memry: no such file or shipped document; did you mean 'memory'?" in capsys.readouterr().err
    assert main(["validity", "memory", *options, "none.yaml"]) == 2
    assert "cannot read none.yaml: No such file or directory" in capsys.readouterr().err
    assert main(["validity", "memory", *options, "none.yaml", "--at-least", "2"]) == 2
    assert "must be a number from -1 to 1, not '2'" in capsys.readouterr().err
