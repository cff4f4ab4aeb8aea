"""Arguments and given records of types that no operation expects, where the schema of a tool allows any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, result, simulator

Json = Any


def peek(folder: Path, backend: str, operation: str, state: Json, arguments: Json) -> Any:
    """Return a simulator of a tool for which a spec chooses an operation; its arguments may have any type."""
    schema: Json = {"type": "object", "properties": dict.fromkeys(arguments, True)}
    sim = {"sim": {"peek": {"backend": backend, "operation": operation}}}
    return simulator(folder, [{"name": "peek", "inputSchema": schema}], state, sim)


@pytest.mark.parametrize(
    ("backend", "operation", "state", "arguments"),
    [
        ("pages", "search", {"pages": {"https://a.example": "Tides"}}, {"query": "tides", "offset": 2**64}),
        ("pages", "search", {"pages": {"https://a.example": "Tides"}}, {"query": "tides", "limit": "9" * 5000}),
        ("git", "add_worktree", None, {"path": "/"}),
        ("git", "stash_pop", None, {"index": "9" * 5000}),
        ("git", "show", None, {"revision": "HEAD~99999999999999999999"}),
        ("git", "show", None, {"revision": "HEAD~" + "9" * 5000}),
        ("files", "run", {"files": {"/docs/a.md": "a"}}, {"command": "head -n ² /docs/a.md"}),
        ("files", "run", {"files": {"/docs/a.md": "a"}}, {"command": f"head -n {'9' * 5000} /docs/a.md"}),
        ("files", "run", {"files": {"/docs/a.md": "a"}}, {"command": "head -²  /docs/a.md"}),
        ("files", "run", {"files": {"/docs/a.md": "a"}}, {"command": "find /docs -maxdepth ²"}),
        ("files", "grep", {"files": {"/docs/a.md": "a"}}, {"pattern": "a", "kind": "names and contents"}),
    ],
)  # fmt: skip
async def test_values_of_other_types_are_answered(
    tmp_path: Path, backend: str, operation: str, state: Json, arguments: Json
) -> None:
    async with peek(tmp_path, backend, operation, state, arguments).open() as world:
        assert result(await world.call("peek", arguments))


@pytest.mark.parametrize(
    ("backend", "operation", "state"),
    [
        ("pages", "search", {"pages": [{"url": "x", "title": ["Ada"], "text": "a"}]}),
        ("pages", "search", {"pages": [{"url": ["x"], "title": "Ada"}, {"url": {"a": 1}, "title": "Bo"}]}),
    ],
)
async def test_records_whose_keys_are_no_texts_can_be_read(
    tmp_path: Path, backend: str, operation: str, state: Json
) -> None:
    async with peek(tmp_path, backend, operation, state, {"query": ""}).open() as world:
        assert "Ada" in json.dumps(await answered(world, "peek", query="ada"))
