"""Options, tables and timing: rounds that take turns, medians with their spread, growth exponents."""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def parser_of(about: str | None, parts: Iterable[str]) -> ArgumentParser:
    """Return the parser of a script that measures `parts`, all of them unless some are named, fully or `quick`."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    known = {part: part for part in parts}

    def part(name: str) -> str:
        return known[name] if name in known else parser.error(f"{name!r}: choose from {', '.join(known)}")

    parser.add_argument("parts", nargs="*", type=part, default=[*known], metavar="PART", help=", ".join(known))
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, to check that it runs")
    return parser


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


Measure = Callable[[], Awaitable[float]]
"""Returns the seconds of one call, measured over several."""

LOOP = 20_000
"""Steps of the calibration loop."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The seconds of one call: the median of all rounds, and the least and the most."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> str:
        """How far the rounds are from the median, in per cent."""
        if not self.median:
            return "-"
        return f"-{100 * (1 - self.low / self.median):.0f}/+{100 * (self.high / self.median - 1):.0f} %"


def cpu_seconds() -> float:
    """Return the processor seconds of this thread so far: other processes of the machine do not count."""
    return time.thread_time()


def resident_bytes() -> int:
    """Return the resident bytes of this process after a garbage collection (Linux; 0 elsewhere)."""
    gc.collect()
    status = Path("/proc/self/statm")
    return int(status.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def calibration() -> float:
    """Return the seconds of a fixed loop in plain Python, by which figures of different machines compare."""
    counts: dict[str, int] = {}
    began = cpu_seconds()
    for step in range(LOOP):
        name = str(step % 97)
        counts[name] = counts.get(name, 0) + step
    return cpu_seconds() - began


async def in_turns(measures: Mapping[str, Measure], rounds: int) -> dict[str, Figure]:
    """Return the figures of all measures, which take turns, round after round. The first round is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            gc.collect()
            seconds = await measure()
            if number:
                taken[name].append(seconds)
    return {name: Figure(statistics.median(all_), min(all_), max(all_)) for name, all_ in taken.items()}


def exponent(sizes: Sequence[float], figures: Sequence[Figure]) -> float:
    """Return the growth exponent: 0 if the cost is the same at every size, 1 if it is linear.

    It is the slope of the least-squares line through the logarithms of sizes and medians.
    """
    xs, ys = [math.log(size) for size in sizes], [math.log(figure.median) for figure in figures]
    return statistics.linear_regression(xs, ys).slope
