"""What result templates can show of a call on records."""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.plans.records.result_values import Facts
from mcp_sim.plans.rendering.templates import Scope
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Plan


def scope_maker(plan: Plan, domain: Domain) -> Callable[[Facts], Scope]:
    """Return what makes the scope of the templates of a tool."""
    entity = domain.entities[plan.entity or ""]
    defaults = {name: field.schema["default"] for name, field in entity.fields.items() if "default" in field.schema}
    times = {
        name: time_formatter(name, field.schema)
        for name, field in entity.fields.items()
        if name not in defaults and time_meaning(name, field.schema) in {"created", "updated"}
    }

    def scope(facts: Facts) -> Scope:
        batch = facts.batch
        rows = [effect.record for _, effect in batch.done] if batch else [row for _, row in facts.page.rows]
        before = facts.turn.view.get(entity.name, facts.key) if facts.key is not None else None
        page = facts.page
        shown: Record = {
            "key": facts.key,
            "before": before or {},
            "count": len(rows),
            "total": len(rows) if batch else page.total,
            "failed": len(batch.failed) if batch else 0,
            "offset": page.offset,
            "limit": page.limit,
            "cursor": page.cursor,
            "more": page.has_more,
        }
        begun = {name: write(facts.turn.start) for name, write in times.items()}
        record = facts.record or {}
        turn = facts.turn
        listed = [row or {} for row in rows]
        return Scope(turn.call.arguments, turn.now, turn.start, record, listed, shown, {**defaults, **begun})

    return scope
