"""Does a text match what a caller wrote as a regular expression, or as a path with wildcards?

RE2 does the matching: its time grows with the length of the text alone, whatever the expression. It knows no
look-around and no references back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from mcp_sim.backends.refusal import Refused

Test: TypeAlias = Callable[[str], bool]

_MOST_MEMORY = 8 << 20


def holds_match(expression: str, *, ignores_case: bool = False) -> Test:
    """Does a part of a text match? Raises Refused where it is no expression."""
    compiled = _compiled(_encoded(expression), ignores_case=ignores_case)
    return lambda text: compiled.search(_encoded(text)) is not None


def expression(text: str, *, ignores_case: bool = False) -> Any:
    """A regular expression over texts, with the methods of those of `re`. Raises Refused where it is none."""
    return _compiled(text.encode("utf-8", "replace").decode(), ignores_case=ignores_case)


def path_test(wildcards: str) -> Test:
    """Does a path match as a whole? `**` spans directories, `*` and `?` do not."""
    escaped = re.escape(wildcards)
    for sign, meaning in ((r"\*\*/", "(?:.*/)?"), (r"\*\*", ".*"), (r"\*", "[^/]*"), (r"\?", "[^/]")):
        escaped = escaped.replace(sign, meaning)
    compiled = _compiled(_encoded(escaped), ignores_case=False)
    return lambda path: compiled.fullmatch(_encoded(path)) is not None


def like_test(pattern: str, escape: str = "", *, many: str = "%", one: str = "_", ignores_case: bool = True) -> Test:
    """Does a text match as a whole? `many` is for any characters, `one` for any single, `escape` makes either plain."""
    parts: list[str] = []
    signs = iter(pattern)
    for sign in signs:
        if sign == escape:
            parts.append(re.escape(next(signs, "")))
        else:
            parts.append(".*" if sign == many else "." if sign == one else re.escape(sign))
    compiled = _compiled(_encoded(f"(?s){''.join(parts)}"), ignores_case=ignores_case)
    return lambda text: compiled.fullmatch(_encoded(text)) is not None


def _compiled(expression: str | bytes, *, ignores_case: bool) -> Any:
    library: Any = import_module("re2")  # it has no types; imported here for who searches by expressions only
    options = library.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, _MOST_MEMORY, not ignores_case
    try:
        return library.compile(expression, options)
    except library.error as error:
        reason: Any = error.args[0]
        told = reason.decode() if isinstance(reason, bytes) else str(reason)
        shown = expression.decode() if isinstance(expression, bytes) else expression
        raise Refused("invalid", f"Invalid regular expression {shown!r}: {told}") from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
