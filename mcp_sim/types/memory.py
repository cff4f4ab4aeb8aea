"""What do perturbations and world models remember of a world, from call to call?"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rpds import HashTrieMap


class Memory:
    """A persistent map for one owner (a perturbation's id, a world model) in one world, forked with the world.

    Writes are staged and kept only if the call is committed. Values must be immutable.
    """

    __slots__ = ("_memories", "_owner")

    def __init__(self, memories: Memories, owner: str) -> None:
        self._memories = memories
        self._owner = owner

    def get(self, name: str, default: Any = None) -> Any:
        return self._memories.get((self._owner, name), default)

    def set(self, name: str, value: Any) -> None:
        self._memories.staged[(self._owner, name)] = value


class Memories:
    """All memories of a world during one call: what was kept before it, and what it stages.

    `counts` are the counters of triggers, a list with one place for each: cheap to copy at every call.
    """

    __slots__ = ("counts", "kept", "staged")

    def __init__(self, kept: HashTrieMap[tuple[str, str], Any], counts: Sequence[int] = ()) -> None:
        self.kept = kept
        self.staged: dict[tuple[str, str], Any] = {}
        self.counts = list(counts)

    def get(self, at: tuple[str, str], default: Any) -> Any:
        return self.staged[at] if at in self.staged else self.kept.get(at, default)

    def of(self, owner: str) -> Memory:
        return Memory(self, owner)

    @contextmanager
    def aside(self, staged: Mapping[tuple[str, str], Any]) -> Generator[None]:
        """For asking the world again about one call: begin with what was `staged` then, and drop what is added."""
        kept, counts = self.staged, list(self.counts)
        self.staged = dict(staged)
        try:
            yield
        finally:
            self.staged, self.counts = kept, counts

    def committed(self) -> HashTrieMap[tuple[str, str], Any]:
        kept = self.kept
        for at, value in self.staged.items():
            kept = kept.insert(at, value)
        return kept
