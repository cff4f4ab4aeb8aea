"""Match texts against regular expressions and wildcards that a caller wrote.

RE2 does the matching: its time grows with the length of the text and the size of the compiled expression only. Both are
limited. It supports neither look-around nor back-references.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mcp_sim.libraries.store import LibraryError

LONGEST = 4_000
"""Maximum length of a regular expression."""

LONGEST_WILDCARDS = 1_000  # the expression made from wildcards is longer than they are

MOST_INSTRUCTIONS = 5_000
"""Maximum size of a compiled expression: repetitions within repetitions multiply it."""

MOST_GROUPS = 100  # each group of RE2 costs memory in every match

MOST_WORK = 500_000_000
"""Maximum product of the length of the texts and the size of the compiled expression."""


class PatternError(LibraryError):
    """A pattern that is invalid, or takes too long."""


_MOST_MEMORY = 1 << 20  # RE2 compiles expressions of callers: it refuses those that need more


class Test:
    """A test whether a text matches. `size` is the size of the compiled expression."""

    __slots__ = ("_matches", "_work", "size")

    def __init__(self, matches: Callable[[bytes], object], size: int) -> None:
        self._matches, self.size = matches, size
        self._work = 0

    def __call__(self, text: str) -> bool:
        return self._matches(_encoded(text)) is not None

    def counted(self, text: str) -> bool:
        """Test one of many texts of a call. Raises `PatternError` if they are too long together."""
        self._work += check_work(text, self.size)
        if self._work > MOST_WORK:
            raise _too_much()
        return self(text)


def search_test(expression: str, *, ignores_case: bool = False) -> Test:
    """Return a test whether a part of a text matches. Raises `PatternError` for an invalid or too large expression."""
    compiled = _compiled(_encoded(expression), ignores_case=ignores_case, captures=False)
    return Test(compiled.search, compiled.programsize)


def check_work(text: str, size: int) -> int:
    """Return the work of matching a text. Raises `PatternError` if it is too much."""
    work = len(text) * size
    if work > MOST_WORK:
        raise _too_much()
    return work


def _compiled(expression: str | bytes, *, ignores_case: bool, captures: bool) -> Any:
    library: Any = import_module("re2")  # it has no types; imported here because few calls need it
    if len(expression) > LONGEST:
        raise PatternError(f"The regular expression is longer than {LONGEST:,} characters")
    options = library.Options()
    options.log_errors, options.max_mem, options.case_sensitive = False, _MOST_MEMORY, not ignores_case
    options.never_capture = not captures
    try:
        compiled = library.compile(expression, options)
    except library.error as error:
        reason: Any = error.args[0]
        message = reason.decode() if isinstance(reason, bytes) else str(reason)
        shown = expression.decode() if isinstance(expression, bytes) else expression
        raise PatternError(f"Invalid regular expression {shown!r}: {message}") from None
    if compiled.programsize > MOST_INSTRUCTIONS or compiled.groups > MOST_GROUPS:
        raise PatternError("The regular expression is too large: use fewer groups and smaller repetitions")
    return compiled


def _too_much() -> PatternError:
    return PatternError("The pattern is too large for a text of this length")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
