"""Commands on hashes, lists, sets, sorted sets and streams under keys, named as in Redis.

The first letter of a command is the kind of structure. An empty structure is removed with its key. All commands raise
`Refused` if the key holds something of another kind. A missing key is not a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.backends.key_value.entries import Store, kind_in
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_PARTS = {"hash": "field", "stream": "entry"}
"""Kind of structure -> the role of the argument that names its parts, `value` for others."""


def _label(store: Store) -> str:
    return f"{store.kind.replace('zset', 'sorted set')} {store.key}"


def _missing(store: Store, what: str = "") -> Outcome:
    """Answer that a structure, or something in it, does not exist."""
    place = _label(store)
    text = f"{what} not found in {place}" if what else f"{place[:1].upper()}{place[1:]} not found"
    return Outcome(text, {"key": store.key, "exists": False}, is_absent=True)


def _parts(store: Store) -> list[str]:
    """Return the fields, values, members or entries that the call names: one or several."""
    value = store.get(_PARTS.get(store.kind, "value"))
    return [as_text(item) for item in (as_list(value) if isinstance(value, list) else [value])]


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


def _value(store: Store, value: Json) -> Outcome:
    return Outcome(as_text(value), {"value": value, "key": store.key}, "value")


def _listed(values: Sequence[Json]) -> Outcome:
    facts: Record = {"members": [*values], "count": len(values)}
    return Outcome(lambda: "\n".join(map(_line, values)) or "(empty)", facts, "members", is_json=True)


def _line(value: Json) -> str:
    return " ".join(map(as_text, as_list(value))) if isinstance(value, list) else as_text(value)


def _span(store: Store, values: Sequence[Any]) -> Sequence[Any]:
    """Return the values from `start` to `stop`, both included. Negative positions count from the end."""
    start, stop = store.number("start") or 0, store.number("stop")
    return values[start : None if stop in (None, -1) else stop + 1]


def members(store: Store) -> Outcome:
    """List the members of a set, the fields or values of a hash, or the entries of a stream: `count` if given."""
    held: Any = store.held()
    values = held.values() if store.command == "hvals" else held
    if store.kind == "stream":
        values = [[item["id"], item["fields"]] for item in held[: store.number("count")]]
    return _listed([*values]) if held else _missing(store)


def size(store: Store) -> Outcome:
    """Return the number of members, fields or entries of a structure."""
    number = len(store.held())
    return Outcome(str(number), {"count": number}, "count")


def contains(store: Store) -> Outcome:
    """Return whether a hash has a field, or a set a member."""
    is_there = all(member in store.held() for member in _parts(store))
    return Outcome(as_text(is_there), {"exists": is_there}, "exists")


def remove(store: Store) -> Outcome:
    """Remove fields of a hash, members of a set or entries of a stream: one or several."""
    held, asked = store.held(), _parts(store)
    names = [item["id"] if store.kind == "stream" else item for item in held]
    kept = [item for name, item in zip(names, held, strict=True) if name not in asked]
    left: Any = {name: held[name] for name in kept} if store.kind in {"hash", "zset"} else kept
    return _removed(store, ", ".join([member for member in asked if member in names] or asked), left)


def kind_of(store: Store) -> Outcome:
    """Return the kind of the value under a key: `string`, `hash`, `list`, `set`, `zset`, `stream`, or `none`."""
    entry = store.entry(store.key)
    kind, seconds = ("none", -2) if entry is None else (kind_in(entry), store.seconds_left(entry))
    return Outcome(kind, {"key": store.key, "type": kind, "ttl": seconds}, "type")


def publish(store: Store) -> Outcome:
    """Publish a message to a channel. A channel never has subscribers."""
    channel = store.get("channel")
    return done(f"Message published to channel {channel}", channel=channel, count=0, subscribers=0)


def hset(store: Store) -> Outcome:
    """Set a field of a hash."""
    field = as_text(store.get("field"))
    store.hold({**store.held(), field: as_text(store.get("value"))})
    return done(f"Successfully set {field} in {_label(store)}", key=store.key, count=1)


def hget(store: Store) -> Outcome:
    """Return the value of a field of a hash."""
    held, field = store.held(), as_text(store.get("field"))
    return _value(store, held[field]) if field in held else _missing(store, f"Field {field}")


def hgetall(store: Store) -> Outcome:
    """Return a hash: its values by field."""
    held = store.held()
    text = "\n".join(f"{field}: {as_text(value)}" for field, value in held.items())
    return Outcome(text, {"value": held}, "value", is_json=True) if held else _missing(store)


def push(store: Store) -> Outcome:
    """Add a value, or several, at the left or right end of a list."""
    new, held = _parts(store), store.held()
    whole = [*reversed(new), *held] if store.command == "lpush" else [*held, *new]
    return _added(store, ", ".join(new), whole, count=len(whole))


def pop(store: Store) -> Outcome:
    """Remove the value at the left or right end of a list, and return it."""
    held = store.held()
    if not held:
        return _missing(store)
    at = 0 if store.command == "lpop" else len(held) - 1
    store.hold([*held[:at], *held[at + 1 :]])
    return _value(store, held[at])


def lrange(store: Store) -> Outcome:
    """List the values of a list from `start` to `stop`, both included. Negative positions count from the end."""
    return _listed(_span(store, store.held()))


def lindex(store: Store) -> Outcome:
    """Return the value of a list at a position, `start`. Negative positions count from the end."""
    held, at = store.held(), store.number("start") or 0
    return _value(store, held[at]) if -len(held) <= at < len(held) else _missing(store)


def lrem(store: Store) -> Outcome:
    """Remove a value from a list: the first `count` of them, the last if it is negative, all if it is 0."""
    held, value, count = store.held(), as_text(store.get("value")), store.number("count") or 0
    places = [at for at, item in enumerate(held) if item == value]
    chosen = places[:count] if count > 0 else places[count:]
    what = f"{len(chosen)} of {value}" if chosen else value
    return _removed(store, what, [item for at, item in enumerate(held) if at not in chosen])


def sadd(store: Store) -> Outcome:
    """Add a member, or several, to a set."""
    held, asked = store.held(), _parts(store)
    new = [member for member in dict.fromkeys(asked) if member not in held]
    return _added(store, ", ".join(asked), [*held, *new], count=len(new))


def zadd(store: Store) -> Outcome:
    """Add a member to a sorted set with a score, or change its score."""
    member, score = as_text(store.get("value")), store.get("score")
    return _added(store, member, {**store.held(), member: score}, f" with score {as_text(score)}", count=1)


def zrange(store: Store) -> Outcome:
    """List the members of a sorted set by score, from `start` to `stop`, both included."""
    ordered = _span(store, sorted(store.held().items(), key=lambda value: (value[1], value[0])))
    listed = [[name, score] if store.flag("with_scores") else name for name, score in ordered]
    return _listed(listed) if listed else _missing(store)


def zscore(store: Store) -> Outcome:
    """Return the score of a member of a sorted set."""
    member = as_text(store.get("value"))
    score = store.held().get(member)
    return _missing(store, member) if score is None else Outcome(as_text(score), {"score": score}, "score")


def xadd(store: Store) -> Outcome:
    """Add an entry with some fields to a stream, and return its id."""
    held, stamp = store.held(), str(int(store.now.timestamp() * 1000))
    place = f"{stamp}-{sum(entry['id'].startswith(stamp) for entry in held)}"
    return _added(store, place, [*held, {"id": place, "fields": as_object(store.get("fields"))}], id=place)
