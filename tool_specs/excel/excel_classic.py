"""Excel workbooks with the tools of the first versions of the public server: formulas stay as they were written."""

import json
from functools import wraps
from posixpath import basename

from company import workbooks_of
from formulas import CELL, Parser, Wrong, address, corners
from grids import given_workbooks, numbers, put, used, value_at

from mcp_sim.programs import Refused, initial, tool

# fmt: off
tables = {
    "workbook": {"key": "path", "natural": True, "fields": {"path": "", "author": "openpyxl", "defined_names": {}}},
    "sheet": {
        "ids": "sheet-1", "links": {"workbook": "workbook"},
        "fields": {
            "workbook": "", "name": "", "position": 1, "rows": [], "notes": {}, "merged": [], "freeze_panes": "",
        },
    },
}
# fmt: on

FOLDER = "/data/"


class Problem(Exception):
    """What a tool says instead of its result. To the protocol it is a success."""


def worded(function):
    """Return what a function raises as `Problem` as its text."""

    @wraps(function)
    def answer(world, filepath, **arguments):
        if not filepath.startswith("/"):
            text = f"Invalid filename: {filepath}, must be an absolute path when not in SSE mode"
            raise Refused(f"Error executing tool {function.__name__}: {text}")
        try:
            return function(world, filepath, **arguments)
        except Problem as problem:
            return f"Error: {problem}"

    return answer


@initial
def begin(given, world):
    own = [(FOLDER + path, sheets) for path, sheets in workbooks_of(world)]
    for path, sheets in given_workbooks(given) or own:
        world.workbook.add(path=path)
        for position, (name, rows) in enumerate((sheets or {"Sheet1": []}).items(), 1):
            world.sheet.add(workbook=path, name=name, position=position, rows=[[*row] for row in rows])


def sheets_of(world, path):
    if path not in world.workbook:
        raise Problem(f"[Errno 2] No such file or directory: '{path}'")
    return sorted(world.sheet.find(workbook=path), key=lambda sheet: sheet["position"])


def sheet_at(world, path, name):
    for sheet in sheets_of(world, path):
        if sheet["name"] == name:
            return sheet
    raise Problem(f"Sheet '{name}' not found")


def place(cell):
    """Return row and column of a cell."""
    if not CELL.fullmatch(cell):
        raise Problem(f"Invalid start cell format: Invalid cell reference: {cell}")
    return corners(cell)[:2]


# workbooks and sheets -------------------------------------------------------------------------------------------------


@tool(verb="create", entity="workbook", key="filepath")
@worded
def create_workbook(world, filepath):
    for sheet in world.sheet.find(workbook=filepath):
        world.sheet.delete(sheet)
    world.workbook.delete(filepath)
    world.workbook.add(path=filepath)
    world.sheet.add(workbook=filepath, name="Sheet1")
    return f"Created workbook at {filepath}"


@tool(verb="create", entity="sheet")
@worded
def create_worksheet(world, filepath, sheet_name):
    sheets = sheets_of(world, filepath)
    if any(sheet["name"] == sheet_name for sheet in sheets):
        raise Problem(f"Sheet {sheet_name} already exists")
    world.sheet.add(workbook=filepath, name=sheet_name, position=len(sheets) + 1)
    return f"Sheet {sheet_name} created successfully"


@tool(verb="create", entity="sheet")
@worded
def copy_worksheet(world, filepath, source_sheet, target_sheet):
    source = named(world, filepath, source_sheet, "Source sheet")
    sheets = sheets_of(world, filepath)
    if any(sheet["name"] == target_sheet for sheet in sheets):
        raise Problem(f"Target sheet '{target_sheet}' already exists")
    rows = [[*row] for row in source["rows"]]
    world.sheet.add(workbook=filepath, name=target_sheet, position=len(sheets) + 1, rows=rows)
    return f"Sheet '{source_sheet}' copied to '{target_sheet}'"


def named(world, path, name, kind):
    for sheet in sheets_of(world, path):
        if sheet["name"] == name:
            return sheet
    raise Problem(f"{kind} '{name}' not found")


@tool(verb="delete", entity="sheet")
@worded
def delete_worksheet(world, filepath, sheet_name):
    sheet = sheet_at(world, filepath, sheet_name)
    if len(sheets_of(world, filepath)) == 1:
        raise Problem("Cannot delete the only sheet in workbook")
    world.sheet.delete(sheet)
    return f"Sheet '{sheet_name}' deleted"


@tool(verb="update", entity="sheet")
@worded
def rename_worksheet(world, filepath, old_name, new_name):
    sheet = sheet_at(world, filepath, old_name)
    if any(other["name"] == new_name for other in sheets_of(world, filepath)):
        raise Problem(f"Sheet '{new_name}' already exists")
    sheet["name"] = new_name
    return f"Sheet renamed from '{old_name}' to '{new_name}'"


