"""What are workbooks and sheets as records, and which does a given state hold?"""

from __future__ import annotations

from mcp_sim.backends.spreadsheet.arguments import BOOKS, SHEETS
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.words import snake

SHEET = "sheet"
WHOLE = "workbook"
ONLY = "workbook"
"""The name of the one workbook of a server whose tools name none."""


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
        Entity(WHOLE, "name", "report-001.xlsx", {field.name: field for field in whole}, natural=True),
        Entity(SHEET, "id", None, {field.name: field for field in fields}, natural=True),
    ]


def given_sheets(state: Json) -> tuple[list[Record], Json]:
    """The sheets of a given state: `{file: {sheet: rows}}` under a name of workbooks, or `{sheet: rows}`."""
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
                sheet_of(ONLY, sheet, [[*as_list(row)] for row in as_list(cells)])
                for sheet, cells in as_object(part).items()
            ]
            return rows, {other: value for other, value in body.items() if other != name}
    return [], state


def key_of(book: Json, sheet: str) -> str:
    return f"{book}!{sheet}"


def sheet_of(book: str, name: str, rows: list[list[Json]]) -> Record:
    return {"id": key_of(book, name), "workbook": book, "name": name, "rows": rows}
