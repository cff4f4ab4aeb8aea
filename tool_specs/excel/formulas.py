"""Formulas of the simulated workbooks: reading, computing, and what becomes of their references when cells move."""

import math
import re
from statistics import median, stdev

from mcp_sim.libraries.patterns import search_test

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"]|"")*")
    |(?P<error>(?:(?:'(?:[^']|'')+'|[A-Za-z_][\w.]*)!)?\#(?:REF!|DIV/0!|N/A|VALUE!|NAME\?|NUM!|NULL!))
    |(?P<area>(?:(?:'(?:[^']|'')+'|[A-Za-z_][\w.]*)!)?
      (?:\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(?::\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6})?|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3})
      (?![\w(.!]))
    |(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<sign><>|<=|>=|[-+*/^&=<>%(),]))""",
    re.VERBOSE,
)
CELL = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)(\d+)")
PRECEDENCE = (("=", "<>", "<", ">", "<=", ">="), ("&",), ("+", "-"), ("*", "/"), ("^",))
LAST_ROW = 1_048_576


class Wrong(Exception):
    """A formula that cannot be read."""


class Failure(str):
    """An error value such as #DIV/0!."""

    __slots__ = ()


class Uncalculated(Exception):
    """A formula that uses what the simulation does not compute."""


DIV, VALUE, REF, NA, NUM = map(Failure, ("#DIV/0!", "#VALUE!", "#REF!", "#N/A", "#NUM!"))


# places ---------------------------------------------------------------------------------------------------------------


def column_number(letters):
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def letters_of(column):
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def address(top, left, bottom, right):
    first = f"{letters_of(left)}{top}"
    return first if (top, left) == (bottom, right) else f"{first}:{letters_of(right)}{bottom}"


def split_sheet(area):
    """Return the sheet that a reference names, or None, and the rest."""
    sheet, mark, rest = area.rpartition("!")
    return (sheet.strip("'").replace("''", "'") if mark else None), rest


def corners(text):
    """Return top, left, bottom and right of a reference without a sheet; of whole columns all rows."""
    text = text.replace("$", "").upper()
    first, _, last = text.partition(":")
    if first.isalpha():
        ends = sorted((column_number(first), column_number(last or first)))
        return 1, ends[0], LAST_ROW, ends[1]
    (_, left, _, top), (_, right, _, bottom) = (CELL.fullmatch(part).groups() for part in (first, last or first))
    rows, columns = sorted((int(top), int(bottom))), sorted((column_number(left), column_number(right)))
    return rows[0], columns[0], rows[1], columns[1]


# reading --------------------------------------------------------------------------------------------------------------


def tokens(formula):
    """Return the kind and text of each token of a formula without its equals sign. Raises `Wrong`."""
    result, at, text = [], 0, formula[1:].rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Wrong(f"unexpected {text[at:].strip()[:1]!r}")
        result.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return result


