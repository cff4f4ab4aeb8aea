"""`mcp-sim play`: calls from a file or stdin, one JSON line per step, a grade and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.spec.sources import shipped

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
CREATE = {"tool": "create_deal", "arguments": SPRING}
LOOK = {"tool": "list_deals", "arguments": {"contact_id": "con_00001"}}
MOVE = {"tool": "update_deal", "arguments": {"deal_id": "deal_0081", "stage": "proposal"}}


def calls_file(folder: Path, *calls: Any) -> str:
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(call) + "\n\n" for call in calls))
    return str(path)


def played(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [PYTHON, "-m", "mcp_sim", "play", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_each_step_is_a_line_that_says_what_was_seen_and_what_was_applied(tmp_path: Path, capfdbinary: Any) -> None:
    assert main(["play", "flaky_crm", calls_file(tmp_path, CREATE, LOOK)]) == 0
    first, second = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert (first["index"], first["tool"], first["arguments"]) == (1, "create_deal", SPRING)
    assert (first["is_error"], first["structured"], first["applied"]) == (True, None, ["lost-deal"])
    assert first["content"][0]["text"].startswith("504")
    assert (second["index"], second["is_error"], second["applied"]) == (2, False, [])
    assert any(deal["title"] == "Spring order" for deal in second["structured"]["deals"])
    assert json.loads(second["content"][0]["text"]) == second["structured"]


def test_calls_come_from_stdin_where_no_file_is_named() -> None:
    done = played("calm_crm", stdin=json.dumps(LOOK).encode())
    assert (done.returncode, json.loads(done.stdout)["tool"]) == (0, "list_deals")


def test_grade_is_0_when_all_is_as_expected_and_1_when_not(tmp_path: Path, capfdbinary: Any) -> None:
    told = ["--grade", "--answer", "The deal is in the stage proposal."]
    assert main(["play", "flaky_crm", calls_file(tmp_path, CREATE, LOOK, MOVE), *told]) == 0
    assert b"passed" in capfdbinary.readouterr().err
    assert main(["play", "flaky_crm", calls_file(tmp_path, CREATE, CREATE), *told]) == 1
    report = capfdbinary.readouterr().err
    assert b"failed   one-deal: 2 deal records fit, expected 1" in report
    assert b"\x1b" not in report


def test_the_seed_and_the_trace_are_as_asked(tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    assert main(["play", "flaky_crm", calls_file(tmp_path, LOOK), "--seed", "12", "--trace", str(trace)]) == 0
    header, reset, call = (json.loads(line) for line in trace.read_text().splitlines())
    assert (header["format"], header["scenario"], reset["step"]["seed"]) == (2, "flaky-crm", 12)
    assert call["step"]["tool"] == "list_deals"


def test_an_unknown_tool_is_answered_as_for_the_agent_and_exit_2(tmp_path: Path, capfdbinary: Any) -> None:
    calls = calls_file(tmp_path, {"tool": "list_deal"}, LOOK)
    assert main(["play", "calm_crm", calls]) == 2
    said = capfdbinary.readouterr()
    line, after = map(json.loads, said.out.splitlines())
    assert line["rpc_error"] == {"code": -32602, "message": "Unknown tool: list_deal", "data": None}
    assert not after["is_error"]
    assert said.err.decode() == f"{calls}:1: unknown tool 'list_deal'; did you mean 'list_deals'?\n"
    assert main(["play", "calm_crm", calls, "--grade"]) == 2


def test_a_line_that_is_no_call_is_reported_with_its_place_and_exit_2(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "calls.jsonl"
    for line, reason in [
        ("{", "not JSON"),
        ("[]", "a call is"),
        ('{"tool": 1}', "a call is"),
        ('{"tool": "a", "arguments": []}', "a call is"),
        ('{"tool": "a", "arguments": 3}', "a call is"),
        ("[" * 100_000, "not JSON"),
        ('{"tool": "list_deals", "arguments": {"limit": 1e400}}', "the arguments of list_deals are not JSON"),
    ]:
        path.write_text(f"{json.dumps(LOOK)}\n{line}\n")
        assert main(["play", "calm_crm", str(path)]) == 2, line
        assert f"{path}:2: {reason}" in capsys.readouterr().err


def test_a_file_that_is_not_there_and_a_trace_that_cannot_be_written_are_reported(tmp_path: Path, capsys: Any) -> None:
    assert main(["play", "calm_crm", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot read" in capsys.readouterr().err
    for place in (tmp_path / "no" / "t", tmp_path):
        assert main(["play", "calm_crm", calls_file(tmp_path, LOOK), "--trace", str(place)]) == 2
        assert f"cannot write the trace to {place}" in capsys.readouterr().err


def test_no_trace_takes_the_place_of_what_is_read(tmp_path: Path, capsys: Any) -> None:
    calls = calls_file(tmp_path, LOOK)
    spec, scenario = tmp_path / "tools.json", tmp_path / "s.yaml"
    spec.write_bytes((shipped("tool_specs")["crm"].parent / "crm.tools.json").read_bytes())
    scenario.write_text("mcp_sim: 1\ntools: tools.json\nseed: 1\n")
    (tmp_path / "link").symlink_to(calls)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for trace in (calls, str(spec), str(scenario), str(tmp_path / "link")):
        assert main(["play", str(scenario), calls, "--trace", trace]) == 2
        assert f"--trace {trace}: this run reads that file" in capsys.readouterr().err
    assert main(["serve", str(scenario), "--trace", str(spec)]) == 2
    with Path(calls).open("rb") as stdin:
        command = [PYTHON, "-m", "mcp_sim", "play", str(scenario), "--trace", calls]
        assert subprocess.run(command, stdin=stdin, capture_output=True, check=False).returncode == 2
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert main(["play", str(scenario), calls, "--trace", str(tmp_path / "trace.jsonl")]) == 0


@pytest.mark.parametrize("options", [["--strict"], ["--answer", "done"]])
def test_an_option_that_only_a_grade_heeds_is_refused_without_one(tmp_path: Path, capsys: Any, options: Any) -> None:
    assert main(["play", "crm", calls_file(tmp_path), *options]) == 2
    assert f"{options[0]} needs --grade" in capsys.readouterr().err


def test_a_call_that_nothing_can_answer_is_a_crash_line_and_exit_3(tmp_path: Path, capfdbinary: Any) -> None:
    (tmp_path / "kept").mkdir()
    cache = {"dir": str(tmp_path / "kept"), "replay": True}
    model = {"openai": {"base_url": "http://127.0.0.1:9/v1", "model": "any", "cache": cache}}
    (tmp_path / "replay.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "crm", "world_model": model}))
    scenario = str(tmp_path / "replay.yaml")
    assert main(["play", scenario, calls_file(tmp_path, LOOK), "--trust", scenario]) == 3
    (line,) = capfdbinary.readouterr().out.splitlines()
    assert "no reply is stored for this request" in json.loads(line)["crash"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_at_a_terminal_it_says_what_it_waits_for_and_ends_at_the_first_interrupt() -> None:
    import pty

    ours, theirs = pty.openpty()
    words = [PYTHON, "-m", "mcp_sim", "play", "crm"]
    with subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"Type calls" in process.stderr.readline()
        os.write(ours, b'{"tool": "list_deals", "arguments": {}}\n')
        assert b'"index":1' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    os.close(ours)
    os.close(theirs)
