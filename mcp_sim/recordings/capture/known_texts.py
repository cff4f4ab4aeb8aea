"""Find known texts, such as phone numbers, with their stand-ins in other texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

_START = re.compile(r"(?<![^\W_])[A-Za-z0-9]|[^\sA-Za-z0-9]")
"""Where a known text may begin: not within a longer word or number, except in scripts without spaces."""


class KnownTexts:
    """Texts with their stand-ins. A search takes as long with thousands of texts as with a few."""

    def __init__(self) -> None:
        self._stand_ins = dict[str, str]()
        self._lengths = defaultdict[str, set[int]](set)
        """The lengths of the texts by their first character."""

    def add(self, text: str, stand_in: str) -> None:
        """Add a text, unless it is known. Blanks around it do not count."""
        text = text.strip()
        if text and text not in self._stand_ins:
            self._stand_ins[text] = stand_in.strip()
            self._lengths[text[0]].add(len(text))

    def stand_in(self, text: str) -> str | None:
        """Return the stand-in of a text, or None."""
        return self._stand_ins.get(text)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and stand-in of the known texts in a text, the longest at each place."""
        after = 0
        for match in _START.finditer(text) if self._stand_ins else ():
            start = match.start()
            if start < after:
                continue
            for length in sorted(self._lengths.get(match[0], ()), reverse=True):
                known = text[start : start + length]
                stand_in, end = self._stand_ins.get(known), start + len(known)
                if stand_in is not None and not _is_within_word(text, end):
                    yield start, end, stand_in
                    after = end
                    break


def _is_within_word(text: str, end: int) -> bool:
    """Whether a word or number goes on after this place, in which a known text ends."""
    last = text[end - 1 : end]
    return last.isascii() and last.isalnum() and text[end : end + 1].isalnum()
