"""pytest itself in the shell, beside the one outside; tests that an agent edits, and hostile ones."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.shells import out, run, simulator

from mcp_sim.libraries.sandbox import Unconfined
from mcp_sim.libraries.shell.commands import suites
from mcp_sim.types.errors import McpSimError

HIDES = sys.platform == "linux" and subprocess.run(["unshare", "-Urm", "true"], check=False).returncode == 0
pytestmark = pytest.mark.skipif(not HIDES, reason="pytest runs where users may have namespaces")

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
    "app/__init__.py": "class Thing:\n    pass\n\n\ndef total(numbers):\n    return sum(numbers) + 1\n",
    "tests/test_app.py": """
import json
import pytest
from app import Thing, total


@pytest.fixture
def numbers():
    return [1, 2]


def test_total(numbers):
    assert total(numbers) == 3


@pytest.mark.parametrize("number", [1, 2])
def test_numbers(number):
    print("number", number)
    assert number < 2


@pytest.mark.skip(reason="later")
def test_later():
    pass


def test_files(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "a.txt").chmod(0o600)
    assert (tmp_path / "a.txt").read_text() == "a"


def test_json():
    json.loads("{")


class TestThings:
    def test_two_differ(self):
        assert Thing() == Thing()
""",
}
HOSTILE = """
import os, pathlib, socket, subprocess, sys
import pytest


@pytest.mark.parametrize("act", [
    lambda: open("/etc/passwd").read(),
    lambda: open("/proc/1/environ").read(),
    lambda: os.listdir("/"),
    lambda: open("/srv/elsewhere", "w"),
    lambda: open(os.__file__, "a"),
    lambda: os.chmod(os.__file__, 0o777),
    lambda: os.utime(os.__file__),
    lambda: os.truncate(os.__file__, 0),
    lambda: os.link(os.__file__, "/tmp/linked"),
    lambda: (os.symlink("/etc/passwd", "/tmp/link"), open("/tmp/link").read()),
    lambda: socket.create_connection(("127.0.0.1", 80)),
    lambda: subprocess.run(["/bin/true"]),
    lambda: os.fork(),
    lambda: os.kill(os.getppid(), 0),
    lambda: pathlib.Path("/tmp/large").write_bytes(b"x" * (17 << 20)),
    lambda: [pathlib.Path(f"/tmp/many{n}").write_bytes(b"x" * (8 << 20)) for n in range(20)],
])
def test_hostile(act):
    with pytest.raises(OSError):
        act()


def test_environment():
    assert set(os.environ) <= {
        "TMPDIR", "HOME", "USER", "LOGNAME", "LANG", "TZ", "PATH", "PYTEST_CURRENT_TEST",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_VERSION",
    }


def test_memory():
    with pytest.raises(MemoryError):
        bytearray(2 << 30)
"""


def given(root: str, files: dict[str, str], tests: object = None) -> dict[str, object]:
    repository = {"path": root, "commits": [{"message": "Start", "files": files}]}
    return {"repositories": [repository], "tests": tests or {root: "pytest"}}


def settled(text: str, root: Path) -> str:
    """Return an output of pytest without addresses, seconds and places of Python."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text).replace(sys.base_prefix[1:], "usr").replace(sys.prefix[1:], "usr")
    return re.sub(r"=+ (.*) in [\d.]+s =+", r"= \1 =", text.replace(str(root), "/srv/app"))


async def test_output_is_that_of_pytest_outside(tmp_path: Path) -> None:
    root = Path("/srv/app")
    for name, text in FILES.items():
        (tmp_path / "app" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "app" / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    # Nothing of this environment: pytest shortens no line where CI is set.
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=tmp_path / "app", env=environment, capture_output=True, text=True, check=False
    )
    async with simulator(tmp_path, {}, state=given(str(root), FILES)).open(seed=1) as world:
        first = await run(world, "python -m pytest", workdir=str(root))
        again = await run(world, "python -m pytest", workdir=str(root))
        assert first == again
        assert (first["exit_code"], first["stderr"]) == (done.returncode, done.stderr)
        assert settled(first["stdout"], tmp_path / "app") == settled(done.stdout, tmp_path / "app")


async def test_edited_tests_do_not_count(tmp_path: Path) -> None:
    async with simulator(tmp_path, {}, state=given("/srv/app", FILES, "pytest")).open(seed=1) as world:
        before = await out(world, "cd /srv/app; pytest -q")
        assert "4 failed, 2 passed, 1 skipped" in before
        await run(
            world, "echo 'collect_ignore = [\"test_app.py\"]' > tests/conftest.py; rm pyproject.toml tests/test_app.py"
        )
        assert await out(world, "pytest -q") == before
        await run(world, "sed -i 's/ + 1//' app/__init__.py; echo 'def test_new(): pass' > tests/test_new.py")
        assert "3 failed, 4 passed, 1 skipped" in await out(world, "pytest -q")


async def test_hostile_tests_reach_nothing(tmp_path: Path) -> None:
    files = {"test_hostile.py": HOSTILE}
    async with simulator(tmp_path, {}, state=given("/srv/app", files)).open(seed=1) as world:
        result = await run(world, "cd /srv/app; pytest -q --tb=short")
        assert result["exit_code"] == 0, result["stdout"]


async def test_a_run_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "SECONDS", 3.0)
    files = {"test_long.py": "def test_long():\n    while True:\n        pass\n"}
    async with simulator(tmp_path, {}, state=given("/srv/app", files)).open(seed=1) as world:
        result = await run(world, "cd /srv/app; pytest")
        assert (result["stdout"], result["stderr"], result["exit_code"]) == ("", "Killed\n", 137)
        assert await out(world, "echo goes on") == "goes on\n"


async def test_flaky_tests_fail_as_if_their_last_line_did(tmp_path: Path) -> None:
    fault = {"flaky": {"tests": ["tests/test_app.py::test_files"], "chance": 1}}
    world = simulator(tmp_path, {}, state=given("/srv/app", FILES), perturbations=[fault]).open(seed=1)
    async with world as opened:
        text = await out(opened, "cd /srv/app; pytest -k files")
        assert '>       assert (tmp_path / "a.txt").read_text() == "a"\nE       TimeoutError: timed out\n' in text
        assert "FAILED tests/test_app.py::test_files - TimeoutError: timed out" in text


async def test_a_system_that_cannot_confine_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Unconfined("this system lacks Landlock")

    monkeypatch.setattr(suites, "run_confined", refuse)
    with pytest.raises(
        McpSimError, match="tests: /srv/other: pytest cannot run here: this system lacks Landlock; or declare"
    ):
        async with simulator(tmp_path, {}, state=given("/srv/other", FILES)).open(seed=1) as world:
            await run(world, "true")
