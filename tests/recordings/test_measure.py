"""Measurements of specs and scenarios: the state and tools of a session, faults, processes, the reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.notebook_server import CALLS, record

from mcp_sim.recordings import responders
from mcp_sim.recordings.responders import Simulations
from mcp_sim.recordings.score import measure
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import read_sessions, session_lines

PARAMETERS = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOLS = [{"name": "get_note", "description": "Get a note.", "inputSchema": PARAMETERS}]
SPEC = """\
mcp_sim: 1
name: notes
tools: tools.json
errors: {not_found: "There is no {id}"}
"""


def text(value: Any, *, is_error: bool = False) -> dict[str, Any]:
    shown = value if isinstance(value, str) else json.dumps(value, indent=2)
    return {"result": {"content": [{"type": "text", "text": shown}], "isError": is_error}}


def write(folder: Path, name: str, title: str) -> None:
    """Write a session that reads a note of its state, and one that is missing."""
    state = {"notes": [{"id": "n1", "title": title}]}
    calls = [
        {"tool": "get_note", "arguments": {"id": "n1"}, **text({"id": "n1", "title": title})},
        {"tool": "get_note", "arguments": {"id": "n9"}, **text("There is no n9", is_error=True)},
    ]
    lines = session_lines({"server": "notes", "session": name, "initial_state": state}, calls)
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A folder with two sessions in one state and one in another, and a spec."""
    for name, title in (("a", "Milk"), ("b", "Milk"), ("c", "Bread")):
        write(tmp_path, name, title)
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")
    return tmp_path


async def test_a_spec_is_compared_with_what_the_list_of_tools_gives(recorded: Path) -> None:
    report = await measure(recorded / "spec.yaml", read_sessions(recorded))
    assert (report.sessions, report.overall.calls, report.score) == (3, 6, 1.0)
    assert report.cold is not None
    cold = report.cold.overall.columns
    assert {**cold, "text": 0} == {"outcome": 1.0, "structure": 1.0, "echo": 1.0, "text": 0, "exact": 0.5}
    assert 0.5 < cold["text"] < 1  # the notes are texts of the same layout; the failure is worded differently
    assert report.tools["notes", "get_note"].marks == {"outcome": 6, "structure": 3, "echo": 3, "text": 6, "exact": 6}


async def test_sessions_with_the_same_tools_and_state_share_a_compiled_scenario(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = list[Any]()

    def counting_load(*args: Any, **options: Any) -> Any:
        states.append(options["state"])
        return load(*args, **options)

    monkeypatch.setattr(responders, "load", counting_load)
    await measure(recorded / "spec.yaml", read_sessions(recorded), cold=False)
    assert [state["notes"][0]["title"] for state in states] == ["Milk", "Bread"]


async def test_two_processes_give_the_report_of_one(recorded: Path) -> None:
    sessions = read_sessions(recorded)
    one, two = [await measure(recorded / "spec.yaml", sessions, processes=n) for n in (1, 2)]
    assert one.to_json() == two.to_json()
    assert [call.session for call in two.calls] == ["a", "a", "b", "b", "c", "c"]


async def test_faults_of_a_scenario_are_left_out(recorded: Path) -> None:
    scenario = "mcp_sim: 1\nname: flaky\ntools: spec.yaml\nperturbations: [{error: {}}]\n"
    (recorded / "flaky.yaml").write_text(scenario, encoding="utf-8")
    assert (await measure(recorded / "flaky.yaml", read_sessions(recorded), cold=False)).score == 1.0


async def test_a_compiled_scenario_keeps_its_own_state(recorded: Path) -> None:
    scenario = load(recorded / "spec.yaml", state={"notes": [{"id": "n1", "title": "Bread"}]})
    report = await measure(scenario, read_sessions(recorded), cold=False)
    exact = {call.session: call.marks["exact"][0].value for call in report.calls if call.seq == 1}
    assert exact == {"a": 0.0, "b": 0.0, "c": 1.0}


async def test_the_worlds_of_two_sessions_are_separate(tmp_path: Path) -> None:
    for name in ("one", "two"):
        await record(tmp_path, name, CALLS)
    sessions = read_sessions(tmp_path)
    report = await measure(tmp_path / "tools.json", sessions)
    assert report.overall.columns["outcome"] == 1.0
    assert report.cold is not None
    assert report.overall == report.cold.overall


async def test_servers_count_for_the_same_in_the_overall_score(tmp_path: Path) -> None:
    for server, title in (("notes", "Milk"), ("more", "Bread")):
        (tmp_path / server).mkdir()
        write(tmp_path / server, server, title)
        file = tmp_path / server / f"{server}.jsonl"
        file.write_text(file.read_text(encoding="utf-8").replace('"server": "notes"', f'"server": "{server}"'))
    write(tmp_path / "notes", "again", "Milk")
    async with Simulations(None) as simulations:
        report = await measure(simulations, read_sessions(tmp_path), cold=False)
    assert {name: scores.calls for name, scores in report.servers.items()} == {"more": 2, "notes": 4}
    assert report.score == sum(scores.score or 0 for scores in report.servers.values()) / 2


CLOCK = """\
from mcp_sim.programs import initial, tool

tables = {"mark": {"ids": 1, "fields": {"at": ""}}}


@initial
def begin(given, world):
    world.mark.add(at=world.now.isoformat())


@tool
def what_time(world):
    return f"{next(iter(world.mark))['at']} {world.now.isoformat()}"
"""


async def test_worlds_begin_at_the_recorded_time_and_it_passes_as_recorded(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text(CLOCK, encoding="utf-8")
    (tmp_path / "tools.json").write_text(
        json.dumps({"tools": [{"name": "what_time", "inputSchema": {"type": "object"}}]}), encoding="utf-8"
    )
    (tmp_path / "clock.yaml").write_text("mcp_sim: 1\ntools: tools.json\nprogram: clock.py\n", encoding="utf-8")
    for name, day in (("a", "2026-03-01"), ("b", "2026-03-01"), ("c", "2026-05-09")):
        times = [f"{day}T10:00:{seconds}Z" for seconds in ("05", "05", "59")]
        called: dict[str, Any] = {"tool": "what_time", "arguments": {}, **text("?")}
        calls = [{**called, "at": at} for at in times]
        header = {"server": "clock", "session": name, "started": f"{day}T10:00:00.5Z"}
        (tmp_path / f"{name}.jsonl").write_text("\n".join(session_lines(header, calls)), encoding="utf-8")
    report = await measure(tmp_path / "clock.yaml", read_sessions(tmp_path), trust=True, cold=False)
    shown = [(call.session, *(call.answered or {})["result"]["content"][0]["text"].split()) for call in report.calls]
    assert [call for call in shown if call[0] != "b"] == [
        (name, f"{day}T10:00:00.500000+00:00", f"{day}T10:00:{seconds}+00:00")
        for name, day in (("a", "2026-03-01"), ("c", "2026-05-09"))
        for seconds in ("05", "06", "59")
    ]
