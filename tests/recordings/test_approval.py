"""`mcp-sim record --approve`: a call reaches the real server only if it reads, or the user has approved it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support.over_http import URL, started
from support.places import ROOT
from support.warm import COLD, PYTHON

from mcp_sim.spec.sessions import read_sessions

SERVER = """
from mcp.server import MCPServer
from mcp.types import ToolAnnotations
import sys

server = MCPServer("diary")
days = []

@server.tool(structured_output=False)
def write(text: str) -> str:
    "Write a day."
    days.append(text)
    return f"day {len(days)}"

@server.tool(structured_output=False, annotations=ToolAnnotations(read_only_hint=True))
def read() -> str:
    "Read all days."
    return ", ".join(days) or "empty"

server.run(sys.argv[1], **({"port": int(sys.argv[2])} if len(sys.argv) > 2 else {}))
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
WRITES = [{"text": "Rain"}, {"text": "Sun"}]


AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(os.open(sys.argv.pop(1), os.O_RDWR), termios.TIOCSCTTY, 0)  # the terminal of this session
from mcp_sim.cli import main
sys.exit(main())
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    file = tmp_path / "diary.py"
    file.write_text(SERVER)
    return [PYTHON, str(file)]


def record(tmp_path: Path, *options: str) -> list[str]:
    return [PYTHON, "-m", "mcp_sim", "record", "-o", str(tmp_path / "diary"), *options]


@contextmanager
def proxy(words: Sequence[str]) -> Generator[str]:
    """Yield the address of a recording proxy, which names it after that of the server."""
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        yield URL.findall(process.stderr.readline().decode())[-1]
        process.terminate()


async def texts_of(client: Client) -> list[tuple[bool, str]]:
    """Write twice and read. Return whether each call failed, and its text."""
    await client.list_tools()
    calls = [("write", arguments) for arguments in WRITES]
    results: list[Any] = [await client.call_tool(tool, arguments) for tool, arguments in (*calls, ("read", {}))]
    return [(bool(result.is_error), result.content[0].text) for result in results]


def approve(file: Path, text: str) -> None:
    """Approve the calls in a file whose lines have a text, as a person with an editor does."""
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line.replace("false", "true") if text in line else line for line in lines))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_calls_in_a_file_pass_once_they_are_approved_there(tmp_path: Path, server: list[str], mode: str) -> None:
    file = tmp_path / "calls.jsonl"
    words = record(tmp_path, "--approve", str(file), "--", *server, "stdio")
    parameters = StdioServerParameters(command=words[0], args=words[1:], env={"PYTHONPATH": str(ROOT)})
    async with Client(stdio_client(parameters), mode=mode) as client:
        refused, other, read = await texts_of(client)
        assert (refused, other) == ((True, "The user has not approved this call. It did not reach the server."),) * 2
        assert read == (False, "empty")
        listed = [json.loads(line) for line in file.read_text().splitlines()]
        assert listed == [{"approved": False, "tool": "write", "arguments": arguments} for arguments in WRITES]
        approve(file, "Sun")
        again = await texts_of(client)
        assert (again[0], *again[1:]) == (refused, (False, "day 1"), (False, "Sun"))
        assert (await client.call_tool("write", {"text": "Fog"})).is_error
        assert json.loads(file.read_text().splitlines()[-1])["arguments"] == {"text": "Fog"}
        file.write_text('{"approved": true, "tool": "wr*"}')
        assert (await texts_of(client))[2] == (False, "Sun, Rain, Sun")
        file.write_text("approved: all")
        assert (await texts_of(client))[0] == refused
    [session] = read_sessions(tmp_path / "diary")
    assert [call.tool for call in session.calls].count("write") == 3


async def test_calls_over_http_are_held_back_too(tmp_path: Path, server: list[str]) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(json.dumps({"approved": True, "tool": "write", "arguments": WRITES[1]}) + "\n")
    with started([server[1], "streamable-http", "0"]) as real:
        words = record(tmp_path, "--approve", str(file), "--url", f"{real.url}/mcp", "--http", "0")
        with proxy(words) as url:
            async with Client(f"{url}/mcp") as client:
                refused, written, read = await texts_of(client)
    assert (refused[0], written, read) == (True, (False, "day 1"), (False, "Sun"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_the_user_is_asked_at_the_terminal(tmp_path: Path) -> None:
    here, there = pty.openpty()
    with subprocess.Popen(
        [COLD, "-c", AT_TERMINAL, os.ttyname(there), *record(tmp_path, "--approve", "ask", "--", "cat")[3:]],
        env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        call = {"name": "write", "arguments": {"text": "Ra\x1bin"}}
        for number, reply in enumerate((b"n\n", b"y\n"), 1):
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            asked = b""
            while b"[a]ll calls" not in asked:
                asked += os.read(here, 1000)
            assert b'{"tool": "write", "arguments": {"text": "Ra\\u001bin"}}' in asked
            os.write(here, reply)
            answer = json.loads(process.stdout.readline())
            assert ("refused" in json.dumps(answer)) == (reply == b"n\n")
        process.stdin.close()


def test_without_a_terminal_asking_is_refused(tmp_path: Path, server: list[str]) -> None:
    done = subprocess.run(
        record(tmp_path, "--approve", "ask", "--", *server, "stdio"), env=ENVIRONMENT,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--approve ask needs a terminal; --approve FILE lists the calls" in done.stderr


@pytest.mark.parametrize("message", [
    '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write"}}]',
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"write"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["write"]}}',
    "[" * 100_000,
    "no JSON",
])  # fmt: skip
def test_what_cannot_be_judged_does_not_reach_the_server(tmp_path: Path, message: str) -> None:
    words = record(tmp_path, "--approve", str(tmp_path / "calls.jsonl"), "--", "tee", str(tmp_path / "received"))
    read = '{"jsonrpc":"2.0","id":9,"method":"ping"}'
    done = subprocess.run(
        words, input=f"{message}\n{read}", env=ENVIRONMENT, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (tmp_path / "received").read_text() == f"{read}\n"
    assert len(done.stdout.splitlines()) == 2
