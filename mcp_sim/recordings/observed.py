"""Answers as an agent understands them: success or failure, and the data or text that they show."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import cast

from pydantic_core import from_json

from mcp_sim.spec.sessions import Answer
from mcp_sim.types import Json, Record, as_object, frozen
from mcp_sim.types.json_values import Path, leaves

LONGEST_FAILURE = 400
"""The length in characters up to which a text can be nothing but the report of a failure. A longer text has content,
even if it begins with an error."""

_FAILS = re.compile(
    r"^\W*(mcp )?(\w+ )?(error|failed|failure|invalid|cannot|could not|unable|no such|unknown|exception|traceback)\b"
    r"|\b(not found|does not exist|doesn't exist|no such|already exists|is not valid|not allowed|cannot be|failed to"
    r"|invalid )",
    re.IGNORECASE,
)
_FAILED_STATUS = re.compile(r"error|failed|failure|(.*_)?not_found", re.IGNORECASE)

TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|UTC|GMT|[+-]\d\d:?\d\d))?"
    r"|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? \w{3} {1,4}\d{1,2} [\d:]{5,8}( \d{4})?( GMT)?( ?[+-]\d{4})?"
    r"( \([^)]{0,60}\))?"
    r"|\d{1,2}/\d{1,2}/\d{4},? \d{1,2}:\d\d(:\d\d)?( ?[AP]M)?"
)
"""A time of day on a date, in a text. Each part is bounded, so that a search takes time in proportion to the text."""
_TIME_KEY = re.compile(r"(time|timestamp|created|updated|modified|date|_at|At|mtime|since|until)$", re.IGNORECASE)
_EPOCHS = (1e9, 4e12)  # numbers between are seconds or milliseconds since 1970, where their key is that of a time

LONGEST_READ = 40_000  # how many characters of a text are searched for values, ids and words

MOST_READ = 100_000  # how many values of an answer, and items of a list, are compared one by one

_LONGEST_LITERAL = 1_000_000
"""The longest text that may be a Python literal: its syntax tree takes a hundred times as much memory."""


@frozen
class Observed:
    """An answer as an agent understands it."""

    is_error: bool
    """Whether it is an isError result or a JSON-RPC error."""
    failed: bool
    """Whether it is an error, or content that reports a failure."""
    value: Json
    """The data, or the text of an answer without data."""
    text: str
    """Its text, as an agent reads it."""
    blocks: tuple[str, ...] = ()
    """The types of its content blocks."""

    @property
    def is_data(self) -> bool:
        return isinstance(self.value, dict | list)


def observe(answer: Answer) -> Observed:
    """Return what an answer shows.

    The data is the structured content, else the JSON (or Python literal) that the text is. A text or value that is
    alone under `result`, as servers wrap it, is taken out.
    """
    if "error" in answer:
        message = str(answer["error"].get("message", ""))
        return Observed(is_error=True, failed=True, value=message, text=message)
    result: Record = answer["result"]
    content: Sequence[Record] = result.get("content") or []
    blocks = tuple(str(block.get("type")) for block in content)
    text = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
    structured: Json = result.get("structuredContent")
    if result.get("isError"):
        value = text if structured is None else structured
        return Observed(is_error=True, failed=True, value=value, text=text, blocks=blocks)
    value: Json = parsed(text) if structured is None else structured
    if as_object(value).keys() == {"result"}:
        inner: Json = as_object(value)["result"]
        value = parsed(inner) if isinstance(inner, str) else inner
    return Observed(is_error=False, failed=reports_failure(value), value=value, text=text, blocks=blocks)


def is_wrapped(answer: Answer) -> bool:
    """Whether the structured content of an answer is an object or list that is alone under `result`."""
    structured = as_object(answer.get("result", {}).get("structuredContent"))
    return structured.keys() == {"result"} and isinstance(structured["result"], dict | list)


def parsed(text: str) -> Json:
    """Return the object or list that a text is, else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    for parse in (from_json, _literal) if len(text) <= _LONGEST_LITERAL else (from_json,):
        try:
            return parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return text


