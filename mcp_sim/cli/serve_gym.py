"""`mcp-sim serve --gym`: serve a scenario to a trainer, with the endpoints of a resources server of NeMo Gym."""

from __future__ import annotations

import argparse
import sys

import uvicorn

from mcp_sim.server.listening import bind, parse_address, url
from mcp_sim.training.adapters.gym_server import GymServer
from mcp_sim.types.errors import UsageError

ALONE = ("http", "control", "trace", "report", "store", "seed", "intensity")
"""Options that episodes have no use for: each has its own world, seed and intensity."""


def run(args: argparse.Namespace) -> int:
    """Serve until a signal arrives."""
    host, port = parse_address(args.gym, "--gym")
    for name in ALONE:
        if getattr(args, name) is not None:
            raise UsageError(f"--gym works without --{name}; a row sets the seed and the intensity of its episode")
    gym = GymServer(args.scenario, world_model=args.world_model, trust=args.trust)
    with bind(host, port, "--gym") as listener:
        print(f"mcp-sim serves episodes of {args.scenario} at {url(host, listener)}", file=sys.stderr, flush=True)
        config = uvicorn.Config(gym.app(), log_level="debug" if args.log_level == "debug" else "error", lifespan="off")
        server = uvicorn.Server(config)
        server.run(sockets=[listener])
    return 0
