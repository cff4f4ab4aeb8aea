"""Backend for tools that store values under keys chosen by the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mcp_sim.backends.given import Given, Sought, is_named, take_given
from mcp_sim.backends.key_value.operations import COMMANDS, ENTRIES
from mcp_sim.backends.key_value.store import ENTRY, KINDS
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import Names
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import vocabulary

_TABLES = vocabulary("store data entry cache memory setting kv value key storage preference variable redis")
_FIELDS = vocabulary("key name value kind type namespace expires_at about")
"""Fields of rows that are entries; the row is a value if it has other ones."""
_ENOUGH = 4
"""The fewest commands on structures that make a store."""


@backends.register("key_value")
class KeyValue(OperationsBackend):
    """Stores values of any kind under keys: entity `entry` (key, value), with namespaces and expiry.

    A store is empty at first, unless a state or records are given. Evidence is a tool that sets a value under a key and
    one that gets it, or several commands of Redis on structures. No required argument may mean something else.
    """

    order = 50
    operations = (*COMMANDS, *ENTRIES)
    request = "store:Store"
    entities = (
        Entity(
            ENTRY, "key", None, natural=True,
            fields={"key": Field("key", {"type": "string"}, required=True), "value": Field("value", {}, required=True)},
        ),
    )  # fmt: skip
    names: ClassVar[Names] = {
        "value": ("data", "content"), "keys": ("items", "results", "names", "matches"),
        "entries": ("items", "data", "values", "settings"), "exists": ("found", "present"),
        "seconds": ("ttl", "expires_in", "ttl_seconds"), "deleted": ("removed",),
        "count": ("total", "size", "deleted_count"),
    }  # fmt: skip

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept a store whose values are set and read, or that has several commands on structures.

        Where a tool recalls entries by optional filters, an optional namespace is one of their attributes.
        """
        names = {one.name for one in found}
        has_values = "set" in names and not names.isdisjoint({"get", "get_many", "recall"})
        if not has_values and len(names & {one.name for one in COMMANDS}) < _ENOUGH:
            return ()
        return [_without_space(one) for one in found] if "recall" in names else found

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the entries of tables named like a store. Where nothing else has tools, the state is the store."""
        given = _given_entries(state, is_whole=is_whole)
        if not any(one.arguments.get("space") in one.profile.needed for one in matched):
            return given
        return Given({ENTRY: [one for row in given.records.get(ENTRY, ()) for one in _spaced(row)]}, given.rest)

    def prepare(self, binding: Binding, domain: Domain) -> Mapping[str, Json]:
        """Return the defaults of arguments without a role: attributes of the entries that the tool writes."""
        declared = properties(expanded(binding.tool.input_schema)) if binding.tool is not None else {}
        taken = {*binding.arguments.values(), binding.selector}
        return {name: part["default"] for name, part in declared.items() if name not in taken and "default" in part}


def _without_space(one: MatchedTool) -> MatchedTool:
    kept = {role: name for role, name in one.arguments.items() if role != "space" or name in one.profile.needed}
    return replace(one, arguments=kept)


def _given_entries(state: Json, *, is_whole: bool) -> Given:
    state = _unwrapped(state)
    body = as_object(state)
    has_tables = not is_whole or len(body) == 1 or any(is_named(name, _TABLES) for name in body)
    found = take_given(state, [Sought(ENTRY, "key", _TABLES, plain="value", read=_entry)] if has_tables else [])
    if found.records.get(ENTRY) or not is_whole:
        return found
    entries = [_entry(row) for row in rows_of(state, "key", "value") or ()]
    return Given({ENTRY: [one for one in entries if one is not None]}, None if entries else state)


def _unwrapped(state: Json) -> Json:
    """Return a state without tables that only hold a table: `{cache: {settings: {...}}}` holds settings."""
    table = _only_table(state)
    return state if _only_table(table) is None else _unwrapped(table)


def _only_table(state: Json) -> Json:
    """Return the table that a state consists of, None if it is not a single one."""
    tables: list[Json] = [one for name, one in as_object(state).items() if is_named(name, _TABLES)]
    is_single = len(tables) == len(as_object(state)) == 1 and isinstance(tables[0], dict | list)
    return next(iter(tables)) if is_single else None


def _entry(row: Record) -> Record | None:
    """Return a row of a given state as an entry; None if it has no key."""
    key, space, kind = row.get("key", row.get("name")), row.get("namespace"), row.get("kind", row.get("type"))
    if not isinstance(key, str | int):
        return None
    if "value" not in row or not row.keys() <= _FIELDS:
        return {"key": str(key), "value": {name: value for name, value in row.items() if name != "key"}}
    kept = {name: row[name] for name in ("value", "namespace", "expires_at", "about") if name in row}
    kept |= {"kind": kind} if kind in KINDS.values() else {}
    return {"key": f"{space}:{key}" if space else str(key), **kept}


def _spaced(row: Record) -> Iterator[Record]:
    """Yield the entries of a namespace, if a row is one: an object of values by key."""
    space, value = row["key"], row["value"]
    if "namespace" in row or not isinstance(value, dict):
        yield row
        return
    for key, one in as_object(value).items():
        yield {"key": f"{space}:{key}", "value": one, "namespace": space}
