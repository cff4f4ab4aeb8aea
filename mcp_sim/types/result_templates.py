"""Result templates: what a tool shows on success, with slots for what the call did or found.

A template is a text, or a JSON document whose strings have slots. `{title}` is the field `title` of the record that the
call is about, else a fact such as `count`, else an argument. `{arguments.title}`, `{before.title}` (the record before
the call) and `{address.city}` are paths. `{priority:upper}` spells a value in another way, and `{created_at:%d %b %Y}`
writes a time. `{due??never}` shows what follows `??` if there is no value, and `{done:true=x;false=-}` a text for each
value.

In a text, a value that is missing is empty, `{? (due {due})?}` is left out unless all its slots have a value, and
`{rows: "- {title}"}` among the parts of a text is repeated for each row. If no row has any of its values, the template
does not fit, and the next one is tried. In JSON, a text that is one slot becomes the value itself, null if it is
missing (`{sold??false}`: a flag instead); `note?` is a key that is left out with a missing value; `{"{rows}": ITEM}` is
a list with an item for each row, and `{"{address??}": ITEM}` is a list or object of the record, or ITEM without one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, cast

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Json

SLOT = re.compile(
    r"\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)(?::((?:(?!\?\?)[^{}\n]){1,200}))?(?:\?\?([^{}\n]{0,200}[^{}\n?]))?\}"
)
"""A slot: its path, how its value is spelled, and what is shown without a value."""
OPTIONAL = re.compile(r"\{\?(.*?)\?\}", re.DOTALL)
"""A part of a text that is left out unless all its slots have a value."""
ROWS = "{rows}"
"""The only key of an object that is replaced by a list of rows."""
_SEPARATORS = re.compile(r"[^\w.]+|_")
SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "capitalize": str.capitalize,
    "title": str.title,
    "spaced": lambda text: text.replace("_", " "),
    "dashed": lambda text: _SEPARATORS.sub("-", text).strip("-"),
    "slug": lambda text: _SEPARATORS.sub("-", text.lower()).strip("-"),
    "snake": lambda text: _SEPARATORS.sub("_", text.lower()).strip("_"),
}
"""Other ways to write a text."""
NUMBER_FORM = re.compile(r",?\.\d{1,2}f|,")
"""The forms of numbers that a slot may name. Wider ones would fill the memory with digits."""
_INSTEAD = re.compile(r"\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\?\?\}")
RESULT_SLOTS = frozenset({
    "key", "count", "total", "failed", "offset", "limit", "cursor", "more", "number", "before", "rows", "arguments",
    "now", "text", "everything",
})  # fmt: skip
"""The slots of a tool on records besides fields and arguments."""
EVERYTHING = "{everything}"
"""A slot for all that a template can show, as one object: what to write templates from."""


@frozen
class Rows:
    """A part of a text that is repeated for each row."""

    row: str
    between: str = "\n"


@frozen
class ResultTemplate:
    """One form of a tool's results."""

    form: Literal["text", "json"]
    value: Json = None
    """Of JSON: the document with slots."""
    parts: tuple[str | Rows, ...] = ()
    """Of a text: its parts, which are put together line by line."""
    when: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """Slot -> the value that it must have, null for a missing one. A list has the length that is its value."""
    indent: int | None = None
    """The indentation of JSON; None: it is written in one line."""
    block_per_row: bool = False
    """Whether each row of the result is a content block of its own."""


def replaced_path(template: Mapping[str, Json]) -> str:
    """Return the path of the value that an object replaces if it is missing; '' for any other object."""
    match = _INSTEAD.fullmatch(next(iter(template))) if len(template) == 1 else None
    return "" if match is None else match[1]


def respelled(template: Json) -> Iterator[str]:
    """Yield the names under which JSON shows the field of that name in another form, or what replaces a missing one."""
    if isinstance(template, list):
        for item in cast("list[Json]", template):
            yield from respelled(item)
    elif isinstance(template, dict):
        for key, item in cast("dict[str, Json]", template).items():
            name = key.removesuffix("?")
            if _respells(name, item):
                yield name
            yield from respelled(item)


def _respells(name: str, value: Json) -> bool:
    if isinstance(value, dict):
        return replaced_path(cast("dict[str, Json]", value)) == name
    slot = SLOT.fullmatch(value) if isinstance(value, str) else None
    return slot is not None and slot[1] == name and bool(slot[2] or slot[3])
