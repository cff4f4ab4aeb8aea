"""The first messages over stdio: answered before the SDK is imported, and as it would answer them."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from support.help_desk import scenario
from support.stdio_process import MODERN_META, Wire, serving, stderr_of, steps

from mcp_sim import Simulator
from mcp_sim.server.opening import HANDSHAKES, Opened, Opening
from mcp_sim.server.surface import offers
from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.scenario import Presented

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no one can wait for pipes there")

NEWEST = "2025-11-25"
CLIENT = {"name": "raw", "title": "Raw", "version": "1"}
ABLE: dict[str, Any] = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
ENVELOPE: dict[str, Any] = {**MODERN_META, "io.modelcontextprotocol/clientInfo": CLIENT}
MODERN_LIST = {**LIST, "params": {"_meta": ENVELOPE}}
DISCOVER = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": ENVELOPE}}


def initialize(number: object = 0, version: object = NEWEST, able: object = ABLE, **more: object) -> dict[str, object]:
    params = {"protocolVersion": version, "capabilities": able, "clientInfo": CLIENT, **more}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def encoded(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@contextmanager
def pipe() -> Generator[tuple[int, int]]:
    source, target = os.pipe()
    try:
        yield source, target
    finally:
        os.close(source)
        os.close(target)


async def opened(reference: str, data: bytes, *, in_the_way: int = 0) -> tuple[Opened, bytes]:
    """Return what an opening made of some messages, and its answers."""
    with pipe() as (source, client), pipe() as (server, target):
        os.write(client, data)
        os.write(target, b" " * in_the_way)
        async with Simulator.load(reference).open() as world:
            opening, interactions = Opening(source, target), world.scenario.interactions
            for name, spec in world.scenario.servers.items():
                opening.answer(Presented(spec, world.catalogue(name), interactions))
        os.set_blocking(server, False)
        try:
            return opening.opened, os.read(server, 1_000_000)
        except BlockingIOError:
            return opening.opened, b""


def desk(folder: Path) -> str:
    """Return a scenario with much that is presented, but no icons."""
    path = scenario(folder, "page_size: 2\n")
    spec = folder / "desk.yaml"
    spec.write_text(re.sub("^icons:.*\n", "", spec.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8")
    return str(path)


def answers_of_the_sdk(reference: str, *messages: object) -> bytes:
    """Return the answers of a server whose client begins with a line that only the SDK answers."""
    with serving(reference, handshake=False) as wire:
        wire.send(b"[]\n")
        wire.send(encoded(*messages))
        lines = wire.leave().splitlines(keepends=True)
    assert "error" in json.loads(lines[0])
    return b"".join(lines[1:])


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_a_handshake_and_the_first_list_are_answered_as_by_the_sdk(tmp_path: Path, version: str) -> None:
    scenario(tmp_path, "page_size: 2\n")
    spec = tmp_path / "desk.yaml"
    spec.write_text(re.sub("^icons:.*\n", "", spec.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8")
    reference = desk(tmp_path)
    messages = [initialize(7, version), INITIALIZED, LIST]
    passed, answers = await opened(reference, encoded(*messages))
    assert passed == Opened(encoded(*messages), answered={7, "list"})
    assert answers == answers_of_the_sdk(reference, *messages)


async def test_a_discovery_and_the_first_list_are_answered_as_by_the_sdk(tmp_path: Path) -> None:
    reference = desk(tmp_path)
    messages = [DISCOVER, MODERN_LIST]
    passed, answers = await opened(reference, encoded(*messages))
    assert passed == Opened(encoded(*messages), answered={0, "list"})
    assert answers == answers_of_the_sdk(reference, *messages)


@pytest.mark.parametrize("messages", [[initialize(), INITIALIZED, LIST], [DISCOVER, MODERN_LIST]])
@pytest.mark.parametrize("reference", ["calm_crm", "conformance"])
async def test_shipped_servers_are_presented_as_by_the_sdk(reference: str, messages: list[object]) -> None:
    passed, answers = await opened(reference, encoded(*messages))
    assert passed.answered == {0, "list"}
    assert answers == answers_of_the_sdk(reference, *messages)


@pytest.mark.parametrize("reference", ["crm", "calm_crm", "flaky_crm", "conformance"])
async def test_what_is_presented_before_tools_are_planned_is_served(reference: str) -> None:
    presented: dict[str, Presented] = {}
    scenario = load(reference, present=presented.update)
    assert presented.keys() == scenario.servers.keys()
    async with Simulator(scenario) as simulator:
        world = simulator.world("a")
        for name, server in presented.items():
            assert server.spec == scenario.servers[name]
            assert offers(server.spec, server.interactions) == offers(server.spec, scenario.interactions)
            assert not server.is_final or server.tools == world.catalogue(name)
    assert all(server.is_final for server in presented.values()) is not bool(scenario.perturbations)


def test_a_handshake_is_answered_before_faults_are_read(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("mcp_sim: 1\ntools: crm\nperturbations: [{latency: {seconds: nonsense}}]\n", encoding="utf-8")
    with pipe() as (source, client), pipe() as (_, target):
        os.write(client, encoded(initialize(), LIST))
        opening = Opening(source, target)
        with pytest.raises(DocumentError):
            load(path, present=lambda servers: opening.answer(servers["crm"], silence=0))
    assert opening.opened.answered == {0}  # the list may depend on faults


async def test_the_sessionless_era_needs_no_discovery() -> None:
    passed, answers = await opened("calm_crm", encoded(MODERN_LIST))
    assert passed.answered == {"list"}
    assert answers == answers_of_the_sdk("calm_crm", MODERN_LIST)


def test_the_versions_are_those_of_the_sdk() -> None:
    assert set(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKES


@pytest.mark.parametrize(
    "message",
    [
        "not JSON",
        [],
        LIST,
        INITIALIZED,
        initialize(None),
        initialize(1.5),
        initialize(True),
        initialize([]),
        initialize(version="2026-07-28"),
        initialize(version=["2025-11-25"]),
        initialize(able=None),
        initialize(able={"roots": {"listChanged": {}}}),
        initialize(able={"sampling": 1}),
        initialize(able={"tasks": {}}),
        initialize(clientInfo={"name": "raw"}),
        initialize(clientInfo={**CLIENT, "version": 1}),
        initialize(_meta={}),
        {**initialize(), "jsonrpc": "1.0"},
        {**initialize(), "more": 1},
        {**LIST, "params": {"_meta": MODERN_META}},
        {**LIST, "params": {"_meta": {**ENVELOPE, "progressToken": 1}}},
        {**LIST, "params": {"_meta": {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}}},
        {**LIST, "params": {"_meta": ENVELOPE, "cursor": "1"}},
        {**DISCOVER, "method": "tools/call"},
    ],
    ids=json.dumps,
)
async def test_whatever_is_not_plain_is_left_to_the_sdk(message: object) -> None:
    data = encoded(message, INITIALIZED, LIST)
    assert await opened("calm_crm", data) == (Opened(data), b"")


@pytest.mark.parametrize(
    "message",
    [
        initialize(1),
        {**MODERN_LIST, "id": 1},
        {**DISCOVER, "id": 1},
        {**LIST, "id": 0},
        {**LIST, "params": {"cursor": "1"}},
        {**LIST, "params": {"_meta": {"progressToken": 1}}},
        {**INITIALIZED, "params": {"_meta": {}}},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    ],
    ids=json.dumps,
)
async def test_an_opening_ends_with_the_first_message_that_is_not_plain(message: object) -> None:
    data = encoded(initialize(), message, LIST)
    passed, answers = await opened("calm_crm", data)
    assert passed == Opened(data, answered={0})
    assert [json.loads(line)["id"] for line in answers.splitlines()] == [0]


async def test_a_client_that_does_not_read_gets_the_rest_of_its_answer_later() -> None:
    data = encoded(initialize(), LIST)
    _, whole = await opened("calm_crm", data)
    passed, answers = await opened("calm_crm", data, in_the_way=60_000)
    assert passed.answered == {0, "list"}
    assert passed.unwritten
    assert answers.lstrip() + passed.unwritten == whole


@pytest.mark.parametrize("messages", [[], [initialize()], [initialize(), INITIALIZED, LIST]])
def test_each_request_is_answered_once(messages: list[object]) -> None:
    with serving("calm_crm", handshake=False) as wire:
        wire.send(encoded(*messages))
        rest = [one for one in (initialize(), INITIALIZED, LIST) if one not in messages]
        wire.send(encoded(*rest))
        wire.call(3, "list_companies", {})
        assert [wire.answer()["id"] for _ in range(3)] == [0, "list", 3]
        assert wire.leave() == b""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_after_the_first_answer_ends_the_server_with_its_code(tmp_path: Path, number: int, code: int) -> None:
    trace = tmp_path / "trace.jsonl"
    with serving("calm_crm", "--trace", str(trace), handshake=False) as wire:
        _end_after_first_answer(wire, number)
        assert wire.process.wait(10) == code
        assert "Traceback" not in stderr_of(wire)
    assert [step["entry"] for step in steps(trace)] == ["reset"]


def _end_after_first_answer(wire: Wire, number: int) -> None:
    wire.send(encoded(initialize()))
    assert wire.answer()["id"] == 0
    wire.process.send_signal(number)
