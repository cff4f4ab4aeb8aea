"""Plain calls over HTTP take a way of their own. Clients and ledgers must not see a difference to that of the SDK."""

from __future__ import annotations

import json
import re
import socket
import tracemalloc
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import given
from hypothesis import strategies as st
from support import libraries
from support.libraries import small
from support.over_http import CLIENT, ERAS, META

from mcp_sim import Simulator
from mcp_sim.server.access import WORLD_KEY, access
from mcp_sim.server.http import HttpServer, Limits
from mcp_sim.server.listening import bind, serving
from mcp_sim.server.worlds import Worlds
from mcp_sim.simulator.compile import load
from mcp_sim.types import Step
from mcp_sim.world.world import World

PATIENCE = 60
SESSION = re.compile(rb"\b[0-9a-f]{32}\b")
GET: dict[str, Any] = {"name": "get_contact", "arguments": {"contact_id": "con_00001"}}
DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CREATE: dict[str, Any] = {"name": "create_deal", "arguments": DEAL}
FAULTS = """
mcp_sim: 1
name: plain
tools: crm
seed: 3
world:
  records: {company: 5, contact: 8, deal: 6, activity: 4}
perturbations:
  - error: {status: 503}
    tools: create_deal
    when: {every: 3}
  - lost_ack: {}
    tools: create_deal
    when: {every: 4}
  - latency: 2s
    when: {every: 5}
  - rate_limit: {limit: 100000, window: 1h}
"""


