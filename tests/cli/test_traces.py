"""Traces of strangers: every command that reads them reports the first wrong line, and what is wrong with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.cli import main

CREATE = {"tool": "create_deal", "arguments": {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}}

COMMANDS: dict[str, list[str]] = {
    "show": ["show", "run.jsonl"],
    "explain": ["explain", "run.jsonl"],
    "view": ["view", "run.jsonl", "-o", "run.html"],
    "grade": ["grade", "run.jsonl"],
    "diff": ["diff", "run.jsonl", "sound.jsonl"],
    "record": ["record", "-o", "recorded", "--from", "run.jsonl"],
}

WRONG: dict[str, tuple[list[str | int], Any, str]] = {
    "a world that is a list": (["world"], [1], "world: [1] is not of type 'string'"),
    "a change that is a list": (["step", "committed", 0], [1, {}], "step.committed[0]: [1, {}] is not of type"),
    "a change of nothing": (["step", "committed", 0], {"op": "put"}, "step.committed[0]: 'entity' is a required"),
    "arguments that are a text": (["step", "arguments"], "x", "step.arguments: 'x' is not of type 'object'"),
    "a month that does not exist": (["step", "at"], "2029-13-01T09:00:00Z", "step.at: '2029-13-01T09:00:00Z'"),
    "a day that does not exist": (
        ["step", "at"],
        "2029-02-30T09:00:00Z",
        "step.at: '2029-02-30T09:00:00Z' is not a time",
    ),
    "an endless delay": (["step", "served", "delay_ms"], 1e300, "step.served.delay_ms: 1e+300 is greater than"),
    "a fault without a reason": (["step", "perturbations", 0], {"id": "x"}, "step.perturbations[0]: 'kind' is a"),
    "no step": (["step"], None, "step: None is not of type 'object'"),
}


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> list[str]:
    """The lines of a trace; `sound.jsonl` has them."""
    monkeypatch.chdir(tmp_path)
    Path("calls.jsonl").write_text(json.dumps(CREATE), encoding="utf-8")
    assert main(["play", "flaky_crm", "calls.jsonl", "--trace", "sound.jsonl"]) == 0
    capfd.readouterr()
    return Path("sound.jsonl").read_text(encoding="utf-8").splitlines()


def put(value: Any, path: list[str | int], part: Any) -> Any:
    """Return a JSON value with another part at a path."""
    name: Any = path[0]
    changed = value.copy()
    changed[name] = put(value[name], path[1:], part) if path[1:] else part
    return changed


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_line_is_reported_and_the_rest_is_read(command: str, lines: list[str], capfd: Any) -> None:
    for name, (path, part, reason) in WRONG.items():
        wrong = json.dumps(put(json.loads(lines[2]), path, part))
        Path("run.jsonl").write_text("\n".join([*lines[:2], wrong, ""]), encoding="utf-8")
        assert main(COMMANDS[command]) == {"grade": 3, "diff": 1, "record": 2}.get(command, 0), name
        error = capfd.readouterr().err
        assert f"run.jsonl:3: not an entry of a trace of format 2: {reason}" in error, name


@pytest.mark.parametrize("command", COMMANDS)
def test_keys_of_later_versions_are_skipped(command: str, lines: list[str]) -> None:
    step = json.loads(lines[2])
    step["step"]["perturbations"][0]["later"] = step["later"] = 1
    Path("run.jsonl").write_text("\n".join([*lines[:2], json.dumps(step), ""]), encoding="utf-8")
    assert main(COMMANDS[command]) in {0, 1}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX")
def test_a_trace_does_not_make_record_wait_for_a_pipe(lines: list[str]) -> None:
    os.mkfifo("waiting")
    header = {**json.loads(lines[0]), "path": "waiting", "scenario": "x"}
    Path("run.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]), encoding="utf-8")
    assert main(COMMANDS["record"]) == 0
