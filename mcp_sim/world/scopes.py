"""How is a call named in draws and counters, and which arguments can no JSON text hold?"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from mcp_sim.types import Call
from mcp_sim.types.draws import SEPARATOR
from mcp_sim.types.errors import BadArguments
from mcp_sim.types.json_text import canonical, decode, nests_deeper

DEEPEST = 64
"""How many levels the arguments of a call may nest."""


def scope_of(call: Call) -> str:
    """Names a call for draws and counters: the same for the same tool and equal arguments."""
    try:
        text = canonical(call.arguments)
    except (RecursionError, ValueError, TypeError) as error:
        reason = "they nest too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadArguments(call.tool, f"are not JSON: {reason}") from None
    if text.count("[") + text.count("{") > DEEPEST and nests_deeper(call.arguments, DEEPEST):
        raise BadArguments(call.tool, f"nest more than {DEEPEST} levels deep")
    if not _has_names(call.arguments):
        raise BadArguments(call.tool, "are not JSON: every key must be a string")
    if "\\ud" in text and _has_surrogate(text):
        raise BadArguments(call.tool, "are not JSON: they hold half of a character, a lone surrogate")
    return sha256(f"{call.tool}{SEPARATOR}{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _has_names(value: Any) -> bool:
    """Is every key in it a string?"""
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str) or (not isinstance(inner, str | int) and not _has_names(inner)):
                return False
        return True
    return all(map(_has_names, cast("Sequence[Any]", value))) if isinstance(value, list | tuple) else True


def _has_surrogate(text: str) -> bool:
    """Does a JSON text hold an escaped half of a pair without the other?"""
    try:
        decode(text)
    except ValueError:
        return True
    return False
