"""Texts within texts: the cells of CSV tables, and what Base64 encodes."""

from __future__ import annotations

import binascii
import csv
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator

_BLOCK = re.compile(r"(\n\s*\n|^```.*\n?)", re.MULTILINE)
"""What separates a table from the text around it."""

_HEADER = re.compile(r'"?[A-Za-z][\w ./-]{0,40}"?')
_CELLS = {sign: re.compile(rf'("(?:[^"]|"")*"|[^{sign}\r\n"]+)') for sign in (",", ";", "\t")}

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
SHORTEST = 16
"""Characters of a text in Base64. Shorter ones are words that happen to decode to letters."""


def rows_of(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the CSV tables in a text. The first line of each names the columns."""
    for block in _BLOCK.split(text):
        header, *rows = _table(block)[1] or [[]]
        for row in rows:
            yield dict(zip(header, row, strict=True))


def pieces_of(text: str) -> Iterator[str]:
    """Yield a text in pieces; each cell of a CSV table is one."""
    for block in _BLOCK.split(text):
        sign, rows = _table(block)
        yield from _CELLS[sign].split(block) if rows else [block]


def _table(block: str) -> tuple[str, list[list[str]]]:
    """Return the sign between the cells of a CSV table, and its rows; none if a text is something else."""
    first, _, rest = block.strip("\r\n").partition("\n")
    for sign in _CELLS if rest else ():
        names = first.rstrip("\r").split(sign)
        if len(names) > 1 and all(map(_HEADER.fullmatch, names)):
            try:
                rows = [row for row in csv.reader(block.splitlines(keepends=True), delimiter=sign, strict=True) if row]
            except csv.Error:
                continue
            if all(len(row) == len(names) for row in rows):
                return sign, rows
    return "", []


def decoded(text: str) -> str | None:
    """Return the text that a text in Base64 encodes; None for any other text. Its lines may be wrapped."""
    joined = text.replace("\n", "")
    if len(joined) < SHORTEST or len(joined) % 4 or not _BASE64.fullmatch(joined):
        return None
    try:
        inner = b64decode(joined).decode()
    except (binascii.Error, ValueError):
        return None
    return inner if all(sign.isprintable() or sign in "\t\r\n" for sign in inner) else None


def encoded_like(text: str, inner: str) -> str:
    """Return another text in Base64, with lines as long as those of `text`."""
    encoded, width = b64encode(inner.encode()).decode(), text.find("\n")
    if width > 0:
        encoded = "\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
    return encoded + "\n" * text.endswith("\n")
