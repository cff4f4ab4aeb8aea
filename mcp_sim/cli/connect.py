"""`mcp-sim connect URL`: a running HTTP server as one that a client starts and speaks to over stdio."""

from __future__ import annotations

import argparse
import os
import sys
from urllib.parse import urlsplit

import anyio

from mcp_sim.errors import UsageError
from mcp_sim.server.access import TOKEN_VARIABLE
from mcp_sim.server.bridge import Bridge
from mcp_sim.server.descriptors import open_standard_streams
from mcp_sim.server.stdio import Stdio

GONE = 4
"""The exit code when nobody answers at the URL."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", help="http://HOST:PORT/w/WORLD/mcp, as `mcp-sim serve --http` printed it")
    parser.add_argument(
        "--token-env", metavar="NAME", default=TOKEN_VARIABLE, help=f"where the token is (default {TOKEN_VARIABLE})"
    )


def run(args: argparse.Namespace) -> int:
    """Exit 0 when the client has left, 4 when the server is gone."""
    open_standard_streams()
    bridge = Bridge(_checked(args.url), os.environ.get(args.token_env))
    code = anyio.run(Stdio().serve, bridge)
    if bridge.gone is None:
        return code
    print(f"mcp-sim: {bridge.gone}", file=sys.stderr)
    return GONE


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is not a URL: write http://HOST:PORT/w/WORLD/mcp")
    return url
