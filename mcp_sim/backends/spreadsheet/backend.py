"""Backend for sheets of cells, addressed by sheet name, cell (`B3`) and range (`A1:C4`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.backends.spreadsheet.entities import (
    DEFAULT_NAME,
    SHEET,
    WORKBOOK,
    entities,
    key_of,
    read_given_sheets,
    sheet_of,
)
from mcp_sim.backends.spreadsheet.matching import match_tool, plan_for
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("spreadsheet")
class Spreadsheet(Backend):
    """Workbooks with sheets: cells and ranges are read and written, rows and columns inserted and deleted.

    A workbook is identified by file name or id, a sheet by its name. Inserting shifts what follows. Formulas are stored
    as written and read as their values; invalid ones are refused. Evidence: tools that take a sheet together with an
    address.
    """

    order = 110

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = [one for profile in evidence.once(profiles_of_tools) if (one := match_tool(profile)) is not None]
        done = {one.operation for one in found}
        if not {"read", "write", "append"} & done or len(found) < 2:
            return None
        rows, state = read_given_sheets(evidence.state)
        records = {
            SHEET: rows,
            WORKBOOK: [{"name": name} for name in dict.fromkeys(str(row["workbook"]) for row in rows)],
        }
        return Match([plan_for(one) for one in found], entities(), records, state)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give empty workbooks a sheet, and drop sheets without rows."""
        books: dict[Key, Record] = dict(tables.get(WORKBOOK, {}))
        sheets = {key: row for key, row in tables.get(SHEET, {}).items() if isinstance(row.get("rows"), list)}
        owned = {row["workbook"] for row in sheets.values()}
        if not any("book" in plan.arguments for plan in plans):
            books = {DEFAULT_NAME: {"name": DEFAULT_NAME}}
        sheets |= {key_of(name, "Sheet1"): sheet_of(str(name), "Sheet1", []) for name in books if name not in owned}
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        initial[WORKBOOK], initial[SHEET] = books, sheets
        return initial

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.spreadsheet.answer import answer

        return answer(tool, plan, domain)
