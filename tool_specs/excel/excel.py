"""Excel workbooks: sheets of cells, formulas and what refers to what, as a public server for workbooks words them."""

import re
from functools import wraps

from company import workbooks_of
from formulas import (
    LAST_ROW,
    Book,
    Parser,
    Uncalculated,
    Wrong,
    address,
    areas_of,
    corners,
    letters_of,
    order,
    rewritten,
    split_sheet,
    text_of,
    tokens,
)
from grids import cells_of, given_workbooks, is_formula, numbers, put, used, value_at

from mcp_sim.programs import Refused, initial, invalid_arguments, tool, unknown_tool

# fmt: off
tables = {
    "workbook": {
        "key": "path", "natural": True,
        "fields": {"path": "", "author": "openpyxl", "defined_names": {}},
    },
    "sheet": {
        "ids": "sheet-1", "links": {"workbook": "workbook"},
        "fields": {
            "workbook": "", "name": "", "position": 1, "rows": [], "notes": {}, "merged": [], "freeze_panes": "",
        },
    },
}
# fmt: on

SUFFIXES = (".xlsm", ".xlsx", ".xltm", ".xltx")
RANGE = re.compile(
    r"\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(:\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6})?"
    r"|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}|\$?[1-9]\d{0,6}:\$?[1-9]\d{0,6}"
)
COLOR = re.compile(r"#?[0-9A-Fa-f]{6}")


class Problem(Exception):
    """What a tool refuses."""


def worded(function):
    """Return what a function raises as `Problem` as the failure of its tool."""

    @wraps(function)
    def answer(world, **arguments):
        try:
            return function(world, **arguments)
        except Problem as problem:
            raise Refused(f"Error executing tool {function.__name__}: {problem}") from None

    return answer


@invalid_arguments
def refuse(_world, name, _arguments, problems):
    raise Refused(f"Error executing tool {name}: Invalid arguments for {name}: {'; '.join(map(complaint, problems))}")


def complaint(problem):
    missing = re.fullmatch(r"(?:(.*): )?'(\w+)' is a required property", problem)
    if missing:
        return f"{missing[2]}: required"
    return problem


@unknown_tool
def no_tool(_world, name, _arguments):
    raise Refused(f"Unknown tool: {name}")


@initial
def begin(given, world):
    for path, sheets in given_workbooks(given) or workbooks_of(world):
        world.workbook.add(
            path=path,
        )
        for position, (name, rows) in enumerate((sheets or {"Sheet1": []}).items(), 1):
            world.sheet.add(workbook=path, name=name, position=position, rows=[[*row] for row in rows])


# finding --------------------------------------------------------------------------------------------------------------


def checked(path):
    """Return a path as workbooks are stored under."""
    if path.startswith(("/etc", "/usr", "/root", "..")) or "/../" in path:
        raise Problem(f"Path '{path}' is outside the allowed directories.")
    if not path.endswith(SUFFIXES):
        raise Problem(f"Path '{path}' must point to an Excel file ({', '.join(SUFFIXES)}).")
    return path.removeprefix("./")


def workbook_at(world, path):
    workbook = world.workbook.get(checked(path))
    if workbook is None:
        raise Problem(f"Workbook {path} does not exist.")
    return workbook


def sheets_of(world, path):
    return sorted(world.sheet.find(workbook=checked(path)), key=lambda sheet: sheet["position"])


def sheet_at(world, path, name):
    workbook_at(world, path)
    sheets = sheets_of(world, path)
    for sheet in sheets:
        if sheet["name"] == name:
            return sheet
    raise Problem(f"Sheet '{name}' not found. Available sheets: {', '.join(repr(s['name']) for s in sheets)}.")


def book_of(world, path):
    sheets = {sheet["name"]: sheet["rows"] for sheet in sheets_of(world, path)}
    return Book(sheets, workbook_at(world, path)["defined_names"])


def check_new_name(world, path, name, beside=None):
    if not 1 <= len(name) <= 31:
        raise Problem("Sheet names must be 1 to 31 characters long.")
    if re.search(r"[\[\]:*?/\\]", name):
        raise Problem("Sheet names cannot contain any of [ ] : * ? / \\.")
    names = [sheet["name"].lower() for sheet in sheets_of(world, path) if sheet["name"] != beside]
    if name.lower() in names:
        raise Problem(f"A sheet named '{name}' already exists.")


