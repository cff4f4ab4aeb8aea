"""Changed documents, traces, recordings and control requests are reported: no traceback, no hang, no file elsewhere."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, cast

import pytest
import yaml
from support.controlled import controlled

from mcp_sim.cli import main
from mcp_sim.simulator.compile import check
from mcp_sim.spec.sessions import read_sessions
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import DocumentError, UsageError

Json = Any
pytestmark = pytest.mark.time_limit(280)
TRIALS = int(os.environ.get("MCP_SIM_FUZZ", "60"))
ODD: list[Json] = [
    None, True, -1, 0, 10**30, 1e308, "", "x", "\ud83d", "\x1b[2J\r", "../../etc/passwd", "/dev/zero",
    "{count:.99999999f}", "(" * 500, "[" * 500, "a.b.c", "*", "9" * 400, "1e400s", "-5s", "2029-13-99", [], {},
    [[]], [None], {"a": {"b": []}}, ["x"] * 50, {"and": [{"or": []}]}, {"state": "1" + "+1" * 500}, {"nth": -1},
    {"probability": 7}, {"": 1}, "\u202e", "~",
]  # fmt: skip


def changed(value: Json, draws: Random) -> Json:
    """Return a value with one part replaced, doubled or removed."""
    if isinstance(value, dict) and value and draws.random() < 0.85:
        body = dict(cast("dict[str, Json]", value))
        key = draws.choice([*body])
        if draws.random() < 0.1:
            body[str(draws.choice(ODD))] = body.pop(key)
        else:
            body[key] = changed(body[key], draws)
        return body
    if isinstance(value, list) and value and draws.random() < 0.85:
        items = [*cast("list[Json]", value)]
        at = draws.randrange(len(items))
        items[at] = changed(items[at], draws)
        return items
    return draws.choice(ODD)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def check_no_file_elsewhere(folder: Path) -> None:
    assert [path.name for path in folder.iterdir()] == ["here"]


def test_documents(tmp_path: Path) -> None:
    draws, sources = Random(1), [path for name, path in shipped("scenarios").items() if "crm" in name or "mail" in name]
    for _ in range(TRIALS):
        body: Json = yaml.safe_load(draws.choice(sources).read_text())
        for _ in range(draws.randrange(1, 4)):
            body = changed(body, draws)
        Path("scenario.json").write_text(json.dumps(body, default=str))
        began = process_time()
        check([Path("scenario.json")])
        assert process_time() - began < 5, body
    check_no_file_elsewhere(tmp_path)


def test_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[Json] = [
        {"tool": "list_deals", "arguments": {}},
        {"tool": "get_deal", "arguments": {"deal_id": "deal_0001"}},
    ]
    Path("calls.jsonl").write_text("\n".join(map(json.dumps, calls)))
    assert main(["play", "flaky_crm", "calls.jsonl", "--trace", "whole.jsonl"]) == 0
    draws, lines = Random(2), Path("whole.jsonl").read_text().splitlines()
    for trial in range(TRIALS // 3):
        at = draws.randrange(len(lines))
        line = (
            json.dumps(changed(json.loads(lines[at]), draws)) if trial % 2 else lines[at][: draws.randrange(200)] + "}"
        )
        Path("run.jsonl").write_text("\n".join([*lines[:at], line, *lines[at + 1 :], ""]))
        began = process_time()
        for command in ("show", "grade", "explain", "diff"):
            main([command, "run.jsonl", *(["whole.jsonl"] if command == "diff" else [])])
        assert process_time() - began < 5, line
    assert "Traceback" not in capsys.readouterr().err
    check_no_file_elsewhere(tmp_path)


def test_recordings(tmp_path: Path) -> None:
    tools = [{"name": "get", "inputSchema": {"type": "object"}}]
    result = {"content": [{"type": "text", "text": "a"}]}
    lines: list[Json] = [{"type": "session", "server": "s", "format": 1, "tools": tools, "initial_state": {"a": [{}]}}]
    lines += [{"type": "call", "seq": n, "tool": "get", "arguments": {"id": n}, "result": result} for n in range(3)]
    draws = Random(3)
    for _ in range(4 * TRIALS):
        at = draws.randrange(len(lines))
        other = [*lines[:at], changed(lines[at], draws), *lines[at + 1 :]]
        Path("one.jsonl").write_text("\n".join(map(json.dumps, other)))
        try:
            read_sessions(Path("one.jsonl"))
        except (DocumentError, UsageError):
            continue
    check_no_file_elsewhere(tmp_path)


COMMANDS = """
play calm_crm F | compare F F | curriculum F -o c | expand F -o e | generate --fiction F -o f.json | trust --forget F
import client F | grade calls --answer-file F
"""
ENDLESS = ["zero.json", "loop.yaml", "deep.toml"]


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/zero, and a limit of memory")
def test_files_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("spec.yaml12", "spec.yaml12.reading", "spec.trust", "cli.play"):  # a MiB shows it as well as 64
        monkeypatch.setattr(f"mcp_sim.{module}.LARGEST", 1 << 20)
    Path("calls").touch()
    for name in ENDLESS:
        match name.split("."):
            case ["zero", _]:
                Path(name).symlink_to("/dev/zero")
            case ["loop", _]:
                Path(name).symlink_to(name)
            case _:
                Path(name).write_text(("a=" if name.endswith("toml") else "") + "[" * 50_000)
    before = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + (1 << 30), before[1]))
    try:
        for command in re.split(r" \| |\n", COMMANDS.strip()):
            for name in ENDLESS:
                began = process_time()
                main(command.replace("F", name).split())
                assert process_time() - began < 5, (command, name)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert "Traceback" not in capsys.readouterr().err
    check_no_file_elsewhere(tmp_path)


def test_problems_without_end() -> None:
    Path("scenario.yaml").write_text("".join(f"k{number}: &n{number} v\n" for number in range(20_000)))
    began = process_time()
    assert 1000 <= len(check([Path("scenario.yaml")])) < 1100
    assert process_time() - began < 5


def test_control_requests(tmp_path: Path) -> None:
    draws, fault = Random(4), {"lost_ack": {}, "tools": "create_deal", "when": {"nth": 1}}
    bodies: list[Json] = [
        {"name": "a", "seed": 7},
        fault,
        {"by": "1h"},
        {"changes": [{"op": "put"}]},
        {"answer": "done"},
    ]
    paths = [
        "/worlds",
        "/worlds/default/faults",
        "/worlds/default/clock",
        "/worlds/default/records",
        "/worlds/default/x",
    ]
    with controlled("flaky_crm") as (_, operator):
        known = [*operator.get("/openapi.json")["paths"]]
        for _ in range(TRIALS):
            path = draws.choice([*paths, *known]).replace("{world}", "default").replace("{", "").replace("}", "")
            body = changed(draws.choice(bodies), draws)
            content = draws.choice([json.dumps(body).encode(), b"\xff\xfe", b"[" * 500, b'{"a":1e999}', b'"\\ud83d"'])
            began = process_time()
            status = operator.send(draws.choice(["POST", "PATCH", "PUT", "GET", "DELETE"]), path, content).status_code
            assert status < 500 or status == 501, (path, content, status)
            assert process_time() - began < 5
    check_no_file_elsewhere(tmp_path)
