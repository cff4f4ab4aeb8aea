"""`mcp-sim run`: agents as commands, each run in a world of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import anyio
import pytest
from support.places import ROOT, SUPPORT
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.runs.agent import AgentCommand, Exit, fresh_folder, model_keys
from mcp_sim.simulator.compile import load

PLAIN = [PYTHON, str(SUPPORT / "plain_agent.py")]
CREATE = ["create_deal", json.dumps({"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})]
LOOK = ["list_deals", json.dumps({"contact_id": "con_00001"})]

SCENARIO: dict[str, Any] = {
    "mcp_sim": 1,
    "name": "lost-deal",
    "task": "Create the deal.",
    "tools": "crm",
    "seed": 7,
    "world": {
        "records": {
            "company": 2,
            "contact": {"count": 3, "rows": [{"id": "con_00001", "name": "Ada Vos"}]},
            "deal": 5,
            "activity": 0,
        }
    },
    "perturbations": [{"lost_ack": {}, "id": "lost", "tools": "create_deal", "when": {"nth": 1}}],
    "expect": [
        {"state": {"entity": "deal", "where": {"title": "Spring order"}, "count": 1}, "id": "one-deal"},
        {"recovered": "lost", "id": "recovered-deal"},
    ],
}


def document(folder: Path, **changes: Any) -> str:
    """Write a scenario, and return its path."""
    path = folder / "scenario.json"
    path.write_text(json.dumps({**SCENARIO, **changes}), encoding="utf-8")
    return str(path)


def ran(scenario: str, *options: str, agent: Sequence[str]) -> int:
    return main(["run", scenario, "--clock", "virtual", *options, "--", *agent])


def report(capsys: pytest.CaptureFixture[str], scenario: str, *options: str, agent: Sequence[str]) -> dict[str, Any]:
    """Run an agent and return the JSON report, which has the exit code."""
    code = ran(scenario, "--json", "-", *options, agent=agent)
    found = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == code
    return found


def test_each_run_has_a_real_server_of_its_own_that_is_prepared_before_the_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "folders"
    start = f"pwd >> {log}; exec {PYTHON} {SUPPORT / 'notebook_server.py'}"
    upstream = {
        "command": ["sh", "-c", start],
        "cwd": "{folder}",
        "prepare": [{"call": "create_note", "arguments": {"title": "Bread"}}],
    }
    titles = [{"probe": {"tool": "list_notes", "where": {"title": title}, "count": 1}} for title in ("Bread", "Milk")]
    changes: Any = {"tools": "live", "world": {}, "world_model": {"upstream": upstream}, "expect": titles}
    changes["perturbations"] = [{"error": {"message": "busy"}, "tools": "create_note", "when": {"nth": 1}}]
    agent = [*PLAIN, "create_note", json.dumps({"title": "Milk"}), "--until-done"]
    found = report(capsys, document(tmp_path, **changes), "--trust", str(tmp_path), "--seeds", "0..2", agent=agent)
    assert [run["outcome"] for run in found["runs"]] == ["passed"] * 3
    assert all(run["faults"] for run in found["runs"]), "the first call of the agent has one"
    folders = log.read_text().split()
    assert len({*folders}) == len(folders) == 4, "that of the tools, and one for each run"
    assert not any(Path(folder).exists() for folder in folders)


# verdicts and exit codes ----------------------------------------------------------------------------------------------


def test_an_agent_that_looks_before_it_repeats_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(document(tmp_path), agent=[*PLAIN, *CREATE, *LOOK]) == 0
    shown = capsys.readouterr().out
    assert "fault    lost (lost_ack) on create_deal, once" in shown
    assert shown.endswith("Passed: no expectation failed.\n")


def test_the_command_that_repeats_a_failed_run_repeats_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = [*PLAIN, *CREATE, "--until-done"]
    found = report(capsys, document(tmp_path), "--seeds", "0..2", agent=agent)
    assert (found["exit_code"], len(found["runs"])) == (1, 3)
    program, *words = shlex.split(found["runs"][1]["repeat"])
    assert program == "mcp-sim"
    again = report(capsys, words[1], *words[2 : words.index("--")], agent=words[words.index("--") + 1 :])
    (run,) = again["runs"]
    assert run["seed"] == 1
    assert run["grade"] == found["runs"][1]["grade"]


def test_the_command_that_repeats_a_run_has_every_option_that_may_change_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--trust", str(tmp_path), "--strict"]
    found = report(capsys, document(tmp_path), *given, agent=["true"])
    words = shlex.split(found["runs"][0]["repeat"])
    assert [words[words.index("--trust") + 1], *(word for word in words if word in given[2:])] == given[1:]


def test_an_agent_that_dies_has_failed_whatever_it_left_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(capsys, document(tmp_path), agent=[*PLAIN, *CREATE, "--exit", "5"])
    (run,) = found["runs"]
    assert (found["exit_code"], run["outcome"], run["because"]) == (1, "failed", "the agent exited with code 5")
    assert (run["grade"]["outcome"], run["grade"]["reward"]) == ("failed", 0.0)
    assert {verdict["outcome"] for verdict in run["grade"]["verdicts"]} == {"passed"}


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_an_agent_that_takes_too_long_is_ended_with_all_its_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = tmp_path / "pid"
    found = report(
        capsys, document(tmp_path), "--timeout", "1s", agent=["sh", "-c", f"sleep 100 & echo $! > {pid}; wait"]
    )
    (run,) = found["runs"]
    assert (run["outcome"], run["exit_code"]) == ("failed", None)
    assert (run["grade"]["outcome"], run["grade"]["reward"]) == ("failed", 0.0)
    assert "--timeout" in run["because"]
    assert_ended(int(pid.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show whose a process is")
def test_processes_that_left_the_session_of_the_agent_are_ended_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    ran(document(tmp_path), agent=["sh", "-c", f"setsid sh -c 'echo $$ > {pid}; sleep 100' & sleep 0.5; cat {pid}"])
    assert_ended(int(pid.read_text()))


def assert_ended(process: int) -> None:
    """Assert that a process ends within a few seconds: it was killed, and its new parent collects it."""
    for _ in range(100):
        state = Path(f"/proc/{process}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError(f"process {process} still runs")


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_no_process_of_an_agent_outlives_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pid = tmp_path / "pid"
    command = shlex.join([*PLAIN, *CREATE, *LOOK])
    found = report(capsys, document(tmp_path), agent=["sh", "-c", f"sleep 100 & echo $! > {pid}; {command}"])
    assert found["runs"][0]["outcome"] == "passed"
    assert_ended(int(pid.read_text()))


def test_of_an_endless_answer_the_end_is_kept_and_of_none_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; sys.stdout.write('x' * 10_000_000 + 'the end'); sys.stderr.write('y' * 10_000_000)"
    (run,) = report(capsys, document(tmp_path), agent=[PYTHON, "-c", code])["runs"]
    assert run["answer"].endswith("the end")
    assert (len(run["answer"]), len(run["stderr"])) == (1024 * 1024, 4000)
    (run,) = report(capsys, document(tmp_path), agent=[PYTHON, "-c", ""])["runs"]
    assert (run["answer"], run["exit_code"], run["outcome"]) == ("", 0, "failed")


def test_among_runs_at_a_time_each_failure_is_one_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.join([*PLAIN, *CREATE, *LOOK])
    agent = ["sh", "-c", f"if mkdir {tmp_path}/first 2> /dev/null; then exit 9; fi; {command}"]
    found = report(capsys, document(tmp_path), "--seeds", "1..4", "--jobs", "3", "--require", "0.7", agent=agent)
    assert sorted(run["outcome"] for run in found["runs"]) == ["failed", "passed", "passed", "passed"]
    assert [run["seed"] for run in found["runs"]] == [1, 2, 3, 4]
    assert found["exit_code"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the agent is a shell script")
def test_jobs_are_runs_at_the_same_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each agent waits until another one runs."""
    runs = f"$(ls -d {tmp_path}/run-* | wc -l)"
    wait = f"i=0; until [ {runs} -ge 2 ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 9; sleep 0.1; done"
    agent = ["sh", "-c", f"mkdir {tmp_path}/run-$$; {wait}; {shlex.join([*PLAIN, *CREATE, *LOOK])}"]
    found = report(capsys, document(tmp_path), "--seeds", "1..2", "--jobs", "2", agent=agent)
    assert [run["outcome"] for run in found["runs"]] == ["passed", "passed"]


