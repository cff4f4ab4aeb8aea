"""Workbooks and sheets as records, and those of a given state."""

from __future__ import annotations

from mcp_sim.backends.spreadsheet.arguments import BOOKS, SHEETS
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

SHEET = "sheet"
WORKBOOK = "workbook"
DEFAULT_NAME = "workbook"
"""Name of the only workbook if no tool names one."""


def entities() -> list[Entity]:
    text: Record = {"type": "string"}
    rows: Record = {"type": ["array", "null"], "items": {"type": "array", "items": {}}}
    fields = [
        Field("id", text, required=True),
        Field("workbook", text),
        Field("name", text),
        Field("rows", rows),
        Field("marks", {"type": ["array", "null"]}),
    ]
    whole = [Field("name", text, required=True)]
    return [
        Entity(WORKBOOK, "name", "report-001.xlsx", {field.name: field for field in whole}, natural=True),
        Entity(SHEET, "id", None, {field.name: field for field in fields}, natural=True),
    ]


def read_given_sheets(state: Json) -> tuple[list[Record], Json]:
    """Return the sheets of a state, and the rest of it.

    Understood are `{file: {sheet: rows}}` under a name for workbooks, and `{sheet: rows}` under a name for sheets.
    """
    body = as_object(state)
    for name, part in body.items():
        if snake(name) in BOOKS:
            books = as_object(part)
            rows = [
                sheet_of(book, sheet, [[*as_list(row)] for row in as_list(cells)])
                for book, sheets in books.items()
                for sheet, cells in as_object(as_object(sheets).get("sheets", sheets)).items()
            ]
            return rows, {other: value for other, value in body.items() if other != name}
        if snake(name) in SHEETS and as_object(part):
            rows = [
                sheet_of(DEFAULT_NAME, sheet, [[*as_list(row)] for row in as_list(cells)])
                for sheet, cells in as_object(part).items()
            ]
            return rows, {other: value for other, value in body.items() if other != name}
    return [], state


def key_of(book: Json, sheet: str) -> str:
    return f"{book}!{sheet}"


def sheet_of(book: str, name: str, rows: list[list[Json]]) -> Record:
    return {"id": key_of(book, name), "workbook": book, "name": name, "rows": rows}
