"""Python functions that tool specs name are located without running their modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_sim.cli import main
from mcp_sim.spec.python_functions import find_problem, locate_function

TOOLS = """\
mcp_sim: 1
name: freight
tools: [{name: quote_order, inputSchema: {type: object, properties: {order_id: {type: string}}}}]
entities: {order: {fields: {weight: {type: number}}}}
sim: {quote_order: {python: freight:quote}}
"""
MODULE = "from pathlib import Path\nPath('ran').touch()\ndef quote(turn): return 1\n"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("freight.yaml").write_text(TOOLS)
    Path("freight.py").write_text(MODULE)
    return "freight.yaml"


@pytest.mark.parametrize(
    "command",
    [
        ["check", "freight.yaml"],
        ["plan", "freight.yaml"],
        ["list"],
        ["generate", "freight.yaml", "--count", "3", "-o", "records.json"],
    ],
)
def test_commands_that_only_read_documents_do_not_run_the_module(spec: str, command: list[str]) -> None:
    assert main(command) == 0
    assert Path(spec).exists()
    assert not Path("ran").exists()


def test_playing_runs_the_module(spec: str) -> None:
    Path("calls.jsonl").write_text('{"tool": "quote_order", "arguments": {"order_id": "A1"}}\n')
    assert main(["play", spec, "calls.jsonl", "--trust", "."]) == 0
    assert Path("ran").exists()


def test_a_module_that_fails_is_a_crash_of_the_call(spec: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("freight.py").write_text("raise RuntimeError('no trucks')\ndef quote(turn): return 1\n")
    Path("calls.jsonl").write_text('{"tool": "quote_order", "arguments": {}}\n')
    assert main(["check", spec]) == 0
    assert main(["play", spec, "calls.jsonl", "--trust", "."]) == 3
    assert "quote cannot be loaded: RuntimeError: no trucks" in capfdbinary.readouterr().out.decode()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def f(): ...", None),
        ("async def f(): ...", None),
        ("class f: ...", None),
        ("from elsewhere import g as f", None),
        ("from elsewhere import *", None),
        ("def __getattr__(name): ...", None),
        ("f = lambda turn: 1", None),
        ("try:\n    from a import f\nexcept ImportError:\n    f = None", None),
        ("if True:\n    def f(): ...", None),
        ("f = 3", "is not a function"),
        ("f: list[int] = []", "is not a function"),
        ("def g():\n    def f(): ...", "cannot be loaded: AttributeError: module 'm' has no attribute 'f'"),
        ("def f(:", "cannot be loaded: SyntaxError: "),
    ],
)
def test_a_function_is_found_by_the_names_that_its_module_binds(
    tmp_path: Path, source: str, problem: str | None
) -> None:
    (tmp_path / "m.py").write_text(source)
    found = find_problem(locate_function("m:f", tmp_path))
    assert found == problem or (problem is not None and found is not None and found.startswith(problem))


def test_installed_modules_are_found_without_importing_their_packages(tmp_path: Path) -> None:
    assert find_problem(locate_function("json.decoder:JSONDecoder", tmp_path)) is None
    assert find_problem(locate_function("math:sqrt", tmp_path)) is None
    reason = "cannot be loaded: ModuleNotFoundError: No module named 'json.nowhere'"
    assert find_problem(locate_function("json.nowhere:f", tmp_path)) == reason
    assert find_problem(locate_function("math.nowhere:f", tmp_path)) is not None
