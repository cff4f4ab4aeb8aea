"""The tools of a world in the forms that models read, and the names by which they call them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

from mcp_sim.types import Record, Tool
from mcp_sim.types.errors import UsageError

Form: TypeAlias = Literal["openai", "mcp", "anthropic"]

LONGEST_NAME = 64
"""Characters that model APIs allow in the name of a function."""

WAIT: Record = {
    "name": "wait",
    "description": "Wait before the next call, for example as long as a rate limit asks for.",
    "inputSchema": {
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": 86400}},
        "required": ["seconds"],
    },
}


def function_names(ids: Iterable[str]) -> Mapping[str, str]:
    """Return the name of a function for each id of a tool: distinct, of letters, digits, underscores and hyphens."""
    names = dict[str, str]()
    for tool in ids:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool.replace("/", "__"))[:LONGEST_NAME]
        name, number = plain, 1
        while name in names.values():
            number += 1
            name = f"{plain[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        names[tool] = name
    return names


@lru_cache(maxsize=64)
def names_and_ids(ids: tuple[str, ...]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the names of the functions by id, and the ids by name, shared by the environments of a scenario."""
    names = function_names(ids)
    return names, {name: tool for tool, name in names.items()}


def in_form(tools: Iterable[tuple[str, Record]], form: Form) -> list[Record]:
    """Return tools, each with its name, as MCP, OpenAI or Anthropic describe them. Raises `UsageError`."""
    if form not in _FORMS:
        raise UsageError(f"form: expected {', '.join(_FORMS)}, got {form!r}")
    return [_FORMS[form](name, definition) for name, definition in tools]


def definition_of(tool: Tool) -> Record:
    """Return the entry of a tool in tools/list."""
    return dict(tool.definition)


def _as_openai(name: str, definition: Record) -> Record:
    description, parameters = definition.get("description") or "", definition["inputSchema"]
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _as_anthropic(name: str, definition: Record) -> Record:
    description, schema = definition.get("description") or "", definition["inputSchema"]
    return {"name": name, "description": description, "input_schema": schema}


_FORMS: Mapping[Form, Callable[[str, Record], Record]] = {
    "mcp": lambda name, definition: {**definition, "name": name},
    "openai": _as_openai,
    "anthropic": _as_anthropic,
}
