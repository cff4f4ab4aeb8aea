"""`mcp-sim connect URL`: bridge a stdio client to a running HTTP server."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from urllib.parse import urlsplit

import anyio
import httpx2

from mcp_sim.cli.parsing import server_url
from mcp_sim.cli.terminal import note
from mcp_sim.server.access import AROUND, TOKEN_VARIABLE
from mcp_sim.server.bridge import Bridge
from mcp_sim.server.descriptors import open_standard_streams
from mcp_sim.server.standard_streams import standard_streams
from mcp_sim.server.stdio import Stdio
from mcp_sim.types.errors import UsageError

GONE = 4  # the exit code if the server does not answer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "url", metavar="URL", type=server_url, help="http://HOST:PORT/w/WORLD/mcp, as `mcp-sim serve --http` prints it"
    )
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        default=TOKEN_VARIABLE,
        help=f"environment variable with the token (default {TOKEN_VARIABLE})",
    )


def run(args: argparse.Namespace) -> int:
    """Exit with 0 when the client has disconnected, 4 if the server does not answer."""
    open_standard_streams()
    token = os.environ.get(args.token_env, "").strip(AROUND)
    if token and not token.isprintable():
        raise UsageError(f"the environment's {args.token_env} cannot be sent as a token: it must be one line of text")
    bridge = Bridge(_checked(args.url), token)
    code = anyio.run(_serve, bridge)
    if bridge.gone is None:
        return code
    note(f"mcp-sim: {bridge.gone}")
    return GONE


async def _serve(bridge: Bridge) -> int:
    with standard_streams() as streams:
        return await Stdio(streams).serve(bridge)


def _checked(url: str) -> str:
    with suppress(ValueError, httpx2.InvalidURL):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and httpx2.URL(url).host:
            parts.hostname.encode("idna")
            if parts.path.strip("/"):
                return url
            raise UsageError(f"{url} names no world: write {url.rstrip('/')}/w/WORLD/mcp")
    raise UsageError(f"{url!r} is not a URL: write http://HOST:PORT/w/WORLD/mcp")
