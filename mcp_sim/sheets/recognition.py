"""Which tools work on sheets of cells, and which sheets does a given state hold?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.claiming.arguments import kinds_of
from mcp_sim.claiming.operations import plan_of
from mcp_sim.claiming.purposes import Purpose
from mcp_sim.domain import Entity, Field, Plan
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Json, Record
from mcp_sim.words import snake, vocabulary

SHEET = "sheet"
WHOLE = "workbook"
_ROLES: Mapping[str, frozenset[str]] = {
    "book": vocabulary("filepath file_path filename file_name path workbook workbook_path spreadsheet spreadsheet_id "
                       "workbook_id workbook_name excel_file file"),
    "sheet": vocabulary("sheet_name sheet worksheet worksheet_name tab tab_name sheet_title source_sheet old_name "
                        "title"),
    "target": vocabulary("target_start target_cell target_range destination_cell destination_range to_cell dest_cell "
                         "target_start_cell"),
    "new": vocabulary("new_name target_sheet new_sheet_name new_title target_name dst_sheet"),
    "range": vocabulary("range cell_range address cells range_address range_name source_range data_range"),
    "start": vocabulary("start_cell cell cell_reference cell_address start top_left_cell source_start "
                        "source_start_cell source_cell from_cell"),
    "end": vocabulary("end_cell end bottom_right_cell source_end source_end_cell"),
    "values": vocabulary("data values rows row_data cell_values"),
    "value": vocabulary("value cell_value formula content"),
    "at": vocabulary("start_row row row_index start_column start_col column index position start_index start"),
    "count": vocabulary("count num_rows num_cols num_columns number amount rows_count"),
}  # fmt: skip
_TYPES: Mapping[str, frozenset[str]] = {
    "values": frozenset({"array"}),
    "at": frozenset({"integer", "number"}),
    "count": frozenset({"integer", "number"}),
    "value": frozenset({"string", "number", "integer", "boolean"}),
}
_BOOKS = vocabulary("workbook workbooks spreadsheet spreadsheets excel xlsx")
_SHEETS = vocabulary("sheet sheets worksheet worksheets tab tabs")
_READS = vocabulary("read get fetch view")
_WRITES = vocabulary("write update set put fill apply edit")
_MAKES = vocabulary("create add new insert")
_TAKES = vocabulary("delete remove drop")
_CHECKS = vocabulary("validate check verify")
_OTHER_MATTERS = vocabulary("merged validation validations conditional")
MARKS = vocabulary("format merge unmerge style highlight")


ONLY = "workbook"
"""The name of the one workbook of a server whose tools name none."""


@dataclass(frozen=True, slots=True)
class Found:
    purpose: Purpose
    operation: str
    arguments: Mapping[str, str]


def recognised(purpose: Purpose) -> Found | None:
    arguments = _arguments(purpose)
    operation = _operation(set(purpose.words), arguments, purpose)
    needed = _NEEDED.get(operation or "", ())
    stray = {name for name in purpose.needed if name not in arguments.values()}
    if operation is None or any(not _has(role, arguments) for role in needed) or (stray and operation != "mark"):
        return None
    return Found(purpose, operation, arguments)


_NEEDED: Mapping[str, Sequence[str]] = {
    "write": ("values|value",), "create_sheet": ("sheet",), "rename_sheet": ("sheet", "new"),
    "delete_sheet": ("sheet",), "copy_sheet": ("sheet", "new"), "append": ("values",), "clear": ("range|start",),
    "copy_cells": ("range|start", "target"), "check": ("value|range|start",), "merged": ("sheet",),
    "insert_rows": ("at",), "insert_columns": ("at",), "delete_rows": ("at",), "delete_columns": ("at",),
    "create_book": ("book",), "sheets": ("book|sheet",), "mark": ("sheet|range|start",),
}  # fmt: skip


def _has(roles: str, arguments: Mapping[str, str]) -> bool:
    return any(role in arguments for role in roles.split("|"))


def _arguments(purpose: Purpose) -> dict[str, str]:
    found: dict[str, str] = {}
    free = dict(purpose.arguments)
    for role, names in _ROLES.items():
        of_type = _TYPES.get(role, frozenset({"string", "integer"} if role in {"book", "sheet"} else {"string"}))
        name = next((n for n in free if snake(n) in names and _fits(free[n], of_type)), None)
        if name is not None:
            found[role] = name
            del free[name]
    return found


def _fits(schema: Record, types: frozenset[str]) -> bool:
    return bool(kinds_of(schema) & types)


def _operation(named: set[str], arguments: Mapping[str, str], purpose: Purpose) -> str | None:
    """What a tool does, by its words and by which arguments it has."""
    if named & (_CHECKS | _OTHER_MATTERS) or "copy" in named:
        return _of_ranges(named, arguments)
    about_cells = named & vocabulary("cell cells range data values row rows column columns formula formulas")
    if named & MARKS and (about_cells or named & _SHEETS) and _has("sheet|range|start", arguments):
        return "mark"
    if named & {"rows", "row"} and "at" in arguments and "sheet" in arguments:
        return "insert_rows" if named & _MAKES else "delete_rows" if named & _TAKES else None
    if named & {"columns", "column", "cols"} and "at" in arguments and "sheet" in arguments:
        return "insert_columns" if named & _MAKES else "delete_columns" if named & _TAKES else None
    if named & {"append"} and "values" in arguments and _has("sheet|range", arguments):
        return "append"
    if named & {"clear", *_TAKES} and _has("range|start", arguments) and _has("sheet|range", arguments):
        return "clear"
    is_file_edit = {"old_string", "old_text", "old_str"} & {snake(name) for name in purpose.arguments}
    if named & _WRITES and _has("values|value", arguments) and _has("range|start", arguments) and not is_file_edit:
        return "write"
    if (
        named & _READS
        and _has("range|start", arguments)
        and _has("sheet|book", arguments)
        and _is_sheets(named, purpose)
    ):
        return "read"
    if named & _READS and "sheet" in arguments and named & {"data", "values", "content", "contents", "rows"}:
        return "read"
    return _of_sheets(named, arguments)


def _of_ranges(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Is a formula or a range looked at, are cells copied, merged ones listed? Rules and conditions are no cells."""
    if named & _CHECKS:
        return "check" if named & {"formula", "range", "cell", "cells"} and "at" not in arguments else None
    if "copy" in named and named & {"range", "cells", "cell", "data"} and _has("range|start", arguments):
        return "copy_cells"
    if "merged" in named:
        return "merged" if named & {*_READS, "list"} and "sheet" in arguments else None
    return _of_sheets(named, arguments) if "copy" in named else None


