"""One call on a key-value store, and the entries as it sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from mcp_sim.backends.key_value.operations import DATABASES
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.time_formats import parse_time, time_format

ENTRY = "entry"
KINDS = {"h": "hash", "l": "list", "r": "list", "s": "set", "z": "zset", "x": "stream"}
"""First letter of a command -> the kind of structure that it works on."""


class Store(Request):
    """One call, and the entries as it sees them, without expired ones."""

    @property
    def answers_missing(self) -> bool:
        """Whether the store is a database that answers, instead of failing, if a key does not exist."""
        mentioned = "" if self.tool is None else f"{' '.join(words(self.tool.server))} {self.tool.description.lower()}"
        return not DATABASES.isdisjoint(re.findall(r"[a-z]+", mentioned))

    @property
    def key(self) -> str:
        """The key that the call names. Raises `Refused` if it is missing."""
        return self.required("key")

    @property
    def space(self) -> str:
        """The namespace that the call names, if any."""
        return str(self.given.get("space") or "")

    # entries

    def entry(self, key: str) -> Record | None:
        """Return the entry of a key, None if there is none."""
        found = self.record(self._place(key))
        return found if found is not None and self._lives(found) else None

    def entries(self) -> Iterator[tuple[str, Record]]:
        """Yield all entries of the namespace, by the key that the caller uses."""
        start = self._place("")
        for record in self.rows():
            if (record.get("namespace") or "") == self.space and self._lives(record):
                yield str(record["key"]).removeprefix(start), record

    def keep(self, key: str, value: Json, like: Record | None = None, **more: Json) -> None:
        """Write an entry. What else it has is that of the entry `like` and then of `more`, if it has a value."""
        besides = {name: one for name, one in (like or {}).items() if name in {"expires_at", "kind"}}
        besides |= {"namespace": self.space, **more}
        place = self._place(key)
        self.put(place, {"key": place, "value": value, **{name: one for name, one in besides.items() if one}})

    def remove(self, key: str) -> None:
        """Remove an entry."""
        self.drop(self._place(key))

    def attributes(self) -> Record:
        """Return the attributes that the call gives a new entry, with defaults and the time; none without arguments."""
        defaults: Record = self.binding.shared or {}
        given = {snake(name): value for name, value in {**defaults, **self.others}.items()}
        return {**given, "created_at": iso(self.now)} if given else {}

    # expiry

    def until(self) -> Json:
        """Return the time when what is set now expires, as other entries have it, or None if it does not.

        Raises `Refused` if it is out of range.
        """
        seconds = self.get("seconds")
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds <= 0:
            return None
        try:
            ends = self.now + timedelta(seconds=seconds)
        except OverflowError:
            raise Refused("invalid", "Invalid expire time: it is out of range") from None
        first = self.view.sample_key(self.entity, 0)
        form = None if first is None else time_format((self.record(first) or {}).get("expires_at"))
        return iso(ends) if form is None else form.write(ends)

    def seconds_left(self, entry: Record) -> int:
        """Return the seconds until an entry expires, or -1 if it does not."""
        ends = parse_time(entry.get("expires_at"))
        return -1 if ends is None else int((ends - self.now).total_seconds())

    # structures

    @property
    def kind(self) -> str:
        """The kind of structure that the command works on."""
        return KINDS[self.binding.operation.name[0]]

    def held(self) -> Any:
        """Return the structure under the key, or an empty one. Raises `Refused` if it is of another kind."""
        empty: Any = {} if self.kind in {"hash", "zset"} else []
        entry = self.entry(self.key)
        if entry is None:
            return empty
        is_alike = "kind" not in entry and isinstance(entry["value"], type(empty))
        if not is_alike and entry.get("kind") != self.kind:
            raise Refused("invalid", f"Key {self.key} holds a {kind_of(entry)}, not a {self.kind}", key=self.key)
        return entry["value"]

    def hold(self, value: Json) -> None:
        """Write the structure under the key. An empty one is removed."""
        before = self.entry(self.key)
        if value:
            until = self.until() or (before or {}).get("expires_at")
            self.keep(self.key, value, kind=self.kind, expires_at=until)
        elif before is not None:
            self.remove(self.key)

    def _place(self, key: str) -> str:
        """Return the key of the record: the entry's key in its namespace."""
        return f"{self.space}:{key}" if self.space else key

    def _lives(self, record: Record) -> bool:
        ends = parse_time(record.get("expires_at"))
        return ends is None or ends > self.now


def kind_of(entry: Record) -> str:
    """Return the kind of the structure that an entry has as its value: `string` if it has none."""
    value = entry["value"]
    bare = "hash" if isinstance(value, dict) else "list" if isinstance(value, list) else "string"
    return str(entry.get("kind") or bare)
