"""What programs write again and again: forms of JSON, times, sizes, tables and notes, and how SDKs word failures.

from mcp_sim.programs.helpers import indented, shown, stamp
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mcp_sim.programs.failures import (
    argument_failure,
    javascript_type,
    pydantic_line,
    pydantic_refusal,
    pydantic_refused,
    tool_failure,
    unknown_tool_failure,
    zod_problems,
    zod_refusal,
    zod_refused,
)
from mcp_sim.programs.results import Result
from mcp_sim.programs.world import World
from mcp_sim.spec import yaml12
from mcp_sim.types.errors import DocumentError

__all__ = [
    "argument_failure", "byte_size", "compact", "front_matter", "indented", "javascript_length", "javascript_type",
    "markdown_table", "money", "new_uuid", "pydantic_line", "pydantic_refusal", "pydantic_refused", "shown", "stamp",
    "time_ago", "tool_failure", "unknown_tool_failure", "with_front_matter", "yaml_text", "yaml_value", "zod_problems",
    "zod_refusal", "zod_refused",
]  # fmt: skip

# answers --------------------------------------------------------------------------------------------------------------


def indented(value: Any) -> str:
    """Return JSON as most servers show it: indented by 2, letters of all languages as they are."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def compact(value: Any) -> str:
    """Return JSON as `JSON.stringify` writes it: without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def shown(value: Any, structured: Any = None) -> Result:
    """Return a result whose text is the value as indented JSON; structured is the value, too, or what is given."""
    return Result(text=indented(value), structured=value if structured is None else structured)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any] | Mapping[str, Any]]) -> str:
    """Return a Markdown table. Rows are lists, or mappings with these columns; what they lack is an empty cell."""
    values = [[row.get(name) for name in columns] if isinstance(row, Mapping) else [*row] for row in rows]
    cells = [["" if value is None else str(value) for value in row] for row in values]
    return "\n".join(f"| {' | '.join(line)} |" for line in ([*columns], ["---"] * len(columns), *cells))


# values ---------------------------------------------------------------------------------------------------------------


def stamp(moment: datetime, timespec: str = "seconds") -> str:
    """Return a time in UTC as `2029-03-01T09:00:00Z`; with `milliseconds` as JavaScript writes it."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


_SPANS = (("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60))
"""Units of time in seconds. A month has 30 days, as in most libraries for relative times."""


def time_ago(now: datetime, moment: datetime) -> str:
    """Return when something was, or will be: `5 minutes ago`, `in 2 days`; `just now` within a minute."""
    seconds = int((now - moment).total_seconds())
    unit, length = next(((unit, length) for unit, length in _SPANS if abs(seconds) >= length), ("", 1))
    if not unit:
        return "just now"
    count = abs(seconds) // length
    span = f"{count} {unit}{'s' * (count != 1)}"
    return f"{span} ago" if seconds > 0 else f"in {span}"


def byte_size(
    size: int, digits: int = 2, base: int = 1024, units: Sequence[str] = ("B", "KB", "MB", "GB", "TB")
) -> str:
    """Return a number of bytes in the largest unit that fits: `1.5 KB`, with at most so many digits."""
    number, at = float(size), 0
    while abs(number) >= base and at < len(units) - 1:
        number, at = number / base, at + 1
    return f"{f'{number:.{digits}f}'.rstrip('0').rstrip('.') if digits else round(number)} {units[at]}"


def new_uuid(world: World) -> str:
    """Return a random UUID (version 4)."""
    return str(UUID(int=world.random.getrandbits(128), version=4))


def money(minor: int, currency: str) -> str:
    """Return an amount in minor units with its currency: `19.00 EUR`."""
    return f"{minor / 100:.2f} {currency.upper()}"


# notes ----------------------------------------------------------------------------------------------------------------


def front_matter(text: str) -> tuple[str, str]:
    """Split a Markdown text into its YAML, without the lines `---` around it, and its body. No YAML: an empty text."""
    match = re.match(r"---\r?\n(?:(.*?)\r?\n)?---\r?\n", text, re.DOTALL)
    return (match[1] or "", text[match.end() :]) if match else ("", text)


def with_front_matter(yaml: str, body: str) -> str:
    """Return a Markdown text with this YAML before its body; the body alone without YAML."""
    return f"---\n{yaml}\n---\n{body}" if yaml else body


def yaml_value(text: str) -> Any:
    """Return what a YAML text says. Raises `ValueError` for invalid YAML."""
    try:
        return yaml12.load(text.encode(), "front matter", is_foreign=True).value
    except DocumentError as error:
        raise ValueError(str(error)) from None


def yaml_text(value: Any) -> str:
    """Return YAML in blocks, with lists indented; texts that could be misread are in double quotes."""
    return yaml12.dump(value, blocks=yaml12.DEEPEST).rstrip("\n")


def javascript_length(text: str) -> int:
    """Return how long JavaScript considers a text: letters beyond the basic plane count twice."""
    return len(text.encode("utf-16-le")) // 2
