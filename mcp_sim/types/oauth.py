"""How clients of a scenario log in over HTTP, and what goes wrong with it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.types.options import Count, CountFromZero, Duration, Part, Span, SpanText

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


class OAuth(Part):
    """An authorization server (OAuth 2.1) in front of the server, over HTTP, and its faults.

    Counts are per world, else per client.
    """

    consent: Literal["granted", "page", "denied"] = Field(
        default="granted", description="granted: at once, without a browser; page: a person decides; denied."
    )
    denials: Count | Literal["always"] = Field(
        default="always", description="With consent denied: how many requests are denied before one is granted."
    )
    access: SpanText = Field(
        default=Span(time=timedelta(hours=1)),
        description="Lifetime of an access token: a duration, or a number of tool calls.",
        examples=["20 calls"],
    )
    refresh: SpanText | None = Field(
        default=Span(time=timedelta(days=30)),
        description="Lifetime of a refresh token: a duration; null: none is issued.",
    )
    rotates: bool = Field(default=True, description="Whether each refresh token can be used once only.")
    refresh_fails: CountFromZero | Literal["always"] = Field(
        default=0, description="How many refreshes are refused, as with a token that was rotated, or `always`."
    )
    skew: Duration = Field(
        default=timedelta(0), description="How much earlier than announced access tokens expire: the clocks differ."
    )
    wrong_audience: CountFromZero = Field(
        default=0, description="How many access tokens are issued for another server, and so refused."
    )
    revoked_at: Count | None = Field(
        default=None, description="The tool call that is refused with a 401, since the tokens were revoked before it."
    )
    revokes: Literal["access", "all"] = Field(
        default="access", description="What is revoked: access tokens, or refresh tokens as well."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.refresh is not None and self.refresh.time is None:
            raise ValueError("refresh is a duration, or null")
        if self.denials != "always" and self.consent != "denied":
            raise ValueError("denials needs `consent: denied`")
        if self.revokes == "all" and self.revoked_at is None:
            raise ValueError("revokes needs revoked_at")
        return self


def without_tokens(text: str) -> str:
    """Return a text of an agent as it is recorded."""
    return TOKEN.sub(WITHHELD, text)
