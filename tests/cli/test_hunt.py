"""`mcp-sim hunt`: faults that make an agent fail are found, shrunk, and written as tests."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.places import ROOT, SUPPORT
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.runs.hunting.journal import Journal

PLAIN = [PYTHON, str(SUPPORT / "plain_agent.py")]
CREATE = ["create_deal", json.dumps({"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})]
LOOK = ["list_deals", json.dumps({"contact_id": "con_00001", "limit": 100})]

REPEATS = [*PLAIN, *CREATE, "--until-done"]
"""Repeats a create that fails."""
CHECKS = [*PLAIN, *CREATE, *LOOK, "--unless", "Spring order"]
"""Checks first, and so fails only if it is also shown too little."""

SCENARIO: dict[str, Any] = {
    "mcp_sim": 1,
    "name": "one-deal",
    "task": "Create the deal.",
    "tools": "crm",
    "world": {
        "records": {
            "company": 20,
            "contact": {"count": 60, "rows": [{"id": "con_00001", "name": "Ada Vos"}]},
            "deal": {"count": 40, "rows": [{"title": "Winter order"}]},
        }
    },
    "perturbations": [{"latency": "2s", "id": "slow"}],
    "expect": [
        {"state": {"entity": "deal", "where": {"title": "Spring order"}, "count": 1}, "id": "one-deal"},
        {"recovered": "slow", "id": "recovered-slow"},
    ],
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "deals.json"
    path.write_text(json.dumps(SCENARIO), encoding="utf-8")
    return path


def hunt(scenario: Path, *options: str, agent: Sequence[str]) -> int:
    return main(["hunt", str(scenario), *options, "--", *agent])


def report(capsys: pytest.CaptureFixture[str], scenario: Path, *options: str, agent: Sequence[str]) -> dict[str, Any]:
    hunt(scenario, "--json", *options, agent=agent)
    return json.loads(capsys.readouterr().out)


def records(case: dict[str, Any]) -> int:
    given = case["world"]["records"].values()
    return sum(one if isinstance(one, int) else one["count"] for one in given)


def test_an_agent_that_repeats_creates_fails_at_one_fault_among_few_records(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(capsys, scenario, "--weaknesses", "1", agent=REPEATS)
    [weakness] = found["weaknesses"]
    case = yaml.safe_load(Path(weakness["file"]).read_text())
    assert found["runs"] < 40
    assert case["perturbations"] == [
        {"lost_ack": {}, "id": "lost-ack-create-deal-1", "tools": "create_deal", "when": {"nth": 1}}
    ]
    assert records(case) <= 3
    assert [one["id"] for one in case["expect"]] == ["one-deal"]


def test_what_was_found_is_a_test_for_run_and_pytest(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, scenario, "--weaknesses", "1", "--kinds", "lost_ack", agent=REPEATS)
    file = Path(found["weaknesses"][0]["file"])
    assert main(["run", str(file), "--", *REPEATS]) == 1
    assert main(["run", str(file), "--", *CHECKS]) == 0
    test = file.with_name("test_deals_hunt_1.py")
    assert "1 failed" in pytested(test)
    test.write_text(test.read_text().replace(json.dumps(REPEATS), json.dumps(CHECKS)))
    assert "1 passed" in pytested(test)


def pytested(test: Path) -> str:
    command = [PYTHON, "-m", "pytest", "--assert=plain", "-q", "-p", "no:cacheprovider", str(test)]
    return subprocess.run(command, cwd=test.parent, capture_output=True, text=True, timeout=120, check=False).stdout


def test_a_weakness_that_needs_two_faults_is_found(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ["--kinds", "lost_ack,error,empty_result,stale_read,timeout,conflict"]
    found = report(capsys, scenario, *kinds, "--weaknesses", "1", agent=CHECKS)
    [weakness] = found["weaknesses"]
    assert found["runs"] < 60
    assert [next(iter(fault)) for fault in weakness["faults"]] == ["lost_ack", "empty_result"]
    assert weakness["steady"]
    assert records(yaml.safe_load(Path(weakness["file"]).read_text())) <= 3


def test_an_agent_that_survives_everything_has_no_weakness(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hunt(scenario, "--kinds", "error,lost_ack", "--faults", "1", agent=CHECKS) == 0
    assert capsys.readouterr().out.startswith("Found no weakness in ")
    assert not list(scenario.parent.glob("*-hunt-*"))


def test_a_hunt_that_was_cut_short_goes_on_where_it_ended(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--kinds", "error,lost_ack,timeout"]
    assert hunt(scenario, *options, "--runs", "3", "--jobs", "1", agent=CHECKS) == 0
    assert "--runs 3 ended the search" in capsys.readouterr().out
    journal = scenario.with_name("deals.hunt.jsonl")
    before = journal.read_text()
    journal.write_text(before + '{"key": "[0,')  # a write that was interrupted
    assert hunt(scenario, *options, "--jobs", "1", agent=CHECKS) == 0
    assert "3 runs are taken from" in capsys.readouterr().err
    assert journal.read_text().startswith(before)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len({line["key"] for line in lines[1:]}) == len(lines) - 1 > 3


def test_ctrl_c_reports_what_was_found(scenario: Path) -> None:
    started = scenario.with_name("started")
    slow = [PYTHON, "-c", f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(60)"]
    command = [PYTHON, "-m", "mcp_sim", "hunt", str(scenario), "--", *slow]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while not started.exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from" in err
    assert re.fullmatch(r"Found no weakness in \d+ runs?; it was cut short\.\n", out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kinds", "lost_acks"], "'lost_acks' is not a kind of perturbation; did you mean 'lost_ack'?"),
        (["--kinds", "injection"], "'injection' is not tried by hunts"),
        (["--runs", "0"], "--runs: must be a whole number from 1, not '0'"),
        (["--jobs", "0"], "--jobs: must be a whole number from 1, not '0'"),
    ],
)
def test_impossible_options_are_refused(
    scenario: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt(scenario, *options, agent=REPEATS) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_takes_no_files_is_refused_before_the_first_run(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = scenario.with_name("journal")
    assert hunt(scenario, "-o", str(scenario), "--journal", str(journal), agent=REPEATS) == 2
    assert "files cannot be written there" in capsys.readouterr().err
    assert not journal.exists()


def test_two_hunts_do_not_write_one_journal(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = scenario.with_name("journal")
    with Journal(journal, {"hunt": 1}):
        before = journal.read_text()
        assert hunt(scenario, "--journal", str(journal), agent=REPEATS) == 2
    assert "another hunt writes this journal" in capsys.readouterr().err
    assert journal.read_text() == before


def test_a_weakness_that_no_run_was_left_to_repeat_is_not_called_unsteady(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--kinds", "lost_ack", "--jobs", "1", "--runs", "2"]
    assert hunt(scenario, *options, agent=REPEATS) == 1
    assert "the agent did not fail in this way" not in capsys.readouterr().out
    assert report(capsys, scenario, *options, agent=REPEATS)["weaknesses"][0]["steady"] is None


def test_without_other_expectations_the_agent_must_recover(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario.write_text(json.dumps({**SCENARIO, "expect": [{"recovered": "slow"}]}), encoding="utf-8")
    found = report(capsys, scenario, "--kinds", "lost_ack,error", "--weaknesses", "1", agent=[*PLAIN, *CREATE])
    file = Path(found["weaknesses"][0]["file"])
    [expected] = yaml.safe_load(file.read_text())["expect"]
    assert expected == {"recovered": expected["recovered"], "id": f"recovered-{expected['recovered']}"}
    assert main(["run", str(file), "--", *PLAIN, *CREATE]) == 1


@pytest.mark.parametrize("records", ["tables", {"*": "tables.json", "activity": 3}])
def test_rows_from_files_become_those_of_the_case(
    tmp_path: Path, records: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {"contacts": [{"id": "con_00001", "name": "Ada"}, {"id": "con_00002", "name": "Bo"}]}
    (tmp_path / "tables.json").write_text(json.dumps(tables))
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "contact.csv").write_text("id,name\ncon_00001,Ada\ncon_00002,Bo\n")
    scenario = tmp_path / "deals.json"
    scenario.write_text(json.dumps({**SCENARIO, "world": {"records": records}}), encoding="utf-8")
    options = ["--kinds", "lost_ack", "--weaknesses", "1", "-o", str(tmp_path / "cases")]
    file = Path(report(capsys, scenario, *options, agent=REPEATS)["weaknesses"][0]["file"])
    case = yaml.safe_load(file.read_text())
    assert case["world"]["records"]["contact"]["rows"] == [{"id": "con_00001", "name": "Ada"}]
    assert main(["run", str(file), "--", *REPEATS]) == 1
    assert main(["run", str(file), "--", *CHECKS]) == 0


def test_an_agent_that_fails_without_faults_is_not_hunted(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hunt(scenario, agent=[*PLAIN, "--exit", "3"]) == 4
    shown = capsys.readouterr().err
    assert "without faults, the agent does not pass (seed 0): the agent exited with code 3" in shown


def test_a_tool_spec_is_no_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "tool_specs" / "crm", tmp_path / "crm")
    assert hunt(tmp_path / "crm" / "crm.yaml", agent=REPEATS) == 2
    assert "a hunt needs a scenario" in capsys.readouterr().err


def test_the_journal_of_another_hunt_is_refused(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hunt(scenario, "--runs", "1", agent=REPEATS)
    assert hunt(scenario, "--runs", "1", agent=CHECKS) == 2
    assert "this is not the journal of this hunt" in capsys.readouterr().err


def test_an_agent_that_was_mended_is_hunted_anew(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = scenario.with_name("agent.py")
    command = [PYTHON, str(script)]
    for agent, code in ((REPEATS, 1), (CHECKS, 0)):
        script.write_text(f"import subprocess\nraise SystemExit(subprocess.run({agent!r}).returncode)")
        assert hunt(scenario, "--kinds", "lost_ack", "--faults", "1", agent=command) == code
    assert "are taken from" not in capsys.readouterr().err


def test_a_hunt_whose_agent_did_not_start_leaves_no_journal_in_the_way(scenario: Path) -> None:
    assert hunt(scenario, agent=["no-such-agent"]) == 3
    assert hunt(scenario, "--runs", "1", agent=CHECKS) == 0


def test_a_file_that_is_no_journal_is_left_alone(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = scenario.read_text()
    assert hunt(scenario, "--journal", str(scenario), agent=REPEATS) == 2
    assert "is not the journal of a hunt" in capsys.readouterr().err
    assert scenario.read_text() == before


def test_cases_in_another_folder_name_the_same_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "tool_specs" / "crm", tmp_path / "specs")
    scenario = tmp_path / "deals.json"
    scenario.write_text(json.dumps({**SCENARIO, "tools": "specs/crm.yaml"}), encoding="utf-8")
    options = ["--kinds", "lost_ack", "--weaknesses", "1", "-o", str(tmp_path / "cases")]
    found = report(capsys, scenario, *options, agent=REPEATS)
    file = Path(found["weaknesses"][0]["file"])
    assert yaml.safe_load(file.read_text())["tools"] == "../specs/crm.yaml"
    assert main(["run", str(file), "--trust", str(tmp_path), "--", *REPEATS]) == 1


def notes(folder: Path, *tools: str) -> Path:
    """Write a scenario of these tools, which expects one note."""
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    (folder / "notes.json").write_text(json.dumps({"tools": [{"name": tool, "inputSchema": schema} for tool in tools]}))
    expected = {"state": {"entity": "note", "where": {"title": "A"}, "count": 1}}
    path = folder / "scenario.json"
    path.write_text(json.dumps({"mcp_sim": 1, "task": "Note A.", "tools": "notes.json", "expect": [expected]}))
    return path


@pytest.mark.parametrize(
    ("tools", "kinds", "expected"),
    [
        (["create_note", "list_notes"], "phantom_success,timeout", ("phantom_success", True)),
        (["create_note"], "phantom_success,timeout", ("timeout", True)),
        (["create_note"], "phantom_success", ("phantom_success", False)),
    ],
    ids=["another tool shows it", "another fault comes first", "no other fault"],
)
def test_what_no_agent_could_avoid_comes_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tools: list[str], kinds: str, expected: tuple[str, bool]
) -> None:
    agent = [*PLAIN, "create_note", '{"title": "A"}']
    [weakness] = report(capsys, notes(tmp_path, *tools), "--kinds", kinds, agent=agent)["weaknesses"]
    assert (next(iter(weakness["faults"][0])), weakness["avoidable"]) == expected
