"""Match texts against regular expressions and wildcards that a caller wrote.

RE2 does the matching: its time grows with the length of the text only, whatever the expression. It supports neither
look-around nor back-references.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from mcp_sim.backends.refusal import Refused

Test: TypeAlias = Callable[[str], bool]

_MOST_MEMORY = 8 << 20


def search_test(expression: str, *, ignores_case: bool = False) -> Test:
    """Return a test whether a part of a text matches. Raises `Refused` if the expression is invalid."""
    compiled = _compiled(_encoded(expression), ignores_case=ignores_case)
    return lambda text: compiled.search(_encoded(text)) is not None


def compile_expression(text: str, *, ignores_case: bool = False) -> Any:
    """Compile a regular expression with the methods of `re.Pattern`. Raises `Refused` if it is invalid."""
    return _compiled(text.encode("utf-8", "replace").decode(), ignores_case=ignores_case)


def path_test(wildcards: str) -> Test:
    """Return a test whether a whole path matches. `**` spans directories, `*` and `?` do not."""
    escaped = re.escape(wildcards)
    for sign, meaning in ((r"\*\*/", "(?:.*/)?"), (r"\*\*", ".*"), (r"\*", "[^/]*"), (r"\?", "[^/]")):
        escaped = escaped.replace(sign, meaning)
    compiled = _compiled(_encoded(escaped), ignores_case=False)
    return lambda path: compiled.fullmatch(_encoded(path)) is not None


def like_test(pattern: str, escape: str = "", *, many: str = "%", one: str = "_", ignores_case: bool = True) -> Test:
    """Return a test whether a whole text matches. `many` stands for any characters, `one` for a single one.

    `escape` before either of them makes it a plain character.
    """
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
    library: Any = import_module("re2")  # it has no types; imported here because few calls need it
    options = library.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, _MOST_MEMORY, not ignores_case
    try:
        return library.compile(expression, options)
    except library.error as error:
        reason: Any = error.args[0]
        message = reason.decode() if isinstance(reason, bytes) else str(reason)
        shown = expression.decode() if isinstance(expression, bytes) else expression
        raise Refused("invalid", f"Invalid regular expression {shown!r}: {message}") from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
