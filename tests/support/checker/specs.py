"""The claims of specs: fields that arguments mean, and positions of values in results.

Reads the JSON that `mcp-sim plan --json` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from support.checker.ledger import Answered, Json, Record

NOWHERE = object()
_KINDS = frozenset({"enum", "const", "format"})
READS = frozenset({"get", "list", "search"})


def at(value: Json, path: str | None) -> Any:
    """Return the value at a dotted path; '' is the whole, NOWHERE is returned for a missing one."""
    if path is None:
        return NOWHERE
    for name in path.split(".") if path else ():
        if not isinstance(value, dict) or name not in value:
            return NOWHERE
        value = cast("Record", value)[name]
    return value


@dataclass(frozen=True)
class Specs:
    """Plans by tool, entities by name: as plain JSON."""

    tools: Mapping[str, Record]
    entities: Mapping[str, Record]

    def plan(self, tool: str) -> Record | None:
        """Return the plan of a tool that works on records."""
        plan = self.tools.get(tool)
        return plan if plan is not None and plan.get("entity") in self.entities else None

    def key_of(self, entity: str) -> str:
        return self.entities[entity]["key"]

    def links(self, entity: str) -> Iterator[tuple[str, str]]:
        """Return the fields of an entity that refer to others."""
        for name, field in self.entities.get(entity, {}).get("fields", {}).items():
            if field.get("link") is not None and not field.get("derived"):
                yield name, field["link"]

    def is_plain(self, entity: str, field: str) -> bool:
        """Whether a field is stored, rather than looked up or computed when it is shown."""
        known = self.entities[entity]["fields"].get(field)
        return known is not None and not known.get("derived")

    def texts(self, entity: str) -> list[str]:
        """Return the fields of an entity that certainly hold free text."""
        fields = self.entities[entity]["fields"].items()
        free = {name: field["schema"] for name, field in fields if not (field.get("link") or field.get("derived"))}
        texts = (name for name, schema in free.items() if schema.get("type") == "string" and not _KINDS & schema.keys())
        return [name for name in texts if name != self.key_of(entity)]


def shown_record(plan: Record, call: Answered) -> Record | None:
    """Return the single record in a result, at the place that the plan names."""
    if plan["verb"] == "delete" or call.failed:
        return None
    record = at(call.value, plan["envelope"].get("record"))
    return cast("Record", record) if isinstance(record, dict) else None


def shown_rows(plan: Record, call: Answered) -> list[Json] | None:
    """Return the rows of a result, None if the plan or the result shows no rows."""
    if call.failed or plan["verb"] not in READS:
        return None
    rows = at(call.value, plan["envelope"].get("rows"))
    return cast("list[Json]", rows) if isinstance(rows, list) else None


def shown(plan: Record, call: Answered) -> Iterator[Record]:
    """Return every record in a result."""
    record = shown_record(plan, call)
    if record is not None:
        yield record
    for row in shown_rows(plan, call) or ():
        if isinstance(row, dict):
            yield cast("Record", row)


def given_key(plan: Record, call: Answered) -> str | int | None:
    """Return the key in the arguments, if the tool takes one."""
    key = at(call.arguments, plan["key"]) if plan.get("key") else NOWHERE
    return key if isinstance(key, str | int) and not isinstance(key, bool) else None


def given(call: Answered, path: str) -> Any:
    """Return an argument, NOWHERE if it is missing or null."""
    value = at(call.arguments, path)
    return NOWHERE if value is None else value


def is_set_whole(plan: Record, field: str) -> bool:
    """Whether a single argument replaces a field completely."""
    return plan["how"].get(field, "set") == "set" and not any(
        target.startswith(f"{field}.") for target in plan["sets"].values()
    )
