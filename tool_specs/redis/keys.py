"""Keys of a Redis database: their types, when they expire, patterns, and the world that they begin with."""

import json
import re
from datetime import datetime, timedelta

from mcp_sim.libraries.patterns import search_test

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
LAST = "9999-12-31T23:59:59+00:00"
LONGEST = 500
"""The longest pattern that is matched; longer ones are no use, and their expressions are refused."""
SHOP = {
    "config:currency": "EUR",
    "counter:orders": "4817",
    "session:9f3c": '{"user": 17, "theme": "dark"}',
    "user:17": {"name": "Ada Vos", "plan": "pro", "city": "Utrecht"},
    "user:18": {"name": "Kofi Mensah", "plan": "free", "city": "Ghent"},
    "queue:mail": ["order-4815", "order-4816"],
    "tags:sale": {"type": "set", "value": ["tyres", "bells", "lamps"]},
    "board:week": {"type": "zset", "value": {"Ada Vos": 120, "Kofi Mensah": 95.5}},
}
"""What a database holds if the scenario gives no state: a part of a shop's."""
STRINGS = {key: value for key, value in SHOP.items() if isinstance(value, str)}


def plain(value):
    """Return a value as Redis stores it: a text."""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict) else str(value)


def live(world, key):
    """Return the row of a key, or None; expired ones are gone."""
    row = world.entry.get(key)
    return None if row is None or is_over(world, row) else row


def is_over(world, row):
    return row["expires"] is not None and datetime.fromisoformat(row["expires"]) <= world.now


def write(world, key, kind, value, seconds=None):
    """Put a value under a key, whatever it was before, and return its row."""
    expires = later(world, seconds) if seconds else None
    row = world.entry.get(key)
    if row is None:
        return world.entry.add({"key": key, "type": kind, "value": value, "expires": expires})
    row.update({"type": kind, "value": value, "expires": expires})
    return row


def later(world, seconds):
    try:
        return (world.now + timedelta(seconds=seconds)).isoformat()
    except OverflowError:
        return LAST


def matching(world, pattern):
    """Return the keys that a glob of Redis matches."""
    test = test_of(pattern)
    return [row["key"] for row in world.entry if not is_over(world, row) and test(row["key"])]


def test_of(pattern):
    """Return a test whether a glob matches the whole of a text."""
    if len(pattern) > LONGEST:
        return lambda text: text == pattern
    return search_test(rf"\A(?s:{regex(pattern)})\z")


def regex(pattern):
    """Translate a glob: `*`, `?`, `[abc]`, `[^a]`, `[a-z]`, and a backslash before what is meant literally."""
    parts = re.findall(r"\\.|\*|\?|\[\^?(?:\\.|[^\]])*\]|.", pattern, re.DOTALL)
    return "".join(map(_translated, parts))


def _translated(part):
    if part in {"*", "?"}:
        return {"*": ".*", "?": "."}[part]
    if len(part) > 1 and part[0] == "[":
        return f"[{'^' * (part[1] == '^')}{part[1 + (part[1] == '^') : -1].replace('[', chr(92) + '[')}]"
    return re.escape(part[-1])


def fill(world, given):
    """Add the keys of a state: texts, lists, objects as hashes, or `{type: set, value: [...]}`."""
    for key, entry in given.items():
        is_typed = isinstance(entry, dict) and entry.keys() == {"type", "value"}
        value = entry["value"] if is_typed else entry
        kind = entry["type"] if is_typed else {list: "list", dict: "hash"}.get(type(value), "string")
        world.entry.add({"key": key, "type": kind, "value": stored(kind, value)})


def stored(kind, value):
    match kind:
        case "hash":
            return {name: plain(inner) for name, inner in value.items()}
        case "list" | "set":
            return [plain(item) for item in value]
        case "zset":
            return {name: float(score) for name, score in value.items()}
        case "string":
            return plain(value)
    return value


def seconds_left(world, row):
    """Return in how many seconds a key expires; -1 for never, -2 if there is no key."""
    if row is None:
        return -2
    return -1 if row["expires"] is None else round((datetime.fromisoformat(row["expires"]) - world.now).total_seconds())


def sections(world):
    """Return what the server reports about itself, by section."""
    count = len(matching(world, "*"))
    expiring = sum(row["expires"] is not None for row in world.entry if not is_over(world, row))
    return {
        "server": {"redis_version": "8.0.3", "redis_mode": "standalone", "os": "Linux 6.1.0 x86_64", "tcp_port": 6379,
                   "uptime_in_seconds": 864211, "uptime_in_days": 10},
        "clients": {"connected_clients": 3, "maxclients": 10000, "blocked_clients": 0},
        "memory": {"used_memory": 1048576 + 120 * count, "used_memory_human": "1.00M", "maxmemory": 0,
                   "maxmemory_policy": "noeviction"},
        "stats": {"total_connections_received": 412, "total_commands_processed": 90210, "keyspace_hits": 3120,
                  "keyspace_misses": 97, "expired_keys": 12, "evicted_keys": 0},
        "replication": {"role": "master", "connected_slaves": 0},
        "cpu": {"used_cpu_sys": 95.4, "used_cpu_user": 141.2},
        "keyspace": {"db0": {"keys": count, "expires": expiring, "avg_ttl": 0}} if count else {},
    }  # fmt: skip
