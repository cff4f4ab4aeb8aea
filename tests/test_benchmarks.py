"""Runs of the benchmarks of perturbations, abandoned sessions, world models, perfect answers and planning."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from anyio import run_process
from support.endpoint import serving
from support.places import ROOT

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": ""}


def test_the_benchmark_of_rules_prints_a_ratio_for_every_number_of_rules() -> None:
    done = subprocess.run(_quick("perturbations.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "10", "100"] * 2
    assert all(row[2].endswith("x") for row in rows)


def test_the_benchmark_of_abandoned_sessions_prints_refusals_and_the_statuses_of_later_clients() -> None:
    done = subprocess.run(_quick("abandoned.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    names = ("default limits", "enough sessions", "closed after 1 s")
    default, enough, closed = (line for line in lines if line.startswith(names))
    assert default.startswith("default limits 20 30 ")
    assert default.endswith(" 503 and 200")
    assert enough.startswith("enough sessions 50 0 ")
    assert closed.endswith(" 200 and 200")


def test_the_benchmark_of_the_built_in_world_model_has_a_line_for_every_verb() -> None:
    done = subprocess.run(_quick("builtin.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    for verb in ("get", "create", "update", "delete", "list", "search"):
        assert any(line.startswith(verb) for line in done.stdout.splitlines()), done.stdout


def test_the_benchmark_of_planning_compares_two_sizes_of_every_case() -> None:
    done = subprocess.run(_quick("planning.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
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
    command = [sys.executable, str(ROOT / "benchmarks" / "oracle.py"), str(tmp_path), "--mutate", "--details"]
    done = subprocess.run([*command, str(details)], check=False, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert next(row[1] for row in rows if row[:1] == ["all"]) == "8", done
    measured = [json.loads(line) for line in details.read_text().splitlines()]
    for call, (_, _, reply) in zip(measured, wanted, strict=False):
        assert reply in call["replies"]
    altered = measured[len(wanted) + 7]
    assert altered["mutation"]["fixed"]
    assert altered["mutation"]["altered"] != NOTE[altered["mutation"]["path"][-1]]
    assert measured[-1]["followed"]["records"] == 1


def _quick(script: str) -> list[str]:
    return [sys.executable, str(ROOT / "benchmarks" / script), "--quick"]


def test_the_benchmark_of_stores_prints_a_ratio_for_one_process_and_two() -> None:
    done = subprocess.run(_quick("stores.py"), check=True, capture_output=True, text=True, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sum(row[:1] == ["create,"] and row[-1].endswith("x") for row in rows) == 3


def test_killed_servers_lose_and_invent_no_calls_and_leave_a_trace_that_agrees_with_the_store() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "kills.py"), "--trials", "2", "--calls", "60"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = {line.rpartition("  ")[0].strip(): line.split()[-1] for line in done.stdout.splitlines() if line}
    assert counted["processes killed"] == "3"
    assert counted["calls answered"] != "0"
    assert counted["answered calls lost"] == counted["calls invented"] == "0"
    assert done.stderr.startswith("2 of 2 trials, 0 problems")


def test_the_benchmark_of_growth_fails_for_each_cost_that_grows_more_than_it_may() -> None:
    command = [*_quick("growth.py"), "--most", "-9"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 1, done.stderr
    exponents = dict(line.split(": ") for line in done.stderr.splitlines())
    axes = {axis.rpartition(" of ")[2] for axis in exponents}
    assert axes == {"records", "earlier calls", "earlier creates", "tools", "worlds"}
    assert float(exponents["create grows with the number of worlds"]) < 0.7
    assert float(exponents["get grows with the number of records"]) < 0.7
