"""`mcp-sim diff --against`: recorded sessions compared with a live server, which is never written to."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from support.notebook_server import CALLS, record
from support.over_http import listening, started
from support.places import SUPPORT
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.recordings.differences import weight_of
from mcp_sim.spec.sessions import session_lines

NOTEBOOK = shlex.join([PYTHON, str(SUPPORT / "notebook_server.py")])
SHELF_FILE = str(SUPPORT / "shelf_server.py")
SHELF = shlex.join([PYTHON, SHELF_FILE])
LIVE = """
import json, sys
from pathlib import Path

tools, answers = (json.loads(Path(name).read_text()) for name in ("live.json", "answers.json"))
for line in sys.stdin:
    request = json.loads(line)
    result = {}
    if request["method"] == "initialize":
        info = {"name": "live", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif request["method"] == "tools/list":
        result = {"tools": tools}
    elif request["method"] == "tools/call":
        with open("log", "a") as called:
            called.write(request["params"]["name"] + "\\n")
        result = {"content": [{"type": "text", "text": answers.get(request["params"]["name"], "done")}]}
    if "id" in request:
        body = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("live.py").write_text(LIVE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def shelves(place: Path) -> Path:
    """Record two sessions of a server with random ids, each in a process of its own."""
    Path("shelves").mkdir()
    for name in ("first", "second"):
        tools, calls = anyio.run(_shelf_session, name)
        lines = session_lines({"server": "shelf", "session": name}, calls)
        Path(f"shelves/{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("shelves/tools.json").write_text(json.dumps(tools), encoding="utf-8")
    return place


async def _shelf_session(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the tools, and the calls of a session that uses the ids that the server gave."""
    lines = list[dict[str, Any]]()
    async with Client(StdioServerParameters(command=PYTHON, args=[SHELF_FILE])) as client:

        async def made(tool: str, **arguments: Any) -> str:
            result = (await client.call_tool(tool, arguments)).model_dump(mode="json", by_alias=True, exclude_none=True)
            lines.append({"tool": tool, "arguments": arguments, "result": result})
            return str(result["content"][0]["text"])

        tools = await client.list_tools()
        await made("list_books")
        kept, gone = [(await made("add_book", title=title)).split()[-1] for title in ("Persuasion", f"The {name} book")]
        await made("show_book", book_id=kept)
        await made("list_books")
        await made("remove_book", book_id=gone)
        await made("show_book", book_id=kept)
        await made("show_book", book_id=gone)
        await made("list_books")
    return tools.model_dump(mode="json", by_alias=True, exclude_none=True), lines


def tool(name: str, required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "inputSchema": schema}


def recorded(tools: Sequence[dict[str, Any]], *calls: tuple[str, dict[str, Any], str]) -> None:
    """Write a recording with these tools and calls: name, arguments, text of the result."""
    lines: list[dict[str, Any]] = [{"type": "session", "session": "first"}]
    for name, arguments, text in calls:
        result = {"content": [{"type": "text", "text": text}]}
        lines.append({"type": "call", "tool": name, "arguments": arguments, "result": result})
    Path("notes").mkdir()
    Path("notes/first.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    Path("notes/tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")


def against_live(
    capfd: Any, tools: Sequence[dict[str, Any]], answers: dict[str, str], *options: str
) -> tuple[int, dict[str, Any]]:
    """Compare the recording with a server that has these tools and texts. Return exit code and report."""
    Path("live.json").write_text(json.dumps(tools), encoding="utf-8")
    Path("answers.json").write_text(json.dumps(answers), encoding="utf-8")
    code = main(["diff", "--against", f"{shlex.quote(sys.executable)} live.py", "notes", "--json", *options])
    return code, json.loads(capfd.readouterr().out)


def called() -> list[str]:
    return Path("log").read_text(encoding="utf-8").split() if Path("log").exists() else []


GET = {**tool("get_note", ["note_id"], note_id={"type": "string"}), "annotations": {"readOnlyHint": True}}
LIST = tool("list_notes")
DELETE = tool("delete_note", ["note_id"], note_id={"type": "string"})
NOTE = json.dumps({"id": "n-1", "title": "Milk", "tags": []})


def test_the_server_that_was_recorded_does_not_differ(place: Path, capfd: Any) -> None:
    Path("notes").mkdir()
    reads: list[tuple[str, dict[str, Any]]] = [("list_notes", {}), ("get_note", {"note_id": "note-9"})]
    anyio.run(record, Path("notes"), "reads", reads)
    anyio.run(record, Path("notes"), "writes", CALLS)
    assert main(["diff", "--against", NOTEBOOK, "notes"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[:3] == ["tools", "    equal", "calls: 3 made, 2 equal"]
    assert lines[3].startswith("not called, since they may write: create_note, delete_note")
    assert lines[4].startswith("not comparable: 1 (get_note)")


def test_a_tool_that_may_write_is_called_only_if_it_is_named(place: Path, capfd: Any) -> None:
    recorded([GET, DELETE], ("delete_note", {"note_id": "n-1"}, "done"), ("get_note", {"note_id": "n-1"}, "gone"))
    code, report = against_live(capfd, [GET, DELETE], {})
    assert (code, report["may_write"], called()) == (0, ["delete_note"], ["get_note"])
    code, report = against_live(capfd, [GET, DELETE], {"get_note": "gone"}, "--tools", "del*")
    assert (code, report["may_write"], called()[1:]) == (0, [], ["delete_note", "get_note"])


@pytest.mark.parametrize("hint", [True, False])
def test_the_annotation_of_the_live_server_decides(place: Path, capfd: Any, hint: bool) -> None:
    recorded([GET], ("get_note", {"note_id": "n-1"}, NOTE))
    live = {**GET, "annotations": {"readOnlyHint": hint}}
    against_live(capfd, [live], {"get_note": NOTE})
    assert called() == (["get_note"] if hint else [])


def test_changed_tools_are_reported_part_by_part(place: Path, capfd: Any) -> None:
    recorded([GET, LIST, DELETE])
    Path("notes/first.jsonl").write_text('{"type": "session"}\n', encoding="utf-8")
    changed = tool("get_note", ["note_id", "format"], note_id={"type": "integer"}, format={"type": "string"})
    changed["annotations"] = GET["annotations"]
    code, report = against_live(capfd, [changed, LIST, tool("add_note")], {})
    assert code == 1
    assert report["tools"] == [
        {
            "name": "get_note",
            "change": "changed",
            "weight": "breaking",
            "details": ['parameter note_id: $.type: "string" is now "integer"', "parameter format: added, required"],
        },
        {"name": "delete_note", "change": "removed", "weight": "breaking", "details": []},
        {"name": "add_note", "change": "added", "weight": "additive", "details": []},
    ]
    assert against_live(capfd, [changed, LIST], {}, "--ignore", "tools")[0] == 0
    assert against_live(capfd, [GET, LIST, DELETE, tool("add_note")], {}, "--ignore", "additive")[0] == 0
    assert against_live(capfd, [GET, LIST, DELETE, tool("add_note")], {}, "--ignore", "cosmetic")[0] == 1


A, B = {"type": "string"}, {"type": "integer"}
IN = {"type": "object", "properties": {"a": A}, "required": ["a"]}
OUT: dict[str, Any] = {**IN, "properties": {"a": {"enum": ["x", "y"]}}}
BEFORE = {"name": "t", "description": "Old", "inputSchema": IN, "outputSchema": OUT}


@pytest.mark.parametrize(
    ("change", "weight"),
    [
        ({"description": "New"}, "cosmetic"),
        ({"inputSchema": {**IN, "properties": {"a": {**A, "description": "n"}}}}, "cosmetic"),
        ({"inputSchema": {**IN, "properties": {"a": A, "b": B}}}, "additive"),
        ({"inputSchema": {**IN, "properties": {"a": A, "b": B}, "required": ["a", "b"]}}, "breaking"),
        ({"inputSchema": {**IN, "required": []}}, "additive"),
        ({"inputSchema": {**IN, "properties": {"a": {"type": ["string", "null"]}}}}, "additive"),
        ({"inputSchema": {**IN, "properties": {"a": B}}}, "breaking"),
        ({"inputSchema": {**IN, "properties": {"a": {**A, "maxLength": 3}}}}, "breaking"),
        ({"inputSchema": {**IN, "additionalProperties": False}}, "breaking"),
        ({"outputSchema": {**OUT, "properties": {"a": {"enum": ["x", "y", "z"]}}}}, "breaking"),
        ({"outputSchema": {**OUT, "properties": {"a": {"enum": ["x"]}}}}, "additive"),
        ({"outputSchema": {**OUT, "properties": {**OUT["properties"], "b": B}}}, "additive"),
        ({"outputSchema": {**OUT, "required": []}}, "breaking"),
        ({"annotations": {"destructiveHint": True}}, "breaking"),
        ({"annotations": {"title": "T"}}, "cosmetic"),
        ({"execution": {"taskSupport": "required"}}, "breaking"),
    ],
)
def test_changes_of_tools_are_classed(change: Any, weight: str) -> None:
    assert weight_of(BEFORE, {**BEFORE, **change}) == weight


@pytest.mark.parametrize(
    ("now", "kind", "details"),
    [
        ({"id": "n-1", "title": "Milk", "tags": [{"name": "a"}]}, "values", ['$.tags[0]: null is now {"name": "a"}']),
        ({"id": "n-1", "title": "Bread", "tags": []}, "values", ['$.title: "Milk" is now "Bread"']),
        ({"id": 1, "title": "Milk", "tags": []}, "form", ["missing: $.id: string", "new: $.id: number"]),
        ({"id": "n-1", "name": "Milk", "tags": []}, "form", ["missing: $.title: string", "new: $.name: string"]),
        ({"error": "no such note"}, "outcome", ['succeeded, and fails now: {"error": "no such note"}']),
    ],
)
def test_outcome_form_and_values_of_answers_are_distinguished(
    place: Path, capfd: Any, now: dict[str, Any], kind: str, details: list[str]
) -> None:
    recorded([GET], ("get_note", {"note_id": "n-1"}, NOTE))
    code, report = against_live(capfd, [GET], {"get_note": json.dumps(now)})
    assert code == 1
    [call] = report["calls"]
    assert (call["kind"], call["details"], call["session"], call["seq"]) == (kind, details, "first.jsonl", 1)
    assert against_live(capfd, [GET], {"get_note": json.dumps(now)}, "--ignore", kind)[0] == 0


@pytest.mark.parametrize(("text", "code"), [("Title: Bread\nAge: 4", 0), ("Title: Milk\nSize: 4", 1)])
def test_after_a_write_only_the_form_counts(place: Path, capfd: Any, text: str, code: int) -> None:
    recorded([GET, DELETE], ("delete_note", {"note_id": "n"}, "ok"), ("get_note", {"note_id": "m"}, "Title: A\nAge: 3"))
    found, report = against_live(capfd, [GET, DELETE], {"get_note": text})
    assert (found, report["after_writes"]) == (code, 1)


def test_a_tool_that_never_succeeds_any_more_differs_even_after_writes(shelves: Path, capfd: Any) -> None:
    assert main(["diff", "--against", SHELF, "shelves"]) == 0
    assert "calls: 5 made, 3 equal\n" in (text := capfd.readouterr().out)
    assert "not comparable: 2 (show_book); only one of the answers fails" in text
    assert main(["diff", "--against", f"{SHELF} broken", "shelves", "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert [(call["tool"], call["kind"]) for call in report["calls"]] == [("show_book", "outcome")] * 2
    assert report["calls"][0]["details"][1] == "no call of this tool succeeds any more"
    assert (report["equal"], report["not_comparable"], report["after_writes"]) == (3, [], 2)


def test_repeated_sessions_start_the_server_anew_and_align_its_ids(shelves: Path, capfd: Any) -> None:
    assert main(["diff", "--against", SHELF, "shelves", "--tools", "*"]) == 0
    assert capfd.readouterr().out.splitlines() == ["tools", "    equal", "calls: 18 made, 18 equal"]
    assert main(["diff", "--against", f"{SHELF} broken", "shelves", "--tools", "*", "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert {call["tool"] for call in report["calls"]} == {"show_book"}
    assert report["repeated"] == ["add_book", "remove_book"]


def test_calls_after_writes_that_were_not_named_are_not_comparable(shelves: Path, capfd: Any) -> None:
    assert main(["diff", "--against", SHELF, "shelves", "--tools", "add_book", "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert (report["repeated"], report["may_write"]) == (["add_book"], ["remove_book"])
    assert [call["tool"] for call in report["not_comparable"]] == ["show_book"] * 2


def test_a_server_at_a_url_is_not_restarted_and_the_report_says_so(shelves: Path, capfd: Any) -> None:
    with started(["shelf_server.py", "http"]) as served:
        assert main(["diff", "--against", f"{served.url}/mcp", "shelves", "--tools", "*"]) == 1
    text = capfd.readouterr().out
    assert 'values   list_books {} (second.jsonl, call 1)\n        $: "Empty" is now "1. Persuasion' in text
    assert "repeated on one server, since a URL cannot be restarted" in text


def test_redacted_secrets_are_equal_to_any_and_never_sent_or_printed(place: Path, capfd: Any) -> None:
    note = '{"title": "<redacted:environment-1> key", "password": "<redacted:password-1>"}'
    recorded([GET], ("get_note", {"note_id": "n-1"}, note), ("get_note", {"note_id": "<redacted:token-1>"}, note))
    live = '{"title": "abc-123 key", "password": "hunter2!"}'
    code, report = against_live(capfd, [GET], {"get_note": live})
    assert (code, report["made"], report["redacted"], called()) == (0, 1, 1, ["get_note"])
    _, report = against_live(capfd, [GET], {"get_note": live.replace("key", "lock")})
    assert "hunter2!" not in json.dumps(report)


def test_odd_texts_are_compared_quickly_and_leave_the_terminal_alone(place: Path, capfd: Any) -> None:
    hidden = "<redacted:token-1>".join("x" * 12)
    texts = {"blank": ("\n" * 100_000, "\n" * 100_000 + "x"), "hidden": (hidden, "xy" * 2000 + "z"), "bell": ("a", "b")}
    tools = [{**tool(name), "annotations": {"readOnlyHint": True}} for name in (*texts, "\x1b]0;owned\x07\x9b31m")]
    nothing: dict[str, Any] = {}
    recorded(tools[:-1], *((name, nothing, before) for name, (before, _) in texts.items()))
    Path("live.json").write_text(json.dumps(tools), encoding="utf-8")
    Path("answers.json").write_text(json.dumps({name: now for name, (_, now) in texts.items()}), encoding="utf-8")
    began = process_time()
    assert main(["diff", "--against", f"{shlex.quote(sys.executable)} live.py", "notes"]) == 1
    assert process_time() - began < 20
    assert all(line.isprintable() for line in capfd.readouterr().out.splitlines())


def test_a_server_over_http_is_compared(place: Path, capfd: Any) -> None:
    with listening("calm_crm") as served:
        recorded([tool("get_deal", deal_id={"type": "string"})], ("get_deal", {"deal_id": "deal_0001"}, "{}"))
        assert main(["diff", "--against", f"{served.url}/w/a/mcp", "notes", "--ignore", "tools"]) == 1
    assert "    form     get_deal" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--against", "no-such-server", "notes"], 4, "not found"),
        (["--against", "http://127.0.0.1:9/mcp", "notes"], 4, "127.0.0.1"),
        (["--against", "http://[x/mcp", "notes"], 2, "--against: url: 'http://[x/mcp' is not a URL"),
        (["--against", "cat", "nothing"], 2, "no such file or folder"),
        (["--against", "cat", "notes", "notes"], 2, "leave out B"),
        (["notes"], 2, "name two traces"),
    ],
)
def test_unreachable_servers_and_invalid_usage(
    place: Path, capfd: Any, arguments: list[str], code: int, message: str
) -> None:
    recorded([GET], ("get_note", {"note_id": "n-1"}, NOTE))
    assert main(["diff", *arguments]) == code
    assert message in capfd.readouterr().err