def area(text, rows):
    """Return the corners of a range; whole rows and columns end with the used cells."""
    if not RANGE.fullmatch(text):
        raise Problem(f"Invalid range '{text}'. Use A1 notation such as 'B2' or 'A1:C10'.")
    top, _, bottom, right = used(rows)
    if text.replace("$", "").replace(":", "").isdigit():
        first, last = sorted(map(int, text.replace("$", "").split(":")))
        return first, 1, last, right
    corner = corners(text)
    return (top, corner[1], bottom, corner[3]) if corner[2] == LAST_ROW else corner


def cell(text):
    """Return row and column of one cell."""
    if RANGE.fullmatch(text) and ":" in text:
        raise Problem(f"Expected a single cell such as 'B2', got '{text}'.")
    return area(text, [])[:2]


# workbooks and sheets -------------------------------------------------------------------------------------------------


@tool
@worded
def create_workbook(world, path, sheets=("Sheet1",), overwrite=False):
    if checked(path) in world.workbook:
        if not overwrite:
            raise Problem(f"{path} already exists. Pass overwrite=true to replace it.")
        for sheet in sheets_of(world, path):
            world.sheet.delete(sheet)
        world.workbook.delete(checked(path))
    world.workbook.add(path=checked(path))
    for position, name in enumerate(sheets, 1):
        check_new_name(world, path, name)
        world.sheet.add(workbook=checked(path), name=name, position=position)
    return {"path": path}


@tool
@worded
def list_workbooks(world, directory="", recursive=False):
    folder = directory.strip("./")
    names = sorted(workbook["path"] for workbook in world.workbook)
    inside = [name for name in names if not folder or name.startswith(folder + "/")]
    if folder and not inside:
        raise Problem(f"Directory '{directory}' does not exist.")
    rest = [name for name in inside if recursive or "/" not in name[len(folder) :].strip("/")]
    return {name: size_of(world, name) for name in rest}


def size_of(world, path):
    sheets = sheets_of(world, path)
    cells = sum(len(row) for sheet in sheets for row in sheet["rows"])
    return 4790 + 590 * (len(sheets) - 1) + 4 * cells


@tool
@worded
def describe_workbook(world, path):
    workbook = workbook_at(world, path)
    names = [{"name": name, "refers_to": refers} for name, refers in workbook["defined_names"].items()]
    return {
        "sheets": [
            {"name": sheet["name"], "used_range": address(*used(sheet["rows"]))}
            | ({"active": True} if sheet["position"] == 1 else {})
            for sheet in sheets_of(world, path)
        ],
        **({"defined_names": names} if names else {}),
        "doc_properties": {"author": workbook["author"]},
        "calculation": {"full_calc_on_load": True},
    }


@tool
@worded
def describe_sheet(world, path, sheet):
    found = sheet_at(world, path, sheet)
    notes = [{"cell": at, **note} for at, note in found["notes"].items()]
    return {
        "used_range": address(*used(found["rows"])),
        **({"freeze_panes": found["freeze_panes"]} if found["freeze_panes"] else {}),
        **({"merged_ranges": [*found["merged"]]} if found["merged"] else {}),
        **({"notes": notes} if notes else {}),
        **({"view": {"active": True}} if found["position"] == 1 else {}),
    }


@tool
@worded
def create_sheet(world, path, new_name, position=None):
    workbook_at(world, path)
    check_new_name(world, path, new_name)
    sheets = sheets_of(world, path)
    place = len(sheets) + 1 if position is None else min(position, len(sheets) + 1)
    for sheet in sheets:
        if sheet["position"] >= place:
            sheet["position"] += 1
    world.sheet.add(workbook=checked(path), name=new_name, position=place)
    return {"sheet": new_name}


@tool
@worded
def rename_sheet(world, path, sheet, new_name):
    found = sheet_at(world, path, sheet)
    check_new_name(world, path, new_name, beside=sheet)
    for other in sheets_of(world, path):
        for row in other["rows"]:
            row[:] = [renamed(value, sheet, new_name) if is_formula(value) else value for value in row]
    found["name"] = new_name
    return {"sheet": new_name}


