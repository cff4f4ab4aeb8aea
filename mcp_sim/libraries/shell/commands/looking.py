"""file and wc: what files hold."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import StringIO

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, Node

_MAGIC: Sequence[tuple[bytes, str]] = (
    (b"\x1f\x8b", "gzip compressed data"),
    (b"BZh", "bzip2 compressed data, block size = 900k"),
    (b"\xfd7zXZ\0", "XZ compressed data, checksum CRC64"),
    (b"PK\x03\x04", "Zip archive data, at least v2.0 to extract, compression method=deflate"),
    (b"\x7fELF", "ELF 64-bit LSB executable, x86-64, version 1 (SYSV)"),
    (b"\x89PNG\r\n\x1a\n", "PNG image data"),
    (b"\xff\xd8\xff", "JPEG image data"),
    (b"GIF8", "GIF image data"),
    (b"%PDF-", "PDF document"),
    (b"SQLite format 3\0", "SQLite 3.x database"),
)
_SCRIPTS = {
    "bash": "Bourne-Again shell", "sh": "POSIX shell", "python": "Python", "python3": "Python", "perl": "Perl",
    "ruby": "Ruby", "node": "Node.js",
}  # fmt: skip
_SOURCES: Sequence[tuple[str, str]] = (
    (r"^\s*#include\s*[<\"]", "C source"),
    (r"^(?:import \w[\w.]*$|from [\w.]+ import |def \w+\(.*\):)", "Python script"),
    (r"(?i)\A\s*<!doctype html|<html[\s>]", "HTML document"),
    (r"\A<\?xml ", "XML 1.0 document"),
)
_LONG_LINE = 300  # characters, as in file's own rules
_PRINTED = frozenset(range(32, 127)) | {7, 8, 9, 10, 12, 13, 27}
"""The bytes of texts."""
_LOOK = 1 << 16  # bytes


def file(run: Invocation) -> None:
    options, paths = run.options("bikLhzN", "brief:b mime:i mime-type dereference:L no-dereference:h")
    if not paths:
        raise Failed("Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n")
    width = max(len(path) for path in paths) + 1
    for path in paths:
        node = run.look(path, follow="L" in options)
        if node is None:
            kind = f"cannot open `{path}' (No such file or directory)"
        elif options.keys() & {"i", "mime-type"}:
            kind = _mime(run, node, with_encoding="mime-type" not in options)
        else:
            kind = _kind(run, node)
        run.out.append(f"{kind}\n" if "b" in options else f"{(path + ':').ljust(width)} {kind}\n")


def _kind(run: Invocation, node: Node) -> str:
    if node.is_directory:
        return "directory"
    if node.is_link:
        broken = "" if run.look(node.path, follow=True) else "broken "
        return f"{broken}symbolic link to {node.target}"
    data = run.fs.read_file(node.path)[:_LOOK]
    if not data:
        return "empty"
    if data[257:262] == b"ustar":
        return "POSIX tar archive (GNU)"
    magic = next((kind for start, kind in _MAGIC if data.startswith(start)), None)
    if magic is not None:
        return magic
    text = _text_of(data)
    if text is None:
        return "data"
    if len(data) == 1:
        return "very short file (no magic)"
    return _kind_of_text(data, text)


def _text_of(data: bytes) -> str | None:
    if any(byte < 128 and byte not in _PRINTED for byte in data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _kind_of_text(data: bytes, text: str) -> str:
    with suppress(ValueError, RecursionError):
        if text.lstrip()[:1] in "{[" and json.loads(text) is not None:
            return "JSON text data"
    encoding = "ASCII" if data.isascii() else "UTF-8 Unicode" if _is_utf8(data) else "ISO-8859"
    encoding = encoding.replace("UTF-8 Unicode", "Unicode text, UTF-8")
    parts = [f"{encoding} text"]
    if data.startswith(b"#!"):
        words = data[2:].split(b"\n")[0].decode("utf-8", "replace").split() or [""]
        program = (words[1:] or words)[0] if words[0].endswith("/env") else words[0]
        script = _SCRIPTS.get(program.rpartition("/")[2], f"a {' '.join(words)}")
        parts = [f"{script} script, {encoding} text executable"]
    elif source := next((kind for pattern, kind in _SOURCES if re.search(pattern, text, re.MULTILINE)), None):
        parts = [f"{source}, {encoding} text{' executable' if 'script' in source else ''}"]
    elif encoding == "ASCII" and _is_csv(text):
        return "CSV text"
    if max(map(len, text.splitlines()), default=0) >= _LONG_LINE:
        parts.append(f"with very long lines ({max(map(len, text.splitlines()))})")
    if b"\r\n" in data:
        parts.append("with CRLF line terminators")
    elif b"\n" not in data:
        parts.append("with no line terminators")
    return ", ".join(parts)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_csv(text: str) -> bool:
    """Whether the first ten lines have the same number of fields, more than one."""
    lines = [line for line in text.splitlines()[:10] if line]
    widths = {len(row) for row in csv.reader(lines)}
    return len(lines) > 1 and len(widths) == 1 and widths.pop() > 1


def _mime(run: Invocation, node: Node, *, with_encoding: bool) -> str:
    data = b"" if node.is_directory or node.is_link else run.fs.read_file(node.path)[:_LOOK]
    kind = _kind(run, node)
    names = {"directory": "inode/directory", "empty": "inode/x-empty", "gzip": "application/gzip",
             "JSON": "application/json", "CSV": "text/csv", "data": "application/octet-stream",
             "Bourne": "text/x-shellscript", "C source": "text/x-c", "Python": "text/x-script.python",
             "POSIX tar": "application/x-tar", "PNG": "image/png", "PDF": "application/pdf"}  # fmt: skip
    name = next((name for start, name in names.items() if kind.startswith(start)), "text/plain")
    encoding = "binary" if _text_of(data) is None or not data else "us-ascii" if data.isascii() else "utf-8"
    return f"{name}; charset={encoding}" if with_encoding else name


def wc(run: Invocation) -> None:
    options, paths = run.options("lwcmL", "lines:l words:w bytes:c chars:m max-line-length:L")
    names = {"l": "lines", "w": "words", "m": "chars", "c": "bytes", "L": "max-line-length"}
    chosen = [name for letter, name in names.items() if letter in options]
    chosen = chosen or ["lines", "words", "bytes"]
    rows: list[tuple[list[int], str]] = []
    for path in paths or [""]:
        try:
            data = run.read(path or "-")
        except Failed as failure:
            run.fail(failure.text)
            if not failure.text.endswith("Is a directory\n"):
                continue
            data = b""
        rows.append(([_COUNTS[name](data) for name in chosen], path))
    if len(paths) > 1:
        columns = [[numbers[at] for numbers, _ in rows] for at in range(len(chosen))]
        rows.append(
            ([max(column, default=0) if name == "max-line-length" else sum(column)
              for name, column in zip(chosen, columns, strict=True)], "total")
        )  # fmt: skip
    width = _width(run, paths, rows, len(chosen))
    for numbers, path in rows:
        run.out.append(" ".join(str(number).rjust(width) for number in numbers) + (f" {path}" if path else "") + "\n")


def _longest(data: bytes) -> int:
    lines = StringIO(data.decode("utf-8", "replace"), newline="\n")
    return max((len(line.rstrip("\r\n").expandtabs()) for line in lines), default=0)


_COUNTS: Mapping[str, Callable[[bytes], int]] = {
    "lines": lambda data: data.count(b"\n"),
    "words": lambda data: sum(1 for _ in re.finditer(rb"\S+", data)),
    "bytes": len,
    "chars": lambda data: len(data.decode("utf-8", "replace")),
    "max-line-length": _longest,
}
"""Without lists of lines and words, which take ten times the memory of their text."""


def _width(run: Invocation, paths: Sequence[str], rows: Sequence[tuple[Sequence[int], str]], columns: int) -> int:
    """Return how wide numbers are printed: as the sizes of all files together need, and 7 if one is not a file."""
    if columns == 1 and len(paths) <= 1:
        return 1
    nodes = [run.look(path, follow=True) for path in paths]
    if not paths or any(node is not None and node.is_directory for node in nodes):
        return 7
    sizes = sum(node.size for node in nodes if node is not None)
    return len(str(sizes)) if rows else 1


BODIES: Mapping[str, Body] = {"file": file, "wc": wc}
