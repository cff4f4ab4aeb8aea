"""Parse and evaluate formulas of cells, which may refer to other cells.

Nothing is executed as code. Unknown functions are refused when the formula is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.spreadsheet import formula_functions as functions
from mcp_sim.backends.spreadsheet.formula_functions import FUNCTIONS, Cells, Join, Value, chain, number_of, operator_for
from mcp_sim.backends.spreadsheet.grids import Area, area, read, trim_to_values
from mcp_sim.types import Json, Record

_TOKENS = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"]|\"\")*\")|(?P<ref>(?:'[^']+'!|\w+!)?\$?[A-Za-z]{1,3}\$?[1-9]\d*(?::\$?[A-Za-z]{1,3}\$?\d+)?"
    r"|(?:'[^']+'!|\w+!)?[A-Za-z]{1,3}:[A-Za-z]{1,3})(?![\w(])"
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[A-Za-z_][\w.]*)|(?P<sign><=|>=|<>|[-+*/^&=<>(),;%]))"
)
_BINDS = {**dict.fromkeys(functions.COMPARED, 1), "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 6}
_MINUS = 7  # as in spreadsheets, it binds more strongly than `^`: -2^2 is 4
_DEEPEST = 64  # the level of nesting that Excel allows; deeper ones would exceed Python's recursion limit
_LONGEST = 2000
"""Maximum number of characters of a formula."""
_MOST_READ = 1_000_000
"""Maximum number of cells that the formulas of one answer may read. Cells that refer to ranges of cells with formulas
take exponential time."""

Place: TypeAlias = tuple[str, int, int]
"""Sheet name, row and column."""


def is_formula(value: Json) -> bool:
    """Return whether a cell value is a formula."""
    return isinstance(value, str) and value.startswith("=") and len(value) > 1


def compile_formula(formula: str) -> Value:
    """Compile a formula. Raises `Refused`, which names what is not understood."""
    if len(formula) > _LONGEST:
        raise Refused("invalid", f"Formula too long: {len(formula)} characters, at most {_LONGEST} are allowed")
    reader = _Reader(formula)
    value = reader.expression(0)
    if reader.ahead is not None:
        raise reader.misunderstood()
    return value


def check_formulas(rows: Sequence[Sequence[Json]]) -> None:
    """Raise `Refused` if a cell contains an invalid formula."""
    for value in (value for row in rows for value in row):
        if is_formula(value):
            compile_formula(str(value))


def evaluate(value: Value, cells: Cells) -> Json:
    """Return the value of a formula: a number, a text, a boolean, or an error value."""
    try:
        result = functions.single(value(cells))
    except functions.FormulaError as error:
        return str(error)
    except ArithmeticError as error:
        return "#DIV/0!" if isinstance(error, ZeroDivisionError) else "#NUM!"
    except functions.ERRORS:
        return "#VALUE!"
    if isinstance(result, float):
        if not math.isfinite(result):
            return "#NUM!"
        return int(result) if result.is_integer() and abs(result) < functions.EXACT else float(f"{result:.14g}")
    return 0 if result is None else result


class _Pending(Exception):
    """Raised when a formula needs others that are not evaluated yet."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places


class Calculation:
    """The values of a workbook's sheets. Each formula is evaluated once, after those that it needs.

    A circular formula is `#REF!`. `sheet` finds a sheet by name.
    """

    def __init__(self, sheet: Callable[[str], Record | None]) -> None:
        self._sheet = sheet
        self._sheets = dict[str, Record]()
        self._known = dict[Place, Json]()
        self._compiled = dict[Place, Value]()
        self._looked_at = 0

    def shown(self, sheet: Record, cells: Area) -> list[list[Json]]:
        """Return the values of the cells in an area."""
        rows = self._read(sheet, cells)
        for place in self._unknown(sheet, rows, cells):
            self._settle(place)
        return self._values(sheet, rows, cells)

    def _read(self, sheet: Record, cells: Area) -> list[list[Json]]:
        self._sheets[str(sheet["name"])] = sheet
        return read(sheet["rows"], cells)

    def _unknown(self, sheet: Record, rows: list[list[Json]], cells: Area) -> Iterator[Place]:
        """Yield the places of formulas that are not evaluated yet."""
        for at, row in enumerate(rows, cells.top):
            for column, value in enumerate(row, cells.left):
                if is_formula(value) and (str(sheet["name"]), at, column) not in self._known:
                    yield str(sheet["name"]), at, column

    def _values(self, sheet: Record, rows: list[list[Json]], cells: Area) -> list[list[Json]]:
        name, known = str(sheet["name"]), self._known
        return [[known.get((name, at, column), "#REF!") if is_formula(value) else value
                 for column, value in enumerate(row, cells.left)]
                for at, row in enumerate(rows, cells.top)]  # fmt: skip

    def _settle(self, first: Place) -> None:
        """Evaluate a formula, after those that it needs."""
        waiting = [first]
        while waiting:
            place = waiting[-1]
            try:
                value = self._known[place] if place in self._known else self._worked_out(place)
            except _Pending as pending:
                waiting.extend(pending.places)
            else:
                self._known[place] = value
                waiting.pop()

    def _worked_out(self, place: Place) -> Json:
        """Evaluate the formula at a place. Raises `_Pending`."""
        sheet = self._sheets[place[0]]
        if self._looked_at > _MOST_READ:
            return "#REF!"
        try:
            if place not in self._compiled:
                self._compiled[place] = compile_formula(str(sheet["rows"][place[1]][place[2]]))
        except Refused:
            return "#NAME?"
        return evaluate(self._compiled[place], lambda name, area: self._seen(sheet, name, area))

    def _seen(self, own: Record, name: str | None, area: Area) -> list[list[Json]]:
        """Return the values of an area for a formula. Raises `_Pending`, or `FormulaError` for an unknown sheet."""
        sheet = own if name is None else self._sheet(name)
        if sheet is None:
            raise functions.FormulaError("#REF!")
        cells = trim_to_values(sheet["rows"], area)
        rows = self._read(sheet, cells)
        self._looked_at += sum(len(row) + 1 for row in rows)
        pending = [place for place in self._unknown(sheet, rows, cells) if place not in self._compiled]
        if pending:
            raise _Pending(pending)
        return self._values(sheet, rows, cells)


