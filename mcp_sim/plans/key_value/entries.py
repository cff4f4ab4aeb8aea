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

from mcp_sim.plans.key_value.backend import DATABASES, ENTRY
from mcp_sim.plans.outcome import Outcome, as_text, done, value_outcome
from mcp_sim.plans.patterns import matches_wildcards
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.time_formats import parse_time, time_format

_COUNTER_BOUND = 2**63  # counters of Redis are signed integers of 64 bits


class Store(Request):
    """One call, and the entries as it sees them, without expired ones."""

    @property
    def command(self) -> str:
        return self.binding.operation.name

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

    def keep(self, key: str, value: Json, expires_at: Json = None) -> None:
        """Write an entry, which may expire."""
        place, besides = self._place(key), {"namespace": self.space, "expires_at": expires_at}
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

    def _place(self, key: str) -> str:
        return f"{self.space}:{key}" if self.space else key

    def _lives(self, record: Record) -> bool:
        ends = parse_time(record.get("expires_at"))
        return ends is None or ends > self.now


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
    until = store.until()
    store.keep(key, value, until)
    lasting = f" with expiration {as_text(store.get('seconds'))} seconds" if until else ""
    return done(f"Successfully set {key}{lasting}", key=key, value=value, created=before is None)


def get(store: Store) -> Outcome:
    """Return the value of a key, or the default if there is one; without a key, all entries."""
    if store.get("key") is None:
        return list_entries(store)
    entry, default = store.entry(store.key), store.get("default")
    if entry is None:
        return _missing(store) if default is None else value_outcome(default, key=store.key, exists=False)
    return value_outcome(entry["value"], key=store.key, exists=True)


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
    store.keep(store.key, str(value) if isinstance(held, str) else value, (entry or {}).get("expires_at"))
    return Outcome(f"{store.key} is now {value}", {"value": value, "key": store.key}, "value")


def _number(value: Json) -> int | float | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[+-]?\d{1,40}", value.strip()) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def expire(store: Store) -> Outcome:
    """Let a key expire after a number of seconds above 0, else raise `Refused`."""
    entry, until, seconds = store.entry(store.key), store.until(), store.get("seconds")
    if entry is None:
        return _missing(store)
    if until is None:
        raise Refused("invalid", f"A key expires after a number of seconds above 0, not {seconds}")
    store.keep(store.key, entry["value"], until)
    return done(f"{store.key} expires in {seconds} seconds", key=store.key, seconds=seconds, expires_at=until)


def ttl(store: Store) -> Outcome:
    """Return the seconds until a key expires, or -1 if it does not."""
    entry = store.entry(store.key)
    if entry is None:
        return _missing(store)
    seconds = store.seconds_left(entry)
    return Outcome(str(seconds), {"seconds": seconds, "key": store.key}, "seconds")
