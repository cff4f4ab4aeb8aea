"""What does a result hold of which its schema does not say whether it must be there?"""

from __future__ import annotations

from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.words import snake, vocabulary

_SUCCESS = vocabulary("success ok successful deleted removed updated created acknowledged found")


def is_optional(schema: Record) -> bool:
    """True where the description says that it may be missing."""
    return "optional" in str(schema.get("description", "")).lower()


def says_success(name: str, schema: Record) -> bool:
    """Does a property of a result say whether a call worked?"""
    return main_type(schema) == "boolean" and (snake(name) in _SUCCESS or snake(name).endswith("_status"))


def usual(schema: Record) -> Record:
    """The schema with all required that is not said to be optional, where it requires nothing in so many words."""
    parts = {name: usual(part) for name, part in properties(schema).items()}
    needed = schema.get("required", [name for name, part in parts.items() if not is_optional(part)])
    inner = usual(items(schema)) if items(schema) else None
    return {
        **schema,
        **({"properties": parts, "required": needed} if parts else {}),
        **({"items": inner} if inner is not None else {}),
    }
