"""Draw learning curves: the output of learn.py or grpo.py, a file for each run, as an SVG.

    python examples/training/draw.py FILE... > curves.svg

Runs are named by their files. One whose name has `clean` is drawn in grey. Names that differ in a final number share a
label.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, LABELS = 360, 180, 40, 20, 110  # pixels of the plot and its margins
POINT = re.compile(r"^ *(\d+) (\w+) +([\d.]+)", re.MULTILINE)


def points_of(text: str) -> tuple[list[tuple[int, float]], str]:
    """Return the points of a run and the unit of its first axis. Raises `SystemExit` if it has no point."""
    rows = POINT.findall(text)
    if len(rows) < 2:
        raise SystemExit("a run has no lines such as '    10 steps  0.50'")
    return [(int(at), float(share)) for at, _, share in rows], rows[0][1]


def svg(runs: dict[str, str]) -> str:
    """Return the picture of runs: their names and what they printed."""
    curves = {name: points_of(text) for name, text in runs.items()}
    longest = max(points[-1][0] for points, _ in curves.values())
    unit = next(iter(curves.values()))[1]

    def place(at: int, share: float) -> str:
        return f"{LEFT + WIDTH * at / longest:.1f},{TOP + HEIGHT * (1 - share):.1f}"

    parts = [f'<path d="M{place(0, 1)} L{place(0, 0)} L{place(longest, 0)}" fill="none" stroke="#888"/>']
    for share in (0, 0.5, 1):
        height = TOP + HEIGHT * (1 - share)
        parts.append(f'<text x="{LEFT - 6}" y="{height + 4}" text-anchor="end">{share:g}</text>')
    for at in (0, longest):
        across = LEFT + WIDTH * at / longest
        parts.append(f'<text x="{across}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{at} {unit}</text>')
    labels = {re.sub(r"[-_ ]?\d+$", "", name): points[-1] for name, (points, _) in curves.items()}
    for name, (points, _) in curves.items():
        colour = "#999" if "clean" in name else "#06c"
        line = " ".join(place(*point) for point in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    for label, (at, share) in labels.items():
        across, height = place(at, share).split(",")
        parts.append(f'<text x="{float(across) + 6}" y="{float(height) + 4}">{escape(label)}</text>')
    size = f'width="{LEFT + WIDTH + LABELS}" height="{TOP + HEIGHT + 30}"'
    style = 'font-family="sans-serif" font-size="12" style="background:white"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>', *parts, "</svg>"])


if __name__ == "__main__":
    print(svg({Path(name).stem: Path(name).read_text() for name in sys.argv[1:]}))
