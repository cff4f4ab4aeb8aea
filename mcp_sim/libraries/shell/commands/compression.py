"""xz and zcat, and what tar compresses. gzip and bzip2 are those of the interpreter."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Mapping
from functools import partial
from gzip import GzipFile
from io import BytesIO
from typing import Any

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

LARGEST = 32 << 20
"""The largest content that is unpacked, in bytes: half of what a world may hold."""
ENDINGS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz"}
_STARTS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def packed(data: bytes, kind: str) -> bytes:
    """Return compressed bytes, the same in every run."""
    if kind == "gzip":
        buffer = BytesIO()
        with GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
            file.write(data)
        return buffer.getvalue()
    return bz2.compress(data) if kind == "bzip2" else lzma.compress(data)


def unpacked(data: bytes) -> bytes | None:
    """Return decompressed bytes, or None if they are too large. Other bytes are returned as they are.

    Raises `EOFError`, `OSError` or `LZMAError` for damaged ones.
    """
    kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), None)
    if kind is None:
        return data
    openers: Mapping[str, Any] = {"gzip": GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}
    file = GzipFile(fileobj=BytesIO(data)) if kind == "gzip" else openers[kind](BytesIO(data))
    with file:
        plain = file.read(LARGEST + 1)
    return None if len(plain) > LARGEST else plain


def compress(kind: str, run: Invocation, *, unpacks: bool = False, prints: bool = False) -> None:
    """Compress or unpack files or stdin."""
    options, paths = run.options(
        "dkcfvqtz0123456789eT:", ["decompress", "keep", "stdout", "to-stdout", "force", "verbose"]
    )
    unpacks = unpacks or bool(options.keys() & {"d", "decompress"})
    prints = prints or bool(options.keys() & {"c", "stdout", "to-stdout"})
    for path in paths or ["-"]:
        ending = ENDINGS[kind]
        data = run.read(path)
        if unpacks and path != "-" and not prints and not path.endswith(ending):
            run.fail(f"{run.name}: {path}: unknown suffix -- ignored\n", 2)
            continue
        try:
            result = unpacked(data) if unpacks else packed(data, kind)
        except (OSError, EOFError, lzma.LZMAError):
            run.fail(f"{run.name}: {path}: not in {kind} format\n")
            continue
        if result is None:
            raise Failed(f"{run.name}: {path}: No space left on device\n")
        if prints or path == "-":
            run.write(result)
            continue
        place = run.place(path)
        run.fs.write_file(place.removesuffix(ending) if unpacks else place + ending, result)
        if not options.keys() & {"k", "keep"}:
            run.fs.remove(place)


_CAT = {"unpacks": True, "prints": True}

BODIES: Mapping[str, Body] = {
    "xz": partial(compress, "xz"),
    "unxz": partial(compress, "xz", unpacks=True), "xzcat": partial(compress, "xz", **_CAT),
    "zcat": partial(compress, "gzip", **_CAT),
}  # fmt: skip
