"""Messages for syntax errors in CEL expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"<input>:(\d+):(\d+):")
_MOST_SHOWN = 20
_MEANT: Mapping[str, str] = {"=": "==", "and": "&&", "or": "||", "not": "!", "===": "==", "<>": "!="}
"""Operators of other languages -> those of CEL."""


def describe_syntax_error(text: str, parser_message: str) -> str:
    """Return a message about the first error in a text, located by the message of its parser."""
    place = _PLACE.search(parser_message)
    lines = text.splitlines() or [""]
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    rest = lines[line - 1][column - 1 :] if line <= len(lines) else ""
    where = f"at character {column}{f' of line {line}' if len(lines) > 1 else ''}"
    if not text.strip():
        return "is not a CEL expression: it is empty"
    if not rest.strip() and line >= len(lines):
        return "is not a CEL expression: it is incomplete"
    if rest[:1] in {"'", '"'}:
        return f"is not a CEL expression: the string that begins {where} is not closed"
    word = _word(rest)
    known = [other for other in (word, _before(lines[line - 1], column)) if other in _MEANT]
    meant = f"; CEL writes `{_MEANT[known[0]]}` for `{known[0]}`" if known else ""
    return f"is not a CEL expression: {word!r} is not understood {where}{meant}"


def _word(rest: str) -> str:
    match = re.match(r"\w+|[^\w\s]+", rest.strip())
    return match[0][:_MOST_SHOWN] if match else rest[:_MOST_SHOWN]


def _before(line: str, column: int) -> str:
    """Return the word before a place: `not x` is refused at the `x`."""
    return next(iter(line[: column - 1].split()[-1:]), "")
