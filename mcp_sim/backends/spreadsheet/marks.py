"""Operations that store what a sheet has besides values: formats, merged cells, notes, charts.

Each mark has a `kind`, the address of its cells, and other `fields`. It raises `Refused` if the sheet does not exist.
"""

from __future__ import annotations

from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused, label
from mcp_sim.backends.spreadsheet.request import SheetRequest
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import participle

MERGED = "merge"
"""The kind of the mark of merged cells."""


def merge_cells(request: SheetRequest) -> Outcome:
    """Merge the cells of a `range`."""
    return _mark(request, MERGED, "merged")


def unmerge_cells(request: SheetRequest) -> Outcome:
    """Split the merged cells of a `range`."""
    record, place = request.area[0], request.address
    return request.store(_without(record, MERGED, place), f"Cells {place} of '{record['name']}' unmerged", range=place)


def merged_ranges(request: SheetRequest) -> Outcome:
    """List the ranges of merged cells of a `sheet`."""
    found = merged(request.sheet)
    return Outcome("\n".join(found) or "No merged cells", {"value": found}, "value", is_json=True)


def format_range(request: SheetRequest) -> Outcome:
    """Store the format of the cells of a `range`, given by `fields`."""
    kind = request.text("kind", "format")
    return _mark(request, kind, participle(kind))


def annotate(request: SheetRequest) -> Outcome:
    """Put something of a `kind` onto a sheet, such as a note or a chart, at a `range`, with `fields`."""
    return _mark(request, request.text("kind", "note"), "")


def remove_annotation(request: SheetRequest) -> Outcome:
    """Remove what `annotate` put at a `range`. Raises `Refused` if there is nothing of the `kind`."""
    (record, _), kind, place = request.area, request.text("kind", "note"), request.address
    left = _without(record, kind, place)
    if left == record:
        raise Refused("not_found", f"{place} has no {kind}", key=place, entity=kind)
    return request.store(left, f"{label(kind)} removed from {record['name']}!{place}", range=place)


def merged(record: Record) -> list[str]:
    """Return the ranges of merged cells of a sheet."""
    return [str(as_object(one)["cells"]) for one in as_list(record.get("marks")) if _is(one, MERGED)]


def _mark(request: SheetRequest, kind: str, past: str) -> Outcome:
    record, place = request.area[0], request.address
    mark = {"kind": kind, **as_object(request.get("fields")), **request.others, "cells": place}
    name = record["name"]
    message = f"Cells {place} of '{name}' {past}" if past else f"{label(kind)} added to {name} {place}".rstrip()
    return request.store({**record, "marks": [*as_list(record.get("marks")), mark]}, message, range=place)


def _without(record: Record, kind: str, place: str) -> Record:
    marks = as_list(record.get("marks"))
    left = [one for one in marks if not (_is(one, kind) and as_object(one).get("cells") == place)]
    return record if len(left) == len(marks) else {**record, "marks": left}


def _is(mark: Json, kind: str) -> bool:
    return as_object(mark).get("kind") == kind
