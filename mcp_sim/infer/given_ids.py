"""Which ids of given rows are whole numbers that are written as 1.0?"""

from __future__ import annotations

from typing import TypeAlias

from mcp_sim.infer.ids import is_written_as_float, names_ids, whole
from mcp_sim.infer.tables import MOST_LOOKED_AT
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.json_schema.shapes import as_list

Rows: TypeAlias = "list[tuple[Key | None, Record]]"


def with_whole_ids(rows: Rows) -> Rows:
    """The rows with ids that are whole numbers; what is no id may well be measured, and stays a float."""
    looked_at = [row for _, row in rows[:MOST_LOOKED_AT]]
    names = {name for row in looked_at for name, value in row.items() if _is_written_so(value) and names_ids(name)}
    if not names:
        return rows
    return [(key, {name: whole(value) if name in names else value for name, value in row.items()}) for key, row in rows]


def _is_written_so(value: Json) -> bool:
    return is_written_as_float(value) or any(map(is_written_as_float, as_list(value)))
