"""Which worlds are there, by name? Made on first use, and never more than agreed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from mcp_sim.errors import McpSimError, UsageError
from mcp_sim.world import World

DEFAULT = "default"
"""The world of those who name none."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class NoWorld(McpSimError):
    """There is no world of this name, and none will be made. `is_full`: for want of room, not because of its name."""

    def __init__(self, name: str, *, is_full: bool) -> None:
        self.name, self.is_full = name, is_full
        super().__init__("There is no room for another world" if is_full else f"Unknown world: {name}")


class Worlds:
    """Worlds by name. Where only `declared` names are `allowed`, there are no others; else at most `most` at a time."""

    def __init__(
        self, make: Callable[[str], World], most: int, declared: Collection[str] = (), *, only_declared: bool = False
    ) -> None:
        self._make, self._most = make, most
        self._declared = frozenset(declared) if only_declared else None
        self._worlds: dict[str, World] = {}

    def __len__(self) -> int:
        return len(self._worlds)

    def check(self, name: str) -> None:
        """Raises NoWorld where `get` would."""
        if name in self._worlds:
            return
        if self._declared is not None and name not in self._declared:
            raise NoWorld(name, is_full=False)
        if len(self._worlds) >= self._most:
            raise NoWorld(name, is_full=True)

    def get(self, name: str) -> World:
        """The world of this name, made if need be. Raises NoWorld."""
        world = self._worlds.get(name)
        if world is None:
            self.check(name)
            world = self._worlds[name] = self._make(name)
        return world

    def forget(self, name: str) -> None:
        """Let go of a world that nobody can name any more; what it wrote to a trace stays."""
        self._worlds.pop(name, None)


def is_name(text: object) -> bool:
    """May a world be called so?"""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def checked_name(text: str) -> str:
    """The name, as given. Raises UsageError for what cannot be one."""
    if not is_name(text):
        raise UsageError(f"{text!r} cannot name a world: 1 to 64 letters, digits, dots, underscores and hyphens can")
    return text
