"""Which tools work on sheets of cells, and what does each do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.matching.operations import plan_of
from mcp_sim.backends.matching.tool_profiles import Purpose
from mcp_sim.backends.spreadsheet.arguments import BOOKS, MAKES, READS, SHEETS, TAKES, arguments_of
from mcp_sim.backends.spreadsheet.entities import SHEET
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import snake, vocabulary
from mcp_sim.types.plans import Plan

_WHOLES = vocabulary("workbook workbooks spreadsheet spreadsheets")
_DESCRIBES = vocabulary("metadata info describe information summary")
_WRITES = vocabulary("write update set put fill apply edit")
_CHECKS = vocabulary("validate check verify")
_CONTENTS = vocabulary("data values content contents rows sheet worksheet")
_CELLS = vocabulary("cell cells range data values row rows column columns formula formulas")
_LINES = vocabulary("row rows column columns cols")
_HEADERS = vocabulary("header headers")
_EXTENTS = vocabulary("dimensions dimension size extent bounds")
_PUTS = vocabulary("add create insert set apply")
_OTHER_MATTERS = vocabulary("merged validation validations conditional")
MARKS = vocabulary("format merge unmerge style highlight")


@dataclass(frozen=True, slots=True)
class Found:
    purpose: Purpose
    operation: str
    arguments: Mapping[str, str]


def recognised(purpose: Purpose) -> Found | None:
    arguments = arguments_of(purpose)
    operation = _operation(set(purpose.words), arguments, purpose)
    needed = _NEEDED.get(operation or "", ())
    stray = {name for name in purpose.needed if name not in arguments.values() and not _is_option(purpose, name)}
    if operation is None or any(not _has(role, arguments) for role in needed) or (stray and operation != "mark"):
        return None
    return Found(purpose, operation, arguments)


def _is_option(purpose: Purpose, name: str) -> bool:
    """Does it only say yes or no?"""
    return main_type(purpose.arguments.get(name, {})) == "boolean"


_NEEDED: Mapping[str, Sequence[str]] = {
    "write": ("values|value",), "create_sheet": ("sheet",), "rename_sheet": ("sheet", "new"),
    "delete_sheet": ("sheet",), "copy_sheet": ("sheet",), "append": ("values",), "clear": ("range|start",),
    "copy_cells": ("range|start", "target"), "check": ("value|range|start",), "merged": ("sheet",),
    "insert_rows": ("at",), "insert_columns": ("at",), "delete_rows": ("at",), "delete_columns": ("at",),
    "create_book": ("book",), "sheets": ("book|sheet",), "mark": ("sheet|range|start",),
    "shift_by_axis": ("axis", "at"),
    "copy_book": ("from_book|book", "to_book"), "find": ("query",), "replace": ("query", "new_text"),
    "about_sheet": ("sheet",), "dimensions": ("book|sheet",),
}  # fmt: skip


def _has(roles: str, arguments: Mapping[str, str]) -> bool:
    return any(role in arguments for role in roles.split("|"))


def _operation(named: set[str], arguments: Mapping[str, str], purpose: Purpose) -> str | None:
    """What a tool does, by its words and by which arguments it has."""
    if named & (_CHECKS | _OTHER_MATTERS) or "copy" in named:
        return _of_ranges(named, arguments, purpose)
    if named & MARKS and (named & (_CELLS | SHEETS)) and _has("sheet|range|start", arguments):
        return "mark"
    ways = (
        _lines_of(named, arguments),
        _shifted(named, arguments),
        _searched(named, arguments),
        _of_cells(named, arguments, purpose),
    )
    found = next((one for one in ways if one is not None), None) or _of_sheets(named, arguments, purpose)
    return found or ("mark" if _puts_on(purpose, arguments) else None)


def _puts_on(purpose: Purpose, arguments: Mapping[str, str]) -> bool:
    """Is something put onto a sheet of a workbook that is no cell: a note, a chart, a rule, a picture?"""
    is_placed = "book" in arguments and "sheet" in arguments
    return is_placed and purpose.words[0] in _PUTS and not set(purpose.words) & {*_CELLS, *SHEETS}


def _searched(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Are cells looked for by what they hold, or is that replaced?"""
    if "query" not in arguments or "book" not in arguments or "directory" in named:
        return None
    if not named & (_CELLS | SHEETS | BOOKS) and named != {"search"}:
        return None
    if "replace" in named and "new_text" in arguments:
        return "replace"
    return "find" if named & {"find", "search"} and not named & _LINES else None