def _literal(text: str) -> Json:
    """Return the value of a Python literal. Raises `ValueError` or `TypeError` if JSON has no such value."""
    return from_json(json.dumps(ast.literal_eval(text.strip())))


def reports_failure(value: Json) -> bool:
    """Whether a value that is not an error reports a failure: by its fields, or as a short text."""
    if isinstance(value, dict):
        fields = cast("Record", value)
        if fields.get("error") not in (None, False, "", []) or False in (fields.get("success"), fields.get("ok")):
            return True
        return _FAILED_STATUS.fullmatch(str(fields.get("status", ""))) is not None
    return isinstance(value, str) and len(value) < LONGEST_FAILURE and _FAILS.search(value[:200]) is not None


# values ---------------------------------------------------------------------------------------------------------------


def key_of(path: Path) -> str:
    """Return the last name of a path, or ''."""
    return next((segment for segment in reversed(path) if isinstance(segment, str)), "")


def normal(value: Json) -> str | None:
    """Return a value as it is compared with others: a number like its text. None for flags, null and blank texts."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float):
        return f"{value:.10g}" if isfinite(value) else str(value)
    return str(value).strip() or None


def shortened(value: Json, most: int) -> str:
    """Return a value as JSON of at most about `most` characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def is_time(key: str, value: Json) -> bool:
    """Whether a value is a time, as its text or its key shows."""
    if isinstance(value, str):
        return TIME.fullmatch(value.strip()) is not None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and _EPOCHS[0] < value < _EPOCHS[1] and _TIME_KEY.search(key) is not None


# parts of texts -------------------------------------------------------------------------------------------------------

_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{2,120})[\"'`]")
_TOKEN = re.compile(r"[^\s\"'`,;()\[\]{}<>|]+")
_SEPARATORS = (": ", "- ", "• ", "= ", "→ ")
_SHORTEST_TEXT = 4  # shorter texts occur in others by chance


def parts_of(text: str) -> Iterator[str]:
    """Yield what can be a value in a text: quoted parts, lines, what follows a colon or dash, and single words.

    Times are left out, and so is what is beyond LONGEST_READ.
    """
    timeless = TIME.sub(" ", text[:LONGEST_READ])
    yield from (match.strip() for match in _QUOTED.findall(timeless))
    for line in timeless.split("\n"):
        if 2 < len(line.strip()) < 300:
            yield line.strip()
        yield from (line.split(sign, 1)[1].strip() for sign in _SEPARATORS if sign in line.strip())
    for token in _TOKEN.findall(timeless):
        word = token.strip(".:!?*#")
        if len(word) >= 3 or (len(word) == 2 and not word.isalpha()):
            yield word


def values_in(value: Json, *, with_times: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the normal form of each of the first MOST_READ values, and the parts of each longer text with True."""
    for path, leaf in islice(leaves(value), MOST_READ):
        name = normal(leaf)
        if name is None or (not with_times and is_time(key_of(path), leaf)):
            continue
        yield name, False
        if isinstance(leaf, str) and len(leaf) >= _SHORTEST_TEXT:
            yield from ((piece, True) for piece in parts_of(leaf) if piece)


_DURATION = re.compile(r"elapsed|duration|latency", re.IGNORECASE)


def masked(value: Json, key: str = "") -> Json:
    """Return a value without what differs between two runs of the same server: times and durations."""
    if isinstance(value, dict):
        parts = cast("Record", value).items()
        return {name: masked(inner, name) for name, inner in parts if not _DURATION.search(name)}
    if isinstance(value, list):
        return [masked(item, key) for item in cast("list[Json]", value)]
    if is_time(key, value):
        return "<time>"
    if isinstance(value, float) and isfinite(value):
        return int(value) if value.is_integer() else float(f"{value:.10g}")
    return TIME.sub("<time>", value).strip() if isinstance(value, str) else value
