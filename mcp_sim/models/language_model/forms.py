"""How is an answer bound to a schema in a request: in the strictest form that the engine takes?"""

from __future__ import annotations

from mcp_sim.models.language_model.dialects import Dialect
from mcp_sim.types import Record

RUNGS = ("json_schema", "json_object with schema", "json_object", "none")
"""How an answer is bound to a schema, the strictest way first; engines refuse what they do not know."""


def form_of(schema: Record, rung: int, dialect: Dialect) -> Record | None:
    """The `response_format` of a rung."""
    match rung:
        case 0:
            bound: Record = {"name": "observation", "schema": schema, "strict": dialect.strict}
            return {"type": "json_schema", "json_schema": bound}
        case 1:
            return {"type": "json_object", "schema": schema}
        case 2:
            return {"type": "json_object"}
        case _:
            return None
