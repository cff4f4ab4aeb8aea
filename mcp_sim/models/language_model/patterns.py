"""Bound regular expressions, so that an engine can use them as a grammar.

A weak model never leaves an unbounded repetition such as `+`. A bounded pattern matches only strings that the original
pattern matches too, none of them long.
"""

from __future__ import annotations

import re

MAX_REPEATS = 24
"""A grammar must not let a model repeat a character until its tokens run out."""
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?:[*+]|\{\d+(?:,\d*)?\})\??|\(\?.?|.", re.DOTALL)
_REPEAT = re.compile(r"\{(\d+)(,)?(\d*)\}\??")
_CLASSES = frozenset({".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S"})
_PRINTABLE = [code for code in range(32, 127) if chr(code) not in '"\\']
_PLAIN_ESCAPES = frozenset(r".-+*?/\()[]{}|^$@_:,#&=%!~<>;'\" ")

_DATE = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
FORMATS = {
    "date": f"^{_DATE}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "time": f"^{_TIME}$",
    "email": r"^[a-z][a-z0-9]{0,15}([._][a-z0-9]{1,15})?@[a-z][a-z0-9-]{0,20}[a-z0-9]\.[a-z]{2,6}$",
    "hostname": r"^[a-z][a-z0-9]{0,20}(\.[a-z][a-z0-9]{0,20})?\.[a-z]{2,6}$",
    "ipv4": r"^(1[0-9]{2}|[1-9][0-9]|[1-9])(\.(1[0-9]{2}|[1-9][0-9]|[0-9])){3}$",
    "uri": r"^https://[a-z][a-z0-9]{0,20}\.[a-z]{2,6}(/[a-z0-9_-]{1,20}){0,3}$",
    "uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
}
FORMATS["url"] = FORMATS["uri"]
"""The pattern that each string format is narrowed to."""


def bounded(pattern: str) -> str | None:
    """Return an anchored pattern without unbounded repetition that matches some of the same strings, or None."""
    body = pattern.removeprefix("^")
    if body.endswith("$") and not body.endswith("\\$"):
        body = body[:-1]
    pieces = [_bounded_piece(piece) for piece in _PIECE.findall(body)]
    if None in pieces:
        return None
    narrowed = f"^({''.join(piece for piece in pieces if piece)})$"
    try:
        re.compile(narrowed)
    except (re.error, OverflowError, RecursionError):
        return None
    return narrowed


def _bounded_piece(piece: str) -> str | None:
    """Return one piece of a pattern with its repetition bounded; None if engines do not support it."""
    if piece in ("+", "+?"):
        return f"{{1,{MAX_REPEATS}}}"
    if piece in ("*", "*?"):
        return f"{{0,{MAX_REPEATS}}}"
    if piece in "^$":
        return None  # an inner anchor: alternatives such as ^a|b$ have another meaning in parentheses
    if piece.startswith("(?"):
        return "(" if piece == "(?:" else None
    if piece.startswith("[") or piece in _CLASSES:
        return _ascii_class(piece)
    if piece.startswith("\\"):
        return piece if piece[1] in _PLAIN_ESCAPES else None
    repeat = _REPEAT.fullmatch(piece)
    return _bounded_repeat(repeat) if repeat else piece


def _ascii_class(piece: str) -> str | None:
    """Return the characters of a class that all engines agree on: printable ASCII without quote and backslash."""
    try:
        allowed = [code for code in _PRINTABLE if re.fullmatch(piece, chr(code))]
    except re.error:
        return None
    runs = [(code, code) for code in allowed[:1]]
    for code in allowed[1:]:
        if code == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return f"[{''.join(_run(first, last) for first, last in runs)}]" if runs else None


def _run(first: int, last: int) -> str:
    low, high = (f"\\{chr(code)}" if chr(code) in "]^-[" else chr(code) for code in (first, last))
    return low if first == last else f"{low}-{high}"


def _bounded_repeat(repeat: re.Match[str]) -> str:
    least = int(repeat[1])
    if not repeat[2]:
        return f"{{{least}}}"
    most = int(repeat[3]) if repeat[3] else max(MAX_REPEATS, least)
    return f"{{{least},{max(least, min(most, MAX_REPEATS))}}}"
