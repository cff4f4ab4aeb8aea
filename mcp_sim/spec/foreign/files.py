"""Files of other programs: read and recognise them, and derive names from them."""

from __future__ import annotations

import json
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from mcp_sim.spec import yaml12
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem, UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*+"?|/\*.*)|,(?=\s*(?://[^\n]*+\s*|/\*.*?\*/\s*)*+[}\]])', re.DOTALL
)
"""A comment, a string, or a comma before a closing bracket with at most comments between them.

Strings and comments that do not end are tokens, too: else what is inside each would be read to the end of the file.
"""


_EVENT_FIELD = re.compile(rb"^(?:(?:event|id|retry)?:[^\n]*\n|data: ?(?=[{\[]))", re.MULTILINE)
"""What server-sent events have around their data, if that is an object or a list in JSON."""


def read_value(path: Path) -> Json:
    """Return the value in a file of JSON, JSON with comments, JSON lines, server-sent events, YAML, or TOML.

    Raises `UsageError` if the file cannot be read, `DocumentError` if it has none of these formats.
    """
    try:
        with path.open("rb") as stream:
            data = as_utf8(stream.read(yaml12.LARGEST + 1))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    if path.suffix == ".toml":
        try:
            return tomllib.loads(data.decode("utf-8-sig"))
        except RecursionError:
            raise DocumentError([Problem(str(path), 0, "", "invalid TOML: nested too deeply")]) from None
        except ValueError as error:
            raise DocumentError([Problem(str(path), 0, "", f"invalid TOML: {error}")]) from None
    try:
        if data.lstrip().startswith(b"/"):  # in YAML, a comment of JSON with all that follows may be a text
            value = _with_comments(data, str(path))
            if value is not None:
                return value
        return yaml12.load(data, str(path), is_foreign=True).value
    except DocumentError:
        for attempt in (_with_comments, _lines, _events):
            value = attempt(data, str(path))
            if value is not None:
                return value
        raise


def as_utf8(data: bytes) -> bytes:
    """Return a text in UTF-8 without a byte order mark. PowerShell and Notepad write UTF-16."""
    encoding = json.detect_encoding(data)
    try:
        return data.removeprefix(BOM_UTF8) if encoding.startswith("utf-8") else data.decode(encoding).encode()
    except UnicodeDecodeError:
        return data


def without_event_fields(data: bytes) -> bytes:
    """Return the data of server-sent events, as saved from an answer, a line each. Other lines stay."""
    return _EVENT_FIELD.sub(b"", data)


def _with_comments(data: bytes, name: str) -> Json:
    """Return the value of JSON with comments and trailing commas, None if the text is not that."""
    try:
        plain = _TOKEN.sub(lambda token: token[1] or "\n" * token[0].count("\n"), data.decode("utf-8-sig"))
        return yaml12.load(plain.encode(), name, is_foreign=True).value
    except (UnicodeDecodeError, DocumentError):
        return None


def _lines(data: bytes, name: str) -> Json:
    """Return the values of lines of JSON as a list, None if some line is not JSON."""
    try:
        lines = [line for line in data.decode("utf-8-sig").splitlines() if line.strip()]
        return [yaml12.load(line.encode(), f"{name}.json").value for line in lines] or None
    except (UnicodeDecodeError, DocumentError, json.JSONDecodeError):
        return None


def _events(data: bytes, name: str) -> Json:
    """Return the values in the data of server-sent events; None for any other text."""
    plain = without_event_fields(data)
    return _lines(plain, name) if plain != data else None


# recognition ----------------------------------------------------------------------------------------------------------

_MARKS = {
    "openapi": ("openapi", "an OpenAPI document"),
    "swagger": ("openapi", "an OpenAPI document"),
    "mcpServers": ("client", "the configuration of an MCP client"),
    **dict.fromkeys(("functionDeclarations", "function_declarations", "toolConfig"), ("openai", "a list of functions")),
}
"""Top-level key of a file -> the importer that reads it, and what the file is."""

_PARAMETERS = (
    "function", "parameters", "input_schema", "functionDeclarations", "function_declarations", "toolSpec",
    "parameter_definitions", "args_schema",
)  # fmt: skip


def import_hint(value: Json) -> str | None:
    """Return what a file of another program is and which command imports it, to be put after its name; else None."""
    mark = _mark(value)
    return None if mark is None else f"is {mark[1]}; convert it with `mcp-sim import {mark[0]} FILE`"


def kind_of_file(value: Json) -> str | None:
    """Return the importer for the file of another program, None if it has no sign of one."""
    mark = _mark(value)
    return None if mark is None else mark[0]


def _mark(value: Json) -> tuple[str, str] | None:
    body = as_object(value)
    if "mcp_sim" in body:
        return None
    mark = next((_MARKS[key] for key in body if key in _MARKS), None)
    if mark is None and _are_functions(value if isinstance(value, list) else body.get("tools")):
        return _MARKS["functionDeclarations"]
    return mark


def _are_functions(value: Json) -> bool:
    """Whether a value lists functions for language models, also beside tools of their own, which have a type alone."""
    rows = [as_object(row) for row in as_list(value)]
    known = [any(isinstance(row.get(key), dict | list) for key in _PARAMETERS) for row in rows]
    others = (row for row, is_function in zip(rows, known, strict=True) if not is_function)
    return any(known) and all("inputSchema" not in row for row in rows) and all("type" in row for row in others)


# names ----------------------------------------------------------------------------------------------------------------

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 64  # the name is part of file names and commands


def file_name(text: str, otherwise: str = "server") -> str:
    """Return a name of letters, digits, `.`, `_` and `-`, made from any text."""
    return _NOT_IN_A_NAME.sub("_", text).strip("._-")[:LONGEST] or otherwise


def distinct(names: list[str]) -> Iterator[str]:
    """Yield the names in order; a repeated one, ignoring case, gets a number."""
    taken: set[str] = set()
    for name in names:
        distinct_name, number = name, 2
        while distinct_name.lower() in taken:
            suffix = f"-{number}"
            distinct_name, number = f"{name[: LONGEST - len(suffix)]}{suffix}", number + 1
        taken.add(distinct_name.lower())
        yield distinct_name


def shortened(value: Json, most: int = 60) -> str:
    """Return a value as a message shows it, cut after `most` characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
