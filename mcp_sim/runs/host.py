"""An HTTP server for the worlds of runs, each at a URL that no other run can guess."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from secrets import token_hex

from mcp_sim.server.access import access
from mcp_sim.server.http import HttpServer, Limits
from mcp_sim.server.listening import bind, serving, url
from mcp_sim.server.worlds import Worlds
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

ADDRESS = "127.0.0.1"
MOST_SESSIONS = 100_000  # each run has a session of its own: none is refused
GRACE_SECONDS = 1.0  # the agents have ended; what is left are streams
UNREAD_SECONDS = 60.0  # an agent that has stopped reading must not hold its answers for ever


class Host:
    """The worlds of the runs in progress, at `base`."""

    def __init__(self, scenario: Scenario, base: str) -> None:
        self._scenario, self._base = scenario, base
        self.worlds = Worlds(dict[str, World]().__getitem__, sys.maxsize, only_declared=True)  # it creates none

    def add(self, world: World) -> tuple[str, Mapping[str, str]]:
        """Serve a world. Return a name to remove it by, and the URL of each of its servers."""
        name = token_hex(8)
        self.worlds.add(world, name)
        several = len(self._scenario.servers) > 1
        return name, {
            server: f"{self._base}/w/{name}{f'/{server}' if several else ''}/mcp" for server in self._scenario.servers
        }

    def remove(self, name: str) -> None:
        """Refuse all further calls of a world."""
        self.worlds.forget(name)


@asynccontextmanager
async def open_host(scenario: Scenario, idle: float) -> AsyncGenerator[Host]:
    """Serve on a free port of this machine. MCP sessions end after `idle` seconds without a request."""
    with bind(ADDRESS, 0) as listener:
        host = Host(scenario, url(ADDRESS, listener))
        limits = Limits(MOST_SESSIONS, idle, GRACE_SECONDS)
        server = HttpServer(scenario, host.worlds, access(ADDRESS, (), None, {}), limits, lambda: None)
        async with (
            server.open() as app,
            serving(app, listener, server.leave, GRACE_SECONDS, UNREAD_SECONDS, server.answer_at_once),
        ):
            yield host
