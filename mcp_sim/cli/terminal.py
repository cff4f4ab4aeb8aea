"""Output on terminals: colours (unless NO_COLOR is set), progress bars, shortened lists, tables, JSON.

A command that prints a table calls `json_option`, and either `print_table` or `print_json`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TextIO

from mcp_sim.cli.streams import MARK
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import encode
from mcp_sim.types.readable import printable, readable, table_lines

MOST_NAMED = 12  # the most items of one kind that are listed


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun, whose plural ends in s unless it is given: `1 tool`, `2 tools`."""
    return f"{count} {singular if count == 1 else plural or f'{singular}s'}"


def note(text: object) -> None:
    """Print a line to stderr, beside the output of a command."""
    print(text, file=sys.stderr)


def note_step(text: str) -> None:
    """Print to stderr what is in progress."""
    note(printable(text))


def first_few(items: list[str]) -> list[str]:
    """Return the first items of a long list, and how many more there are."""
    return items if len(items) <= MOST_NAMED else [*items[: MOST_NAMED - 1], f"and {len(items) - MOST_NAMED + 1} more"]


@frozen
class Palette:
    """Colours text if `is_on`."""

    is_on: bool

    @classmethod
    def of(cls, stream: TextIO) -> Self:
        """Return the palette for a stream."""
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
        return f"{MARK}{code}m{text}{MARK}0m" if self.is_on else text


_WIDTH = 28
_TEXT = 40
_ERASE = f"{MARK}G{MARK}K"  # to the first column, and what follows


@dataclass(slots=True)
class Progress:
    """A progress bar with `total` steps. It is shown on terminals only."""

    stream: TextIO
    total: int

    def show(self, done: int, text: str) -> None:
        """Show how many steps are done, and what is in progress."""
        if not self.stream.isatty():
            return
        share = min(done / self.total, 1) if self.total else 1.0
        full = int(share * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        self.stream.write(f"{_ERASE}{bar} {done}/{self.total} {printable(text[:_TEXT])}")
        self.stream.flush()

    def clear(self) -> None:
        """Remove the bar from the screen."""
        if self.stream.isatty():
            self.stream.write(_ERASE)
            self.stream.flush()


def json_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option `--json`, which prints `what` it names as JSON."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def print_json(value: Any) -> None:
    """Print a value as indented JSON. Characters that are not valid text are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print(text)


def json_line(value: Any) -> bytes:
    """Return a value as a line of JSON in UTF-8, which a terminal shows and does not obey."""
    return readable(encode(value).decode()).encode() + b"\n"


def print_table(rows: Sequence[Sequence[str]], right: range | None = None) -> None:
    """Print rows with aligned columns, the first row as their headings."""
    heading, *others = table_lines(rows, right)
    print("\n".join([Palette.of(sys.stdout).bold(heading), *others]))
