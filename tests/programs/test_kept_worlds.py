"""Programs in stored worlds: what a call wrote is there after a restart, and a trace can be explained and graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.libraries import library

from mcp_sim.cli import main
from mcp_sim.server.testing import spawned

Json = Any


async def test_a_stored_world_goes_on_where_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = "count.loan >= 1 && find('loan', {'member': 'Ada'}).size() >= 1"
    fault: Json = {"id": "lost", "lost_ack": {}, "tools": "borrow_book", "when": {"state": second}}
    expected = [{"id": "two", "state": {"entity": "loan", "where": {"member": "Ada"}, "count": 2}}]
    scenario = str(library(tmp_path, perturbations=[fault], expect=expected))
    trace, store = str(tmp_path / "trace.jsonl"), str(tmp_path / "world.db")
    options = (scenario, "--trust", str(tmp_path), "--store", store, "--trace", trace)
    loan = {"isbn": "2", "member": "Ada"}
    log = (tmp_path / "log.txt").open("w", encoding="utf-8")
    async with spawned(*options, errlog=log) as client:
        assert not (await client.call_tool("borrow_book", loan)).is_error
        assert (await client.call_tool("borrow_book", loan)).is_error
    async with spawned(*options, errlog=log) as client:
        (shown,) = (await client.call_tool("list_loans", {})).content
        assert "L-0002" in str(shown)
    log.close()
    assert main(["explain", trace, "--trust", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "fires lost (lost_ack), applied" in out
    assert "lost: fires at 1 of 2 matching calls" in out
    assert main(["grade", trace, "--trust", str(tmp_path)]) == 0
    assert "two: 2 loan records fit" in capsys.readouterr().out