class Side:
    """A server and a client of it; `at_once` counts the calls that were answered without the SDK."""

    def __init__(self, simulator: Simulator, *, only_sdk: bool) -> None:
        self.simulator, self.only_sdk, self.at_once = simulator, only_sdk, 0
        self.worlds = Worlds(self._make, 1000)
        self.sessions = dict[str, bytes]()

    def _make(self, name: str) -> World:
        world = self.simulator.world(name, clock="virtual")
        usual = world.call_at_once

        def counted(*call: Any) -> Any:
            answered = None if self.only_sdk else usual(*call)
            self.at_once += answered is not None
            return answered

        world.call_at_once = counted  # pyright: ignore[reportAttributeAccessIssue] (takes any arguments)
        return world

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        server = HttpServer(
            self.simulator.scenario, self.worlds, access("127.0.0.1", [], None, {}), Limits(), lambda: None
        )
        with bind("127.0.0.1", 0) as listener:
            self.port = listener.getsockname()[1]
            async with (
                self.simulator,
                server.open() as app,
                serving(app, listener, server.leave, 1, 60, server.answer_at_once),
            ):
                yield

    def exchange(self, data: Sequence[bytes], world: str, answers: int = 1) -> list[tuple[bytes, list[bytes], bytes]]:
        """Send pieces on a new connection, and return the status lines, sorted headers and bodies of the answers."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection.makefile("rb") as stream:
                for piece in data:
                    connection.sendall(piece.replace(b"SESSION", self.sessions.get(world, b"none")))
                return [self._read(stream, world) for _ in range(answers)]

    def _read(self, stream: Any, world: str) -> tuple[bytes, list[bytes], bytes]:
        status, headers = stream.readline(), list[bytes]()
        while (line := stream.readline()) not in (b"\r\n", b""):
            headers.append(line.lower())
        for header in headers:
            if header.startswith(b"mcp-session-id"):
                self.sessions.setdefault(world, header.split()[1])
        shown = sorted(SESSION.sub(b"SESSION", header) for header in headers)
        length = next((int(header.split(b":")[1]) for header in headers if header.startswith(b"content-length")), 0)
        return status, shown, stream.read(length)

    def shake_hands(self, world: str) -> None:
        hello = {"protocolVersion": ERAS[0], "capabilities": {}, "clientInfo": CLIENT}
        body = encoded({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        self.exchange([request(body, world, {b"mcp-session-id": None})], world)
        self.exchange([request(encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}), world)], world)

    def ledger(self, world: str) -> list[Any]:
        """Return the ledger of a world, without what is measured."""
        return [{**entry, "measured": sorted(entry["measured"])} for entry in self.worlds.get(world).ledger]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Side, Side]]:
    path = tmp_path_factory.mktemp("plain") / "plain.yaml"
    path.write_text(FAULTS)
    both = (Side(Simulator.load(path), only_sdk=False), Side(Simulator.load(path), only_sdk=True))
    with start_blocking_portal() as portal, ExitStack() as stack:
        for side in both:
            stack.enter_context(portal.wrap_async_context_manager(side.open()))
        yield both


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def request(
    body: bytes,
    world: str,
    headers: dict[bytes, bytes | None] | None = None,
    *,
    line: bytes = b"POST /w/WORLD/mcp HTTP/1.1",
    more: bytes = b"",
) -> bytes:
    """Return a request of the handshake era; `headers` replace or remove usual ones, and `more` follow."""
    usual: dict[bytes, bytes | None] = {
        b"host": b"127.0.0.1",
        b"accept": b"application/json, text/event-stream",
        b"content-type": b"application/json",
        b"mcp-session-id": b"SESSION",
        b"mcp-protocol-version": ERAS[0].encode(),
        b"content-length": b"%d" % len(body),
        **(headers or {}),
    }
    lines = b"".join(b"%b: %b\r\n" % (name, value) for name, value in usual.items() if value is not None)
    return line.replace(b"WORLD", world.encode()) + b"\r\n" + lines + more + b"\r\n" + body


def call(params: Any, number: Any = 1, era: str = ERAS[0], meta: Any = None) -> bytes:
    """Return the body of a call in an era."""
    return encoded({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": enveloped(params, era, meta)})


def enveloped(params: Any, era: str, meta: Any = None) -> Any:
    if era == ERAS[0]:
        return params if meta is None else dict[str, Any](params, _meta=meta)
    if not isinstance(params, dict):
        return params
    about: dict[str, Any] = {"protocolVersion": era, "clientCapabilities": {}, "clientInfo": CLIENT}
    envelope: dict[str, Any] = {META + name: value for name, value in about.items()}
    envelope.update(meta or {})
    return dict[str, Any](cast("dict[str, Any]", params), _meta=envelope)


def headers_of(era: str, name: bytes = b"get_contact") -> dict[bytes, bytes | None]:
    if era == ERAS[0]:
        return {}
    modern = {b"mcp-protocol-version": era.encode(), b"mcp-method": b"tools/call", b"mcp-name": name}
    return {b"mcp-session-id": None, **modern}


def odd_bodies(era: str) -> list[bytes]:
    """Return bodies of calls that are unusual in all respects but their headers."""
    plain = call(GET, era=era)
    numbers: list[Any] = ["a", 'ä"\\\x7f', "", 0, -1, 1.0, 1.5, None, True, [], 2**53, 10**30]
    metas: list[Any] = [[], {"progressToken": 1}, {"mcp-sim/world": "x"}, {"mcp-sim/idempotency": "k"}, {"a": 1}]
    params: list[Any] = [
        None, [], {}, {"name": 5}, {"name": "get_contact"}, {**GET, "arguments": None}, {**GET, "arguments": []},
        {**GET, "arguments": {}}, {**GET, "arguments": {"contact_id": "con_99999"}}, {**GET, "more": 1},
        {"name": "nothing"}, {**GET, "arguments": {"contact_id": "ä\u2028\U0001f600"}},
    ]  # fmt: skip
    texts = [
        b"[" + plain + b"]", b"[]", b"", b" \n" + plain + b"\n ", plain + b"x", plain[:-1], b"\xef\xbb\xbf" + plain,
        plain.decode().encode("utf-16"), plain.replace(b"con_00001", b"\xff"), plain.replace(b"con_00001", b"\\ud800"),
        plain.replace(b'"id": 1', b'"id": 1, "id": 2'), plain.replace(b'"con_00001"', b"NaN"),
        plain.replace(b'"con_00001"', b"-Infinity"), plain.replace(b'"con_00001"', b"1e999"),
        plain.replace(b'"con_00001"', b"9" * 5000), plain.replace(b'"con_00001"', b"[" * 300 + b"]" * 300),
        plain.replace(b'"con_00001"', b'"con_00002", "contact_id": "con_00001"'), plain.replace(b'"2.0"', b'"1.0"'),
        plain.replace(b'"id": 1, ', b""), plain.replace(b'"id": 1', b'"id": 1, "more": 1'), b"null", b"5",
    ]  # fmt: skip
    return [
        plain,
        *[call(GET, number, era) for number in numbers],
        *[call(GET, 1, era, meta) for meta in metas if era == ERAS[0] or isinstance(meta, dict)],
        *[call(one, 1, era) for one in params],
        *texts,
    ]


def odd_heads(era: str) -> list[tuple[list[bytes], int]]:
    """Return requests with unusual heads, or that arrive in an unusual way, and the number of their answers."""
    plain, usual, world = call(GET, era=era), headers_of(era), "heads"

    def headed(
        line: bytes = b"POST /w/WORLD/mcp HTTP/1.1", more: bytes = b"", **changed: bytes | None
    ) -> tuple[list[bytes], int]:
        named = {name.replace("_", "-").encode(): value for name, value in changed.items()}
        return [request(plain, world, {**usual, **named}, line=line, more=more)], 1

    whole = headed()[0][0]
    head, _, body = whole.partition(b"\r\n\r\n")
    chunks = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (body[:5], len(body) - 5, body[5:])
    chunked = headed(content_length=None, transfer_encoding=b"chunked")[0][0].partition(b"\r\n\r\n")[0]
    return [
        ([whole], 1), ([head + b"\r\n\r\n", body], 1), ([whole[:50], whole[50:]], 1), ([whole, whole], 2),
        ([whole * 3], 3), ([chunked + b"\r\n\r\n" + chunks], 1), ([b"\r\n" + whole], 1), headed(content_type=None),
        headed(content_type=b"text/plain"), headed(content_type=b"application/json;a=b"),
        headed(content_type=b"text/plain, application/json"), headed(accept=None), headed(accept=b"*/*"),
        headed(accept=b"text/html"), headed(accept=b"application/json"), headed(accept=b"application/*;q=0.1"),
        headed(more=b"accept: text/html\r\n"), headed(more=b"content-type: text/plain\r\n"),
        headed(more=b"x: 1\r\nx: 2\r\n"), headed(more=b"host: 127.0.0.1\r\n"), headed(host=b"evil.example"),
        headed(host=None), headed(origin=b"http://evil.example"), headed(origin=b"http://127.0.0.1"),
        headed(authorization=b"Bearer a"), headed(mcp_sim_world=b"other"), headed(mcp_sim_world=world.encode()),
        headed(connection=b"close"), headed(b"POST /w/WORLD/mcp HTTP/1.0"),
        headed(connection=b"upgrade", upgrade=b"websocket"), headed(b"POST /w/WORLD/mcp?world=WORLD HTTP/1.1"),
        headed(b"POST /w/WORLD/mcp?world=other HTTP/1.1"), headed(b"POST /w/h%65ads/mcp HTTP/1.1"),
        headed(b"POST http://127.0.0.1/w/WORLD/mcp HTTP/1.1"), headed(b"POST /w/WORLD/mcp/ HTTP/1.1"),
        headed(b"POST /nothing HTTP/1.1"), headed(b"PUT /w/WORLD/mcp HTTP/1.1"),
        headed(b"POST /w/WORLD/mcp HTTP/9.9"), headed(x=b"y" * 70_000), headed(x=b"\xff"),
        headed(mcp_session_id=b"other"), headed(mcp_protocol_version=b"1999-01-01"),
        headed(mcp_protocol_version=None), headed(mcp_name=b"other"), headed(mcp_name=b"=?base64?Z2V0X2NvbnRhY3Q=?="),
        headed(mcp_method=b"tools/list"), headed(mcp_name=None), headed(more=b"mcp-name: get_contact\r\n"),
        headed(mcp_param_region=b"eu"),
    ]  # fmt: skip


def same(sides: tuple[Side, Side], data: Sequence[bytes], world: str, answers: int = 1) -> None:
    """Send the same to both sides, and compare what they answer."""
    fast, slow = (side.exchange(data, world, answers) for side in sides)
    assert fast == slow, data


def begin(sides: tuple[Side, Side], world: str, era: str) -> None:
    for side in sides:
        side.worlds.get(world)
        if era == ERAS[0]:
            side.shake_hands(world)


@pytest.mark.parametrize("era", ERAS)
def test_calls_with_unusual_bodies_get_the_same_answers_with_and_without_the_sdk(
    sides: tuple[Side, Side], era: str
) -> None:
    world = f"bodies-{era}"
    begin(sides, world, era)
    before = sides[0].at_once
    for body in odd_bodies(era):
        same(sides, [request(body, world, headers_of(era))], world)
    assert sides[0].at_once > before + 4
    assert sides[0].ledger(world) == sides[1].ledger(world)


@pytest.mark.parametrize("era", ERAS)
def test_calls_with_unusual_heads_get_the_same_answers_with_and_without_the_sdk(
    sides: tuple[Side, Side], era: str
) -> None:
    begin(sides, "heads", era)
    before = sides[0].at_once
    for data, answers in odd_heads(era):
        same(sides, data, "heads", answers)
    assert sides[0].at_once > before + 4
    assert sides[0].ledger("heads") == sides[1].ledger("heads")


@pytest.mark.parametrize("era", ERAS)
def test_requests_with_the_head_of_an_earlier_one_get_the_same_answers_with_and_without_the_sdk(
    sides: tuple[Side, Side], era: str
) -> None:
    world = f"known-{era}"
    begin(sides, world, era)
    plain = call(GET, era=era)
    first = request(plain, world, headers_of(era))
    head = first.removesuffix(plain)
    unknown = plain.replace(b"con_00001", b"con_99999")
    bodies = [b"x" * len(plain), b" " * len(plain), plain.replace(b"tools/call", b"tools/list"), unknown]
    before = sides[0].at_once
    for body in bodies:
        same(sides, [first, head + body, first], world, 3)
    for cut in (1, len(head) - 2, len(head), len(head) + 5):
        same(sides, [first, first[:cut], first[cut:]], world, 2)
    same(sides, [first, first * 3], world, 4)
    same(sides, [first, first + first[:40], first[40:]], world, 3)
    assert sides[0].at_once > before + 2 * len(bodies)
    assert sides[0].ledger(world) == sides[1].ledger(world)


def test_the_head_of_an_earlier_request_is_of_no_use_after_its_session_ended(sides: tuple[Side, Side]) -> None:
    begin(sides, "ended", ERAS[0])
    first = request(call(GET), "ended")
    end = request(b"", "ended", line=b"DELETE /w/WORLD/mcp HTTP/1.1")
    same(sides, [first, first, end, first], "ended", 4)
    statuses = [status for status, _, _ in sides[0].exchange([first], "ended")]
    assert statuses[0].split()[1] == b"404"


def chunked(body: bytes, era: str, chunks: bytes, **more: bytes) -> bytes:
    """Return a request whose body comes as these chunks."""
    changed = {name.replace("_", "-").encode(): value for name, value in more.items()}
    usual = {b"content-length": None, b"transfer-encoding": b"chunked", **headers_of(era), **changed}
    return request(body, "chunks", usual).removesuffix(body) + chunks


@pytest.mark.parametrize("era", ERAS)
def test_a_body_that_cannot_be_parsed_is_refused_at_once(sides: tuple[Side, Side], era: str) -> None:
    begin(sides, "chunks", era)
    body = call(GET, era=era)
    trailers = b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, b"x: y\r\n" * 60_000)
    for chunks in (b"zz\r\n", b"f" * 20 + b"\r\n", b"5\r\nabcdeX", trailers):
        status, headers, _ = sides[0].exchange([chunked(body, era, chunks)], "chunks")[0]
        assert status.split()[1] in (b"400", b"431")
        assert b"connection: close\r\n" in headers
    other = chunked(body, era, b"", transfer_encoding=b"other")
    assert sides[0].exchange([other], "chunks")[0][0].split()[1] == b"400"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("trailer", [b"origin: http://evil.example", b"host: other", b"mcp-sim-world: other"])
def test_trailers_are_not_headers(sides: tuple[Side, Side], era: str, trailer: bytes) -> None:
    begin(sides, "chunks", era)
    body = call(GET, era=era)
    chunks = b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(body), body, trailer)
    status, _, answer = sides[0].exchange([chunked(body, era, chunks)], "chunks")[0]
    assert status.split()[1] == b"200"
    assert b"con_00001" in answer


def test_a_request_that_expects_permission_to_go_on_gets_it(sides: tuple[Side, Side]) -> None:
    begin(sides, "expect", ERAS[1])
    data = request(call(GET, era=ERAS[1]), "expect", {**headers_of(ERAS[1]), b"expect": b"100-continue"})
    same(sides, [data], "expect", 2)


@pytest.mark.parametrize("era", ERAS)
def test_calls_under_faults_lead_to_the_same_ledger_with_and_without_the_sdk(
    sides: tuple[Side, Side], era: str
) -> None:
    world = f"faults-{era}"
    begin(sides, world, era)
    before = sides[0].at_once
    for number in range(30):
        params, name = (CREATE, b"create_deal") if number % 3 else (GET, b"get_contact")
        same(sides, [request(call(params, number, era), world, headers_of(era, name))], world)
    assert 10 < sides[0].at_once - before < 30
    assert sides[0].ledger(world) == sides[1].ledger(world)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.fixed_dictionaries(
    {}, optional={"contact_id": JSON, "title": JSON, "amount": JSON, "limit": JSON, "query": JSON}
)
CALLS = st.tuples(
    st.sampled_from(["get_contact", "create_deal", "search_contacts", "update_contact", "delete_deal"]),
    ARGUMENTS | JSON,
    st.integers() | st.text(),
)


@pytest.mark.parametrize("era", ERAS)
@given(calls=st.lists(CALLS, min_size=1, max_size=4))
def test_calls_with_any_arguments_get_the_same_answers_with_and_without_the_sdk(
    sides: tuple[Side, Side], era: str, calls: list[Any]
) -> None:
    world = f"any-{era}"
    if world not in sides[0].worlds:
        begin(sides, world, era)
    for name, arguments, number in calls:
        body = call({"name": name, "arguments": arguments}, number, era)
        same(sides, [request(body, world, headers_of(era, name.encode()))], world)
    assert sides[0].ledger(world)[-4:] == sides[1].ledger(world)[-4:]


class Broken:
    """A sink that fails in a way that no sink should."""

    def __init__(self) -> None:
        self.is_broken = False

    def write(self, line: bytes, step: Step | None = None) -> None:
        if self.is_broken:
            raise RuntimeError("a bug")

    def close(self) -> None:
        return


@pytest.mark.parametrize("era", ERAS)
def test_unexpected_failures_look_the_same_with_and_without_the_sdk(era: str) -> None:
    sinks = [Broken(), Broken()]
    both = [Side(Simulator(load("calm_crm"), [sink]), only_sdk=sink is sinks[1]) for sink in sinks]
    with start_blocking_portal() as portal, ExitStack() as stack:
        for side in both:
            stack.enter_context(portal.wrap_async_context_manager(side.open()))
        sides = (both[0], both[1])
        begin(sides, "w", era)
        whole = request(call(GET, era=era), "w", headers_of(era))
        same(sides, [whole], "w")
        same(sides, [whole], "w")
        assert both[0].at_once == 2
        for sink in sinks:
            sink.is_broken = True
        same(sides, [whole], "w")
        if era == ERAS[1]:
            elsewhere = call(GET, era=era, meta={WORLD_KEY: "new"})
            same(sides, [request(elsewhere, "w", headers_of(era), line=b"POST /mcp?world=w HTTP/1.1")], "w")


def test_a_program_that_fails_is_run_once_for_a_call(tmp_path: Path) -> None:
    head = "import itertools\nrun = itertools.count(1).__next__"
    program = small("raise KeyError(run())", head=head)
    side = Side(libraries.simulator(tmp_path, program, [libraries.tool("act")]), only_sdk=False)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(side.open()):
        for number in range(3):
            data = request(call({"name": "act"}, number, ERAS[1]), "w", headers_of(ERAS[1], b"act"))
            assert b"mcp_sim" in side.exchange([data], "w")[0][2]
        errors = [crash["error"].split()[-1] for crash in side.worlds.get("w").ledger.crashes]
    assert errors == ["1", "2", "3"]


def test_long_tokens_are_not_kept() -> None:
    simulator = Simulator(load("calm_crm"))
    worlds = Worlds(simulator.world, 10)
    server = HttpServer(simulator.scenario, worlds, access("127.0.0.1", [], None, {}), Limits(), lambda: None)

    def send(number: int) -> None:
        token = b"Bearer %d" % number + b"x" * 50_000
        headers = [(b"host", b"127.0.0.1"), (b"authorization", token)]
        assert server.answer_at_once(b"/mcp", headers, b"{}") is None

    send(0)
    tracemalloc.start()
    try:
        for number in range(1, 100):
            send(number)
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
