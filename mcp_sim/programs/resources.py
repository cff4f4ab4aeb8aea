"""Read the resources that functions of programs show."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mcp_sim.generate.invention import inventor
from mcp_sim.programs.backend import resource_contents
from mcp_sim.programs.results import Contents
from mcp_sim.programs.watchdog import in_thread
from mcp_sim.types import Call, Tool
from mcp_sim.types.errors import BadArguments, Crash, McpSimError
from mcp_sim.types.programs import ProgramFunction
from mcp_sim.world.world import World

_METHOD = "resources/read"


async def read_resource(
    world: World, server: str, function: ProgramFunction, uri: str, values: Mapping[str, str], caller: str = ""
) -> Contents:
    """Return what a function of the program of a server shows at a URI, None if there is no such resource.

    `values` are the variables of the URI. Neither state nor time of the world change. The function runs in a thread.
    Raises `Crash`, which the world records.
    """
    domain, call = world.scenario.domain, Call(_METHOD, {"uri": uri}, caller=caller)
    program = next(answering for answering in domain.programs if answering.server == server)
    tool = Tool(_METHOD, server, {"name": _METHOD, "inputSchema": {"type": "object"}})
    try:
        turn = world.turn(call, tool)
    except BadArguments:
        return None  # halves of characters
    try:
        show = partial(resource_contents, function, program, domain, turn, inventor(domain), values)
        return await in_thread(_METHOD, show)
    except McpSimError as error:
        crash = error if isinstance(error, Crash) else Crash(_METHOD, str(error))
        world.crash(call, crash, {})
        raise crash from error
