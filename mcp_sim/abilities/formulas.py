"""What does a formula of a sheet come to? Parsed, never executed; what is not known is refused when it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_sim.abilities.expression import LONGEST
from mcp_sim.abilities.grids import Area, area
from mcp_sim.abilities.refusal import Refused
from mcp_sim.types import Json

Cells: TypeAlias = Callable[[str | None, Area], list[list[Json]]]
"""The values of an area of a sheet; None is the sheet that the formula stands on."""

Value: TypeAlias = Callable[[Cells], Any]
"""A part of a formula, compiled."""

_TOKENS = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"]|\"\")*\")|(?P<ref>(?:'[^']+'!|\w+!)?\$?[A-Za-z]{1,3}\$?[1-9]\d*(?::\$?[A-Za-z]{1,3}\$?\d+)?"
    r"|(?:'[^']+'!|\w+!)?[A-Za-z]{1,3}:[A-Za-z]{1,3})(?![\w(])"
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[A-Za-z_][\w.]*)|(?P<sign><=|>=|<>|[-+*/^&=<>(),;%]))"
)
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip
_BINDS = {**dict.fromkeys(_COMPARED, 1), "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 6}
_MINUS = 7
_DEEPEST = 64
_LONGEST_TEXT = 32_767
"""So many characters may a formula come to, as in other sheets."""

_EXACT = 2**53


class Failing(Exception):
    """A formula that comes to an error: `#DIV/0!`, `#VALUE!`, `#REF!`, `#NUM!`."""


def is_formula(value: Json) -> bool:
    """Does a cell hold a formula?"""
    return isinstance(value, str) and value.startswith("=") and len(value) > 1


def compiled(formula: str) -> Value:
    """The formula, ready to be worked out. Raises Refused, which names what is not understood."""
    if len(formula) > LONGEST:
        raise Refused("invalid", f"Formula too long: {len(formula)} characters, at most {LONGEST} are allowed")
    reader = _Reader(formula)
    value = reader.expression(0)
    if reader.ahead is not None:
        raise reader.misunderstood()
    return value


def worked_out(value: Value, cells: Cells) -> Json:
    """What it comes to: a number, a text, a flag, or the error that a sheet would show."""
    try:
        found = value(cells)
    except Failing as error:
        return str(error)
    except ZeroDivisionError:
        return "#DIV/0!"
    except (TypeError, ValueError):
        return "#VALUE!"
    except OverflowError:
        return "#NUM!"
    found = next(_flat([found]), None) if isinstance(found, list) else found
    if isinstance(found, float):
        if not math.isfinite(found):
            return "#NUM!"
        return int(found) if found.is_integer() and abs(found) < _EXACT else float(f"{found:.14g}")
    return 0 if found is None else found


# parsing --------------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads one formula from left to right. `ahead` is the kind and the text of what comes next, None at the end."""

    def __init__(self, formula: str) -> None:
        self.formula, self.place, self.depth = formula, 1, 0
        self.ahead: tuple[str, str] | None = None
        self.take()

    def take(self) -> tuple[str, str] | None:
        """What came next; from now on it is behind."""
        taken = self.ahead
        if not self.formula[self.place :].strip():
            self.ahead = None
            return taken
        found = _TOKENS.match(self.formula, self.place)
        if found is None or found.lastgroup is None:
            raise self.misunderstood()
        self.ahead, self.place = (found.lastgroup, found[found.lastgroup]), found.end()
        return taken

    def misunderstood(self, token: tuple[str, str] | None = None) -> Refused:
        here = token or self.ahead
        near = here[1] if here is not None else self.formula[self.place :].strip() or "its end"
        return Refused("invalid", f"Invalid formula {self.formula!r}: not understood at {near!r}")

    def expression(self, least: int) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Refused("invalid", f"Formula {self.formula!r} nests too deeply")
        first, rest = self.operand(), list[tuple[Join, Value]]()
        while self.ahead is not None and self.ahead[0] == "sign" and _BINDS.get(self.ahead[1], 0) > least:
            sign = self.ahead[1]
            self.take()
            rest.append((_join(sign), self.expression(_BINDS[sign])))
        self.depth -= 1
        return _joined(first, rest) if rest else first

    def operand(self) -> Value:
        value = self._single()
        while self.ahead == ("sign", "%"):
            self.take()
            value = _joined(value, [(_join("/"), lambda _cells: 100)])
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
                return lambda cells: -_number(inner(cells))
            case ("sign", "+"):
                return self.expression(_MINUS)
            case _:
                raise self.misunderstood(taken)

    def _named(self, name: str) -> Value:
        if name in {"TRUE", "FALSE"} and self.ahead != ("sign", "("):
            return lambda _cells: name == "TRUE"
        function = _FUNCTIONS.get(name)
        if function is None:
            known = ", ".join(sorted(_FUNCTIONS))
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


# values ---------------------------------------------------------------------------------------------------------------


def _single_or_all(values: list[list[Json]], place: Area) -> Any:
    if (place.top, place.left) == (place.bottom, place.right):
        return _checked(values[0][0] if values and values[0] else None)
    return values


