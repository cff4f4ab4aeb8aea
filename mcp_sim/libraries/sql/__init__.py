"""A database that speaks SQL.

`world.sql` is a `Sql`. Its tables are tables of the world: those that a program declares, those of the given state, and
those that statements create. `sql_table` (name, sql) has their statements.
"""

from __future__ import annotations

from mcp_sim.libraries.sql.database import SCHEMA, Result, Sql, first_word
from mcp_sim.libraries.sql.tables import SqlError, quoted, read_given_tables
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field

__all__ = ["Result", "Sql", "SqlError", "entities", "first_word", "library", "quoted"]

library = Sql


def entities(state: Json) -> list[Entity]:
    """Return the entity of the statements that create tables, and those of the tables of a given state."""
    fields = {name: Field(name, {"type": "string"}, required=True) for name in ("name", "sql")}
    tables = [table.entity for table in read_given_tables(state)[0]]
    return [Entity(SCHEMA, "name", None, fields, natural=True), *tables]
