"""The world model that reads from a real server and writes into the world."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_sim.models.real_server.options import RealServerOptions
from mcp_sim.models.real_server.shadowing import Shadowing
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Predictor, world_models


@world_models.register("shadow")
class Shadow(RealServerOptions):
    """Read from a real server, write into the world, and show both: the real server is never written to.

    A tool is passed on only if it certainly reads: by its annotation, a declared verb, or a plan as good as certain.
    All others act on the world's records. Answers of the real server are shown with written fields replaced, deleted
    records left out, and created ones added to the lists and searches that they match. Each world has its own writes;
    resets, forks and faults work on them.
    """

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        server = self.server(os.environ)
        try:
            yield Shadowing(domain, server)
        finally:
            await server.aclose()
