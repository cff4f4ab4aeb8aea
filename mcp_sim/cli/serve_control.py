"""`mcp-sim serve --control`: the control plane beside a server."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_sim.server.access import Access, names_of
from mcp_sim.server.control.tokens import ControlToken, control_token
from mcp_sim.server.listening import bind, parse_address, serving, url
from mcp_sim.types.errors import UsageError

if TYPE_CHECKING:
    from mcp_sim.server.control.controls import Controls

GRACE_SECONDS = 1.0  # acts are short; only streams last, and they are cut off
UNREAD_SECONDS = 60.0  # a reader that has stopped must not keep its ledger in memory


@contextmanager
def token_of(args: argparse.Namespace) -> Generator[ControlToken | None]:
    """Yield the token of the control plane, None without one."""
    if args.control is None:
        yield None
        return
    with control_token(args.control_token_file, os.environ) as token:
        yield token


def barring(rules: Access, token: ControlToken | None) -> Access:
    """Return the rules of the agents' listener, which never admits the token of the control plane.

    Raises `UsageError` if agents have the same token.
    """
    if token is None:
        return rules
    if token.digest in rules.principals:
        raise UsageError(f"the control token of {token.source} is a token of agents, too; use separate tokens")
    return replace(rules, barred=frozenset({token.digest}))


@asynccontextmanager
async def controlled(
    controls: Callable[[], Controls], token: ControlToken | None, args: argparse.Namespace
) -> AsyncGenerator[str]:
    """Serve the control plane within a block, if there is one. Yield the line that announces it."""
    if token is None:
        yield ""
        return
    from mcp_sim.server.control.app import ControlServer  # noqa: PLC0415 (a tenth of the start of a server)

    logging.getLogger("uvicorn").setLevel(logging.DEBUG if args.log_level == "debug" else logging.ERROR)
    host, port = parse_address(args.control, "--control")
    with bind(host, port, "--control") as listener:
        server = ControlServer(controls(), Access(names_of(host, args.allow_host), {}), token)
        async with serving(server, listener, server.leave, GRACE_SECONDS, UNREAD_SECONDS):
            yield f"  control  {url(host, listener)}, token: {token.source}"
