"""Text for people: what a document, an agent or a client has written shows as itself, and does nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls of terminals, marks that change the direction of text, and other ends of lines than a newline."""

_COMMANDS = re.compile(r"(?m)^(\s*):(?=:)|#(?=#\[)")
"""What GitHub and Azure read as their commands: `::error::` at the beginning of a line, `##[error]` anywhere."""


def readable(text: str) -> str:
    """Return a text for a terminal or a log. Newlines and tabs stay; other controls are escaped.

    What is JSON remains the same JSON: there, only strings hold such characters.
    """
    if text.isascii() and (text.isprintable() or text == "\n") and "::" not in text and "##[" not in text:
        return text
    return _COMMANDS.sub(_escaped_command, _CONTROLS.sub(_escaped, text))


def printable(line: str) -> str:
    """Replace characters that would end the line or control a terminal; values of clients may hold any."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line)


def _escaped(sign: re.Match[str]) -> str:
    number = ord(sign[0])
    if number < 0x20:
        return f"\\x{number:02x}"
    if number > 0xFFFF:
        return "\\u{:04x}\\u{:04x}".format(*divmod(number - 0x10000 + (0xD800 << 10), 0x400))
    return f"\\u{number:04x}"


def _escaped_command(sign: re.Match[str]) -> str:
    return "\\u0023" if sign[0] == "#" else f"{sign[1]}\\u003a"


def percent(share: float | None) -> str:
    """Render a share: `97 %`, `99.7 %` near the ends, `-` for None."""
    if share is None:
        return "-"
    digits = 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0
    return f"{100 * share:.{digits}f} %"


def table_lines(rows: Sequence[Sequence[str]], right: range | None = None) -> Iterator[str]:
    """Yield rows with aligned columns, those in `right` to the right. The first row usually has the headings."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if right is not None and at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
