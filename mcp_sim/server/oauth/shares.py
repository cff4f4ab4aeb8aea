"""A bounded store that clients share: one that fills it loses its own entries, not those of others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Shares(Generic[T]):
    """Values by key, each of a client. Beyond `most`, the client with the most values loses its oldest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._owners, self._values = dict[str, str](), dict[str, dict[str, T]]()

    def add(self, client: str, key: str, value: T) -> None:
        """Add a value under a new key."""
        self._owners[key] = client
        self._values.setdefault(client, {})[key] = value
        if len(self._owners) > self._most:
            largest = max(self._values.values(), key=len)
            self.pop(next(iter(largest)))

    def get(self, key: str) -> T | None:
        """Return the value under a key."""
        client = self._owners.get(key)
        return None if client is None else self._values[client][key]

    def pop(self, key: str) -> T | None:
        """Remove and return the value under a key."""
        client = self._owners.pop(key, None)
        if client is None:
            return None
        value = self._values[client].pop(key)
        if not self._values[client]:
            del self._values[client]
        return value

    def of(self, client: str) -> Collection[T]:
        """Return the values of a client, oldest first."""
        return self._values.get(client, {}).values()

    def __iter__(self) -> Iterator[T]:
        return (value for values in self._values.values() for value in values.values())
