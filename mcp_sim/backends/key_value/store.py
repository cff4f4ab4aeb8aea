"""The entries of a key-value store as one call sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_sim.backends.key_value.matching import ENTRY
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.generate.time_fields import parse_time
from mcp_sim.types import Change, Json, Record, Tool, View
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import singular, snake


@dataclass(frozen=True, slots=True)
class Store:
    """One call, and the entries as it sees them, without expired ones."""

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
        """Return the key of the record: the entry's key in its namespace."""
        return f"{self.space}:{key}" if self.space else key

    def entry(self, key: str) -> Record | None:
        found = self.view.get(self.entity, self.place(key))
        return found if found is not None and self._lives(found) else None

    def known(self, key: str) -> Record:
        """Return the entry of a key. Raises Refused if there is none."""
        found = self.entry(key)
        if found is None:
            raise Refused("not_found", f"Key {key} not found", key=key, entity=ENTRY)
        return found

    def entries(self) -> Iterator[tuple[str, Record]]:
        """Yield all entries of the namespace, by the key that the caller uses."""
        for place, record in self.view.rows(self.entity):
            if (record.get("namespace") or "") == self.space and self._lives(record):
                yield str(place).removeprefix(f"{self.space}:" if self.space else ""), record

    def put(self, key: str, value: Json, expires_at: str | None, kind: str = "", about: Record | None = None) -> Change:
        """Return the change that stores an entry. `kind` is that of a structure, `about` are its attributes."""
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
        """Return the time when what is set now expires, or None. Raises `Refused` if it is out of range."""
        seconds = self.get("seconds")
        lasts = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
        try:
            return iso(self.now + timedelta(seconds=seconds)) if lasts else None
        except OverflowError:
            raise Refused("invalid", "Invalid expire time: it is out of range") from None

    def seconds_left(self, entry: Record) -> int:
        """Return the seconds until an entry expires, or -1 if it does not."""
        ends = parse_time(entry.get("expires_at"))
        return -1 if ends is None else int((ends - self.now).total_seconds())

    def _lives(self, record: Record) -> bool:
        ends = parse_time(record.get("expires_at"))
        return ends is None or ends > self.now


def attributes_of(store: Store) -> Record:
    """Return the attributes that a call gives an entry, with defaults and the time."""
    defaults = {
        name: part["default"]
        for name, part in properties(expanded(store.tool.input_schema)).items()
        if "default" in part
    }
    arguments = {**defaults, **store.given}
    about = {snake(name): value for name, value in arguments.items() if name not in store.roles.values()}
    return {**about, "created_at": iso(store.now)} if about else {}


def recall(store: Store) -> Outcome:
    """List all entries, or those that the key and the attributes select."""
    limit = store.get("limit")
    key = store.get("key")
    wanted = {snake(name): value for name, value in store.given.items() if name not in store.roles.values()}
    rows: list[Json] = [
        {"key": known, "value": record["value"], **as_object(record.get("about"))}
        for known, record in store.entries()
        if key in (None, known) and _has_attributes(as_object(record.get("about")), wanted)
    ]
    shown = rows[:limit] if isinstance(limit, int) and limit > 0 else rows
    facts: Record = {"items": shown, "total": len(rows)}
    return Outcome(encode(shown).decode(), facts, is_json=True)


def _has_attributes(about: Record, wanted: Record) -> bool:
    """Whether the attributes of an entry match. Attributes that the entry lacks do not count."""
    pairs = ((about[one], value) for name, value in wanted.items() if (one := _field(about, name)) is not None)
    return all(has in value if isinstance(value, list) else has == value for has, value in pairs)


def _field(about: Record, name: str) -> str | None:
    return next((one for one in (name, singular(name)) if one in about), None)
