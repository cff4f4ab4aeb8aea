"""Backend for sheets of cells, addressed by sheet name, cell (`B3`) and range (`A1:C4`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import Names
from mcp_sim.backends.operations_backend import OperationsBackend, plans_by_prefix
from mcp_sim.backends.spreadsheet.given import DEFAULT_NAME, SHEET, WORKBOOK, given_sheets, sheet_of
from mcp_sim.backends.spreadsheet.operations import BOOKS, FORMATS, OPERATIONS
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.plans import Plan

_NAME = Field("name", {"type": "string"}, required=True)
_FIELDS = (
    Field("id", {"type": "string"}, required=True),
    Field("workbook", {"type": "string"}),
    Field("name", {"type": "string"}),
    Field("rows", {"type": ["array", "null"], "items": {"type": "array", "items": {}}}),
    Field("marks", {"type": ["array", "null"]}),
)


@backends.register("spreadsheet")
class Spreadsheet(OperationsBackend):
    """Workbooks with sheets: cells and ranges are read and written, rows and columns inserted and deleted.

    A workbook is identified by file name or id, a sheet by its name. Inserting shifts what follows. Formulas are stored
    as written and read as their values; invalid ones are refused. Evidence: tools that take a sheet together with an
    address.
    """

    order = 110
    operations = OPERATIONS
    request = "request:SheetRequest"
    entities = (
        Entity(SHEET, "id", None, {field.name: field for field in _FIELDS}, natural=True),
        Entity(WORKBOOK, "name", "report-001.xlsx", {"name": _NAME}, natural=True),
    )
    names: ClassVar[Names] = {"value": ("values", "data", "sheets", "result", "rows")}

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool, with what its name implies: the kind of a mark, and to read formulas."""
        if profile.has("validation", "conditional"):
            return
        kind = next((word for word in FORMATS if profile.has(word)), "_".join(profile.words[1:]))
        implied: Record = {"kind": kind, "formulas": profile.has("formula")}
        for one in super().match_tool(profile):
            fixed = {role: value for role, value in implied.items() if value and one.operation.role(role) is not None}
            sure = 0.95 if "sheet" in one.arguments or profile.mentions(*BOOKS) else 0.8
            yield replace(one, fixed=fixed, confidence=sure)

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept several tools if one of them reads or writes cells."""
        on_cells = {"read_range", "write_range", "write_cell", "append_rows"}
        return found if len(found) > 1 and not on_cells.isdisjoint(one.name for one in found) else []

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        return given_sheets(state, has_books=any("workbook" in one.arguments for one in matched), is_whole=is_whole)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give empty workbooks a sheet, and drop sheets without rows."""
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        for prefix, own in plans_by_prefix(plans).items():
            books: dict[Key, Record] = dict(tables.get(prefix + WORKBOOK, {}))
            known = tables.get(prefix + SHEET, {})
            sheets = {key: row for key, row in known.items() if isinstance(row.get("rows"), list)}
            owned = {row["workbook"] for row in sheets.values()}
            if not any("workbook" in plan.arguments for plan in own):
                books = {DEFAULT_NAME: {"name": DEFAULT_NAME}}
            added = (sheet_of(str(name), "Sheet1", []) for name in books if name not in owned)
            initial[prefix + SHEET] = {**sheets, **{sheet["id"]: sheet for sheet in added}}
            initial[prefix + WORKBOOK] = books
        return initial
