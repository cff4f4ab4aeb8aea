"""`auth: oauth`: clients of the official SDK log in, and meet faults of tokens."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AuthorizationParams, RegistrationError
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from support.oauth_client import BACK, Storage, User, login
from support.over_http import Served, listening
from support.places import ROOT, SUPPORT
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.server.exchange import Refusal
from mcp_sim.server.oauth.grants import MOST_TOKENS, Grant, Grants, Shares
from mcp_sim.server.oauth.provider import MOST_CLIENTS, Provider
from mcp_sim.server.oauth.service import Authorization, resource_of
from mcp_sim.types.oauth import OAuth

PUNYCODE = "Multipart/form-data; boundary=b; charset=punycode"
GRANTS = ["authorization_code", "refresh_token"]
TOKEN = re.compile(rb"(?:access|refresh)-[0-9a-f]{40}|Bearer [A-Za-z]*-[0-9a-f]{20}")


@asynccontextmanager
async def client(served: Served, user: User, storage: Storage, world: str = "a") -> AsyncGenerator[Client]:
    url = f"{served.url}/w/{world}/mcp"
    auth = login(url, user, storage)
    async with (
        httpx2.AsyncClient(auth=auth, trust_env=False, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as opened,
    ):
        yield opened


def document(folder: Path, options: Any) -> str:
    path = folder / "locked.json"
    auth = {"oauth": options} if options else "oauth"
    body: dict[str, Any] = {"mcp_sim": 1, "tools": "crm", "auth": auth, "expect": [{"reauthenticated": {}}]}
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


async def call(opened: Client, **arguments: Any) -> Any:
    return await opened.call_tool("get_deal", {"deal_id": "deal_0001", **arguments})


FAULTS: dict[str, tuple[Any, bool, int, str]] = {
    "nothing": ({}, False, 1, "vacuous"),
    "a lifetime in calls": ({"access": "2 calls"}, False, 3, "passed"),
    "a lifetime in time": ({"access": "2s"}, False, 3, "passed"),
    "a token that is renewed before it is refused": ({"access": "2s"}, True, 1, "vacuous"),
    "an expired refresh token": ({"access": "2s", "refresh": "1s"}, True, 3, "passed"),
    "a rotated refresh token": ({"access": "2s", "refresh_fails": "always"}, True, 3, "passed"),
    "no refresh tokens": ({"access": "2s", "refresh": None}, True, 3, "vacuous"),
    "a token for another server": ({"wrong_audience": 1}, False, 2, "passed"),
    "clocks that differ": ({"access": "1h", "skew": "3598s"}, False, 3, "passed"),
    "a 401 in the middle": ({"revoked_at": 3}, False, 2, "passed"),
    "a 401 that ends all tokens": ({"revoked_at": 3, "revokes": "all"}, False, 2, "passed"),
}
"""Fault -> options, whether the client notices the time, how often its user logs in, and the verdict.

