"""Operations on whole sheets and workbooks, and on what sheets have besides values: formats, merged cells, charts.

Each raises `Refused` if the workbook or the sheet does not exist, or the name of a new one is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused, label
from mcp_sim.plans.spreadsheet import grids
from mcp_sim.plans.spreadsheet.given import SHEET, WORKBOOK, sheet_of
from mcp_sim.plans.spreadsheet.request import SheetRequest
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import participle

_NAME_ALONE = re.compile(r"[Rr]eturns? the (?:\w+ ){0,3}(?:name|path)\b")
_MERGED = "merge"
"""The kind of the mark of merged cells."""
_EMPTY_SIZE, _CELL_SIZE = 5000, 16
"""Approximate bytes of a file without cells, and of each cell."""


def create_workbook(request: SheetRequest) -> Outcome:
    """Create a `workbook` with empty `sheets`, by default one. `overwrite` replaces an existing one."""
    name = request.required("workbook")
    named = request.texts("sheets") or [request.text("sheet", "Sheet1")]
    return _replace(request, name, [sheet_of(name, sheet_name, []) for sheet_name in named], f"Created workbook {name}")


def list_workbooks(request: SheetRequest) -> Outcome:
    """List the names of workbooks, of one `directory` if it is given."""
    directory = request.text("directory").rstrip("/")
    names = sorted(str(key) for key, _ in request.view.rows(request.entity_named(WORKBOOK)))
    names = [name for name in names if directory in {"", "."} or name.rpartition("/")[0] == directory]
    text = "\n".join(names) or "No workbooks"
    if main_type(as_object(request.result.get("additionalProperties"))) == "integer":
        cells = {name: sum(len(row) for sheet in request.sheets(name) for row in sheet["rows"]) for name in names}
        sizes: Record = {name: _EMPTY_SIZE + _CELL_SIZE * count for name, count in cells.items()}
        return Outcome(text, {"sizes": sizes}, "sizes", is_json=True)
    facts: Record = {"workbooks": names, "files": names, "total": len(names), "value": names}
    return Outcome(text, facts, "value", is_json=True)


def list_sheets(request: SheetRequest) -> Outcome:
    """List the names of the sheets of a `workbook`."""
    names, name = [row["name"] for row in request.sheets()], request.workbook
    facts: Record = {"filename": name.rpartition("/")[2], "name": name, "sheets": names, "value": names}
    return Outcome("\n".join(names), facts, "value", is_json=True)


def describe_workbook(request: SheetRequest) -> Outcome:
    """Return the sheets of a `workbook`, and their extents if the tool shows them."""
    sheets, name = request.sheets(), request.workbook.rpartition("/")[2]
    lines = [f"{row['name']}: {grids.used_range(row['rows'])}" for row in sheets]
    shows_extents = properties(items(request.results.get("sheets", {})))
    listed = [{"name": row["name"], **_extent(row)} if shows_extents else row["name"] for row in sheets]
    return Outcome("\n".join((name, *lines)), {"filename": name, "sheets": listed}, is_json=True)


def create_sheet(request: SheetRequest) -> Outcome:
    """Create an empty `sheet`."""
    name = request.required("sheet")
    return _add(request, name, {"rows": []}, f"Sheet '{name}' created")


def copy_sheet(request: SheetRequest) -> Outcome:
    """Copy a `sheet` under the name `new`."""
    record = request.sheet
    name = request.text("new", f"{record['name']} Copy")
    return _add(request, name, record, f"Sheet '{record['name']}' copied as '{name}'")


def rename_sheet(request: SheetRequest) -> Outcome:
    """Rename a `sheet` to `new`."""
    record, name = request.sheet, request.required("new")
    outcome = _add(request, name, record, f"Sheet '{record['name']}' renamed to '{name}'")
    request.drop(record["id"], SHEET)
    return outcome


def delete_sheet(request: SheetRequest) -> Outcome:
    """Delete a `sheet`. Raises `Refused` if it is the only one."""
    record = request.sheet
    if len(request.sheets()) == 1:
        raise Refused("invalid", f"Cannot delete '{record['name']}': a workbook needs at least one sheet")
    request.drop(record["id"], SHEET)
    return done(f"Sheet '{record['name']}' deleted", sheet=record["name"])


def describe_sheet(request: SheetRequest) -> Outcome:
    """Return the used range of a `sheet`, the number of its rows and columns, and its merged ranges."""
    record = request.sheet
    return _described({"sheet_name": record["name"], **_extent(record), "merged_ranges": _merged(record)})


def merge_cells(request: SheetRequest) -> Outcome:
    """Merge the cells of a `range`."""
    return _mark(request, _MERGED, "merged")


def unmerge_cells(request: SheetRequest) -> Outcome:
    """Split the merged cells of a `range`."""
    record, place = request.area[0], request.address.upper()
    return request.store(_without(record, _MERGED, place), f"Cells {place} of '{record['name']}' unmerged", range=place)


def format_range(request: SheetRequest) -> Outcome:
    """Store the format of the cells of a `range`, given by `fields`."""
    kind = request.text("kind", "format")
    return _mark(request, kind, participle(kind))


def annotate(request: SheetRequest) -> Outcome:
    """Put something of a `kind` onto a sheet, such as a note or a chart, at a `range`, with `fields`."""
    return _mark(request, request.text("kind", "note"), "")


def remove_annotation(request: SheetRequest) -> Outcome:
    """Remove what `annotate` put at a `range`. Raises `Refused` if there is nothing of the `kind`."""
    (record, _), kind, place = request.area, request.text("kind", "note"), request.address.upper()
    left = _without(record, kind, place)
    if left == record:
        raise Refused("not_found", f"{place} has no {kind}", key=place, entity=kind)
    return request.store(left, f"{label(kind)} removed from {record['name']}!{place}", range=place)


def _replace(request: SheetRequest, name: str, sheets: Sequence[Record], sentence: str) -> Outcome:
    """Store a workbook with exactly these sheets. Raises `Refused` if it exists and must not be overwritten."""
    if request.record(name, WORKBOOK) is not None and not request.flag("overwrite"):
        raise Refused("conflict", f"Workbook already exists: {name}")
    for row in request.sheets(name):
        request.drop(row["id"], SHEET)
    request.put(name, {"name": name}, WORKBOOK)
    for row in sheets:
        request.put(row["id"], row, SHEET)
    return done(_message(request, sentence, name), path=name, file=name)


def _add(request: SheetRequest, name: str, record: Record, sentence: str) -> Outcome:
    """Store a sheet under a name. Raises `Refused` if the name is taken."""
    added = {**record, **sheet_of(request.workbook, name, record["rows"])}
    if request.record(added["id"], SHEET) is not None:
        raise Refused("conflict", f"Sheet '{name}' already exists")
    return request.store(added, _message(request, sentence, name))


def _message(request: SheetRequest, sentence: str, name: str) -> str:
    """Return the message; only the name if the tool promises that."""
    promised = request.tool is not None and _NAME_ALONE.search(request.tool.description) is not None
    return name if promised else sentence


def _extent(record: Record) -> Record:
    """Return the used range and the number of rows and columns."""
    rows = record["rows"]
    wide = max((len(row) for row in rows), default=0)
    return {"used_range": grids.used_range(rows).removesuffix(":A1"), "row_count": len(rows), "column_count": wide}


def _described(facts: Record) -> Outcome:
    lines = (f"{name.replace('_', ' ')}: {value}" for name, value in facts.items() if value != [])
    return Outcome("\n".join(lines), facts, is_json=True)


def _marks(record: Record) -> list[Record]:
    return [*map(as_object, as_list(record.get("marks")))]


def _merged(record: Record) -> list[str]:
    return [str(mark["cells"]) for mark in _marks(record) if mark.get("kind") == _MERGED]


def _mark(request: SheetRequest, kind: str, past: str) -> Outcome:
    record, place = request.area[0], request.address.upper()
    mark = {"kind": kind, **as_object(request.get("fields")), **request.others, "cells": place}
    name = record["name"]
    message = f"Cells {place} of '{name}' {past}" if past else f"{label(kind)} added to {name} {place}".rstrip()
    return request.store({**record, "marks": [*_marks(record), mark]}, message, range=place)


def _without(record: Record, kind: str, place: str) -> Record:
    left = [mark for mark in _marks(record) if (mark.get("kind"), mark.get("cells")) != (kind, place)]
    return {**record, "marks": left} if len(left) < len(_marks(record)) else record
