"""The key `auth` of scenarios."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.content import Part
from mcp_sim.types.oauth import OAuth
from mcp_sim.types.options import Count, CountFromZero, Duration, Span, SpanText


class OAuthPart(Part):
    """An authorization server (OAuth 2.1) in front of the server, over HTTP, and its faults."""

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

    def settings(self) -> OAuth:
        """Return the settings for the server."""
        return OAuth(
            self.consent,
            None if self.denials == "always" else self.denials,
            self.access,
            self.refresh or Span(time=timedelta(0)),
            self.rotates,
            None if self.refresh_fails == "always" else self.refresh_fails,
            self.skew,
            self.wrong_audience,
            self.revoked_at,
            self.revokes,
        )


class AuthPart(Part):
    """How clients log in."""

    oauth: OAuthPart = Field(description="OAuth 2.1 with an authorization server of its own.")


def _as_auth(value: Any) -> Any:
    if value == "oauth":
        return {"oauth": {}}
    if not isinstance(value, dict):
        raise ValueError(f"expected oauth, or {{oauth: {{...}}}}, got {shown(value)}")
    return cast("Any", value)


Auth = Annotated[AuthPart, BeforeValidator(_as_auth, json_schema_input_type=Literal["oauth"] | AuthPart)]
