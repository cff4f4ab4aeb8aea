"""Workbooks that tools call files: created with sheets, searched, and counted as descriptions say."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, backends, simulator, tool

_TABLE = {"type": "array", "items": {"type": "array"}}
_NUMBER = {"type": "integer"}
_FREE = {"type": "object", "additionalProperties": True}
_TOOLS = [
    tool(
        "xl_create_file", "Create an Excel file.", _FREE, file_path=TEXT, sheet_names={"type": "array", "items": TEXT}
    ),
    tool("xl_update_range", "Write cells.", _FREE, file_path=TEXT, cell_range=TEXT, data=_TABLE),
    tool("xl_get_range", "Read cells.", _FREE, file_path=TEXT, cell_range=TEXT),
    tool("xl_get_headers", "The first row.", _FREE, file_path=TEXT, sheet_name=TEXT),
    tool("xl_find_last_row", "The last row.", _FREE, file_path=TEXT, sheet_name=TEXT),
    tool("xl_search", "Search an Excel file.", _FREE, file_path=TEXT, pattern=TEXT),
    tool("xl_delete_rows", "Delete a row (1-based).", _FREE, file_path=TEXT, sheet_name=TEXT, row_index=_NUMBER),
    tool("xl_delete_columns", "Delete a column.", _FREE, file_path=TEXT, sheet_name=TEXT, column_index=_NUMBER),
]
_BOOK = {"file_path": "/tmp/bees.xlsx"}
_HIVES = {**_BOOK, "sheet_name": "Hives"}


async def test_a_file_with_sheets_is_a_workbook(tmp_path: Path) -> None:
    sim = simulator(tmp_path, _TOOLS)
    assert {one.split()[0] for one in backends(sim).values()} == {"spreadsheet"}
    async with sim.open() as world:
        await answered(world, "xl_create_file", **_BOOK, sheet_names=["Hives", "Notes"])
        rows = [["hive", "honey"], ["east", 4], ["west", 7]]
        await answered(world, "xl_update_range", **_BOOK, cell_range="Hives!A1:B3", data=rows)
        read = await answered(world, "xl_get_range", **_BOOK, cell_range="Hives!A1:B3")
        assert read == {"values": rows, "sheet_name": "Hives", "range": "A1:B3"}
        assert (await answered(world, "xl_get_headers", **_HIVES))["headers"] == ["hive", "honey"]
        assert (await answered(world, "xl_find_last_row", **_HIVES))["last_row"] == 3
        found = await answered(world, "xl_search", **_BOOK, pattern="west")
        assert found["matches"] == [{"sheet": "Hives", "cell": "A3", "value": "west"}]


async def test_the_description_defines_the_number_of_the_first_row(tmp_path: Path) -> None:
    async with simulator(tmp_path, _TOOLS).open() as world:
        await answered(world, "xl_create_file", **_BOOK, sheet_names=["Hives"])
        await answered(world, "xl_update_range", **_BOOK, cell_range="Hives!A1", data=[["a", "b"], ["c", "d"]])
        await answered(world, "xl_delete_rows", **_HIVES, row_index=1)
        await answered(world, "xl_delete_columns", **_HIVES, column_index=0)
        assert (await answered(world, "xl_get_headers", **_HIVES))["headers"] == ["d"]
