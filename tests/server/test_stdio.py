"""`mcp-sim serve` as a process: both eras, signals, bad input, clients that leave."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCRequest
from support.places import ROOT
from support.stdio_process import MODERN_META, Wire, odd, peak_memory, serving, stderr_of, steps
from support.warm import pid_of

from mcp_sim.server.lines import Refused, lines, parse_message, request_id
from mcp_sim.server.testing import spawned

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}

eras = pytest.mark.parametrize("mode", ["auto", "legacy"])
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


# clients --------------------------------------------------------------------------------------------------------------


@eras
async def test_the_sdk_client_meets_the_fault_and_leaves_a_complete_trace(tmp_path: Path, mode: str) -> None:
    trace = tmp_path / "trace.jsonl"
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        async with spawned("flaky_crm", "--trace", str(trace), mode=mode, errlog=log) as client:
            assert len((await client.list_tools()).tools) == 14
            lost = await client.call_tool("create_deal", SPRING)
            again = await client.call_tool("create_deal", SPRING)
        log.seek(0)
        received = log.read()
    assert (lost.is_error, again.is_error) == (True, False)
    assert [step["entry"] for step in steps(trace)] == ["reset", "call", "call"]
    assert "FAULT lost-deal" in received


def test_the_sessionless_era_needs_no_handshake() -> None:
    with serving("calm_crm", handshake=False) as wire:
        wire.call(1, "get_contact", {"contact_id": "con_00001"}, _meta=MODERN_META)
        result = wire.answer()["result"]
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "crm", "version": "4.2.0"}
        assert result["structuredContent"]["name"] == "Ada Vos"


def test_nothing_on_stdout_names_the_simulator_or_the_scenario(tmp_path: Path) -> None:
    with serving(odd(tmp_path, {"error": {"status": 503}, "id": "on-purpose", "tools": "get_*"})) as wire:
        wire.request(1, "tools/list", {})
        wire.call(2, "get_contact", {"contact_id": "con_00001"})
        wire.call(3, "no_such_tool", {})
        served = json.dumps([wire.answer() for _ in range(3)]) + wire.leave().decode()
    for secret in ("mcp_sim", "mcp-sim", "odd", "on-purpose", str(tmp_path)):
        assert secret not in served


def test_tools_list_has_the_definitions_as_captured() -> None:
    captured = json.loads((ROOT / "tool_specs" / "crm" / "crm.tools.json").read_text(encoding="utf-8"))
    with serving("calm_crm") as wire:
        wire.request(1, "tools/list", {})
        assert wire.answer()["result"]["tools"] == captured["tools"]


# leaving --------------------------------------------------------------------------------------------------------------


def test_a_closed_stdin_ends_the_server_with_0() -> None:
    with serving("calm_crm") as wire:
        assert wire.leave() == b""
        assert wire.process.returncode == 0


def test_calls_under_way_are_answered_before_a_closed_stdin_ends_the_server(tmp_path: Path) -> None:
    """So that calls can be piped in, without a client."""
    trace = tmp_path / "trace.jsonl"
    with serving("calm_crm", "--trace", str(trace)) as wire:
        for number in range(1, 6):
            wire.call(number, "create_deal", SPRING)
        answers = [json.loads(line) for line in wire.leave().splitlines()]
        assert sorted(answer["id"] for answer in answers) == [1, 2, 3, 4, 5]
        assert all("result" in answer for answer in answers)
    assert len(steps(trace)) == 6


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_with_its_code_and_a_complete_trace(tmp_path: Path, number: int, code: int) -> None:
    trace = tmp_path / "trace.jsonl"
    path = odd(tmp_path, {"latency": "1h", "tools": "get_contact"})
    with serving(path, "--trace", str(trace)) as wire:
        wire.call(1, "create_deal", SPRING)
        wire.answer()
        wire.call(2, "get_contact", {"contact_id": "con_00001"})
        wire.call(3, "list_companies", {})
        assert wire.answer()["id"] == 3
        wire.process.send_signal(number)
        assert json.loads(wire.stdout.readline())["error"]["code"] == -32000
        assert wire.process.wait(10) == code
        assert "Traceback" not in stderr_of(wire)
    assert [step.get("tool") for step in steps(trace)] == [None, "create_deal", "get_contact", "list_companies"]


def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_a_complete_trace(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    path = odd(tmp_path, {"latency": "1h", "tools": "create_deal"})
    with serving(path, "--trace", str(trace)) as wire:
        wire.call(1, "create_deal", SPRING)
        wire.call(2, "list_companies", {})
        assert wire.answer()["id"] == 2
        wire.stdout.close()
        wire.stdin.close()
        assert wire.process.wait(10) == 0
        assert "Traceback" not in stderr_of(wire)
    assert steps(trace)[1]["committed"][0]["record"]["title"] == "Spring order"


def test_a_client_that_stops_reading_cannot_keep_the_server_from_ending() -> None:
    with serving("calm_crm") as wire:
        for number in range(1, 60):
            wire.call(number, "search_contacts", {"limit": 100})
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(20) == 143


def test_a_cancelled_call_is_not_answered(tmp_path: Path) -> None:
    with serving(odd(tmp_path, {"undelivered": "no_answer", "tools": "get_contact"})) as wire:
        wire.call(1, "get_contact", {"contact_id": "con_00001"})
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
        wire.call(2, "list_companies", {})
        assert wire.answer()["id"] == 2
        assert wire.leave() == b""
        assert wire.process.returncode == 0


@pytest.mark.parametrize(("how", "last"), [("closed", b""), ("partial", b'{"jsonrpc":"2.')])
def test_a_broken_connection_is_the_end_of_the_server(tmp_path: Path, how: str, last: bytes) -> None:
    trace = tmp_path / "trace.jsonl"
    path = odd(tmp_path, {"undelivered": how, "tools": "create_deal"})
    with serving(path, "--trace", str(trace)) as wire:
        wire.call(1, "create_deal", SPRING)
        assert wire.stdout.read() == last
        assert wire.process.wait(10) == 0
    assert steps(trace)[1]["committed"][0]["record"]["title"] == "Spring order"


# bad input ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unimpressed() -> Generator[Wire]:
    """One server that gets all of it."""
    with serving("calm_crm") as wire:
        yield wire


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"garbage", None, -32700),
        (b"\xff\xfe\x00", None, -32700),
        (b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"\xff"}}', "q", -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"arguments":' + deep(100_000) + b"}}", 9, -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"\\ud800"}}', 9, -32602),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get_contact","arguments":NaN}}', 9, -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get_contact","arguments":[]}}', 9, -32602),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}', 9, -32602),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}', 9, -32602),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/fly","params":{}}', 9, -32601),
        (b'{"jsonrpc":"2.0","id":9}', 9, -32600),
        (b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
        (b"17", None, -32600),
    ],
    ids=lambda value: value[:60].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_bad_input_gets_a_json_rpc_error_and_the_server_goes_on(
    line: bytes, number: Any, code: int, unimpressed: Wire
) -> None:
    unimpressed.send(line + b"\n\n")
    answer = unimpressed.answer()
    assert (answer["id"], answer["error"]["code"]) == (number, code)
    unimpressed.call(10, "get_contact", {"contact_id": "con_00001"})
    assert unimpressed.answer()["id"] == 10


def test_infinite_numbers_and_deep_arguments_are_refused_before_they_reach_the_world(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    call = (
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"create_deal","arguments":{"amount":%b}}}\n'
    )
    with serving("calm_crm", "--trace", str(trace)) as wire:
        for number, amount in enumerate((b"1e999", deep(100))):
            wire.send(call % (number, amount))
            assert wire.answer()["error"]["code"] == -32602
    assert len(steps(trace)) == 1


def test_an_argument_of_ten_megabytes_is_answered(tmp_path: Path) -> None:
    with serving("calm_crm") as wire:
        wire.call(1, "search_contacts", {"query": "x" * 10_000_000})
        result = wire.answer()["result"]
        assert result["isError"]
        assert len(json.dumps(result)) < 10_000


def test_a_message_beyond_all_bounds_is_refused_with_its_id() -> None:
    with serving("calm_crm") as wire:
        wire.call(1, "search_contacts", {"query": "x" * 40_000_000})
        answer = wire.answer()
        assert (answer["id"], answer["error"]["code"]) == (1, -32600)
        wire.call(2, "list_companies", {})
        assert wire.answer()["id"] == 2


@linux
def test_a_server_holds_little_of_endless_lines_and_goes_on() -> None:
    with serving("calm_crm") as wire:
        wire.call(1, "list_companies", {})
        assert wire.answer()["id"] == 1
        before = peak_memory(pid_of(wire.process))
        for _ in range(100):
            wire.send(b"x" * 1_000_000)
        wire.send(b"\n")
        assert wire.answer()["error"]["code"] == -32600
        wire.call(2, "list_companies", {})
        assert wire.answer()["id"] == 2
        assert peak_memory(pid_of(wire.process)) - before < 90_000_000


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
def test_a_batch_is_answered_with_a_line_in_the_protocol_that_has_them(version: str) -> None:
    with serving("calm_crm", handshake=False) as wire:
        client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        wire.request(0, "initialize", client)
        assert wire.answer()["id"] == 0
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        calls = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, 2)]
        wire.send(json.dumps([*calls, {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}]).encode() + b"\n")
        answers: Any = wire.answer()
        if version == "2025-11-25":
            assert answers["error"]["code"] == -32600
            return
        assert {answer["id"]: "error" in answer for answer in answers} == {1: False, 2: False, None: True}


def test_a_request_of_a_batch_without_an_answer_leaves_those_of_the_others(tmp_path: Path) -> None:
    path = odd(tmp_path, {"undelivered": "no_answer", "tools": "get_contact"}, {"latency": "1h", "tools": "get_deal"})
    with serving(path, handshake=False) as wire:
        client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        wire.request(0, "initialize", client)
        assert wire.answer()["id"] == 0
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        calls = {1: ("get_contact", {"contact_id": "con_00001"}), 2: ("get_deal", {"deal_id": "deal_0001"})}
        messages: list[Any] = [
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}
            for number, (tool, given) in calls.items()
        ]
        messages.append({"jsonrpc": "2.0", "id": 3, "method": "ping"})
        wire.send(json.dumps(messages).encode() + b"\n")
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n')
        answers: Any = wire.answer()
        assert [answer["id"] for answer in answers] == [3]


# lines ----------------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=200).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 40))
def test_lines_are_the_same_however_they_arrive(data: bytes, size: int) -> None:
    chunks = iter([data[at : at + size] for at in range(0, len(data), size)])
    expected = data.split(b"\n")
    assert list(lines(lambda _: next(chunks, b""))) == (expected if expected[-1] else expected[:-1])


@given(st.integers(1, 20), st.integers(1, 500), st.integers(1, 50))
def test_of_a_line_too_long_only_a_bounded_beginning_is_kept(longest: int, length: int, size: int) -> None:
    data = b"a" * length + b"\nb\n"
    chunks = iter([data[at : at + size] for at in range(0, len(data), size)])
    first, second = lines(lambda _: next(chunks, b""), longest)
    assert second == b"b"
    assert first == b"a" * len(first)
    assert len(first) == length or longest < len(first) <= longest + 2 * size


@given(st.integers(-(10**15), 10**15) | st.text(max_size=20), st.text(max_size=20))
def test_the_id_of_a_request_that_cannot_be_parsed_is_found(number: int | str, text: str) -> None:
    body = {"params": {"id": "inner", "name": text}, "method": "id", "id": number}
    line = json.dumps(body).encode("utf-8", "surrogatepass")
    assert request_id(line[:-1] + b",") == number


@given(st.binary(max_size=60))
def test_no_line_whatsoever_raises_anything_but_a_refusal(line: bytes) -> None:
    assert refusal(line) in (None, -32700, -32600)


def refusal(line: bytes) -> int | None:
    try:
        parse_message(line)
    except Refused as refused:
        return refused.answer.error.code
    return None


def test_a_line_becomes_a_message() -> None:
    message = parse_message(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r')
    assert message == JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")
