"""Operations on the entries of a key-value store.

All of them take a `space`, the namespace of the key. Where a key does not exist, they raise `Refused` unless they say
otherwise; a database like Redis answers instead.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from mcp_sim.backends.key_value.store import ENTRY, Store, kind_of
from mcp_sim.backends.outcome import Outcome, as_text, done, value_outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular, snake

_MOST = 2**63
"""The bound of counters."""


def _missing(store: Store) -> Outcome:
    """Answer that a key does not exist, if the store is a database. Raises `Refused` if it is another store."""
    text = f"Key {store.key} not found"
    if not store.answers_missing:
        raise Refused("not_found", text, key=store.key, entity=ENTRY)
    facts: Record = {"key": store.key, "error": text, "exists": False, "count": 0, "deleted": False}
    return Outcome(text, facts, is_absent=True)


def set_value(store: Store) -> Outcome:
    """Set the value of a key, new or replaced. It expires after some seconds, if given.

    Raises `Refused` if `fresh` is true and the key exists.
    """
    key, value, before = store.key, store.get("value"), store.entry(store.key)
    if before is not None and store.flag("fresh"):
        raise Refused("conflict", f"Key {key} already exists", key=key, entity=ENTRY)
    until = store.until()
    store.keep(key, value, about=store.attributes(), expires_at=until)
    lasting = f" with expiration {as_text(store.get('seconds'))} seconds" if until else ""
    return done(f"Successfully set {key}{lasting}", key=key, value=value, created=before is None)


def get(store: Store) -> Outcome:
    """Return the value of a key, or the default if there is one. Raises `Refused` if the value is a structure."""
    entry, default = store.entry(store.key), store.get("default")
    if entry is None:
        return _missing(store) if default is None else value_outcome(default, key=store.key, exists=False)
    if "kind" in entry:
        raise Refused("invalid", f"Key {store.key} holds a {kind_of(entry)}, not a string", key=store.key)
    return value_outcome(entry["value"], key=store.key, exists=True)


def delete(store: Store) -> Outcome:
    """Delete a key, or several: missing ones of a list are skipped."""
    asked = store.get("key")
    keys = dict.fromkeys(map(str, as_list(asked)) if isinstance(asked, list) else [store.key])
    found = [key for key in keys if store.entry(key) is not None]
    if isinstance(asked, list):
        return _deleted(store, found)
    return _deleted(store, found, store.key) if found else _missing(store)


def clear(store: Store) -> Outcome:
    """Delete all keys, or those that match a pattern or prefix."""
    return _deleted(store, [key for key, _ in _matching(store)])


def _deleted(store: Store, keys: list[str], named: str = "") -> Outcome:
    for key in keys:
        store.remove(key)
    return done(
        f"Successfully deleted {named or f'{len(keys)} keys'}",
        key=named or None,
        keys=keys,
        deleted=bool(keys),
        count=len(keys),
    )


def exists(store: Store) -> Outcome:
    """Return whether a key exists."""
    found = store.entry(store.key) is not None
    return done(f"Key {store.key} {'exists' if found else 'does not exist'}", exists=found, key=store.key)


def list_keys(store: Store) -> Outcome:
    """List the keys that match a pattern or prefix."""
    keys = [key for key, _ in _matching(store)]
    return Outcome("\n".join(keys) or "No keys found", {"keys": keys, "count": len(keys)}, "keys", is_json=True)


def list_entries(store: Store) -> Outcome:
    """List the entries whose keys match a pattern or prefix."""
    return _listed(_matching(store))


def search(store: Store) -> Outcome:
    """List the entries whose key or value contains a text."""
    query = store.text("pattern").lower()
    found = [(key, one) for key, one in store.entries() if query in f"{key} {as_text(one['value'])}".lower()]
    return _listed(_limited(store, found))


def _matching(store: Store) -> list[tuple[str, Record]]:
    pattern = store.text("pattern")
    is_glob = any(sign in pattern for sign in "*?[")
    matches = fnmatchcase if is_glob else str.startswith
    return _limited(store, [(key, one) for key, one in store.entries() if matches(key, pattern)])


def _limited(store: Store, found: list[tuple[str, Record]]) -> list[tuple[str, Record]]:
    limit = store.number("limit")
    return found if limit is None else [*islice(found, max(limit, 0))]


def _listed(found: list[tuple[str, Record]]) -> Outcome:
    entries = [{"key": key, "value": one["value"]} for key, one in found]
    facts: Record = {"entries": entries, "keys": [key for key, _ in found], "count": len(entries)}
    return Outcome(_lines(entries) or "No entries found", facts, "entries", is_json=True)


def _lines(entries: list[Record]) -> str:
    return "\n".join(f"{one['key']}: {as_text(one['value'])}" for one in entries)


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
    return Outcome(_lines(shown) or "No entries found", {"items": shown, "total": len(rows)}, is_json=True)


def _has_attributes(about: Record, wanted: Record) -> bool:
    """Whether the attributes of an entry match. Attributes that the entry lacks do not count."""
    pairs = ((about[one], value) for name, value in wanted.items() if (one := _field(about, name)) is not None)
    return all(has in value if isinstance(value, list) else has == value for has, value in pairs)


def _field(about: Record, name: str) -> str | None:
    return next((one for one in (name, singular(name)) if one in about), None)


def increment(store: Store) -> Outcome:
    """Add an amount to a number, 1 by default. A missing number starts at 0. Raises `Refused` if it is no number."""
    return _counted(store, 1)


def decrement(store: Store) -> Outcome:
    """Subtract an amount from a number, 1 by default. A missing number starts at 0.

    Raises `Refused` if it is no number.
    """
    return _counted(store, -1)


def _counted(store: Store, sign: int) -> Outcome:
    entry = store.entry(store.key)
    held: Json = 0 if entry is None else entry["value"]
    before, step = _number(held), _number(store.get("amount", 1))
    if before is None or step is None:
        raise Refused("invalid", f"The value of {store.key} is not a number: {as_text(held)}")
    value = before + sign * step if max(abs(before), abs(step)) < _MOST else _MOST
    if abs(value) >= _MOST:
        raise Refused("invalid", "Increment or decrement would overflow")
    store.keep(store.key, str(value) if isinstance(held, str) else value, entry)
    return Outcome(f"{store.key} is now {value}", {"value": value, "key": store.key}, "value")


def _number(value: Json) -> Any:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def append(store: Store) -> Outcome:
    """Append to a text or a list. A missing one starts empty."""
    entry, more = store.entry(store.key), store.get("value")
    before: Json = "" if entry is None else entry["value"]
    if isinstance(before, list):
        value: Json = [*as_list(before), *(as_list(more) if isinstance(more, list) else [more])]
    else:
        value = as_text(before) + as_text(more)
    store.keep(store.key, value, entry)
    return done(f"Successfully appended to {store.key}", key=store.key, value=value, count=len(value))


def expire(store: Store) -> Outcome:
    """Let a key expire after a number of seconds. Raises `Refused` if they are not above 0."""
    entry, until, seconds = store.entry(store.key), store.until(), store.get("seconds")
    if entry is None:
        return _missing(store)
    if until is None:
        raise Refused("invalid", f"A key expires after a number of seconds above 0, not {seconds}")
    store.keep(store.key, entry["value"], entry, expires_at=until)
    return done(f"{store.key} expires in {seconds} seconds", key=store.key, seconds=seconds, expires_at=until)


def persist(store: Store) -> Outcome:
    """Let a key expire no more."""
    entry = store.entry(store.key)
    if entry is None:
        return _missing(store)
    store.keep(store.key, entry["value"], entry, expires_at=None)
    return done(f"{store.key} does not expire any more", key=store.key)


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
    text = f"Renamed {store.key} to {target}"
    return done(text, key=target, status="success", message=text)


def get_many(store: Store) -> Outcome:
    """Return the values of several keys. Missing ones are null."""
    found = {key: store.entry(key) for key in store.texts("keys")}
    values = {key: None if entry is None else entry["value"] for key, entry in found.items()}
    entries: list[Record] = [{"key": key, "value": value} for key, value in values.items()]
    return Outcome(_lines(entries) or "No keys given", {"values": values, "entries": entries}, "values", is_json=True)


def set_many(store: Store) -> Outcome:
    """Set the values of several keys: of an object, or of a list of objects with `key` and `value`."""
    asked = store.get("entries")
    rows = [as_object(row) for row in as_list(asked)]
    pairs = as_object(asked) or {str(row.get("key", row.get("name"))): row.get("value") for row in rows}
    for key, value in pairs.items():
        store.keep(str(key), value)
    return done(f"Successfully set {len(pairs)} keys", count=len(pairs), keys=[*pairs])


def count(store: Store) -> Outcome:
    """Return the number of keys."""
    number = sum(1 for _ in store.entries())
    return Outcome(str(number), {"count": number}, "count")
