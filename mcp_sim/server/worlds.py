"""Which worlds are there, by name? Made on first use, and never more than agreed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.world import World

DEFAULT = "default"
"""The world of those who name none."""

ROOM = 2048 * 1024 * 1024
"""What all worlds may hold together, in bytes, unless it is said otherwise."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class NoWorld(McpSimError):
    """There is no world of this name to be had. `is_full`: for want of room, not because of its name."""

    def __init__(self, name: str, reason: str, *, is_full: bool) -> None:
        self.name, self.is_full = name, is_full
        super().__init__(reason)


class Worlds:
    """Worlds by name. Where `only_declared` names are allowed, there are no others; else at most `most` at a time.

    Where all of them hold more than `room` bytes, those that hold more than their share are refused.
    """

    def __init__(
        self,
        make: Callable[[str], World],
        most: int,
        declared: Collection[str] = (),
        *,
        only_declared: bool = False,
        room: int = ROOM,
    ) -> None:
        self._make, self._most, self._room = make, most, room
        self._declared = frozenset(declared) if only_declared else None
        self._worlds: dict[str, World] = {}
        self._sizes: dict[str, int] = {}
        self._held = 0

    def __len__(self) -> int:
        return len(self._worlds)

    def check(self, name: str) -> None:
        """Raises NoWorld where `get` would."""
        world = self._worlds.get(name)
        if world is not None:
            self._weigh(name, world)
            return
        if self._declared is not None and name not in self._declared:
            raise NoWorld(name, f"Unknown world: {name}", is_full=False)
        if len(self._worlds) >= self._most:
            raise NoWorld(name, "There is no room for another world", is_full=True)

    def get(self, name: str) -> World:
        """The world of this name, made if need be. Raises NoWorld."""
        world = self._worlds.get(name)
        if world is None:
            self.check(name)
            world = self._worlds[name] = self._make(name)
        self._weigh(name, world)
        return world

    def forget(self, name: str) -> None:
        """Let go of a world that nobody can name any more; what it wrote to a trace stays."""
        self._worlds.pop(name, None)
        self._held -= self._sizes.pop(name, 0)

    def _weigh(self, name: str, world: World) -> None:
        """Raises NoWorld where there is no room for what it holds."""
        size = world.size
        self._held += size - self._sizes.get(name, 0)
        self._sizes[name] = size
        if self._held > self._room and size > self._room // len(self._worlds):
            raise NoWorld(name, "There is no room for more in this world", is_full=True)


def is_name(text: object) -> bool:
    """May a world be called so?"""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def checked_name(text: str) -> str:
    """The name, as given. Raises UsageError for what cannot be one."""
    if not is_name(text):
        raise UsageError(f"{text!r} cannot name a world: 1 to 64 letters, digits, dots, underscores and hyphens can")
    return text
