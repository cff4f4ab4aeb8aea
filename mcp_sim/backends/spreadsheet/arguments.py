"""Words for workbooks and sheets, and the roles of arguments."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import snake, vocabulary

BOOKS = vocabulary("workbook workbooks spreadsheet spreadsheets excel xlsx")
SHEETS = vocabulary("sheet sheets worksheet worksheets tab tabs")
READS = vocabulary("read get fetch view")
MAKES = vocabulary("create add new insert")
TAKES = vocabulary("delete remove drop")


_ROLES: Mapping[str, frozenset[str]] = {
    "book": vocabulary("filepath file_path filename file_name path workbook workbook_path spreadsheet spreadsheet_id "
                       "workbook_id workbook_name excel_file file absolute_path file_absolute_path excel_path"),
    "sheet": vocabulary("sheet_name sheet worksheet worksheet_name tab tab_name sheet_title source_sheet old_name "
                        "source_name src_sheet_name source_sheet_name title"),
    "target": vocabulary("target_start target_cell target_range destination_cell destination_range to_cell dest_cell "
                         "target_start_cell dest_start destination_start dest_range"),
    "new": vocabulary("new_name target_sheet new_sheet_name new_title target_name dst_sheet to_sheet dest_sheet "
                      "destination_sheet dst_sheet_name dest_sheet_name target_sheet_name"),
    "range": vocabulary("range cell_range address cells range_address range_name source_range data_range range_str "
                        "range_a1 a1_range range_ref"),
    "start": vocabulary("start_cell cell cell_reference cell_address start top_left_cell source_start "
                        "source_start_cell source_cell from_cell at anchor anchor_cell"),
    "end": vocabulary("end_cell end bottom_right_cell source_end source_end_cell"),
    "values": vocabulary("data values rows row_data cell_values"),
    "value": vocabulary("value cell_value formula content"),
    "at": vocabulary("start_row row row_index start_column start_col column column_index col_index col row_number "
                     "column_number index position start_index start"),
    "count": vocabulary("count num_rows num_cols num_columns number amount rows_count"),
    "axis": vocabulary("axis dimension"),
    "sheets": vocabulary("sheets sheet_names worksheets"),
    "overwrite": vocabulary("overwrite force replace_existing"),
    "make": vocabulary("new_sheet create_sheet create_if_missing create_if_not_exists create"),
    "query": vocabulary("query pattern search search_term search_text find find_text keyword text"),
    "new_text": vocabulary("replacement replace replace_text replace_with new_text"),
    "to_book": vocabulary("destination dest target output_path new_path destination_path target_path output_file"),
    "from_book": vocabulary("source source_path source_file"),
    "header_row": vocabulary("header_row header_row_index header_row_number"),
    "directory": vocabulary("directory dir folder directory_path folder_path"),
}  # fmt: skip
_TYPES: Mapping[str, frozenset[str]] = {
    "values": frozenset({"array"}),
    "at": frozenset({"integer", "number"}),
    "count": frozenset({"integer", "number"}),
    "header_row": frozenset({"integer", "number"}),
    "value": frozenset({"string", "number", "integer", "boolean"}),
    "sheets": frozenset({"array"}),
    "overwrite": frozenset({"boolean"}),
    "make": frozenset({"boolean"}),
}
_BOUNDS: Mapping[str, frozenset[str]] = {
    "top": vocabulary("start_row from_row first_row min_row"),
    "bottom": vocabulary("end_row to_row last_row max_row"),
    "left": vocabulary("start_column start_col from_column first_column min_col"),
    "right": vocabulary("end_column end_col to_column last_column max_col"),
}
"""Numbers of the first and last row and column to read."""


def assign_arguments(profile: ToolProfile) -> dict[str, str]:
    found: dict[str, str] = {}
    free = dict(profile.arguments)
    for role, names in _roles(profile).items():
        of_type = _TYPES.get(role, frozenset({"string", "integer"} if role in {"book", "sheet"} else {"string"}))
        if role in _BOUNDS:
            of_type = frozenset({"integer", "number"})
        name = next((n for n in free if snake(n) in names and _fits(free[n], of_type)), None)
        if name is not None:
            found[role] = name
            del free[name]
    return found


def _roles(profile: ToolProfile) -> Mapping[str, frozenset[str]]:
    """Return the names of arguments for each role, depending on the tool's words."""
    named = set(profile.words)
    if "copy" in named and named & {"range", "cells", "cell", "data"}:
        return {**_ROLES, "target": _ROLES["target"] | {"at", "to", "destination", "target", "dest"}}
    read = {role: names for role, names in {**_ROLES, **_BOUNDS}.items() if role != "at"} if named & READS else _ROLES
    if not named & SHEETS:
        return read
    bare = {"name"} if named & {*MAKES, *TAKES} else set[str]()
    new = {"new_name", "new_sheet_name"} if named & MAKES else set[str]()
    return {**read, "sheet": _ROLES["sheet"] | bare | new}


def _fits(schema: Record, types: frozenset[str]) -> bool:
    return bool(argument_types(schema) & types)