def _checked(value: Any) -> Any:
    """The value of a cell; raises Failing where that is an error itself."""
    if isinstance(value, str) and value.startswith("#") and value.endswith(("!", "?", "A")):
        raise Failing(value)
    return value


def _number(value: Any) -> Any:
    value = next(_flat([value]), None) if isinstance(value, list) else value
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, str) or abs(value) > _EXACT else value


def _text(value: Any) -> str:
    value = next(_flat([value]), None) if isinstance(value, list) else value
    if isinstance(value, bool):
        return str(value).upper()
    is_whole = isinstance(value, float) and value.is_integer()
    return "" if value is None else str(int(value)) if is_whole else str(value)


Join: TypeAlias = Callable[[Any, Any], Any]


def _joined(first: Value, rest: Sequence[tuple[Join, Value]]) -> Value:
    """A part, and what one after the other is joined to it."""

    def value(cells: Cells) -> Any:
        found = first(cells)
        for join, other in rest:
            found = join(found, other(cells))
        return found

    return value


def _join(sign: str) -> Join:
    if sign == "&":
        return lambda one, other: _in_full([one, other])
    if sign in _COMPARED:
        compare = _COMPARED[sign]
        return lambda one, other: compare(*_alike(one, other))
    work = _ARITHMETIC[sign]
    return lambda one, other: work(_number(one), _number(other))


def _in_full(values: Sequence[Any]) -> str:
    """Texts one after the other; raises Failing where a cell has no room for them."""
    texts = [_text(value) for value in values]
    if sum(map(len, texts)) > _LONGEST_TEXT:
        raise Failing("#VALUE!")
    return "".join(texts)


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    if isinstance(one, str) or isinstance(other, str):
        return _text(one).lower(), _text(other).lower()
    return _number(one), _number(other)


def _power(base: Any, exponent: Any) -> Any:
    found = float(base) ** exponent
    if isinstance(found, complex):
        raise Failing("#NUM!")
    return found


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "^": _power,
}  # fmt: skip


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)  # pyright: ignore[reportUnknownArgumentType] (rows of cells hold JSON)
        else:
            yield _checked(value)


Function: TypeAlias = Callable[[Cells, Sequence[Value]], Any]


def _over_numbers(work: Callable[[list[Any]], Any]) -> Function:
    """A function of all the numbers in its arguments; what is no number in a range is passed over."""

    def function(cells: Cells, given: Sequence[Value]) -> Any:
        found = list(_flat([value(cells) for value in given]))
        return work([float(one) for one in found if isinstance(one, int | float) and not isinstance(one, bool)])

    return function


def _over_all(work: Callable[[list[Any]], Any]) -> Function:
    return lambda cells, given: work(list(_flat([value(cells) for value in given])))


def _if(cells: Cells, given: Sequence[Value]) -> Any:
    chosen = 1 if _number(given[0](cells)) else 2
    return given[chosen](cells) if chosen < len(given) else False


def _if_error(cells: Cells, given: Sequence[Value]) -> Any:
    try:
        return given[0](cells)
    except (Failing, ArithmeticError, TypeError, ValueError):
        return given[1](cells) if len(given) > 1 else ""


def _round(cells: Cells, given: Sequence[Value]) -> Any:
    places = int(_number(given[1](cells))) if len(given) > 1 else 0
    scale = 10.0**places
    number = _number(given[0](cells))
    return math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)


def _of_one(work: Callable[[Any], Any]) -> Function:
    return lambda cells, given: work(given[0](cells))


def _mean(numbers: list[Any]) -> Any:
    return math.fsum(numbers) / len(numbers)


def _median(numbers: list[Any]) -> Any:
    if not numbers:
        raise Failing("#NUM!")
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


_FUNCTIONS: Mapping[str, Function] = {
    "SUM": _over_numbers(math.fsum), "AVERAGE": _over_numbers(_mean), "MEDIAN": _over_numbers(_median),
    "MIN": _over_numbers(lambda n: min(n, default=0)), "MAX": _over_numbers(lambda n: max(n, default=0)),
    "COUNT": _over_numbers(len), "COUNTA": _over_all(lambda all_: sum(one not in (None, "") for one in all_)),
    "PRODUCT": _over_numbers(math.prod), "ROUND": _round, "ABS": _of_one(lambda v: abs(_number(v))),
    "INT": _of_one(lambda v: math.floor(_number(v))), "SQRT": _of_one(lambda v: math.sqrt(_number(v))),
    "MOD": lambda cells, given: _number(given[0](cells)) % _number(given[1](cells)),
    "POWER": lambda cells, given: _power(_number(given[0](cells)), _number(given[1](cells))),
    "IF": _if, "IFERROR": _if_error, "AND": _over_all(all), "OR": _over_all(any),
    "NOT": _of_one(lambda v: not _number(v)),
    "CONCATENATE": _over_all(_in_full),
    "CONCAT": _over_all(_in_full), "LEN": _of_one(lambda v: len(_text(v))),
    "UPPER": _of_one(lambda v: _text(v).upper()), "LOWER": _of_one(lambda v: _text(v).lower()),
    "TRIM": _of_one(lambda v: " ".join(_text(v).split())),
}  # fmt: skip
