"""Access rules of the HTTP server, and the world that a request belongs to.

Hosts and origins are checked against DNS rebinding; bearer tokens are required where a server has any.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST

from mcp_sim.server.exchange import Refusal
from mcp_sim.server.worlds import checked_name, is_name
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object

TOKEN_VARIABLE = "MCP_SIM_TOKEN"  # noqa: S105 (the name of a variable, not a token)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@\\]+)", re.IGNORECASE)
"""An origin of a page: a scheme and a host. Neither a user nor a path belongs to it."""


@frozen
class Access:
    """Access rules: `names` are allowed in Host and Origin; `principals` maps the digest of a token to a world.

    Without `principals` every client is admitted, and a token only selects a world.
    """

    names: frozenset[str]
    principals: Mapping[str, str]
    barred: frozenset[str] = frozenset()
    """The digests of tokens that are never admitted, since they belong to another listener."""

    def check_names(self, host: bytes | None, origin: bytes | None) -> None:
        """Raise `Refusal` for a request by another name of the server, or from a foreign page."""
        if not self.is_host(host):
            reason = f"{_shown(host)} is not allowed as Host; --allow-host adds a name"
            raise Refusal(421, INVALID_REQUEST, "Invalid Host header", reason=reason)
        if not self.is_origin(origin, host):
            reason = f"{_shown(origin)} is not allowed as Origin; --allow-host adds a name"
            raise Refusal(403, INVALID_REQUEST, "Invalid Origin header", reason=reason)

    def is_host(self, host: bytes | None) -> bool:
        """Whether a Host header is allowed. An IP address always is, since DNS rebinding needs a name."""
        name = _host_name(host.decode("latin-1")) if host else None
        return name is not None and (name in self.names or _is_address(name))

    def is_origin(self, origin: bytes | None, host: bytes | None) -> bool:
        """Whether pages of an origin are allowed: those of the server's own host and of the allowed names are."""
        if not origin:
            return True
        parts = _ORIGIN.fullmatch(origin.decode("latin-1"))
        name = _host_name(parts["host"]) if parts else None
        if parts is None or name is None:
            return False
        host_name = host.decode("latin-1") if host else ""
        return parts["host"].lower() == host_name.lower() or name in self.names

    def is_allowed_page(self, origin: bytes, host: bytes | None) -> bool:
        """Whether pages of an origin may send requests to this server, and read its answers."""
        return self.is_host(host) and self.is_origin(origin, host)

    def principal(self, authorization: bytes | None) -> str | None:
        """Return the world of a bearer token, None without one. Raises `Refusal` for an unknown one."""
        scheme, _, token = (authorization or b"").partition(b" ")
        is_bearer = scheme.lower() == b"bearer" and bool(token.strip())
        hashed = digest(token.strip()) if is_bearer else ""
        if not self.principals and hashed not in self.barred:
            return _world_of(hashed) if is_bearer else None
        if hashed in self.barred or hashed not in self.principals:
            what = "no bearer token" if authorization is None else "its bearer token is not one"
            reason = f"{what} of --token-file or {TOKEN_VARIABLE}"
            raise Refusal(401, INVALID_REQUEST, "Unauthorized", {"www-authenticate": "Bearer"}, reason=reason)
        return self.principals[hashed]


AROUND = " \t\r\n\ufeff"
"""What editors and shells leave around a token."""


def access(bound: str, names: Collection[str], token_file: Path | None, environment: Mapping[str, str]) -> Access:
    """Return the rules of a server bound to a host. Raises `UsageError` for an invalid token file."""
    tokens = _from_file(token_file) if token_file is not None else {}
    if token := environment.get(TOKEN_VARIABLE, "").strip(AROUND):
        hashed = digest(token.encode("utf-8", "replace"))
        tokens.setdefault(hashed, _world_of(hashed))
    elif environment.get(TOKEN_VARIABLE):
        raise UsageError(f"{TOKEN_VARIABLE} is set, but blank")
    return Access(names_of(bound, names), tokens)


def names_of(bound: str, names: Collection[str]) -> frozenset[str]:
    """Return the names of a server that is bound to a host, in lower case."""
    return frozenset({*LOOPBACK, bound.lower(), *(name.lower() for name in names)})


def _from_file(path: Path) -> dict[str, str]:
    """Read one token per line, preceded by the name of its world where the line has two words."""
    try:
        lines = read_private(path).splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the tokens in {path}: {getattr(error, 'strerror', None) or error}") from error
    entries = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    if not entries or any(len(words) > 2 for words in entries):
        raise UsageError(f"{path} must have lines of the form TOKEN, or NAME TOKEN")
    digests = [(digest(words[-1].encode()), words) for words in entries]
    return {hashed: checked_name(words[0]) if len(words) == 2 else _world_of(hashed) for hashed, words in digests}


def read_private(path: Path) -> str:
    """Return the text of a file with tokens, without a BOM. Raises `UsageError` if others can read it."""
    mode, text = path.stat().st_mode, path.read_text(encoding="utf-8-sig")
    if os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise UsageError(f"{path}: every user can read this token; restrict it with `chmod 600 {path}`")
    return text.strip(AROUND)


def digest(token: bytes) -> str:
    """Return what is kept of a token: comparing it takes no time from which the token could be guessed."""
    return sha256(token).hexdigest()


def _world_of(digest: str) -> str:
    return f"bearer-{digest[:16]}"


def _host_name(host: str) -> str | None:
    """Return a Host without its port, in lower case; an IPv6 address without its brackets. None if it is invalid."""
    parts = _HOST.fullmatch(host)
    return (parts["address"] or parts["name"]).lower() if parts else None


def _shown(header: bytes | None) -> str:
    return "nothing" if header is None else repr(header.decode("latin-1"))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


WORLD_KEY = "mcp-sim/world"
WORLD_HEADER = b"mcp-sim-world"


@dataclass(slots=True)
class WorldNames:
    """The names of worlds in a request outside its JSON. `explicit` holds those of the query and the header.

    The URL path decides, and a key that names another world is refused. Without a path, these decide in order: the
    explicit keys (`_meta` mcp-sim/world, ?world=, the header Mcp-Sim-World), the session, the bearer.
    """

    path: str | None = None
    explicit: tuple[str, ...] = ()
    session: str | None = None
    principal: str | None = None

    @property
    def likely(self) -> str:
        """The world that the request most likely belongs to: its `_meta` may name another one."""
        return self.path or next(iter(self.explicit), None) or self.session or self.principal or ""

    def world(self, params: Mapping[str, Any] | None) -> str | None:
        """Return the name of the request's world, or None. Raises `MCPError` for an invalid or contradicting name."""
        meta = as_object((params or {}).get("_meta"))
        values = (*([meta[WORLD_KEY]] if WORLD_KEY in meta else ()), *self.explicit)
        for name in values:
            if not is_name(name):
                raise MCPError(INVALID_PARAMS, "A world's name is 1 to 64 of A-Z a-z 0-9 . _ -")
            if self.path is not None and name != self.path:
                raise MCPError(INVALID_PARAMS, "The request names another world than its URL")
        if self.path is not None:
            return self.path
        return values[0] if values else self.session or self.principal


def explicit_names(query: bytes, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Return the names of worlds in a query and in headers."""
    tokens = list[str]()
    if b"world" in query:
        tokens += parse_qs(query.decode("latin-1"), keep_blank_values=True).get("world", [])
    tokens += [value.decode("latin-1").strip() for name, value in headers if name == WORLD_HEADER]
    return tuple(tokens)
