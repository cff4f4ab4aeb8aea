"""Endpoints that fail, that differ, and how they are reached."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from support.desk import MADE, Desk, desk_in, value
from support.endpoint import closed_port, completion, giving, saying, serving

from mcp_sim.types.errors import Crash, DocumentError, UsageError
from mcp_sim.world.sinks.jsonl import Jsonl


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


async def test_an_endpoint_that_is_not_there_is_reported_before_anything_runs(desk: Desk) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    with pytest.raises(UsageError, match="cannot be reached; start the server, or correct `base_url`") as raised:
        async with desk(url, retries=0).open():
            pass
    assert url in str(raised.value)


@pytest.mark.parametrize("models", [None, JSONResponse({"data": [{"id": "tiny"}]}), Response(status_code=501)])
async def test_a_url_without_v1_is_reported_before_anything_runs(models: Response | None, desk: Desk) -> None:
    async with serving(models=models) as engine:
        url = engine.url.removesuffix("/v1")
        with pytest.raises(UsageError) as raised:
            async with desk(url, retries=0).open():
                pass
    assert f"{url}: HTTP 404 for /models" in str(raised.value)
    assert "/v1 at its end" in str(raised.value)
    assert ("/v1/models exists" in str(raised.value)) == (models is not None and models.status_code == 200)


async def test_an_endpoint_that_goes_away_is_a_crash_that_says_where_and_what_to_do(desk: Desk) -> None:
    async with AsyncExitStack() as opened:
        async with serving() as engine:
            world = await opened.enter_async_context(desk(engine.url, retries=0).open())
        before = world.version.state
        with pytest.raises(Crash, match="cannot be reached; start the server, or correct `base_url`") as raised:
            await world.call("create_ticket", {"title": "one"})
        assert engine.url in str(raised.value)
        assert "\n" not in str(raised.value)
        assert world.version.state is before
        assert world.ledger.crashes[0]["tool"] == "create_ticket"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_endpoint_that_is_busy_is_asked_again_soon_and_then_it_is_a_crash(status: int, desk: Desk) -> None:
    busy = JSONResponse({"error": {"message": "busy"}}, status, headers={"retry-after-ms": "1"})
    async with serving(giving(busy, busy, completion(MADE))) as engine:
        async with desk(engine.url, retries=2).open() as world:
            assert value(await world.call("create_ticket", {"title": "one"}))["effort"] == 3
        assert len(engine.asked) == 3
        engine.respond = giving(busy)
        async with desk(engine.url, retries=1).open() as world:
            with pytest.raises(Crash, match=f"HTTP {status}: .*busy"):
                await world.call("create_ticket", {"title": "one"})
            assert world.view.count("ticket") == 2
        # some engines answer 500 to a form that they do not know, or to what they happened to sample
        assert len(engine.asked) == (9 if status == 500 else 5)
        assert len({asked.body["seed"] for asked in engine.asked[3:]}) == (2 if status == 500 else 1)


async def test_a_request_that_the_endpoint_refuses_is_not_repeated(desk: Desk) -> None:
    refusal = JSONResponse({"error": {"message": "The model `tiny`\ndoes not exist."}}, 404)
    async with serving(giving(refusal)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match=r"HTTP 404: .*The model `tiny` does not exist.*; check `base_url` and `model`"):
            await world.call("create_ticket", {"title": "one"})
        assert len(engine.asked) == 1


@pytest.mark.parametrize(
    "response", [HTMLResponse("<h1>It works</h1>"), JSONResponse({}), JSONResponse({"choices": []}), JSONResponse([1])]
)
async def test_what_is_no_chat_completion_is_a_crash_with_a_hint(response: Response, desk: Desk) -> None:
    async with serving(giving(response)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match="not a chat completion; does `base_url` end in /v1"):
            await world.call("create_ticket", {"title": "one"})


async def test_a_body_that_is_no_json_is_a_crash_with_a_hint(desk: Desk) -> None:
    broken = Response('{"choices": [', media_type="application/json")
    async with serving(giving(broken)) as engine, desk(engine.url).open() as world:
        with pytest.raises(Crash, match="cannot be read"):
            await world.call("create_ticket", {"title": "one"})


async def test_an_endpoint_that_hangs_is_a_crash_after_the_timeout(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url, timeout="50ms").open() as world:
        engine.respond = engine.hang
        with pytest.raises(Crash, match="no answer within 50ms; raise `timeout`"):
            await world.call("create_ticket", {"title": "one"})
        if engine.asked:  # on a busy machine the time is over before the request has arrived
            await engine.disconnected.wait()
        assert len(engine.asked) <= 1


async def test_a_cancelled_call_cancels_its_request_and_leaves_nothing_behind(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        before = world.version.state
        engine.respond = engine.hang
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.call, "create_ticket", {"title": "one"})
            await engine.arrived.wait()
            tasks.cancel_scope.cancel()
        await engine.disconnected.wait()
        assert world.version.state is before
        assert len(world.ledger) == 1
        engine.respond = saying(MADE)
        assert value(await world.call("create_ticket", {"title": "one"}))["id"] == "ticket_00003"


async def test_not_more_requests_are_under_way_than_allowed(desk: Desk) -> None:
    async with serving(saying(MADE)) as engine, desk(engine.url, max_concurrency=2) as simulator:
        worlds = [simulator.world(f"w{n}") for n in range(6)]
        async with anyio.create_task_group() as tasks:
            for world in worlds:
                tasks.start_soon(world.call, "create_ticket", {"title": "one"})
        assert len(engine.asked) == 6
        assert 1 <= engine.most_under_way <= 2
        assert all(world.ledger.steps[1:] == worlds[0].ledger.steps[1:] for world in worlds)


# keys and options ----------------------------------------------------------------------------------------------------


async def test_the_key_comes_from_the_environment_and_appears_nowhere_else(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-very-secret")
    caplog.set_level("DEBUG")
    trace = Jsonl(tmp_path / "trace.jsonl", b"{}")
    async with serving(saying(MADE)) as engine, desk(engine.url, (trace,), api_key_env="DESK_KEY").open() as world:
        await world.call("create_ticket", {"title": "one"})
        engine.respond = giving(JSONResponse({"error": {"message": "Bad key sk-very-secret"}}, 401))
        with pytest.raises(Crash, match=r"HTTP 401: .*Bad key \*\*\*.*; check the key") as raised:
            await world.call("create_ticket", {"title": "two"})
    trace.close()
    written = (tmp_path / "trace.jsonl").read_text()
    assert [asked.headers["authorization"] for asked in engine.asked] == ["Bearer sk-very-secret"] * 2
    seen = (written, str(raised.value), caplog.text, repr(world.scenario))
    assert all("sk-very-secret" not in text for text in seen)


async def test_a_key_that_the_environment_lacks_is_said_before_anything_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DESK_KEY", raising=False)
    with pytest.raises(UsageError, match="the environment variable DESK_KEY is not set"):
        async with desk("http://127.0.0.1:1/v1", api_key_env="DESK_KEY"):
            pass


async def test_a_key_that_no_header_can_hold_is_refused_and_blanks_around_it_are_not_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_KEY", "sk-cl\u00e9")
    with pytest.raises(UsageError, match="DESK_KEY has characters") as raised:
        async with desk("http://127.0.0.1:1/v1", api_key_env="DESK_KEY"):
            pass
    assert "sk-" not in str(raised.value)
    monkeypatch.setenv("DESK_KEY", " sk-key\n")
    async with serving() as engine, desk(engine.url, api_key_env="DESK_KEY").open() as world:
        await world.call("explain", {"topic": "a"})
        assert engine.asked[0].headers["authorization"] == "Bearer sk-key"


async def test_without_a_key_a_placeholder_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with serving() as engine, desk(engine.url).open() as world:
        await world.call("explain", {"topic": "a"})
        assert engine.asked[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("127.0.0.1:8000", "is not a URL"),
        ("http://h:99999/v1", "Port out of range"),
        ("http://me:secret@h/v1", "api_key_env"),
    ],
)
def test_a_base_url_that_cannot_be_one_is_an_error_of_the_document(url: str, message: str, desk: Desk) -> None:
    with pytest.raises(DocumentError, match=message) as raised:
        desk(url)
    assert "secret" not in str(raised.value)
