"""Programs that are not trusted run in a sandbox: whatever they do, the server goes on."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from support import libraries
from support.libraries import ACT, ITEMS, TEXT, library, simulator, small, tool
from support.services import value

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.programs import workers
from mcp_sim.programs.sandbox import confinement, is_available
from mcp_sim.server.testing import spawned
from mcp_sim.types.errors import Crash, UsageError

Json = Any
pytestmark = pytest.mark.skipif(not is_available(), reason="this system has no sandbox")


@pytest.fixture(autouse=True)
def untrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "LOADED", {"sandbox": True})
    monkeypatch.setattr(workers, "LIMIT", 3.0)
    monkeypatch.setattr(workers, "MEMORY", 500 << 20)


HOSTILE = {
    "while True: pass": "library.py: the program did not end within 3 seconds",
    "import time\ntime.sleep(100)": "library.py: the program did not end within 3 seconds",
    "import re\nre.match('(a+)+$', 'a' * 99 + 'b')": "library.py: the program did not end within 3 seconds",
    "try:\n    while True: pass\nexcept BaseException: pass": "library.py: the program did not end within 3 seconds",
    "while True:\n    world.item.find(name='x')": "library.py: the program did not end within 3 seconds",
    "x = [0]\nwhile True: x += x": "MemoryError",
    "import os\nif os.system('touch /tmp/hostile'): raise ValueError('no shell')": "ValueError: no shell",
    "import subprocess\nsubprocess.run(['/bin/true'])": "PermissionError: [Errno 1]",
    "open('/etc/passwd')": "PermissionError: [Errno 13]",
    "open(__file__)": "PermissionError: [Errno 13]",
    "open('/tmp/hostile', 'w')": "PermissionError: [Errno 13]",
    "import socket\nsocket.create_connection(('127.0.0.1', 80))": "PermissionError: [Errno 1]",
    "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb')": "PermissionError: [Errno 13]",
    "import os\nos.kill(os.getppid(), 9)": "PermissionError: [Errno 1]",
    "import os\nraise ValueError(os.environ.get('SECRET_KEY'))": "ValueError: None",
    "import sys\nsys.exit(3)": "SystemExit: 3",
    "import os\nos._exit(3)": "library.py: the program ended with exit code 3",
    "import ctypes\nctypes.string_at(0)": "library.py: the program ended with exit code -11",
    "def f(): f()\nf()": "RecursionError: maximum recursion depth exceeded",
    "return object()": "TypeError: the value is a object, which is no JSON",
    "return 'x' * (9 << 20)": "library.py: the program answered more than 8 MiB",
    "x = []\nfor _ in range(500): x = [x]\nreturn x": "RecursionError",
    "world.item.add(name='x' * (9 << 20))": "library.py: the program answered more than 8 MiB",
    "forge(b'[]')": "library.py: the program asked something unknown",
    "forge(b'no JSON')": "library.py: the program answered what is no JSON",
    'forge(b\'["ask", 0, [], "find"]\')': "library.py: the program asked something unknown",
    'forge(b\'["ask", 7, [], "size"]\')': "library.py: the program asked something unknown",
    'forge(b\'["done", ["value", 1], [["put", "item", true, {}, null, null]], 0]\')': "a change is malformed",
    'forge(b\'["done", ["value", 1], [["put", "item", "a", {}, null, null]], 0]\')': "wrote what it cannot",
    'forge(b\'["done", ["rpc", "x", 1, 2], [], 0]\')': "library.py: the program answered something unknown",
}
HOSTILE_FILE = Path("/tmp/hostile")


@pytest.fixture(autouse=True)
def _no_hostile_file() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    assert not HOSTILE_FILE.exists()


FORGE = """\
def forge(message):
    import os
    for n in range(3, 9):
        try:
            os.write(n, len(message).to_bytes(4, "little") + message)
        except OSError:
            pass
