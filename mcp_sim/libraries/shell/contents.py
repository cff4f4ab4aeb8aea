"""Contents of files as fields of records: text, or base64 where the bytes are not UTF-8."""

from __future__ import annotations

from base64 import b64decode, b64encode

from mcp_sim.types import Record


def content_of(data: bytes) -> Record:
    """Return the fields of a content: text, or base64 for bytes that are not UTF-8."""
    try:
        return {"content": data.decode()}
    except UnicodeDecodeError:
        return {"content": b64encode(data).decode(), "encoding": "base64"}


def bytes_of(record: Record) -> bytes:
    """Return the bytes of a file."""
    text = str(record.get("content") or "")
    if record.get("encoding") == "base64":
        return b64decode(text, validate=False)
    return text.encode("utf-8", "surrogatepass")


def kilobytes(record: Record | None) -> int:
    """Return how much of the disk a file takes, in blocks of 4 KiB."""
    return 0 if record is None else -(-len(bytes_of(record)) // 4096) * 4