def renamed(formula, old, new):
    """Return a formula whose references to a sheet have its new name."""
    quoted = new if re.fullmatch(r"[A-Za-z_]\w*", new) else "'" + new.replace("'", "''") + "'"
    for reference in areas_of(formula):
        sheet, rest = split_sheet(reference)
        if sheet is not None and sheet.lower() == old.lower():
            formula = formula.replace(reference, f"{quoted}!{rest}")
    return formula


@tool
@worded
def copy_sheet(world, path, sheet, new_name):
    found = sheet_at(world, path, sheet)
    check_new_name(world, path, new_name)
    rows = [[*row] for row in found["rows"]]
    position = len(sheets_of(world, path)) + 1
    world.sheet.add(workbook=checked(path), name=new_name, position=position, rows=rows, notes={**found["notes"]},
                    merged=[*found["merged"]], freeze_panes=found["freeze_panes"])  # fmt: skip
    return {"sheet": new_name}


@tool
@worded
def delete_sheet(world, path, sheet):
    found, others = sheet_at(world, path, sheet), sheets_of(world, path)
    if len(others) == 1:
        raise Problem("A workbook must keep at least one visible worksheet.")
    world.sheet.delete(found)
    remaining = [other for other in others if other["name"] != sheet]
    for position, other in enumerate(remaining, 1):
        other["position"] = position
    return {"sheet": sheet}


@tool
@worded
def set_sheet_layout(world, path, sheet, layout):
    found = sheet_at(world, path, sheet)
    found["freeze_panes"] = layout.get("freeze_panes", found["freeze_panes"]) or ""
    return {"sheet": sheet}


# rows and columns -----------------------------------------------------------------------------------------------------


@tool
@worded
def insert_rows_or_columns(world, path, sheet, axis, start, count=1):
    found = sheet_at(world, path, sheet)
    shift(world, path, found, axis, lambda place: place + count if place >= start else place)
    rows = found["rows"]
    if axis == "rows" and start <= len(rows):
        rows[start - 1 : start - 1] = [[] for _ in range(count)]
    for row in rows if axis == "columns" else ():
        if start <= len(row):
            row[start - 1 : start - 1] = [None] * count
    return {"sheet": sheet, "range": span(axis, start, count)}


@tool
@worded
def delete_rows_or_columns(world, path, sheet, axis, start, count=1):
    found, end = sheet_at(world, path, sheet), start + count

    def moved(place):
        return place if place < start else None if place < end else place - count

    shift(world, path, found, axis, moved)
    rows = found["rows"]
    if axis == "rows":
        del rows[start - 1 : end - 1]
    for row in rows if axis == "columns" else ():
        del row[start - 1 : end - 1]
    return {"sheet": sheet, "range": span(axis, start, count)}


def span(axis, start, count):
    first, last = (start, start + count - 1) if axis == "rows" else (letters_of(start), letters_of(start + count - 1))
    return f"{first}:{last}"


def shift(world, path, found, axis, moved):
    """Move the references to rows or columns of a sheet, in all formulas of the workbook, and its notes."""

    def change(of, column, row, own):
        if (of or own).lower() != found["name"].lower():
            return column, row
        place = moved(row if axis == "rows" else column)
        return place and ((column, place) if axis == "rows" else (place, row))

    for other in sheets_of(world, path):
        for row in other["rows"]:
            for at, value in enumerate(row):
                if is_formula(value):
                    row[at] = rewritten(value, lambda of, c, r, _f, _g, own=other["name"]: change(of, c, r, own))
    notes = {}
    for at, note in found["notes"].items():
        place = change(None, *corners(at)[1::-1], found["name"])
        if place is not None:
            notes[address(place[1], place[0], place[1], place[0])] = note
    found["notes"] = notes


# cells ----------------------------------------------------------------------------------------------------------------


