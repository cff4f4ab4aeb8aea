"""Requests to spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.plans.spreadsheet import grids
from mcp_sim.plans.spreadsheet.given import DEFAULT_NAME, SHEET, WORKBOOK, key_of, sheet_of
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.result_schemas import result_schema


class SheetRequest(Request):
    """A call on a workbook. It works on the named workbook and sheet, by default on the newest one and its first."""

    @cached_property
    def workbook(self) -> str:
        """The name of the workbook. Raises `Refused` if it does not exist."""
        newest = next(reversed([str(key) for key, _ in self.view.rows(self.entity_named(WORKBOOK))]), DEFAULT_NAME)
        name = self.text("workbook", newest)
        if self.record(name, WORKBOOK) is None:
            raise Refused("not_found", f"Workbook not found: {name}", key=name, entity=WORKBOOK)
        return name

    def sheets(self, workbook: str = "") -> list[Record]:
        """Return the sheets of a workbook, by default of that of the call."""
        return [row for _, row in self.view.find(self.entity_named(SHEET), "workbook", workbook or self.workbook)]

    @cached_property
    def sheet(self) -> Record:
        """The sheet. Raises `Refused` if it does not exist, unless the call lets it be created."""
        return self.sheet_named(self.text("sheet"))

    def sheet_named(self, name: str) -> Record:
        """Return a sheet of the workbook, the first one if the name is empty. Raises `Refused` if it does not exist."""
        sheets = self.sheets()
        if not name and sheets:
            return sheets[0]
        record = self.record(key_of(self.workbook, name), SHEET)
        if record is not None:
            return record
        if name and self.flag("create"):
            return sheet_of(self.workbook, name, [])
        known = ", ".join(row["name"] for row in sheets)
        raise Refused("not_found", f"Sheet '{name}' not found. Available sheets: {known}", key=name, entity=SHEET)

    @property
    def address(self) -> str:
        """The address of the cells as the call gives it."""
        return ":".join(filter(None, (self.text("range"), self.text("end"))))

    @cached_property
    def area(self) -> tuple[Record, grids.Area]:
        """The sheet and the cells of the call, by default all cells. A first cell alone extends to the end."""
        if self.get("range") is None:
            numbers = [self.number(role) for role in ("top", "left", "bottom", "right")]
            first, last = (
                [max(number or 1, 1) - 1 for number in numbers[:2]],
                [number and max(number, 1) - 1 for number in numbers[2:]],
            )
            return self.sheet, grids.Area(*first, *last)
        named, cells = grids.area(self.address)
        is_open = "end" in self.binding.arguments and self.get("end") is None and ":" not in self.text("range")
        sheet = self.sheet_named(named) if named else self.sheet
        return sheet, replace(cells, bottom=None, right=None) if is_open else cells

    def store(self, record: Record, sentence: str, **facts: Json) -> Outcome:
        """Write a sheet. Return the outcome of the call."""
        self.put(record["id"], record, SHEET)
        return done(sentence, sheet=record["name"], sheet_name=record["name"], **facts)

    @cached_property
    def results(self) -> Mapping[str, Record]:
        """The schemas of the properties of results; empty if the tool declares none."""
        return properties(self.result)

    @cached_property
    def result(self) -> Record:
        """The schema of results; empty if the tool declares none."""
        return result_schema(self.tool) if self.tool is not None else {}
