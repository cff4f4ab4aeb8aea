"""`auth: oauth` for a client that is a web page: it registers, a person consents, and it calls with its token."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support.chromium import open_browser
from support.over_http import listening

pytestmark = pytest.mark.time_limit(180)

REQUEST = """
async ([url, back]) => {
  const asked = {jsonrpc: "2.0", id: 1, method: "tools/list", params: {}};
  const headers = {"content-type": "application/json", accept: "application/json, text/event-stream"};
  const refused = await fetch(url, {method: "POST", headers, body: JSON.stringify(asked)});
  const metadata = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate"))[1];
  const {authorization_servers: [issuer]} = await (await fetch(metadata)).json();
  const server = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
  const about = {client_name: "A page", redirect_uris: [back], token_endpoint_auth_method: "none"};
  const registration = await fetch(server.registration_endpoint,
    {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(about)});
  const {client_id} = await registration.json();
  const verifier = "v".repeat(64);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const code_challenge = btoa(String.fromCharCode(...new Uint8Array(digest)))
    .replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=/g, "");
  const query = new URLSearchParams({response_type: "code", client_id, redirect_uri: back, state: "s", code_challenge,
    code_challenge_method: "S256", resource: url});
  return {status: refused.status, client_id, verifier, token: server.token_endpoint,
    revocation: server.revocation_endpoint, link: `${server.authorization_endpoint}?${query}`};
}
"""
"""Asks without a token, follows the metadata, and registers."""

CALLS = """
async ([url, back, login, code]) => {
  const post = (where, fields) => fetch(where, {method: "POST", body: new URLSearchParams(fields)});
  const answer = await post(login.token, {grant_type: "authorization_code", code, redirect_uri: back,
    client_id: login.client_id, code_verifier: login.verifier, resource: url});
  const {access_token} = await answer.json();
  const meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {name: "page", version: "1"},
    "io.modelcontextprotocol/clientCapabilities": {}};
  const list = () => fetch(url, {method: "POST", headers: {"content-type": "application/json",
    accept: "application/json, text/event-stream", authorization: `Bearer ${access_token}`,
    "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"},
    body: JSON.stringify({jsonrpc: "2.0", id: 2, method: "tools/list", params: {_meta: meta}})});
  const listed = await (await list()).json();
  const revoked = await post(login.revocation, {token: access_token, client_id: login.client_id});
  return {tools: listed.result.tools.map((tool) => tool.name), revoked: revoked.status, after: (await list()).status};
}
"""
"""Exchanges the code, lists the tools, and revokes the token."""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>client</title>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as it is called)
        """Print nothing."""


@contextmanager
def page_of_a_client() -> Generator[str]:
    """Serve a page of another origin on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("decision", ["Grant", "Deny"])
def test_a_web_page_logs_in_with_the_consent_of_a_person(tmp_path: Path, decision: str) -> None:
    path = tmp_path / "locked.json"
    path.write_text(
        json.dumps({"mcp_sim": 1, "tools": "crm", "auth": {"oauth": {"consent": "page"}}}), encoding="utf-8"
    )
    with listening(str(path)) as served, page_of_a_client() as back, open_browser() as browser:
        url, page = f"{served.url}/w/a/mcp", browser.new_page()
        page.goto(back)
        login = page.evaluate(REQUEST, [url, back])
        assert login["status"] == 401
        page.goto(login["link"])
        assert "A page asks for access" in page.inner_text("body")
        page.get_by_role("button", name=decision).click()
        page.wait_for_url(f"{back}?*")
        code = page.evaluate("new URLSearchParams(location.search).get('code')")
        if decision == "Deny":
            assert code is None
            assert page.evaluate("new URLSearchParams(location.search).get('error')") == "access_denied"
            return
        done = page.evaluate(CALLS, [url, back, login, code])
    assert "create_deal" in done["tools"]
    assert (done["revoked"], done["after"]) == (200, 401)
