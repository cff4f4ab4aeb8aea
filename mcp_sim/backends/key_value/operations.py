"""The operations of a key-value store, and the words and arguments by which tools mean them."""

from __future__ import annotations

import re

from mcp_sim.backends.matching.matched_tools import both, either, lacks, takes
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import FLAG, LIST, TEXT, Operation, Test, pick, role, roles
from mcp_sim.types.lexicon.english import singular, snake, vocabulary
from mcp_sim.types.plans import Verb

_INTEGER = frozenset({"integer"})
_KEY_NAMES = "key old_key name setting variable setting_name variable_name memory_key"
_KEY_OR_KEYS = role("key", f"{_KEY_NAMES} keys names")
_ROLES = roles(
    role("key", _KEY_NAMES),
    role("value", "value data content new_value"),
    role("keys", types=LIST),
    role("entries", "entries items pairs values data"),
    role("space", "namespace collection bucket scope store section hash category", TEXT),
    role("pattern", "pattern prefix match query filter search", TEXT),
    role("seconds", "ttl seconds expire_seconds expiration expire expires_in ttl_seconds ex"),
    role("amount", "amount by increment delta step value"),
    role("limit", "limit count", _INTEGER),
    role("target", "new_key new_name destination target to", TEXT),
    role("fresh", "nx only_if_absent if_not_exists", FLAG),
    role("default", "default default_value"),
)
_COMMAND_ROLES = roles(
    role("key", "name hash_name hash_key list_name set_name stream hash list set key"),
    role("field", "field field_name key"),
    role("value", "value member element values members"),
    role("fields", "fields mapping entries values"),
    role("score"),
    role("start", "start index from"),
    role("stop", "stop end to"),
    role("count", "count limit"),
    role("with_scores", types=FLAG),
    role("channel", "channel channel_name"),
    role("message", "message payload"),
    role("entry", "entry_id id"),
    role("seconds", "expire_seconds expire expiration ttl seconds ex"),
)

_STORES = vocabulary(
    "key value kv cache memory setting preference config configuration variable store redis entry secret"
)
DATABASES = vocabulary("redis valkey keydb dragonfly memcached upstash etcd")
"""Words for databases that answer, instead of failing, if a key does not exist."""
_MENTIONS = DATABASES | vocabulary("key keys")
_BEGINNING = 12
"""How many words of a description are searched for the mention of a store."""


# tests of tools -------------------------------------------------------------------------------------------------------


def _mentions_keys(profile: ToolProfile) -> bool:
    return not _MENTIONS.isdisjoint(re.findall(r"[a-z]+", profile.description)[:_BEGINNING])


def _is_of_store(profile: ToolProfile) -> bool:
    """Whether the name, the description or an argument mentions a store or its keys."""
    arguments = {singular(snake(name)) for name in profile.arguments}
    return not (_STORES.isdisjoint(profile.nouns) and arguments.isdisjoint({"key", "entry"})) or _mentions_keys(profile)


def _called(line: str) -> Test:
    """Return a test whether the name of a tool of a store contains one of these words."""
    known = vocabulary(line)
    return lambda profile: not known.isdisjoint(profile.words) and _is_of_store(profile)


def _is_command(name: str) -> Test:
    """Return a test whether the name of a tool is a command, or ends with it."""
    return lambda profile: bool(profile.words) and name in {"".join(profile.words), profile.words[-1]}


def _filters_entries(profile: ToolProfile) -> bool:
    """Whether a tool takes nothing but optional filters."""
    return not profile.needed and profile.selector is None


def _names_keys(profile: ToolProfile) -> bool:
    """Whether a tool lists keys without values."""
    return not {"key", "keys", "scan"}.isdisjoint(profile.words) or "keys" in profile.tool.description


def _is_type_of_key(profile: ToolProfile) -> bool:
    return _is_command("type")(profile) and (_mentions_keys(profile) or [*profile.arguments] == ["key"])


