"""`mcp-sim show`: the ledger as a table, one step in full, and what it says of files that are no traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.cli import main

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}


@pytest.fixture
def trace(tmp_path: Path, capfd: Any) -> Path:
    """A run of the flaky CRM: a lost acknowledgement, a retry, a list, an unknown tool."""
    calls: list[Any] = [{"tool": "create_deal", "arguments": SPRING}] * 2 + [{"tool": "list_deals"}, {"tool": "nope"}]
    (tmp_path / "calls.jsonl").write_text("\n".join(json.dumps(call) for call in calls))
    path = tmp_path / "run.jsonl"
    assert main(["play", "flaky_crm", str(tmp_path / "calls.jsonl"), "--trace", str(path)]) == 2
    capfd.readouterr()
    return path


def shown(capfd: Any, *arguments: str) -> list[str]:
    assert main(["show", *arguments]) == 0
    return capfd.readouterr().out.splitlines()


def refusal(capfd: Any, *arguments: str) -> str:
    assert main(["show", *arguments]) == 2
    return capfd.readouterr().err


def test_a_row_says_what_was_served_what_was_true_and_what_was_written(
    trace: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    world, heading, start, lost, fault, again, listed, unknown, *_verdicts = shown(capfd, str(trace))
    assert world == "world default"
    assert heading.split() == ["n", "time", "call", "served", "true", "committed"]
    assert start.split()[:3] == ["1", "09:00:00", "(start:"]
    assert "error: 504 Gateway Timeout" in lost
    assert lost.index("504") < lost.index('{"id":"deal_0081"') < lost.index("wrote deal deal_0081")
    assert fault.strip() == "applied: lost-deal (lost_ack, nth 1)"
    assert again.count("deal_0082") == 2
    assert "wrote" not in listed
    assert "JSON-RPC error -32602" in unknown
    assert max(len(line) for line in (lost, again, listed, unknown)) <= 200


def test_one_step_is_shown_in_full(trace: Path, capfd: Any) -> None:
    text = "\n".join(shown(capfd, f"{trace}:2"))
    assert text.startswith("step 2 of world default: call at 2029-03-01T09:00:01Z\ncall\n  create_deal\n")
    for heading in ("true", "served", "committed", "lost-deal (lost_ack)", "measured"):
        assert f"\n{heading}\n" in text
    assert "applied: nth 1" in text
    assert '"seconds"' in text
    assert "\nserved\n  the truth" in "\n".join(shown(capfd, f"{trace}:3"))
    assert '"seed": 7' in "\n".join(shown(capfd, f"{trace}:1"))


def test_worlds_are_reported_apart_and_chosen(trace: Path, capfd: Any) -> None:
    lines = trace.read_bytes().splitlines()
    lines.append(b'{"world":"second","fork":{"of":"default","n":5,"stream":""}}')
    lines.append(lines[2].replace(b'{"world":"default"', b'{"world":"second"'))
    lines.append(b'{"world":"second","crash":{"tool":"x","arguments":{},"error":"no","attempts":[]},"measured":{}}')
    trace.write_bytes(b"\n".join(lines) + b"\n")
    text = shown(capfd, str(trace), "--world", "second")
    assert text[0] == "world second"
    assert "forked from default at step 5" in text[2]
    assert "CRASH  x {}: no" in text
    assert "world second: crashed: mcp-sim crashed: x: no" in text
    assert not any("world default" in line for line in text)
    assert shown(capfd, f"{trace}:2", "--world", "second")[0].startswith("step 2 of world second")
    assert "several worlds (default, second); choose one with --world" in refusal(capfd, f"{trace}:2")


def test_a_line_that_was_cut_off_is_reported_and_the_rest_shown(trace: Path, capfd: Any) -> None:
    trace.write_bytes(trace.read_bytes()[:-10])
    assert main(["show", str(trace)]) == 0
    captured = capfd.readouterr()
    assert f"{trace}:6: incomplete line skipped" in captured.err
    assert "list_deals" in captured.out


def test_what_is_no_trace_is_refused_with_the_reason(trace: Path, tmp_path: Path, capfd: Any) -> None:
    assert "cannot read" in refusal(capfd, str(tmp_path / "none.jsonl"))
    assert "has no step 99" in refusal(capfd, f"{trace}:99")
    other = tmp_path / "other"
    for content, reason in [
        (b"", "is empty, and not a trace"),
        (b"hello\n", "not a line of a trace"),
        (b'{"format": 1}\n', "is not a trace of format 2, the only one that can be read: its format is 1"),
        (b"{}\n", "is not a trace of format 2, the only one that can be read: its first line has no format"),
    ]:
        other.write_bytes(content)
        assert reason in refusal(capfd, str(other)), content


def test_a_world_in_which_nothing_was_called_is_not_judged_as_serve_shows_it(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "calls.jsonl").write_text("")
    path = tmp_path / "run.jsonl"
    main(["play", "flaky_crm", str(tmp_path / "calls.jsonl"), "--trace", str(path)])
    capfd.readouterr()
    assert shown(capfd, str(path))[-1] == "world default: not judged, since no tool was called"
    assert json.loads("\n".join(shown(capfd, str(path), "--json")))["worlds"]["default"]["grade"] is None


def test_a_folder_is_refused_with_a_trace_in_it(trace: Path, capfd: Any) -> None:
    assert refusal(capfd, str(trace.parent)) == (
        f"mcp-sim: {trace.parent} is a folder; name a trace in it, such as {trace.parent / 'calls.jsonl'}\n"
    )
