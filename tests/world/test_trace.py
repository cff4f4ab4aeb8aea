"""The ledger and its trace: bounded, and written in format 2."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_sim.types import (
    BrokenDelivery,
    Change,
    Decision,
    Observation,
    PastCall,
    RpcError,
    Step,
    ToolResult,
    Transition,
)
from mcp_sim.types.errors import Crash, Unwritable
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import MOST_BYTES, History, Ledger, crash_line, fork_line, header_line, step_line

AT = datetime(2030, 1, 1, 9, 0, 1, tzinfo=UTC)
PUT = Change("put", "deal", "d1", {"id": "d1"}, part=2)


def step_of(observation: Observation, truth: Transition | None = None) -> dict[str, object]:
    step = Step(2, "call", AT, 1, "get", {"a": "é"}, truth, served=observation, committed=(PUT,))
    return json.loads(step_line("w", step, {"seconds": 0.5}))["step"]


def test_the_header_names_the_format() -> None:
    assert json.loads(header_line("s", "abc", "1.0")) == {
        "format": 2,
        "scenario": "s",
        "sha256": "abc",
        "version": "1.0",
    }


def test_a_call_has_truth_served_committed_and_perturbations() -> None:
    shown = Observation(ToolResult({"id": "d1"}))
    served = Observation(ToolResult("no", form="text", is_error=True), delay=timedelta(milliseconds=250))
    decision = Decision("x", "lost_ack", "applied", "nth 1")
    truth = Transition(shown, (PUT,))
    step = Step(2, "call", AT, 1, "get", {}, truth, served=served, committed=(PUT,), perturbations=(decision,))
    put = {"op": "put", "entity": "deal", "key": "d1", "record": {"id": "d1"}, "part": 2}
    assert json.loads(step_line("w", step, {})) == {
        "world": "w",
        "measured": {},
        "step": {
            "n": 2,
            "entry": "call",
            "at": "2030-01-01T09:00:01Z",
            "index": 1,
            "tool": "get",
            "arguments": {},
            "truth": {"observation": {"result": {"id": "d1"}, "form": "structured"}, "changes": [put]},
            "served": {"result": "no", "form": "text", "is_error": True, "delay_ms": 250.0},
            "committed": [put],
            "absorbed": [],
            "guessed": False,
            "perturbations": [{"id": "x", "kind": "lost_ack", "outcome": "applied", "why": "nth 1"}],
        },
    }


def test_served_is_null_if_it_is_the_truth_and_truth_is_null_if_the_world_was_not_asked() -> None:
    shown = Observation(ToolResult({"id": "d1"}))
    assert step_of(shown, Transition(shown))["served"] is None
    assert step_of(shown)["truth"] is None
    assert step_of(shown)["served"] == {"result": {"id": "d1"}, "form": "structured"}


def test_every_kind_of_observation_has_its_form() -> None:
    assert step_of(Observation(RpcError(-32602, "no", {"a": 1})))["served"] == {
        "rpc_error": {"code": -32602, "message": "no", "data": {"a": 1}}
    }
    assert step_of(Observation(BrokenDelivery("http", 502)))["served"] == {
        "broken": {"how": "http", "status": 502, "headers": {}, "body": ""}
    }
    assert step_of(Observation(ToolResult("hi", form="text", text="ho")))["served"] == {
        "result": "hi",
        "form": "text",
        "text": "ho",
    }


def test_an_event_a_crash_and_a_fork_have_lines_of_their_own() -> None:
    event = Step(3, "event", AT, actor="ops", committed=(Change("remove", "deal", "d1"),))
    assert json.loads(step_line("w", event, {}))["step"] == {
        "n": 3,
        "entry": "event",
        "at": "2030-01-01T09:00:01Z",
        "actor": "ops",
        "committed": [{"op": "remove", "entity": "deal", "key": "d1"}],
    }
    crash = Crash("get", "no route", [{"raw": "x", "problems": ["y"]}])
    assert json.loads(crash_line("w", crash, {"a": 1}, {"seconds": 1})) == {
        "world": "w",
        "crash": {
            "tool": "get",
            "arguments": {"a": 1},
            "error": "no route",
            "attempts": [{"raw": "x", "problems": ["y"]}],
        },
        "measured": {"seconds": 1},
    }
    assert json.loads(fork_line("v", "w", 7, "s")) == {"world": "v", "fork": {"of": "w", "n": 7, "stream": "s"}}


def test_half_of_a_character_is_replaced() -> None:
    step = Step(2, "call", AT, 1, "get", {"a": "\ud800"})
    assert json.loads(step_line("w", step, {}))["step"]["arguments"] == {"a": "\ufffd"}


@pytest.mark.time_limit(60)
def test_long_runs_of_digits_are_looked_at_once() -> None:
    text = ("0" * 3999 + "x") * 10_000
    assert step_line("w", Step(2, "call", AT, 1, "get", {"a": text}), {}).count(b"x0") == 9_999
    with pytest.raises(ValueError, match="number out of range"):
        step_line("w", Step(2, "call", AT, 1, "get", {"a": 10**4400}), {})


def test_a_ledger_is_bounded_in_entries_and_bytes_and_keeps_the_newest() -> None:
    ledger = Ledger(keep=3)
    for n in range(5):
        ledger.append(b'{"step":{"n":%d}}' % n)
    assert [step["n"] for step in ledger.steps] == [2, 3, 4]
    ledger.append(b'{"step":{"n":5,"x":"%b"}}' % (b"x" * MOST_BYTES))
    assert [step["n"] for step in ledger.steps] == [5]


def test_a_forked_ledger_and_history_grow_on_their_own() -> None:
    ledger, history = Ledger(keep=3), History(keep=2)
    past = PastCall(1, "get", {}, ok=True, at=AT, changes=())
    ledger.append(b"{}")
    history.append(past, 10)
    twins = ledger.fork(), history.fork()
    ledger.append(b"{}")
    history.append(past, 10)
    history.append(past, MOST_BYTES + 1)
    assert (len(ledger), len(twins[0]), len(history), len(twins[1])) == (2, 1, 1, 1)
    assert twins[1][-1] is past
    assert twins[1][0:1] == [past]


@pytest.mark.parametrize("added", [1, 2, 9])
def test_what_a_ledger_gains_after_a_mark_can_be_taken_back(added: int) -> None:
    ledger, history = Ledger(keep=3), History(keep=2)
    pasts = [PastCall(n, "get", {}, ok=True, at=AT, changes=()) for n in range(20)]
    for n in range(5):
        ledger.append(b'{"step":{"n":%d}}' % n)
        history.append(pasts[n], 10)
    marks, size = (ledger.mark(), history.mark()), ledger.size
    for n in range(5, 5 + added):
        ledger.append(b'{"step":{"n":%d}}' % n)
        history.append(pasts[n], 10)
    ledger.rewind(marks[0])
    history.rewind(marks[1])
    assert ([step["n"] for step in ledger.steps], ledger.size) == ([2, 3, 4], size)
    assert [past.index for past in history] == [3, 4]


def test_a_trace_has_whole_lines_only_if_the_disk_is_full(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    trace = Jsonl(tmp_path / "trace.jsonl", b"{}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        trace.write(b'{"a":1}')
        with pytest.raises(Unwritable, match="too large"):
            trace.write(b'{"b":22222222222222222222}')
        trace.write(b"[1]")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        trace.close()
    assert (tmp_path / "trace.jsonl").read_bytes() == b'{}\n{"a":1}\n[1]\n'


def test_a_trace_on_a_full_disk_is_an_error_at_once() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this platform has no full device")
    with pytest.raises(Unwritable, match="cannot write the trace to /dev/full: No space left"):
        Jsonl(full, b"{}")
