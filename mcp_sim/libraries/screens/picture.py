"""Pictures of screens: each view is a grey rectangle. They show where things are, and no texts."""

from __future__ import annotations

import struct
import zlib

from mcp_sim.libraries.screens.android import View

_BACKGROUND = 0xF4
_STEP = 0x0C
"""How much darker a view is than the one around it."""
_DARKEST = 0x40
_CONTROL = 0x90
"""The grey of what can be tapped."""


def png(root: View, longest: int) -> tuple[bytes, tuple[int, int]]:
    """Return a screen as a PNG file, whose longer side has at most `longest` pixels, and its width and height."""
    _, _, width, height = root.area
    scale = min(1.0, longest / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    rows = [bytearray([_BACKGROUND]) * size[0] for _ in range(size[1])]
    _paint(rows, root, scale, _BACKGROUND)
    lines = b"".join(b"\0" + row for row in rows)
    header = struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b"")
    written = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"".join([b"\x89PNG\r\n\x1a\n", *written]), size


def _paint(rows: list[bytearray], view: View, scale: float, grey: int) -> None:
    for child in view.children:
        x, y, width, height = (round(value * scale) for value in child.area)
        shade = _CONTROL if "focusable" in child.flags else max(_DARKEST, grey - _STEP)
        line = bytes([shade]) * max(0, min(width - 2, len(rows[0]) - x))
        for row in rows[y + 1 : y + height - 1]:
            row[x : x + len(line)] = line
        _paint(rows, child, scale, shade)
