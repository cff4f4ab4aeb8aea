"""file, wc, stat, realpath and readlink: what files are and hold."""

from __future__ import annotations

import csv
import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import StringIO

from mcp_sim.libraries.shell.commands.invocation import LINKS, Body, Failed, Invocation, Node
from mcp_sim.libraries.shell.commands.listing import mode_text

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
    encoding = "ASCII" if data.isascii() else "Unicode text, UTF-8" if text.encode() == data else "ISO-8859"
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
    nodes = [node for path in paths if (node := run.look(path, follow=True)) is not None]
    width = len(str(sum(node.size for node in nodes))) if rows else 1  # as the sizes of all files together need
    if len(chosen) == 1 and len(paths) <= 1:
        width = 1
    elif not paths or any(node.is_directory for node in nodes):
        width = 7
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


# paths and metadata ---------------------------------------------------------------------------------------------------


def resolved(run: Invocation, path: str) -> str:
    """Return an absolute path without symbolic links."""
    place = "/"
    parts: list[str] = run.place(path).strip("/").split("/")
    for _ in range(LINKS * len(parts)):
        if not parts:
            return place
        place = posixpath.join(place, parts.pop(0))
        node = run.look(place)
        if node is not None and node.is_link:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(place), node.target))
            parts, place = [*target.strip("/").split("/"), *parts], "/"
    raise Failed(f"{run.name}: {path}: Too many levels of symbolic links\n")


def realpath(run: Invocation) -> None:
    options, paths = run.options("emsqLPz", "relative-to= canonicalize-existing:e canonicalize-missing:m no-symlinks:s")
    if not paths:
        raise Failed("realpath: missing operand\nTry 'realpath --help' for more information.\n")
    for path in paths:
        place = run.place(path) if "s" in options else resolved(run, path)
        needed = place if "e" in options else posixpath.dirname(place)
        if run.look(needed) is None and "m" not in options:
            run.fail(f"realpath: {path}: No such file or directory\n")
            continue
        base = options.get("relative-to")
        run.out.append(f"{place if base is None else posixpath.relpath(place, run.place(base))}\n")


def readlink(run: Invocation) -> None:
    options, paths = run.options("femnqsvz", "canonicalize:f canonicalize-existing:e no-newline:n")
    if not paths:
        raise Failed("readlink: missing operand\nTry 'readlink --help' for more information.\n")
    end = "" if "n" in options else "\n"
    for path in paths:
        node = run.look(path)
        if options.keys() & {"f", "e", "m"}:
            run.out.append(f"{resolved(run, path)}{end}")
        elif node is None or not node.is_link:
            run.code = 1
        else:
            run.out.append(f"{node.target}{end}")


_KINDS = {"directory": "directory", "symlink": "symbolic link"}
_SIZE = 4096  # of a directory, and of a block of input and output
_DIRECTIVE = re.compile(r"%[-+ 0#]{0,5}([0-9]*)([A-Za-z%])")
_WIDEST = 4096  # characters that a value is filled up to
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_FULL = """  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: 254,1\tInode: %-11i Links: %h
Access: (%04a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
"""


def stat(run: Invocation) -> None:
    options, paths = run.options("Lc:ft", "dereference:L format:c printf= terse:t file-system:f")
    if not paths:
        raise Failed("stat: missing operand\nTry 'stat --help' for more information.\n")
    pattern = options.get("c")
    printed = options.get("printf")
    for path in paths:
        node = run.look(path, follow="L" in options)
        if node is None:
            run.fail(f"stat: cannot statx '{path}': No such file or directory\n")
        elif printed is not None:
            run.out.append(_filled(re.sub(r"\\[nt\\]", lambda match: _ESCAPES[match[0]], printed), path, node))
        else:
            run.out.append(
                _filled(_FULL if pattern is None else f"{pattern}\n", path, node, quoted=pattern is not None)
            )


def _filled(pattern: str, path: str, node: Node, *, quoted: bool = True) -> str:
    size = _SIZE if node.is_directory else node.size
    kind = _KINDS.get(node.kind, "regular file" if size else "regular empty file")
    name = f"'{path}'" if quoted else path
    if node.is_link:
        name = f"{name} -> '{node.target}'" if quoted else f"{path} -> {node.target}"
    moment = f"{node.modified:%Y-%m-%d %H:%M:%S}.{node.modified.microsecond:06d}000 +0000"
    values = {
        "n": path, "N": name, "s": str(size), "b": str(-(-size // 4096) * 8), "B": "512", "o": str(_SIZE), "F": kind,
        "a": f"{node.mode:o}", "A": mode_text(node), "u": "0", "U": "root", "g": "0", "G": "root", "h": "1",
        "f": f"{node.mode | {'directory': 0o040000, 'symlink': 0o120000}.get(node.kind, 0o100000):x}",
        "i": str(1_000_000 + sum(node.path.encode()) * 131 % 900_000), "d": "65025", "D": "fe01", "m": "/", "%": "%",
    }  # fmt: skip
    values |= dict.fromkeys("wxyz", moment) | dict.fromkeys("WXYZ", str(int(node.modified.timestamp())))
    return _DIRECTIVE.sub(lambda match: _padded(match, values.get(match[2], "?")), pattern)


def _padded(match: re.Match[str], value: str) -> str:
    width, flags = min(int(match[1] or 0), _WIDEST), match[0][1 : -1 - len(match[1])]
    if "0" in flags or match[1].startswith("0"):
        return value.rjust(width, "0")
    return value.ljust(width) if "-" in flags else value.rjust(width)


BODIES: Mapping[str, Body] = {"file": file, "wc": wc, "stat": stat, "realpath": realpath, "readlink": readlink}