_SETS = _called("set mset put store save write remember update add create insert")
_GETS = _called("get mget read fetch retrieve recall lookup load show")
_DELETES = _called("delete del remove forget unset invalidate evict")
_LISTS = either(_called("list keys scan ls all browse"), both(_GETS, lacks(_ROLES["key"])))


# tables ---------------------------------------------------------------------------------------------------------------


def _command(name: str, line: str, verb: Verb = "get", run: str = "") -> Operation:
    return Operation(name, f"structures:{run or name}", verb, pick(line, _COMMAND_ROLES), _is_command(name))


def _entry(name: str, line: str, means: Test, verb: Verb = "get", run: str = "") -> Operation:
    return Operation(name, f"entries:{run or name}", verb, pick(line, _ROLES), means)


COMMANDS = (
    _command("hset", "key field value seconds?", "update"),
    _command("hget", "key field"),
    _command("hdel", "key field", "delete"),
    _command("hgetall", "key"),
    _command("hkeys", "key", run="members"),
    _command("hvals", "key"),
    _command("hlen", "key", run="size"),
    _command("hexists", "key field"),
    _command("lpush", "key value seconds?", "update", "push"),
    _command("rpush", "key value seconds?", "update", "push"),
    _command("lpop", "key", "update", "pop"),
    _command("rpop", "key", "update", "pop"),
    _command("lrange", "key start stop"),
    _command("llen", "key", run="size"),
    _command("lindex", "key start"),
    _command("lrem", "key value count?", "update"),
    _command("sadd", "key value seconds?", "update"),
    _command("srem", "key value", "update", "remove_members"),
    _command("smembers", "key", run="members"),
    _command("sismember", "key value"),
    _command("scard", "key", run="size"),
    _command("zadd", "key value score seconds?", "update"),
    _command("zrem", "key value", "update", "remove_members"),
    _command("zrange", "key start? stop? with_scores?"),
    _command("zscore", "key value"),
    _command("zcard", "key", run="size"),
    _command("xadd", "key fields seconds?", "update"),
    _command("xrange", "key count?"),
    _command("xlen", "key", run="size"),
    _command("xdel", "key entry", "update"),
    _command("publish", "channel message"),
    Operation("type", "structures:kind_of", "get", pick("key", _COMMAND_ROLES), _is_type_of_key),
)
"""Commands on structures under keys, named as in Redis."""
ENTRIES = (
    _entry("increment", "key amount? space?", _called("increment incr incrby"), "update"),
    _entry("decrement", "key amount? space?", _called("decrement decr decrby"), "update"),
    _entry("append", "key value space?", _called("append"), "update"),
    _entry("persist", "key space?", _called("persist"), "update"),
    _entry("expire", "key seconds space?", _called("expire touch"), "update"),
    _entry("ttl", "key space?", _called("ttl")),
    _entry("rename", "key target space?", _called("rename"), "update"),
    _entry("exists", "key space?", _called("exists exist has contains")),
    _entry("count", "space?", _called("count size dbsize length")),
    _entry("clear", "pattern? space?", _called("clear flush flushall flushdb reset purge"), "delete"),
    _entry("set", "key value seconds? fresh? space?", _SETS, "update", "set_value"),
    _entry("set_many", "entries space?", both(_SETS, lacks(_ROLES["key"])), "update"),
    Operation("delete", "entries:delete", "delete", (_KEY_OR_KEYS, *pick("space?", _ROLES)), _DELETES),
    _entry("clear", "pattern? space?", both(_DELETES, lacks(_KEY_OR_KEYS)), "delete"),
    _entry("get_many", "keys space?", either(_GETS, _LISTS)),
    _entry("recall", "key? limit?", both(_GETS, _filters_entries, takes(*pick("key space limit", _ROLES))), "list"),
    _entry("keys", "pattern? limit? space?", both(_LISTS, _names_keys), "list", "list_keys"),
    _entry("list", "pattern? limit? space?", _LISTS, "list", "list_entries"),
    _entry("search", "pattern limit? space?", _called("search find"), "search"),
    _entry("get", "key default? space?", _GETS),
)
"""Operations on entries, in the order in which the words of a tool are compared."""
