"""The authorization server as the SDK's handlers ask it: they parse requests, and check clients and PKCE."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from mcp_sim.server.oauth.grants import Grant, Grants, Shares

MOST_CLIENTS = 5_000
"""Clients, codes and open requests that are kept. Those in memory register once per run."""
LONGEST = 3_000
"""Bytes of the metadata of a client, or of a request for access, as JSON. Real ones have hundreds of bytes.

At most 15 MB for all clients, and 60 MB for what is kept of requests with the tokens.
"""
CODE_SECONDS = 60.0  # RFC 6749 recommends at most ten minutes; a client exchanges it at once
REQUEST_SECONDS = 600.0  # a person reads a page of consent; OpenID Connect servers give five to fifteen minutes
UNSAFE_SCHEMES = frozenset({"javascript", "data", "vbscript", "file", "blob"})
"""Schemes of redirects that a browser would run or show as a page of this server."""


@dataclass(slots=True)
class Request:
    """A request for consent that a person has to decide."""

    client: OAuthClientInformationFull
    params: AuthorizationParams
    expires_at: float


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Registers clients and grants access.

    `resource_of` returns the path of a resource of this server, and the name of its world. It raises `ValueError` for
    any other one.
    """

    def __init__(self, grants: Grants, resource_of: Callable[[str], tuple[str, str | None]], page: str) -> None:
        self._grants, self._resource_of, self._page = grants, resource_of, page
        self._clients = OrderedDict[str, OAuthClientInformationFull]()
        self._names = dict[str, str]()
        self._registered = 0
        self._codes = Shares[tuple[AuthorizationCode, Grant]](MOST_CLIENTS)
        self._requests = Shares[Request](MOST_CLIENTS)

    def name_of(self, client_id: str) -> str:
        """Return the name of a client, which is the same in each run: by the order of registration."""
        return self._names.get(client_id, "client")

    def used(self, client_id: str) -> None:
        """Note that a client has used a token. Of clients that have logged in, those that do not are dropped first."""
        if client_id in self._clients:
            self._clients.move_to_end(client_id)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Register a client. Raises `RegistrationError` for long metadata, and redirects that a browser would run."""
        if len(client_info.model_dump_json(exclude_none=True).encode()) > LONGEST:
            raise RegistrationError(
                "invalid_client_metadata", f"the metadata of the client are longer than {LONGEST} bytes"
            )
        for uri in client_info.redirect_uris or ():
            if uri.scheme in UNSAFE_SCHEMES:
                raise RegistrationError("invalid_redirect_uri", f"redirects to {uri.scheme}: are not allowed")
            if uri.fragment is not None:  # RFC 6749, 3.1.2
                raise RegistrationError("invalid_redirect_uri", "redirects with a fragment are not allowed")
        self._registered += 1
        self._clients[client_info.client_id] = client_info
        self._names[client_info.client_id] = f"client-{self._registered}"
        if len(self._clients) > MOST_CLIENTS:
            *older, _ = self._clients
            dropped = next((client for client in older if not self._grants.has_tokens(client)), older[0])
            del self._clients[dropped], self._names[dropped]

    # consent --------------------------------------------------------------------------------------------------------

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Return where to redirect: back with a code, or to the page where a person decides.

        Raises `AuthorizeError` if it is denied, too long, or for another server.
        """
        if len(params.model_dump_json().encode()) > LONGEST:
            raise AuthorizeError("invalid_request", f"The request is longer than {LONGEST} bytes")
        grant = self._grant(client, params)
        if self._grants.denies(grant.world):
            self._grants.note(grant.world, "denied")
            raise AuthorizeError("access_denied", "The user denied the request")
        if self._grants.settings.consent == "page":
            number = token_hex(20)
            self._requests.add(client.client_id, number, Request(client, params, time.time() + REQUEST_SECONDS))
            return f"{self._page}?request={number}"
        return self._with_code(grant, client, params)

    def waiting(self, number: str) -> Request | None:
        """Return a request that a person has to decide."""
        request = self._requests.get(number)
        return None if request is None or request.expires_at < time.time() else request

    def decide(self, number: str, *, is_granted: bool) -> str | None:
        """Decide a request. Return where to redirect; None if it is unknown."""
        request = self.waiting(number)
        if request is None:
            return None
        self._requests.pop(number)
        grant = self._grant(request.client, request.params)
        if is_granted:
            return self._with_code(grant, request.client, request.params)
        self._grants.note(grant.world, "denied")
        back = str(request.params.redirect_uri)
        return construct_redirect_uri(back, error="access_denied", state=request.params.state)

    def _grant(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> Grant:
        """Raise `AuthorizeError` for a resource that is not of this server."""
        name = self.name_of(client.client_id)
        if params.resource is None:
            return Grant(client.client_id, params.scopes or [], None, name)
        try:
            path, world = self._resource_of(params.resource)
        except ValueError:
            raise AuthorizeError("invalid_target", "The resource is not of this server") from None
        return Grant(client.client_id, params.scopes or [], path, world or name)

    def _with_code(self, grant: Grant, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = token_hex(20)
        given = AuthorizationCode(
            code=code,
            scopes=grant.scopes,
            expires_at=time.time() + CODE_SECONDS,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes.add(client.client_id, code, (given, grant))
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    # tokens ---------------------------------------------------------------------------------------------------------

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        given, grant = self._codes.get(authorization_code) or (None, None)
        if given is None or grant is None or given.client_id != client.client_id:
            return None
        if grant.is_used:  # RFC 6749, 4.1.2: somebody else may have it, too
            self._grants.end(grant, "code used twice")
            return None
        return given

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        held = self._codes.get(authorization_code.code)
        assert held is not None, "it was loaded just now"
        _, grant = held
        grant.is_used = True
        return self._answer(grant, *self._grants.issue(grant, "authorized"))

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        token = self._grants.refresh_token(refresh_token, client.client_id)
        if token is None:
            return None
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=token.grant.scopes)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        token = self._grants.refresh_token(refresh_token.token, client.client_id)
        assert token is not None, "it was loaded just now"
        return self._answer(token.grant, *self._grants.refreshed(token))

    def _answer(self, grant: Grant, access: str, refresh: str | None) -> OAuthToken:
        return OAuthToken(
            access_token=access,
            expires_in=self._grants.announced_seconds,
            refresh_token=refresh,
            scope=" ".join(grant.scopes) or None,
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        held = self._grants.access_token(token)
        if held is None:
            return None
        return AccessToken(token=token, client_id=held.grant.client, scopes=held.grant.scopes)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._grants.revoke(token.token, token.client_id)
