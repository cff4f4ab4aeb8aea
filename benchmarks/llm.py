"""Measure a language world model against a running endpoint: requests, prompt tokens and time of each call.

    python benchmarks/llm.py URL MODEL [--quick] [--options JSON]      e.g. http://127.0.0.1:8000/v1 tiny
    python benchmarks/llm.py [--quick]                                 only the own time of mcp-sim, without an engine

The reference in the same run is the naive layout: the whole state in one user message, sent again for each call.
`--options` are further options of the world model, for example `{"thinking": "off"}`. Uncached tokens are reported by
engines that count them (vLLM: --enable-prompt-tokens-details).

The engine's time lasts from the last byte of a request until the head of its response. The rest of a call, including
the work of the HTTP client, is the own time of mcp-sim, on the clock and of the processor. Without a URL an endpoint in
a process of its own answers at once, with what the built-in world answers. The reference is then the same requests,
sent by the HTTP client alone. Garbage is collected as by `mcp-sim serve`. First calls of a tool compile it, and are
counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.measuring import print_table, ratio
from httpx2 import AsyncClient, AsyncHTTPTransport, Request, Response

from mcp_sim import Simulator
from mcp_sim.cli.startup import freeze_collector
from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.endpoint import Ask, Endpoint, open_endpoint
from mcp_sim.models.language_model.endpoint import Request as Question
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.models.language_model.tighten import tighten
from mcp_sim.models.world_models.openai import Openai
from mcp_sim.simulator.compile import load
from mcp_sim.types.kinds import Predictor
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

SCENARIO = """\
mcp_sim: 1
name: benchmark
tools: crm
seed: 5
world:
  description: The CRM of a wholesaler of bicycle parts.
  records:
    company: 8
    contact: {count: 25, rows: [{id: con_00001, name: Ada Vos}]}
    deal: {count: 15, rows: [{id: deal_0001, title: Spring order}]}
    activity: 10
