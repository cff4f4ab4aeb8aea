"""The viewer of a running server: a page on this machine, and a relay from it to the control plane.

The token of the control plane stays in this process. The page has a key of this run, in the fragment of its URL, which
no browser sends; it goes with each request in a header, which pages of others cannot set.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import quote, urlsplit

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mcp_sim import __version__
from mcp_sim.cli.viewer.page import page
from mcp_sim.server.exchange import Bodies, Refusal
from mcp_sim.server.listening import bind, listen, url
from mcp_sim.types.errors import UsageError

HOST = "127.0.0.1"
KEY_HEADER = "x-mcp-sim-key"
METHODS = ["GET", "POST", "PATCH", "DELETE"]
CONNECT_SECONDS = 10.0  # a host that drops packets is given up by TCP only after minutes
GRACE_SECONDS, UNREAD_SECONDS = 1.0, 60.0  # as for the control plane that it relays

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Relay:
    """The page, and what it asks of a control plane at `url`, which gets its `token`."""

    def __init__(self, url: str, token: str, client: httpx2.AsyncClient, hosts: frozenset[str]) -> None:
        self.key = token_urlsafe(32)
        self._url, self._token, self._client, self._hosts = url.rstrip("/"), token, client, hosts
        self._bodies = Bodies()
        self._page = page({"server": self._url, "version": __version__}, is_live=True)
        routes = [Route("/", self._show), Route("/control/{path:path}", self._pass_on, methods=METHODS)]
        self.app = Starlette(routes=routes)

    async def _show(self, request: Request) -> Response:
        if not self._is_own(request):
            return _refused(403, "this page is for this machine only")
        return HTMLResponse(self._page, headers=HEADERS)

    async def _pass_on(self, request: Request) -> Response:
        """Pass a request of the page on to the control plane, and its answer back as it arrives."""
        if not self._is_own(request) or not self._has_key(request):
            return _refused(
                403, "the request has not the key of this page; open the address that `mcp-sim view` printed"
            )
        try:
            body = await self._bodies.whole(request.receive)
            asked = self._client.build_request(
                request.method,
                f"{self._url}/{quote(request.path_params['path'])}",
                params=request.url.query or None,
                content=body,
                headers={"authorization": f"Bearer {self._token}", **_kept(request.headers, "content-type")},
            )
            answer = await self._client.send(asked, stream=True)
        except Refusal as refusal:
            return _refused(refusal.status, str(refusal))
        except httpx2.RequestError as error:
            return _refused(502, f"{self._url} cannot be reached: {error}")
        headers = {**HEADERS, **_kept(answer.headers, "content-type")}
        return StreamingResponse(_pieces(answer), answer.status_code, headers)

    def _is_own(self, request: Request) -> bool:
        """Whether a request is for this server, and not from a page of another one."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        return host in self._hosts and origin in (None, f"http://{host}")

    def _has_key(self, request: Request) -> bool:
        return compare_digest(request.headers.get(KEY_HEADER, "").encode(), self.key.encode())


async def _pieces(answer: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the body of an answer; one that is cut off ends."""
    try:
        async for piece in answer.aiter_bytes():
            yield piece
    except httpx2.RequestError:
        return
    finally:
        await answer.aclose()


def _kept(headers: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message, "problems": []}}, status, headers=HEADERS)


def show_live(control: str, token: str, port: int, *, opens: bool) -> int:
    """Serve the viewer of a control plane until a signal arrives. Return the exit code."""
    parts = urlsplit(control)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError(f"--live takes the URL of a control plane, as in http://127.0.0.1:8001, not {control!r}")
    return anyio.run(partial(_serve, control, token, port, opens=opens))


async def _serve(control: str, token: str, port: int, *, opens: bool) -> int:
    with bind(HOST, port) as listener:
        where = url(HOST, listener)
        names = {urlsplit(where).netloc, f"localhost:{listener.getsockname()[1]}"}
        async with _client() as client:
            relay = Relay(control, token, client, frozenset(names))
            try:
                answer = await client.get(
                    f"{control.rstrip('/')}/scenario", headers={"authorization": f"Bearer {token}"}
                )
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                raise UsageError(f"--live {control}: cannot be reached: {error}") from None
            if answer.status_code != 200:
                raise UsageError(f"--live {control}: it answers with status {answer.status_code}: {answer.text[:200]}")
            begun = partial(_announce, f"{where}/#key={relay.key}", opens=opens)
            return await listen(relay.app, listener, begun, lambda: None, GRACE_SECONDS, UNREAD_SECONDS)


@asynccontextmanager
async def _client() -> AsyncGenerator[httpx2.AsyncClient]:
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as client:
        yield client


def _announce(address: str, *, opens: bool) -> None:
    import webbrowser  # noqa: PLC0415 (rarely needed)

    print(address, flush=True)
    if opens:
        webbrowser.open(address)
