"""Operations on files, called from Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.drives import STATE, TOOLS
from support.matched_tools import simulator

from mcp_sim.plans.files.operations import OPERATIONS
from mcp_sim.plans.library import Library
from mcp_sim.plans.refusal import Refused

Json = Any

_NOW = datetime(2030, 1, 2, tzinfo=UTC)
_TEXT = "one\ntwo\n"
_RANGES = [{"start": 1, "end": 1, "content": "1\n"}]
_CALLS: tuple[tuple[str, tuple[Json, ...], str], ...] = (
    ("write", ("/a.txt", _TEXT), "/a.txt"), ("read", ("/a.txt",), _TEXT), ("append", ("/a.txt", "three\n"), "appended"),
    ("prepend", ("/a.txt", "zero"), "prepended"), ("insert", ("/a.txt", 1, "half"), "line 1"),
    ("replace_lines", ("/a.txt", 1, 2, "zero"), "lines 1 to 2"), ("delete_lines", ("/a.txt", 1), "lines 1 to 1"),
    ("edit", ("/a.txt", "two", "2"), "+ 2"), ("overwrite", ("/a.txt", _TEXT), "replaced"),
    ("read_ranges", ("/a.txt", _RANGES), "one"), ("change_ranges", ("/a.txt", _RANGES), "ok"),
    ("head", ("/a.txt", 1), "1"), ("tail", ("/a.txt", 1), "two"), ("sort", ("/a.txt",), "1\ntwo"),
    ("wc", ("/a.txt",), "2 lines"), ("touch", ("/b.txt",), "Created"), ("diff", ("/a.txt", "/b.txt"), "- two"),
    ("read_many", (["/a.txt", "/b.txt"],), "/b.txt:"), ("mkdir", ("/docs/new",), "/docs/new"),
    ("copy", ("/a.txt", "/docs/c.txt"), "copied"), ("move", ("/b.txt", "/docs"), "/docs/b.txt"),
    ("grep", ("two", "/docs"), "/docs/c.txt:2: two"), ("find", ("*.txt", "/docs"), "/docs/b.txt\n/docs/c.txt"),
    ("list", ("/docs",), "[DIR] new"), ("tree", ("/docs",), "├── b.txt"), ("stat", ("/a.txt",), "size: 6"),
    ("exists", ("/none",), "does not exist"), ("du", ("/docs",), "6 bytes"), ("cd", ("/docs",), "/docs"),
    ("pwd", (), "/docs"), ("allowed", (), "/"),
    ("run", ("ls new; cat c.txt",), "1\ntwo"),
    ("batch", ([{"operation": "copy", "source": "/a.txt", "destination": "/d.txt"}],), "OK"),
    ("rmdir", ("/docs/new",), "deleted"), ("delete", ("/docs",), "deleted"),
)  # fmt: skip


async def test_every_operation_can_be_called_without_a_tool(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, {"files": {"/c.txt": "x"}}).open() as world:
        files = Library("files", world.view, _NOW)
        for name, values, text in _CALLS:
            assert text in getattr(files, name)(*values).text, name
        assert {name for name, *_ in _CALLS} == {one.name for one in OPERATIONS}
        assert files.view.get("file", "/d.txt") is not None
        assert world.view.get("file", "/d.txt") is None
        assert files.changes


async def test_a_call_from_python_is_refused_like_a_tool(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE).open() as world:
        files = Library("files", world.view, _NOW)
        with pytest.raises(Refused, match="outside the allowed directories"):
            files.read("/etc/passwd")
        failed = files.batch([{"operation": "read", "path": "/srv/none"}, {"operation": "shred"}])
        assert [row["success"] for row in failed.facts["results"]] == [False, False]
        assert not files.changes
