"""By which field are records found, as a tool's name and description say: by a name, an e-mail, a part of a title?"""

from __future__ import annotations

import re
from dataclasses import replace

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.known import Known
from mcp_sim.infer.looks import Look
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Filter

_PART = re.compile(r"\bpart(?:ial|ially)?\b(?: of)?|\bsubstring\b|\bfuzz(?:y|ily)\b", re.IGNORECASE)

_EXACT = ("id", "status", "state", "type", "date", "day", "time", "_at", "code", "key")
"""What fields are called that are never looked for in part."""


def field_said(look: Look, known: Known) -> str | None:
    """`get_user_by_name(customer_name)`: what the name of the tool calls the field, whatever its argument is called."""
    by, *what = look.reading.after or ("",)
    name = known.fields.get("_".join(what)) if by == "by" else None
    return name if name != known.key else None


def is_other_field(look: Look, known: Known, key: str) -> bool:
    """Is the only argument that might name the record a field of it: `find_user_id_by_email(email)`?"""
    if key_argument(look.verb, known.entity, known.key, look.input)[1] > 1:
        return False
    is_foreign = snake(key).endswith("_id") and not snake(known.key).endswith(snake(key))
    return is_foreign or known.named(snake(key)) not in {None, known.key} or snake(key) in known.nested


def in_part(look: Look, known: Known, roles: Roles) -> Roles:
    """The roles; texts are looked for in the fields, where a tool searches or is said to find by a part of a text."""
    if look.reading.word != "search" and not _PART.search(look.tool.description):
        return roles
    loose = {
        name: replace(rule, op="contains") if _is_loose(rule, known) else rule for name, rule in roles.filters.items()
    }
    return replace(roles, filters=loose)


def _is_loose(rule: Filter, known: Known) -> bool:
    schema = known.schemas.get(rule.field, {})
    is_text = main_type(schema) == "string" and not schema.keys() & {"enum", "const", "format"}
    return rule.op == "equals" and is_text and not snake(rule.field).endswith(_EXACT)