class Parser:
    """Reads a formula into nested tuples."""

    def __init__(self, formula):
        self.tokens, self.at = tokens(formula), 0

    def parse(self):
        tree = self.level(0)
        if self.at < len(self.tokens):
            raise Wrong(f"unexpected {self.tokens[self.at][1]!r}")
        return tree

    def sign(self, *signs):
        """Take one of these signs if it is next."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def level(self, depth):
        if depth == len(PRECEDENCE):
            return self.unary()
        left = self.level(depth + 1)
        while sign := self.sign(*PRECEDENCE[depth]):
            left = (sign, left, self.level(depth + 1))
        return left

    def unary(self):
        if sign := self.sign("-", "+"):
            return ("negative", self.unary()) if sign == "-" else self.unary()
        tree = self.primary()
        while self.sign("%"):
            tree = ("/", tree, ("value", 100))
        return tree

    def primary(self):
        if self.at == len(self.tokens):
            raise Wrong("unexpected end")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return ("value", text[1:-1].replace('""', '"'))
        if kind == "number":
            return ("value", plain(float(text)))
        if kind == "area":
            return ("area", text)
        if kind == "error":
            return ("value", Failure(split_sheet(text.removesuffix("!"))[1] + "!" * text.endswith("!")))
        if kind == "name":
            if self.sign("("):
                return ("call", text.upper(), self.arguments())
            return ("value", text.upper() == "TRUE") if text.upper() in ("TRUE", "FALSE") else ("name", text)
        if text == "(":
            tree = self.level(0)
            if not self.sign(")"):
                raise Wrong("unclosed '('")
            return tree
        raise Wrong(f"unexpected {text!r}")

    def arguments(self):
        arguments = []
        if self.sign(")"):
            return arguments
        while True:
            if self.at == len(self.tokens):
                raise Wrong("unclosed '('")
            is_empty = self.tokens[self.at][1] in (",", ")")
            arguments.append(("value", None) if is_empty else self.level(0))
            if self.sign(")"):
                return arguments
            if not self.sign(","):
                raise Wrong("unclosed '('")


def areas_of(formula):
    """Return the references of a formula as written."""
    return [text for kind, text in tokens(formula) if kind == "area"]


def rewritten(formula, change):
    """Return a formula with each reference to a cell changed by `change(sheet, column, row, fixed column, fixed row)`.

    It returns the new column and row, or None for a place that is gone.
    """

    def place(match):
        if match.lastgroup != "area":
            return match[0]
        sheet, rest = split_sheet(match["area"])
        if not CELL.match(rest):
            return match[0]
        ends = [change(sheet, column_number(c[1]), int(c[3]), c[0], c[2]) for c in CELL.findall(rest)]
        if None in ends:
            ends = shrunk(sheet, rest, change)
        if ends is None:
            return match[0].replace(rest, "#REF!")
        marks = [(c[0], c[2]) for c in CELL.findall(rest)]
        new = ":".join(f"{m[0]}{letters_of(c)}{m[1]}{r}" for (c, r), m in zip(ends, marks, strict=True))
        return match[0].replace(rest, new)

    return "=" + TOKEN.sub(place, formula[1:])


def shrunk(sheet, area, change):
    """Return the ends of a range whose first or last rows or columns are gone; None if all of it is."""
    top, left, bottom, right = corners(area)
    if ":" not in area or (bottom - top + 1) * (right - left + 1) > 100_000:
        return None
    kept = [change(sheet, column, row, "", "") for row in range(top, bottom + 1) for column in range(left, right + 1)]
    kept = [place for place in kept if place is not None]
    return [min(kept), max(kept)] if kept else None


# computing ------------------------------------------------------------------------------------------------------------


def plain(number):
    """Return a number with the 15 digits that Excel keeps, whole ones as int."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return number
    if isinstance(number, float) and not math.isfinite(number):
        return NUM
    rounded = float(f"{number:.15g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


class Book:
    """The values of a workbook: sheets by name, each a list of rows, and defined names."""

    def __init__(self, sheets, names):
        self.sheets, self.names, self.known, self.trees = sheets, names, {}, {}

    def raw(self, sheet, row, column):
        rows = self.sheets[sheet]
        return rows[row - 1][column - 1] if row <= len(rows) and column <= len(rows[row - 1]) else None

    def value(self, sheet, row, column):
        """Return the value of a cell. Raises `Uncalculated` with what is not known."""
        raw = self.raw(sheet, row, column)
        if not (isinstance(raw, str) and raw.startswith("=") and len(raw) > 1):
            return raw
        place = (sheet, row, column)
        if place not in self.known:
            self.known[place] = Uncalculated("circular reference")
            self.known[place] = self.result(raw, sheet)
        value = self.known[place]
        if isinstance(value, Uncalculated):
            raise value
        return value

    def result(self, formula, sheet):
        try:
            value = self.single(self.compute(Parser(formula).parse(), sheet))
        except Failed as failure:
            return failure.args[0]
        except Uncalculated as reason:
            return reason
        except (OverflowError, ZeroDivisionError):
            return NUM
        return 0 if value is None else plain(value)

    def area(self, text, sheet):
        """Return the values of a range as rows, without what lies beyond the used cells."""
        named, rest = split_sheet(text)
        name = sheet if named is None else next((s for s in self.sheets if s.lower() == named.lower()), None)
        if name is None:
            raise Failed(REF)
        top, left, bottom, right = corners(rest)
        rows = self.sheets[name]
        width = max(map(len, rows), default=0)
        bottom, right = min(bottom, max(len(rows), top)), min(right, max(width, left))
        return [[self.value(name, row, column) for column in range(left, right + 1)] for row in range(top, bottom + 1)]

    def compute(self, tree, sheet):
        kind, *rest = tree
        if kind == "value":
            return rest[0]
        if kind == "area":
            values = self.area(rest[0], sheet)
            return values if ":" in rest[0] else values[0][0]
        if kind == "name":
            return self.named(rest[0], sheet)
        if kind == "negative":
            return -number(self.compute(rest[0], sheet))
        if kind == "call":
            return self.call(rest[0], rest[1], sheet)
        return operated(kind, self.single(self.compute(rest[0], sheet)), self.single(self.compute(rest[1], sheet)))

    def named(self, name, sheet):
        refers = next((text for known, text in self.names.items() if known.lower() == name.lower()), None)
        if refers is None:
            raise Uncalculated(f"name {name}")
        return self.compute(Parser("=" + refers.removeprefix("=")).parse(), sheet)

    def single(self, value):
        if isinstance(value, list):
            value = value[0][0] if value and value[0] else None
        if isinstance(value, Failure):
            raise Failed(value)
        return value

    def call(self, name, arguments, sheet):
        if name in LAZY:
            return LAZY[name](self, arguments, sheet)
        if name not in FUNCTIONS:
            raise Uncalculated(name)
        try:
            return FUNCTIONS[name](*(self.compute(argument, sheet) for argument in arguments))
        except (TypeError, IndexError):
            raise Failed(VALUE) from None


class Failed(Exception):
    """A computation that ends in an error value."""


def operated(sign, left, right):
    if sign == "&":
        return text_of(left) + text_of(right)
    if sign in PRECEDENCE[0]:
        a, b = order(left), order(right)
        return {"=": a == b, "<>": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign]
    a, b = number(left), number(right)
    if sign == "/" and b == 0:
        raise Failed(DIV)
    if sign == "^":
        return a**b
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1)}[sign]


