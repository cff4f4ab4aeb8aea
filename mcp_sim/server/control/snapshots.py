"""Snapshots of worlds, limited in number and memory."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from mcp_sim.server.control.errors import Conflict, NotFound
from mcp_sim.types.errors import did_you_mean
from mcp_sim.world.moments import Moment
from mcp_sim.world.world import World

MOST = 100
"""The most snapshots of one world. Snapshots keep alive what the world has replaced since."""

MOST_BYTES = 512 * 1024 * 1024
"""The most bytes that all snapshots keep alive."""


class Snapshots:
    """The snapshots of all worlds, by name. They end with their world."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[World, dict[str, Moment]] = WeakKeyDictionary()

    def of(self, world: World) -> dict[str, Moment]:
        """Return the snapshots of a world."""
        return self._of.setdefault(world, {})

    def take(self, world: World, name: str | None) -> str:
        """Take a snapshot, and return its name. Raises `Conflict` if there is no room for it."""
        taken = self.of(world)
        if name in taken:
            raise Conflict(f"the world {world.name} has a snapshot {name!r}; choose another name, or delete that one")
        if len(taken) >= MOST:
            raise Conflict(f"the world {world.name} has {MOST} snapshots, which is the most; delete one")
        moment = world.moment()
        if moment.size + sum(snapshot.size for kept in self._of.values() for snapshot in kept.values()) > MOST_BYTES:
            raise Conflict("there is no room for another snapshot; delete some")
        chosen = name or next(text for n in range(1, MOST + 2) if (text := f"snapshot-{n}") not in taken)
        taken[chosen] = moment
        return chosen

    def get(self, world: World, name: str) -> Moment:
        """Return a snapshot. Raises `NotFound`."""
        taken = self.of(world)
        if name not in taken:
            raise NotFound(f"the world {world.name} has no snapshot {name!r}{did_you_mean(name, taken)}")
        return taken[name]

    def drop(self, world: World, name: str) -> None:
        """Delete a snapshot. Raises `NotFound`."""
        self.get(world, name)
        del self.of(world)[name]
