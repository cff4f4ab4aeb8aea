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

_BASE64 = re.compile(r"(data:[^,\s]*;base64,)?([A-Za-z0-9+/_\r\n-]+(?:=[\r\n]*){0,2})")
_BREAKS = re.compile(r"[\r\n]+")
_STANDARD, _FOR_ADDRESSES = str.maketrans("-_", "+/"), str.maketrans("+/", "-_")
BOM = "\ufeff"
"""What spreadsheets write before CSV in UTF-8."""
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
    block = block.removeprefix(BOM)
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
    """Return the text that a text in Base64 encodes; None for any other text.

    Lines may be wrapped, and the alphabet may be that of URLs. `data:` URLs are texts in Base64, too.
    """
    match = _BASE64.fullmatch(text)
    code = _BREAKS.sub("", match[2]) if match else ""
    if len(code) < SHORTEST:
        return None
    try:
        inner = b64decode(code.translate(_STANDARD) + "=" * (-len(code) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return inner if all(sign.isprintable() or sign in "\t\r\n" for sign in inner.removeprefix(BOM)) else None


def encoded_like(text: str, inner: str) -> str:
    """Return another text in Base64, in the form of `text`: its lines, alphabet, padding and what is before it."""
    match = _BASE64.fullmatch(text)
    start, code = (match[1] or "", match[2]) if match else ("", text)
    body, encoded = code.rstrip("\r\n"), b64encode(inner.encode()).decode()
    if len(_BREAKS.sub("", body)) % 4:
        encoded = encoded.rstrip("=")
    if "-" in body or "_" in body:
        encoded = encoded.translate(_FOR_ADDRESSES)
    if broken := _BREAKS.search(body):
        width = broken.start()
        encoded = broken[0].join(encoded[at : at + width] for at in range(0, len(encoded), width))
    return start + encoded + code[len(body) :]