@tool(reads=True)
@worded
def get_workbook_metadata(world, filepath, include_ranges=False):
    if filepath not in world.workbook:
        raise Problem(f"File not found: {filepath}")
    sheets = sheets_of(world, filepath)
    cells = sum(len(row) for sheet in sheets for row in sheet["rows"])
    about = {
        "filename": basename(filepath),
        "sheets": [sheet["name"] for sheet in sheets],
        "size": 4790 + 590 * (len(sheets) - 1) + 4 * cells,
        "modified": world.now.timestamp(),
    }
    if include_ranges:
        about["used_ranges"] = {sheet["name"]: whole(sheet["rows"]) for sheet in sheets}
    return str(about)


def whole(rows):
    """Return the range from A1 to the last cell with a value."""
    _, _, bottom, right = used(rows)
    return f"A1:{address(bottom, right, bottom, right)}"


# cells ----------------------------------------------------------------------------------------------------------------


@tool(reads=True, verb="get", entity="sheet")
@worded
def read_data_from_excel(world, filepath, sheet_name, start_cell="A1", end_cell=None):
    try:
        sheet = sheet_at(world, filepath, sheet_name)
        top, left = place(start_cell)
    except Problem as problem:
        raise Refused(f"Error executing tool read_data_from_excel: {problem}") from None
    rows = sheet["rows"]
    if end_cell is None:
        first_row, first_column, bottom, right = used(rows)
        top, left = (first_row, first_column) if start_cell == "A1" else (top, left)
        bottom, right = max(bottom, top), max(right, left)
    else:
        bottom, right = place(end_cell)
    cells = [
        {
            "address": address(row, column, row, column),
            "value": value_at(rows, row, column),
            "row": row,
            "column": column,
            "validation": {"has_validation": False},
        }
        for row in numbers(top, bottom)
        for column in numbers(left, right)
    ]
    first, last = address(top, left, top, left), address(bottom, right, bottom, right)
    shown = {"range": f"{first}:{last}", "sheet_name": sheet_name, "cells": cells}
    return json.dumps(shown, indent=2, ensure_ascii=False)


@tool(verb="update", entity="sheet")
@worded
def write_data_to_excel(world, filepath, sheet_name, data, start_cell="A1"):
    sheets = sheets_of(world, filepath)
    if not data:
        raise Problem("No data provided to write")
    top, left = place(start_cell)
    sheet = next((sheet for sheet in sheets if sheet["name"] == sheet_name), None)
    if sheet is None:
        sheet = world.sheet.add(workbook=filepath, name=sheet_name, position=len(sheets) + 1)
    for row, values in enumerate(data, top):
        for column, value in enumerate(values, left):
            put(sheet["rows"], row, column, value)
    return f"Data written to {sheet_name}"


def check_formula(formula):
    if not formula.startswith("="):
        raise Problem("Invalid formula syntax: Formula must start with '='")
    if formula.count("(") != formula.count(")"):
        raise Problem("Invalid formula syntax: Unclosed parenthesis")
    try:
        Parser(formula).parse()
    except Wrong as reason:
        raise Problem(f"Invalid formula syntax: {reason}") from None


@tool(verb="update", entity="sheet")
@worded
def apply_formula(world, filepath, sheet_name, cell, formula):
    sheet = sheet_at(world, filepath, sheet_name)
    check_formula(formula)
    row, column = place(cell)
    put(sheet["rows"], row, column, formula)
    return f"Applied formula '{formula}' to cell {cell}"


@tool(reads=True, verb="get", key="filepath")
@worded
def validate_formula_syntax(world, filepath, sheet_name, cell, formula):
    sheet = sheet_at(world, filepath, sheet_name)
    check_formula(formula)
    current = value_at(sheet["rows"], *place(cell))
    if not str(current or "").startswith("="):
        return "Formula is valid but cell contains no formula"
    text = "'NoneType' object is not subscriptable"  # as the server fails where there is a formula
    raise Refused(f"Error executing tool validate_formula_syntax: {text}")


@tool(verb="update", entity="sheet")
@worded
def copy_range(world, filepath, sheet_name, source_start, source_end, target_start, target_sheet=None):
    sheet = sheet_at(world, filepath, sheet_name)
    names = [other["name"] for other in sheets_of(world, filepath)]
    if target_sheet is not None and target_sheet not in names:
        raise Problem(f"Failed to copy range: 'Worksheet {target_sheet} does not exist.'")
    into = sheet if target_sheet is None else sheet_at(world, filepath, target_sheet)
    (top, left), (bottom, right), (row, column) = place(source_start), place(source_end), place(target_start)
    values = [[value_at(sheet["rows"], r, c) for c in numbers(left, right)] for r in numbers(top, bottom)]
    for down, line in enumerate(values):
        for along, value in enumerate(line):
            put(into["rows"], row + down, column + along, value)
    return "Range copied successfully"


