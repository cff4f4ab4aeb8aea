"""What `show` and `play` say of a language model: how often it was asked, and how often it was corrected."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from support.desk import MADE, Desk, agreeing, desk_in, said, ticket
from support.endpoint import saying, serving
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.world.sinks.jsonl import Jsonl


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


async def traced(desk: Desk, trace: Path) -> None:
    header = b'{"format": 2, "scenario": "desk", "sha256": "0", "version": "0"}'
    sink = Jsonl(trace, header)
    async with serving(saying("nonsense", MADE)) as engine, desk(engine.url, (sink,)).open() as world:
        await world.call("create_ticket", {"title": "one"})
        for effort in (5, 3):
            await said(engine, world, ticket(effort=effort), "get_ticket", {"ticket_id": "ticket_00003"})
    sink.close()


async def test_show_ends_with_what_the_model_was_asked_for_and_where_it_differed(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await traced(desk, tmp_path / "trace.jsonl")
    assert main(["show", str(tmp_path / "trace.jsonl")]) == 0
    captured = capsys.readouterr().out.splitlines()[-2:]
    assert captured == [
        "language model: asked at 3 of 3 calls (0 answers from the cache), 360 + 90 tokens",
        "  1 answers were corrected by the world, 2 requested again, 0 given by the fallback; "
        "8 of 8 values that were shown again were fixed",
    ]


async def test_play_says_it_too_and_says_nothing_where_no_model_answers(desk: Desk, tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text('{"tool": "get_ticket", "arguments": {"ticket_id": "ticket_00001"}}\n', encoding="utf-8")
    async with serving(agreeing) as engine:
        desk(engine.url)
        play = [PYTHON, "-m", "mcp_sim", "play", str(tmp_path / "desk.yaml"), str(calls)]
        asked = await anyio.run_process(play)
        silent = await anyio.run_process([*play, "--world-model", "builtin"])
    assert b"language model: asked at 1 of 1 calls" in asked.stderr
    assert b"language model" not in silent.stderr
