"""The worlds of a server by name, created on first use and limited in number and memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.world.world import World

DEFAULT = "default"
"""The world of requests that do not name a world."""

MAX_BYTES = 2048 * 1024 * 1024
"""Bytes that all worlds together may hold by default."""

_NAME = re.compile(r"(?!\.\.?$)[A-Za-z0-9._-]{1,64}")
"""`.` and `..` are not names: clients remove them from a path."""


class WorldUnavailable(McpSimError):
    """Raised when a world cannot be used. `is_full`: because of a limit, not because of its name."""

    def __init__(self, name: str, reason: str, *, is_full: bool) -> None:
        self.name, self.is_full = name, is_full
        super().__init__(reason)


class Worlds:
    """Worlds by name, at most `most` at a time; with `only_declared`, only those with declared names.

    If all of them hold more than `room` bytes, those that hold more than their share are refused. `on_end` gets each
    world that is dropped. Worlds that were `lost` with another process are refused, and so are those that are not
    `is_own`: another process has them.
    """

    def __init__(
        self,
        make: Callable[[str], World],
        most: int,
        declared: Collection[str] = (),
        *,
        only_declared: bool = False,
        room: int = MAX_BYTES,
        on_end: Callable[[World], None] = lambda _: None,
        lost: Collection[str] = (),
        is_own: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._make, self._most, self._room, self._on_end = make, most, room, on_end
        self._lost, self._is_own = frozenset(lost), is_own
        self._declared = frozenset(declared) if only_declared else None
        self._worlds: dict[str, World] = {}
        self._sizes: dict[str, int] = {}
        self._held = 0

    def __len__(self) -> int:
        return len(self._worlds)

    def __contains__(self, name: str) -> bool:
        return name in self._worlds

    def names(self) -> list[str]:
        """Return the names of the worlds, in the order in which they were created."""
        return list(self._worlds)

    def find(self, name: str) -> World | None:
        """Return the world of this name, if it exists."""
        return self._worlds.get(name)

    def add(self, world: World, name: str = "") -> None:
        """Add a world under a free name, by default its own. Raises `WorldUnavailable` if the server is full."""
        name = name or world.name
        self.check_room(name)
        self._worlds[name] = world

    def check_room(self, name: str) -> None:
        """Raise `WorldUnavailable` if the server has no room for another world."""
        if len(self._worlds) >= self._most:
            raise WorldUnavailable(name, "There is no room for another world", is_full=True)

    def check(self, name: str) -> None:
        """Raises `WorldUnavailable` if `get` would, or the process that has the world."""
        world = self._worlds.get(name)
        if world is not None:
            self._weigh(name, world)
            return
        if self._declared is not None and name not in self._declared:
            raise WorldUnavailable(name, f"Unknown world: {name}", is_full=False)
        if name in self._lost:
            raise WorldUnavailable(name, "This world was lost; use another one", is_full=True)
        if self._is_own(name):
            self.check_room(name)

    def get(self, name: str) -> World:
        """Return the world of this name, created on first use. Raises `WorldUnavailable`."""
        world = self._worlds.get(name)
        if world is None:
            self.check(name)
            if not self._is_own(name):
                raise WorldUnavailable(name, "Another process has this world", is_full=True)
            world = self._worlds[name] = self._make(name)
        self._weigh(name, world)
        return world

    def forget(self, name: str) -> None:
        """Drop a world that cannot be named any more. Its entries in a trace remain."""
        world = self._worlds.pop(name, None)
        self._held -= self._sizes.pop(name, 0)
        if world is not None:
            self._on_end(world)

    def end(self) -> None:
        for name in list(self._worlds):
            self.forget(name)

    def _weigh(self, name: str, world: World) -> None:
        """Raises `WorldUnavailable` if a world holds more than its share and memory is exhausted."""
        size = world.size
        self._held += size - self._sizes.get(name, 0)
        self._sizes[name] = size
        if self._held > self._room and size > self._room // len(self._worlds):
            raise WorldUnavailable(name, "There is no room for more in this world", is_full=True)


def is_name(text: object) -> bool:
    """Whether a text is a valid name of a world."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def checked_name(text: str) -> str:
    """Return the name. Raises `UsageError` if it is invalid."""
    if not is_name(text):
        allowed = "1 to 64 letters, digits, dots, underscores and hyphens, but not . or .."
        raise UsageError(f"{text!r} cannot name a world: expected {allowed}")
    return text
