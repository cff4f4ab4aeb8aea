"""Compare what clients and real servers send each other through `mcp-sim record` with what the other side receives.

    python benchmarks/transparency.py SCRATCH --servers memory,git      declared sessions, over stdio
    python benchmarks/transparency.py SCRATCH --url URL --calls CALLS   calls of a running server, over HTTP

SCRATCH has the packages that `record_servers.py` installed, or gets them. For both eras of the protocol, a tee on each
side of the proxy keeps every byte: over stdio the bytes must be equal, over HTTP all requests and responses but for
hop-by-hop headers. What was recorded is compared with what the client received.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp import Client, StdioServerParameters
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
    if plain != list(made):
        first = next((n for n, pair in enumerate(zip(plain, made, strict=False), 1) if pair[0] != pair[1]), len(plain))
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
                for call in [*world.calls, *session.calls]:
                    made.append(await self._call(client, call, values))
            protocol, problems = compare(temporary / "out", made)
            sizes = list[int]()
            for side in ("in", "out"):
                near, far = ((temporary / f"{end}.{side}").read_bytes() for end in ("near", "far"))
                sizes.append(len(near))
                if near != far:
                    problems.append(f"std{side}: {len(near)} bytes are not the {len(far)} of the other side")
        return Outcome(f"{self._name}/{name}", mode, protocol, len(made), sizes[0], sizes[1], problems)

    @asynccontextmanager
    async def _through(self, values: Values, folder: Path, mode: str) -> AsyncGenerator[Client]:
        command, *arguments = values.fill(self._declaration.command)
        tee = [sys.executable, str(SUPPORT / "tee.py")]
        record = [sys.executable, "-m", "mcp_sim", "record", "--no-redact", "-o", str(folder / "out"), "--"]
        words = [*tee, str(folder / "near"), *record, *tee, str(folder / "far"), self._program(command), *arguments]
        environment = {**self._environment(values), "PYTHONPATH": str(ROOT)}
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment, cwd=values.folder)
        with (self._installed / "stderr.txt").open("a") as log:
            transport = stdio_client(parameters, errlog=log)
            async with Client(transport, mode=mode, read_timeout_seconds=SECONDS_PER_CALL) as client:
                yield client


async def over_stdio(name: str, declaration: Declaration, scratch: Path) -> list[Outcome]:
    """Try the first session of a server in both eras."""
    server = Piped(name, declaration, scratch, scratch)
    server.install()
    first, session = next(iter(declaration.sessions.items()))
    return [await server.try_out(first, session, mode) for mode in MODES]


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
        outcomes += [await over_http(options.url, calls, mode) for mode in MODES]
    else:
        for name, declaration in read_declarations(options.servers.split(",") if options.servers else None).items():
            outcomes += await over_stdio(name, declaration, options.scratch.resolve())
    return outcomes


def main() -> int:
    first, _, rest = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scratch", type=Path, help="folder for installed packages")
    parser.add_argument("--servers", help="names of declared servers, separated by commas (default all)")
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
