"""Answers that are kept: the same world, seed and calls ask nothing twice, and `replay` asks nothing at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.responses import Response
from support.desk import MADE, Desk, desk_in, measured, ticket
from support.endpoint import Asked, Engine, completion, saying, serving
from support.warm import PYTHON

from mcp_sim.models.language_model.cache import Cache
from mcp_sim.models.language_model.endpoint import EndpointSettings, Request
from mcp_sim.models.language_model.engines import ENGINES
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.world.world import World

Json = Any
CALLS: list[tuple[str, Json]] = [
    ("create_ticket", {"title": "one"}),
    ("forecast", {"city": "Ghent"}),
    ("explain", {"topic": "spokes"}),
]


async def answered(asked: Asked) -> Response:
    """Answer each call as its seed says, and always by the schema."""
    name = json.loads(asked.question.split("```json\n")[1].partition("\n```")[0])["name"]
    random = str(asked.body["seed"])
    texts = {
        "create_ticket": json.dumps(ticket(summary=random)),
        "forecast": json.dumps({"outlook": random, "degrees": 3}),
    }
    return completion(texts.get(name, random))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


async def made(world: World) -> list[Json]:
    for tool, arguments in CALLS:
        await world.call(tool, arguments)
    return world.ledger.steps[1:]


async def recorded(desk: Desk, kept: Path) -> list[Json]:
    async with serving(answered) as engine, desk(engine.url, cache=str(kept)).open() as world:
        return await made(world)


def files(kept: Path) -> Iterator[Path]:
    return kept.glob("*/*.json")


async def test_the_same_world_seed_and_calls_ask_nothing_the_second_time_and_make_the_same_steps(
    desk: Desk, kept: Path
) -> None:
    first = await recorded(desk, kept)
    async with serving() as engine, desk(engine.url, cache=str(kept)).open("another") as world:
        assert await made(world) == first
        assert engine.asked == []
        assert measured(world)["cached"] is True
    assert len([*files(kept)]) == len(CALLS)


async def test_replay_needs_no_endpoint_and_no_client_of_one(desk: Desk, kept: Path) -> None:
    first = await recorded(desk, kept)
    desk("http://127.0.0.1:1/v1", cache={"dir": str(kept), "replay": True})
    script = f"""
import anyio, json, sys
from mcp_sim import Simulator
async def main():
    async with Simulator.load({str(kept.parent / "desk.yaml")!r}, trust=True).open() as world:
        for tool, arguments in {CALLS!r}:
            await world.call(tool, arguments)
        print(json.dumps({{"steps": world.ledger.steps[1:], "openai": "openai" in sys.modules}}))
