"""What value does a file hold that somebody else's program reads: JSON, JSON with comments, JSON lines, or YAML?"""

from __future__ import annotations

import json
import re
from pathlib import Path

from mcp_sim.spec import yaml12
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, UsageError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*[}\]])', re.DOTALL)


def read_value(path: Path) -> Json:
    """The value in a file. Raises UsageError where it cannot be read, DocumentError where it is none of these."""
    data = _bytes(path)
    try:
        return yaml12.load(data, str(path)).value
    except DocumentError:
        for attempt in (_with_comments, _lines):
            value = attempt(data, str(path))
            if value is not None:
                return value
        raise


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(yaml12.LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _with_comments(data: bytes, name: str) -> Json:
    """The value of JSON with comments and commas at the end of lists; None where it is none."""
    try:
        text = data.decode("utf-8-sig")
        return yaml12.load(_TOKEN.sub(_kept, text).encode(), name).value
    except (UnicodeDecodeError, DocumentError):
        return None


def _kept(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else "\n" * token[0].count("\n")


def _lines(data: bytes, name: str) -> Json:
    """The values of the lines, each of which is JSON, as a list; None where they are not."""
    try:
        lines = [line for line in data.decode("utf-8-sig").splitlines() if line.strip()]
        return [yaml12.load(line.encode(), f"{name}.json").value for line in lines] or None
    except (UnicodeDecodeError, DocumentError, json.JSONDecodeError):
        return None
