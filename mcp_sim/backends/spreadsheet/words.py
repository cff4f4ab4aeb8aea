"""Which words speak of workbooks and sheets, and of what is done to them?"""

from __future__ import annotations

from mcp_sim.types.lexicon.words import vocabulary

BOOKS = vocabulary("workbook workbooks spreadsheet spreadsheets excel xlsx")
SHEETS = vocabulary("sheet sheets worksheet worksheets tab tabs")
READS = vocabulary("read get fetch view")
MAKES = vocabulary("create add new insert")
TAKES = vocabulary("delete remove drop")