class _Reader:
    """Reads a formula from left to right. `ahead` is the kind and text of the next token, None at the end."""

    def __init__(self, formula: str) -> None:
        self.formula, self.place, self.depth = formula, 1, 0
        self.ahead: tuple[str, str] | None = None
        self.take()

    def take(self) -> tuple[str, str] | None:
        """Return the next token and move past it. Raises `Refused` if the token after it is invalid."""
        taken = self.ahead
        if not self.formula[self.place :].strip():
            self.ahead = None
            return taken
        match = _TOKENS.match(self.formula, self.place)
        if match is None or match.lastgroup is None:
            raise self.misunderstood()
        self.ahead, self.place = (match.lastgroup, match[match.lastgroup]), match.end()
        return taken

    def misunderstood(self, token: tuple[str, str] | None = None) -> Refused:
        here = token or self.ahead
        near = here[1] if here is not None else self.formula[self.place :].strip() or "its end"
        return Refused("invalid", f"Invalid formula {self.formula!r}: not understood at {near!r}")

    def expression(self, least: int) -> Value:
        """Compile operands joined by operators that bind more tightly than `least`.

        Raises `Refused` if the syntax is invalid or nests too deeply.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Refused("invalid", f"Formula {self.formula!r} nests too deeply")
        first, rest = self.operand(), list[tuple[Join, Value]]()
        while self.ahead is not None and self.ahead[0] == "sign" and _BINDS.get(self.ahead[1], 0) > least:
            sign = self.ahead[1]
            self.take()
            rest.append((operator_for(sign), self.expression(_BINDS[sign])))
        self.depth -= 1
        return chain(first, rest) if rest else first

    def operand(self) -> Value:
        value = self._single()
        while self.ahead == ("sign", "%"):
            self.take()
            value = chain(value, [(operator_for("/"), lambda _cells: 100)])
        return value

    def _single(self) -> Value:
        taken = self.take()
        match taken:
            case ("number", text):
                number = float(text) if any(sign in text for sign in ".eE") else int(text)
                return lambda _cells: number
            case ("text", text):
                plain = text[1:-1].replace('""', '"')
                return lambda _cells: plain
            case ("ref", text):
                sheet, place = area(text.replace("$", ""))
                return lambda cells: _single_or_all(cells(sheet, place), place)
            case ("name", name):
                return self._named(name.upper())
            case ("sign", "("):
                inner = self.expression(0)
                self._expect(")")
                return inner
            case ("sign", "-"):
                inner = self.expression(_MINUS)
                return lambda cells: -number_of(inner(cells))
            case ("sign", "+"):
                return self.expression(_MINUS)
            case _:
                raise self.misunderstood(taken)

    def _named(self, name: str) -> Value:
        if name in {"TRUE", "FALSE"} and self.ahead != ("sign", "("):
            return lambda _cells: name == "TRUE"
        function = FUNCTIONS.get(name)
        if function is None:
            known = ", ".join(sorted(FUNCTIONS))
            raise Refused("invalid", f"The function {name} is not supported in formulas; supported are {known}")
        self._expect("(")
        given: list[Value] = []
        while self.ahead != ("sign", ")"):
            given.append(self.expression(0))
            if self.ahead in (("sign", ","), ("sign", ";")):
                self.take()
            elif self.ahead != ("sign", ")"):
                raise self.misunderstood()
        self._expect(")")
        return lambda cells: function(cells, given)

    def _expect(self, sign: str) -> None:
        if self.take() != ("sign", sign):
            raise self.misunderstood()


def _single_or_all(values: list[list[Json]], place: Area) -> Any:
    if (place.top, place.left) == (place.bottom, place.right):
        return functions.checked(values[0][0] if values and values[0] else None)
    return values
