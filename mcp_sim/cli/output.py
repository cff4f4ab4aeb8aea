"""What commands print on stdout: tables for people, and with `--json` the same as one JSON value.

A command that prints a table calls `json_option`, and prints either `table_lines` or `print_json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from mcp_sim.types.json_values import encode
from mcp_sim.types.readable import printable, readable

GAP = "  "


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


def table_lines(rows: Sequence[Sequence[str]], right: range | None = None) -> Iterator[str]:
    """Yield rows with aligned columns, those in `right` to the right. The first row usually has the headings."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if right is not None and at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield GAP.join(cells).rstrip()
