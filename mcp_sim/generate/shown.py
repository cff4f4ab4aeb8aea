"""As what do the results of tools show the records of an entity, and a field of them?"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.infer.result_forms import result_schema
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import at, items, properties
from mcp_sim.types.plans import Plan


def record_schemas(output: Record, plan: Plan) -> Iterator[Record]:
    """The schemas of a record in a tool's result."""
    if plan.envelope.rows is not None:
        yield items(at(output, plan.envelope.rows))
    elif plan.envelope.record is not None:
        yield at(output, plan.envelope.record)


def shown_schemas(domain: Domain, entity: Entity) -> Iterator[Record]:
    """The schemas of the entity's records in the results of all tools that declare theirs."""
    for plan in domain.plans.values():
        tool = domain.tools.get(plan.tool)
        if plan.entity == entity.name and plan.backend == "records" and tool is not None and tool.output_schema:
            yield from record_schemas(result_schema(tool), plan)


def field_schemas(domain: Domain, entity: Entity, field: str) -> Iterator[Record]:
    """The schemas of one field there."""
    parts = (properties(schema).get(field) for schema in shown_schemas(domain, entity))
    return (part for part in parts if part is not None)
