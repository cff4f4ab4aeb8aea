"""`mcp-sim record -- COMMAND`: a proxy over stdio that changes nothing, and writes sessions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support.notebook_server import CALLS
from support.places import ROOT, SUPPORT
from support.stdio_process import Wire, peak_memory, stderr_of
from support.warm import PYTHON, pid_of

from mcp_sim.spec.sessions import read_sessions

NOTEBOOK = [PYTHON, str(SUPPORT / "notebook_server.py")]
SCRIPTED = [PYTHON, str(SUPPORT / "scripted_server.py")]


def command(folder: Path, server: Sequence[str], *options: str) -> list[str]:
    return [PYTHON, "-m", "mcp_sim", "record", "-o", str(folder), *options, "--", *server]


@contextmanager
def recording(
    folder: Path, server: Sequence[str], *options: str, env: Mapping[str, str] | None = None
) -> Generator[Wire]:
    """Yield the pipes of a recorded server."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    pipe = subprocess.PIPE
    words = command(folder, server, *options)
    with subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


def through(folder: Path, server: Sequence[str], stdin: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Send bytes to a recorded server, and close its stdin."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command(folder, server, *options), input=stdin, env=environment, capture_output=True, timeout=180, check=False
    )


def lines_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of a type in the only session of a folder."""
    [path] = folder.glob("*.jsonl")
    return [line for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()) if line["type"] == kind]


@pytest.mark.parametrize(("mode", "protocol"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_both_sides_receive_the_bytes_that_the_other_sent(tmp_path: Path, mode: str, protocol: str) -> None:
    tee = [PYTHON, str(SUPPORT / "tee.py")]
    words = [*tee, str(tmp_path / "near"), *command(tmp_path / "notes", [*tee, str(tmp_path / "far"), *NOTEBOOK])]
    environment = {"PYTHONPATH": str(ROOT)}
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment)
    async with Client(stdio_client(parameters), mode=mode) as client:
        await client.list_tools()
        for tool, arguments in CALLS:
            await client.call_tool(tool, arguments)
    for side in ("in", "out"):
        sent, received = ((tmp_path / f"{end}.{side}").read_bytes() for end in ("near", "far"))
        assert sent == received
        assert len(sent) > 1000
    [session] = read_sessions(tmp_path / "notes")
    assert [(call.tool, call.arguments) for call in session.calls] == list(CALLS)
    assert [tool["name"] for tool in session.tools] == ["create_note", "get_note", "list_notes", "delete_note"]
    assert session.header["protocol"] == protocol
    assert session.header["server_info"]["name"] == "notebook"


def test_odd_bytes_pass_unchanged(tmp_path: Path) -> None:
    long = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"' + b"x" * 4_500_000 + b'"}}\n'
    batch = b'[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]\r\n'
    sent = b"no JSON\n\n\xff\xfe\x00\n" + long + batch + b'{"jsonrpc": "2.0", "id": 4'
    done = through(tmp_path / "out", ["cat"], sent)
    assert done.stdout == sent
    assert done.returncode == 0


def test_exit_code_and_stderr_are_those_of_the_server_and_an_empty_recording_is_reported(tmp_path: Path) -> None:
    done = through(tmp_path, ["sh", "-c", "echo oops >&2; exit 3"], b"")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"oops\nmcp-sim: nothing was recorded\n")


def test_a_command_that_does_not_exist_is_invalid_usage(tmp_path: Path) -> None:
    done = through(tmp_path, ["no-such-server"], b"")
    assert done.returncode == 2
    assert done.stderr == b"mcp-sim: cannot run no-such-server: No such file or directory\n"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_another_server_is_not_recorded_into_the_folder_of_the_first(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "notes"
    for name in ("notebook", "notebook", "shelf"):
        words = command(folder, [PYTHON, str(SUPPORT / f"{name}_server.py")])
        parameters = StdioServerParameters(command=words[0], args=words[1:], env={"PYTHONPATH": str(ROOT)})
        with (tmp_path / "stderr").open("w", encoding="utf-8") as stderr:
            async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
                assert len((await client.list_tools()).tools) == 4
                await client.call_tool("list_notes" if name == "notebook" else "list_books")
    assert (tmp_path / "stderr").read_text(encoding="utf-8").splitlines() == [
        f"mcp-sim: recording stopped, the connection goes on: {folder} has sessions of the server notebook, and this "
        "one is shelf: record it into another folder (-o DIR)",
        "mcp-sim: nothing was recorded",
    ]
    assert [session.header["server_info"]["name"] for session in read_sessions(folder)] == ["notebook", "notebook"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_end_of_a_killed_server_is_passed_on_and_its_calls_are_kept(tmp_path: Path, number: int) -> None:
    with recording(tmp_path, NOTEBOOK if number == signal.SIGTERM else SCRIPTED) as wire:
        wire.handshake()
        tool = "list_notes" if number == signal.SIGTERM else "do"
        wire.call(1, tool, {})
        wire.answer()
        if number == signal.SIGTERM:
            wire.process.send_signal(number)
        else:
            wire.call(2, tool, {"die": int(number)})
        assert wire.stdout.read() == b""
        assert wire.process.wait(30) == -number
    [session] = read_sessions_without_tools(tmp_path)
    assert [call["tool"] for call in session] == [tool]
    assert [line["tool"] for line in lines_of(tmp_path, "unanswered")] == ([tool] if number == signal.SIGKILL else [])


def read_sessions_without_tools(folder: Path) -> list[list[dict[str, Any]]]:
    """Return the calls of each session; the client of these sessions did not list the tools."""
    (folder / "tools.json").write_text('{"tools": []}', encoding="utf-8")
    return [[dict(call.line) for call in session.calls] for session in read_sessions(folder)]


def until_written(folder: Path, text: str) -> None:
    """Wait until a session has a text: lines are written beside the connection."""
    deadline = time.monotonic() + 60
    while not any(text in path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl")):
        assert time.monotonic() < deadline


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a killed process")
def test_a_killed_proxy_takes_its_server_along_and_leaves_a_readable_session(tmp_path: Path) -> None:
    log = tmp_path / "far"
    with recording(tmp_path / "out", [PYTHON, str(SUPPORT / "tee.py"), str(log), *SCRIPTED]) as wire:
        wire.handshake()
        wire.call(1, "do", {"reply": "first"})
        wire.answer()
        wire.call(2, "do", {"silent": True, "reply": "second"})
        until_written(tmp_path / "out", '"first"')
        wire.process.kill()
        wire.process.wait(30)
        assert wire.stdout.read() == b""
    [path] = (tmp_path / "out").glob("*.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "call", "tool": "do", "argum')
    [[call]] = read_sessions_without_tools(tmp_path / "out")
    assert call["result"]["content"][0]["text"] == "first"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_server_once_and_the_proxy_waits_for_it(tmp_path: Path, number: int) -> None:
    with recording(tmp_path, SCRIPTED) as wire:
        wire.handshake()
        wire.process.send_signal(number)
        assert wire.process.stderr is not None
        assert wire.process.stderr.readline() == f"got {signal.Signals(number).name}\n".encode()
        wire.call(1, "do", {})
        wire.answer()
        wire.leave()
        assert wire.process.returncode == 7
        assert b"got" not in wire.process.stderr.read()


def test_overlapping_cancelled_and_unanswered_calls_are_recorded(tmp_path: Path) -> None:
    with recording(tmp_path, SCRIPTED) as wire:
        wire.handshake()
        wire.call(1, "do", {"hold": True, "reply": "late"})
        params = {"name": "do", "arguments": {"progress": 2}, "_meta": {"progressToken": "p"}}
        wire.request("two", "tools/call", params)
        answers = [wire.answer() for _ in range(4)]
        assert [answer.get("id") for answer in answers] == [None, None, "two", 1]
        wire.call(3, "look", {"silent": True})
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}\n')
        wire.leave()
    second, first = lines_of(tmp_path, "call")
    assert (first["seq"], first["overlaps"], first["result"]["content"][0]["text"]) == (2, 1, "late")
    assert (second["seq"], second["overlaps"], second["progress"]) == (1, 1, 2)
    assert first["ms"] >= second["ms"] > 0
    assert first["at"] <= second["at"]
    [lost] = lines_of(tmp_path, "unanswered")
    assert (lost["tool"], lost["cancelled"]) == ("look", True)
    [end] = lines_of(tmp_path, "end")
    assert end["exit"] == 7
    assert end["notifications"] == {
        "notifications/initialized": 1,
        "notifications/progress": 2,
        "notifications/cancelled": 1,
    }


def test_all_pages_of_the_tools_resources_prompts_and_the_server_are_recorded(tmp_path: Path) -> None:
    with recording(tmp_path, SCRIPTED, "--session", "first") as wire:
        wire.handshake()
        for number, params in enumerate(({}, {"cursor": "1"})):
            wire.request(number, "tools/list", params)
            wire.answer()
        wire.request(5, "resources/read", {"uri": "test://a"})
        wire.request(6, "prompts/get", {"name": "greet", "arguments": {"to": "Ada"}})
        for _ in range(2):
            wire.answer()
        wire.leave()
    [header] = lines_of(tmp_path, "session")
    assert (header["session"], header["instructions"]) == ("first", "Look, then do.")
    assert header["client_info"] == {"name": "raw", "version": "1"}
    assert [tool["name"] for tool in json.loads((tmp_path / "tools.json").read_text())["tools"]] == ["do", "look"]
    assert [line["uri"] for line in lines_of(tmp_path, "resource")] == ["test://a"]
    assert [line["arguments"] for line in lines_of(tmp_path, "prompt")] == [{"to": "Ada"}]


def test_a_batch_is_recorded_as_its_calls(tmp_path: Path) -> None:
    calls = [{"id": at, "method": "tools/call", "params": {"name": "do", "arguments": {"n": at}}} for at in range(2)]
    with recording(tmp_path, SCRIPTED) as wire:
        wire.send(json.dumps(calls).encode() + b"\n")
        for _ in range(2):
            wire.answer()
        wire.leave()
    assert [line["arguments"] for line in lines_of(tmp_path, "call")] == [{"n": 0}, {"n": 1}]


def test_an_invalid_call_or_answer_does_not_make_the_session_unreadable(tmp_path: Path) -> None:
    odd = "\n".join(
        [
            '{"id": 1, "method": "tools/call", "params": {"name": 7}}',
            '{"id": 1, "result": null}',
            '{"id": 2, "method": "tools/call", "params": ["name"]}',
            '{"id": 2, "error": "no"}',
            '{"id": 3, "method": "tools/call", "params": {"name": "do"}}',
            '{"id": 3, "result": {"content": "text"}}',
            '{"id": 4, "method": "tools/call", "params": {"name": "do", "arguments": [1]}}',
            '{"id": 4, "result": {"content": []}}',
            '[{"id": 5, "result": {}}, 7, null]',
        ]
    )
    assert through(tmp_path, ["cat"], odd.encode() + b"\n").returncode == 0
    assert len(lines_of(tmp_path, "invalid")) == 3
    assert [line["arguments"] for line in lines_of(tmp_path, "call")] == [{}]
    read_sessions_without_tools(tmp_path)


def test_a_huge_result_passes_and_is_recorded_up_to_a_limit(tmp_path: Path) -> None:
    with recording(tmp_path, SCRIPTED) as wire:
        wire.call(1, "do", {"size": 9_000_000})
        assert len(wire.answer()["result"]["content"][0]["text"]) == 9_000_004
        wire.call(2, "do", {})
        wire.answer()
        wire.leave()
    [cut] = lines_of(tmp_path, "truncated")
    assert cut["bytes"] > 9_000_000
    assert cut["result"]["content"][0]["text"].startswith("donexxx")
    assert len(lines_of(tmp_path, "call")) == 1
    assert next(tmp_path.glob("*.jsonl")).stat().st_size < 5_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_of_a_line_without_an_end_little_is_held(tmp_path: Path) -> None:
    endless = "import sys\nwhile True: sys.stdout.write('x' * 1_000_000)"
    with recording(tmp_path, [PYTHON, "-c", endless]) as wire:
        for _ in range(300):
            assert len(wire.stdout.read(1_000_000)) == 1_000_000
        assert peak_memory(pid_of(wire.process)) < 200_000_000


def test_a_session_that_cannot_be_written_stops_the_recording_only(tmp_path: Path) -> None:
    with recording(tmp_path, SCRIPTED, "--session", "x" * 300) as wire:  # longer than file systems take
        wire.handshake()
        for number in range(3):
            wire.call(number, "do", {})
            assert wire.answer()["id"] == number
        wire.leave()
        assert stderr_of(wire).count("recording stopped, the connection goes on") == 1
        assert wire.process.returncode == 7


def test_a_second_session_and_other_tools_do_not_replace_the_first(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "old"}]}', encoding="utf-8")
    for _ in range(2):
        with recording(tmp_path, SCRIPTED, "--session", "same") as wire:
            wire.handshake()
            for number, params in enumerate(({}, {"cursor": "1"})):
                wire.request(number, "tools/list", params)
                wire.answer()
            wire.call(3, "do", {})
            wire.answer()
            wire.leave()
    assert json.loads((tmp_path / "tools.json").read_text())["tools"] == [{"name": "old"}]
    sessions = read_sessions(tmp_path)
    assert [session.name for session in sessions] == ["same-2", "same"]
    assert [tool["name"] for tool in sessions[0].tools] == ["do", "look"]


def test_planted_secrets_reach_no_file(tmp_path: Path) -> None:
    planted = {
        "argument": "hunter2!",
        "nested": "nested-s3cret",
        "environment": "env-s3cret-42",
        "word": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "escaped": "esc-pa55",
        "key": "sk-proj-abcdefghijklmnop1234",
        "option": "optionSecret99",
    }
    texts = (
        f"token {planted['word']} and {planted['argument']}",
        json.dumps({"login": {"apiKey": planted["key"]}, "raw": json.dumps({"password": planted["escaped"]})}),
    )
    environment = {"VAULT_TOKEN": planted["environment"]}
    with recording(tmp_path, [*SCRIPTED, "--api-key", planted["option"]], env=environment) as wire:
        wire.handshake()
        wire.call(1, "do", {"password": planted["argument"], "auth": {"pair": [planted["nested"]]}, "reply": texts[0]})
        wire.call(2, "do", {"reply": texts[1]})
        wire.call(3, "do", {"environment": "VAULT_TOKEN"})
        wire.call(4, "do", {"password": planted["argument"], planted["argument"]: planted["option"]})
        assert planted["environment"] in json.dumps([wire.answer() for _ in range(4)])
        wire.leave()
        stderr = stderr_of(wire)
    for path in tmp_path.iterdir():
        for kind, secret in planted.items():
            assert secret.encode() not in path.read_bytes(), kind
    first, _, third, fourth = lines_of(tmp_path, "call")
    assert first["arguments"]["password"] == fourth["arguments"]["password"] == "<redacted:password-1>"
    assert first["result"]["content"][0]["text"] == "token <redacted:github-token-1> and <redacted:password-1>"
    assert third["result"]["content"][0]["text"] == "<redacted:environment-1>"
    assert "password: 7 times, 2 different; in do.arguments.password" in stderr
    assert not any(secret in stderr for secret in planted.values())


def test_keys_and_patterns_of_the_user_are_redacted_and_nothing_with_no_redact(tmp_path: Path) -> None:
    given = {"iban": "DE99", "password": "hunter2!", "reply": "order AB-1234-X"}
    options = (["--redact", "iban", "--redact-pattern", r"AB-(\d+)-X"], ["--no-redact"])
    for name, chosen in zip("ab", options, strict=True):
        with recording(tmp_path / name, SCRIPTED, *chosen) as wire:
            wire.call(1, "do", given)
            wire.answer()
            wire.leave()
    [redacted] = lines_of(tmp_path / "a", "call")
    assert redacted["arguments"] == {
        "iban": "<redacted:iban-1>",
        "password": "<redacted:password-1>",
        "reply": "order AB-<redacted:pattern-1>-X",
    }
    [kept] = lines_of(tmp_path / "b", "call")
    assert kept["arguments"] == given


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--redact-pattern", "(", "--", "cat"], "--redact-pattern '('"),
        (["--redact-pattern", "\udcff", "--", "cat"], "surrogates not allowed"),
        ([], "name one source"),
        (["--url", "http://127.0.0.1:1/mcp"], "--url and --http belong together"),
        (["--timeout", "5s", "--", "true"], "--timeout belongs to --url"),
        (["--session", "a/b", "--", "cat"], "is not a name for a file"),
        (["--pseudonyms", "--", "cat"], "cannot use the key"),
    ],
)
def test_invalid_usage_is_reported_before_anything_starts(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / ".pseudonyms.key").write_text("no key", encoding="utf-8")
    words = [PYTHON, "-m", "mcp_sim", "record", "-o", str(tmp_path), *options]
    done = subprocess.run(
        words,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert message in done.stderr
