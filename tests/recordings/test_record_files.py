"""`mcp-sim record --from FILE...`: traces of mcp-sim and HAR files become recorded sessions."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.cli import main
from mcp_sim.spec.sessions import read_sessions

CREATE = {"tool": "create_deal", "arguments": {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entry(at: int, message: dict[str, Any], answer: str, *, stream: bool = False, **headers: str) -> dict[str, Any]:
    """Return an exchange as a HAR file has it."""
    text = f"event: message\ndata: {answer}\n\n" if stream else answer
    content: dict[str, Any] = {"mimeType": "application/json", "text": text}
    if stream:
        content = {"encoding": "base64", "text": base64.b64encode(text.encode()).decode()}
    kind = "text/event-stream" if stream else "application/json"
    named = [{"name": name.replace("_", "-"), "value": value} for name, value in headers.items()]
    sent = {"method": "POST", "url": "https://mcp.example.com/mcp?key=qu3ry-secret", "headers": named}
    return {
        "startedDateTime": f"2026-03-01T10:00:{at:02d}.000Z",
        "time": 1500,
        "connection": "7",
        "request": {**sent, "postData": {"mimeType": "application/json", "text": json.dumps(message)}},
        "response": {
            "status": 200,
            "headers": [{"name": "Content-Type", "value": kind}, {"name": "Content-Encoding", "value": "br"}],
            "content": content,
        },
    }


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def reply(number: int, **result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})


def test_a_har_file_becomes_a_session_without_its_secrets(capfd: Any) -> None:
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "notes"}}
    page = {"startedDateTime": "2026-03-01T10:00:00Z", "request": {"method": "GET", "url": "https://mcp.example.com/"}}
    note = {"content": [{"type": "text", "text": "for b34rer-token"}]}
    call = request(3, "tools/call", name="get_note", arguments={"id": "n-1"})
    entries = [
        entry(3, call, reply(3, **note), stream=True, Authorization="Bearer b34rer-token"),
        entry(1, request(1, "initialize", clientInfo={"name": "browser"}), reply(1, **info)),
        entry(2, request(2, "tools/list"), reply(2, tools=[{"name": "get_note", "inputSchema": {"type": "object"}}])),
        page,
    ]
    Path("web.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
    assert main(["record", "-o", "notes", "--session", "web", "--from", "web.har"]) == 0
    assert "recorded notes/web.jsonl" in capfd.readouterr().err
    [session] = read_sessions(Path("notes"))
    assert [(one.tool, one.line["at"], one.line["ms"]) for one in session.calls] == [
        ("get_note", "2026-03-01T10:00:03.000Z", 1500.0)
    ]
    assert session.calls[0].answer["result"]["content"][0]["text"] == "for <redacted:authorization-1>"
    assert session.header["url"] == "https://mcp.example.com/mcp"
    assert [tool["name"] for tool in session.tools] == ["get_note"]
    for path in Path("notes").iterdir():
        assert b"b34rer-token" not in path.read_bytes()
        assert b"qu3ry-secret" not in path.read_bytes()


def test_a_har_file_of_another_server_is_refused(capfd: Any) -> None:
    for name, code in (("notes", 0), ("tasks", 2)):
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": name}}
        entries = [entry(1, request(1, "initialize", clientInfo={"name": "browser"}), reply(1, **info))]
        Path("web.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
        assert main(["record", "-o", "notes", "--session", name, "--from", "web.har"]) == code
    assert "notes has sessions of the server notes, and this one is tasks" in capfd.readouterr().err
    assert [path.name for path in Path("notes").iterdir()] == ["notes.jsonl"]


def har(*entries: dict[str, Any]) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def at_url(url: str, exchange: dict[str, Any]) -> dict[str, Any]:
    return {**exchange, "request": {**exchange["request"], "url": url}}


@pytest.mark.parametrize(
    ("urls", "folders"),
    [
        (["https://a.example/mcp", "https://b.example/mcp?key=1"], ["a.example", "b.example"]),
        (["http://localhost:8000/mcp", "http://localhost:8001/mcp"], ["localhost_8000", "localhost_8001"]),
        (
            ["https://a.example/notes/mcp", "https://a.example/tasks/mcp"],
            ["a.example_notes_mcp", "a.example_tasks_mcp"],
        ),
        (["https://user:pass@a.example/mcp"], [""]),
        (["http://[::1", "https://b.example/mcp"], ["server", "b.example"]),
    ],
)
def test_each_server_of_a_har_file_has_a_folder_of_its_own(urls: list[str], folders: list[str]) -> None:
    call = request(3, "tools/call", name="get_note", arguments={"id": "n-1"})
    entries = [
        at_url(url, entry(at, call, reply(3, content=[{"type": "text", "text": url.partition("?")[0]}])))
        for at, url in enumerate(urls)
    ]
    Path("web.har").write_text(har(*entries), encoding="utf-8")
    assert main(["record", "-o", "shown", "--from", "web.har"]) == 0
    assert main(["record", "-o", "out", "--no-redact", "--from", "web.har"]) == 0
    for url, folder in zip(urls, folders, strict=True):
        [path] = (Path("out") / folder).glob("*.jsonl")
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        texts = [line["result"]["content"][0]["text"] for line in lines if line["type"] == "call"]
        assert texts == [url.partition("?")[0]]


def test_answers_without_a_body_in_a_har_file_are_counted(capfd: Any) -> None:
    call = request(3, "tools/call", name="get_note", arguments={"id": "n-1"})
    whole, bare = entry(1, call, reply(3, content=[])), entry(2, call, "")
    del bare["response"]["content"]["text"]
    notice = at_url("https://mcp.example.com/mcp", entry(3, {"jsonrpc": "2.0", "method": "notifications/x"}, ""))
    del notice["response"]["content"]["text"]
    Path("web.har").write_text(har(whole, bare, notice), encoding="utf-8")
    assert main(["record", "-o", "out", "--from", "web.har"]) == 0
    assert "web.har: 1 of 2 answers have no body" in capfd.readouterr().err


MESSAGES = [
    request(0, "initialize", clientInfo={"name": "c"}),
    json.loads(reply(0, protocolVersion="2025-11-25", capabilities={}, serverInfo={"name": "notes"})),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(1, "tools/list"),
    json.loads(reply(1, tools=[{"name": "add_note", "inputSchema": {"type": "object"}}])),
    request(2, "tools/call", name="add_note", arguments={"text": "hi"}),
    request(2, "elicitation/create", message="Sure?"),  # of the server, which counts for itself
    json.loads(reply(2, action="accept")),
    json.loads(reply(2, content=[{"type": "text", "text": "Added"}])),
]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_of_json_rpc_become_a_session_for_each_handshake(mark: str, ending: str) -> None:
    text = mark + ending.join(map(json.dumps, [*MESSAGES, *MESSAGES]))
    Path("wire.log").write_bytes(text.encode())
    assert main(["record", "-o", "notes", "--from", "wire.log"]) == 0
    first, second = read_sessions(Path("notes"))
    for session in (first, second):
        [call] = session.calls
        assert (call.tool, call.arguments) == ("add_note", {"text": "hi"})
        assert call.answer["result"]["content"][0]["text"] == "Added"
        assert [tool["name"] for tool in session.tools] == ["add_note"]
        assert session.header["server_info"] == {"name": "notes"}


def test_answers_among_json_rpc_lines_may_be_server_sent_events() -> None:
    asked = [request(1, "initialize"), request(2, "tools/call", name="add", arguments={})]
    answers = [reply(1, serverInfo={"name": "notes"}), reply(2, content=[{"type": "text", "text": "done"}])]
    pairs = zip(asked, answers, strict=True)
    lines = [f"{json.dumps(message)}\nevent: message\nid: 7\ndata: {answer}\n\n" for message, answer in pairs]
    Path("lines.json").write_text("".join(lines))
    assert main(["record", "-o", "out", "--from", "lines.json"]) == 0
    [path] = Path("out").glob("*.jsonl")
    calls = [line for line in map(json.loads, path.read_text().splitlines()) if line["type"] == "call"]
    assert [call["result"]["content"][0]["text"] for call in calls] == ["done"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/json"])
@pytest.mark.parametrize("begin", ["event: message\n", ": ping\n\n", "id: 4\n", "retry: 100\n\n", "\r\n", ""])
def test_streams_of_events_in_a_har_file_need_no_content_type(kind: str | None, begin: str) -> None:
    asked = entry(1, request(3, "tools/call", name="add", arguments={}), "")
    asked["response"]["headers"] = [] if kind is None else [{"name": "Content-Type", "value": kind}]
    asked["response"]["content"] = {"text": f"{begin}data: {reply(3, content=[{'type': 'text', 'text': 'done'}])}\n\n"}
    Path("web.har").write_text(har(asked))
    assert main(["record", "-o", "out", "--from", "web.har"]) == 0
    [path] = Path("out").glob("*.jsonl")
    calls = [line for line in map(json.loads, path.read_text().splitlines()) if line["type"] == "call"]
    assert [call["result"]["content"][0]["text"] for call in calls] == ["done"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_har_file_may_have_any_encoding_of_unicode(encoding: str) -> None:
    call = entry(1, request(3, "tools/call", name="get_note", arguments={}), reply(3, content=[]))
    Path("a.har").write_bytes(json.dumps({"log": {"entries": [call]}}).encode(encoding))
    assert main(["record", "-o", "out", "--from", "a.har"]) == 0


def test_a_byte_order_mark_before_a_har_file_is_skipped() -> None:
    call = request(3, "tools/call", name="get_note", arguments={"id": "n-1"})
    text = "\ufeff" + har(entry(1, call, reply(3, content=[])))
    Path("web.har").write_text(text, encoding="utf-8")
    assert main(["record", "-o", "out", "--from", "web.har"]) == 0
    [path] = Path("out").glob("*.jsonl")
    assert '"type": "call"' in path.read_text(encoding="utf-8")


def test_a_trace_becomes_a_session_that_its_scenario_answers_alike(capfd: Any) -> None:
    calls = [CREATE, {"tool": "get_contact", "arguments": {"contact_id": "con_00001"}}]
    Path("calls.jsonl").write_text("\n".join(map(json.dumps, calls)), encoding="utf-8")
    assert main(["play", "calm_crm", "calls.jsonl", "--trace", "run.jsonl"]) == 0
    assert main(["record", "-o", "crm", "--from", "run.jsonl"]) == 0
    [session] = read_sessions(Path("crm"))
    assert [{"tool": one.tool, "arguments": one.arguments} for one in session.calls] == calls
    assert session.calls[0].answer["result"]["structuredContent"]["title"] == "Spring order"
    assert len(session.tools) == 14
    assert session.name == "default"


def test_each_server_of_a_trace_has_a_folder_of_its_own(capfd: Any) -> None:
    scenario = {"mcp_sim": 1, "name": "two", "tools": {"sales": "crm", "support": "crm"}}
    Path("two.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    lines = [{"tool": f"{name}/get_contact", "arguments": {"contact_id": "con_00001"}} for name in ("sales", "support")]
    Path("calls.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main(["play", "two.yaml", "calls.jsonl", "--trace", "run.jsonl"]) == 0
    assert main(["record", "-o", "both", "--from", "run.jsonl"]) == 0
    sessions = read_sessions(Path("both"))
    assert [(one.server, [call.tool for call in one.calls]) for one in sessions] == [
        ("sales", ["get_contact"]),
        ("support", ["get_contact"]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "is not a trace"),
        ('{"log": {"entries": []}}', "have no calls of MCP tools"),
        (None, "cannot read"),
    ],
)
def test_a_file_in_another_format_is_refused(capfd: Any, text: str | None, message: str) -> None:
    if text is not None:
        Path("odd").write_text(text, encoding="utf-8")
    assert main(["record", "-o", "out", "--from", "odd"]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("world", ["../../outside", "/tmp/outside", "..", ".hidden", "a\0b", "x" * 5000])
def test_the_name_of_a_world_in_a_trace_chooses_no_other_folder(world: str, capfd: Any) -> None:
    Path("calls.jsonl").write_text(json.dumps(CREATE), encoding="utf-8")
    assert main(["play", "calm_crm", "calls.jsonl", "--trace", "run.jsonl"]) == 0
    trace = Path("run.jsonl").read_text(encoding="utf-8").replace('"world":"default"', f'"world":{json.dumps(world)}')
    Path("odd.jsonl").write_text(trace, encoding="utf-8")
    before = {*Path().rglob("*"), *Path("..").glob("*")}
    assert main(["record", "-o", "in/side/crm", "--from", "odd.jsonl"]) == 0
    written = {*Path().rglob("*"), *Path("..").glob("*")} - before
    assert {path.parent for path in written if path.is_file()} == {Path("in/side/crm")}
    assert len(read_sessions(Path("in/side/crm"))[0].calls) == 1
