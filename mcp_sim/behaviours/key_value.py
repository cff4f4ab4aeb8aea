"""Tools that keep values under keys that the caller chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from mcp_sim.clock import iso
from mcp_sim.domain import Domain, Entity, Field, Plan, Verb
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, behaviours
from mcp_sim.json_text import encode
from mcp_sim.outcomes import Names, Outcome, Refused, answering
from mcp_sim.purposes import Purpose, purposes, purposes_of
from mcp_sim.records.times import moment_of
from mcp_sim.schemas import as_list, as_object, main_type
from mcp_sim.types import Change, Json, Record, Tool, Turn, View
from mcp_sim.words import singular, snake, vocabulary

ENTRY = "entry"
_KEYS = ("key", "name", "setting", "variable", "setting_name", "variable_name", "memory_key")
_VALUES = ("value", "data", "content", "new_value")
_SPACES = ("namespace", "collection", "bucket", "scope", "store", "section", "hash", "category")
_STORES = vocabulary(
    "key value kv cache memory setting preference config configuration variable store redis entry secret"
)
_VERBS: dict[str, Verb] = {
    "set": "update", "get": "get", "delete": "delete", "exists": "get", "list": "list", "increment": "update",
    "decrement": "update", "append": "update", "expire": "update", "ttl": "get", "clear": "delete", "get_many": "get",
    "set_many": "update", "rename": "update", "count": "get", "search": "search", "persist": "update",
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
_NAMES: Names = {
    "value": ("data", "content", "result"), "keys": ("items", "results", "names", "matches"),
    "entries": ("items", "data", "values", "settings"), "exists": ("found", "present"),
    "seconds": ("ttl", "expires_in", "ttl_seconds"), "deleted": ("removed",),
    "count": ("total", "size", "deleted_count"),
}  # fmt: skip


@behaviours.register("key_value")
class KeyValue(Behaviour):
    """Values of any kind under keys that the caller chooses: entity `entry` (key, value), with namespaces and expiry.

    A store is empty at first, unless a state or records are given.
    """

    def claims(self, survey: Survey) -> Claims | None:
        servers = dict.fromkeys(tool.server for tool in survey.tools.values())
        groups = [[tool for tool in survey.tools.values() if tool.server == server] for server in servers]
        plans = [plan for tools in groups for plan in _plans(tools)]
        if not plans:
            return None
        rows, rest = _given(survey.state, is_whole=len(plans) == len(survey.tools))
        return Claims(plans, [_entity()], {ENTRY: rows}, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        ways = _ways(tool, plan)
        selector, entity = plan.arguments.get("operation", ""), plan.entity or ENTRY

        def operate(turn: Turn) -> Outcome:
            choice = str(turn.call.arguments.get(selector, "")) if not plan.operation else ""
            operation, roles = ways[choice if choice in ways else next(iter(ways))]
            return _OPERATIONS[operation](_Store(turn.view, turn.now, entity, turn.call.arguments, roles, tool))

        return answering(tool, domain, operate, _NAMES)


def _entity() -> Entity:
    text: Record = {"type": "string"}
    fields = {"key": Field("key", text, required=True), "value": Field("value", {}, required=True)}
    return Entity(ENTRY, "key", None, fields, natural=True)


# recognition ----------------------------------------------------------------------------------------------------------


def _plans(tools: Sequence[Tool]) -> list[Plan]:
    """The plans of the tools of one server: there is one that sets a value under a key, and one that gets it."""
    found = [(purpose, one) for purpose in purposes(tools) for one in _judged(purpose)]
    operations = {operation for _, (operation, _) in found}
    if "set" not in operations or not operations & {"get", "get_many"}:
        return []
    plans: dict[str, Plan] = {}
    for purpose, (operation, roles) in found:
        reasons = (f"'{' '.join(purpose.words)}' means {operation} under a key",)
        chosen = purpose.selector is not None
        arguments = {"operation": purpose.selector or ""} if chosen else roles
        verb = "update" if chosen else _VERBS[operation]
        named = "" if chosen else operation
        plans[purpose.tool.id] = Plan(
            purpose.tool.id, verb, ENTRY, "key_value", named, arguments, confidence=0.85, reasons=reasons
        )
    return list(plans.values())


def _judged(purpose: Purpose) -> Iterator[tuple[str, dict[str, str]]]:
    """What a purpose does under keys, and which arguments it does it with."""
    operation = _operation(purpose)
    if operation is None:
        return
    roles = _roles(purpose, operation)
    is_kept = _is_keyed(purpose, roles) or not _NEEDS.get(operation)
    if is_kept and all(role in roles for role in _NEEDS.get(operation, ())) and purpose.needed <= set(roles.values()):
        yield operation, roles


def _operation(purpose: Purpose) -> str | None:
    if not _STORES.intersection((*purpose.nouns, *(singular(snake(name)) for name in purpose.arguments))):
        return None
    many = purpose.argument("keys", kind="array") is not None
    operation = next((name for name, words in _WORDS if set(words).intersection(purpose.words)), None)
    if operation == "list" and {"value", "key"} <= {snake(name) for name in purpose.needed}:
        return "set"
    if operation == "get" and not purpose.needed and not purpose.argument(*_KEYS):
        return "list"
    if operation == "set" and not purpose.argument(*_KEYS) and purpose.argument(*_ARGUMENTS["entries"][0]):
        return "set_many"
    return "get_many" if many and operation in {"get", "list"} else operation


def _is_keyed(purpose: Purpose, roles: Mapping[str, str]) -> bool:
    """Is the key called one, or does the name of the tool speak of a store?"""
    key = snake(roles.get("key", roles.get("keys", "")))
    return (
        key in {"key", "keys"}
        or bool(_STORES.intersection(purpose.nouns))
        or bool({"pattern", "entries"} & roles.keys())
    )


def _roles(purpose: Purpose, operation: str) -> dict[str, str]:
    wanted = [*_NEEDS.get(operation, ()), "space"]
    wanted += {"set": ["seconds", "fresh"], "list": ["pattern", "limit"], "get": ["default"], "delete": ["keys"],
               "increment": ["amount"], "decrement": ["amount"], "search": ["limit"]}.get(operation, [])  # fmt: skip
    found: dict[str, str] = {}
    for role in wanted:
        names, kind = _ARGUMENTS[role]
        exact = {snake(name): name for name in purpose.arguments if name != purpose.selector}
        argument = next((exact[name] for name in names if name in exact), None)
        fits = argument is not None and (not kind or main_type(purpose.arguments[argument]) in {kind, ""})
        if argument is not None and fits and argument not in found.values():
            found[role] = argument
    if "key" not in found and "keys" in found and operation == "delete":
        found["key"] = found["keys"]
    return found


def _ways(tool: Tool, plan: Plan) -> dict[str, tuple[str, Mapping[str, str]]]:
    """What a tool does, and with which arguments, by the choice that selects it ('' where it does one thing)."""
    if plan.operation:
        if plan.operation not in _OPERATIONS:
            raise ValueError(f"{tool.id}: a key-value store knows no operation {plan.operation!r}")
        return {"": (plan.operation, plan.arguments)}
    ways: dict[str, tuple[str, Mapping[str, str]]] = {
        purpose.choice: one for purpose in purposes_of(tool) for one in _judged(purpose)
    }
    if not ways:
        raise ValueError(f"{tool.id}: say under `sim:` which `operation` it is")
    return ways


def _given(state: Json, *, is_whole: bool) -> tuple[list[Record], Json]:
    """The entries of a state: an object of plain values under a name of a store, or all there is; and what is left."""
    body = as_object(state)
    for name, value in body.items():
        if snake(name).rsplit("_", 1)[-1] in _HOLDING and isinstance(value, dict):
            rest = {other: kept for other, kept in body.items() if other != name}
            return _entries(as_object(value)), rest or None
    return (_entries(body), None) if is_whole and body else ([], state)


_HOLDING = vocabulary("store data entries cache memory memories settings kv values keys storage preferences variables")


def _entries(body: Record) -> list[Record]:
    return [{"key": key, "value": value} for key, value in body.items()]


# operations -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Store:
    """One call, and the entries as it sees them: what has expired is not there."""

    view: View
    now: datetime
    entity: str
    given: Mapping[str, Json]
    roles: Mapping[str, str]
    tool: Tool

    def get(self, role: str, default: Json = None) -> Json:
        return self.given.get(self.roles.get(role, ""), default)

    @property
    def space(self) -> str:
        return str(self.get("space") or "")

    @property
    def key(self) -> str:
        return str(self.get("key"))

    def place(self, key: str) -> str:
        """The key of the record: that of the entry, in its namespace."""
        return f"{self.space}:{key}" if self.space else key

    def entry(self, key: str) -> Record | None:
        found = self.view.get(self.entity, self.place(key))
        return found if found is not None and self._lives(found) else None

    def known(self, key: str) -> Record:
        """The entry of a key. Raises Refused where there is none."""
        found = self.entry(key)
        if found is None:
            raise Refused("not_found", f"Key {key} not found", key=key, entity=ENTRY)
        return found

    def entries(self) -> Iterator[tuple[str, Record]]:
        """All entries of the namespace, by the key as the caller knows it."""
        for place, record in self.view.rows(self.entity):
            if (record.get("namespace") or "") == self.space and self._lives(record):
                yield str(place).removeprefix(f"{self.space}:" if self.space else ""), record

    def put(self, key: str, value: Json, expires_at: str | None) -> Change:
        place = self.place(key)
        record: Record = {"key": place, "value": value}
        record |= {"namespace": self.space} if self.space else {}
        record |= {"expires_at": expires_at} if expires_at is not None else {}
        return Change("put", self.entity, place, record, expected=self.view.version(self.entity, place))

    def drop(self, key: str) -> Change:
        place = self.place(key)
        return Change("remove", self.entity, place, expected=self.view.version(self.entity, place))

    def until(self) -> str | None:
        """When what is set now expires."""
        seconds = self.get("seconds")
        lasts = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
        return iso(self.now + timedelta(seconds=seconds)) if lasts else None

    def _lives(self, record: Record) -> bool:
        ends = moment_of(record.get("expires_at"))
        return ends is None or ends > self.now


def _text(value: Json) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _set(store: _Store) -> Outcome:
    """A value under a key, new or in the place of another."""
    key, before = store.key, store.entry(store.key)
    if before is not None and store.get("fresh") is True:
        raise Refused("conflict", f"Key {key} already exists", key=key, entity=ENTRY)
    facts: Record = {"key": key, "value": store.get("value"), "created": before is None}
    change = store.put(key, store.get("value"), store.until())
    return Outcome(f"Successfully set {key}", facts, changes=(change,))


def _get(store: _Store) -> Outcome:
    if store.entry(store.key) is None and "default" in store.roles and store.get("default") is not None:
        return _valued(store.key, store.get("default"), exists=False)
    return _valued(store.key, store.known(store.key)["value"], exists=True)


def _valued(key: str, value: Json, *, exists: bool) -> Outcome:
    facts: Record = {"value": value, "key": key, "exists": exists}
    return Outcome(_text(value), facts, "value", is_json=isinstance(value, dict | list))


def _delete(store: _Store) -> Outcome:
    asked = store.get("key")
    keys = [str(one) for one in as_list(asked)] if isinstance(asked, list) else [store.key]
    found = [key for key in dict.fromkeys(keys) if store.entry(key) is not None]
    if not found and not isinstance(asked, list):
        store.known(store.key)
    facts: Record = {"key": store.key, "deleted": bool(found), "count": len(found)}
    return Outcome(
        f"Successfully deleted {', '.join(found) or 'nothing'}", facts, changes=tuple(map(store.drop, found))
    )


def _exists(store: _Store) -> Outcome:
    found = store.entry(store.key) is not None
    text = f"Key {store.key} {'exists' if found else 'does not exist'}"
    return Outcome(text, {"exists": found, "key": store.key})


def _list(store: _Store) -> Outcome:
    """The keys that a pattern or the beginning of a key names; with values where the tool speaks of them."""
    pattern, limit = str(store.get("pattern") or ""), store.get("limit")
    found = [(key, record["value"]) for key, record in store.entries() if _matches(pattern, key)]
    found = found[:limit] if isinstance(limit, int) else found
    keys: list[Json] = [key for key, _ in found]
    entries: list[Json] = [{"key": key, "value": value} for key, value in found]
    facts: Record = {"keys": keys, "entries": entries, "count": len(keys), "all": dict(found)}
    told = {"key", "keys", "scan"} & {
        *store.tool.name.lower().replace("-", "_").split("_")
    } or "keys" in store.tool.description
    return Outcome("\n".join(keys) or "No keys", facts, "keys" if told else "entries", is_json=True)


def _matches(pattern: str, key: str) -> bool:
    return fnmatchcase(key, pattern) if any(sign in pattern for sign in "*?[") else key.startswith(pattern)


def _search(store: _Store) -> Outcome:
    """The entries that hold a text, in key or value."""
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


def _increment(store: _Store) -> Outcome:
    return _counted(store, 1)


def _decrement(store: _Store) -> Outcome:
    return _counted(store, -1)


def _counted(store: _Store, sign: int) -> Outcome:
    """A number that grows; one that is not there begins at 0."""
    entry, amount = store.entry(store.key), store.get("amount")
    before = _number(0 if entry is None else entry["value"])
    step = _number(1 if amount is None else amount)
    if before is None or step is None:
        raise Refused("invalid", f"The value of {store.key} is not a number: {_text((entry or {}).get('value'))}")
    value = before + sign * step
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


def _append(store: _Store) -> Outcome:
    """More at the end of a text or a list."""
    entry, more = store.entry(store.key), store.get("value")
    before: Json = "" if entry is None else entry["value"]
    if isinstance(before, list):
        value: Json = [*as_list(before), *(as_list(more) if isinstance(more, list) else [more])]
    else:
        value = _text(before) + _text(more)
    change = store.put(store.key, value, (entry or {}).get("expires_at"))
    facts: Record = {"key": store.key, "value": value, "count": len(value)}
    return Outcome(f"Successfully appended to {store.key}", facts, changes=(change,))


def _expire(store: _Store) -> Outcome:
    entry, until = store.known(store.key), store.until()
    if until is None:
        raise Refused("invalid", f"A key expires after a number of seconds above 0, not {store.get('seconds')}")
    facts: Record = {"key": store.key, "seconds": store.get("seconds"), "expires_at": until}
    change = store.put(store.key, entry["value"], until)
    return Outcome(f"{store.key} expires in {store.get('seconds')} seconds", facts, changes=(change,))


def _persist(store: _Store) -> Outcome:
    entry = store.known(store.key)
    change = store.put(store.key, entry["value"], None)
    return Outcome(f"{store.key} does not expire any more", {"key": store.key}, changes=(change,))


def _ttl(store: _Store) -> Outcome:
    """The seconds until a key expires; -1 where it does not."""
    ends = moment_of(store.known(store.key).get("expires_at"))
    seconds = -1 if ends is None else int((ends - store.now).total_seconds())
    return Outcome(str(seconds), {"seconds": seconds, "key": store.key}, "seconds")


def _clear(store: _Store) -> Outcome:
    keys = [key for key, _ in store.entries()]
    return Outcome(
        f"Deleted {len(keys)} keys", {"count": len(keys), "deleted": True}, changes=tuple(map(store.drop, keys))
    )


def _get_many(store: _Store) -> Outcome:
    """The values of several keys; null where there is none."""
    found = {str(key): store.entry(str(key)) for key in as_list(store.get("keys"))}
    values = {key: None if entry is None else entry["value"] for key, entry in found.items()}
    entries = [{"key": key, "value": value} for key, value in values.items()]
    return Outcome(encode(values).decode(), {"values": values, "entries": entries}, "values", is_json=True)


def _set_many(store: _Store) -> Outcome:
    asked = store.get("entries")
    rows = [as_object(row) for row in as_list(asked)]
    pairs = as_object(asked) or {str(row.get("key", row.get("name"))): row.get("value") for row in rows}
    changes = tuple(store.put(str(key), value, None) for key, value in pairs.items())
    return Outcome(f"Successfully set {len(pairs)} keys", {"count": len(pairs), "keys": [*pairs]}, changes=changes)


def _rename(store: _Store) -> Outcome:
    entry, target = store.known(store.key), str(store.get("target"))
    changes = (store.drop(store.key), store.put(target, entry["value"], entry.get("expires_at")))
    return Outcome(f"Renamed {store.key} to {target}", {"key": target}, changes=changes)


def _count(store: _Store) -> Outcome:
    count = sum(1 for _ in store.entries())
    return Outcome(str(count), {"count": count}, "count")


_OPERATIONS: Mapping[str, Callable[[_Store], Outcome]] = {
    "set": _set, "get": _get, "delete": _delete, "exists": _exists, "list": _list, "increment": _increment,
    "decrement": _decrement, "append": _append, "expire": _expire, "ttl": _ttl, "clear": _clear, "persist": _persist,
    "get_many": _get_many, "set_many": _set_many, "rename": _rename, "count": _count, "search": _search,
}  # fmt: skip
