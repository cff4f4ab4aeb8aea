"""Formulas that filter the records of a table: `AND({Status} = "Open", {Price} > 10)`."""

import re

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\{(?P<field>[^{}]*)\}|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<sign><=|>=|!=|[=<>&+\-*/(),]))"""
)
COMPARISONS = ("=", "!=", "<", ">", "<=", ">=")


class Wrong(Exception):
    """A formula cannot be understood."""


def parse(formula):
    """Return a formula as nested tuples. Raises `Wrong`."""
    tokens, at = [], 0
    formula = formula.strip()
    while at < len(formula):
        match = TOKEN.match(formula, at)
        if match is None:
            raise Wrong(f"unexpected {formula[at]!r}")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    tree, rest = comparison(tokens, 0)
    if rest < len(tokens):
        raise Wrong(f"unexpected {tokens[rest][1]!r}")
    return tree


def comparison(tokens, at):
    return chain(tokens, at, COMPARISONS, joined)


def joined(tokens, at):
    return chain(tokens, at, ("&",), summed)


def summed(tokens, at):
    return chain(tokens, at, ("+", "-"), multiplied)


def multiplied(tokens, at):
    return chain(tokens, at, ("*", "/"), single)


def chain(tokens, at, signs, inner):
    left, at = inner(tokens, at)
    while at < len(tokens) and tokens[at][0] == "sign" and tokens[at][1] in signs:
        sign = tokens[at][1]
        right, at = inner(tokens, at + 1)
        left = ("sign", sign, left, right)
    return left, at


def single(tokens, at):
    if at >= len(tokens):
        raise Wrong("it ends too early")
    kind, value = tokens[at]
    if kind == "text":
        return ("value", re.sub(r"\\(.)", r"\1", value[1:-1])), at + 1
    if kind == "number":
        return ("value", float(value)), at + 1
    if kind == "field":
        return ("field", value), at + 1
    if kind == "name":
        if at + 1 < len(tokens) and tokens[at + 1] == ("sign", "("):
            parts, at = arguments(tokens, at + 2)
            return ("call", value.upper(), parts), at
        return ("field", value), at + 1
    if value == "(":
        inner, at = comparison(tokens, at + 1)
        return inner, closed(tokens, at)
    if value == "-":
        inner, at = single(tokens, at + 1)
        return ("sign", "-", ("value", 0.0), inner), at
    raise Wrong(f"unexpected {value!r}")


def arguments(tokens, at):
    parts = []
    while at < len(tokens) and tokens[at] != ("sign", ")"):
        argument, at = comparison(tokens, at)
        parts.append(argument)
        if at < len(tokens) and tokens[at] == ("sign", ","):
            at += 1
    return parts, closed(tokens, at)


def closed(tokens, at):
    if at >= len(tokens) or tokens[at] != ("sign", ")"):
        raise Wrong("a parenthesis is missing")
    return at + 1


def names(tree):
    """Return the names of fields in a formula."""
    if tree[0] == "field":
        return {tree[1]}
    inner = tree[2] if tree[0] == "call" else [branch for branch in tree[1:] if isinstance(branch, tuple)]
    return {name for branch in inner for name in names(branch)}


def holds(tree, values, now):
    """Return whether a formula is true for the values of a record, by name of the field."""
    return truth(value_of(tree, values, now))


def value_of(tree, values, now):
    if tree[0] == "value":
        return tree[1]
    if tree[0] == "field":
        return plain(values.get(tree[1]))
    if tree[0] == "sign":
        return signed(tree[1], value_of(tree[2], values, now), value_of(tree[3], values, now))
    return called(tree[1], [value_of(argument, values, now) for argument in tree[2]], now)


def plain(value):
    if isinstance(value, bool):
        return 1.0 if value else None
    if isinstance(value, int):
        return float(value)
    if isinstance(value, list):
        return ", ".join(text(item.get("filename", "") if isinstance(item, dict) else item) for item in value)
    return value


def truth(value):
    return value not in (None, "", 0, 0.0, False)


def text(value):
    if value is None or value is False:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def number(value):
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0.0


def signed(sign, left, right):
    if sign == "&":
        return text(left) + text(right)
    if sign in ("+", "-", "*", "/"):
        return calculated(sign, number(left), number(right))
    if sign in ("=", "!="):
        return (text(left) == text(right)) == (sign == "=")
    if isinstance(left, float) or isinstance(right, float):
        left, right = number(left), number(right)
    else:
        left, right = text(left), text(right)
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign]


def calculated(sign, left, right):
    if sign == "/":
        return left / right if right else None
    return {"+": left + right, "-": left - right, "*": left * right}[sign]


def called(name, values, now):
    if name in ("TODAY", "NOW"):
        return now.strftime("%Y-%m-%d" if name == "TODAY" else "%Y-%m-%dT%H:%M:%S.000Z")
    if name in ("TRUE", "FALSE", "BLANK"):
        return {"TRUE": 1.0, "FALSE": 0.0, "BLANK": None}[name]
    function = FUNCTIONS.get(name)
    if function is None:
        raise Wrong(f"unknown function {name}")
    try:
        return function(*values)
    except TypeError:
        raise Wrong(f"{name} takes other arguments") from None


FUNCTIONS = {
    "AND": lambda *values: all(truth(value) for value in values),
    "OR": lambda *values: any(truth(value) for value in values),
    "NOT": lambda value: not truth(value),
    "IF": lambda test, then, other=None: then if truth(test) else other,
    "FIND": lambda what, where, start=0.0: float(text(where).find(text(what), max(int(number(start)) - 1, 0)) + 1),
    "SEARCH": lambda what, where: float(text(where).lower().find(text(what).lower()) + 1) or None,
    "LOWER": lambda value: text(value).lower(),
    "UPPER": lambda value: text(value).upper(),
    "TRIM": lambda value: text(value).strip(),
    "LEN": lambda value: float(len(text(value))),
    "ROUND": lambda value, digits=0.0: float(round(number(value), int(digits))),
    "VALUE": number,
    "CONCATENATE": lambda *values: "".join(map(text, values)),
    "IS_BEFORE": lambda day, other: bool(text(day)) and text(day) < text(other),
    "IS_AFTER": lambda day, other: text(day) > text(other),
    "IS_SAME": lambda day, other, *_unit: text(day)[:10] == text(other)[:10],
}
