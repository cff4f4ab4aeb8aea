"""Tables of measurements with their references."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence


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


def spread(values: Sequence[float], show: Callable[[float], str]) -> str:
    """Render the median of values, with the least and the greatest one."""
    return f"{show(statistics.median(values))} ({show(min(values))}-{show(max(values))})"


def calibrate() -> float:
    """Return the processor seconds of a fixed loop, the least of several: how fast this machine is just now."""
    return min(_loop() for _ in range(7))


def _loop() -> float:
    began = time.process_time()
    table = {str(number): [number, str(number)] for number in range(20_000)}
    for _ in range(5):
        json.loads(json.dumps(table))
    return time.process_time() - began