def order(value):
    """Return a key by which values compare: numbers, then texts in any case, then truth values."""
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, str):
        return (1, value.lower())
    return (0, 0 if value is None else value)


def number(value):
    if isinstance(value, Failure):
        raise Failed(value)
    if value is None or value == "":
        return 0
    try:
        return float(value) if isinstance(value, str) else int(value) if isinstance(value, bool) else value
    except ValueError:
        raise Failed(VALUE) from None


def text_of(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "" if value is None else str(plain(value))


def flat(values):
    for value in values:
        if isinstance(value, list):
            yield from flat(value)
        else:
            yield value


def numbers(*values):
    """Return the numbers of the arguments: of ranges the numeric cells, else what counts as a number."""
    result = []
    for value in values:
        for item in flat([value]):
            if isinstance(item, Failure):
                raise Failed(item)
            if not isinstance(value, list) and item is not None:
                result.append(number(item))
            elif isinstance(item, int | float) and not isinstance(item, bool):
                result.append(item)
    return result


def average(*values):
    chosen = numbers(*values)
    if not chosen:
        raise Failed(DIV)
    return sum(chosen) / len(chosen)


def rounded(value, digits=0, how=None):
    factor, amount = 10 ** int(number(digits)), number(value)
    if how is not None:
        return math.copysign(how(abs(plain(amount * factor))), amount) / factor
    return math.copysign(math.floor(abs(plain(amount * factor)) + 0.5), amount) / factor


def criterion(wanted):
    """Return a test for the values that a criterion such as ">5" or "a*" means."""
    sign, rest = re.fullmatch(r"(<>|<=|>=|<|>|=)?(.*)", text_of(wanted), re.DOTALL).groups()
    try:
        value = float(rest)
    except ValueError:
        value = {"TRUE": True, "FALSE": False}.get(rest.upper(), rest)
    if isinstance(value, str) and sign in (None, "=", "<>"):
        pattern = re.escape(value[:255]).replace(r"\*", ".*").replace(r"\?", ".")  # longer criteria fail in Excel
        matches = search_test(rf"(?i)\A(?:{pattern})\z")
        return lambda item: matches(text_of(item)) != (sign == "<>")
    return lambda item: order(item)[0] == order(value)[0] and item is not None and operated(sign or "=", item, value)


def chosen(cells, wanted, values=None):
    test = criterion(wanted)
    pairs = zip(flat([cells]), flat([cells if values is None else values]), strict=False)
    return [value for cell, value in pairs if test(cell)]


def chosen_by_all(values, *conditions):
    kept = list(flat([values]))
    tests = [(list(flat([conditions[at]])), criterion(conditions[at + 1])) for at in range(0, len(conditions), 2)]
    return [value for at, value in enumerate(kept) if all(at < len(c) and test(c[at]) for c, test in tests)]


def looked_up(wanted, table, column, near=True):
    keys = [row[0] for row in table]
    at = position(wanted, keys, 1 if near else 0)
    return table[at - 1][int(column) - 1]


def position(wanted, cells, kind=1):
    values = list(flat([cells]))
    if kind == 0:
        at = next((at for at, value in enumerate(values) if order(value) == order(wanted)), None)
    else:
        at = max((at for at, value in enumerate(values) if order(value) <= order(wanted)), default=None)
    if at is None:
        raise Failed(NA)
    return at + 1


def conditional(book, arguments, sheet):
    is_true = number(book.single(book.compute(arguments[0], sheet)))
    if is_true:
        return book.compute(arguments[1], sheet)
    return book.compute(arguments[2], sheet) if len(arguments) > 2 else False


def otherwise(book, arguments, sheet):
    try:
        value = book.single(book.compute(arguments[0], sheet))
    except Failed:
        return book.compute(arguments[1], sheet)
    return value


LAZY = {"IF": conditional, "IFERROR": otherwise}
FUNCTIONS = {
    "SUM": lambda *a: sum(numbers(*a)),
    "AVERAGE": average,
    "MIN": lambda *a: min(numbers(*a), default=0),
    "MAX": lambda *a: max(numbers(*a), default=0),
    "COUNT": lambda *a: sum(isinstance(v, int | float) and not isinstance(v, bool) for v in flat(a)),
    "COUNTA": lambda *a: sum(v is not None for v in flat(a)),
    "COUNTBLANK": lambda a: sum(v in (None, "") for v in flat([a])),
    "MEDIAN": lambda *a: median(numbers(*a)),
    "STDEV": lambda *a: stdev(numbers(*a)),
    "PRODUCT": lambda *a: math.prod(numbers(*a)),
    "SUMPRODUCT": lambda *a: sum(math.prod(map(number, cells)) for cells in zip(*map(flat, a), strict=True)),
    "SUMIF": lambda c, w, v=None: sum(numbers([chosen(c, w, v)])),
    "COUNTIF": lambda c, w: len(chosen(c, w)),
    "AVERAGEIF": lambda c, w, v=None: average([chosen(c, w, v)]),
    "SUMIFS": lambda v, *c: sum(numbers([chosen_by_all(v, *c)])),
    "COUNTIFS": lambda *c: len(chosen_by_all(c[0], *c)),
    "AND": lambda *a: all(map(number, flat(a))),
    "OR": lambda *a: any(map(number, flat(a))),
    "NOT": lambda a: not number(a),
    "ROUND": rounded,
    "ROUNDUP": lambda v, d=0: rounded(v, d, math.ceil),
    "ROUNDDOWN": lambda v, d=0: rounded(v, d, math.floor),
    "INT": lambda a: math.floor(number(a)),
    "ABS": lambda a: abs(number(a)),
    "MOD": lambda a, b: number(a) % number(b),
    "SQRT": lambda a: number(a) ** 0.5 if number(a) >= 0 else NUM,
    "POWER": lambda a, b: number(a) ** number(b),
    "VLOOKUP": looked_up,
    "MATCH": position,
    "INDEX": lambda t, r, c=1: t[int(r) - 1][int(c) - 1] if len(t) > 1 or c != 1 else t[0][int(r) - 1],
    "CONCATENATE": lambda *a: "".join(map(text_of, flat(a))),
    "CONCAT": lambda *a: "".join(map(text_of, flat(a))),
    "LEN": lambda a: len(text_of(a)),
    "LEFT": lambda a, n=1: text_of(a)[: int(n)],
    "RIGHT": lambda a, n=1: text_of(a)[-int(n) :] if n else "",
    "MID": lambda a, s, n: text_of(a)[int(s) - 1 : int(s) - 1 + int(n)],
    "UPPER": lambda a: text_of(a).upper(),
    "LOWER": lambda a: text_of(a).lower(),
    "PROPER": lambda a: text_of(a).title(),
    "TRIM": lambda a: " ".join(text_of(a).split()),
    "SUBSTITUTE": lambda a, o, n: text_of(a).replace(text_of(o), text_of(n)),
    "ISBLANK": lambda a: a is None,
    "ISNUMBER": lambda a: isinstance(a, int | float) and not isinstance(a, bool),
    "ISTEXT": lambda a: isinstance(a, str) and not isinstance(a, Failure),
}
