"""Operations on whole sheets and workbooks: create, rename, copy, describe and list."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text, done, value_outcome
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.entities import SHEET, WORKBOOK, key_of, sheet_of
from mcp_sim.backends.spreadsheet.request import SheetTool
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import words


class WholeSheets(SheetTool):
    """The operations on whole sheets and workbooks."""

    def _create_book(self, turn: Turn) -> Outcome:
        name = str(self._argument(turn, "book"))
        if turn.view.get(WORKBOOK, name) is not None and self._argument(turn, "overwrite") is not True:
            raise Refused("conflict", f"Workbook already exists: {name}")
        named = [str(one) for one in as_list(self._argument(turn, "sheets"))]
        sheets = [sheet_of(name, one, []) for one in named or [str(self._argument(turn, "sheet", "Sheet1"))]]
        return self._replace_book(turn, name, sheets, f"Created workbook {name}")

    def _replace_book(self, turn: Turn, name: str, sheets: list[Record], sentence: str) -> Outcome:
        """Store a workbook with exactly these sheets."""
        gone = tuple(Change("remove", SHEET, row["id"]) for row in self._sheets_of(turn, name))
        put = tuple(Change("put", SHEET, row["id"], row) for row in sheets)
        return done(
            self._message(sentence, name),
            *gone,
            Change("put", WORKBOOK, name, {"name": name}),
            *put,
            path=name,
            file=name,
        )

    def _copy_book(self, turn: Turn) -> Outcome:
        source, name = (
            str(self._argument(turn, "from_book", self._argument(turn, "book"))),
            str(self._argument(turn, "to_book")),
        )
        if turn.view.get(WORKBOOK, source) is None:
            raise Refused("not_found", f"Workbook not found: {source}", key=source, entity=WORKBOOK)
        if turn.view.get(WORKBOOK, name) is not None and self._argument(turn, "overwrite") is not True:
            raise Refused("conflict", f"Workbook already exists: {name}")
        copied = [{**row, "workbook": name, "id": key_of(name, row["name"])} for row in self._sheets_of(turn, source)]
        return self._replace_book(turn, name, copied, f"Workbook {source} copied to {name}")

    def _books(self, turn: Turn) -> Outcome:
        """List workbooks, of one directory if it is named, by their paths as clients write them."""
        directory = str(self._argument(turn, "directory", "")).rstrip("/")
        names = [str(key) for key, _ in turn.view.rows(WORKBOOK)]
        names = sorted(one for one in names if directory in {"", "."} or one.rpartition("/")[0] == directory)
        if self._returns_sizes():
            sizes: Record = {name: self._size(turn, name) for name in names}
            return Outcome(as_text(sizes), sizes, is_json=True)
        return value_outcome(names, workbooks=names, files=names, total=len(names))

    def _returns_sizes(self) -> bool:
        """Return whether the result is a number for each path."""
        shown = expanded(self.tool.output_schema or {})
        return main_type(as_object(shown.get("additionalProperties"))) == "integer"

    def _size(self, turn: Turn, name: str) -> int:
        """Return the approximate file size of a workbook in bytes."""
        return 5000 + sum(16 * len(row) for sheet in self._sheets_of(turn, name) for row in sheet["rows"])

    def _about_sheet(self, turn: Turn) -> Outcome:
        record = self._sheet(turn)
        merged = [as_object(one)["cells"] for one in as_list(record.get("marks")) if is_of(one, "merge")]
        facts: Record = {"sheet_name": record["name"], **_extent(record), "merged_ranges": merged}
        return Outcome(as_text(facts), facts, is_json=True)

    def _dimensions(self, turn: Turn) -> Outcome:
        extent = _extent(self._sheet(turn))
        facts: Record = {"rows": extent["row_count"], "columns": extent["column_count"]}
        return Outcome(as_text(facts), facts, is_json=True)

    def _headers(self, turn: Turn) -> Outcome:
        """Return the values of the header row, by default the first."""
        record = self._sheet(turn)
        at = int(self._argument(turn, "header_row", 1)) - 1
        rows = self._shown_values(turn, record, grids.Area(0, 0, None, None))
        named = [value for value in (rows[at] if 0 <= at < len(rows) else []) if value is not None]
        return Outcome(as_text(named), {"headers": named, "sheet_name": record["name"], "count": len(named)}, "headers")

    def _last_row(self, turn: Turn) -> Outcome:
        record = self._sheet(turn)
        last = len(record["rows"])
        return Outcome(str(last), {"last_row": last, "sheet_name": record["name"]})

    def _create_sheet(self, turn: Turn) -> Outcome:
        name = str(self._argument(turn, "sheet"))
        return self._add_sheet(turn, name, [], f"Sheet '{name}' created")

    def _copy_sheet(self, turn: Turn) -> Outcome:
        record = self._sheet(turn)
        name = str(self._argument(turn, "new", f"{record['name']} Copy"))
        return self._add_sheet(turn, name, record["rows"], f"Sheet '{record['name']}' copied as '{name}'")

    def _rename_sheet(self, turn: Turn) -> Outcome:
        record = self._sheet(turn)
        name = str(self._argument(turn, "new"))
        added = self._add_sheet(turn, name, record["rows"], f"Sheet '{record['name']}' renamed to '{name}'")
        gone = Change("remove", SHEET, record["id"], expected=turn.view.version(SHEET, record["id"]))
        return replace(added, changes=(gone, *added.changes)) if added.changes else added

    def _add_sheet(self, turn: Turn, name: str, rows: list[list[Json]], sentence: str) -> Outcome:
        book = self._book(turn)
        if turn.view.get(SHEET, key_of(book, name)) is not None:
            raise Refused("conflict", f"Sheet '{name}' already exists")
        return self._store_sheet(turn, sheet_of(book, name, rows), self._message(sentence, name))

    def _delete_sheet(self, turn: Turn) -> Outcome:
        record = self._sheet(turn)
        if len(self._sheets_of(turn, record["workbook"])) == 1:
            raise Refused("invalid", f"Cannot delete '{record['name']}': a workbook needs at least one sheet")
        change = Change("remove", SHEET, record["id"], expected=turn.view.version(SHEET, record["id"]))
        sentence = f"Sheet '{record['name']}' deleted"
        return done(sentence, change)

    def _sheets(self, turn: Turn) -> Outcome:
        book = self._book(turn)
        sheets = self._sheets_of(turn, book)
        names = [row["name"] for row in sheets]
        facts: Record = {"filename": book.rsplit("/", 1)[-1], "sheets": names}
        if not {"metadata", "info", "describe"} & {*words(self.tool.name)}:
            return value_outcome(names, **facts, name=book)
        if self._returns_rows():
            rows: list[Json] = [{"name": row["name"], **_extent(row)} for row in sheets]
            return Outcome(as_text(rows), {**facts, "sheets": rows}, is_json=True)
        ranges = {row["name"]: grids.used_range(row["rows"]) for row in sheets}
        arguments = turn.call.arguments
        wants = any(value is True and "range" in name.lower() for name, value in arguments.items())
        facts |= {"used_ranges": ranges} if wants else {}
        return Outcome(as_text(facts), facts, is_json=True)

    def _returns_rows(self) -> bool:
        """Return whether the result has an object for each sheet."""
        shown = properties(expanded(self.tool.output_schema or {})).get("sheets", {})
        return bool(properties(items(shown)))


def _extent(record: Record) -> Record:
    """Return the used range and the number of rows and columns."""
    rows = record["rows"]
    wide = max((len(row) for row in rows), default=0)
    return {"used_range": grids.used_range(rows).removesuffix(":A1"), "row_count": len(rows), "column_count": wide}


def is_of(mark: Json, word: str) -> bool:
    """Return whether a mark was stored by a tool with this word in its name."""
    return word in words(str(as_object(mark).get("tool", "")))
