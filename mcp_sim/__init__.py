"""A stateful fake for any MCP server, with injectable failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_sim.simulator.simulator import Simulator as Simulator
    from mcp_sim.world.world import World as World

__version__ = "0.1.0"
__all__ = ["Simulator", "World", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the public classes on first use, so that `import mcp_sim` stays cheap."""
    if name == "Simulator":
        from mcp_sim.simulator.simulator import Simulator  # noqa: PLC0415 (importing the package must stay cheap)

        return Simulator
    if name == "World":
        from mcp_sim.world.world import World  # noqa: PLC0415 (importing the package must stay cheap)

        return World
    raise AttributeError(name)
