"""Which world does an HTTP request belong to?

The URL path decides; a key that names another world is refused. Without a path: the explicit keys (`_meta`
mcp-sim/world, ?world=, the header Mcp-Sim-World, in this order), the session of older protocols, the bearer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qs

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mcp_sim.server.worlds import is_name

WORLD_KEY = "mcp-sim/world"
WORLD_HEADER = b"mcp-sim-world"


@dataclass(frozen=True, slots=True)
class Match:
    """What a request says of its world outside its JSON. `explicit` are the query's and the header's names."""

    path: str | None = None
    explicit: tuple[str, ...] = ()
    session: str | None = None
    principal: str | None = None

    def world(self, params: Mapping[str, Any] | None) -> str | None:
        """The name of the request's world, or None where it names none. Raises MCPError."""
        named = (*_in_meta(params), *self.explicit)
        for name in named:
            if not is_name(name):
                raise MCPError(INVALID_PARAMS, "A world's name is 1 to 64 of A-Z a-z 0-9 . _ -")
            if self.path is not None and name != self.path:
                raise MCPError(INVALID_PARAMS, "The request names another world than its URL")
        if self.path is not None:
            return self.path
        return named[0] if named else self.session or self.principal


def explicit_names(query: bytes, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """The worlds that a query and headers name."""
    found = list[str]()
    if b"world" in query:
        found += parse_qs(query.decode("latin-1"), keep_blank_values=True).get("world", [])
    found += [value.decode("latin-1").strip() for name, value in headers if name == WORLD_HEADER]
    return tuple(found)


def _in_meta(params: Mapping[str, Any] | None) -> tuple[Any, ...]:
    meta = (params or {}).get("_meta")
    if isinstance(meta, dict) and WORLD_KEY in meta:
        return (cast("dict[str, Any]", meta)[WORLD_KEY],)
    return ()