def test_a_verdict_that_rests_on_a_guess_is_inconclusive_if_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    title = {"type": "object", "properties": {"title": {"type": "string"}}}
    spec = {
        "mcp_sim": 1,
        "name": "guessed",
        "sim": {"create_note": {"verb": "create", "entity": "note"}},
        "tools": [{"name": "create_note", "inputSchema": title}, {"name": "frobnicate", "inputSchema": title}],
    }
    (tmp_path / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    goal = [{"state": {"entity": "note", "where": {"title": "x"}, "count": 1}}]
    path = document(tmp_path, tools="./spec.yaml", world={}, perturbations=[], expect=goal)
    agent = [*PLAIN, "frobnicate", json.dumps({"title": "x"})]
    assert report(capsys, path, agent=agent)["exit_code"] == 1
    assert report(capsys, path, "--strict", agent=agent)["exit_code"] == 4
    assert report(capsys, path, "--strict", agent=[*PLAIN, "create_note", agent[-1]])["exit_code"] == 0


def test_an_agent_that_cannot_be_started_is_no_failure_of_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(document(tmp_path), agent=["no-such-agent"]) == 3
    assert "cannot start the agent 'no-such-agent'" in capsys.readouterr().err


def test_the_command_that_repeats_a_run_is_valid_for_an_answer_file_of_all_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(document(tmp_path), "--answer-file", f"{tmp_path}/answer", "--jobs", "1", agent=["false"]) == 1
    assert "--jobs 1 -- false" in capsys.readouterr().out


def test_runs_in_which_no_fault_fired_decide_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    never = [{"lost_ack": {}, "id": "lost", "tools": "create_deal", "when": {"nth": 9}}]
    found = report(capsys, document(tmp_path, perturbations=never), agent=[*PLAIN, *CREATE])
    assert (found["exit_code"], found["runs"][0]["outcome"]) == (4, "not exercised")
    assert found["runs"][0]["grade"]["reward"] == 1.0


def test_a_crash_of_the_simulator_is_neither_passed_nor_failed(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"bug": {}, "id": "bug"}], expect=[SCENARIO["expect"][0]])
    done = subprocess.run(
        [PYTHON, str(SUPPORT / "unruly.py"), "run", path, "--json", "-", "--", *PLAIN, *CREATE],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3
    assert json.loads(done.stdout)["runs"][0]["outcome"] == "crashed"


# what an agent gets ---------------------------------------------------------------------------------------------------

ENVIRONMENT = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"


def test_an_agent_gets_the_task_and_its_server_and_nothing_else_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_SIM_TOKEN", "secret")
    agent = [PYTHON, "-c", ENVIRONMENT, "{task}", "{url}", "{mcp_config}", "{dir}", '{"a": {}}', "--", "{other}"]
    found = report(capsys, document(tmp_path), "--seeds", "4711", agent=agent)
    words, environment = json.loads(found["runs"][0]["answer"])
    given = {name: value for name, value in environment.items() if name.startswith("MCP_SIM_")}
    task, url, config, folder = (given[f"MCP_SIM_{name}"] for name in ("TASK", "URL", "CONFIG", "DIR"))
    assert words == [task, url, config, folder, '{"a": {}}', "--", "{other}"]
    assert given.keys() == {f"MCP_SIM_{name}" for name in ("TASK", "URL", "URL_CRM", "CONFIG", "DIR")}
    assert task == "Create the deal."
    assert "secret" not in environment.values()
    assert not any(word in text for text in given.values() for word in ("4711", "lost", str(tmp_path)))


def test_over_stdio_an_agent_gets_commands_that_need_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code = f"{ENVIRONMENT}; print(open(os.environ['MCP_SIM_CONFIG']).read())"
    agent = [PYTHON, "-c", code, "{mcp_config}"]
    (run,) = report(capsys, document(tmp_path), "--transport", "stdio", agent=agent)["runs"]
    first, _, config = run["answer"].partition("\n")
    words, environment = json.loads(first)
    assert words == [environment["MCP_SIM_CONFIG"]]
    assert environment["MCP_SIM_TASK"] == "Create the deal."
    assert json.loads(config)["mcpServers"] == {
        "crm": {
            "command": sys.executable,
            "args": ["-m", "mcp_sim", "connect", environment["MCP_SIM_URL"]],
            "env": {"PYTHONPATH": str(ROOT)},
        }
    }


async def test_an_agent_does_not_get_the_key_of_the_world_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_KEY", "secret")
    model = {"openai": {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "WORLD_KEY"}}
    hidden = model_keys(load(document(tmp_path, world_model=model)))
    ended = await AgentCommand((PYTHON, "-c", ENVIRONMENT), 30, hidden=hidden).run("", {}, tmp_path)
    assert (ended.code, "WORLD_KEY" in ended.answer) == (0, False)


@pytest.mark.parametrize(
    ("agent", "options", "complaint"),
    [
        (["agent", "{url}"], (), "several servers"),
        (["agent", "{url:mial}"], (), "issues, mail, chat"),
        (["agent"], ("--seeds", "3..1"), "--seeds"),
        (["agent"], ("--seeds", "many"), "--seeds"),
        (["agent"], ("--intensity", "2"), "--intensity"),
        (["agent"], ("--require", "90"), "--require"),
        (["agent"], ("--timeout", "soon"), "--timeout"),
        (["agent"], ("--answer-file", "answer.txt"), "{dir}"),
        (["agent"], ("--seeds", "5..1"), "from low to high"),
        (["agent"], ("--junit", "no-such-folder/report.xml"), "there is no folder no-such-folder"),
        (["agent"], ("--answer-file", "", "--jobs", "1"), "--answer-file: expected a file"),
        (["agent"], ("--answer-file", ".", "--jobs", "1"), "--answer-file: expected a file"),
        (["agent"], ("--no-faults", "--baseline"), "--no-faults"),
    ],
)
def test_a_command_that_cannot_work_is_refused_before_anything_runs(
    agent: list[str], options: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran("office", *options, agent=agent) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_report_that_cannot_be_written_costs_no_other_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.xml"
    assert ran(document(tmp_path), "--json", "/dev/full", "--junit", str(page), agent=[*PLAIN, *CREATE]) == 2
    shown = capsys.readouterr()
    assert "cannot write /dev/full: No space left on device" in shown.err
    assert "lost-deal" in page.read_text(encoding="utf-8")
    assert "Passed" in shown.out


def test_a_task_is_needed_only_where_the_command_uses_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = document(tmp_path, task="")
    assert ran(path, agent=[*PLAIN, *CREATE]) == 0
    assert ran(path, agent=["agent", "{task}"]) == 2
    assert "has no `task:`" in capsys.readouterr().err


def test_the_final_answer_may_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = ["sh", "-c", "echo chatter; echo done > $MCP_SIM_DIR/answer"]
    found = report(capsys, document(tmp_path), "--answer-file", "{dir}/answer", "--seeds", "1..2", agent=agent)
    assert [run["answer"] for run in found["runs"]] == ["done", "done"]


@pytest.mark.parametrize(
    "put", ["mkfifo $MCP_SIM_DIR/answer", "ln -s /dev/zero $MCP_SIM_DIR/answer", "mkdir {dir}/answer"]
)
def test_what_is_no_file_is_no_answer(put: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, document(tmp_path), "--answer-file", "{dir}/answer", agent=["sh", "-c", put])
    assert found["runs"][0]["answer"] == ""


def test_an_agent_may_empty_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = ["sh", "-c", "ls $MCP_SIM_DIR; rm -rf $MCP_SIM_DIR/*"]
    found = report(capsys, document(tmp_path), agent=agent)
    assert found["runs"][0]["answer"] == "mcp.json"


def test_the_last_line_says_why_it_passed_or_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(document(tmp_path), "--require", "0", agent=[*PLAIN, *CREATE, *CREATE]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Passed: 0 of 1 judged run passed, 0 % required."


# many runs ------------------------------------------------------------------------------------------------------------


def test_clean_and_faulted_runs_are_paired_by_seed_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / name for name in ("r.json", "r.xml", "r.md")}
    options = ["--seeds", "1..4", "--baseline", "--json", str(files["r.json"]), "--junit", str(files["r.xml"])]
    options += ["--markdown", str(files["r.md"]), "--traces", str(tmp_path / "traces")]
    assert ran(document(tmp_path), *options, agent=[*PLAIN, *CREATE, "--until-done"]) == 1
    shown = capsys.readouterr().out
    found = json.loads(files["r.json"].read_text())
    assert [(one["condition"], one["pass_rate"]) for one in found["conditions"]] == [("clean", 1), ("faults", 0)]
    assert found["costs"]["faults"]["pairs"] == {"both": 0, "only_clean": 4, "only_faulted": 0, "neither": 0}
    assert found["costs"]["faults"]["p"] == 0.125
    assert found["coverage"] == {"create_deal": {"lost_ack": {"met": 4, "survived": 0, "unknown": 0}}}
    assert "Faults cost 100 points of the pass rate" in shown
    assert "failed (faults, 4 runs, seeds 1, 2, 3, 4): one-deal, recovered-deal failed" in shown
    suites = ET.fromstring(files["r.xml"].read_text())
    assert [(suite.get("tests"), suite.get("failures")) for suite in suites] == [("4", "0"), ("4", "4")]
    assert "| faults | 4 | 0 | 4 | 0 % | 0 to 49 % |" in files["r.md"].read_text()
    traces = sorted(path.name for path in (tmp_path / "traces").iterdir())
    assert traces == [f"{condition}-seed{seed}.jsonl" for condition in ("clean", "faults") for seed in (1, 2, 3, 4)]
    assert main(["show", str(tmp_path / "traces" / traces[-1])]) == 0


def test_the_trace_of_a_run_without_faults_gets_the_same_grade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = tmp_path / "traces"
    options = ["--baseline", "--traces", str(traces)]
    found = report(capsys, document(tmp_path), *options, agent=[*PLAIN, *CREATE])
    for run in found["runs"]:
        assert main(["grade", run["trace"]]) == 0
        assert capsys.readouterr().out.startswith(f"world {Path(run['trace']).stem}: passed: {run['because']}")
    clean, _ = (Path(run["trace"]) for run in found["runs"])
    assert main(["explain", str(clean), "--scenario", str(tmp_path / "scenario.json")]) == 0
    assert "probability 0" in capsys.readouterr().out


def test_every_intensity_and_repetition_is_a_run_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--intensity", "0.3,1", "--repeat", "2", "--require", "0"]
    found = report(capsys, document(tmp_path), *options, agent=[*PLAIN, *CREATE])
    assert [(run["condition"], run["repetition"]) for run in found["runs"]] == [
        ("intensity 0.3", 1),
        ("intensity 1", 1),
        ("intensity 0.3", 2),
        ("intensity 1", 2),
    ]
    assert found["exit_code"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_agents_and_reports_what_is_finished(tmp_path: Path, number: int) -> None:
    pid, path, traces = tmp_path / "pid", document(tmp_path), tmp_path / "traces"
    agent = ["sh", "-c", f"if mkdir {tmp_path}/first; then exit 0; fi; echo $$ > {pid}; sleep 100"]
    options = ["--seeds", "1..5", "--jobs", "1", "--traces", str(traces)]
    command = [PYTHON, "-m", "mcp_sim", "run", path, *options, "--", *agent]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while not (pid.exists() and pid.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert b"Stopped after 1 of 5 runs" in output
    finished, unfinished = sorted(file.name for file in traces.iterdir())
    assert finished.removesuffix("1.jsonl") == unfinished.removesuffix("2.jsonl.unfinished")
    assert_ended(int(pid.read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="the agent is a shell script")
@pytest.mark.parametrize("other", ["s/seed1/seed2/", "s/seed1.jsonl.*/seed2.jsonl/"])
def test_runs_that_are_finished_are_reported_where_the_next_trace_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: str
) -> None:
    traces = tmp_path / "traces"
    agent = ["sh", "-c", f"for at in {traces}/*.unfinished; do mkdir $(echo $at | sed {other}); done"]
    assert ran(document(tmp_path), "--seeds", "1..3", "--jobs", "1", "--traces", str(traces), agent=agent) == 3
    shown = capsys.readouterr()
    assert "Stopped after 1 of 3 runs" in shown.out
    assert "cannot write the trace" in shown.err


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_real_client_reaches_all_servers_over_either_transport(
    transport: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    agent = [PYTHON, "-m", "mcp_sim.runs.agents", "golden"]
    found = report(capsys, "office", "--transport", transport, agent=agent)
    assert (found["exit_code"], found["runs"][0]["outcome"]) == (0, "passed")
    assert found["runs"][0]["answer"].startswith("The bug is TRK-")


def test_a_trace_of_a_run_has_the_final_answer_that_it_is_judged_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = document(tmp_path, perturbations=[], expect=[{"answered": "all done"}])
    traces = tmp_path / "traces"
    assert ran(scenario, "--traces", str(traces), agent=["echo", "All done."]) == 0
    (trace,) = traces.iterdir()
    capsys.readouterr()
    assert main(["grade", str(trace)]) == 0
    assert "passed" in capsys.readouterr().out
    assert main(["grade", str(trace), "--answer", "No."]) == 1
    assert main(["show", str(trace)]) == 0
    assert "final answer: All done." in capsys.readouterr().out


LEAVING = """\
import os, sys
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
os.chmod(".", 0)
"""


def test_an_agent_cannot_end_a_run_by_what_it_leaves_or_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flood = "import sys\nfor _ in range(200): sys.stdout.write('x' * 500_000); sys.stderr.write('y' * 500_000)\n"
    script = tmp_path / "agent.py"
    script.write_text(f"import os\nos.chdir(os.environ['MCP_SIM_DIR'])\n{LEAVING}{flood}print('the end')\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used: list[int] = []

    async def watched() -> Exit:
        command = AgentCommand((sys.executable, str(script)), 60)
        with fresh_folder() as folder:
            ended = await command.run("", {"s": "http://127.0.0.1:1"}, folder)
        used.append(len(ended.answer) + len(ended.errors))
        return ended

    ended = anyio.run(watched)
    assert ended.code == 0
    assert ended.answer.endswith("the end")
    assert "bytes are left out" in ended.errors
    assert used[0] < 10 << 20
    assert [*tmp_path.glob("mcp-sim-*")] == []
