"""A bounded store that clients share, and that a flood of one or many clients does not take from those that use it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Shares(Generic[T]):
    """Values by key, each of a client.

    Beyond `most`, the client with the most values loses its oldest; among several, the one whose values were not looked
    up for longest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._owners = dict[str, str]()
        self._values = dict[str, dict[str, T]]()
        """The values of each client, the one that was used last at the end."""

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
        if client is None:
            return None
        self._values[client] = values = self._values.pop(client)
        return values[key]

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
