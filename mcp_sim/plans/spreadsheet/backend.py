"""Backend for sheets of cells, addressed by sheet name, cell (`B3`) and range (`A1:C4`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mcp_sim.plans.given import Given
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, lacks, named, takes, unnamed
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import TEXT, Names, Operation, Role, Test, pick, read_names, role
from mcp_sim.plans.operations_backend import OperationsBackend, plans_by_prefix
from mcp_sim.plans.spreadsheet.given import DEFAULT_NAME, SHEET, WORKBOOK, given_sheets, sheet_of
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan, Verb

_WORDS = read_names(__name__)
_NAMED, _NAMES = _WORDS.roles, _WORDS.facts
_BOOKS, _SHEETS = _WORDS.ordered("book"), _WORDS.ordered("sheet")
_NOUNS = (*_BOOKS, *_SHEETS)
_FORMATS = ("format", "style", "highlight")
"""Verbs of tools that change how cells look."""

_BOOK, _SHEET, _FORMAT = "|".join(_BOOKS), "|".join(_SHEETS), "|".join(_FORMATS)
_READS, _MAKES, _TAKES = "read|get|fetch|view", "create|add|new|insert", "delete|remove|drop"
_WRITES, _CHECKS = "write|update|set|put|fill|apply|edit", "validate|check|verify"
_DESCRIBES, _EXTENTS = "metadata|info|describe|information|summary", "dimension|size|extent|bound"
_CELLS = "cell|range|data|value|row|column|formula"
_CONTENTS = f"data|value|content|row|{_SHEET}"
_PLACED = f"{_CELLS}|{_SHEET}"

_ROLES = _NAMED | {name: Role(name) for name in ("kind", "fields")}
"""Roles, and other argument names for some of them in some operations."""


def _mentions_sheets(profile: ToolProfile) -> bool:
    """Return whether the name, the description or the arguments of a tool are about sheets."""
    arguments = " ".join(profile.arguments).lower()
    return "cell" in arguments or "sheet" in arguments or profile.mentions(*_NOUNS, *map(plural, _NOUNS))


def _begins(verbs: str) -> Test:
    """Return a test whether a tool's name begins with one of these words."""
    known = frozenset(verbs.split("|"))
    return lambda profile: bool(profile.words) and profile.words[0] in known


_HAS_SHEET, _HAS_RANGE, _HAS_BOOK = takes(_ROLES["sheet"]), takes(_ROLES["range"]), takes(_ROLES["workbook"])
_IS_PLACED, _NO_SHEET = either(_HAS_SHEET, _HAS_RANGE), lacks(_ROLES["sheet"])
_EDITS_NO_TEXT = lacks(role("old_string", "old_text old_str", TEXT))
_ANNOTATES = unnamed(_PLACED.replace("|", " "))
_SHOWS = unnamed(f"{_DESCRIBES}|{_EXTENTS}".replace("|", " "))
_IS_READ = either(both(_HAS_RANGE, either(_HAS_SHEET, _HAS_BOOK), _mentions_sheets), both(_HAS_SHEET, named(_CONTENTS)))
_IS_BOOK = either(named(_BOOK), both(named("file"), lambda profile: profile.mentions(*_BOOKS, *map(plural, _BOOKS))))
_FINDS = either(named(f"find|search {_PLACED}|{_BOOK}"), named("search", ""))


def _operation(run: str, verb: Verb, line: str, words: str, *means: Test, is_open: bool = False) -> Operation:
    """Return an operation with the name of its function."""
    name = run.partition(":")[2]
    entity = WORKBOOK if name.endswith(("workbook", "workbooks")) else SHEET
    return Operation(name, run, verb, pick(line, _ROLES), both(named(words), *means), entity, is_open=is_open)


