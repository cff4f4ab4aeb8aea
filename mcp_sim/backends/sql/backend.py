"""Tools that take SQL, and tell of the tables."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import server_purposes
from mcp_sim.backends.sql.matching import SCHEMA, plans_of
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("sql")
class Sql(Backend):
    """SQL over the world: one table for each entity, in the plural, and those that SQL makes.

    It is SQLite's, or that of the database which the tools speak of (PostgreSQL, MySQL, ...), translated.

    What a statement writes comes back as changes of records. ATTACH, PRAGMA that sets something, extensions,
    transactions over several calls and statements without end are refused.
    """

    order = 120

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(server_purposes) for plan in plans_of(listed)]
        if not plans:
            return None
        entities, records, rest = [_schema()], {SCHEMA: list[Record]()}, evidence.state
        if evidence.state is not None and 2 * len(plans) >= len(evidence.tools):
            from mcp_sim.backends.sql.given import given_tables

            tables, rest = given_tables(evidence.state)
            entities += [table.entity() for table in tables]
            records |= {table.name: table.records() for table in tables}
            records[SCHEMA] = [{"name": table.name, "sql": table.statement} for table in tables]
        return Match(plans, entities, records, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.sql.answer import answer

        return answer(tool, plan, domain)


def _schema() -> Entity:
    text: Record = {"type": "string"}
    fields = {name: Field(name, text, required=True) for name in ("name", "sql")}
    return Entity(SCHEMA, "name", None, fields, natural=True)
