"""Tools that work on sheets of cells."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.backend_answers import INTEGER, STRING, Json, error_text, simulator, success_value, tool

from mcp_sim.plans.library import Library
from mcp_sim.plans.spreadsheet import grids

TABLE: Json = {"type": "array", "items": {"type": "array"}}
FILE = {"filepath": STRING}
SHEET = {**FILE, "sheet_name": STRING}
EXCEL = [
    tool("create_workbook", FILE),
    tool("create_worksheet", SHEET),
    tool("write_data_to_excel", {**SHEET, "data": TABLE, "start_cell": STRING}, optional=["start_cell"]),
    tool(
        "read_data_from_excel", {**SHEET, "start_cell": STRING, "end_cell": STRING}, optional=["start_cell", "end_cell"]
    ),
    tool("apply_formula", {**SHEET, "cell": STRING, "formula": STRING}),
    tool("insert_rows", {**SHEET, "start_row": INTEGER, "count": INTEGER}, optional=["count"]),
    tool("delete_sheet_columns", {**SHEET, "start_col": INTEGER}),
    tool("delete_range", {**SHEET, "start_cell": STRING, "end_cell": STRING}),
    tool("rename_worksheet", {**FILE, "old_name": STRING, "new_name": STRING}),
    tool("delete_worksheet", SHEET),
    tool("get_workbook_metadata", FILE),
    tool("merge_cells", {**SHEET, "start_cell": STRING, "end_cell": STRING}),
]
BOOK = {"filepath": "sales.xlsx"}
PLACE = {**BOOK, "sheet_name": "Sheet1"}


async def test_written_cells_are_read_back(tmp_path: Path) -> None:
    async with simulator(tmp_path, EXCEL) as sim, sim.open() as world:
        success_value(await world.call("create_workbook", BOOK))
        success_value(
            await world.call(
                "write_data_to_excel", {**PLACE, "data": [["name", "sum"], ["Ada", 3]], "start_cell": "B2"}
            )
        )
        assert success_value(
            await world.call("read_data_from_excel", {**PLACE, "start_cell": "B2", "end_cell": "C3"})
        ) == [
            ["name", "sum"],
            ["Ada", 3],
        ]
        assert success_value(await world.call("read_data_from_excel", PLACE)) == [
            [None, None, None],
            [None, "name", "sum"],
            [None, "Ada", 3],
        ]
        success_value(await world.call("apply_formula", {**PLACE, "cell": "C4", "formula": "=SUM(C3:C3)"}))
        assert (
            success_value(await world.call("read_data_from_excel", {**PLACE, "start_cell": "C4", "end_cell": "C4"}))
            == "=SUM(C3:C3)"
        )


async def test_inserted_and_deleted_rows_and_columns_shift_the_others(tmp_path: Path) -> None:
    async with (
        simulator(tmp_path, EXCEL, state={"workbooks": {"sales.xlsx": {"Sheet1": [[1, 2], [3, 4]]}}}) as sim,
        sim.open() as world,
    ):
        success_value(await world.call("insert_rows", {**PLACE, "start_row": 2}))
        assert success_value(await world.call("read_data_from_excel", PLACE)) == [[1, 2], [None, None], [3, 4]]
        success_value(await world.call("delete_sheet_columns", {**PLACE, "start_col": 1}))
        assert success_value(await world.call("read_data_from_excel", PLACE)) == [[2], [None], [4]]
        success_value(await world.call("delete_range", {**PLACE, "start_cell": "A3", "end_cell": "A3"}))
        assert success_value(await world.call("read_data_from_excel", PLACE)) == [[2], [None], [None]]
        assert "Invalid row: 0" in error_text(await world.call("insert_rows", {**PLACE, "start_row": 0}))


async def test_sheets_are_created_renamed_and_deleted_by_name(tmp_path: Path) -> None:
    async with simulator(tmp_path, EXCEL) as sim, sim.open() as world:
        success_value(await world.call("create_workbook", BOOK))
        assert "already exists" in error_text(await world.call("create_workbook", BOOK))
        success_value(await world.call("create_worksheet", {**BOOK, "sheet_name": "Data"}))
        success_value(await world.call("rename_worksheet", {**BOOK, "old_name": "Data", "new_name": "Facts"}))
        assert success_value(await world.call("get_workbook_metadata", BOOK))["sheets"] == ["Sheet1", "Facts"]
        success_value(await world.call("delete_worksheet", PLACE))
        assert "at least one sheet" in error_text(await world.call("delete_worksheet", {**BOOK, "sheet_name": "Facts"}))
        assert "Available sheets: Facts" in error_text(await world.call("read_data_from_excel", PLACE))
        assert "Workbook not found: other.xlsx" in error_text(
            await world.call("read_data_from_excel", {**PLACE, "filepath": "other.xlsx"})
        )
        facts = {**BOOK, "sheet_name": "Facts"}
        assert "Invalid cell reference: '3B'" in error_text(
            await world.call("apply_formula", {**facts, "cell": "3B", "formula": "=1"})
        )
        success_value(await world.call("merge_cells", {**facts, "start_cell": "A1", "end_cell": "B1"}))


@given(st.integers(0, 18_000))
def test_columns_have_letters(number: int) -> None:
    assert grids.column(grids.letters(number)) == number


async def test_the_size_of_a_sheet_is_limited(tmp_path: Path) -> None:
    insert = tool("insert_columns", {**SHEET, "start_col": INTEGER, "count": INTEGER})
    async with simulator(tmp_path, [*EXCEL, insert]) as sim, sim.open() as world:
        success_value(await world.call("create_workbook", BOOK))
        write = {**PLACE, "data": [[1]] * 1000}
        assert "18,278,000 cells" in error_text(
            await world.call("write_data_to_excel", {**write, "start_cell": "ZZZ1"})
        )
        success_value(await world.call("write_data_to_excel", {**write, "start_cell": "A99001"}))
        everything = {**PLACE, "start_cell": "A1", "end_cell": "ZZZ100000"}
        assert "at most 1,000,000" in error_text(await world.call("read_data_from_excel", everything))
        assert "beyond the sheet" in error_text(await world.call("insert_rows", {**PLACE, "start_row": 1, "count": 9}))
        assert "cells" in error_text(await world.call("insert_columns", {**PLACE, "start_col": 1, "count": 99_000}))


async def test_operations_are_called_from_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, EXCEL).open() as world:
        spreadsheet = Library("spreadsheet", world.view, datetime(2026, 1, 1, tzinfo=UTC))
        spreadsheet.create_workbook("sales.xlsx", ["Week", "Notes"])
        spreadsheet.write_range("A1", [["day", "loaves"], ["Monday", 42]])
        spreadsheet.append_rows([["Tuesday", 38]])
        spreadsheet.write_cell("B4", "=SUM(B2:B3)")
        assert spreadsheet.read_range("B4").value == "=SUM(B2:B3)"
        assert spreadsheet.read_range("A1:B2").text == "day\tloaves\nMonday\t42"
        spreadsheet.insert_rows(2, values=["Sunday", 0])
        spreadsheet.delete_columns(1)
        assert spreadsheet.read_range(sheet="Week").value[:3] == [["loaves"], [0], [42]]
        spreadsheet.copy_range("A1:A2", "C1", new="Notes")
        assert spreadsheet.find_cells("loaves").text == "Week!A1: loaves\nNotes!C1: loaves"
        assert spreadsheet.replace_cells("loaves", "rolls", sheet="Notes").facts["count"] == 1
        spreadsheet.annotate("chart", "E1", sheet="Week", fields={"type": "bar"})
        spreadsheet.rename_sheet("Notes", "Remarks")
        assert spreadsheet.list_sheets("sales.xlsx").value == ["Week", "Remarks"]
        assert spreadsheet.list_workbooks().text == "sales.xlsx"
        assert {one.entity for one in spreadsheet.changes} == {"sheet", "workbook"}
