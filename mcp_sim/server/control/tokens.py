"""The token of the control plane: given, or generated into a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from tempfile import mkstemp

from mcp_sim.server.access import AROUND, digest, read_private
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen

CONTROL_VARIABLE = "MCP_SIM_CONTROL_TOKEN"
SHORTEST = 16
"""The fewest characters of a token. Shorter ones can be guessed by trying."""


@frozen
class ControlToken:
    """The digest of the token, and where it comes from."""

    digest: str
    source: str

    def admits(self, authorization: bytes | None) -> bool:
        """Whether a header has the token. The time that this takes does not depend on the token."""
        scheme, _, token = (authorization or b"").partition(b" ")
        return compare_digest(digest(token.strip()), self.digest) and scheme.lower() == b"bearer"


@contextmanager
def control_token(file: Path | None, environment: Mapping[str, str]) -> Generator[ControlToken]:
    """Yield the token of a file or of the environment, else a new one, in a file that is deleted at the end.

    Raises `UsageError` for a token that is missing or short, or that others can read.
    """
    if file is not None:
        yield _checked(_read(file), str(file))
        return
    if token := environment.get(CONTROL_VARIABLE, "").strip(AROUND):
        yield _checked(token, CONTROL_VARIABLE)
        return
    token = token_urlsafe(32)
    handle, name = mkstemp(prefix="mcp-sim-control-", suffix=".token")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(f"{token}\n")
    path = Path(name)
    try:
        yield _checked(token, str(path))
    finally:
        with suppress(OSError):
            path.unlink()


def _checked(token: str, source: str) -> ControlToken:
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"{source}: a control token has at least {SHORTEST} printable characters and no spaces")
    return ControlToken(digest(token.encode()), source)


def _read(path: Path) -> str:
    """Return the token in a file. Raises `UsageError` if it cannot be read, or others can read it."""
    try:
        return read_private(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot read the token in {path}: {reason}; without --control-token-file, a new token is made"
        ) from error