anyio.run(main)
"""
    done = await anyio.run_process([sys.executable, "-c", script])
    assert json.loads(done.stdout) == {"steps": first, "openai": False}


async def test_a_question_that_is_not_kept_is_a_crash_that_names_what_is_nearest(desk: Desk, kept: Path) -> None:
    await recorded(desk, kept)
    url = "http://127.0.0.1:1/v1"
    async with desk(url, cache={"dir": str(kept), "replay": True}).open() as world:
        with pytest.raises(
            Crash, match=r"differs first in message 2 at character \d+: .*one.* is stored, .*two"
        ) as raised:
            await world.call("create_ticket", {"title": "two"})
        assert "no reply is stored for this request" in str(raised.value)
        assert world.version.index == 0
    async with desk(url, cache={"dir": str(kept), "replay": True}, temperature=0.1).open() as world:
        with pytest.raises(Crash, match=r"has another temperature: 0.7 instead of 0.1"):
            await world.call("create_ticket", {"title": "one"})


async def test_replay_without_a_folder_is_refused_before_anything_runs(desk: Desk, kept: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .* to replay from; record one first"):
        async with desk("http://127.0.0.1:1/v1", cache={"dir": str(kept), "replay": True}).open():
            pass


async def test_a_fork_with_a_stream_of_its_own_is_asked_anew(desk: Desk, kept: Path) -> None:
    async with serving(answered) as engine, desk(engine.url, cache=str(kept)).open() as world:
        same, other = world.fork(), world.fork(stream="other")
        for twin in (world, same, other):
            await twin.call("create_ticket", {"title": "one"})
        assert len(engine.asked) == 2
        assert same.ledger.steps == world.ledger.steps
        assert other.view.get("ticket", "ticket_00003") != world.view.get("ticket", "ticket_00003")


async def test_a_file_that_is_broken_is_asked_for_again_and_mended(desk: Desk, kept: Path) -> None:
    first = await recorded(desk, kept)
    for path, text in zip(sorted(files(kept)), ("", '{"question": {', '{"question": {}, "reply": 1}'), strict=True):
        path.write_text(text, encoding="utf-8")
    assert await recorded(desk, kept) == first
    async with desk("http://127.0.0.1:1/v1", cache={"dir": str(kept), "replay": True}).open() as world:
        assert await made(world) == first


async def test_what_is_rejected_is_kept_too_so_that_a_replay_takes_the_same_way(desk: Desk, kept: Path) -> None:
    answers = saying("nonsense", MADE)
    async with serving(answers) as engine, desk(engine.url, cache=str(kept)).open() as world:
        await world.call("create_ticket", {"title": "one"})
        first = world.ledger.steps
    async with desk("http://127.0.0.1:1/v1", cache={"dir": str(kept), "replay": True}).open() as world:
        await world.call("create_ticket", {"title": "one"})
        assert world.ledger.steps == first
        assert len(measured(world)["rejected"]) == 1


async def test_many_worlds_keep_answers_in_one_folder_at_once(desk: Desk, kept: Path) -> None:
    async with serving(answered) as engine:
        async with desk(engine.url, cache=str(kept)) as simulator, anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(made, simulator.world(f"w{number}"))
        assert _whole(kept, engine)


async def test_two_processes_keep_answers_in_one_folder_at_once(desk: Desk, kept: Path) -> None:
    calls = kept.parent / "calls.jsonl"
    calls.write_text("".join(json.dumps({"tool": tool, "arguments": given}) + "\n" for tool, given in CALLS))
    async with serving(answered) as engine:
        desk(engine.url, cache=str(kept))
        files = [str(kept.parent / "desk.yaml"), str(calls)]
        play = [PYTHON, "-m", "mcp_sim", "play", *files, "--trust", str(kept.parent)]
        printed: list[bytes] = []

        async def played() -> None:
            printed.append((await anyio.run_process(play)).stdout)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(played)
            tasks.start_soon(played)
        assert printed[0] == printed[1] != b""
        assert _whole(kept, engine)


def _whole(kept: Path, engine: Engine) -> bool:
    """Is there a file for each question, nothing half-written, and nothing beside?"""
    questions = {json.dumps(asked.body["messages"]) for asked in engine.asked}
    bodies = [json.loads(path.read_text(encoding="utf-8")) for path in kept.rglob("*.*")]
    return {json.dumps(body["question"]["messages"]) for body in bodies} == questions


async def test_where_the_endpoint_is_and_its_key_decide_nothing(kept: Path) -> None:
    async def agreed(_request: Request) -> Reply:
        return Reply("yes")

    lines = [
        EndpointSettings(url, "tiny", ENGINES["vllm"], key)
        for url, key in (("http://a/v1", "k1"), ("http://b/v1", "k2"))
    ]
    request = Request([{"role": "user", "content": "lone \ud800 surrogate?"}], None, 1)
    first = await Cache.open(kept, lines[0], agreed).complete(request)
    second = await Cache.open(kept, lines[1], None).complete(request)
    assert (first.content, first.cached) == ("yes", False)
    assert (second.content, second.cached) == ("yes", True)
    assert not any(b"k1" in path.read_bytes() or b"http" in path.read_bytes() for path in files(kept))
