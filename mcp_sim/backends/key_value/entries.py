"""Entries of a key-value store, and the operations on them.

All of them take a `space`, the namespace of the key. Where a key does not exist, they raise `Refused` unless they say
otherwise; a database like Redis answers instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any

from mcp_sim.backends.key_value.backend import DATABASES, ENTRY, KINDS
from mcp_sim.backends.outcome import Outcome, as_text, done, value_outcome
from mcp_sim.backends.patterns import matches_wildcards
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.time_formats import parse_time, time_format

_COUNTER_BOUND = 2**63  # counters of Redis are signed integers of 64 bits


class Store(Request):
    """One call, and the entries as it sees them, without expired ones."""

    @property
    def command(self) -> str:
        return self.binding.operation.name

    @property
    def kind(self) -> str:
        return KINDS[self.command[0]]

    @property
    def key(self) -> str:
        return self.required("key")

    @property
    def space(self) -> str:
        return str(self.given.get("space") or "")

    def entry(self, key: str) -> Record | None:
        """Return the entry of a key, or None."""
        record = self.record(self._place(key))
        return record if record is not None and self._lives(record) else None

    def entries(self) -> Iterator[tuple[str, Record]]:
        """Yield all entries of the namespace, by the key that the caller uses."""
        start = self._place("")
        for record in self.rows():
            if (record.get("namespace") or "") == self.space and self._lives(record):
                yield str(record["key"]).removeprefix(start), record

    def keep(self, key: str, value: Json, like: Record | None = None, **more: Json) -> None:
        """Write an entry. What else it has is that of the entry `like` and then of `more`, if it has a value."""
        besides = {name: inner for name, inner in (like or {}).items() if name in {"expires_at", "kind"}}
        besides |= {"namespace": self.space, **more}
        place = self._place(key)
        self.put(place, {"key": place, "value": value, **{name: inner for name, inner in besides.items() if inner}})

    def remove(self, key: str) -> None:
        self.drop(self._place(key))

    def until(self) -> Json:
        """Return the time when what is set now expires, None if it does not. Raises `Refused` if it is out of range."""
        seconds = self.get("seconds")
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds <= 0:
            return None
        try:
            ends = self.now + timedelta(seconds=seconds)
        except OverflowError:
            raise Refused("invalid", "Invalid expire time: it is out of range") from None
        form = time_format(next(self.rows(), Record()).get("expires_at"))
        return iso(ends) if form is None else form.write(ends)

    def seconds_left(self, entry: Record) -> int:
        """Return the seconds until an entry expires, or -1 if it does not."""
        ends = parse_time(entry.get("expires_at"))
        return -1 if ends is None else int((ends - self.now).total_seconds())

    def held(self) -> Any:
        """Return the structure under the key, or an empty one. Raises `Refused` if it is of another kind."""
        empty: Any = {} if self.kind in {"hash", "zset"} else []
        entry = self.entry(self.key)
        if entry is None:
            return empty
        is_alike = "kind" not in entry and isinstance(entry["value"], type(empty)) and self.kind != "stream"
        if not is_alike and entry.get("kind") != self.kind:
            raise Refused("invalid", f"Key {self.key} holds a {kind_in(entry)}, not a {self.kind}", key=self.key)
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
        return f"{self.space}:{key}" if self.space else key

    def _lives(self, record: Record) -> bool:
        ends = parse_time(record.get("expires_at"))
        return ends is None or ends > self.now


def kind_in(entry: Record) -> str:
    """Return the kind of the structure that an entry has as its value: `string` if it lacks one."""
    value = entry["value"]
    bare = "hash" if isinstance(value, dict) else "list" if isinstance(value, list) else "string"
    return str(entry.get("kind") or bare)


def _missing(store: Store) -> Outcome:
    """Answer that a key does not exist, if the tool mentions a database. Raises `Refused` if it does not."""
    text, tool = f"Key {store.key} not found", store.tool
    mentioned = "" if tool is None else f"{' '.join(words(tool.server))} {tool.description.lower()}"
    if DATABASES.isdisjoint(re.findall(r"[a-z]+", mentioned)):
        raise Refused("not_found", text, key=store.key, entity=ENTRY)
    facts: Record = {"key": store.key, "error": text, "exists": False, "count": 0, "deleted": False}
    return Outcome(text, facts, is_absent=True)


def set_value(store: Store) -> Outcome:
    """Set the value of a key, which may expire. Raises `Refused` if a key exists that may not be replaced."""
    key, value, before = store.key, store.get("value"), store.entry(store.key)
    if before is not None and (store.flag("fresh") or store.get("overwrite") is False):
        raise Refused("conflict", f"Key {key} already exists", key=key, entity=ENTRY)
    until, defaults = store.until(), store.binding.shared or Record()
    about = {snake(name): inner for name, inner in {**defaults, **store.others}.items()}
    about |= {"created_at": iso(store.now)} if about else {}
    store.keep(key, value, about=about, expires_at=until)
    lasting = f" with expiration {as_text(store.get('seconds'))} seconds" if until else ""
    return done(f"Successfully set {key}{lasting}", key=key, value=value, created=before is None)


def get(store: Store) -> Outcome:
    """Return the value of a key, or the default if there is one; without a key, all entries.

    Raises `Refused` if the value is a structure.
    """
    if store.get("key") is None:
        return list_entries(store)
    entry, default = store.entry(store.key), store.get("default")
    if entry is None:
        return _missing(store) if default is None else value_outcome(default, key=store.key, exists=False)
    _refuse_structure(store, entry)
    return value_outcome(entry["value"], key=store.key, exists=True)


def _refuse_structure(store: Store, entry: Record) -> None:
    if "kind" in entry:
        raise Refused("invalid", f"Key {store.key} holds a {kind_in(entry)}, not a string", key=store.key)


def delete(store: Store) -> Outcome:
    """Delete a key, or several: missing ones of a list are skipped."""
    asked = store.get("key")
    if isinstance(asked, list):
        return _deleted(store, [key for key in dict.fromkeys(map(str, as_list(asked))) if store.entry(key) is not None])
    return _missing(store) if store.entry(store.key) is None else _deleted(store, [store.key], store.key)


def clear(store: Store) -> Outcome:
    """Delete all keys, or those that match a pattern or prefix."""
    return _deleted(store, [key for key, _ in _matching(store)])


def _deleted(store: Store, keys: list[str], named: str = "") -> Outcome:
    for key in keys:
        store.remove(key)
    facts: Record = {"key": named or None, "keys": keys, "deleted": bool(keys), "count": len(keys)}
    return Outcome(f"Successfully deleted {named or f'{len(keys)} keys'}", facts)


def exists(store: Store) -> Outcome:
    """Return whether a key exists."""
    is_there = store.entry(store.key) is not None
    return done(f"Key {store.key} {'exists' if is_there else 'does not exist'}", exists=is_there, key=store.key)


def count(store: Store) -> Outcome:
    """Return the number of keys."""
    number = sum(1 for _ in store.entries())
    return Outcome(str(number), {"count": number}, "count")


def list_entries(store: Store) -> Outcome:
    """List entries, or only keys: those that match a pattern or prefix, or in a search, those that contain a text."""
    entries: list[Record] = [{"key": key, "value": row["value"]} for key, row in _matching(store)]
    facts: Record = {"keys": [entry["key"] for entry in entries], "count": len(entries)}
    if store.command == "keys":
        return Outcome(lambda: "\n".join(facts["keys"]) or "No keys found", facts, "keys", is_json=True)
    return Outcome(partial(_lines, entries), {"entries": entries, **facts}, "entries", is_json=True)


def _matching(store: Store) -> list[tuple[str, Record]]:
    """Return the entries that match the pattern, at most `limit`."""
    pattern, limit = store.text("pattern"), store.number("limit")
    if store.command == "search":
        wanted = pattern.lower()
        hits = ((key, row) for key, row in store.entries() if wanted in f"{key} {as_text(row['value'])}".lower())
    else:
        matches = matches_wildcards if any(sign in pattern for sign in "*?[") else str.startswith
        hits = ((key, row) for key, row in store.entries() if matches(key, pattern))
    return [*islice(hits, None if limit is None else min(max(limit, 0), sys.maxsize))]


def _lines(entries: Sequence[Record], empty: str = "No entries found") -> str:
    return "\n".join(f"{entry['key']}: {as_text(entry['value'])}" for entry in entries) or empty


def recall(store: Store) -> Outcome:
    """List all entries, or those that the key and the attributes select. A call from Python has no attributes."""
    limit, key = store.number("limit"), store.get("key")
    wanted = {snake(name): value for name, value in store.others.items()}
    rows: list[Record] = [
        {"key": known, "value": record["value"], **as_object(record.get("about"))}
        for known, record in store.entries()
        if key in (None, known) and _has_attributes(as_object(record.get("about")), wanted)
    ]
    shown = rows[:limit] if limit is not None and limit > 0 else rows
    return Outcome(partial(_lines, shown), {"items": shown, "total": len(rows)}, is_json=True)


def _has_attributes(about: Record, wanted: Record) -> bool:
    """Return whether the attributes of an entry match. Attributes that the entry lacks do not count."""
    named = ((name if name in about else singular(name), value) for name, value in wanted.items())
    pairs = ((about[name], value) for name, value in named if name in about)
    return all(has in value if isinstance(value, list) else has == value for has, value in pairs)


def get_many(store: Store) -> Outcome:
    """Return the values of several keys. Missing ones are null."""
    values = {key: (store.entry(key) or {}).get("value") for key in store.texts("keys")}
    entries: list[Record] = [{"key": key, "value": value} for key, value in values.items()]
    facts: Record = {"values": values, "entries": entries}
    return Outcome(partial(_lines, entries, "No keys given"), facts, "values", is_json=True)


def set_many(store: Store) -> Outcome:
    """Set the values of several keys: of an object, or of a list of objects with `key` and `value`."""
    asked = store.get("entries")
    rows = [as_object(row) for row in as_list(asked)]
    pairs = as_object(asked) or {str(row.get("key", row.get("name"))): row.get("value") for row in rows}
    for key, value in pairs.items():
        store.keep(str(key), value)
    return done(f"Successfully set {len(pairs)} keys", count=len(pairs), keys=[*pairs])


def increment(store: Store) -> Outcome:
    """Add an amount (default 1) to a number, 0 if missing, or subtract it. Raises `Refused` if it is not a number."""
    entry = store.entry(store.key)
    held: Json = 0 if entry is None else entry["value"]
    before, step = _number(held), _number(store.get("amount", 1))
    if before is None or step is None:
        raise Refused("invalid", f"The value of {store.key} is not a number: {as_text(held)}")
    step = -step if store.command == "decrement" else step
    if max(abs(before), abs(step)) >= _COUNTER_BOUND or abs(before + step) >= _COUNTER_BOUND:
        raise Refused("invalid", "Increment or decrement would overflow")
    value = before + step
    store.keep(store.key, str(value) if isinstance(held, str) else value, entry)
    return Outcome(f"{store.key} is now {value}", {"value": value, "key": store.key}, "value")


def _number(value: Json) -> int | float | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[+-]?\d{1,40}", value.strip()) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def append(store: Store) -> Outcome:
    """Append to a text or a list. A missing one starts empty. Raises `Refused` if it is another structure."""
    entry, more = store.entry(store.key), store.get("value")
    before: Json = "" if entry is None else entry["value"]
    if isinstance(before, list):
        value: Json = [*as_list(before), *(as_list(more) if isinstance(more, list) else [more])]
    else:
        _refuse_structure(store, entry or {})
        value = as_text(before) + as_text(more)
    store.keep(store.key, value, entry)
    return done(f"Successfully appended to {store.key}", key=store.key, value=value, count=len(value))


def expire(store: Store) -> Outcome:
    """Let a key expire after a number of seconds above 0, else raise `Refused`; or let it persist."""
    entry, until, seconds = store.entry(store.key), store.until(), store.get("seconds")
    if entry is None:
        return _missing(store)
    if until is None and store.command == "expire":
        raise Refused("invalid", f"A key expires after a number of seconds above 0, not {seconds}")
    store.keep(store.key, entry["value"], entry, expires_at=until)
    if until is None:
        return done(f"{store.key} does not expire any more", key=store.key)
    return done(f"{store.key} expires in {seconds} seconds", key=store.key, seconds=seconds, expires_at=until)


def ttl(store: Store) -> Outcome:
    """Return the seconds until a key expires, or -1 if it does not."""
    entry = store.entry(store.key)
    if entry is None:
        return _missing(store)
    seconds = store.seconds_left(entry)
    return Outcome(str(seconds), {"seconds": seconds, "key": store.key}, "seconds")


def rename(store: Store) -> Outcome:
    """Move the value of a key to another one, which is replaced."""
    entry, target = store.entry(store.key), store.required("target")
    if entry is None:
        return _missing(store)
    store.remove(store.key)
    store.keep(target, entry["value"], entry)
    return done(f"Renamed {store.key} to {target}", key=target, status="success")
