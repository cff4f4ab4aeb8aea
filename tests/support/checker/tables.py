"""Violations of what the tables of a program declare, from the ledger, the tables and the records at the start.

T1  A record is written under its key, and has only declared fields, of the declared types.
T2  A link that a call sets leads to a record.
T3  The id of a deleted record is not used again, unless callers choose the keys.
T4  Neither a get nor a list nor a search of a table shows a deleted record of it.
T5  No answer shows a hidden field of a record of the tool's table.
T6  A failed call that nothing has bent writes nothing, except what a screen displays: a form stays half filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from support.checker.ledger import Answered, Json, Record, entries
from support.checker.report import Report, Violation
from support.checker.specs import READS, Specs

Rows = Mapping[str, Mapping[Any, Record]]
"""Records by entity and key."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip


def judged_tables(lines: Iterable[Json], plans: Record, start: Rows) -> Report:
    """Return the report on a world with programs; `plans` as of `mcp-sim plan --json`."""
    specs = Specs(plans["tools"], plans["entities"])
    tables = _Tables(specs, start)
    calls = succeeded = 0
    violations = list[Violation]()
    for entry in entries(lines):
        if not isinstance(entry, Answered):
            tables.write(entry.written)
            continue
        calls, succeeded = calls + 1, succeeded + (not entry.failed)
        violations += [Violation(rule, entry.n, entry.tool, what) for rule, what in tables.problems(entry)]
    return Report(calls, succeeded, tuple(violations))


class _Tables:
    """The records as the ledger has written them."""

    def __init__(self, specs: Specs, start: Rows) -> None:
        self._specs = specs
        self._rows = {entity: dict(rows) for entity, rows in start.items()}
        self._gone: dict[str, dict[Any, Record]] = {}

    def problems(self, call: Answered) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with a call, and take over what it has written."""
        stored = [change for change in call.written if self._specs.entities[change["entity"]].get("display") is None]
        if call.failed and call.judged and stored:
            yield "T6", f"fails, but {len(stored)} changes are written"
        puts = [change for change in call.written if change["op"] == "put"]
        before = [self._rows.get(put["entity"], {}).get(put["key"]) for put in puts]
        for put in puts:
            yield from self._record_problems(put)
        self.write(call.written)
        for put, old in () if call.guessed else zip(puts, before, strict=True):
            yield from self._link_problems(put, old)
        if call.judged and not call.failed:
            yield from self._answer_problems(call)

    def write(self, changes: Iterable[Record]) -> None:
        for change in changes:
            entity, key = change["entity"], change["key"]
            if change["op"] == "put":
                self._rows.setdefault(entity, {})[key] = change["record"]
                self._gone.get(entity, {}).pop(key, None)
            elif change["op"] == "remove":
                self._gone.setdefault(entity, {})[key] = self._rows.get(entity, {}).pop(key, {})

    def _record_problems(self, put: Record) -> Iterator[tuple[str, str]]:
        table = self._specs.entities.get(put["entity"])
        if table is None:  # what a backend keeps
            return
        key, record, fields = put["key"], put["record"], table["fields"]
        where = f"{put['entity']} {key!r}"
        if not table["singleton"] and record.get(table["key"]) != key:
            yield "T1", f"{where} is written with the key {record.get(table['key'])!r}"
        for name, value in record.items():
            if name not in fields and name != table["key"]:
                yield "T1", f"{where} has the undeclared field {name!r}"
            elif name in fields and not _has_type(value, fields[name]["schema"]):
                yield "T1", f"{where} has the {name} {value!r}, but {fields[name]['schema']} is declared"
        if not table["natural"] and key in self._gone.get(put["entity"], ()):
            yield "T3", f"{where} has the id of a deleted record"

    def _link_problems(self, put: Record, old: Record | None) -> Iterator[tuple[str, str]]:
        for name, target in self._specs.links(put["entity"]):
            value: Json = put["record"].get(name)
            if old is not None and old.get(name) == value:
                continue
            for key in cast("list[Json]", value) if isinstance(value, list) else [value]:
                if key not in (None, "") and key not in self._rows.get(target, {}):
                    yield "T2", f"{name} of {put['entity']} {put['key']!r} is {key!r}, and there is no such {target}"

    def _answer_problems(self, call: Answered) -> Iterator[tuple[str, str]]:
        plan = self._specs.plan(call.tool)
        if plan is None:
            return
        entity, key = plan["entity"], self._specs.key_of(plan["entity"])
        hidden = {name for name, field in self._specs.entities[entity]["fields"].items() if field.get("hidden")}
        for shown in _objects(call.value):
            value = shown.get(key)
            if not isinstance(value, str | int):
                continue
            gone = self._gone.get(entity, {}).get(value)
            if plan["verb"] in READS and gone is not None and not _only_repeats(shown, key, gone, call.arguments):
                yield "T4", f"shows the deleted {entity} {value!r}"
            if value in self._rows.get(entity, {}) and hidden & shown.keys():
                yield "T5", f"shows the hidden {sorted(hidden & shown.keys())} of {entity} {value!r}"


def _only_repeats(shown: Record, key: str, gone: Record, arguments: Record) -> bool:
    """Whether an object repeats the key that was asked for, and nothing else of a deleted record.

    Redis answers so: the type of a missing key is `none`.
    """
    return shown[key] in arguments.values() and not any(
        name != key and name in gone and gone[name] == value for name, value in shown.items()
    )


def _has_type(value: Json, schema: Record) -> bool:
    """Whether a value has a type of a schema, as far as it names types. Null is the default of optional fields."""
    named: Json = schema.get("type")
    names = cast("list[str]", named) if isinstance(named, list) else [str(named)]
    if named is None or (value is None and "default" not in schema) or value == schema.get("default", ...):
        return True
    is_flag = isinstance(value, bool)
    return any(isinstance(value, _TYPES[name]) and (not is_flag or name == "boolean") for name in names)


def _objects(value: Json) -> Iterator[Record]:
    """Yield all objects in a value."""
    parts: Iterable[Json] = ()
    if isinstance(value, dict):
        body = cast("Record", value)
        yield body
        parts = body.values()
    elif isinstance(value, list):
        parts = cast("list[Json]", value)
    for item in parts:
        yield from _objects(item)
