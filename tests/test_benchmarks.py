"""Runs of the benchmarks: of calls, growth, planning, stores, world models, perfect answers and the guard."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from anyio import run_process
from support.endpoint import serving
from support.places import ROOT
from support.warm import PYTHON

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": ""}


def test_the_benchmark_of_the_built_in_world_model_has_a_line_for_every_verb() -> None:
    done = subprocess.run(_quick("calls.py", "verbs"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    for verb in ("get", "create", "update", "delete", "list", "search"):
        assert any(line.startswith(verb) for line in done.stdout.splitlines()), done.stdout


def test_the_benchmark_of_planning_compares_two_sizes_of_every_case() -> None:
    command = [*_quick("growth.py", "planning"), "--lists", str(ROOT / "tool_specs" / "crm" / "crm.tools.json")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    parts = {row[-8] for row in rows if row[-1:] and row[-1].endswith("x")}
    assert parts >= {"tool", "property", "word", "blank"}


async def test_the_benchmark_of_a_language_model_prints_the_own_time_of_calls_without_an_engine() -> None:
    done = await run_process(_quick("llm.py"), check=True, env=ENVIRONMENT)
    rows = {line[:21].strip(): line[21:].split() for line in done.stdout.decode().splitlines()}
    assert rows["the HTTP client alone"][-1] == "1.00x"
    assert float(rows["mcp-sim"][0]) > float(rows["the HTTP client alone"][0]) > 0


async def test_the_benchmark_of_a_language_model_compares_requests_and_prompt_tokens_with_the_whole_state() -> None:
    async with serving() as engine:
        done = await run_process([*_quick("llm.py"), engine.url, "tiny"], check=True, env=ENVIRONMENT)
    lines = done.stdout.decode().splitlines()
    whole, always, undetermined = (
        next(line for line in lines if line.startswith(name))
        for name in ("whole state each time", "mcp-sim, ask: always", "mcp-sim, ask: undetermined")
    )
    assert whole.split()[4] == "1.00"
    assert float(always.split()[3]) > float(undetermined.split()[3])
    assert engine.asked


NOTE = {"id": "n1", "title": "Milk", "pages": 3}
NOTES_TOOLS = [
    {"name": "get_note", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}},
    {"name": "list_notes", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
]


def _texts(*texts: str, **more: Any) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text} for text in texts], **more}}


def test_the_benchmark_of_perfect_answers_replies_with_all_that_a_server_can_answer(tmp_path: Path) -> None:
    listed = {"notes": [NOTE]}
    prose = " The title is\nMilk. "
    wanted = [
        ("get_note", _texts(json.dumps(NOTE)), f"<predicted_observation>{json.dumps(NOTE)}</predicted_observation>"),
        ("list_notes", _texts(json.dumps(listed), structuredContent=listed), json.dumps(listed)),
        ("list_notes", _texts(prose, structuredContent={"result": prose}), json.dumps({"result": prose})),
        ("get_note", _texts(prose), f"<predicted_observation>{prose}</predicted_observation>"),
        ("get_note", _texts("no", isError=True), json.dumps({"isError": True, "text": "no"})),
        ("get_note", _texts("a", "b"), json.dumps({**_texts("a", "b")["result"], "isError": False})),
        ("get_note", {"error": {"code": -32602, "message": "no"}}, '{"error": {"code": -32602, "message": "no"}}'),
        ("get_note", _texts(json.dumps(NOTE)), f"<predicted_observation>{json.dumps(NOTE)}</predicted_observation>"),
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": NOTES_TOOLS}))
    calls = [{"tool": one[0], "arguments": {"id": "n1", "turn": at}, **one[1]} for at, one in enumerate(wanted)]
    lines = [{"type": "session", "initial_state": {"notes": [NOTE]}}, *calls]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    details = tmp_path / "details.txt"
    command = [PYTHON, str(ROOT / "benchmarks" / "oracle.py"), str(tmp_path), "--mutate", "--details"]
    done = subprocess.run([*command, str(details)], check=False, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert next(row[1] for row in rows if row[:1] == ["all"]) == "8", done
    measured = [json.loads(line) for line in details.read_text().splitlines()]
    for call, (_, _, reply) in zip(measured, wanted, strict=False):
        assert reply in call["replies"]
    altered = measured[len(wanted) + 7]
    assert altered["mutation"]["fixed"]
    assert altered["mutation"]["altered"] != NOTE[altered["mutation"]["path"][-1]]


def _quick(script: str, *words: str) -> list[str]:
    return [PYTHON, str(ROOT / "benchmarks" / script), *words, "--quick"]


def test_the_benchmark_of_stores_prints_a_ratio_for_one_process_and_two() -> None:
    done = subprocess.run(_quick("stores.py", "cost"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sum(row[:1] == ["create,"] and row[-1].endswith("x") for row in rows) == 3


def test_killed_servers_lose_and_invent_no_calls_and_leave_a_trace_that_agrees_with_the_store() -> None:
    command = [PYTHON, str(ROOT / "benchmarks" / "stores.py"), "kills", "--trials", "2", "--calls", "60"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = {line.rpartition("  ")[0].strip(): line.split()[-1] for line in done.stdout.splitlines() if line}
    assert counted["processes killed"] == "3"
    assert counted["calls answered"] != "0"
    assert counted["answered calls lost"] == counted["calls invented"] == "0"
    assert done.stderr.startswith("2 of 2 trials, 0 problems")


def test_the_benchmark_of_growth_fails_for_each_cost_that_grows_more_than_it_may() -> None:
    command = [*_quick("growth.py", "calls"), "--most", "-9"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 1, done.stderr
    exponents = dict(line.split(": ") for line in done.stderr.splitlines())
    axes = {axis.rpartition(" of ")[2] for axis in exponents}
    assert axes == {"records", "earlier calls", "earlier creates", "tools", "worlds"}


def test_the_guard_finds_what_differs_from_its_snapshot_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text(json.dumps({"tools": NOTES_TOOLS}))
    before = tmp_path / "before.json"
    command = [PYTHON, str(ROOT / "benchmarks" / "guard.py"), str(before), "--unshipped", "--only", "plans,answers"]

    def guarded(*documents: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *documents], check=False, capture_output=True, text=True, env=ENVIRONMENT)

    missing = guarded()
    assert missing.returncode == 1
    assert "no such snapshot" in missing.stderr
    assert guarded(str(tmp_path / "notes.json")).returncode == 0
    snapshot = json.loads(before.read_text())
    [name] = [name for name in snapshot["answers"] if name.endswith("/notes")]
    snapshot["answers"][name][2] = "get_note 0"
    snapshot["plans"][name]["plan"]["get_note"]["confidence"] = 7
    before.write_text(json.dumps(snapshot))
    different = guarded()
    assert different.returncode == 1
    plan, field, line, count = different.stdout.splitlines()
    assert plan == f"{name}: plan get_note"
    assert field.startswith("  confidence: 7 -> ")
    assert line.startswith(f"{name}: entry 2 of 41: get_note 0 -> ")
    assert count == "2 differences"
    assert guarded("--ignore", "confidence").stdout.splitlines()[-1] == "1 differences"


def test_the_benchmark_of_worlds_repeats_dropped_calls_without_a_second_write() -> None:
    words = _quick("worlds.py", "ledgers", "dropped")
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    assert "all ledgers are those of the same calls alone" in done.stdout
    assert "each has exactly its 4 deals" in done.stdout