def _of_sheets(named: set[str], arguments: Mapping[str, str]) -> str | None:
    if named & _SHEETS:
        if "rename" in named:
            return "rename_sheet"
        if named & {"copy", "duplicate"}:
            return "copy_sheet"
        if named & _TAKES:
            return "delete_sheet"
        if named & _MAKES:
            return "create_sheet"
        if named & {"list", "get", "names"} and "book" in arguments and "sheet" not in arguments:
            return "sheets"
    if named & _BOOKS and named & {"create", "new"} and not named & _SHEETS:
        return "create_book"
    return "sheets" if named & _BOOKS and named & {"metadata", "info", "describe"} and "book" in arguments else None


def _is_sheets(named: set[str], purpose: Purpose) -> bool:
    return (
        bool(named & (_BOOKS | _SHEETS))
        or any(word in " ".join(purpose.arguments).lower() for word in ("cell", "sheet"))
        or purpose.says(*_BOOKS, *_SHEETS)
    )


_VERBS = {"read": "get", "check": "get", "merged": "get", "sheets": "list", "create_sheet": "create",
          "copy_sheet": "create", "create_book": "create",
          "delete_sheet": "delete"}  # fmt: skip


def plan_for(one: Found) -> Plan:
    reasons = (f"cells by {', '.join(one.arguments.values())}",)
    verb = _VERBS.get(one.operation, "update")
    return plan_of(one.purpose, one.operation, "spreadsheets", one.arguments, 0.8, reasons, verb=verb, entity=SHEET)


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
        if snake(name) in _BOOKS:
            books = as_object(part)
            rows = [
                sheet_of(book, sheet, [[*as_list(row)] for row in as_list(cells)])
                for book, sheets in books.items()
                for sheet, cells in as_object(as_object(sheets).get("sheets", sheets)).items()
            ]
            return rows, {other: value for other, value in body.items() if other != name}
        if snake(name) in _SHEETS and as_object(part):
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
