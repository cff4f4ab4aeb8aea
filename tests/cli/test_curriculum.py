"""`mcp-sim curriculum`: next scenarios from lost runs, which golden solves and the agent does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.test_hunt import CREATE, LOOK, PLAIN, SCENARIO
from support.warm import PYTHON

from mcp_sim.cli import main

REPEATS = [*PLAIN, *CREATE, "--until-done"]
SCRIPT: dict[str, Any] = {
    "task": "Create the deal.",
    "steps": [
        {
            "call": CREATE[0],
            "arguments": {**json.loads(CREATE[1]), "currency": "EUR"},
            "check": {
                "call": LOOK[0],
                "arguments": json.loads(LOOK[1]),
                "rows": "deals",
                "where": {"title": "Spring order"},
            },
        }
    ],
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    lost = {"lost_ack": {}, "id": "slow", "tools": "create_deal", "when": {"nth": 1}}
    path = tmp_path / "deals.json"
    path.write_text(json.dumps({**SCENARIO, "perturbations": [lost]}), encoding="utf-8")
    (tmp_path / "script.yaml").write_text(json.dumps(SCRIPT), encoding="utf-8")
    return path


def reported(scenario: Path, *agent: str, options: tuple[str, ...] = ()) -> Path:
    """Run an agent, and return the report."""
    report = scenario.with_name("report.json")
    main(["run", str(scenario), "--json", str(report), *options, "--", *agent])
    return report


def test_lost_faults_return_with_new_seeds_and_combined_with_others(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = reported(scenario, *REPEATS)
    capsys.readouterr()
    out = tmp_path / "next"
    assert main(["curriculum", str(report), "-o", str(out), "--seeds", "2", "--keep", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    first, second = result["scenarios"]
    assert first["faults"] == ["lost_ack at call 1 of create_deal"]
    assert first["seed"] == 2
    assert len(second["faults"]) == 2
    assert "lost_ack at call 2 of create_deal" in second["faults"]
    assert result["survived"] > 0
    for written in result["scenarios"]:
        assert main(["run", written["scenario"], "--", *REPEATS]) == 1
    prompt = Path(first["instructions"]).read_text()
    assert "# Instructions" in prompt
    assert "At call 1: Commit the changes, and answer with a timeout" in prompt


def test_what_golden_does_not_solve_is_not_written(scenario: Path, tmp_path: Path) -> None:
    report = reported(scenario, *REPEATS)
    script = scenario.with_name("script.yaml")
    script.write_text(script.read_text().replace('"title": "Spring order", "amount"', '"title": "Autumn", "amount"'))
    assert main(["curriculum", str(report), "-o", str(tmp_path / "next")]) == 1


def test_a_fictional_world_grows_and_its_instructions_have_query_and_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = tmp_path / "coast.yaml"
    assert main(["generate", "--fiction", "coast", "--rows", "60", "-o", str(world)]) == 0
    report = reported(world, PYTHON, "-c", "print('I do not know.')")
    capsys.readouterr()
    options = ["--fiction", "coast", "--domain", "search", "--keep", "1", "--json"]
    assert main(["curriculum", str(report), "-o", str(tmp_path), *options]) == 0
    [written] = json.loads(capsys.readouterr().out)["scenarios"]
    rows = [sum(map(len, state(path)["rows"].values())) for path in (world, Path(written["scenario"]))]
    assert rows[1] > 1.8 * rows[0]
    prompt = Path(written["instructions"]).read_text()
    assert "Target query: Which lighthouses" in prompt
    assert "Reference answer: | lighthouse | town |" in prompt


def state(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())["world"]["state"]


def test_reports_without_a_lost_run_are_refused(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = reported(scenario, *PLAIN, *CREATE, *LOOK, "--unless", "Spring order", options=("--no-faults",))
    assert main(["curriculum", str(report), "-o", str(scenario.parent)]) == 2
    assert "the agent failed in none of these runs" in capsys.readouterr().err


def test_a_script_is_refused_beside_new_worlds_which_have_their_own(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = str(scenario.with_name("script.yaml"))
    arguments = ["curriculum", "runs.json", "-o", str(scenario.parent), "--fiction", "coast", "--script", script]
    assert main(arguments) == 2
    assert "--script does not go with --fiction" in capsys.readouterr().err
