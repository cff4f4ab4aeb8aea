"""Backend for tools that take SQL or work on tables."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import Names
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.backends.sql.operations import (
    ABOUT,
    CREATING,
    NAMES,
    OPERATIONS,
    RUNNING,
    SCHEMA,
    accept,
    dialect_of,
    takes_sql,
)
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan

if TYPE_CHECKING:
    from mcp_sim.backends.operation import Operation
    from mcp_sim.backends.sql.database import Database
    from mcp_sim.backends.sql.tables import Table


@backends.register("sql")
class Sql(OperationsBackend):
    """SQL over the world: one table for each entity, named in the plural, and those that SQL creates.

    The dialect is SQLite's, or that of the database which the tools mention (PostgreSQL, MySQL, ...), translated.

    Changes by statements become changes of records. Refused are ATTACH, changing PRAGMAs, extensions, transactions over
    several calls, and statements that run too long.
    """

    order = 120
    confidence = 0.9
    operations = OPERATIONS
    lengthy = frozenset(one.name for one in OPERATIONS)
    request = "statements:SqlRequest"
    idle = ABOUT
    entities = (
        Entity(SCHEMA, "name", None, {name: Field(name, {"type": "string"}, required=True) for name in ("name", "sql")},
               natural=True),
    )  # fmt: skip
    names: ClassVar[Names] = NAMES

    def match(self, evidence: ServerEvidence) -> Match | None:
        """Match the tools, and take the tables of the given state if most tools of the server are matched."""
        match = super().match(evidence)
        if match is None:
            return None
        tables: Sequence[Table] = ()
        rest = match.state
        if rest is not None and 2 * len(match.plans) >= len(evidence.tools):
            from mcp_sim.backends.sql.tables import read_given_tables

            tables, rest = read_given_tables(rest)
        records: dict[str, Sequence[Record]] = {table.entity.name: table.records for table in tables}
        records[SCHEMA] = [{"name": table.entity.name, "sql": table.statement} for table in tables]
        entities = [*self.entities, *(table.entity for table in tables)]
        return replace(match, entities=entities, records=records, state=rest)

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool: those that run statements first if all that it does takes SQL, else last."""
        is_sure = profile.selector is None and takes_sql(profile)
        found = super().match_tool(profile)
        return iter(sorted(found, key=lambda one: (one.name in RUNNING) != is_sure))

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        return accept(found, listed)

    def bind(self, operation: Operation, tool: Tool, plan: Plan, domain: Domain) -> Binding:
        """Return how a tool calls an operation: in the dialect of the database that its server mentions."""
        bound = super().bind(operation, tool, plan, domain)
        dialect = dialect_of(one for one in domain.tools.values() if one.server == tool.server)
        return replace(bound, fixed={"dialect": dialect, **bound.fixed})

    def unbound(self, operation: Operation, prefix: str = "", kept: dict[Hashable, Any] | None = None) -> Binding:
        """Return how Python calls an operation: on one database for all calls, which follows their views."""
        from mcp_sim.backends.sql.database import Database

        kept, key = {} if kept is None else kept, (self.name, prefix, "without entities")
        if key not in kept:
            kept[key] = Database({}, prefix)
        return replace(super().unbound(operation, prefix), shared=kept[key])

    def prepare(self, binding: Binding, domain: Domain) -> Database:
        """Return the database that all tools with the same tables share."""
        from mcp_sim.backends.sql.database import Database

        key = self.name, binding.prefix
        if key not in domain.kept:
            makes = _makes_tables(binding.entity, domain)
            domain.kept[key] = Database(_table_entities(domain), binding.prefix, shows_entities=not makes)
        return domain.kept[key]

    def reads(self, plan: Plan, domain: Domain) -> Collection[str]:
        """Return the entities of other tools: they are tables too, unless tools create the tables."""
        return () if _makes_tables(plan.entity, domain) else _table_entities(domain)


def _makes_tables(schema: str | None, domain: Domain) -> bool:
    """Return whether tools create the tables of a schema."""
    known = (one for plan in domain.plans.values() for one in plan.variants)
    return any(one.operation in CREATING and one.entity == schema for one in known)


def _table_entities(domain: Domain) -> dict[str, Entity]:
    """Return the entities that other kinds of store do not hold."""
    known = (one for plan in domain.plans.values() for one in plan.variants)
    others = {one.entity for one in known if one.backend not in {"records", "sql", "schema_only"}}
    return {name: one for name, one in domain.entities.items() if name not in others}
