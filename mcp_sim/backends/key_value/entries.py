"""Which entries does a call see, by the keys that its caller knows, and how is one written?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_sim.backends.key_value.recognition import ENTRY
from mcp_sim.backends.refusal import Refused
from mcp_sim.generate.times import moment_of
from mcp_sim.types import Change, Json, Record, Tool, View
from mcp_sim.types.clock import iso


@dataclass(frozen=True, slots=True)
class Store:
    """One call, and the entries as it sees them: what has expired is not there."""

    view: View
    now: datetime
    entity: str
    given: Mapping[str, Json]
    roles: Mapping[str, str]
    tool: Tool

    def get(self, role: str, default: Json = None) -> Json:
        return self.given.get(self.roles.get(role, ""), default)

    @property
    def space(self) -> str:
        return str(self.get("space") or "")

    @property
    def key(self) -> str:
        return str(self.get("key"))

    def place(self, key: str) -> str:
        """The key of the record: that of the entry, in its namespace."""
        return f"{self.space}:{key}" if self.space else key

    def entry(self, key: str) -> Record | None:
        found = self.view.get(self.entity, self.place(key))
        return found if found is not None and self._lives(found) else None

    def known(self, key: str) -> Record:
        """The entry of a key. Raises Refused where there is none."""
        found = self.entry(key)
        if found is None:
            raise Refused("not_found", f"Key {key} not found", key=key, entity=ENTRY)
        return found

    def entries(self) -> Iterator[tuple[str, Record]]:
        """All entries of the namespace, by the key as the caller knows it."""
        for place, record in self.view.rows(self.entity):
            if (record.get("namespace") or "") == self.space and self._lives(record):
                yield str(place).removeprefix(f"{self.space}:" if self.space else ""), record

    def put(self, key: str, value: Json, expires_at: str | None, kind: str = "", about: Record | None = None) -> Change:
        """An entry; `kind` is that of its structure, where it is one, `about` what was said of it besides."""
        place = self.place(key)
        record: Record = {"key": place, "value": value}
        record |= {"kind": kind} if kind else {}
        record |= {"about": about} if about else {}
        record |= {"namespace": self.space} if self.space else {}
        record |= {"expires_at": expires_at} if expires_at is not None else {}
        return Change("put", self.entity, place, record, expected=self.view.version(self.entity, place))

    def drop(self, key: str) -> Change:
        place = self.place(key)
        return Change("remove", self.entity, place, expected=self.view.version(self.entity, place))

    def until(self) -> str | None:
        """When what is set now expires."""
        seconds = self.get("seconds")
        lasts = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
        try:
            return iso(self.now + timedelta(seconds=seconds)) if lasts else None
        except OverflowError:
            raise Refused("invalid", "Invalid expire time: it is out of range") from None

    def seconds_left(self, entry: Record) -> int:
        """Until an entry expires; -1 where it does not."""
        ends = moment_of(entry.get("expires_at"))
        return -1 if ends is None else int((ends - self.now).total_seconds())

    def _lives(self, record: Record) -> bool:
        ends = moment_of(record.get("expires_at"))
        return ends is None or ends > self.now
