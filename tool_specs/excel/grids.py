"""Sheets as rows of cells, which both programs for workbooks use."""

from formulas import address, corners


def given_workbooks(given):
    """Return the paths of the given workbooks, each with its rows by sheet."""
    workbooks = (given or {}).get("workbooks", {})
    if isinstance(workbooks, dict):
        workbooks = [{"path": path, "sheets": sheets} for path, sheets in workbooks.items()]
    return [(workbook["path"], by_name(workbook.get("sheets", {}))) for workbook in workbooks]


def by_name(sheets):
    if isinstance(sheets, dict):
        return sheets
    return {sheet["name"]: sheet.get("rows", []) for sheet in sheets}


def used(rows):
    """Return the corners of the cells with values, those of A1 if there are none."""
    cells = [corners(place)[:2] for place, _ in cells_of(rows)]
    if not cells:
        return 1, 1, 1, 1
    columns = [column for _, column in cells]
    return cells[0][0], min(columns), cells[-1][0], max(columns)


def filled(value):
    return value is not None and value != ""


def value_at(rows, row, column):
    return rows[row - 1][column - 1] if row <= len(rows) and column <= len(rows[row - 1]) else None


def put(rows, row, column, value):
    """Write a cell, and let the rows grow."""
    if value_at(rows, row, column) == value and value is None:
        return
    rows.extend([] for _ in range(len(rows), row))
    rows[row - 1].extend([None] * (column - len(rows[row - 1])))
    rows[row - 1][column - 1] = None if value == "" else value


def is_formula(value):
    return isinstance(value, str) and value.startswith("=") and len(value) > 1


def numbers(first, last):
    """Return the whole numbers from one to another, both included."""
    return [*range(first, last + 1)]


def cells_of(rows):
    for row, values in enumerate(rows, 1):
        for column, value in enumerate(values, 1):
            if filled(value):
                yield address(row, column, row, column), value