"""


@pytest.mark.parametrize("act", HOSTILE)
async def test_hostile_programs_are_stopped_and_other_worlds_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    body = "if a:\n    return world.item.add(name=a)\n" + act
    sim = simulator(tmp_path, small(body, tables=ITEMS, head=FORGE), ACT)
    async with sim, sim.open("one") as one, sim.open("two") as two:
        with pytest.raises(Crash) as crash:
            await one.call("act", {})
        assert HOSTILE[act] in str(crash.value)
        assert one.view.count("item") == 0
        assert value(await two.call("act", {"a": "x"}))["id"] == "I-1"
        assert value(await one.call("act", {"a": "y"}))["id"] == "I-1"


@pytest.mark.parametrize(
    "hook", ["", "@unknown_tool\ndef no(world, tool, arguments):", "@invalid_arguments\ndef no(world):"]
)
async def test_a_call_that_hangs_holds_up_no_other_world(tmp_path: Path, hook: str) -> None:
    act = "if a:\n    return world.item.add(name=a)\n"
    head = f"from mcp_sim.programs import invalid_arguments, unknown_tool\n{hook}\n    while True: pass" if hook else ""
    sim = simulator(tmp_path, small(f"{act}while True: pass", tables=ITEMS, head=head), [tool("act", a=TEXT)])
    call: tuple[str, Json] = ("other", {}) if "unknown" in hook else ("act", {"a": 7} if hook else {})
    ended = list[str]()
    async with sim, sim.open("one") as one, sim.open("two") as two, anyio.create_task_group() as group:

        async def hang() -> None:
            with pytest.raises(Crash, match="did not end within 3 seconds"):
                await one.call(*call)
            ended.append("one")

        group.start_soon(hang)
        await anyio.lowlevel.checkpoint()
        assert value(await two.call("act", {"a": "x"}))["id"] == "I-1"
        ended.append("two")
    assert ended == ["two", "one"]


async def test_printing_is_dropped(tmp_path: Path) -> None:
    body = "import sys\nprint('x' * 10_000_000)\nsys.stderr.write('y' * 10_000_000)\nreturn 1"
    async with simulator(tmp_path, small(body), ACT).open() as world:
        assert value(await world.call("act", {})) == 1


async def test_the_order_of_sets_is_the_same_in_each_process(tmp_path: Path) -> None:
    program = small("return [*{f'{n}' for n in range(50)}]")
    found = list[Json]()
    for _ in range(2):
        async with simulator(tmp_path, program, ACT).open() as world:
            found.append(value(await world.call("act", {})))
    assert found[0] == found[1]


async def test_the_process_ends_with_the_simulator(tmp_path: Path) -> None:
    async with simulator(tmp_path, small("import os\nreturn os.getpid()"), ACT).open() as world:
        pid = value(await world.call("act", {}))
        assert pid == value(await world.call("act", {})) != os.getpid()
        assert os.getpgid(pid) == pid
    with pytest.raises(ProcessLookupError):
        os.getpgid(pid)


@pytest.mark.parametrize(
    ("head", "why"), [("import nothing", "ModuleNotFoundError"), ("while True: pass", "3 seconds")]
)
async def test_a_program_that_cannot_be_loaded_is_a_crash(tmp_path: Path, head: str, why: str) -> None:
    async with simulator(tmp_path, small("return 1", head=head), ACT).open() as world:
        for _ in range(2):
            with pytest.raises(Crash, match=why):
                await world.call("act", {})


async def test_loops_over_many_rows_see_and_write_all_of_them(tmp_path: Path) -> None:
    rows = {"item": {"rows": [{"id": f"I-{n}", "name": f"{n}"} for n in range(10_000)]}}
    body = """\
for row in world.item:
    row["size"] += 1
world.item.add(name="new")
return [len(world.item), sum(row["size"] for row in world.item), len(world.item.find(size=2))]"""
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT, world={"records": rows}).open() as world:
        assert value(await world.call("act", {})) == [10_001, 20_001, 10_000]
        assert world.view.count("item") == 10_001


async def test_odd_texts_and_numbers_pass_unharmed(tmp_path: Path) -> None:
    async with simulator(tmp_path, small("return [a, '\\ud800', 10**30, 1.0]"), ACT).open() as world:
        found = value(await world.call("act", {"a": "é\0"}))
    assert found == ["é\0", "\ud800", 10**30, 1.0]
    assert isinstance(found[3], float)


async def test_a_server_runs_programs_in_a_sandbox(tmp_path: Path) -> None:
    path = library(tmp_path, small("import os\nreturn os.getpid()"), ACT)
    with (tmp_path / "log.txt").open("w", encoding="utf-8") as log:
        async with spawned(str(path), "--sandbox", errlog=log) as client:
            assert not (await client.call_tool("act", {})).is_error


def test_the_refusal_names_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = library(tmp_path, small("return 1"), ACT)
    assert main(["play", str(path)]) == 1
    shown = capsys.readouterr().err
    assert "mcp-sim trust" in shown
    assert "--sandbox" in shown


async def test_a_system_without_a_sandbox_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not confinement.is_available()
    with pytest.raises(UsageError, match="a sandbox needs Linux"):
        async with Simulator.load(library(tmp_path, small("return 1"), ACT), sandbox=True):
            pass
