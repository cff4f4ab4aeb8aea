"""Backend for tools that store values under keys chosen by the caller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from mcp_sim.plans.given import Given, Sought, is_named, take_given
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, lacks
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import Names, Operation, Test, pick, read_names, role
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.plans import Verb

_WORDS = read_names(__name__)
_ROLES, _NAMES = _WORDS.roles, _WORDS.facts
_KEY_OR_KEYS = role("key", " ".join((*_ROLES["key"].names, "keys", "names")))
_STORES = _WORDS.terms("store")
ENTRY = "entry"
DATABASES = _WORDS.terms("database")
"""Words for databases that answer, instead of failing, if a key does not exist."""
_MENTIONS = DATABASES | {"key", "keys"}


def _mentions_keys(profile: ToolProfile) -> bool:
    """Return whether a description mentions a database or keys at its beginning."""
    return not _MENTIONS.isdisjoint(re.findall(r"[a-z]+", profile.description)[:12])


def _is_of_store(profile: ToolProfile) -> bool:
    """Return whether the name, the description or an argument mentions a store or its keys."""
    arguments = {singular(snake(name)) for name in profile.arguments}
    return not (_STORES.isdisjoint(profile.nouns) and arguments.isdisjoint({"key", "entry"})) or _mentions_keys(profile)


def _called(*known: str) -> Test:
    """Return a test whether the name of a tool of a store contains one of these words."""
    words = frozenset(known)
    return lambda profile: not words.isdisjoint(profile.words) and _is_of_store(profile)


_SETS = _called(*_WORDS.terms("set"))
_GETS = _called(*_WORDS.terms("get"))
_DELETES = _called(*_WORDS.terms("delete"))
_NAMES_KEYS = either(_called("key", "keys", "scan"), lambda profile: "keys" in profile.tool.description)
_LISTS = either(_called(*_WORDS.terms("listing")), both(_GETS, lacks(_ROLES["key"])))


def _entry(name: str, line: str, means: Test, verb: Verb = "get", run: str = "") -> Operation:
    return Operation(name, f"entries:{run or name}", verb, pick(line, _ROLES), means)


_ENTRIES = (
    _entry("increment", "key amount? space?", _called("increment", "incr", "incrby"), "update"),
    _entry("decrement", "key amount? space?", _called("decrement", "decr", "decrby"), "update", "increment"),
    _entry("expire", "key seconds space?", _called("expire", "touch"), "update"),
    _entry("ttl", "key space?", _called("ttl")),
    _entry("exists", "key space?", _called("exists", "exist", "has", "contains")),
    _entry("count", "space?", _called("count", "size", "dbsize", "length")),
    _entry("clear", "pattern? space?", _called("clear", "flush", "flushall", "flushdb", "reset", "purge"), "delete"),
    _entry("set", "key value seconds? fresh? overwrite? space?", _SETS, "update", "set_value"),
    Operation("delete", "entries:delete", "delete", (_KEY_OR_KEYS, *pick("space?", _ROLES)), _DELETES),
    _entry("clear", "pattern? space?", both(_DELETES, lacks(_KEY_OR_KEYS)), "delete"),
    _entry("keys", "pattern? limit? space?", both(_LISTS, _NAMES_KEYS), "list", "list_entries"),
    _entry("list", "pattern? limit? space?", _LISTS, "list", "list_entries"),
    _entry("search", "pattern limit? space?", _called("search", "find"), "search", "list_entries"),
    _entry("get", "key default? space?", _GETS),
)
"""Operations on entries, in the order in which the words of a tool are compared."""
_STORED = {"key": Field("key", {"type": "string"}, required=True), "value": Field("value", {}, required=True)}
_TABLES = _WORDS.terms("table")
_FIELDS = _WORDS.terms("field")
"""Fields of rows that are entries; the row is a value if it has other ones."""


@backends.register("key_value")
class KeyValue(OperationsBackend):
    """Stores values of any kind under keys: entity `entry` (key, value), with namespaces and expiry.

    A store is empty at first, unless a state or records are given. Evidence is a tool that sets a value under a key and
    one that gets it. No required argument may mean something else.
    """

    order = 50
    operations = _ENTRIES
    lengthy = frozenset({"keys", "list", "clear"})
    request = "entries:Store"
    entities = (Entity(ENTRY, "key", None, _STORED, natural=True),)
    names: ClassVar[Names] = _NAMES

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept a store whose values are set and read."""
        return tools if {"set", "get"} <= {tool.name for tool in tools} else ()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the entries of tables named like a store. Where nothing else has tools, the state is the store."""
        state = _unwrapped(state)
        body = as_object(state)
        has_tables = not is_whole or len(body) == 1 or any(is_named(name, _TABLES) for name in body)
        given = take_given(
            state, [Sought(ENTRY, "key", _TABLES, plain="value", read=_given_entry)] if has_tables else []
        )
        if is_whole and not given.records.get(ENTRY):
            given = _given_whole(state)
        if any(tool.arguments.get("space") in tool.profile.needed for tool in matched):
            return Given({ENTRY: [entry for row in given.records.get(ENTRY, ()) for entry in _spaced(row)]}, given.rest)
        return given


def _unwrapped(state: Json) -> Json:
    """Return a state without tables that only hold a table: `{cache: {settings: {...}}}` holds settings."""
    body = as_object(state)
    inner = as_object(next(iter(body.values()), None))
    is_nested = len(body) == len(inner) == 1 and all(is_named(name, _TABLES) for name in (*body, *inner))
    is_table = is_nested and isinstance(next(iter(inner.values())), dict | list)
    return _unwrapped(inner) if is_table else state


def _given_whole(state: Json) -> Given:
    entries = [entry for row in rows_of(state, "key", "value") or () if (entry := _given_entry(row)) is not None]
    return Given({ENTRY: entries}, None if entries else state)


def _given_entry(row: Record) -> Record | None:
    """Return a row of a given state as an entry; None if it has no key."""
    key, space = row.get("key", row.get("name")), row.get("namespace")
    if not isinstance(key, str | int):
        return None
    if "value" not in row or not row.keys() <= _FIELDS:
        return {"key": str(key), "value": {name: value for name, value in row.items() if name != "key"}}
    kept = {name: row[name] for name in ("value", "namespace", "expires_at") if name in row}
    return {"key": f"{space}:{key}" if space else str(key), **kept}


def _spaced(row: Record) -> list[Record]:
    """Return the entries of a namespace, if a row is one: an object of values by key. Return other rows as they are."""
    space, values = row["key"], {} if "namespace" in row else as_object(row["value"])
    return [{"key": f"{space}:{key}", "value": value, "namespace": space} for key, value in values.items()] or [row]