The SDK's client renews tokens only by its own clock. After a 401 it logs in again.
"""


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_official_client_meets_each_fault(
    tmp_path: Path, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, notices_time, logins, verdict = FAULTS[fault]
    trace, user, storage = tmp_path / "trace.jsonl", User(), Storage()
    path = document(tmp_path, options)
    with listening(path, "--trace", str(trace), "--clock", "virtual") as served:
        if "wrong_audience" in options:  # after a new token was refused, it gives up
            with pytest.raises(BaseExceptionGroup, match="unhandled"):
                async with client(served, user, storage):
                    pass
        async with client(served, user, storage) as opened:
            for number in range(5):
                if notices_time and number in {2, 4}:
                    storage.context.token_expiry_time = 1
                assert not (await call(opened)).is_error
        served.end()
        heard = "\n".join(served.log).encode()
    main(["show", str(trace)])
    main(["grade", str(trace), "--scenario", path])
    main(["view", str(trace), "--scenario", path, "-o", str(tmp_path / "page.html")])
    shown = capsys.readouterr().out
    assert user.logins == logins
    assert f"{verdict:8} reauthenticated" in shown, shown
    for data in (trace.read_bytes(), heard, shown.encode(), (tmp_path / "page.html").read_bytes()):
        assert not TOKEN.search(data)
        assert not any(token.encode() in data for token in storage.history)


def test_no_file_of_a_run_has_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The agent shows its tokens in arguments, in its final answer, and on stderr."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'tests'}")
    path = document(tmp_path, {"access": "2s", "refresh": "1s", "refresh_fails": 1, "revoked_at": 2})
    out = tmp_path / "out"
    out.mkdir()
    kinds = ("json", "junit", "markdown", "html")
    reports = [word for kind in kinds for word in (f"--{kind}", str(out / f"report.{kind}"))]
    agent = [PYTHON, str(SUPPORT / "oauth_client.py")]
    assert main(["run", path, "--clock", "virtual", *reports, "--traces", str(out), "--", *agent]) == 1
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    assert set(files) == {f"report.{kind}" for kind in kinds} | {"clean-seed0.jsonl", "clean-seed0.stderr.txt"}
    assert b"[token]" in files["clean-seed0.jsonl"]
    assert b"[token]" in files["clean-seed0.stderr.txt"]
    assert b"Done with ['[token]'" in files["report.json"]
    main(["view", str(out / "clean-seed0.jsonl"), "--scenario", path, "-o", str(out / "page.html")])
    files["page"] = (out / "page.html").read_bytes()
    shown = capfdbinary.readouterr()
    assert [name for name, data in {**files, "out": shown.out, "err": shown.err}.items() if TOKEN.search(data)] == []


def registered(number: int, **more: Any) -> OAuthClientInformationFull:
    return OAuthClientInformationFull.model_validate({"client_id": f"c{number}", "redirect_uris": [BACK], **more})


PARAMS = AuthorizationParams.model_validate(
    {
        "state": None,
        "scopes": [],
        "code_challenge": "x",
        "redirect_uri": BACK,
        "redirect_uri_provided_explicitly": True,
    }
)


async def test_a_flood_of_registrations_and_requests_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    auth = Authorization(OAuth(consent="page"), lambda _: datetime(2026, 1, 1, tzinfo=UTC))
    provider = Provider(auth.grants, resource_of, "/consent")
    for number in range(MOST_CLIENTS + 50):
        await provider.register_client(registered(number))
    assert await provider.get_client("c49") is None
    assert await provider.get_client("c50") is not None
    with pytest.raises(RegistrationError):
        await provider.register_client(registered(9_999, client_name="x" * 4_000))
    first, *_, last = [await provider.authorize(registered(1), PARAMS) for _ in range(MOST_CLIENTS + 1)]
    assert provider.waiting(first.partition("=")[2]) is None
    assert provider.waiting(last.partition("=")[2]) is not None
    now = time.time()
    monkeypatch.setattr("mcp_sim.server.oauth.provider.time.time", lambda: now + 601)
    assert provider.waiting(last.partition("=")[2]) is None
    assert provider.decide(last.partition("=")[2], is_granted=True) is None


async def test_a_flood_of_others_leaves_a_client_logged_in() -> None:
    grants = Grants(OAuth(rotates=False), lambda _: datetime(2026, 1, 1, tzinfo=UTC))
    provider = Provider(grants, resource_of, "/consent")
    await provider.register_client(registered(0))
    access, refresh = grants.issue(Grant("c0", [], None, "a"), "authorized")
    code = (await provider.authorize(registered(0), PARAMS)).partition("code=")[2]
    flooding = Grant("c1", [], None, "b")
    for number in range(1, MOST_CLIENTS + 50):
        await provider.register_client(registered(number))
        await provider.authorize(registered(1), PARAMS)
    for _ in range(MOST_TOKENS + 1):
        grants.issue(flooding, "refreshed")
    assert await provider.get_client("c0") is not None
    assert await provider.get_client("c2") is None
    assert grants.access_token(access) is not None
    assert grants.refresh_token(refresh or "", "c0") is not None
    assert await provider.load_authorization_code(registered(0), code) is not None


def test_a_flood_of_clients_takes_what_is_not_in_use() -> None:
    held = Shares[int](4)
    for number, client in enumerate("abcd"):
        held.add(client, client, number)
    assert held.get("a") == 0
    for client in "efg":
        held.add(client, client, 9)
    assert [key for key in "abcdefg" if held.get(key) is not None] == ["a", "e", "f", "g"]


async def test_a_client_of_http_with_sse_logs_in(tmp_path: Path) -> None:
    with listening(document(tmp_path, {}), "--sse") as served:
        url, storage = f"{served.url}/w/a/sse", Storage()
        async with Client(sse_client(url, auth=login(url, User(), storage)), mode="legacy") as opened:
            assert not (await call(opened)).is_error


async def test_consent_can_be_denied_and_then_granted(tmp_path: Path) -> None:
    with listening(document(tmp_path, {"consent": "denied", "denials": 1})) as served:
        with pytest.raises(BaseExceptionGroup) as denied:
            async with client(served, User(), Storage()) as opened:
                await call(opened)
        assert "access_denied" in repr(denied.value)
        async with client(served, User(), Storage()) as opened:
            assert not (await call(opened)).is_error


async def test_a_person_decides_on_a_page(tmp_path: Path) -> None:
    with listening(document(tmp_path, {"consent": "page"})) as served:
        user = User()
        async with client(served, user, Storage()) as opened:
            assert not (await call(opened)).is_error
        assert "&lt;b&gt;Tester&lt;/b&gt;" in user.pages[0]
        with pytest.raises(BaseExceptionGroup):
            async with client(served, User("deny"), Storage(), "b") as opened:
                await call(opened)


async def test_a_token_in_arguments_is_withheld_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, storage, path = tmp_path / "trace.jsonl", Storage(), document(tmp_path, {})
    with listening(path, "--trace", str(trace)) as served:
        async with client(served, User(), storage) as opened:
            await call(opened)
            await call(opened, note=f"my token is {storage.history[0]}!")
    assert b"my token is [token]!" in trace.read_bytes()
    assert storage.history[0].encode() not in trace.read_bytes()
    main(["grade", str(trace), "--scenario", path])
    assert "a token was in the arguments of a call" in capsys.readouterr().out


def test_neither_escapes_nor_batches_nor_answers_of_the_user_hide_tokens() -> None:
    auth = Authorization(OAuth(revoked_at=5), lambda _: datetime(2026, 1, 1, tzinfo=UTC))
    access, _ = auth.grants.issue(Grant("client", [], "/w/a", "a"), "authorized")
    token = auth.grants.access_token(access)
    scope: Any = {"headers": [], "path": "/w/a/mcp"}
    assert token is not None
    note = access.replace("-", "\\u002d")
    call = f'{{"method": "tools\\/call", "params": {{"note": "{note}"}}}}'
    answer = f'{{"id": 1, "result": {{"action": "accept", "content": {{"key": "{note}"}}}}}}'
    arguments, answered = {"event": "token_in_arguments"}, {"event": "token_in_answer"}
    again = f'{{"method": "tools/call", "params": {{"inputResponses": {{"1": {{"content": {{"key": "{note}"}}}}}}}}}}'
    bodies = {
        call: [arguments],
        f"[{call}, {answer}]": [arguments, answered],
        answer: [answered],
        answer.replace("\\u002d", "-"): [answered],
        again: [answered],
        again.replace('{"inputResponses"', f'{{"note": "access-{"0" * 40}", "inputResponses"'): [answered],  # of nobody
    }
    auth.grants.take_events("a")
    for body, events in bodies.items():
        kept = auth.take_call(token, scope, body.encode())
        assert b"[token]" in kept
        assert access.encode() not in kept
        assert access not in str(json.loads(kept))
        assert auth.grants.take_events("a") == events
    assert auth.take_call(token, scope, b'{"method": "ping", "params": "tools/call"}')
    with pytest.raises(Refusal):
        auth.take_call(token, scope, f"[{call}, {call}]".encode())


async def test_the_page_of_consent_shows_hostile_names_inertly_and_long_requests_are_refused(tmp_path: Path) -> None:
    with listening(document(tmp_path, {"consent": "page"})) as served:
        async with httpx2.AsyncClient(trust_env=False, timeout=30, base_url=served.url) as raw:
            about = {"redirect_uris": [BACK], "client_name": "Bank\u202eeliforp\u2066<b>", "grant_types": GRANTS}
            known = (await raw.post("/register", json=about)).json()
            asked = {
                "client_id": known["client_id"],
                "redirect_uri": BACK,
                "response_type": "code",
                "code_challenge": "x" * 43,
                "code_challenge_method": "S256",
            }
            page = await raw.get((await raw.get("/authorize", params=asked)).headers["location"])
            assert "Bank\\u202eeliforp\\u2066&lt;b&gt;" in page.text
            for name in ("state", "code_challenge", "resource"):
                long = await raw.post("/authorize", data={**asked, name: f"{served.url}/w/a/{'x' * 60_000}"})
                assert "error=invalid_request" in long.headers["location"]


async def test_what_is_no_valid_token_is_challenged(tmp_path: Path) -> None:
    with listening(document(tmp_path, {})) as served:
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as raw:
            url = f"{served.url}/w/a/mcp"
            about = f"{served.url}/.well-known/oauth-protected-resource/w/a/mcp"
            none = await raw.post(url, json={})
            odd = await raw.post(url, json={}, headers={"authorization": "Bearer nonsense"})
            assert (none.status_code, odd.status_code) == (401, 401)
            assert none.headers["www-authenticate"] == f'Bearer resource_metadata="{about}"'
            assert 'error="invalid_token"' in odd.headers["www-authenticate"]
            assert (await raw.get(about)).json()["resource"] == url
            server = (await raw.get(f"{served.url}/.well-known/oauth-authorization-server")).json()
            assert server["issuer"] == served.url
            for redirect in ("javascript:alert(1)", f"{BACK}#fragment"):
                bad = {"redirect_uris": [redirect], "client_name": "x"}
                assert (await raw.post(server["registration_endpoint"], json=bad)).status_code == 400
            assert (await raw.get(server["token_endpoint"])).status_code == 405
            for name, status in (("x" * 5_000, 400), ("x" * 70_000, 413)):
                long = {"redirect_uris": [BACK], "client_name": name}
                assert (await raw.post(server["registration_endpoint"], json=long)).status_code == status
            for path in ("/token", "/consent", "/revoke"):
                for kind in ("multipart/form-data", "multipart/form-data; boundary=b", PUNYCODE):
                    body = b'--b\r\ncontent-disposition: form-data; name="client_id"\r\n\r\na-9\r\n--b--\r\n'
                    form = await raw.post(served.url + path, content=body, headers={"content-type": kind})
                    assert form.status_code == 400


@pytest.mark.parametrize(
    ("options", "reason"), [(["--workers", "2"], "one worker"), (["--token-file", "t"], "--token")]
)
def test_options_that_exclude_a_login_are_refused(
    tmp_path: Path, options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", document(tmp_path, {}), "--http", "0", *options]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("again", ["code", "refresh token"])
async def test_what_is_used_twice_revokes_the_tokens_of_its_login_alone(again: str) -> None:
    grants = Grants(OAuth(), lambda _: datetime(2026, 1, 1, tzinfo=UTC))
    provider, known = Provider(grants, resource_of, "/consent"), registered(0)

    async def code() -> str:
        return (await provider.authorize(known, PARAMS)).partition("code=")[2]

    async def exchange(text: str) -> OAuthToken:
        loaded = await provider.load_authorization_code(known, text)
        assert loaded is not None
        return await provider.exchange_authorization_code(known, loaded)

    used, other = await code(), await exchange(await code())
    first = await exchange(used)
    refresh = await provider.load_refresh_token(known, first.refresh_token or "")
    assert refresh is not None
    issued = [first, await provider.exchange_refresh_token(known, refresh, [])]

    def refused() -> list[str | None]:
        tokens = [grants.access_token(token.access_token) for token in (other, *issued)]
        return [grants.why_refused(token, "/mcp") for token in tokens]

    assert await provider.load_authorization_code(registered(1), used) is None
    assert refused() == [None, None, None]
    grants.take_events("client")
    for _ in range(2):
        if again == "code":
            assert await provider.load_authorization_code(known, used) is None
        else:
            assert await provider.load_refresh_token(known, first.refresh_token or "") is None
    assert refused() == [None, "revoked", "revoked"]
    assert await provider.load_refresh_token(known, issued[1].refresh_token or "") is None
    noted = [event for event in grants.take_events("client") if event["event"] == "revoked"]
    assert noted == [{"event": "revoked", "reason": f"{again} used twice"}]


async def test_a_revoked_token_is_refused(tmp_path: Path) -> None:
    with listening(document(tmp_path, {})) as served:
        storage = Storage()
        async with client(served, User(), storage) as opened:
            await call(opened)
        assert storage.client is not None
        bearer = {"authorization": f"Bearer {storage.history[0]}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as raw:
            assert (await raw.post(f"{served.url}/w/a/mcp", json=body, headers=bearer)).status_code != 401
            assert (await raw.post(f"{served.url}/w/b/mcp", json=body, headers=bearer)).status_code == 401
            form = {
                "token": storage.history[0],
                "client_id": storage.client.client_id,
                "client_secret": storage.client.client_secret or "",
            }
            assert (await raw.post(f"{served.url}/revoke", data=form)).status_code == 200
            assert (await raw.post(f"{served.url}/w/a/mcp", json=body, headers=bearer)).status_code == 401


def test_a_token_is_for_its_resource_and_what_is_below_it() -> None:
    grants = Grants(OAuth(), lambda _: datetime(2026, 1, 1, tzinfo=UTC))
    access, _ = grants.issue(Grant("client", [], "/w/a", "a"), "authorized")
    token = grants.access_token(access)
    reasons = [grants.why_refused(token, path) for path in ("/w/a", "/w/a/mcp", "/w/ab/mcp")]
    assert reasons == [None, None, "audience"]
