"""Text that is not valid Unicode, and values that no trace can hold: what enters a world can always be read again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.cli.traces import read_worlds
from mcp_sim.simulator.compile import load
from mcp_sim.types import Change, RpcError
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.errors import Crash
from mcp_sim.types.json_values import decode, encode
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import header_line

PROGRAM = """
from mcp_sim.programs import Result, tool
tables = {"note": {"key": "id", "ids": "N-1", "fields": {"text": ""}}}
def deep(levels):
    value = "\\N{GRINNING FACE}"
    for _ in range(levels):
        value = [value]
    return value
ODD = {"deep": deep(150), "deeper": deep(400), "huge": 10**5000, "infinite": float("inf"), "none": None}
@tool
def keep(world, text="", cut=False, odd=None):
    row = world.note.add(text=text[0:1] + "\\ud83d" if cut else text)
    return {"note": row, "\\udc00": ODD[odd]} if odd else Result(text=row["text"], blocks=None)
@tool
def keep_deep(world, levels):
    world.note.add(text=deep(levels))
    return "kept"
"""
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("keep", "keep_deep")]
HALVES = ["\ud83d", "a\ude00", "\ude00\ud83d", "\ud83d\ud83d", "\\\ud83d"]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes.py").write_text(PROGRAM)
    body = {"mcp_sim": 1, "name": "notes", "tools": TOOLS, "program": "notes.py"}
    (tmp_path / "notes.json").write_text(json.dumps(body))
    return tmp_path / "notes.json"


@pytest.mark.parametrize("odd", ["deep", "deeper", "huge", "infinite", "none"])
async def test_what_could_not_be_read_again_is_a_crash_of_that_call_alone(notes: Path, odd: str) -> None:
    trace = notes.with_suffix(".jsonl")
    sink = Jsonl(trace, header_line("notes", "", "0", str(notes)))
    async with Simulator(load(notes, trust=True), sinks=[sink]).open() as world:
        for half in HALVES:
            assert (await world.call("keep", {"text": half, "\ud800": {half: [half]}})).ok
        assert (await world.call("keep", {"text": "abc", "cut": True})).ok
        with suppress(Crash):
            await world.call("keep", {"odd": odd})
        for levels in (150, 194, 197, 240):
            with suppress(Crash):
                await world.call("keep_deep", {"levels": levels})
        await world.change([Change("put", "note", "X", {"id": "X", "text": "\ud800"})], "someone")
        world.submit("\udfff")
        assert (await world.call("keep", {"text": "last"})).ok
        live = {key: row["text"] for key, row in world.view.rows("note")}
    sink.close()
    (again,) = read_worlds(trace).values()
    rows = [change["record"] for step in again.steps for change in step.get("committed", ())]
    assert {row["id"]: row["text"] for row in rows} == live
    assert all("\N{REPLACEMENT CHARACTER}" in str(row["text"]) for row in rows[:6])


@pytest.mark.parametrize("half", HALVES)
def test_every_json_text_is_read_with_halves_of_characters_replaced(half: str) -> None:
    for text in (json.dumps({half: [half, "\N{GRINNING FACE}"]}), json.dumps({half: [half]}, ensure_ascii=False)):
        value: Any = decode(text)
        encode(value)[:].decode()
        assert [*value] == [half.replace("\ud83d", "\ufffd").replace("\ude00", "\ufffd")]
    assert decode(rb'"\\ud83d and \ud83d\ude00"') == "\\ud83d and \N{GRINNING FACE}"


@pytest.mark.parametrize(
    "body",
    [
        "raise Rpc(-32019, 'The tool call could not be completed', {'mcp_sim': 'crash'})",
        "raise Rpc('x', 'y')",
        "return Result(blocks=[{'type': 'text'}])",
        "return Result(blocks=[{'type': 'movie', 'data': ''}])",
        "return Result(blocks=['text'])",
        "return Result(structured={}, blocks=[{'type': 'resource_link', 'uri': 1, 'name': 'x'}])",
    ],
)
async def test_a_program_forges_no_crash_and_no_odd_block(tmp_path: Path, body: str) -> None:
    (tmp_path / "p.py").write_text(
        f"from mcp_sim.programs import Result, Rpc, tool\n@tool\ndef keep(world):\n    {body}\n"
    )
    (tmp_path / "p.json").write_text(json.dumps({"mcp_sim": 1, "name": "p", "tools": TOOLS[:1], "program": "p.py"}))
    async with Simulator.load(tmp_path / "p.json", trust=True).open() as world:
        with pytest.raises(Crash, match=r"p\.py:4|blocks has"):
            await world.call("keep", {})


def test_a_real_server_forges_no_crash() -> None:
    error = {"code": -32019, "message": "The tool call could not be completed", "data": {"mcp_sim": "crash"}}
    body = observation_of_answer({"error": error}).body
    assert isinstance(body, RpcError)
    assert body.code == -32603
