"""Order rows: by the argument, by relevance of a search, or as they were created."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import snake, vocabulary, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import example_of, seconds_of, time_format

Row: TypeAlias = tuple[Key, Record]
Order: TypeAlias = Callable[[Sequence[Row], Json, Json, str], Sequence[Row]]
"""Takes the rows, what to sort by, the direction, and the searched text. An unknown field sorts nothing."""

_NEWEST = vocabulary("newest recent latest most_recent date_desc")
_OLDEST = vocabulary("oldest earliest date_asc")
_NEWEST_FIRST = re.compile(
    r"\b(?:most recent|newest|latest) first\b|\b\d+ (?:most recent|newest|latest)\b|\bnewest to oldest\b"
    r"|\breverse chronological",
    re.IGNORECASE,
)
_DIRECTION = re.compile(r"[\s:_.](asc|desc)(?:ending)?\Z", re.IGNORECASE)
_BETWEEN = " \t\r\n:_."
_RECENT = vocabulary("recent latest newest")
_NAMES = ("name", "title", "subject", "full_name", "display_name", "summary")


def ordering(tool: Tool, plan: Plan, entity: Entity) -> Order:
    """Compile the order of a tool's rows."""
    fields = {snake(name): name for name in entity.fields}
    created = next((name for name, meaning in _times(entity) if meaning == "created"), None)
    named = next((fields[name] for name in _NAMES if name in fields), None)
    newest_first = _NEWEST_FIRST.search(tool.description) or not _RECENT.isdisjoint(words(tool.name))
    happened = created or next((name for name, meaning in _times(entity) if meaning in {"occurred", "past"}), None)

    def key_of(field: str) -> Callable[[Any], Any]:
        schema = entity.fields[field].schema
        form = time_format(example_of(schema))
        return _collated if form is None or form.is_sortable else seconds_of(schema)

    def order(rows: Sequence[Row], asked: Json, direction: Json, text: str) -> Sequence[Row]:
        parts = _parts(asked)
        if not parts and newest_first and plan.paging.order is None:
            return _sorted(rows[::-1], happened, key_of(happened), reverse=True) if happened is not None else rows[::-1]
        if not parts:
            return _default_order(rows, plan, direction, text, named)
        for piece in reversed(parts):
            name, down = _sort_key(piece)
            plain = snake(name)
            field = fields.get(plain) or fields.get(f"{plain}_at") or fields.get(f"{plain}_date")
            if field is None and plain in _NEWEST | _OLDEST:
                field, down = created, plain in _NEWEST
                rows = rows[::-1] if field is None and down else rows
            if field is not None:
                rows = _sorted(rows, field, key_of(field), reverse=down or _is_down(direction))
        return rows

    return order


def _times(entity: Entity) -> list[tuple[str, str | None]]:
    return [(name, time_meaning(name, field.schema)) for name, field in entity.fields.items()]


def _parts(asked: Json) -> list[str]:
    """Return what to sort by, the most important first: `status,-title` or a list."""
    given = as_list(asked) or [asked]
    texts = [text for text in given if isinstance(text, str)]
    return [piece.strip() for text in texts for piece in text.split(",") if piece.strip()]


def _default_order(rows: Sequence[Row], plan: Plan, direction: Json, text: str, named: str | None) -> Sequence[Row]:
    if plan.paging.sort is None and _is_down(direction):
        return rows[::-1]
    if text and named is not None and len(rows) > 1:
        return sorted(rows, key=lambda row: _distance(row[1].get(named), text))
    return rows


def _distance(name: Json, wanted: str) -> int:
    """Rank a name against the searched text: equal, prefix, substring, all words, none of these."""
    lowered = name.lower() if isinstance(name, str) else ""
    if lowered == wanted:
        return 0
    if lowered.startswith(wanted):
        return 1
    if wanted in lowered:
        return 2
    return 3 if all(word in lowered for word in wanted.split()) else 4


def _sort_key(asked: str) -> tuple[str, bool]:
    """Return the field and whether it descends, of `-name`, `name desc`, `name:desc` or `name_desc`."""
    if asked[:1] in "+-":
        return asked[1:], asked[0] == "-"
    match = _DIRECTION.search(asked)
    field = asked[: match.start()].rstrip(_BETWEEN) if match else ""
    return (field, match[1].lower() == "desc") if match and field else (asked, False)


def _is_down(direction: Json) -> bool:
    return isinstance(direction, str) and direction.lower() in {"desc", "descending", "down", "-1", "newest"}


def _sorted(rows: Sequence[Row], field: str, key: Callable[[Any], Any], *, reverse: bool) -> list[Row]:
    """Sort stably. Records without the field come last in either direction."""
    there = [row for row in rows if row[1].get(field) is not None]
    lacking = [row for row in rows if row[1].get(field) is None]
    try:
        return [*sorted(there, key=lambda row: key(row[1][field]), reverse=reverse), *lacking]
    except TypeError:
        return [*sorted(there, key=lambda row: str(row[1][field]), reverse=reverse), *lacking]


def _collated(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else canonical(value) if isinstance(value, dict | list) else value
