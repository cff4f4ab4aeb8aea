"""Calls that are passed on to real servers over HTTP: the older transport, and answers outside the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncByteStream, Response
from support.handshaking import Streaming, handshaking
from support.over_http import started

from mcp_sim import Simulator
from mcp_sim.spec.halves import mend
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import Crash, DocumentError
from mcp_sim.types.json_values import decode

PLAIN: dict[str, str] = {}
EVENTS = {"content-type": "text/event-stream"}
REFUSED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Refused"}}


def live(folder: Path, url: str, **options: Any) -> Simulator:
    document = {"mcp_sim": 1, "tools": "live", "world_model": {"upstream": {"url": url, "timeout": "20s", **options}}}
    (folder / "live.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "live.yaml", trust=True)


@pytest.mark.parametrize("options", [{}, {"transport": "sse"}])
async def test_a_server_over_the_older_http_is_reached_at_its_url(tmp_path: Path, options: Any) -> None:
    with started(["notebook_server.py", "sse"]) as server:
        async with live(tmp_path, f"{server.url}/sse", **options).open() as world:
            assert (await world.call("create_note", {"title": "Milk"})).ok
            listed = await world.call("list_notes", {})
    assert "Milk" in str(listed.body)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ((404, PLAIN, REFUSED), "HTTP 404 Not Found: it has ended the session"),
        ((401, {"www-authenticate": "Bearer"}, REFUSED), "HTTP 401 Unauthorized: it needs an HTTP header"),
        ((503, PLAIN, ""), "answers with an HTTP error"),
        ((307, {"location": "http://127.0.0.1:9/mcp"}, ""), "Redirect to http://127.0.0.1:9/mcp not followed"),
        ((200, {"content-type": "text/html"}, "<p>Hello"), "Unexpected content type: text/html"),
        ((200, {"content-type": "application/json"}, "{"), "Failed to parse JSON response"),
        ((200, EVENTS, "data: {\n\n"), "Failed to parse SSE message"),
        ((200, EVENTS, ": nothing\n\n"), "SSE stream ended without a response"),
        ((202, PLAIN, ""), "202 Accepted"),
    ],
)
async def test_an_answer_outside_the_protocol_is_a_crash_and_the_next_call_connects_again(
    tmp_path: Path, failure: Any, reason: str
) -> None:
    with handshaking(failure) as url:
        async with live(tmp_path, url).open() as world:
            with pytest.raises(Crash, match=reason):
                await world.call("fail", {})
            again = await world.call("do", {})
    assert "session-2" in str(again.body)


@pytest.mark.parametrize(("status", "reason"), [(401, "it needs an HTTP header"), (500, "HTTP 500")])
async def test_a_message_that_is_refused_over_the_older_http_is_a_crash(
    tmp_path: Path, status: int, reason: str
) -> None:
    with handshaking((status, PLAIN, ""), Streaming) as url:
        async with live(tmp_path, url, transport="sse").open() as world:
            with pytest.raises(Crash, match=reason):
                await world.call("fail", {})
            again = await world.call("do", {})
    assert "session-2" in str(again.body)


async def test_an_error_of_the_server_itself_is_its_answer(tmp_path: Path) -> None:
    own = {"code": -32602, "message": "Bad id", "data": {"id": 7}}
    with handshaking((400, {}, {"jsonrpc": "2.0", "id": 3, "error": own})) as url:
        async with live(tmp_path, url).open() as world:
            answer = await world.call("fail", {})
    assert "Bad id" in str(answer.body)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_half_a_character_from_javascript_is_replaced(tmp_path: Path, kind: str) -> None:
    cut = {"content": [{"type": "text", "text": "\\\\ud83d \ud83d, \ud83d\ude00 \ud83d"}]}
    body = json.dumps({"jsonrpc": "2.0", "id": 3, "result": cut})
    text = f"event: message\ndata: {body}\n\n" if kind == EVENTS["content-type"] else body
    with handshaking((200, {"content-type": kind}, text)) as url:
        async with live(tmp_path, url).open() as world:
            answer = await world.call("fail", {})
    assert isinstance(answer.body, ToolResult)
    assert answer.body.content[0]["text"] == "\\\\ud83d \ufffd, \N{GRINNING FACE} \ufffd"


async def test_escapes_may_be_cut_anywhere() -> None:
    text = json.dumps(["\ud83d", "\ud83d\ude00", "\\\ud83d", "\n\ude00\u00e9", "\ud83d\n"])

    class Pieces(AsyncByteStream):
        def __init__(self, size: int) -> None:
            self._size = size

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for at in range(0, len(text), self._size):
                yield text[at : at + self._size].encode()

    for size in range(1, len(text)):
        response = Response(200, stream=Pieces(size))
        await mend(response)
        assert json.loads(await response.aread()) == decode(text)


def test_a_path_without_a_server_is_reported(tmp_path: Path) -> None:
    with started(["notebook_server.py", "sse"]) as server, pytest.raises(DocumentError, match="no MCP server at this"):
        live(tmp_path, f"{server.url}/mcp")
