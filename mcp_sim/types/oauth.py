"""How clients of a scenario log in over HTTP, and what goes wrong with it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from mcp_sim.types.frozen import frozen
from mcp_sim.types.options import Span

TOKEN = re.compile(r"\b(?:access|refresh)-[0-9a-f]{40}\b")
"""A token of a simulated authorization server: 160 bits, as RFC 6749 asks."""
WITHHELD = "[token]"
"""What is recorded instead of a token."""

AUTHORIZATION = "authorization"
"""The actor of events about it in a ledger."""

EVENTS = {
    "authorized": "granted access",
    "denied": "denied access",
    "refreshed": "renewed the access",
    "refresh_refused": "refused to renew the access",
    "refused": "refused a token",
    "revoked": "revoked tokens",
    "token_in_arguments": "found a token in the arguments of a call",
    "token_in_answer": "found a token in an answer of the user",
}
"""What happens, and how it is shown."""


@frozen
class OAuth:
    """An authorization server in front of the servers of a scenario. Counts are per world, else per client."""

    consent: Literal["granted", "page", "denied"] = "granted"
    denials: int | None = None
    """How many requests for consent are denied; None: all."""
    access: Span = Span(time=timedelta(hours=1))
    """Lifetime of an access token."""
    refresh: Span = Span(time=timedelta(days=30))
    """Lifetime of a refresh token."""
    rotates: bool = True
    """Whether a refresh token can be used once only."""
    refresh_fails: int | None = 0
    """How many refreshes are refused; None: all."""
    skew: timedelta = timedelta(0)
    """How far the clock that checks tokens is ahead of the one that issues them."""
    wrong_audience: int = 0
    """How many access tokens are issued for another server."""
    revoked_at: int | None = None
    """The tool call before which tokens are revoked, once."""
    revokes: Literal["access", "all"] = "access"


def without_tokens(text: str) -> str:
    """Return a text of an agent as it is recorded."""
    return TOKEN.sub(WITHHELD, text)
