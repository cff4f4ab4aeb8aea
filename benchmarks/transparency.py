"""Compare what clients and real servers send each other through mcp-sim with what the other side receives.

    python benchmarks/transparency.py SCRATCH --servers memory,git      declared sessions, over stdio
    python benchmarks/transparency.py SCRATCH --servers git --upstream  the same, through `mcp-sim serve`
    python benchmarks/transparency.py SCRATCH --url URL --calls CALLS   the same of a running server, over HTTP

SCRATCH has the packages that `record_servers.py` installed, or gets them. For both eras of the protocol, a tee on each
side of the proxy keeps every byte: over stdio the bytes must be equal, over HTTP all requests and responses but for
hop-by-hop headers. What was recorded is compared with what the client received.

With `--upstream` the server is the world model of `mcp-sim serve`, which speaks for itself on both sides. So the JSON
of calls, resources and prompts is compared: parameters and answers must be equal but for what eras of the protocol add.
With `--url` tools and answers are compared with those of the same calls without mcp-sim: they are made twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult
from record_servers import (
    SECONDS_PER_CALL,
    Declaration,
    Failed,
    Recorder,
    Session,
    Values,
    call_tool,
    list_tools,
    new_folder,
    read_declarations,
    report,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.http_tee import teed

ROOT = Path(__file__).parents[1]
SUPPORT = ROOT / "tests" / "support"
MODES = ("auto", "legacy")


@dataclass(frozen=True)
class Outcome:
    """What one session has shown."""

    name: str
    mode: str
    protocol: str
    calls: int
    sent: int
    received: int
    problems: Sequence[str]

    def line(self) -> str:
        verdict = "; ".join(self.problems) or "equal"
        return (
            f"{self.name:18} {self.mode:7} {self.protocol:11} {self.calls:5} {self.sent:8} {self.received:9}  {verdict}"
        )


def compare(folder: Path, made: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    """Return the recorded protocol, and how the recorded calls differ from those that the client made."""
    texts = [path.read_text() for path in folder.glob("*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    calls = [line for line in lines if line["type"] == "call"]
    headers = [line for line in lines if line["type"] == "session"]
    problems = [] if len(headers) == 1 else [f"{len(headers)} sessions"]
    kept = [{key: call[key] for key in ("tool", "arguments", "result", "error") if key in call} for call in calls]
    plain = [{**call, "result": plain_result(call["result"])} if "result" in call else call for call in kept]
    wanted = [{name: part for name, part in call.items() if name != "at"} for call in made]
    if plain != wanted:
        pairs = enumerate(zip(plain, wanted, strict=False), 1)
        first = next((n for n, pair in pairs if pair[0] != pair[1]), len(plain))
        problems.append(f"the recording differs from call {first} of {len(made)}")
    if not (folder / "tools.json").exists():
        problems.append("no list of tools")
    return headers[0].get("protocol", "?") if headers else "?", problems


def plain_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as `call_tool` returns it."""
    whole = CallToolResult.model_validate(result)
    return whole.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta", "result_type"})


class Piped(Recorder):
    """A declared server behind tees and a recording proxy."""

    async def try_out(self, name: str, session: Session, mode: str) -> Outcome:
        world = self._declaration.worlds[session.world]
        with new_folder() as temporary:
            values = Values(temporary, self._declaration.shown_as)
            self._prepare(world, values)
            made = list[dict[str, Any]]()
            async with self._through(values, temporary, mode) as client:
                await list_tools(client)
                await read_all(client)
                for call in [*world.calls, *session.calls]:
                    made.append(await self._call(client, call, values))
            protocol, problems = self._compared(temporary, made)
            sizes = [(temporary / f"near.{side}").stat().st_size for side in ("in", "out")]
        return Outcome(f"{self._name}/{name}", mode, protocol, len(made), sizes[0], sizes[1], problems)

    def _compared(self, folder: Path, made: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
        """Return the protocol, and what differs between the two sides."""
        protocol, problems = compare(folder / "out", made)
        for side in ("in", "out"):
            near, far = ((folder / f"{end}.{side}").read_bytes() for end in ("near", "far"))
            if near != far:
                problems.append(f"std{side}: {len(near)} bytes are not the {len(far)} of the other side")
        return protocol, problems

    def _proxy(self, folder: Path, server: list[str]) -> list[str]:
        """Return the command of what is between both sides."""
        return ["record", "--no-redact", "-o", str(folder / "out"), "--", *server]

    @asynccontextmanager
    async def _through(self, values: Values, folder: Path, mode: str) -> AsyncGenerator[Client]:
        command, *arguments = values.fill(self._declaration.command)
        tee = [sys.executable, str(SUPPORT / "tee.py")]
        server = [*tee, str(folder / "far"), self._program(command), *arguments]
        words = [*tee, str(folder / "near"), sys.executable, "-m", "mcp_sim", *self._proxy(folder, server)]
        environment = {**self._environment(values), "PYTHONPATH": str(ROOT)}
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment, cwd=values.folder)
        with (self._installed / "stderr.txt").open("a") as log:
            transport = stdio_client(parameters, errlog=log)
            async with Client(transport, mode=mode, read_timeout_seconds=SECONDS_PER_CALL) as client:
                yield client


