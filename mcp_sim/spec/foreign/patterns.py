"""Rewrite patterns of other regular expressions for ECMAScript's Unicode mode, which JSON Schema means.

Clients that compile an outputSchema in this mode refuse the whole list of tools for a single stray escape.
"""

from __future__ import annotations

import re

from mcp_sim.types.json_schema.validation import enforceable

_LETTERED = r"u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}"
_TOKEN = re.compile(
    rf"(?P<escape>\\(?:{_LETTERED}|k<\w+>|.))"
    r"""
    |(?P<set>\[\^?(?:\\.|[^\]\\])*\])
    |(?P<group>\(\?(?:P?<(?=[A-Za-z_])|<[=!]|[:=!])?)
    |(?P<quantifier>[*+?]|\{\d+(?:,\d*)?\})(?P<suffix>[+?]?)
    |(?P<stray>[\]{}])
    |[^\\[]
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(rf"\\(?:{_LETTERED}|.)|-|[^\\-]+", re.DOTALL)
_NOT_A_SET = re.compile(r"\[\^?\]$|.*\[:\w+:", re.DOTALL)  # `[]a]`, which means two things, and `[[:alpha:]]`
_CLASSES = frozenset("dDwWsSpP")
_ESCAPES = frozenset("^$\\.*+?()[]{}|/dDwWsSbBfnrtv0123456789")
_LONG = frozenset("uxcpPk")
_ANCHORS = {"\\A": "^", "\\Z": "$", "\\z": "$"}


class _Foreign(Exception):
    """Raised for what ECMAScript cannot express."""


def for_ecmascript(pattern: str) -> str | None:
    """Return the pattern as ECMAScript compiles it in Unicode mode, None if it has no such form.

    Stray escapes (`\\@`) and braces are rewritten, also hyphens at classes (`[\\w-.]`), `\\A`, `\\Z` and `(?P<name>`.
    """
    try:
        form = _TOKEN.sub(_token, pattern)
    except _Foreign:
        return None
    return None if enforceable(form) is None else form  # such as a group that is not closed


def _token(match: re.Match[str]) -> str:
    text = match[0]
    match match.lastgroup:
        case "escape":
            return _ANCHORS.get(text) or _escape(text)
        case "set":
            return _set(text)
        case "group" if text == "(?":
            raise _Foreign  # flags, atomic groups, conditions
        case "group":
            return text.replace("P", "")
        case "suffix" if match["suffix"] == "+":
            raise _Foreign
        case "stray":
            return f"\\{text}"
        case _:
            return text


def _escape(text: str, others: str = "") -> str:
    """Return an escape, without its backslash if ECMAScript knows none for that sign."""
    if len(text) > 2 or text[1] in _ESCAPES or text[1] in others:
        return text
    if text[1] in _LONG or text[1].isalnum():
        raise _Foreign
    return text[1]


def _set(text: str) -> str:
    """Return a set of characters whose hyphens beside classes are escaped: these begin no range."""
    if _NOT_A_SET.match(text):
        raise _Foreign
    start = 2 if text.startswith("[^") else 1
    inner = _IN_SET.findall(text[start:-1])
    parts = list[str]()
    for at, piece in enumerate(inner):
        around = (inner[at - 1 : at] or [""])[0], (inner[at + 1 : at + 2] or [""])[0]
        is_beside = any(near[:1] == "\\" and near[1] in _CLASSES for near in around)
        plain = "\\-" if piece == "-" and is_beside else piece
        parts.append(_escape(plain, "-") if plain[0] == "\\" else plain)
    return f"{text[:start]}{''.join(parts)}]"
