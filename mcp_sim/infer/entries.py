"""Which argument picks an entry of a mapping that records have: a `date` of `dates`, a `size` of `sizes`?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.looks import Look
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.words import plural, snake, words
from mcp_sim.types.plans import Picked, Plan

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LOOKED_AT = 20
_ASKS = frozenset({"get", "list", "search"})


def with_entries(draft: Draft) -> dict[str, Plan]:
    """The plans of tools that show of records no more than such an entry."""
    known = draft.entities
    mappings = {name: [*_mappings(known[name], rows)] for name, rows in draft.held.items() if name in known}
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        fields = mappings.get(plan.entity or "", [])
        if fields and plan.verb in _ASKS and plan.backend == "records":
            picked = next(_picked(look, plan, fields), None)
            found |= {look.tool.id: _picking(plan, picked)} if picked is not None else {}
    return found


def _mappings(entity: Entity, rows: Sequence[Record]) -> Iterator[tuple[str, bool]]:
    """The fields that hold entries under keys that are data, and whether these are days."""
    for name in entity.fields:
        values = [row.get(name) for row in rows[:_LOOKED_AT]]
        inner = [cast("Record", value) for value in values if isinstance(value, dict) and value]
        keys = {key for value in inner for key in value}
        if inner and all(any(letter.isdigit() for letter in key) for key in keys):
            yield name, all(_DAY.fullmatch(key) for key in keys)


def _picked(look: Look, plan: Plan, fields: Sequence[tuple[str, bool]]) -> Iterator[Picked]:
    taken = {plan.key, *(path for path in plan.filters)}
    for name, part in properties(look.input).items():
        if name in taken or name not in required(look.input) or main_type(part) not in {"string", ""}:
            continue
        for field, is_daily in fields:
            if snake(field) in {plural(snake(name)), f"by_{snake(name)}"} or (is_daily and "date" in words(name)):
                yield Picked(name, field)


def _picking(plan: Plan, picked: Picked) -> Plan:
    query = None if plan.query == picked.argument else plan.query
    filters = {path: rule for path, rule in plan.filters.items() if path != picked.argument}
    return replace(plan, picked=picked, query=query, searched=plan.searched if query else (), filters=filters)


def entry_fields(entity: Entity, field: str, rows: Sequence[Record]) -> dict[str, Json]:
    """What entries of a mapping hold, by an example each."""
    known: Record = {}
    for row in rows[:_LOOKED_AT]:
        value: Json = row.get(field)
        for entry in cast("Record", value).values() if isinstance(value, dict) else ():
            known = {**(cast("Record", entry) if isinstance(entry, dict) else {}), **known}
    return {name: value for name, value in known.items() if name not in entity.fields}
