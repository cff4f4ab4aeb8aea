"""Match the tools of a server to operations on a key-value store.

Evidence is a tool that sets a value under a key and one that gets it, an argument called `key`, or names that mention
a store. No required argument may mean something else. Redis commands on structures match by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Tool
from mcp_sim.types.lexicon.english import singular, snake, vocabulary, words
from mcp_sim.types.plans import Plan, Verb

_KEY = ("name", "hash_name", "hash_key", "list_name", "set_name", "stream", "hash", "list", "set", "key")
_COMMAND_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "key": _KEY, "field": ("field", "field_name", "key"), "value": ("value", "member", "element", "values", "members"),
    "fields": ("fields", "mapping", "entries", "values"), "score": ("score",), "start": ("start", "index", "from"),
    "stop": ("stop", "end", "to"), "count": ("count", "limit"), "with_scores": ("with_scores", "withscores"),
    "channel": ("channel", "channel_name"), "message": ("message", "payload"),
    "entry": ("entry_id", "id"), "seconds": ("expire_seconds", "expire", "expiration", "ttl", "seconds", "ex"),
}  # fmt: skip
_COMMAND_NEEDS: Mapping[str, str] = {
    "hset": "key field value", "hget": "key field", "hdel": "key field", "hgetall": "key", "hkeys": "key",
    "hvals": "key", "hlen": "key", "hexists": "key field", "lpush": "key value", "rpush": "key value", "lpop": "key",
    "rpop": "key", "lrange": "key start stop", "llen": "key", "lindex": "key start", "lrem": "key value",
    "sadd": "key value", "srem": "key value", "smembers": "key", "sismember": "key value", "scard": "key",
    "zadd": "key value score", "zrem": "key value", "zrange": "key", "zscore": "key value", "zcard": "key",
    "xadd": "key fields", "xrange": "key", "xlen": "key", "xdel": "key entry", "type": "key",
    "publish": "channel message",
}  # fmt: skip
_COMMAND_OPTIONS: Mapping[str, str] = {
    "hset": "seconds", "lpush": "seconds", "rpush": "seconds", "lrem": "count", "sadd": "seconds", "zadd": "seconds",
    "zrange": "start stop with_scores", "xadd": "seconds", "xrange": "count",
}  # fmt: skip
_COMMAND_WRITES = frozenset(
    {"hset", "lpush", "rpush", "lpop", "rpop", "lrem", "sadd", "srem", "zadd", "zrem", "xadd", "xdel"}
)
ENTRY = "entry"
_KEYS = ("key", "old_key", "name", "setting", "variable", "setting_name", "variable_name", "memory_key")
_VALUES = ("value", "data", "content", "new_value")
_SPACES = ("namespace", "collection", "bucket", "scope", "store", "section", "hash", "category")
_STORES = vocabulary(
    "key value kv cache memory setting preference config configuration variable store redis entry secret"
)
_DATABASES = vocabulary("redis valkey keydb dragonfly memcached upstash etcd")
_MENTIONS = _DATABASES | vocabulary("key keys")
_ENOUGH = 4
"""The fewest commands on structures that make a store."""

_BEGINNING = 12
"""How many words of a description are searched for the mention of a store."""

_VERBS: dict[str, Verb] = {
    "set": "update", "get": "get", "delete": "delete", "exists": "get", "list": "list", "increment": "update",
    "decrement": "update", "append": "update", "expire": "update", "ttl": "get", "clear": "delete", "get_many": "get",
    "set_many": "update", "rename": "update", "count": "get", "search": "search", "persist": "update",
    "recall": "list",
}  # fmt: skip
_NEEDS = {
    "set": ("key", "value"), "get": ("key",), "delete": ("key",), "exists": ("key",), "increment": ("key",),
    "decrement": ("key",), "append": ("key", "value"), "expire": ("key", "seconds"), "ttl": ("key",),
    "get_many": ("keys",), "set_many": ("entries",), "rename": ("key", "target"), "persist": ("key",),
    "search": ("pattern",),
}  # fmt: skip
_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "key": (_KEYS, ""), "value": (_VALUES, ""), "keys": (("keys", "names"), "array"),
    "entries": (("entries", "items", "pairs", "values", "data"), ""), "space": (_SPACES, "string"),
    "pattern": (("pattern", "prefix", "match", "query", "filter", "search"), "string"),
    "seconds": (("ttl", "seconds", "expire_seconds", "expiration", "expire", "expires_in", "ttl_seconds", "ex"), ""),
    "amount": (("amount", "by", "increment", "delta", "step", "value"), ""), "limit": (("limit", "count"), "integer"),
    "target": (("new_key", "new_name", "destination", "target", "to"), "string"),
    "fresh": (("nx", "only_if_absent", "if_not_exists"), "boolean"), "default": (("default", "default_value"), ""),
}  # fmt: skip
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("increment", ("increment", "incr", "incrby")), ("decrement", ("decrement", "decr", "decrby")),
    ("append", ("append",)), ("persist", ("persist",)), ("expire", ("expire", "touch")), ("ttl", ("ttl",)),
    ("rename", ("rename",)), ("exists", ("exists", "exist", "has", "contains")),
    ("count", ("count", "size", "dbsize", "length")),
    ("clear", ("clear", "flush", "flushall", "flushdb", "reset", "purge")),
    ("list", ("list", "keys", "scan", "ls", "all", "browse")), ("search", ("search", "find")),
    ("set", ("set", "mset", "put", "store", "save", "write", "remember", "update", "add", "create", "insert")),
    ("delete", ("delete", "del", "remove", "forget", "unset", "invalidate", "evict")),
    ("get", ("get", "mget", "read", "fetch", "retrieve", "recall", "lookup", "load", "show")),
)  # fmt: skip


def command_of(profile: ToolProfile) -> tuple[str, dict[str, str]] | None:
    """Return the command that a tool is named after and its arguments by role, or None."""
    name = next((word for word in ("".join(profile.words), *profile.words[-1:]) if word in _COMMAND_NEEDS), None)
    if name is None:
        return None
    roles: dict[str, str] = {}
    for role in (*_COMMAND_NEEDS[name].split(), *_COMMAND_OPTIONS.get(name, "").split()):
        found = next(
            (
                one
                for other in _COMMAND_ARGUMENTS[role]
                if (one := profile.argument((other,))) not in (None, *roles.values())
            ),
            None,
        )
        if found is not None:
            roles[role] = found
    is_whole = all(role in roles for role in _COMMAND_NEEDS[name].split()) and profile.needed <= set(roles.values())
    return (name, roles) if is_whole else None


def verb_of(command: str) -> Verb:
    """Return the verb of a command."""
    return "delete" if command == "hdel" else "update" if command in _COMMAND_WRITES else "get"


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of a server's tools, if one sets a value under a key and one gets it."""
    found = [(profile, one) for profile in listed for one in judged(profile)]
    operations = {operation for _, (operation, _) in found}
    has_values = "set" in operations and operations & {"get", "get_many", "recall"}
    if not has_values and len(operations - _VERBS.keys()) < _ENOUGH:
        return []
    if "recall" in operations:
        found = [(profile, (operation, _without_space(profile, roles))) for profile, (operation, roles) in found]
    plans: dict[str, Plan] = {}
    for profile, (operation, roles) in found:
        reasons = (f"'{' '.join(profile.words)}' means {operation} under a key",)
        chosen = profile.selector is not None
        arguments = {"operation": profile.selector or ""} if chosen else roles
        verb = "update" if chosen else _VERBS.get(operation) or verb_of(operation)
        named = "" if chosen else operation
        plans[profile.tool.id] = Plan(
            profile.tool.id, verb, ENTRY, "key_value", named, arguments, confidence=0.85, reasons=reasons
        )
    return list(plans.values())


