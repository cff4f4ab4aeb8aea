"""Colours, only where a person looks: on a terminal, and not with NO_COLOR set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self, TextIO


@dataclass(frozen=True, slots=True)
class Palette:
    """Paints text, or leaves it as it is."""

    is_on: bool

    @classmethod
    def of(cls, stream: TextIO) -> Self:
        """The palette for a stream."""
        return cls(stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def red(self, text: str) -> str:
        return self._paint("31", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        return self._paint("33", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_on else text
