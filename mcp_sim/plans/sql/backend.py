"""Backend for tools that take SQL or work on tables."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from mcp_sim.plans.matching.matched_tools import MatchedTool, match_tool
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import Names
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.request import Binding
from mcp_sim.plans.sql.operations import (
    ABOUT,
    CREATING,
    NAMES,
    NAMING,
    OPERATIONS,
    RUNNING,
    SCHEMA,
    accept,
    dialect_of,
    takes_sql,
    takes_whole_statement,
)
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Match, ServerEvidence, backends
from mcp_sim.types.lexicon.english import singular, words
from mcp_sim.types.plans import Plan

if TYPE_CHECKING:
    from mcp_sim.plans.operation import Operation
    from mcp_sim.plans.sql.database import Database


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
    lengthy = frozenset(operation.name for operation in OPERATIONS)
    request = "statements:SqlRequest"
    idle = ABOUT
    entities = (
        Entity(SCHEMA, "name", None, {name: Field(name, {"type": "string"}, required=True) for name in ("name", "sql")},
               natural=True),
    )  # fmt: skip
    names: ClassVar[Names] = NAMES

    def match(self, evidence: ServerEvidence) -> Match | None:
        """Match the tools, and take the tables of the given state.

        If most tools of the server are others, those are taken that the names of these tools and of their arguments do
        not mention.
        """
        match = super().match(evidence)
        if match is None or match.state is None:
            return match
        from mcp_sim.plans.sql.tables import read_given_tables

        matched = {plan.tool for plan in match.plans}
        others = [profile for listed in self.profiles(evidence) for profile in listed if profile.tool.id not in matched]
        mentioned = frozenset(
            singular(word) for other in others for name in (*other.words, *other.arguments) for word in words(name)
        )
        is_most = 2 * len(matched) >= len(evidence.tools)
        tables, rest = read_given_tables(match.state, None if is_most else mentioned)
        if not tables:
            return match
        records: dict[str, Sequence[Record]] = {table.entity.name: table.records for table in tables}
        records[SCHEMA] = [{"name": table.entity.name, "sql": table.statement} for table in tables]
        entities = [*match.entities, *(table.entity for table in tables)]
        return replace(match, entities=entities, records=records, state=rest)

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool: those that run statements first if all that it does takes SQL, else last."""
        is_sure = profile.selector is None and takes_sql(profile)
        idle = self.idle | NAMING if is_sure and takes_whole_statement(profile) else self.idle
        tools = match_tool(profile, self.operations, idle, self.confidence)
        return iter(sorted(tools, key=lambda tool: (tool.name in RUNNING) != is_sure))

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        return accept(tools, listed)

    def bind(self, operation: Operation, tool: Tool, plan: Plan, domain: Domain) -> Binding:
        """Return how a tool calls an operation: in the dialect of the database that its server mentions."""
        bound = super().bind(operation, tool, plan, domain)
        dialect = dialect_of(known_tool for known_tool in domain.tools.values() if known_tool.server == tool.server)
        return replace(bound, fixed={"dialect": dialect, **bound.fixed})

    def unbound(self, operation: Operation, prefix: str = "", kept: dict[Hashable, Any] | None = None) -> Binding:
        """Return how Python calls an operation: on one database for all calls, which follows their views."""
        from mcp_sim.plans.sql.database import Database

        kept, key = {} if kept is None else kept, (self.name, prefix, "without entities")
        if key not in kept:
            kept[key] = Database({}, prefix)
        return replace(super().unbound(operation, prefix), shared=kept[key])

    def prepare(self, binding: Binding, domain: Domain) -> Database:
        """Return the database that all tools with the same tables share."""
        from mcp_sim.plans.sql.database import Database

        key = self.name, binding.prefix
        if key not in domain.kept:
            makes = _makes_tables(binding.entity, domain)
            domain.kept[key] = Database(
                _table_entities(binding.entity, domain), binding.prefix, shows_entities=not makes
            )
        return domain.kept[key]

    def reads(self, plan: Plan, domain: Domain) -> Collection[str]:
        """Return the entities of other tools: they are tables too, unless tools create the tables."""
        return () if _makes_tables(plan.entity, domain) else _table_entities(plan.entity, domain)


def _makes_tables(schema: str | None, domain: Domain) -> bool:
    """Return whether tools create the tables of a schema."""
    known = (variant for plan in domain.plans.values() for variant in plan.variants)
    return any(plan.operation in CREATING and plan.entity == schema for plan in known)


def _table_entities(schema: str | None, domain: Domain) -> dict[str, Entity]:
    """Return the entities that other kinds of store do not hold. If the state gives tables, they are in the state."""
    known = (variant for plan in domain.plans.values() for variant in plan.variants)
    others = {plan.entity for plan in known if plan.backend not in {"records", "sql", "schema_only"}}
    shown = domain.given if schema in domain.given else domain.entities
    return {name: entity for name, entity in domain.entities.items() if name in shown and name not in others}