"""
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_contacts", {"query": "Ada"}),
    ("get_contact", {"contact_id": "con_00001"}),
    ("create_deal", {"title": "Chains and tyres", "amount": 400, "contact_id": "con_00001"}),
    ("update_deal", {"deal_id": "deal_0001", "stage": "proposal"}),
    ("list_deals", {"limit": 5}),
    ("log_activity", {"type": "call", "subject": "Date?", "contact_id": "con_00001", "occurred_at": "2029-12-01"}),
    ("create_company", {"name": "Radhuis", "industry": "retail", "city": "Utrecht", "country": "NL"}),
    ("get_deal", {"deal_id": "deal_0404"}),
)
TURNS = (1, 10, 50)
WORLDS = (1, 16, 64)


@dataclass
class Traffic:
    """The replies of the engine, the seconds that it took for each, and the bodies of the requests."""

    replies: list[Reply] = field(default_factory=list[Reply])
    seconds: list[float] = field(default_factory=list[float])
    bodies: list[bytes] = field(default_factory=list[bytes])

    def recording(self, ask: Ask) -> Ask:
        """Return `ask` with its replies recorded."""

        async def recorded(request: Question) -> Reply:
            reply = await ask(request)
            self.replies.append(reply)
            return reply

        return recorded

    @contextmanager
    def timing(self) -> Generator[None]:
        """Time the HTTP requests sent within the block."""
        send, traffic = AsyncHTTPTransport.handle_async_request, self

        async def timed(self: AsyncHTTPTransport, request: Request) -> Response:
            if request.url.path.endswith("/completions"):
                traffic.bodies.append(request.content)
                request.extensions["trace"] = traffic.note_event()
            return await send(self, request)

        AsyncHTTPTransport.handle_async_request = timed
        try:
            yield
        finally:
            AsyncHTTPTransport.handle_async_request = send

    def note_event(self) -> Callable[[str, Any], Awaitable[None]]:
        """Return a hook for the events of one request: the HTTP client awaits it."""
        sent = 0.0

        async def note(event: str, _info: Any) -> None:
            nonlocal sent
            if event.endswith("send_request_body.complete"):
                sent = time.perf_counter()
            elif event.endswith("receive_response_headers.complete"):
                self.seconds.append(time.perf_counter() - sent)

        return note

    def tokens(self, name: str) -> list[int]:
        return [reply.usage.get(name, 0) for reply in self.replies]

    @property
    def uncached(self) -> list[int]:
        """Return the prompt tokens of each request that were not cached."""
        return [
            all_ - kept for all_, kept in zip(self.tokens("prompt_tokens"), self.tokens("cached_tokens"), strict=True)
        ]


@dataclass
class Spent:
    """The own seconds of calls, on the clock and of the processor."""

    clock: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])

    def part(self, *, first: bool) -> Spent:
        """Return the first call of each tool, or the others."""
        wanted = [at for at in range(len(self.clock)) if (at < len(CALLS)) is first]
        return Spent([self.clock[at] for at in wanted], [self.processor[at] for at in wanted])


def main(url: str, model: str, options: Mapping[str, Any], *, quick: bool) -> None:
    calls = 12 if quick else 50
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        scenario = load(path)
    if not url:
        asyncio.run(measure_own_time(scenario, options, 4 * calls))
        return
    settings = {"base_url": url, "model": model, **options}
    asyncio.run(measure(scenario, settings, calls, WORLDS[:2] if quick else WORLDS))


async def measure(scenario: Scenario, settings: Mapping[str, Any], calls: int, worlds: Sequence[int]) -> None:
    naive = await measure_whole_state(scenario, settings, calls)
    modes = {
        ask: await measure_one_world(scenario, {**settings, "ask": ask}, calls) for ask in ("always", "undetermined")
    }
    rows = [_row("whole state each time", naive, naive, calls, None)]
    rows += [_row(f"mcp-sim, ask: {ask}", traffic, naive, calls, spent) for ask, (traffic, spent) in modes.items()]
    head = ["layout", "requests per call", "prompt tokens per call", "ratio", "uncached per call", "ratio"]
    print_table(f"{calls} calls in one world", [*head, "ms of the engine", "ms of mcp-sim"], rows)
    _print_own_time({f"ask: {ask}": spent for ask, (_, spent) in modes.items()})
    _print_turns(naive, modes["always"][0], calls)
    await _print_rates(scenario, settings, worlds)


def _row(name: str, traffic: Traffic, naive: Traffic, calls: int, own: Spent | None) -> list[str]:
    prompts, uncached = sum(traffic.tokens("prompt_tokens")) / calls, sum(traffic.uncached) / calls
    reference = sum(naive.tokens("prompt_tokens")) / calls, sum(naive.uncached) / calls
    cells = [name, f"{len(traffic.replies) / calls:.2f}", f"{prompts:,.0f}", ratio(prompts, reference[0])]
    cells += [f"{uncached:,.0f}", ratio(uncached, reference[1])]
    engine = 1000 * statistics.median(traffic.seconds) if traffic.seconds else 0.0
    return [*cells, f"{engine:.1f}", "-" if own is None else f"{1000 * statistics.median(own.clock):.2f}"]


def _print_own_time(spent: Mapping[str, Spent], reference: Spent | None = None) -> None:
    """Print the milliseconds of the processor and on the clock: median, and the span of the middle 80 %."""
    alone = None if reference is None else statistics.median(reference.processor)
    rows = [] if reference is None else [["the HTTP client alone", *_quantiles(reference), "1.00x"]]
    for name, all_ in spent.items():
        for what, own in ((name, all_.part(first=False)), (f"{name}, first calls", all_.part(first=True))):
            times = "-" if alone is None else ratio(statistics.median(own.processor), alone)
            rows.append([what, *_quantiles(own), times])
    head = ["", "processor", "10 %", "90 %", "clock", "10 %", "90 %", "processor, ratio"]
    print_table("Own time of a call in ms: median, 10 % and 90 % quantiles", head, rows)


def _quantiles(own: Spent) -> list[str]:
    cells = list[str]()
    for seconds in (own.processor, own.clock):
        tenths = statistics.quantiles(seconds, n=10, method="inclusive")
        cells += [f"{1000 * second:.2f}" for second in (statistics.median(seconds), tenths[0], tenths[-1])]
    return cells


def _print_turns(naive: Traffic, ours: Traffic, calls: int) -> None:
    rows = list[list[str]]()
    for turn in (turn for turn in TURNS if turn <= calls):
        newest = ours.tokens("prompt_tokens")[turn - 1] - (ours.tokens("prompt_tokens")[turn - 2] if turn > 1 else 0)
        row = [str(turn), f"{newest:,}", f"{ours.uncached[turn - 1]:,}", f"{naive.uncached[turn - 1]:,}"]
        rows.append([*row, ratio(ours.uncached[turn - 1], naive.uncached[turn - 1])])
    head = ["turn", "tokens since the last turn", "uncached, mcp-sim", "uncached, whole state", "ratio"]
    print_table("Prompt tokens read by the engine", head, rows)


async def _print_rates(scenario: Scenario, settings: Mapping[str, Any], worlds: Sequence[int]) -> None:
    rows = list[list[str]]()
    first = 0.0
    for count in worlds:
        rate = await calls_per_second(scenario, settings, count)
        first = first or rate
        rows.append([str(count), f"{rate:.2f}", ratio(rate, first)])
    print_table("Concurrent worlds, each with a few calls", ["worlds", "calls/s", "ratio"], rows)


# mcp-sim --------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_simulator(
    scenario: Scenario, settings: Mapping[str, Any], traffic: Traffic
) -> AsyncGenerator[Simulator]:
    """Yield a simulator of the scenario with the endpoint as its world model, whose traffic is recorded."""
    entry = replace(scenario.world_models[0], world_model=recorded_model(traffic)(**settings), kind="openai")
    async with Simulator(replace(scenario, world_models=(entry,))) as simulator:
        yield simulator


def recorded_model(traffic: Traffic) -> type[Openai]:
    """Return a class of world models that record their traffic."""

    class Recorded(Openai):
        def _predictor(self, domain: Any, ask: Ask, max_characters: Callable[[], int | None]) -> Predictor:
            return super()._predictor(domain, traffic.recording(ask), max_characters)

    return Recorded


async def measure_one_world(scenario: Scenario, settings: Mapping[str, Any], calls: int) -> tuple[Traffic, Spent]:
    """Return the traffic of one world, and the time of its calls without that of the engine."""
    traffic, spent = Traffic(), Spent()
    async with open_simulator(scenario, settings, traffic) as simulator, simulator.open() as world:
        with traffic.timing():
            freeze_collector()
            for tool, arguments in islice(cycle(CALLS), calls):
                with _timed(traffic, spent):
                    await world.call(tool, arguments)
    return traffic, spent


@contextmanager
def _timed(traffic: Traffic, spent: Spent) -> Generator[None]:
    before, used, began = sum(traffic.seconds), time.process_time(), time.perf_counter()
    yield
    spent.clock.append(time.perf_counter() - began - (sum(traffic.seconds) - before))
    spent.processor.append(time.process_time() - used)


async def measure_own_time(scenario: Scenario, options: Mapping[str, Any], calls: int) -> None:
    """Measure the own time of calls, with an endpoint that answers at once."""
    with start_endpoint(await prepared_replies(scenario, calls)) as url:
        settings = {"base_url": url, "model": INSTANT, **options}
        traffic, spent = await measure_one_world(scenario, settings, calls)
        print(f"{calls} calls in one world, {len(traffic.replies)} requests")
        _print_own_time({"mcp-sim": spent}, await measure_client(url, traffic.bodies))


async def prepared_replies(scenario: Scenario, calls: int) -> list[str]:
    """Return what the built-in world answers, as the replies of a model."""
    async with Simulator(scenario) as simulator, simulator.open() as world:
        chosen = islice(cycle(CALLS), calls)
        shown = [prompt.observation_value(await world.call(tool, arguments)) for tool, arguments in chosen]
    return [value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for value in shown]


async def measure_client(url: str, bodies: Sequence[bytes]) -> Spent:
    """Return the own time of the HTTP client for requests with these bodies."""
    traffic, spent = Traffic(), Spent()
    async with AsyncClient() as client:
        with traffic.timing():
            for body in bodies:
                with _timed(traffic, spent):
                    await client.post(f"{url}/chat/completions", content=body)
    return spent


async def calls_per_second(scenario: Scenario, settings: Mapping[str, Any], worlds: int) -> float:
    each = max(2, 16 // worlds)

    async def walk(world: World) -> None:
        for tool, arguments in islice(cycle(CALLS), each):
            await world.call(tool, arguments)

    concurrency = {"max_concurrency": worlds, "timeout": "10m"}
    async with open_simulator(scenario, {**settings, **concurrency}, Traffic()) as simulator:
        opened_worlds = [simulator.world(f"w{n}") for n in range(worlds)]
        began = time.perf_counter()
        await asyncio.gather(*(walk(world) for world in opened_worlds))
        return worlds * each / (time.perf_counter() - began)


# the reference --------------------------------------------------------------------------------------------------------


async def measure_whole_state(scenario: Scenario, settings: Mapping[str, Any], calls: int) -> Traffic:
    """Make the same calls on the built-in world; for each, send the whole state and the call in one user message."""
    traffic = Traffic()
    async with open_endpoint(Openai(**settings).line({})) as endpoint, Simulator(scenario).open() as world:
        with traffic.timing():
            for turn, (tool, arguments) in enumerate(islice(cycle(CALLS), calls), 1):
                await _ask_with_whole_state(endpoint, traffic, scenario, world, turn, tool, arguments)
                await world.call(tool, arguments)
    return traffic


async def _ask_with_whole_state(
    endpoint: Endpoint,
    traffic: Traffic,
    scenario: Scenario,
    world: World,
    turn: int,
    tool: str,
    arguments: dict[str, Any],
) -> None:
    state = {entity: [record for _, record in world.view.rows(entity)] for entity in scenario.domain.entities}
    call = {"name": tool, "arguments": arguments}
    question = f"{json.dumps(state)}\n\n### Turn {turn}\n{json.dumps(call)}\n\nAnswer with the observation."
    conversation = [
        {"role": "system", "content": prompt.system(scenario.domain, {})},
        {"role": "user", "content": question},
    ]
    schema = tighten(scenario.domain.tools[tool].output_schema)
    await traffic.recording(endpoint.complete)(Question(conversation, schema, turn))


INSTANT, SERVE = "instant", "--serve"
TURN = re.compile(rb"### Turn (\d+)")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
LONGEST = 2**24
"""Maximum size of a request, in bytes."""


@contextmanager
def start_endpoint(replies: Sequence[str]) -> Generator[str]:
    """Yield the URL of an endpoint that gives these replies to the turns."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "replies.json"
        path.write_text(json.dumps(replies), encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, __file__, SERVE, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.kill()


async def serve(replies: Sequence[str]) -> None:
    """Answer requests until the process is killed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                length = LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
            except asyncio.IncompleteReadError:
                writer.close()
                return
            sent = json.dumps(completion(body, replies) if body else listed()).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            writer.write(b"content-length: %d\r\n\r\n%s" % (len(sent), sent))

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=LONGEST)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def listed() -> dict[str, Any]:
    """Return the list of models."""
    return {"object": "list", "data": [{"id": INSTANT, "object": "model"}]}


def completion(body: bytes, replies: Sequence[str]) -> dict[str, Any]:
    """Return the completion for a request."""
    reply = replies[int(TURN.findall(body)[-1]) - 1]
    message = {"role": "assistant", "content": reply}
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(reply) // 4}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        asyncio.run(serve(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("model", nargs="?", default="")
    parser.add_argument("--quick", action="store_true", help="a few calls, up to 16 worlds")
    parser.add_argument(
        "--options", type=json.loads, default={}, metavar="JSON", help="more options of the world model"
    )
    given = parser.parse_args()
    main(given.url, given.model, given.options, quick=given.quick)
