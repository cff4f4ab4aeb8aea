"""`mcp-sim diff`: where two runs were served and wrote something else, and how their worlds end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import header_line

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CREATE = {"tool": "create_deal", "arguments": SPRING}


@pytest.fixture
def played(tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes the trace of a scenario and its calls, and gives its file."""
    monkeypatch.chdir(tmp_path)

    def play(name: str, scenario: str, *calls: dict[str, Any]) -> str:
        Path("calls.jsonl").write_text("\n".join(map(json.dumps, calls)), encoding="utf-8")
        assert main(["play", scenario, "calls.jsonl", "--trace", name]) == 0
        capfd.readouterr()
        return name

    return play


def diff_lines(capfd: Any, code: int, *arguments: str) -> list[str]:
    assert main(["diff", *arguments]) == code
    return capfd.readouterr().out.splitlines()


def test_equal_runs_do_not_differ(played: Any, capfd: Any) -> None:
    one, two = (played(name, "calm_crm", CREATE) for name in ("a.jsonl", "b.jsonl"))
    assert diff_lines(capfd, 0, one, two)[2:] == [
        "answers and changes are equal at every step",
        "final state",
        "    equal",
    ]


def test_a_fault_is_reported_where_it_changed_what_was_served(played: Any, capfd: Any) -> None:
    calm, flaky = played("a.jsonl", "calm_crm", CREATE), played("b.jsonl", "flaky_crm", CREATE)
    a, b, head, served, lost, none, fault, _, same = diff_lines(capfd, 1, calm, flaky)
    assert a == "A  a.jsonl: calm-crm, world default, seed 7, 1 calls"
    assert b == "B  b.jsonl: flaky-crm, world default, seed 7, 1 calls"
    assert head == 'both    #2 create_deal {"title":"Spring order","amount":4000,"contact_id":"con_00001"}'
    assert served.startswith('    served     A  {"id":"deal_0081"')
    assert lost.startswith("               B  error: 504 Gateway Timeout")
    assert none == "    faults     A  -"
    assert fault == "               B  lost-deal (lost_ack, nth 1)"
    assert same == "    equal"


def test_answers_that_begin_alike_are_reported_apart_by_what_differs(played: Any, capfd: Any) -> None:
    look = {"tool": "list_deals", "arguments": {"limit": 20}}
    one, two = played("a.jsonl", "calm_crm", CREATE, look), played("b.jsonl", "calm_crm", look)
    lines = diff_lines(capfd, 1, one, two)
    ours, theirs = (line.partition("  ")[2].strip() for line in lines if "result.total: " in line)
    assert ours.endswith("A  result.total: 81")
    assert theirs.endswith("B  result.total: 80")


def test_a_call_that_only_one_run_makes_is_listed_alone(played: Any, capfd: Any) -> None:
    calm, flaky = played("a.jsonl", "calm_crm", CREATE), played("b.jsonl", "flaky_crm", CREATE, CREATE)
    lines = diff_lines(capfd, 1, calm, flaky)
    assert "only B  #3 create_deal" in " ".join(lines)
    assert lines[-1].startswith("    deal deal_0082: only B wrote {")
    assert sum(line.startswith("    deal ") for line in lines) == 1


def test_records_that_both_wrote_are_compared_field_by_field(played: Any, capfd: Any) -> None:
    def update(stage: str) -> dict[str, Any]:
        return {"tool": "update_contact", "arguments": {"contact_id": "con_00001", "stage": stage}}

    one, two = played("a.jsonl", "calm_crm", update("customer")), played("b.jsonl", "calm_crm", update("churned"))
    assert diff_lines(capfd, 1, one, two)[-1] == "    contact con_00001.stage: A customer; B churned"


async def test_a_fork_is_compared_with_where_it_came_from(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "run.jsonl"
    sink = Jsonl(path, header_line("calm", "", "0"))
    async with Simulator(Simulator.load("calm_crm").scenario, [sink]).open("w1") as world:
        await world.call("create_deal", SPRING)
        twin = world.fork("w2")
        await twin.call("update_deal", {"deal_id": "deal_0081", "stage": "won"})
    sink.close()
    lines = diff_lines(capfd, 1, str(path), str(path), "--world", "w1", "--world-b", "w2")
    assert lines[2].startswith("only B  #3 update_deal")
    assert any(line.startswith("    deal deal_0081.stage: A ") and line.endswith("; B won") for line in lines)


def test_several_worlds_ask_for_a_choice_and_no_trace_is_reported(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "run.jsonl"
    now = "2029-03-01T09:00:00Z"
    clock = {"mode": "virtual", "now": now}
    reset = {"n": 1, "entry": "reset", "at": now, "seed": 1, "stream": "1", "clock": clock}
    entries = [{"world": name, "step": reset} for name in ("w1", "w2")]
    lines = [{"format": 2, "scenario": "x"}, *entries]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert main(["diff", str(path), str(path)]) == 2
    assert "has 2 worlds (w1, w2); choose one with --world" in capfd.readouterr().err
    assert main(["diff", str(path), str(path), "--world", "w3"]) == 2
    assert "has no world 'w3'" in capfd.readouterr().err
    path.write_text('{"format":1}\n', encoding="utf-8")
    assert main(["diff", str(path), str(path)]) == 2
    assert "is not a trace of format 2" in capfd.readouterr().err
    assert main(["diff", str(tmp_path / "gone"), str(path)]) == 2
