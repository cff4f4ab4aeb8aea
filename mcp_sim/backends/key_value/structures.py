"""Commands on hashes, lists, sets, sorted sets and streams under keys, like those of Redis.

An empty structure is removed with its key. A command on a key of another kind is refused. A missing key is no failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_sim.backends.key_value.store import Store
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text
from mcp_sim.types import Change, Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def _held(store: Store, kind: str) -> Any:
    """Return the structure under the key, or an empty one. Raises Refused if it is of another kind."""
    entry = store.entry(store.key)
    if entry is None:
        return {} if kind in {"hash", "zset"} else []
    if entry.get("kind") != kind:
        raise Refused("invalid", f"Key {store.key} holds a {entry.get('kind', 'string')}, not a {kind}", key=store.key)
    return entry["value"]


def _kept(store: Store, kind: str, value: Json) -> tuple[Change, ...]:
    before = store.entry(store.key)
    if not value:
        return () if before is None else (store.drop(store.key),)
    until = store.until() or (before or {}).get("expires_at")
    return (store.put(store.key, value, until, kind),)


def _missing(store: Store, kind: str) -> Outcome:
    facts: Record = {"key": store.key, "exists": False}
    return Outcome(f"{kind.capitalize()} {store.key} not found", facts, is_absent=True)


def _published(store: Store) -> Outcome:
    """Publish a message. There are no subscribers."""
    channel = store.get("channel")
    return Outcome(f"Message published to channel {channel}", {"channel": channel, "count": 0, "subscribers": 0})


def _many(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [value]


def _joined(values: list[Json]) -> str:
    return ", ".join(map(as_text, values))


# hashes ---------------------------------------------------------------------------------------------------------------


def _hset(store: Store) -> Outcome:
    field = store.get("field")
    new = as_object(store.get("fields")) if field is None else {str(field): store.get("value")}
    value = {**_held(store, "hash"), **{name: as_text(one) for name, one in new.items()}}
    text = f"Successfully set {_joined([*new])} in hash {store.key}"
    return Outcome(text, {"key": store.key, "count": len(new)}, changes=_kept(store, "hash", value))


def _hget(store: Store) -> Outcome:
    held, field = _held(store, "hash"), str(store.get("field"))
    if field not in held:
        return _no_field(store, field)
    return Outcome(as_text(held[field]), {"value": held[field], "key": store.key}, "value")


def _no_field(store: Store, field: str) -> Outcome:
    return Outcome(f"Field {field} not found in hash {store.key}", {"key": store.key, "deleted": False, "count": 0})


def _hdel(store: Store) -> Outcome:
    held = _held(store, "hash")
    fields = [str(one) for one in _many(store.get("field")) if str(one) in held]
    if not fields:
        return _no_field(store, _joined(_many(store.get("field"))))
    left = {name: value for name, value in held.items() if name not in fields}
    text = f"Successfully deleted {_joined([*fields])} from hash {store.key}"
    return Outcome(text, {"count": len(fields), "deleted": True}, changes=_kept(store, "hash", left))


def _hgetall(store: Store) -> Outcome:
    held = _held(store, "hash")
    return Outcome(as_text(held), {"value": held}, "value", is_json=True) if held else _missing(store, "hash")


def _hkeys(store: Store) -> Outcome:
    return _listed([*_held(store, "hash")])


def _hvals(store: Store) -> Outcome:
    return _listed([*_held(store, "hash").values()])


def _hlen(store: Store) -> Outcome:
    return _number(len(_held(store, "hash")))


def _hexists(store: Store) -> Outcome:
    return _yes(str(store.get("field")) in _held(store, "hash"))


def _listed(values: list[Json]) -> Outcome:
    return Outcome(as_text(values), {"members": values, "count": len(values)}, "members", is_json=True)


def _number(count: int) -> Outcome:
    return Outcome(str(count), {"count": count}, "count")


def _yes(found: bool) -> Outcome:
    return Outcome(as_text(found), {"exists": found}, "exists")


# lists ----------------------------------------------------------------------------------------------------------------


def _pushed(store: Store, *, left: bool) -> Outcome:
    new = [as_text(one) for one in _many(store.get("value"))]
    held = [*reversed(new), *_held(store, "list")] if left else [*_held(store, "list"), *new]
    text = f"Successfully added {_joined([*new])} to list {store.key}"
    return Outcome(text, {"key": store.key, "count": len(held)}, changes=_kept(store, "list", held))


def _popped(store: Store, *, left: bool) -> Outcome:
    held = _held(store, "list")
    if not held:
        return _missing(store, "list")
    value, rest = (held[0], held[1:]) if left else (held[-1], held[:-1])
    return Outcome(as_text(value), {"value": value, "key": store.key}, "value", changes=_kept(store, "list", rest))


def _span(store: Store, values: list[Any]) -> list[Any]:
    """Return the values from `start` to `stop`, both included. Negative positions count from the end."""
    first, last = (_place(store.get(role, usual), len(values)) for role, usual in (("start", 0), ("stop", -1)))
    return values[max(first, 0) : last + 1]


def _place(value: Json, size: int) -> int:
    at = int(value) if isinstance(value, int | float) else 0
    return at + size if at < 0 else at


def _lrange(store: Store) -> Outcome:
    return _listed(_span(store, _held(store, "list")))


def _llen(store: Store) -> Outcome:
    return _number(len(_held(store, "list")))


def _lindex(store: Store) -> Outcome:
    held, at = _held(store, "list"), _place(store.get("start"), len(_held(store, "list")))
    return Outcome(as_text(held[at]), {"value": held[at]}, "value") if 0 <= at < len(held) else _missing(store, "list")


def _lrem(store: Store) -> Outcome:
    held, value, count = _held(store, "list"), as_text(store.get("value")), int(store.get("count", 0))
    places = [at for at, one in enumerate(held) if one == value]
    chosen = places if not count else places[:count] if count > 0 else places[count:]
    if not chosen:
        return Outcome(f"{value} not found in list {store.key}", {"count": 0, "key": store.key})
    left = [one for at, one in enumerate(held) if at not in chosen]
    text = f"Successfully removed {len(chosen)} of {value} from list {store.key}"
    return Outcome(text, {"count": len(chosen), "key": store.key}, changes=_kept(store, "list", left))


# sets -----------------------------------------------------------------------------------------------------------------


def _sadd(store: Store) -> Outcome:
    held = _held(store, "set")
    new = [as_text(one) for one in dict.fromkeys(map(as_text, _many(store.get("value")))) if as_text(one) not in held]
    text = f"Successfully added {_joined(_many(store.get('value')))} to set {store.key}"
    return Outcome(text, {"count": len(new), "key": store.key}, changes=_kept(store, "set", [*held, *new]))


def _srem(store: Store) -> Outcome:
    held, asked = _held(store, "set"), [as_text(one) for one in _many(store.get("value"))]
    gone = [one for one in asked if one in held]
    if not gone:
        return Outcome(f"{_joined([*asked])} not found in set {store.key}", {"count": 0, "key": store.key})
    left = [one for one in held if one not in gone]
    text = f"Successfully removed {_joined([*gone])} from set {store.key}"
    return Outcome(text, {"count": len(gone), "key": store.key}, changes=_kept(store, "set", left))


def _smembers(store: Store) -> Outcome:
    held = _held(store, "set")
    return _listed(held) if held else _missing(store, "set")


def _sismember(store: Store) -> Outcome:
    return _yes(as_text(store.get("value")) in _held(store, "set"))


def _scard(store: Store) -> Outcome:
    return _number(len(_held(store, "set")))


# sorted sets ----------------------------------------------------------------------------------------------------------


def _zadd(store: Store) -> Outcome:
    member, score = as_text(store.get("value")), store.get("score")
    value = {**_held(store, "zset"), member: score}
    text = f"Successfully added {member} to sorted set {store.key} with score {as_text(score)}"
    return Outcome(text, {"count": 1, "key": store.key}, changes=_kept(store, "zset", value))


def _zrem(store: Store) -> Outcome:
    held, member = _held(store, "zset"), as_text(store.get("value"))
    if member not in held:
        return Outcome(f"{member} not found in sorted set {store.key}", {"count": 0, "key": store.key})
    left = {name: score for name, score in held.items() if name != member}
    return Outcome(
        f"Successfully removed {member} from sorted set {store.key}", {"count": 1}, changes=_kept(store, "zset", left)
    )


def _zrange(store: Store) -> Outcome:
    held = _held(store, "zset")
    ordered = _span(store, sorted(held.items(), key=lambda one: (one[1], one[0])))
    if not ordered:
        return _missing(store, "sorted set")
    scored = store.get("with_scores") is True
    return _listed([[name, score] if scored else name for name, score in ordered])


def _zscore(store: Store) -> Outcome:
    held, member = _held(store, "zset"), as_text(store.get("value"))
    if member not in held:
        return Outcome(f"{member} not found in sorted set {store.key}", {"key": store.key})
    return Outcome(as_text(held[member]), {"score": held[member]}, "score")


def _zcard(store: Store) -> Outcome:
    return _number(len(_held(store, "zset")))


# streams --------------------------------------------------------------------------------------------------------------


def _xadd(store: Store) -> Outcome:
    held = _held(store, "stream")
    stamp = str(int(store.now.timestamp() * 1000))
    place = f"{stamp}-{sum(one['id'].startswith(stamp) for one in held)}"
    entry: Record = {"id": place, "fields": as_object(store.get("fields"))}
    text = f"Successfully added {place} to stream {store.key}"
    return Outcome(text, {"id": place, "key": store.key}, changes=_kept(store, "stream", [*held, entry]))


def _xrange(store: Store) -> Outcome:
    held, count = _held(store, "stream"), store.get("count")
    if not held:
        return _missing(store, "stream")
    return _listed([[one["id"], one["fields"]] for one in (held[:count] if isinstance(count, int) else held)])


def _xlen(store: Store) -> Outcome:
    return _number(len(_held(store, "stream")))


def _xdel(store: Store) -> Outcome:
    held, place = _held(store, "stream"), str(store.get("entry"))
    left = [one for one in held if one["id"] != place]
    if len(left) == len(held):
        return Outcome(f"{place} not found in stream {store.key}", {"count": 0, "key": store.key})
    text = f"Successfully deleted {place} from stream {store.key}"
    return Outcome(text, {"count": 1, "key": store.key}, changes=_kept(store, "stream", left))


def _type(store: Store) -> Outcome:
    """Return the kind of the structure under a key, or `none`."""
    entry = store.entry(store.key)
    kind = "none" if entry is None else entry.get("kind", "string")
    seconds = store.seconds_left(entry) if entry is not None else -2
    return Outcome(kind, {"key": store.key, "type": kind, "ttl": seconds}, "type")


STRUCTURES: Mapping[str, Callable[[Store], Outcome]] = {
    "hset": _hset, "hget": _hget, "hdel": _hdel, "hgetall": _hgetall, "hkeys": _hkeys, "hvals": _hvals, "hlen": _hlen,
    "hexists": _hexists, "lpush": lambda store: _pushed(store, left=True), "lrange": _lrange, "llen": _llen,
    "rpush": lambda store: _pushed(store, left=False), "lpop": lambda store: _popped(store, left=True),
    "rpop": lambda store: _popped(store, left=False), "lindex": _lindex, "lrem": _lrem, "sadd": _sadd, "srem": _srem,
    "smembers": _smembers, "sismember": _sismember, "scard": _scard, "zadd": _zadd, "zrem": _zrem, "zrange": _zrange,
    "zscore": _zscore, "zcard": _zcard, "xadd": _xadd, "xrange": _xrange, "xlen": _xlen, "xdel": _xdel, "type": _type,
    "publish": _published,
}  # fmt: skip
"""The commands by name."""