class Passed(Piped):
    """A declared server that is the world model of a server of mcp-sim."""

    def _compared(self, folder: Path, made: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
        near, far = exchanges(folder / "near"), exchanges(folder / "far")
        problems = [
            f"{one[0]} {n}: {shorten(one, other)}"
            for n, (one, other) in enumerate(zip_longest(near, far, fillvalue=("nothing", None, None)), 1)
            if one != other
        ]
        return spoken(folder / "far.out"), problems[:3]

    def _proxy(self, folder: Path, server: list[str]) -> list[str]:
        document = folder / "live.yaml"
        model = {"upstream": {"command": server, "timeout": f"{SECONDS_PER_CALL}s"}}
        document.write_text(json.dumps({"mcp_sim": 1, "tools": "live", "world_model": model}))
        return ["serve", str(document), "--trust", str(document), "--log-level", "error"]


Exchange = tuple[str, Any, Any]
"""A method, its parameters and its answer."""


def exchanges(log: Path) -> list[Exchange]:
    """Return what a client asked of a server in the logs of a tee, without what the eras of the protocol add."""
    asked, answered = (
        {
            line["id"]: line
            for line in messages(log.with_suffix(side))
            if "id" in line and ("method" in line) is is_asked
        }
        for side, is_asked in ((".in", True), (".out", False))
    )
    return [
        (one["method"], bare(one.get("params", {})), bare(answered.get(number, {})))
        for number, one in asked.items()
        if one["method"].startswith(("tools/call", "resources/", "prompts/"))
    ]


def messages(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def bare(body: dict[str, Any]) -> dict[str, Any]:
    """Return parameters, a result or an error without what an era of the protocol, or its SDK, adds."""
    plain: dict[str, Any] = (
        {"isError": False, **body["result"]} if "content" in body.get("result", {}) else body.get("result", body)
    )
    meta = {name: part for name, part in plain.get("_meta", {}).items() if "modelcontextprotocol" not in name}
    added = {"_meta", "resultType", "ttlMs", "cacheScope", "jsonrpc", "id"}
    return {**{name: part for name, part in plain.items() if name not in added}, "_meta": meta}


def shorten(near: Any, far: Any) -> str:
    return f"{json.dumps(near)[:300]} is {json.dumps(far)[:300]} on the side of the server"


def spoken(log: Path) -> str:
    """Return the version of the protocol that a server has spoken."""
    found = [as_dict(line.get("result")).get("protocolVersion") for line in messages(log)]
    return next((str(version) for version in found if version), "2026-07-28")


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON)


async def read_all(client: Client) -> None:
    """Read the first resources and prompts that a server lists."""
    has = client.server_capabilities
    if has.resources is not None:
        for resource in (await client.list_resources()).resources[:3]:
            with suppress(MCPError):
                await client.read_resource(str(resource.uri))
    if has.prompts is not None:
        for prompt in (await client.list_prompts()).prompts[:3]:
            with suppress(MCPError):
                await client.get_prompt(prompt.name, {argument.name: "x" for argument in prompt.arguments or ()})


async def over_stdio(name: str, declaration: Declaration, scratch: Path, form: type[Piped]) -> list[Outcome]:
    """Try the first session of a server in both eras."""
    server = form(name, declaration, scratch, scratch)
    server.install()
    first, session = next(iter(declaration.sessions.items()))
    return [await server.try_out(first, session, mode) for mode in MODES]


async def passed_over_http(url: str, calls: Sequence[tuple[str, dict[str, Any]]], mode: str) -> Outcome:
    """Call the tools of a running server directly, and as the world model of a server of mcp-sim."""
    made, direct = list[dict[str, Any]](), list[dict[str, Any]]()
    with new_folder() as folder:
        document = folder / "live.yaml"
        document.write_text(json.dumps({"mcp_sim": 1, "tools": "live", "world_model": {"upstream": {"url": url}}}))
        words = ["-m", "mcp_sim", "serve", str(document), "--trust", str(document), "--log-level", "error"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        through = StdioServerParameters(command=sys.executable, args=words, env=environment)
        for target, answers in ((url, direct), (through, made)):
            async with Client(target, mode=mode) as client:
                listed = await list_tools(client)
                answers.append({"tools": listed})
                for tool, arguments in calls:
                    answers.append({"tool": tool, "arguments": arguments, **await call_tool(client, tool, arguments)})
                protocol = client.protocol_version
    problems = [shorten(one, other) for one, other in zip_longest(made, direct) if one != other]
    sent, received = (len(json.dumps(answers)) for answers in (made, direct))
    return Outcome(url, mode, str(protocol), len(calls), sent, received, problems[:3])


async def over_http(url: str, calls: Sequence[tuple[str, dict[str, Any]]], mode: str) -> Outcome:
    """Call the tools of a running server through two tees and the proxy."""
    made = list[dict[str, Any]]()
    path = urlsplit(url).path
    with new_folder() as folder, teed(urlsplit(url).port or 80) as far:
        with recording(folder, f"http://127.0.0.1:{far.port}{path}") as port, teed(port) as near:
            async with Client(f"http://127.0.0.1:{near.port}{path}", mode=mode) as client:
                await list_tools(client)
                for tool, arguments in calls:
                    made.append({"tool": tool, "arguments": arguments, **await call_tool(client, tool, arguments)})
        protocol, problems = compare(folder, made)
        sent, received = near.exchanges(), far.exchanges()
        if sent != received:
            problems.append(f"{len(sent)} exchanges are not the {len(received)} of the other side")
        requests, responses = (sum(map(len, bodies)) for bodies in ([one[3] for one in sent], [one[6] for one in sent]))
    return Outcome(url, mode, protocol, len(made), requests, responses, problems)


@contextmanager
def recording(folder: Path, url: str) -> Generator[int]:
    """Yield the port of a recording proxy."""
    words = [sys.executable, "-m", "mcp_sim", "record", "--no-redact", "-o", str(folder), "--url", url, "--http", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        where = str(process.stderr.readline()).split()[-1]
        yield urlsplit(where).port or 0
        process.terminate()
        process.communicate()


async def run(options: argparse.Namespace) -> list[Outcome]:
    outcomes = list[Outcome]()
    if options.url:
        calls = [(str(tool), dict[str, Any](arguments)) for tool, arguments in json.loads(options.calls)]
        over = passed_over_http if options.upstream else over_http
        outcomes += [await over(options.url, calls, mode) for mode in MODES]
    else:
        for name, declaration in read_declarations(options.servers.split(",") if options.servers else None).items():
            form = Passed if options.upstream else Piped
            outcomes += await over_stdio(name, declaration, options.scratch.resolve(), form)
    return outcomes


def main() -> int:
    first, _, rest = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scratch", type=Path, help="folder for installed packages")
    parser.add_argument("--servers", help="names of declared servers, separated by commas (default all)")
    parser.add_argument("--upstream", action="store_true", help="serve the real servers as world models")
    parser.add_argument("--url", help="a running server, instead of declared ones")
    parser.add_argument("--calls", default="[]", help='with --url: the calls, as [["TOOL", {ARGUMENTS}], ...]')
    options = parser.parse_args()
    try:
        outcomes = asyncio.run(run(options))
    except Failed as error:
        report(str(error))
        return 2
    print(f"{'session':18} {'mode':7} {'protocol':11} {'calls':>5} {'sent':>8} {'received':>9}  compared")
    for outcome in outcomes:
        print(outcome.line())
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
