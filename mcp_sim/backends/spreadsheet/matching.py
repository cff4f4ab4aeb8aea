"""Match tools to operations on sheets of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.spreadsheet.arguments import BOOKS, MAKES, READS, SHEETS, TAKES, assign_arguments
from mcp_sim.backends.spreadsheet.entities import SHEET
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake, vocabulary
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
_OTHER_SUBJECTS = vocabulary("merged validation validations conditional")
MARKS = vocabulary("format merge unmerge style highlight")


@dataclass(frozen=True, slots=True)
class MatchedTool:
    profile: ToolProfile
    operation: str
    arguments: Mapping[str, str]


def match_tool(profile: ToolProfile) -> MatchedTool | None:
    arguments = assign_arguments(profile)
    operation = _operation(set(profile.words), arguments, profile)
    needed = _NEEDED.get(operation or "", ())
    stray = {name for name in profile.needed if name not in arguments.values() and not _is_option(profile, name)}
    if operation is None or any(not _has(role, arguments) for role in needed) or (stray and operation != "mark"):
        return None
    return MatchedTool(profile, operation, arguments)


def _is_option(profile: ToolProfile, name: str) -> bool:
    """Return whether an argument is only a flag."""
    return main_type(profile.arguments.get(name, {})) == "boolean"


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


def _operation(named: set[str], arguments: Mapping[str, str], profile: ToolProfile) -> str | None:
    """Return the operation of a tool by its words and arguments."""
    if named & (_CHECKS | _OTHER_SUBJECTS) or "copy" in named:
        return _range_operation(named, arguments, profile)
    if named & MARKS and (named & (_CELLS | SHEETS)) and _has("sheet|range|start", arguments):
        return "mark"
    ways = (
        _line_operation(named, arguments),
        _shift_operation(named, arguments),
        _search_operation(named, arguments),
        _cell_operation(named, arguments, profile),
    )
    found = next((one for one in ways if one is not None), None) or _sheet_operation(named, arguments, profile)
    return found or ("mark" if _is_annotation(profile, arguments) else None)


def _is_annotation(profile: ToolProfile, arguments: Mapping[str, str]) -> bool:
    """Return whether a tool puts something onto a sheet that is no cell: a note, a chart, a picture."""
    is_placed = "book" in arguments and "sheet" in arguments
    return is_placed and profile.words[0] in _PUTS and not set(profile.words) & {*_CELLS, *SHEETS}


def _search_operation(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Return the operation that finds or replaces the content of cells, if it is one."""
    if "query" not in arguments or "book" not in arguments or "directory" in named:
        return None
    if not named & (_CELLS | SHEETS | BOOKS) and named != {"search"}:
        return None
    if "replace" in named and "new_text" in arguments:
        return "replace"
    return "find" if named & {"find", "search"} and not named & _LINES else None


def _cell_operation(named: set[str], arguments: Mapping[str, str], profile: ToolProfile) -> str | None:
    """Return the operation that reads, writes or clears cells, if it is one."""
    has_place, has_sheet = _has("range|start", arguments), _has("sheet|range", arguments)
    if "append" in named and "values" in arguments and has_sheet:
        return "append"
    if named & {"clear", *TAKES} and has_place and has_sheet:
        return "clear"
    is_file_edit = {"old_string", "old_text", "old_str"} & {snake(name) for name in profile.arguments}
    if named & _WRITES and _has("values|value", arguments) and has_place and not is_file_edit:
        return "write"
    if not named & READS or named & (_DESCRIBES | _EXTENTS):
        return None
    is_read = has_place and _has("sheet|book", arguments) and _mentions_sheets(named, profile)
    return "read" if is_read or ("sheet" in arguments and named & _CONTENTS) else None


def _line_operation(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Return the operation that returns the first row, or the number of the last one, if it is one."""
    if "sheet" not in arguments or not named & {*READS, "find", "list"}:
        return None
    return "headers" if named & _HEADERS else "last_row" if {"last", "row"} <= named else None


def _shift_operation(named: set[str], arguments: Mapping[str, str]) -> str | None:
    """Return the operation that inserts or deletes rows or columns, if it is one."""
    if "at" not in arguments or "sheet" not in arguments or not named & {*MAKES, *TAKES}:
        return None
    rows, columns = named & {"rows", "row"}, named & (_LINES - {"rows", "row"})
    if rows and columns:
        return "shift_by_axis" if "axis" in arguments else None
    done = "insert" if named & MAKES else "delete"
    return f"{done}_rows" if rows else f"{done}_columns" if columns else None


def _range_operation(named: set[str], arguments: Mapping[str, str], profile: ToolProfile) -> str | None:
    """Return the operation that validates formulas or ranges, copies cells, or lists merges, if it is one."""
    if named & _CHECKS:
        return "check" if named & {"formula", "range", "cell", "cells"} and "at" not in arguments else None
    if "copy" in named and named & {"range", "cells", "cell", "data"} and _has("range|start", arguments):
        return "copy_cells"
    if "merged" in named:
        return "merged" if named & {*READS, "list"} and "sheet" in arguments else None
    return _sheet_operation(named, arguments, profile) if "copy" in named else None


def _sheet_operation(named: set[str], arguments: Mapping[str, str], profile: ToolProfile) -> str | None:
    """Return the operation on a whole sheet or workbook, if it is one."""
    if named & SHEETS:
        return _one_sheet_operation(named, arguments)
    if named & BOOKS and "to_book" in arguments and named & {"copy", "duplicate"}:
        return "copy_book"
    is_book = named & BOOKS or ("file" in named and "book" in arguments and profile.mentions(*BOOKS))
    if is_book and named & {"create", "new"} and not named & SHEETS:
        return "create_book"
    if named & _WHOLES and "list" in named and "sheet" not in arguments:
        return "books"
    return "sheets" if named & BOOKS and named & _DESCRIBES and "book" in arguments else None


def _one_sheet_operation(named: set[str], arguments: Mapping[str, str]) -> str | None:
    for words, operation in (({"rename"}, "rename_sheet"), ({"copy", "duplicate"}, "copy_sheet"),
                             (TAKES, "delete_sheet"), (MAKES, "create_sheet")):  # fmt: skip
        if named & words:
            return operation
    if named & _EXTENTS and named & READS and "book" in arguments:
        return "dimensions"
    if "sheet" in arguments:
        return "about_sheet" if named & _DESCRIBES else None
    return "sheets" if named & {"list", "get", "names", *_DESCRIBES} and "book" in arguments else None


def _mentions_sheets(named: set[str], profile: ToolProfile) -> bool:
    return (
        bool(named & (BOOKS | SHEETS))
        or any(word in " ".join(profile.arguments).lower() for word in ("cell", "sheet"))
        or profile.mentions(*BOOKS, *SHEETS)
    )


_VERBS = {"read": "get", "check": "get", "merged": "get", "sheets": "list", "create_sheet": "create",
          "copy_sheet": "create", "create_book": "create", "copy_book": "create", "books": "list", "find": "search",
          "about_sheet": "get", "dimensions": "get", "headers": "get", "last_row": "get",
          "delete_sheet": "delete"}  # fmt: skip


def plan_for(one: MatchedTool) -> Plan:
    reasons = (f"cells by {', '.join(one.arguments.values())}",)
    verb = _VERBS.get(one.operation, "update")
    is_said = "sheet" in one.arguments or one.profile.mentions(*BOOKS)
    sure = 0.95 if is_said else 0.8
    return operation_plan(
        one.profile, one.operation, "spreadsheet", one.arguments, sure, reasons, verb=verb, entity=SHEET
    )
