"""`mcp-sim diff --against SERVER RECORDINGS`: compare recorded sessions with the live server."""

from __future__ import annotations

import argparse
import logging
import os
import shlex
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
from pydantic import ValidationError

from mcp_sim.cli.terminal import Palette, first_few, note, print_json
from mcp_sim.models.world_models.upstream import Upstream
from mcp_sim.recordings.drift import Call, Drift, compare
from mcp_sim.server.call_log import shorten
from mcp_sim.spec.foreign.secrets import MissingValue, fill_placeholders
from mcp_sim.spec.importers.mcp import Mcp
from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.sessions import Session, read_sessions
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.kinds import Unreached
from mcp_sim.types.readable import printable

NO_ANSWER = 4  # the exit code if the server does not answer

MARGIN = "    "


class Unreachable(Exception):
    """Raised if the live server does not answer. The message is the reason."""


def run(args: argparse.Namespace) -> int:
    """Exit with 0 if nothing differs that counts, 1 if something does, 4 if the server does not answer."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # its log has messages, and these may have secrets
    sessions = read_sessions(args.a, sessions=args.sessions or ["*"])
    servers = sorted({session.server for session in sessions})
    if len(servers) > 1:
        raise UsageError(f"the recordings are of several servers: {', '.join(servers)}; name the folder of one")
    try:
        drift = anyio.run(_compared, args, sessions)
    except (Unreachable, Crash) as error:
        note(f"mcp-sim: {error}")
        return NO_ANSWER
    differs = drift.differs(args.ignore)
    if args.json:
        print_json({**drift.to_json(), "differs": differs})
    else:
        print("\n".join(_lines(drift, args.against, Palette.of(sys.stdout))))
    return int(differs)


async def _compared(args: argparse.Namespace, sessions: Sequence[Session]) -> Drift:
    headers = _headers(args.header)
    upstream = live_server("--against", args.against, headers, args.timeout)

    @asynccontextmanager
    async def connected() -> AsyncGenerator[Call]:
        async with upstream.opened() as server:
            yield server.call

    words = [args.against] if _is_url(args.against) else shlex.split(args.against)
    [imported] = await Mcp(sources=tuple(words), headers=headers, timeout=args.timeout).imported()
    if isinstance(imported, Unreached):
        raise Unreachable(f"{imported.name}: {imported.reason}")
    return await compare(sessions, imported.tools, connected, args.tools)


def _is_url(server: str) -> bool:
    return server.startswith(("http://", "https://"))


def live_server(option: str, server: str, headers: dict[str, str], seconds: float) -> Upstream:
    """Return the real server that an option names by a command or a URL. Raises `UsageError`."""
    place = {"url": server} if _is_url(server) else {"command": shlex.split(server)}
    if place.get("command") == []:
        raise UsageError(f"{option}: expected a command or a URL, got an empty text")
    options: dict[str, Any] = {**place, "headers": headers, "timeout": timedelta(seconds=seconds)}
    try:
        return Upstream.model_validate(options)
    except ValidationError as error:
        problems = "; ".join(message for _, message in error_messages(error, Upstream, options))
        raise UsageError(f"{option}: {problems}") from None


def _headers(values: Sequence[str]) -> dict[str, str]:
    """Return the HTTP headers of the command line, with `${NAME}` filled in from the environment."""
    pairs = [value.partition(":") for value in values]
    if not all(name.strip() and sign for name, sign, _ in pairs):
        raise UsageError("--header must be like NAME: VALUE")
    try:
        return {name.strip(): fill_placeholders(value.strip(), os.environ) for name, _, value in pairs}
    except MissingValue as error:
        raise UsageError(str(error)) from None


def _lines(drift: Drift, server: str, palette: Palette) -> Iterator[str]:
    yield palette.bold("tools")
    for tool in drift.tools:
        colour = palette.red if tool.weight == "breaking" else palette.yellow
        yield f"{MARGIN}{colour(f'{tool.change:7}')}  {printable(tool.name)}  ({tool.weight})"
        yield from (f"{MARGIN * 2}{printable(detail)}" for detail in tool.details)
    if not drift.tools:
        yield f"{MARGIN}equal"
    yield palette.bold(f"calls: {drift.made} made, {drift.equal} equal")
    for call in drift.calls:
        where = f"({call.session}, call {call.seq})"
        shown = printable(f"{call.tool} {shorten(call.arguments)} {where}")
        yield f"{MARGIN}{palette.yellow(f'{call.kind:7}')}  {shown}"
        yield from (f"{MARGIN * 2}{printable(detail)}" for detail in call.details)
    if drift.may_write:
        names = printable(", ".join(first_few(drift.may_write)))
        yield f"not called, since they may write: {names} (--tools NAME calls them all the same)"
    if drift.redacted:
        yield f"not called, since their arguments were redacted: {drift.redacted}"
    if drift.not_comparable:
        names = printable(", ".join(first_few(list(dict.fromkeys(call.tool for call in drift.not_comparable)))))
        yield (
            f"not comparable: {len(drift.not_comparable)} ({names}); only one of the answers fails, and the writes "
            "before were not repeated (--tools NAME repeats them)"
        )
    if drift.after_writes:
        yield f"compared by form only, since the writes before were not repeated: {drift.after_writes}"
    if drift.repeated and _is_url(server):
        yield "repeated on one server, since a URL cannot be restarted: a session sees what those before it wrote"
