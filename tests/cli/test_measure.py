"""`mcp-sim measure`: the table, JSON, details and exit codes."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from support.notebook_server import CALLS, record

from mcp_sim.cli import main


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two recorded sessions of a real server."""
    folder = tmp_path_factory.mktemp("notebook")
    for name in ("first", "second"):
        asyncio.run(record(folder, name, CALLS if name == "first" else CALLS[:4]))
    return folder


def test_the_table_has_a_row_for_each_tool_and_compares_with_the_list_of_tools(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", str(notebook / "tools.json"), str(notebook)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    form, behaviour = ["structure", "text", "exact"], ["outcome", "read-your-writes", "gone", "echo", "follows"]
    columns = ["tool", "calls", *form, *behaviour, "form", "behaviour", "score", "cold"]
    assert [name for name in rows[0] if name != "leaks"] == columns
    calls = {"create_note": "4", "delete_note": "2", "get_note": "3", "list_notes": "3", "all": "12", "cold": "12"}
    outcome = rows[0].index("outcome")
    assert {row[0]: (row[1], row[outcome]) for row in rows[1:]} == {name: (n, "1.000") for name, n in calls.items()}
    assert rows[5][-1] == rows[6][-1]


def test_another_recording_of_the_same_sessions_scores_one(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(notebook), str(notebook), "--no-cold", "--json", "--at-least", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["score"], report["sessions"], report["calls"], report["crashes"]) == (1.0, 2, 12, 0)
    assert report["servers"]["notebook"]["tools"]["create_note"]["columns"]["exact"] == 1.0
    assert "cold" not in report


def test_a_score_below_the_required_one_is_an_error(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(notebook / "tools.json"), str(notebook), "--no-cold", "--at-least", "0.95"]) == 1
    assert capsys.readouterr().err.endswith(" is below 0.95\n")
    assert main(["measure", str(notebook / "tools.json"), str(notebook), "--at-least", "two"]) == 2
    assert "must be a number from 0 to 1, not 'two'" in capsys.readouterr().err


def test_details_have_a_line_for_each_call_that_differs(notebook: Path, tmp_path: Path) -> None:
    details = tmp_path / "details.jsonl"
    spec = str(notebook / "tools.json")
    assert main(["measure", spec, str(notebook), "--no-cold", "--details", str(details), "--sessions", "f*"]) == 0
    lines = [json.loads(line) for line in details.read_text(encoding="utf-8").splitlines()]
    assert [(line["session"], line["seq"]) for line in lines[:2]] == [("first", 1), ("first", 2)]
    assert lines[0]["tool"] == "create_note"
    assert lines[0]["arguments"] == {"title": "Milk", "text": "two litres"}
    assert json.loads(lines[0]["recorded"]["result"]["content"][0]["text"])["id"] == "note-41"
    assert lines[0]["answered"]["result"]["content"]
    assert lines[0]["columns"]["exact"] == 0.0
    assert lines[0]["reasons"]["structure"] == ["unexpected: $.created_at: string, $.note_id: string"]


def test_a_crash_is_reported_and_never_scored_as_an_answer(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(notebook, tmp_path / "short")
    file = tmp_path / "short/second.jsonl"
    file.write_text("\n".join(file.read_text(encoding="utf-8").splitlines()[:-1]), encoding="utf-8")
    assert main(["measure", str(tmp_path / "short"), str(notebook), "--no-cold"]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "crash: notebook second, call 4: get_note: the recording has no such call here",
        "mcp-sim could not answer 1 call",
    ]


def test_broken_recordings_and_several_servers_are_refused(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for server in ("notes", "tasks"):
        shutil.copytree(notebook, tmp_path / server)
        for file in (tmp_path / server).glob("*.jsonl"):
            text = file.read_text(encoding="utf-8").replace('"server": "notebook"', f'"server": "{server}"')
            file.write_text(text, encoding="utf-8")
    spec = str(notebook / "tools.json")
    assert main(["measure", spec, str(tmp_path)]) == 2
    assert "the recordings are of several servers: notes, tasks; choose with --servers NAME" in capsys.readouterr().err
    assert main(["measure", spec, str(tmp_path), "--servers", "notes", "--no-cold"]) == 0
    (tmp_path / "notes/first.jsonl").write_text("{}\nnone\n", encoding="utf-8")
    assert main(["measure", spec, str(tmp_path / "notes")]) == 1
    assert "first.jsonl:2: is not JSON" in capsys.readouterr().err


def test_recordings_write_no_files_and_command_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    deep = "[" * 900 + "]" * 900
    tools = [{"name": "get_\x1b[31mnote", "inputSchema": {"type": "object"}}]
    header = {"server": f"{'../' * 20}{tmp_path}/evil", "session": "\x1b[2J", "tools": tools}
    call = {"tool": tools[0]["name"], "result": {"content": [{"type": "text", "text": deep}]}}
    lines = [header, call, {**call, "tool": "lost\x1b[2J"}]
    (folder / "one.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert main(["measure", str(tmp_path / "tools.json"), str(folder)]) in {0, 3}
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert {path.name for path in tmp_path.iterdir()} == {"notes", "tools.json"}
