"""Commands on hashes, lists, sets, sorted sets and streams under keys, named as in Redis.

The first letter of a command is the kind of structure. An empty structure is removed with its key. All commands raise
`Refused` if the key holds something of another kind. A missing key is no failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.backends.key_value import store as stores
from mcp_sim.backends.key_value.store import Store
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def _label(store: Store) -> str:
    return f"{store.kind.replace('zset', 'sorted set')} {store.key}"


def _missing(store: Store) -> Outcome:
    text = f"{_label(store)} not found"
    return Outcome(text[:1].upper() + text[1:], {"key": store.key, "exists": False}, is_absent=True)


def _texts(value: Json) -> list[str]:
    """Return one value, or each of a list, as text."""
    return [as_text(one) for one in (as_list(value) if isinstance(value, list) else [value])]


def _added(store: Store, what: str, held: Any, more: str = "", **facts: Json) -> Outcome:
    """Write the structure and confirm what was added."""
    store.hold(held)
    return done(f"Successfully added {what} to {_label(store)}{more}", key=store.key, **facts)


def _removed(store: Store, what: str, left: Any) -> Outcome:
    """Write what is left of the structure and confirm what was removed."""
    count = len(store.held()) - len(left)
    if count:
        store.hold(left)
    text = f"Successfully removed {what} from {_label(store)}" if count else f"{what} not found in {_label(store)}"
    return done(text, key=store.key, count=count, deleted=count > 0)


def _without(store: Store, role: str) -> Outcome:
    held, asked = store.held(), _texts(store.get(role))
    kept = [one for one in held if one not in asked]
    left: Any = {one: held[one] for one in kept} if store.kind in {"hash", "zset"} else kept
    return _removed(store, ", ".join([one for one in asked if one in held] or asked), left)


def _value(store: Store, value: Json) -> Outcome:
    return Outcome(as_text(value), {"value": value, "key": store.key}, "value")


def _listed(values: Sequence[Json]) -> Outcome:
    lines = [" ".join(map(as_text, as_list(one))) if isinstance(one, list) else as_text(one) for one in values]
    return Outcome("\n".join(lines) or "(empty)", {"members": [*values], "count": len(values)}, "members", is_json=True)


def _contains(store: Store, role: str) -> Outcome:
    found = as_text(store.get(role)) in store.held()
    return Outcome(as_text(found), {"exists": found}, "exists")


def members(store: Store) -> Outcome:
    """List the members of a set, or the fields of a hash."""
    held = store.held()
    return _listed([*held]) if held else _missing(store)


def size(store: Store) -> Outcome:
    """Return the number of members, fields or entries of a structure."""
    number = len(store.held())
    return Outcome(str(number), {"count": number}, "count")


def remove_members(store: Store) -> Outcome:
    """Remove a member of a set or sorted set, or several."""
    return _without(store, "value")


def kind_of(store: Store) -> Outcome:
    """Return the kind of the value under a key: `string`, `hash`, `list`, `set`, `zset`, `stream`, or `none`."""
    entry = store.entry(store.key)
    kind, seconds = ("none", -2) if entry is None else (stores.kind_of(entry), store.seconds_left(entry))
    return Outcome(kind, {"key": store.key, "type": kind, "ttl": seconds}, "type")


def publish(store: Store) -> Outcome:
    """Publish a message to a channel. There are no subscribers."""
    channel = store.get("channel")
    return done(f"Message published to channel {channel}", channel=channel, count=0, subscribers=0)


def hset(store: Store) -> Outcome:
    """Set a field of a hash."""
    field = store.text("field")
    store.hold({**store.held(), field: as_text(store.get("value"))})
    return done(f"Successfully set {field} in {_label(store)}", key=store.key, count=1)


def hget(store: Store) -> Outcome:
    """Return the value of a field of a hash."""
    held, field = store.held(), store.text("field")
    if field in held:
        return _value(store, held[field])
    return Outcome(f"Field {field} not found in {_label(store)}", {"key": store.key, "exists": False}, is_absent=True)


def hdel(store: Store) -> Outcome:
    """Delete a field of a hash, or several."""
    return _without(store, "field")


def hgetall(store: Store) -> Outcome:
    """Return a hash: its values by field."""
    held = store.held()
    text = "\n".join(f"{field}: {as_text(value)}" for field, value in held.items())
    return Outcome(text, {"value": held}, "value", is_json=True) if held else _missing(store)


def hvals(store: Store) -> Outcome:
    """List the values of a hash."""
    held = store.held()
    return _listed([*held.values()]) if held else _missing(store)


def hexists(store: Store) -> Outcome:
    """Return whether a hash has a field."""
    return _contains(store, "field")


def _is_left(store: Store) -> bool:
    return store.binding.operation.name.startswith("l")


def push(store: Store) -> Outcome:
    """Add a value, or several, at the left or right end of a list."""
    new, held = _texts(store.get("value")), store.held()
    whole = [*reversed(new), *held] if _is_left(store) else [*held, *new]
    return _added(store, ", ".join(new), whole, count=len(whole))


def pop(store: Store) -> Outcome:
    """Remove the value at the left or right end of a list, and return it."""
    held = store.held()
    if not held:
        return _missing(store)
    at = 0 if _is_left(store) else len(held) - 1
    store.hold([*held[:at], *held[at + 1 :]])
    return _value(store, held[at])


def _span(store: Store, values: Sequence[Any]) -> Sequence[Any]:
    """Return the values from `start` to `stop`, both included. Negative positions count from the end."""
    first, last = (_place(store.get(role, usual), len(values)) for role, usual in (("start", 0), ("stop", -1)))
    return values[max(first, 0) : last + 1]


def _place(value: Json, size: int) -> int:
    at = int(value) if isinstance(value, int | float) else 0
    return at + size if at < 0 else at


def lrange(store: Store) -> Outcome:
    """List the values of a list from `start` to `stop`, both included. Negative positions count from the end."""
    return _listed(_span(store, store.held()))


def lindex(store: Store) -> Outcome:
    """Return the value of a list at a position, `start`. Negative positions count from the end."""
    held = store.held()
    at = _place(store.get("start"), len(held))
    return _value(store, held[at]) if 0 <= at < len(held) else _missing(store)


def lrem(store: Store) -> Outcome:
    """Remove a value from a list: the first `count` of them, the last if it is negative, all if it is 0."""
    held, value, count = store.held(), store.get("value"), store.number("count") or 0
    places = [at for at, one in enumerate(held) if one == as_text(value)]
    chosen = places[:count] if count > 0 else places[count:]
    what = f"{len(chosen)} of {as_text(value)}" if chosen else as_text(value)
    return _removed(store, what, [one for at, one in enumerate(held) if at not in chosen])


def sadd(store: Store) -> Outcome:
    """Add a member, or several, to a set."""
    held, asked = store.held(), _texts(store.get("value"))
    new = [one for one in dict.fromkeys(asked) if one not in held]
    return _added(store, ", ".join(asked), [*held, *new], count=len(new))


def sismember(store: Store) -> Outcome:
    """Return whether a set has a member."""
    return _contains(store, "value")


def zadd(store: Store) -> Outcome:
    """Add a member to a sorted set with a score, or change its score."""
    member, score = as_text(store.get("value")), store.get("score")
    return _added(store, member, {**store.held(), member: score}, f" with score {as_text(score)}", count=1)


def zrange(store: Store) -> Outcome:
    """List the members of a sorted set by score, from `start` to `stop`, both included."""
    ordered = _span(store, sorted(store.held().items(), key=lambda one: (one[1], one[0])))
    if not ordered:
        return _missing(store)
    return _listed([[name, score] if store.flag("with_scores") else name for name, score in ordered])


def zscore(store: Store) -> Outcome:
    """Return the score of a member of a sorted set."""
    held, member = store.held(), as_text(store.get("value"))
    if member not in held:
        return Outcome(f"{member} not found in {_label(store)}", {"key": store.key}, is_absent=True)
    return Outcome(as_text(held[member]), {"score": held[member]}, "score")


def xadd(store: Store) -> Outcome:
    """Add an entry with some fields to a stream, and return its id."""
    held, stamp = store.held(), str(int(store.now.timestamp() * 1000))
    place = f"{stamp}-{sum(one['id'].startswith(stamp) for one in held)}"
    entry: Record = {"id": place, "fields": as_object(store.get("fields"))}
    return _added(store, place, [*held, entry], id=place)


def xrange(store: Store) -> Outcome:
    """List the entries of a stream, the first `count` if given."""
    held, count = store.held(), store.number("count")
    return _listed([[one["id"], one["fields"]] for one in held[:count]]) if held else _missing(store)


def xdel(store: Store) -> Outcome:
    """Delete an entry of a stream by its id."""
    place = store.text("entry")
    return _removed(store, place, [one for one in store.held() if one["id"] != place])
