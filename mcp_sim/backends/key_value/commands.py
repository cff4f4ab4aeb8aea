"""Which of Redis's commands on structures is a tool, and which of its arguments is what?"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.backends.matching.purposes import Purpose
from mcp_sim.types.plans import Verb

_KEY = ("name", "hash_name", "hash_key", "list_name", "set_name", "stream", "hash", "list", "set", "key")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "key": _KEY, "field": ("field", "field_name", "key"), "value": ("value", "member", "element", "values", "members"),
    "fields": ("fields", "mapping", "entries", "values"), "score": ("score",), "start": ("start", "index", "from"),
    "stop": ("stop", "end", "to"), "count": ("count", "limit"), "with_scores": ("with_scores", "withscores"),
    "channel": ("channel", "channel_name"), "message": ("message", "payload"),
    "entry": ("entry_id", "id"), "seconds": ("expire_seconds", "expire", "expiration", "ttl", "seconds", "ex"),
}  # fmt: skip

_NEEDS: Mapping[str, str] = {
    "hset": "key field value", "hget": "key field", "hdel": "key field", "hgetall": "key", "hkeys": "key",
    "hvals": "key", "hlen": "key", "hexists": "key field", "lpush": "key value", "rpush": "key value", "lpop": "key",
    "rpop": "key", "lrange": "key start stop", "llen": "key", "lindex": "key start", "lrem": "key value",
    "sadd": "key value", "srem": "key value", "smembers": "key", "sismember": "key value", "scard": "key",
    "zadd": "key value score", "zrem": "key value", "zrange": "key", "zscore": "key value", "zcard": "key",
    "xadd": "key fields", "xrange": "key", "xlen": "key", "xdel": "key entry", "type": "key",
    "publish": "channel message",
}  # fmt: skip
_MAY: Mapping[str, str] = {
    "hset": "seconds", "lpush": "seconds", "rpush": "seconds", "lrem": "count", "sadd": "seconds", "zadd": "seconds",
    "zrange": "start stop with_scores", "xadd": "seconds", "xrange": "count",
}  # fmt: skip
_WRITES = frozenset({"hset", "lpush", "rpush", "lpop", "rpop", "lrem", "sadd", "srem", "zadd", "zrem", "xadd", "xdel"})


def command_of(purpose: Purpose) -> tuple[str, dict[str, str]] | None:
    """The command that a tool goes by, and what it needs -> the argument that gives it; None where it is none."""
    name = next((word for word in ("".join(purpose.words), *purpose.words[-1:]) if word in _NEEDS), None)
    if name is None:
        return None
    roles: dict[str, str] = {}
    for role in (*_NEEDS[name].split(), *_MAY.get(name, "").split()):
        found = next(
            (one for other in _NAMES[role] if (one := purpose.argument((other,))) not in (None, *roles.values())), None
        )
        if found is not None:
            roles[role] = found
    is_whole = all(role in roles for role in _NEEDS[name].split()) and purpose.needed <= set(roles.values())
    return (name, roles) if is_whole else None


def verb_of(command: str) -> Verb:
    """What a command does to the entries."""
    return "delete" if command == "hdel" else "update" if command in _WRITES else "get"