@tool(verb="update", entity="sheet")
@worded
def delete_range(world, filepath, sheet_name, start_cell, end_cell, shift_direction="up"):
    rows = sheet_at(world, filepath, sheet_name)["rows"]
    (top, left), (bottom, right) = place(start_cell), place(end_cell)
    _, _, last_row, last_column = used(rows)
    if shift_direction == "up":
        for row in numbers(top, max(last_row, bottom)):
            for column in numbers(left, right):
                put(rows, row, column, value_at(rows, row + bottom - top + 1, column))
    else:
        for row in numbers(top, bottom):
            for column in numbers(left, max(last_column, right)):
                put(rows, row, column, value_at(rows, row, column + right - left + 1))
    return f"Range {start_cell}:{end_cell} deleted successfully"


@tool(reads=True, verb="get")
@worded
def validate_excel_range(world, filepath, sheet_name, start_cell, end_cell=None):
    sheet = sheet_at(world, filepath, sheet_name)
    name = start_cell if end_cell is None else f"{start_cell}:{end_cell}"
    return f"Range '{name}' is valid. Sheet contains data in range '{whole(sheet['rows'])}'"


@tool(reads=True, verb="get", key="filepath")
@worded
def get_data_validation_info(world, filepath, sheet_name):
    sheet_at(world, filepath, sheet_name)
    return "No data validation rules found in this worksheet"


@tool(verb="none")
@worded
def format_range(world, filepath, sheet_name, **_style):
    sheet_at(world, filepath, sheet_name)
    return "Range formatted successfully"


@tool(verb="update", entity="sheet")
@worded
def merge_cells(world, filepath, sheet_name, start_cell, end_cell):
    sheet = sheet_at(world, filepath, sheet_name)
    sheet["merged"].append(f"{start_cell}:{end_cell}")
    return f"Range '{start_cell}:{end_cell}' merged in sheet '{sheet_name}'"


@tool(verb="update", entity="sheet")
@worded
def unmerge_cells(world, filepath, sheet_name, start_cell, end_cell):
    sheet, name = sheet_at(world, filepath, sheet_name), f"{start_cell}:{end_cell}"
    if name not in sheet["merged"]:
        raise Problem(f"Range '{name}' is not merged")
    sheet["merged"].remove(name)
    return f"Range '{name}' unmerged successfully"


@tool(reads=True)
@worded
def get_merged_cells(world, filepath, sheet_name):
    return str([*sheet_at(world, filepath, sheet_name)["merged"]])


# rows and columns -----------------------------------------------------------------------------------------------------


def check_start(noun, start, count):
    if start < 1:
        raise Problem(f"Start {noun} must be 1 or greater")
    if count < 1:
        raise Problem("Count must be 1 or greater")


@tool(verb="update", entity="sheet")
@worded
def insert_rows(world, filepath, sheet_name, start_row, count=1):
    sheet = sheet_at(world, filepath, sheet_name)
    check_start("row", start_row, count)
    if start_row <= len(sheet["rows"]):
        sheet["rows"][start_row - 1 : start_row - 1] = [[] for _ in range(count)]
    return f"Inserted {count} row(s) starting at row {start_row} in sheet '{sheet_name}'"


@tool(verb="update", entity="sheet")
@worded
def insert_columns(world, filepath, sheet_name, start_col, count=1):
    sheet = sheet_at(world, filepath, sheet_name)
    check_start("column", start_col, count)
    for row in sheet["rows"]:
        if start_col <= len(row):
            row[start_col - 1 : start_col - 1] = [None] * count
    return f"Inserted {count} column(s) starting at column {start_col} in sheet '{sheet_name}'"


@tool(verb="update", entity="sheet", key="sheet_name")
@worded
def delete_sheet_rows(world, filepath, sheet_name, start_row, count=1):
    sheet = sheet_at(world, filepath, sheet_name)
    check_start("row", start_row, count)
    if start_row > len(sheet["rows"]):
        raise Problem(f"Start row {start_row} exceeds worksheet bounds (max row: {len(sheet['rows'])})")
    del sheet["rows"][start_row - 1 : start_row - 1 + count]
    return f"Deleted {count} row(s) starting at row {start_row} in sheet '{sheet_name}'"


@tool(verb="update", entity="sheet", key="sheet_name")
@worded
def delete_sheet_columns(world, filepath, sheet_name, start_col, count=1):
    sheet = sheet_at(world, filepath, sheet_name)
    check_start("column", start_col, count)
    width = used(sheet["rows"])[3]
    if start_col > width:
        raise Problem(f"Start column {start_col} exceeds worksheet bounds (max column: {width})")
    for row in sheet["rows"]:
        del row[start_col - 1 : start_col - 1 + count]
    return f"Deleted {count} column(s) starting at column {start_col} in sheet '{sheet_name}'"