_OPERATIONS = (
    _operation("cells:copy_range", "update", "range target? end? sheet? new? workbook?", "copy range|cell|data",
               takes(_ROLES["target"])),
    _operation("sheets:unmerge_cells", "update", "range? end? sheet? workbook?", f"unmerge {_PLACED}", _IS_PLACED,
               is_open=True),
    _operation("sheets:merge_cells", "update", "range? end? sheet? workbook?", f"merge {_PLACED}", _IS_PLACED,
               is_open=True),
    _operation("sheets:format_range", "update", "range? end? kind? sheet? workbook? fields?", f"{_FORMAT} {_PLACED}",
               _IS_PLACED, is_open=True),
    _operation("cells:insert_by_axis", "update", "axis at sheet count? values? workbook?", f"{_MAKES} row column|col"),
    _operation("cells:delete_by_axis", "update", "axis at sheet count? workbook?", f"{_TAKES} row column|col"),
    _operation("cells:insert_rows", "update", "at sheet count? values? workbook?", f"{_MAKES} row",
               unnamed("column col")),
    _operation("cells:delete_rows", "update", "at sheet count? workbook?", f"{_TAKES} row", unnamed("column col")),
    _operation("cells:insert_columns", "update", "at sheet count? workbook?", f"{_MAKES} column|col", unnamed("row")),
    _operation("cells:delete_columns", "update", "at sheet count? workbook?", f"{_TAKES} column|col", unnamed("row")),
    _operation("cells:replace_cells", "update", "query replacement workbook sheet?", f"replace {_PLACED}|{_BOOK}",
               unnamed("directory")),
    _operation("cells:find_cells", "search", "query workbook sheet?", "", _FINDS, unnamed("directory row column col")),
    _operation("cells:append_rows", "update", "values range? end? sheet? workbook?", "append", _IS_PLACED),
    _operation("cells:clear_range", "update", "range end? sheet? workbook?", "",
               either(named("clear"), named(f"{_TAKES} {_PLACED}"))),
    _operation("sheets:remove_annotation", "update", "kind? range sheet workbook", "", _begins(_TAKES), _ANNOTATES),
    _operation("cells:write_range", "update", "range values end? sheet? workbook? create?", _WRITES, _EDITS_NO_TEXT),
    _operation("cells:write_cell", "update", "range value end? sheet? workbook? create?", _WRITES, _EDITS_NO_TEXT),
    _operation("cells:read_range", "get", "range? sheet? workbook? end? top? bottom? left? right?", _READS,
               _SHOWS, _IS_READ),
    _operation("sheets:rename_sheet", "update", "sheet new workbook?", f"rename {_SHEET}"),
    _operation("sheets:copy_sheet", "create", "sheet new? workbook?", f"copy|duplicate {_SHEET}"),
    _operation("sheets:delete_sheet", "delete", "named workbook?", f"{_TAKES} {_SHEET}"),
    _operation("sheets:create_sheet", "create", "created workbook?", f"{_MAKES} {_SHEET}"),
    _operation("sheets:describe_sheet", "get", "sheet workbook?", f"{_DESCRIBES} {_SHEET}"),
    _operation("sheets:describe_workbook", "get", "workbook", _DESCRIBES,
               either(named(_BOOK), both(named(_SHEET), _NO_SHEET))),
    _operation("sheets:list_sheets", "list", "workbook", f"list|get|name {_SHEET}", _NO_SHEET),
    _operation("sheets:create_workbook", "create", "workbook sheets? sheet? overwrite?", "create|new", _IS_BOOK,
               unnamed("sheet worksheet tab")),
    _operation("sheets:list_workbooks", "list", "directory?", "list workbook|spreadsheet", _NO_SHEET),
    _operation("sheets:annotate", "update", "kind? range? sheet workbook fields?", "",
               _begins("add|create|insert|set|apply"), _ANNOTATES, is_open=True),
)  # fmt: skip
"""In the order in which a tool's words are compared with them."""

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
    and read as written. Evidence: tools that take a sheet together with an address.
    """

    order = 110
    operations = _OPERATIONS
    lengthy = frozenset(operation.name for operation in _OPERATIONS)
    request = "request:SheetRequest"
    entities = (
        Entity(SHEET, "id", None, {field.name: field for field in _FIELDS}, natural=True),
        Entity(WORKBOOK, "name", "report-001.xlsx", {"name": _NAME}, natural=True),
    )
    names: ClassVar[Names] = _NAMES

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool, with the kind of a mark that its name implies."""
        if profile.has("validation", "conditional"):
            return
        kind = next((word for word in _FORMATS if profile.has(word)), "_".join(profile.words[1:]))
        for tool in super().match_tool(profile):
            fixed = {"kind": kind} if kind and tool.operation.role("kind") is not None else {}
            sure = 0.95 if "sheet" in tool.arguments or profile.mentions(*_BOOKS, *map(plural, _BOOKS)) else 0.8
            yield replace(tool, fixed=fixed, confidence=sure)

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept several tools if one of them reads or writes cells."""
        on_cells = {"read_range", "write_range", "write_cell", "append_rows"}
        return tools if len(tools) > 1 and not on_cells.isdisjoint(tool.name for tool in tools) else []

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        return given_sheets(state, has_books=any("workbook" in tool.arguments for tool in matched), is_whole=is_whole)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give empty workbooks a sheet, and drop what is not a sheet."""
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        for prefix, own in plans_by_prefix(plans).items():
            books: dict[Key, Record] = dict(tables.get(prefix + WORKBOOK, {}))
            known = tables.get(prefix + SHEET, {})
            sheets = {key: row for key, row in known.items() if _is_sheet(row)}
            owned = {row["workbook"] for row in sheets.values()}
            if not any("workbook" in plan.arguments for plan in own):
                books = {DEFAULT_NAME: {"name": DEFAULT_NAME}}
            added = (sheet_of(str(name), "Sheet1", []) for name in books if name not in owned)
            initial[prefix + SHEET] = {**sheets, **{sheet["id"]: sheet for sheet in added}}
            initial[prefix + WORKBOOK] = books
        return initial


def _is_sheet(record: Record) -> bool:
    """Whether a record has what a sheet needs. One that another tool's plan generated may lack it."""
    return isinstance(record.get("rows"), list) and isinstance(record.get("workbook"), str)