def _without_space(profile: ToolProfile, roles: Mapping[str, str]) -> dict[str, str]:
    """Return the roles without an optional namespace, which filters entries instead."""
    return {role: name for role, name in roles.items() if role != "space" or name in profile.needed}


def judged(profile: ToolProfile) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the operations that a tool may be, with their arguments by role."""
    command = command_of(profile)
    is_of_keys = _mentions_keys(profile) or [*profile.arguments] == ["key"]
    if command is not None and (command[0] != "type" or is_of_keys):
        yield command
        return
    operation = _operation(profile)
    if operation is None:
        return
    roles = _roles(profile, operation)
    is_kept = _is_keyed(profile, roles) or not _NEEDS.get(operation)
    if is_kept and all(role in roles for role in _NEEDS.get(operation, ())) and profile.needed <= set(roles.values()):
        yield operation, roles


def is_database(tool: Tool) -> bool:
    """Whether the store is a database that answers, instead of failing, if a key does not exist."""
    spoken = {*words(tool.server), *re.findall(r"[a-z]+", tool.description.lower())}
    return bool(_DATABASES & spoken)


def _mentions_keys(profile: ToolProfile) -> bool:
    return bool(_MENTIONS.intersection(re.findall(r"[a-z]+", profile.description)[:_BEGINNING]))


def _operation(profile: ToolProfile) -> str | None:
    named = _STORES.intersection((*profile.nouns, *(singular(snake(name)) for name in profile.arguments)))
    if not named and not _mentions_keys(profile):
        return None
    many = profile.argument(("keys",), ("array",)) is not None
    operation = next((name for name, words in _WORDS if set(words).intersection(profile.words)), None)
    if operation == "list" and {"value", "key"} <= {snake(name) for name in profile.needed}:
        return "set"
    if operation == "get" and not profile.needed and not profile.argument(_KEYS):
        return "list"
    if operation == "get" and _recalls(profile):
        return "recall"
    if operation == "set" and not profile.argument(_KEYS) and profile.argument(_ARGUMENTS["entries"][0]):
        return "set_many"
    return "get_many" if many and operation in {"get", "list"} else operation


def _recalls(profile: ToolProfile) -> bool:
    """Whether the tool returns all entries that optional arguments filter."""
    space, limit = profile.argument(_SPACES, ("string",)), profile.argument(("limit", "page_size"))
    return not profile.needed and profile.selector is None and None not in (space, limit, profile.argument(("key",)))


def _is_keyed(profile: ToolProfile, roles: Mapping[str, str]) -> bool:
    """Whether an argument is called a key, or the tool's name mentions a store."""
    key = snake(roles.get("key", roles.get("keys", "")))
    return (
        key in {"key", "keys"}
        or bool(_STORES.intersection(profile.nouns))
        or bool({"pattern", "entries"} & roles.keys())
        or _mentions_keys(profile)
    )


def _roles(profile: ToolProfile, operation: str) -> dict[str, str]:
    wanted = [*_NEEDS.get(operation, ()), "space"]
    wanted += {"set": ["seconds", "fresh"], "list": ["pattern", "limit"], "get": ["default"], "delete": ["keys"],
               "recall": ["key", "limit"],
               "increment": ["amount"], "decrement": ["amount"], "search": ["limit"]}.get(operation, [])  # fmt: skip
    found: dict[str, str] = {}
    for role in wanted:
        names, kind = _ARGUMENTS[role]
        argument = profile.argument(names, (kind,) if kind else ())
        if argument is not None and argument not in found.values():
            found[role] = argument
    if "key" not in found and "keys" in found and operation == "delete":
        found["key"] = found["keys"]
    return found
