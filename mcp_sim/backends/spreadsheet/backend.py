"""Tools that work on sheets of cells: by sheet name, address (`B3`) and range (`A1:C4`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import whole_purposes
from mcp_sim.backends.spreadsheet.entities import ONLY, SHEET, WHOLE, entities, given_sheets, key_of, sheet_of
from mcp_sim.backends.spreadsheet.matching import plan_for, recognised
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("spreadsheet")
class Spreadsheet(Backend):
    """Workbooks with sheets: cells and ranges written and read, rows and columns put in and taken out.

    A workbook goes by its file name or id, a sheet by its name. What stands behind an inserted row moves down. Formulas
    are kept as they were written, and read as what they come to; one that is not understood is refused.
    Known by tools that take a sheet together with an address.
    """

    order = 110

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = [one for purpose in evidence.once(whole_purposes) if (one := recognised(purpose)) is not None]
        done = {one.operation for one in found}
        if not {"read", "write", "append"} & done or len(found) < 2:
            return None
        rows, state = given_sheets(evidence.state)
        records = {SHEET: rows, WHOLE: [{"name": name} for name in dict.fromkeys(str(row["workbook"]) for row in rows)]}
        return Match([plan_for(one) for one in found], entities(), records, state)

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """A workbook of which nothing is known has one empty sheet; a sheet without a workbook is none."""
        books: dict[Key, Record] = dict(tables.get(WHOLE, {}))
        sheets = {key: row for key, row in tables.get(SHEET, {}).items() if isinstance(row.get("rows"), list)}
        owned = {row["workbook"] for row in sheets.values()}
        if not any("book" in plan.arguments for plan in plans):
            books = {ONLY: {"name": ONLY}}
        sheets |= {key_of(name, "Sheet1"): sheet_of(str(name), "Sheet1", []) for name in books if name not in owned}
        complete_tables: dict[str, Mapping[Key, Record]] = dict(tables)
        complete_tables[WHOLE], complete_tables[SHEET] = books, sheets
        return complete_tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.spreadsheet.answer import answer

        return answer(tool, plan, domain)
