"""A client of the official SDK that logs in, with its user; as a program, an agent that shows its tokens everywhere."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

BACK = "http://127.0.0.1:9/callback"


class Storage:
    """The tokens of a client, which it keeps in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None
        self.history = list[str]()
        self.context: Any = None
        """What the client remembers, with the time when its token expires."""

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens
        self.history.append(tokens.access_token)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class User:
    """A person's browser that follows redirects, and decides on the page of consent."""

    def __init__(self, decision: str = "grant") -> None:
        self.decision, self.pages = decision, list[str]()
        self.logins = 0

    async def visit(self, url: str) -> None:
        self.logins += 1
        async with httpx2.AsyncClient(trust_env=False) as browser:
            response = await browser.get(url)
            where = httpx2.URL(url).join(response.headers["location"])
            if where.path == "/consent":
                self.pages.append((await browser.get(where)).text)
                form = {"request": where.params["request"], "decision": self.decision}
                response = await browser.post(where, data=form)
                where = response.headers["location"]
        self._back = parse_qs(urlsplit(str(where)).query)

    async def returned(self) -> AuthorizationCodeResult:
        if "code" not in self._back:
            raise PermissionError(self._back["error"][0])
        return AuthorizationCodeResult(code=self._back["code"][0], state=self._back["state"][0])


def login(url: str, user: User, storage: Storage) -> OAuthClientProvider:
    about = OAuthClientMetadata(client_name="<b>Tester</b>", redirect_uris=[BACK])  # pyright: ignore[reportArgumentType] (parsed)
    auth = OAuthClientProvider(url, about, storage, user.visit, user.returned)
    storage.context = auth.context
    return auth


async def main() -> None:
    """Make five calls, two of them when the client takes its token for expired, and show each token in the end."""
    storage = Storage()
    try:
        await calls(os.environ["MCP_SIM_URL"], storage)
    finally:  # a client gives up if two faults meet one call
        sys.stderr.write(f"{storage.tokens}\n")
        sys.stdout.write(f"Done with {storage.history}\n")


async def calls(url: str, storage: Storage) -> None:
    async with (
        httpx2.AsyncClient(auth=login(url, User(), storage), trust_env=False, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as opened,
    ):
        for number in range(5):
            if number in {2, 4}:
                storage.context.token_expiry_time = 1
            await opened.call_tool("get_deal", {"deal_id": "deal_0001", "note": f"with {storage.history[-1]}"})


if __name__ == "__main__":
    asyncio.run(main())