@tool
@worded
def read_range(world, path, sheet, range=None, mode="values", max_cells=2000):
    found = sheet_at(world, path, sheet)
    book, rows = book_of(world, path), found["rows"]
    top, left, bottom, right = used(rows) if range is None else area(range, rows)
    width = right - left + 1
    if width > max_cells:
        place = address(top, left, bottom, right)
        raise Problem(
            f"Range {place} has {width} columns; at most {max_cells} cells can be read per call. Read fewer columns."
        )
    last = min(bottom, top + max_cells // width - 1)
    reasons, columns = {}, numbers(left, right)
    values = [[shown(book, sheet, row, column, mode, reasons) for column in columns] for row in numbers(top, last)]
    answer = {"range": address(top, left, last, right), "values": trimmed(values)}
    if last < bottom:
        answer["next_range"] = address(last + 1, left, bottom, right)
    return answer | ({"uncalculated": reasons} if reasons else {})


def shown(book, sheet, row, column, mode, reasons):
    if mode == "formulas":
        return book.raw(sheet, row, column)
    try:
        return book.value(sheet, row, column)
    except Uncalculated as reason:
        reasons[address(row, column, row, column)] = str(reason)
        return None


def trimmed(rows):
    """Return rows without the empty cells and rows at their ends."""
    result = []
    for row in rows:
        end = max((at for at, value in enumerate(row, 1) if value is not None), default=0)
        result.append(row[:end])
    while result and not result[-1]:
        result.pop()
    return result


@tool
@worded
def write_range(world, path, sheet, at, rows):
    found = sheet_at(world, path, sheet)
    top, left = cell(at)
    if not any(rows):
        raise Problem("rows must contain at least one value.")
    for value in (value for row in rows for value in row if is_formula(value)):
        check_formula(world, path, value)
    for row, values in enumerate(rows, top):
        for column, value in enumerate(values, left):
            put(found["rows"], row, column, value)
    end = address(top, left, top + len(rows) - 1, left + max(map(len, rows)) - 1)
    return {"sheet": sheet, "range": end, "cells_written": sum(map(len, rows))}


def check_formula(world, path, formula):
    """Refuse a formula that cannot be read, or that names a sheet which does not exist."""
    try:
        Parser(formula).parse()
    except Wrong as reason:
        raise Problem(f"Formula '{formula}' is not valid: {reason}.") from None
    names = [sheet["name"] for sheet in sheets_of(world, path)]
    for reference in areas_of(formula):
        sheet, _ = split_sheet(reference)
        if sheet is not None and sheet.lower() not in map(str.lower, names):
            raise Problem(
                f"'{sheet}' in '{reference}' is not a sheet of this workbook, and references to other workbooks are "
                f"not allowed. Sheets: {', '.join(map(repr, names))}."
            )


@tool
@worded
def clear_range(world, path, sheet, range, clear="contents"):
    found = sheet_at(world, path, sheet)
    top, left, bottom, right = area(range, found["rows"])
    for row in found["rows"][top - 1 : bottom] if clear in ("contents", "all") else ():
        row[left - 1 : right] = [None] * len(row[left - 1 : right])
    return {"sheet": sheet, "range": address(top, left, bottom, right)}


@tool
@worded
def copy_range(world, path, sheet, range, at, to_sheet=None, paste="all", transpose=False, skip_blanks=False):
    found = sheet_at(world, path, sheet)
    into = found if to_sheet is None else sheet_at(world, path, to_sheet)
    top, left, bottom, right = area(range, found["rows"])
    (row, column), book = cell(at), book_of(world, path)
    mode = "values" if paste == "values" else "formulas"
    values = [[shown(book, sheet, r, c, mode, {}) for c in numbers(left, right)] for r in numbers(top, bottom)]
    moved = [
        [shifted(value, row - top, column - left) if is_formula(value) else value for value in line] for line in values
    ]
    moved = [list(line) for line in zip(*moved, strict=True)] if transpose else moved
    for down, line in enumerate(moved if paste != "formats" else ()):
        for along, value in enumerate(line):
            if not (skip_blanks and value is None):
                put(into["rows"], row + down, column + along, value)
    return {"sheet": into["name"], "range": address(row, column, row + len(moved) - 1, column + len(moved[0]) - 1)}


def shifted(formula, down, along):
    """Return a formula whose relative references have moved."""

    def change(_sheet, column, row, fixed_column, fixed_row):
        place = (column if fixed_column else column + along, row if fixed_row else row + down)
        return place if min(place) > 0 else None

    return rewritten(formula, change)


@tool
@worded
def sort_range(world, path, sheet, range, sort_by, has_header=True):
    found = sheet_at(world, path, sheet)
    top, left, bottom, right = place = area(range, found["rows"])
    for at, key in enumerate(sort_by):
        for field in sorted(key.keys() - {"column", "order"}):
            valid = "unknown field; valid fields: 'column', 'order'"
            raise Problem(f"Invalid arguments for sort_range: sort_by[{at}].{field}: {valid}")
    header = [value_at(found["rows"], top, column) for column in numbers(left, right)]
    first = top + 1 if has_header else top
    book = book_of(world, path)
    order_of = [*numbers(first, bottom)]
    for key in reversed(sort_by):
        column = sort_column(key["column"], header if has_header else [], left, right, address(*place))
        values = {row: book.value(sheet, row, column) for row in order_of}
        empty = [row for row in order_of if values[row] is None]
        known = [row for row in order_of if values[row] is not None]
        known.sort(key=lambda row: order(values[row]), reverse=key.get("order") == "descending")
        order_of = known + empty
    lines = {row: [value_at(found["rows"], row, column) for column in numbers(left, right)] for row in order_of}
    for row, old in zip(numbers(first, bottom), order_of, strict=True):
        for column, value in enumerate(lines[old], left):
            put(found["rows"], row, column, shifted(value, row - old, 0) if is_formula(value) else value)
    return {"sheet": sheet, "range": address(*place)}


def sort_column(name, header, left, right, place):
    if name in header:
        return left + header.index(name)
    column = corners(f"{name}1")[1] if re.fullmatch(r"[A-Za-z]{1,3}", str(name)) else 0
    if not left <= column <= right:
        known = ", ".join(repr(title) if title is not None else "None" for title in header)
        letters = f"a column letter from {letters_of(left)} to {letters_of(right)}"
        raise Problem(f"Column '{name}' is not in {place}. Use {f'a header ({known}) or ' if header else ''}{letters}.")
    return column


@tool
@worded
def find_cells(
    world, path, query, sheet=None, exact=False, case_sensitive=False, mode="values", max_results=100
):  # fmt: skip
    matches, count = {}, 0
    for found in chosen_sheets(world, path, sheet):
        for at, value in cells_of(found["rows"]):
            if (mode == "formulas" or not is_formula(value)) and matching(value, query, exact, case_sensitive):
                if count == max_results:
                    return {"matches": matches, "truncated": True}
                matches.setdefault(found["name"], {})[at] = value
                count += 1
    return {"matches": matches}


@tool
@worded
def replace_cells(
    world, path, query, replacement, sheet=None, exact=False, case_sensitive=False, in_formulas=True
):  # fmt: skip
    replaced = {}
    for found in chosen_sheets(world, path, sheet):
        for at, value in [*cells_of(found["rows"])]:
            if (in_formulas or not is_formula(value)) and matching(value, query, exact, case_sensitive):
                flags = 0 if case_sensitive else re.IGNORECASE
                text = re.sub(re.escape(query), lambda _: replacement, text_of(value), flags=flags)
                row, column = corners(at)[:2]
                put(found["rows"], row, column, typed(text))
                replaced[found["name"]] = replaced.get(found["name"], 0) + 1
    return {"replaced": replaced}


def chosen_sheets(world, path, sheet):
    workbook_at(world, path)
    return sheets_of(world, path) if sheet is None else [sheet_at(world, path, sheet)]


def matching(value, query, exact, case_sensitive):
    text, wanted = text_of(value), query
    if not case_sensitive:
        text, wanted = text.lower(), wanted.lower()
    return text == wanted if exact else wanted in text


def typed(text):
    """Return a text as a cell that is typed in has it."""
    if re.fullmatch(r"-?\d+", text) and len(text) < 16:
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


@tool
@worded
def trace_formula(world, path, sheet, range, direction):
    found = sheet_at(world, path, sheet)
    top, left, bottom, right = area(range, found["rows"])
    cells = {}
    if direction == "dependents":
        for other in sheets_of(world, path):
            for at, value in cells_of(other["rows"]):
                if is_formula(value) and any(
                    overlaps(reference, other["name"], sheet, (top, left, bottom, right))
                    for reference in areas_of(value)
                ):
                    cells.setdefault(other["name"], []).append(at)
        return {"cells": cells}
    formula = value_at(found["rows"], top, left)
    if not is_formula(formula):
        raise Problem(f"{address(top, left, top, left)} has no formula.")
    if direction == "evaluate":
        value = book_of(world, path).value(sheet, top, left)
        return {"steps": [{"expr": formula[1:], "value": text_of(value)}]}
    for reference in areas_of(formula):
        of, rest = split_sheet(reference)
        cells.setdefault(of or sheet, []).append(rest.replace("$", ""))
    return {"cells": cells}


def overlaps(reference, own, sheet, place):
    of, rest = split_sheet(reference)
    top, left, bottom, right = corners(rest)
    in_rows, in_columns = top <= place[2] and place[0] <= bottom, left <= place[3] and place[1] <= right
    return (of or own).lower() == sheet.lower() and in_rows and in_columns


# what cells have besides values ---------------------------------------------------------------------------------------


@tool
@worded
def format_range(world, path, sheet, range, style):
    found = sheet_at(world, path, sheet)
    for name in ("font_color", "fill_color", "border_color"):
        if name in style and not COLOR.fullmatch(style[name]):
            raise Problem(f"Invalid color '{style[name]}'. Use a hex color like '#1F4E78'.")
    return {"sheet": sheet, "range": address(*area(range, found["rows"]))}


@tool
@worded
def merge_cells(world, path, sheet, range, action="merge"):
    found = sheet_at(world, path, sheet)
    top, left, bottom, right = corner = area(range, found["rows"])
    place = address(*corner)
    if action == "unmerge":
        if place not in found["merged"]:
            raise Problem(f"{place} is not a merged range.")
        found["merged"].remove(place)
        return {"sheet": sheet, "range": place}
    if ":" not in place:
        raise Problem("Merging needs a range of at least two cells.")
    for other in found["merged"]:
        if overlaps(other, sheet, sheet, corner):
            raise Problem(f"{place} overlaps the merged range {other}.")
    for row in numbers(top, bottom):
        for column in numbers(left, right):
            if (row, column) != (top, left):
                put(found["rows"], row, column, None)
    found["merged"].append(place)
    return {"sheet": sheet, "range": place}


@tool
@worded
def set_note(world, path, sheet, cell, text, author="Claude"):
    found = sheet_at(world, path, sheet)
    row, column = single(cell)
    place = address(row, column, row, column)
    found["notes"][place] = {"text": text, "author": author}
    return f"Set the note on {sheet}!{place}."


@tool
@worded
def delete_note(world, path, sheet, cell):
    found = sheet_at(world, path, sheet)
    row, column = single(cell)
    place = address(row, column, row, column)
    if place not in found["notes"]:
        raise Problem(f"{place} has no note.")
    del found["notes"][place]
    return f"Deleted the note on {sheet}!{place}."


single = cell  # two tools have an argument of this name


@tool
@worded
def set_defined_name(world, path, name, refers_to):
    workbook = workbook_at(world, path)
    if not re.fullmatch(r"[A-Za-z_][\w.]*", name) or tokens(f"={name}")[0][0] != "name":
        raise Problem(
            f"Invalid name '{name}'. Start with a letter or underscore and use only letters, digits, underscores and "
            "periods; it cannot look like a cell reference such as 'A1'."
        )
    workbook["defined_names"][name] = refers_to
    return {"name": name}


@tool
@worded
def delete_defined_name(world, path, name, sheet=None):
    workbook = workbook_at(world, path)
    if name not in workbook["defined_names"]:
        scope = "the workbook" if sheet is None else f"sheet '{sheet}'"
        raise Problem(
            f"No name '{name}' is defined for {scope}. describe_workbook lists defined names with their scope."
        )
    del workbook["defined_names"][name]
    return {"name": name}