def _of_cells(named: set[str], arguments: Mapping[str, str], purpose: Purpose) -> str | None:
    """Are cells read, written or cleared?"""
    has_place, has_sheet = _has("range|start", arguments), _has("sheet|range", arguments)
    if "append" in named and "values" in arguments and has_sheet:
        return "append"
    if named & {"clear", *TAKES} and has_place and has_sheet:
        return "clear"
    is_file_edit = {"old_string", "old_text", "old_str"} & {snake(name) for name in purpose.arguments}
    if named & _WRITES and _has("values|value", arguments) and has_place and not is_file_edit:
        return "write"
    if not named & READS or named & (_DESCRIBES | _EXTENTS):
        return None
    is_read = has_place and _has("sheet|book", arguments) and _is_sheets(named, purpose)
    return "read" if is_read or ("sheet" in arguments and named & _CONTENTS) else None


def _lines_of(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Is it asked for the first row, or for how far down a sheet reaches?"""
    if "sheet" not in arguments or not named & {*READS, "find", "list"}:
        return None
    return "headers" if named & _HEADERS else "last_row" if {"last", "row"} <= named else None


def _shifted(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Are rows or columns put in, or taken out?"""
    if "at" not in arguments or "sheet" not in arguments or not named & {*MAKES, *TAKES}:
        return None
    rows, columns = named & {"rows", "row"}, named & (_LINES - {"rows", "row"})
    if rows and columns:
        return "shift_by_axis" if "axis" in arguments else None
    done = "insert" if named & MAKES else "delete"
    return f"{done}_rows" if rows else f"{done}_columns" if columns else None


def _of_ranges(named: set[str], arguments: Mapping[str, str], purpose: Purpose) -> str | None:
    """Is a formula or a range looked at, are cells copied, merged ones listed? Rules and conditions are no cells."""
    if named & _CHECKS:
        return "check" if named & {"formula", "range", "cell", "cells"} and "at" not in arguments else None
    if "copy" in named and named & {"range", "cells", "cell", "data"} and _has("range|start", arguments):
        return "copy_cells"
    if "merged" in named:
        return "merged" if named & {*READS, "list"} and "sheet" in arguments else None
    return _of_sheets(named, arguments, purpose) if "copy" in named else None


def _of_sheets(named: set[str], arguments: Mapping[str, str], purpose: Purpose) -> str | None:
    """What is done to a sheet, or to a workbook, as a whole?"""
    if named & SHEETS:
        return _of_one_sheet(named, arguments)
    if named & BOOKS and "to_book" in arguments and named & {"copy", "duplicate"}:
        return "copy_book"
    is_book = named & BOOKS or ("file" in named and "book" in arguments and purpose.says(*BOOKS))
    if is_book and named & {"create", "new"} and not named & SHEETS:
        return "create_book"
    if named & _WHOLES and "list" in named and "sheet" not in arguments:
        return "books"
    return "sheets" if named & BOOKS and named & _DESCRIBES and "book" in arguments else None


def _of_one_sheet(named: set[str], arguments: Mapping[str, str]) -> str | None:
    for words, operation in (({"rename"}, "rename_sheet"), ({"copy", "duplicate"}, "copy_sheet"),
                             (TAKES, "delete_sheet"), (MAKES, "create_sheet")):  # fmt: skip
        if named & words:
            return operation
    if named & _EXTENTS and named & READS and "book" in arguments:
        return "dimensions"
    if "sheet" in arguments:
        return "about_sheet" if named & _DESCRIBES else None
    return "sheets" if named & {"list", "get", "names", *_DESCRIBES} and "book" in arguments else None


def _is_sheets(named: set[str], purpose: Purpose) -> bool:
    return (
        bool(named & (BOOKS | SHEETS))
        or any(word in " ".join(purpose.arguments).lower() for word in ("cell", "sheet"))
        or purpose.says(*BOOKS, *SHEETS)
    )


_VERBS = {"read": "get", "check": "get", "merged": "get", "sheets": "list", "create_sheet": "create",
          "copy_sheet": "create", "create_book": "create", "copy_book": "create", "books": "list", "find": "search",
          "about_sheet": "get", "dimensions": "get", "headers": "get", "last_row": "get",
          "delete_sheet": "delete"}  # fmt: skip


def plan_for(one: Found) -> Plan:
    reasons = (f"cells by {', '.join(one.arguments.values())}",)
    verb = _VERBS.get(one.operation, "update")
    is_said = "sheet" in one.arguments or one.purpose.says(*BOOKS)
    sure = 0.95 if is_said else 0.8
    return plan_of(one.purpose, one.operation, "spreadsheet", one.arguments, sure, reasons, verb=verb, entity=SHEET)
