"""What an authorization server remembers: clients, codes, tokens, and what goes wrong with them.

Tokens are kept as digests alone, so that no memory of the process, no trace and no message shows one. Stores are
bounded, and a flood of one or many clients does not take from those that use them.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from secrets import token_hex
from typing import Generic, Literal, TypeAlias, TypeVar

from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.oauth import TOKEN, WITHHELD, OAuth

Reason: TypeAlias = Literal["unknown", "expired", "revoked", "audience"]

MOST_TOKENS = 20_000
"""Tokens of a kind that are kept. A run needs a few."""
MOST_WORLDS = 20_000
"""Worlds that are counted in; those that were used longest ago are forgotten."""
MOST_EVENTS = 100
"""Events of a world that does not exist yet."""

_TOKEN = re.compile(TOKEN.pattern.encode())


@dataclass(slots=True, eq=False)
class Grant:
    """A consent. Its tokens are of one client, for one resource."""

    client: str
    scopes: list[str]
    resource: str | None
    world: str
    """The world of the resource, or the name of the client."""
    is_used: bool = False
    """Whether its code was exchanged for tokens."""


@dataclass(slots=True, eq=False)
class Token:
    """A token, without its text."""

    grant: Grant
    issued: datetime
    uses: int = 0
    is_revoked: bool = False
    is_for_another: bool = False


@dataclass(slots=True)
class _Counts:
    """What has happened in a world."""

    denials: int = 0
    failed_refreshes: int = 0
    issued: int = 0
    calls: int = 0
    was_revoked: bool = False
    events: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


class Grants:
    """The grants of a server. `now` returns the time of a world."""

    def __init__(self, settings: OAuth, now: Callable[[str], datetime]) -> None:
        self.settings, self._now = settings, now
        self._access, self._refresh = Shares[Token](MOST_TOKENS), Shares[Token](MOST_TOKENS)
        self._counts = OrderedDict[str, _Counts]()

    def denies(self, world: str) -> bool:
        """Whether this request for consent is denied. It counts."""
        counts, settings = self._of(world), self.settings
        if settings.consent != "denied" or (settings.denials != "always" and counts.denials >= settings.denials):
            return False
        counts.denials += 1
        return True

    def issue(self, grant: Grant, event: str) -> tuple[str, str | None]:
        """Return a new access token, and a refresh token if there are any."""
        counts, now = self._of(grant.world), self._now(grant.world)
        counts.issued += 1
        access, refresh = f"access-{token_hex(20)}", f"refresh-{token_hex(20)}"
        is_for_another = counts.issued <= self.settings.wrong_audience
        self._access.add(grant.client, _digest(access), Token(grant, now, is_for_another=is_for_another))
        self.note(grant.world, event)
        if self.settings.refresh is None or not self.settings.refresh.time:
            return access, None
        self._refresh.add(grant.client, _digest(refresh), Token(grant, now))
        return access, refresh

    @property
    def announced_seconds(self) -> int:
        """The lifetime of access tokens, as it is announced to clients."""
        lifetime = self.settings.access.time
        return 3600 if lifetime is None else max(1, int(lifetime.total_seconds()))

    def refresh_token(self, text: str, client: str) -> Token | None:
        """Return a refresh token that may be used now. That it may not counts, and is noted."""
        token = self._refresh.get(_digest(text))
        if token is None or token.grant.client != client:
            return None
        counts, settings = self._of(token.grant.world), self.settings
        lifetime = None if settings.refresh is None else settings.refresh.time
        is_over = self._now(token.grant.world) - token.issued >= (lifetime or timedelta(0))
        fails = settings.refresh_fails == "always" or counts.failed_refreshes < settings.refresh_fails
        if token.is_revoked or is_over or fails:
            counts.failed_refreshes += 1
            if token.is_revoked:  # RFC 9700, 4.14.2
                self.end(token.grant, "refresh token used twice")
            reason = "revoked" if token.is_revoked else "expired" if is_over else "rotated"
            self.note(token.grant.world, "refresh_refused", reason)
            return None
        return token

    def refreshed(self, token: Token) -> tuple[str, str | None]:
        """Replace the tokens of a grant by new ones."""
        if self.settings.rotates:
            token.is_revoked = True
        return self.issue(token.grant, "refreshed")

    def has_tokens(self, client: str) -> bool:
        """Whether a client has logged in."""
        return bool(self._access.of(client) or self._refresh.of(client))

    def access_token(self, text: str) -> Token | None:
        """Return an access token, valid or not."""
        return self._access.get(_digest(text))

    def why_refused(self, token: Token | None, path: str) -> Reason | None:
        """Return why a token does not grant access to a path; None if it does."""
        if token is None:
            return "unknown"
        if token.is_revoked:
            return "revoked"
        if self._is_expired(token):
            return "expired"
        resource = token.grant.resource
        is_elsewhere = resource is not None and not f"{path}/".startswith(f"{resource.rstrip('/')}/")
        return "audience" if token.is_for_another or is_elsewhere else None

    def count_call(self, token: Token, world: str) -> Reason | None:
        """Count a tool call with a valid token. Return why it is refused all the same, or None."""
        counts, settings = self._of(world), self.settings
        counts.calls += 1
        token.uses += 1
        if settings.revoked_at == counts.calls and not counts.was_revoked:
            counts.was_revoked = True
            self.note(world, "revoked", settings.revokes)
            kinds = [self._access, self._refresh] if settings.revokes == "all" else [self._access]
            for held in (held for kind in kinds for held in kind if held.grant.world == token.grant.world):
                held.is_revoked = True
            return "revoked"
        return None

    def revoke(self, text: str, client: str) -> None:
        """Revoke a token of a client, and all others of its grant."""
        token = self._access.get(_digest(text)) or self._refresh.get(_digest(text))
        if token is None or token.grant.client != client:
            return
        self.end(token.grant)

    def end(self, grant: Grant, reason: str = "") -> None:
        """Revoke all tokens of a grant. It is noted if there is a reason, and a token to revoke."""
        tokens = [*self._access.of(grant.client), *self._refresh.of(grant.client)]
        valid = [token for token in tokens if token.grant is grant and not token.is_revoked]
        for token in valid:
            token.is_revoked = True
        if valid and reason:
            self.note(grant.world, "revoked", reason)

    def withheld(self, body: bytes, world: str) -> bytes:
        """Return the body of a request without the tokens of this server. That it had some is noted."""
        known = {match[0] for match in _TOKEN.finditer(body) if self._is_known(match[0].decode())}
        if not known:
            return body
        sent, answered = (
            [token for token in _TOKEN.findall(text) if token in known] for text in (body, _answers_in(body))
        )
        if len(sent) > len(answered):
            self.note(world, "token_in_arguments")
        if answered:
            self.note(world, "token_in_answer")
        return _TOKEN.sub(lambda match: WITHHELD.encode() if match[0] in known else match[0], body)

    def note(self, world: str, event: str, reason: str = "") -> None:
        """Note an event, for the ledger of a world."""
        events = self._of(world).events
        if len(events) < MOST_EVENTS:
            events.append(_event(event, reason))

    def take_events(self, world: str) -> list[dict[str, str]]:
        """Return what was noted for a world since the last time."""
        counts = self._counts.get(world)
        if counts is None or not counts.events:
            return []
        events, counts.events = counts.events, []
        return events

    def _is_expired(self, token: Token) -> bool:
        lifetime = self.settings.access
        if lifetime.time is None:
            return token.uses >= (lifetime.calls or 0)
        return self._now(token.grant.world) - token.issued >= lifetime.time - self.settings.skew

    def _is_known(self, text: str) -> bool:
        return any(kind.get(_digest(text)) is not None for kind in (self._access, self._refresh))

    def _of(self, world: str) -> _Counts:
        counts = self._counts.setdefault(world, _Counts())
        self._counts.move_to_end(world)
        if len(self._counts) > MOST_WORLDS:
            self._counts.popitem(last=False)
        return counts


def _answers_in(body: bytes) -> bytes:
    """Return what the user of a client answers in a request: results, or `inputResponses` without a session."""
    try:
        value = decode(body)
    except ValueError:
        return b""  # it is refused where it is answered
    messages = [as_object(message) for message in as_list(value) or [value]]
    given = [as_object(message.get("params")).get("inputResponses") for message in messages]
    return encode([given, [message.get("result") for message in messages]])


@cache
def _event(event: str, reason: str) -> dict[str, str]:
    """Return an event. Equal ones are the same object: clients can cause a hundred in each of 20,000 worlds."""
    return {"event": event, "reason": reason} if reason else {"event": event}


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


T = TypeVar("T")


class Shares(Generic[T]):
    """Values by key, each of a client.

    Beyond `most`, the client with the most values loses its oldest; among several, the one whose values were not looked
    up for longest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._owners = dict[str, str]()
        self._values = dict[str, dict[str, T]]()
        """The values of each client, the one that was used last at the end."""

    def add(self, client: str, key: str, value: T) -> None:
        """Add a value under a new key."""
        self._owners[key] = client
        self._values.setdefault(client, {})[key] = value
        if len(self._owners) > self._most:
            largest = max(self._values.values(), key=len)
            self.pop(next(iter(largest)))

    def get(self, key: str) -> T | None:
        """Return the value under a key."""
        client = self._owners.get(key)
        if client is None:
            return None
        self._values[client] = values = self._values.pop(client)
        return values[key]

    def pop(self, key: str) -> T | None:
        """Remove and return the value under a key."""
        client = self._owners.pop(key, None)
        if client is None:
            return None
        value = self._values[client].pop(key)
        if not self._values[client]:
            del self._values[client]
        return value

    def of(self, client: str) -> Collection[T]:
        """Return the values of a client, oldest first."""
        return self._values.get(client, {}).values()

    def __iter__(self) -> Iterator[T]:
        return (value for values in self._values.values() for value in values.values())
