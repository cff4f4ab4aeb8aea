"""How far is a long run? A line on stderr that is written over, only where a person looks: on a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

_WIDTH = 28
_TEXT = 40
_ERASE = "\r\x1b[K"


@dataclass(slots=True)
class Progress:
    """A bar of so many steps in all."""

    stream: TextIO
    total: int

    def show(self, done: int, text: str) -> None:
        """So many steps are done; the text says what is under way."""
        if not self.stream.isatty():
            return
        share = min(done / self.total, 1) if self.total else 1.0
        full = int(share * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        self.stream.write(f"{_ERASE}{bar} {done}/{self.total} {text[:_TEXT]}")
        self.stream.flush()

    def clear(self) -> None:
        """Nothing is left of it on the screen."""
        if self.stream.isatty():
            self.stream.write(_ERASE)
            self.stream.flush()
