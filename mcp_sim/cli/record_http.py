"""`mcp-sim record --url URL --http PORT`: record what passes between clients and a server over HTTP."""

from __future__ import annotations

import argparse
import logging
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2

from mcp_sim.cli.parsing import positive_seconds
from mcp_sim.cli.record import Recording, approval_of
from mcp_sim.recordings.capture.http import HttpRecorder
from mcp_sim.recordings.relays.backlog import Backlog, warn
from mcp_sim.recordings.relays.http import HttpRelay
from mcp_sim.server.access import access
from mcp_sim.server.listening import bind, listen, parse_address, url
from mcp_sim.types.errors import UsageError

GRACE_SECONDS = 5.0
"""Seconds that running requests may take after a signal. A recorded call that is cut off is worth nothing."""

UNREAD_SECONDS = 600.0
"""Seconds for which a client may leave an answer unread. A person may look at the client of a recording in a
debugger."""


def over_http(args: argparse.Namespace) -> int:
    """Pass requests on until a signal arrives. Return 130 after Ctrl-C, 143 after SIGTERM."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    target, seconds = _checked(args.url), positive_seconds("--timeout", "10m" if args.timeout is None else args.timeout)
    host, port = parse_address(args.http)
    recording = Recording(args)
    redactor = recording.redactor
    about = {"url": target if redactor is None else redactor.redact_command([target])[0]}
    with bind(host, port) as listener:
        backlog = Backlog(lambda: HttpRecorder(recording.folder, redactor, about))
        relay = HttpRelay(target, access(host, args.allow_host, None, {}), backlog.put, seconds, approval_of(args))
        where = f"{url(host, listener)}{urlsplit(target).path}"
        begun = partial(warn, f"recording {about['url']} at {where}")
        code = anyio.run(_serve, relay, listener, begun)
    recording.finish(is_complete=backlog.finish())
    return code


async def _serve(relay: HttpRelay, listener: Any, begun: Any) -> int:
    async with relay.open() as app:
        return await listen(app, listener, begun, relay.leave, GRACE_SECONDS, UNREAD_SECONDS)


def _checked(target: str) -> str:
    with suppress(ValueError, httpx2.InvalidURL):
        parts = urlsplit(target)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and httpx2.URL(target).host:
            return target
    raise UsageError(f"{target!r} is not a URL: write --url http://HOST:PORT/PATH")
