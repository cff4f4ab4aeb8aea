"""Compare the built-in world model with recorded runs of real servers: a responder for a replaying scorer.

The scorer calls `responder(server, tools, state, session, folder)` for each recorded session, and then the method
`call` of the responder for each recorded call. `call` returns a JSON-RPC response. mcp-sim gets the tools/list result
and the initial state, and nothing else.

    PYTHONPATH=benchmarks python score.py CORPUS --responder py:ground_truth:responder
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from mcp_sim.recordings import answer_of
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.errors import BadArguments, Crash


class Responder:
    """One world over one tool list, with a blocking interface."""

    def __init__(self, file: Path) -> None:
        scenario = load(file)
        with ExitStack() as opened:
            self._portal = opened.enter_context(start_blocking_portal())
            simulator = Simulator(scenario)
            opened.enter_context(self._portal.wrap_async_context_manager(simulator))
            self._world = opened.enter_context(self._portal.wrap_async_context_manager(simulator.open("replayed")))
            self._open = opened.pop_all()

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a call, as it would be sent to a client."""
        try:
            return answer_of(self._portal.call(self._world.call, tool, arguments))
        except (BadArguments, Crash) as error:
            return {"error": {"code": -32019, "message": str(error)}}

    def close(self) -> None:
        self._open.close()


def responder(server: str, tools: list[Any], state: Any, session: str, folder: str) -> Responder:
    """Return a responder for these tools and this initial state."""
    place = Path(folder)
    (place / f"{server}.json").write_text(json.dumps({"tools": tools}))
    scenario: dict[str, Any] = {"mcp_sim": 1, "tools": f"{server}.json", "world": {"state": state or {}}}
    (place / "scenario.yaml").write_text(json.dumps(scenario))
    return Responder(place / "scenario.yaml")
