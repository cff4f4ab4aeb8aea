"""Tables of measurements with their references."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with a left-aligned first column and right-aligned others."""
    widths = [max(len(line[at]) for line in (head, *rows)) for at in range(len(head))]
    print(f"\n{title}")
    for line in (head, ["-" * width for width in widths], *rows):
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        cells[0] = line[0].ljust(widths[0])
        print("  ".join(cells).rstrip())


def ratio(value: float, reference: float) -> str:
    """Render a value as a multiple of the reference."""
    return f"{value / reference:.2f}x" if reference else "-"


def micro(seconds: float) -> str:
    """Render seconds as microseconds."""
    return f"{seconds * 1e6:,.1f}"
