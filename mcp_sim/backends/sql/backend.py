"""Backend for tools that take SQL or work on tables."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.backends.sql.matching import SCHEMA, plans_of
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("sql")
class Sql(Backend):
    """SQL over the world: one table for each entity, named in the plural, and those that SQL creates.

    The dialect is SQLite's, or that of the database which the tools mention (PostgreSQL, MySQL, ...), translated.

    Changes by statements become changes of records. Refused are ATTACH, changing PRAGMAs, extensions, transactions over
    several calls, and statements that run too long.
    """

    order = 120

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        if not plans:
            return None
        entities, records, rest = [_schema()], {SCHEMA: list[Record]()}, evidence.state
        if evidence.state is not None and 2 * len(plans) >= len(evidence.tools):
            from mcp_sim.backends.sql.given import read_given_tables

            tables, rest = read_given_tables(evidence.state)
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
