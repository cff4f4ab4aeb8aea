"""Match texts against regular expressions that a caller wrote.

RE2 does the matching: its time grows with the length of the text and the size of the compiled expression only. Both are
limited. It supports neither look-around nor back-references.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mcp_sim.libraries.store import LibraryError

_LONGEST = 4_000  # characters of an expression; RE2 parses it recursively
_MOST_INSTRUCTIONS = 5_000
"""Maximum size of a compiled expression: repetitions within repetitions multiply it."""
_MOST_MEMORY = 1 << 20  # RE2 compiles expressions of callers: it refuses those that need more


class PatternError(LibraryError):
    """A pattern that is invalid or too large."""


@dataclass(slots=True)
class Pattern:
    """A compiled expression. `size` is its number of instructions."""

    search: Callable[[bytes], object]
    size: int

    def __call__(self, text: str) -> bool:
        """Return whether a part of a text matches."""
        return self.search(text.encode("utf-8", "replace")) is not None


def search_test(expression: str) -> Pattern:
    """Return a test whether a part of a text matches. Raises `PatternError` for an invalid or too large expression."""
    compiled = _compiled(expression, can_capture=False)
    return Pattern(compiled.search, compiled.programsize)


def substituted(expression: str, template: str, text: str, count: int) -> str:
    r"""Return a text with `count` matches (0: all) as a template, which has `\1` or `\g<0>` for their parts.

    Raises `PatternError` for an invalid or too large expression, and for an invalid template.
    """
    compiled = _compiled(expression, can_capture=True)
    try:
        result: bytes = compiled.sub(template.encode("utf-8", "replace"), text.encode("utf-8", "replace"), count)
    except (IndexError, KeyError, ValueError) as error:
        raise PatternError(f"Invalid replacement {template!r}: {error}") from None
    return result.decode("utf-8", "replace")


def _compiled(expression: str, *, can_capture: bool) -> Any:
    """Return a compiled expression for bytes in UTF-8. Raises `PatternError`."""
    library: Any = import_module("re2")  # it has no types; imported here because few statements need it
    if len(expression) > _LONGEST:
        raise PatternError(f"The regular expression is longer than {_LONGEST:,} characters")
    options = library.Options()
    options.log_errors, options.max_mem, options.never_capture = False, _MOST_MEMORY, not can_capture
    try:
        compiled = library.compile(expression.encode("utf-8", "replace"), options)
    except library.error as error:
        reason: Any = error.args[0]
        message = reason.decode() if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"Invalid regular expression {expression!r}: {message}") from None
    if compiled.programsize > _MOST_INSTRUCTIONS:
        raise PatternError("The regular expression is too large: use smaller repetitions")
    return compiled
