"""`serve --compile`: the model answers while it writes a program, which then answers in its place."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, Any, cast

import anyio
import pytest
from anyio import run_process, to_thread
from starlette.responses import Response
from support import stdio_process
from support.endpoint import Asked, completion, serving
from support.places import ROOT

from mcp_sim.cli import main

COMPILED = ROOT / "tests" / "recordings" / "compiled"
REPLY = (
    (COMPILED / "pantry.reply.md")
    .read_text(encoding="utf-8")
    .replace('"The pantry is empty."', 'world.imagine({"type": "string"}, "a sigh about an empty pantry")')
)


@pytest.fixture
def pantry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("pantry.tools.json", "pantry.yaml"):
        (tmp_path / name).write_text((COMPILED / name).read_text())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def programs_of(folder: Path) -> list[Path]:
    return [*folder.glob("cache/mcp-sim/programs/program_*.py")]


class Calls:
    """Calls of a server over stdio, in threads."""

    def __init__(self, wire: stdio_process.Wire) -> None:
        self._wire, self._number = wire, 0

    @classmethod
    async def of(cls, wire: stdio_process.Wire) -> Calls:
        await to_thread.run_sync(wire.handshake)
        return cls(wire)

    async def __call__(self, tool: str, **arguments: Any) -> str:
        self._number += 1
        self._wire.call(self._number, tool, arguments)
        answer = await to_thread.run_sync(self._wire.answer)
        return answer["result"]["content"][0]["text"]

    async def logged(self, words: str) -> str:
        """Return the next line of the log with these words."""
        stderr = cast("IO[bytes]", self._wire.process.stderr)
        while words not in (line := (await to_thread.run_sync(stderr.readline)).decode()):
            assert line, f"the log ended without {words!r}"
        return line


async def test_tools_that_pass_the_gate_are_answered_by_the_program_from_the_next_call_on(
    pantry: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # `show` cuts lines at the width of the terminal
    may_write, programs = anyio.Event(), list[Asked]()

    async def respond(asked: Asked) -> Response:
        if "a sigh about an empty pantry" in asked.question:
            return completion('"Not a crumb is left."')
        if "Write the program of pantry" not in asked.question:
            return completion("The model answers.")
        programs.append(asked)
        await may_write.wait()
        return completion(REPLY)

    async with serving(respond) as engine:
        words = ("pantry.yaml", "--compile", f"openai:tiny@{engine.url}", "--trace", "trace.jsonl")
        with anyio.fail_after(90), stdio_process.serving(*words, handshake=False) as wire:
            call = await Calls.of(wire)
            assert await call("list_items") == "The model answers."
            may_write.set()
            await call.logged("Programs answer 5 of 5 tools from the next call on")
            assert await call("list_items") == "Not a crumb is left."
            assert await call("add_item", name="Rice", quantity=2) == "Put 2 x Rice on the top shelf (item-1)."
            assert await call("list_items") == "- 2 x Rice (item-1, top)"
            wire.leave()
        steps = [json.loads(line).get("step", {}) for line in (pantry / "trace.jsonl").read_text().splitlines()]
        kinds = [(step.get("entry"), step.get("tool"), sorted(step.get("steered", {}))) for step in steps[-5:]]
        assert kinds == [
            ("call", "list_items", []),
            ("event", None, ["programs"]),
            ("call", "list_items", []),
            ("call", "add_item", []),
            ("call", "list_items", []),
        ]
        assert await to_thread.run_sync(main, ["show", "trace.jsonl"]) == 0
        assert "(mcp-sim) programs answer" in capfd.readouterr().out
        with anyio.fail_after(30), stdio_process.serving(*words[:3], handshake=False) as wire:
            call = await Calls.of(wire)
            assert await call("add_item", name="Oats", quantity=1) == "Put 1 x Oats on the top shelf (item-1)."
    assert len(programs) == 1


async def test_a_scenario_that_is_deleted_meanwhile_does_not_end_the_server(pantry: Path) -> None:
    async def respond(asked: Asked) -> Response:
        if "Write the program of pantry" not in asked.question:
            return completion("The model answers.")
        (pantry / "pantry.yaml").unlink(missing_ok=True)
        return completion(REPLY)

    async with serving(respond) as engine:
        words = ("pantry.yaml", "--compile", f"openai:tiny@{engine.url}")
        with anyio.fail_after(90), stdio_process.serving(*words, handshake=False) as wire:
            call = await Calls.of(wire)
            await call.logged("The program cannot be served: ")
            assert await call("list_items") == "The model answers."
    assert programs_of(pantry)


async def test_a_document_that_has_programs_written_needs_trust(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = "{openai: {model: tiny, base_url: 'http://127.0.0.1:9/v1', compile: true}}"
    (pantry / "home.yaml").write_text(f"mcp_sim: 1\ntools: {{pantry: pantry.yaml}}\nworld_model: {model}\n")
    assert await to_thread.run_sync(main, ["check", "home.yaml"]) == 0
    assert "runs the Python program that tiny writes, which needs your trust" in capfd.readouterr().out
    command = [sys.executable, "-m", "mcp_sim", "serve", "home.yaml"]
    assert (await run_process(command, check=False)).returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compile", "openai:tiny@http://127.0.0.1:9/v1", "--world-model", "builtin"], "leave out --world-model"),
        (["--compile", "openai:tiny@http://127.0.0.1:9/v1", "--store", "x.db"], "leave out --store"),
        (["--compile", "builtin"], "write it as openai:MODEL@URL"),
    ],
)
async def test_what_cannot_be_compiled_is_refused(
    pantry: Path, capfd: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert await to_thread.run_sync(main, ["serve", "pantry.yaml", *words]) == 2
    assert message in capfd.readouterr().err
