"""Operations on the entries of a key-value store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from mcp_sim.backends.key_value.matching import ENTRY, is_database
from mcp_sim.backends.key_value.store import Store, attributes_of, recall
from mcp_sim.backends.key_value.structures import STRUCTURES
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

_MOST = 2**63
"""The bound of counters."""


def _text(value: Json) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _set(store: Store) -> Outcome:
    """Set a value, new or replaced."""
    key, before = store.key, store.entry(store.key)
    if before is not None and store.get("fresh") is True:
        raise Refused("conflict", f"Key {key} already exists", key=key, entity=ENTRY)
    facts: Record = {"key": key, "value": store.get("value"), "created": before is None}
    change = store.put(key, store.get("value"), store.until(), about=attributes_of(store))
    until = f" with expiration {_text(store.get('seconds'))} seconds" if store.until() else ""
    return Outcome(f"Successfully set {key}{until}", facts, changes=(change,))


def _get(store: Store) -> Outcome:
    if store.entry(store.key) is None and "default" in store.roles and store.get("default") is not None:
        return _valued(store.key, store.get("default"), exists=False)
    entry = _expected(store)
    if isinstance(entry, Outcome):
        return entry
    if "kind" in entry:
        raise Refused("invalid", f"Key {store.key} holds a {entry['kind']}, not a string", key=store.key)
    return _valued(store.key, entry["value"], exists=True)


def _expected(store: Store) -> Record | Outcome:
    """Return the entry of a key. If it is missing, a database answers so; other stores raise Refused."""
    entry = store.entry(store.key)
    if entry is None and is_database(store.tool):
        facts: Record = {"key": store.key, "exists": False, "count": 0, "deleted": False}
        return Outcome(f"Key {store.key} not found", facts, is_absent=True)
    return store.known(store.key) if entry is None else entry


def _valued(key: str, value: Json, *, exists: bool) -> Outcome:
    facts: Record = {"value": value, "key": key, "exists": exists}
    return Outcome(_text(value), facts, "value", is_json=isinstance(value, dict | list))


def _delete(store: Store) -> Outcome:
    asked = store.get("key")
    keys = [str(one) for one in as_list(asked)] if isinstance(asked, list) else [store.key]
    found = [key for key in dict.fromkeys(keys) if store.entry(key) is not None]
    if not found and not isinstance(asked, list) and isinstance(missing := _expected(store), Outcome):
        return missing
    facts: Record = {"key": store.key, "deleted": bool(found), "count": len(found)}
    named = f"{len(found)} keys" if isinstance(asked, list) else store.key
    return Outcome(f"Successfully deleted {named}", facts, changes=tuple(map(store.drop, found)))


def _exists(store: Store) -> Outcome:
    found = store.entry(store.key) is not None
    text = f"Key {store.key} {'exists' if found else 'does not exist'}"
    return Outcome(text, {"exists": found, "key": store.key})


def _list(store: Store) -> Outcome:
    """List the keys that match a pattern or prefix, with values unless the tool lists keys."""
    pattern, limit = str(store.get("pattern") or ""), store.get("limit")
    found = [(key, record["value"]) for key, record in store.entries() if _matches(pattern, key)]
    found = found[:limit] if isinstance(limit, int) else found
    keys: list[Json] = [key for key, _ in found]
    entries: list[Json] = [{"key": key, "value": value} for key, value in found]
    facts: Record = {"keys": keys, "entries": entries, "count": len(keys), "all": dict(found)}
    lists_keys = {"key", "keys", "scan"} & {*snake(store.tool.name).split("_")} or "keys" in store.tool.description
    return Outcome("\n".join(keys) or "No keys found", facts, "keys" if lists_keys else "entries", is_json=True)


def _matches(pattern: str, key: str) -> bool:
    return fnmatchcase(key, pattern) if any(sign in pattern for sign in "*?[") else key.startswith(pattern)


def _search(store: Store) -> Outcome:
    """List the entries whose key or value contains a text."""
    query, limit = str(store.get("pattern") or "").lower(), store.get("limit")
    found = [(key, one["value"]) for key, one in store.entries() if query in f"{key} {_text(one['value'])}".lower()]
    entries: list[Json] = [{"key": key, "value": value} for key, value in found]
    entries = entries[:limit] if isinstance(limit, int) else entries
    facts: Record = {"entries": entries, "keys": [one["key"] for one in entries], "count": len(entries)}
    return Outcome(
        "\n".join(f"{one['key']}: {_text(one['value'])}" for one in entries) or "Nothing found",
        facts,
        "entries",
        is_json=True,
    )


def _increment(store: Store) -> Outcome:
    return _counted(store, 1)


def _decrement(store: Store) -> Outcome:
    return _counted(store, -1)


def _counted(store: Store, sign: int) -> Outcome:
    """Increment or decrement a number. A missing one starts at 0."""
    entry, amount = store.entry(store.key), store.get("amount")
    before = _number(0 if entry is None else entry["value"])
    step = _number(1 if amount is None else amount)
    if before is None or step is None:
        raise Refused("invalid", f"The value of {store.key} is not a number: {_text((entry or {}).get('value'))}")
    value = before + sign * step if max(abs(before), abs(step)) < _MOST else _MOST
    if abs(value) >= _MOST:
        raise Refused("invalid", "Increment or decrement would overflow")
    kept: Json = str(value) if entry is not None and isinstance(entry["value"], str) else value
    change = store.put(store.key, kept, (entry or {}).get("expires_at"))
    return Outcome(f"{store.key} is now {value}", {"value": value, "key": store.key}, "value", changes=(change,))


def _number(value: Json) -> Any:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _append(store: Store) -> Outcome:
    """Append to a text or a list."""
    entry, more = store.entry(store.key), store.get("value")
    before: Json = "" if entry is None else entry["value"]
    if isinstance(before, list):
        value: Json = [*as_list(before), *(as_list(more) if isinstance(more, list) else [more])]
    else:
        value = _text(before) + _text(more)
    change = store.put(store.key, value, (entry or {}).get("expires_at"))
    facts: Record = {"key": store.key, "value": value, "count": len(value)}
    return Outcome(f"Successfully appended to {store.key}", facts, changes=(change,))


def _expire(store: Store) -> Outcome:
    entry, until = _expected(store), store.until()
    if isinstance(entry, Outcome):
        return entry
    if until is None:
        raise Refused("invalid", f"A key expires after a number of seconds above 0, not {store.get('seconds')}")
    facts: Record = {"key": store.key, "seconds": store.get("seconds"), "expires_at": until}
    change = store.put(store.key, entry["value"], until, entry.get("kind", ""))
    return Outcome(f"{store.key} expires in {store.get('seconds')} seconds", facts, changes=(change,))


def _persist(store: Store) -> Outcome:
    entry = store.known(store.key)
    change = store.put(store.key, entry["value"], None, entry.get("kind", ""))
    return Outcome(f"{store.key} does not expire any more", {"key": store.key}, changes=(change,))


def _ttl(store: Store) -> Outcome:
    """Return the seconds until a key expires, or -1 if it does not."""
    seconds = store.seconds_left(store.known(store.key))
    return Outcome(str(seconds), {"seconds": seconds, "key": store.key}, "seconds")


def _clear(store: Store) -> Outcome:
    keys = [key for key, _ in store.entries()]
    return Outcome(
        f"Deleted {len(keys)} keys", {"count": len(keys), "deleted": True}, changes=tuple(map(store.drop, keys))
    )


def _get_many(store: Store) -> Outcome:
    """Return the values of several keys. Missing ones are null."""
    found = {str(key): store.entry(str(key)) for key in as_list(store.get("keys"))}
    values = {key: None if entry is None else entry["value"] for key, entry in found.items()}
    entries = [{"key": key, "value": value} for key, value in values.items()]
    return Outcome(encode(values).decode(), {"values": values, "entries": entries}, "values", is_json=True)


def _set_many(store: Store) -> Outcome:
    asked = store.get("entries")
    rows = [as_object(row) for row in as_list(asked)]
    pairs = as_object(asked) or {str(row.get("key", row.get("name"))): row.get("value") for row in rows}
    changes = tuple(store.put(str(key), value, None) for key, value in pairs.items())
    return Outcome(f"Successfully set {len(pairs)} keys", {"count": len(pairs), "keys": [*pairs]}, changes=changes)


def _rename(store: Store) -> Outcome:
    entry, target = _expected(store), str(store.get("target"))
    if isinstance(entry, Outcome):
        return replace(entry, facts={"error": entry.text, "key": store.key})
    put = store.put(target, entry["value"], entry.get("expires_at"), entry.get("kind", ""))
    changes = (put,) if target == store.key else (store.drop(store.key), put)
    text = f"Renamed {store.key} to {target}"
    return Outcome(text, {"key": target, "status": "success", "message": text}, changes=changes)


def _count(store: Store) -> Outcome:
    count = sum(1 for _ in store.entries())
    return Outcome(str(count), {"count": count}, "count")


OPERATIONS: Mapping[str, Callable[[Store], Outcome]] = {
    "set": _set, "get": _get, "delete": _delete, "exists": _exists, "list": _list, "increment": _increment,
    "decrement": _decrement, "append": _append, "expire": _expire, "ttl": _ttl, "clear": _clear, "persist": _persist,
    "get_many": _get_many, "set_many": _set_many, "rename": _rename, "count": _count, "search": _search,
    "recall": recall, **STRUCTURES,
}  # fmt: skip
