"""Which tools answer with the text that a record holds, and nothing around it: `read_note(path)`?"""

from __future__ import annotations

import re

from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.words import snake, words

_TEXTS = ("content", "contents", "body", "text", "markdown")
_MORE = re.compile(r"\b(json|details?|metadata|properties|fields|along with|including|together with)\b")


def whole_text(look: Look, entity: Entity) -> dict[str, str]:
    """The place of the result where the text stands, and its field; empty where the tool tells more."""
    field, place = _text_field(entity), _place(look)
    about = str(look.tool.definition.get("description", "")).lower()
    if look.verb != "get" or field is None or place is None or _MORE.search(about):
        return {}
    reads = entity.natural and "read" in words(look.tool.name)
    return {place: field} if reads or _speaks_of(about, field) else {}


def _text_field(entity: Entity) -> str | None:
    found = [name for name, field in entity.fields.items() if snake(name) in _TEXTS and name != entity.key
             and main_type(field.schema) == "string"]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _place(look: Look) -> str | None:
    """'' where the tool declares no result, its only property where that is a text; else None."""
    if look.tool.output_schema is None:
        return ""
    parts = properties(look.output)
    name = next(iter(parts), None)
    return name if len(parts) == 1 and name is not None and main_type(parts[name]) == "string" else None


def _speaks_of(about: str, field: str) -> bool:
    name = snake(field).rstrip("s")
    return re.search(rf"\b(read|get|fetch|retrieve|return|show)s?\b.*\b{name}s? of\b|'s {name}s?\b", about) is not None
