"""`mcp-sim serve --gym`: serve a scenario to a trainer, with the endpoints of a resources server of NeMo Gym."""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial

import anyio
from starlette.responses import JSONResponse

from mcp_sim.server.access import Access, names_of
from mcp_sim.server.exchange import App, Bodies, Receive, Refusal, Scope, Send, replayed
from mcp_sim.server.listening import bind, listen, parse_address, url
from mcp_sim.training.adapters.gym_server import GymServer
from mcp_sim.types.errors import UsageError

ALONE = ("http", "control", "trace", "report", "store", "seed", "intensity")
"""Options that episodes have no use for: each has its own world, seed and intensity."""

LONGEST_BODY = 16 * 1024 * 1024
"""Bytes: a row to verify has the tokens and probabilities of an episode, 4 MB for 128,000 tokens."""

GRACE_SECONDS, UNREAD_SECONDS = 1.0, 60.0  # as for the control plane


class Guard:
    """Lets an application see only whole requests of limited length, under names of this server."""

    def __init__(self, app: App, names: frozenset[str]) -> None:
        self._app, self._access, self._bodies = app, Access(names, {}), Bodies(LONGEST_BODY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        try:
            self._access.check_names(headers.get(b"host"), headers.get(b"origin"))
            body = await self._bodies.whole(receive)
        except Refusal as refusal:
            response = JSONResponse({"error": refusal.reason}, refusal.status, refusal.headers)
            await response(scope, receive, send)
        else:
            await self._app(scope, replayed(body, receive), send)


def run(args: argparse.Namespace) -> int:
    """Serve until a signal arrives."""
    logging.getLogger("uvicorn").setLevel(logging.DEBUG if args.log_level == "debug" else logging.ERROR)
    host, port = parse_address(args.gym, "--gym")
    for name in ALONE:
        if getattr(args, name) is not None:
            raise UsageError(f"--gym works without --{name}; a row sets the seed and the intensity of its episode")
    gym = GymServer(args.scenario, world_model=args.world_model, trust=args.trust)
    with bind(host, port, "--gym") as listener:
        app = Guard(gym.app(), names_of(host, args.allow_host))
        where = f"mcp-sim serves episodes of {args.scenario} at {url(host, listener)}"
        begun = partial(print, where, file=sys.stderr, flush=True)
        return anyio.run(listen, app, listener, begun, lambda: None, GRACE_SECONDS, UNREAD_SECONDS)
