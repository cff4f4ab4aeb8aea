"""`mcp-sim explain`: the perturbations that fire at the calls of a trace, and the reasons why the others do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.explain import Explainer, as_it_ran
from mcp_sim.spec.sources import shipped
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import header_line

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
LIST: dict[str, Any] = {"tool": "list_deals", "arguments": {}}
CREATE = {"tool": "create_deal", "arguments": SPRING}
HEAD = "mcp_sim: 1\ntools: crm\n"

Explain = Callable[..., list[str]]


@pytest.fixture
def explain(tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Return a function that plays calls under perturbations and returns the lines of their explanation."""
    monkeypatch.chdir(tmp_path)

    def explained(perturbations: str, calls: list[dict[str, Any]], *options: str, other: str = "") -> list[str]:
        Path("x.yaml").write_text(f"{HEAD}perturbations:\n{perturbations}", encoding="utf-8")
        Path("y.yaml").write_text(f"{HEAD}perturbations:\n{other or perturbations}", encoding="utf-8")
        Path("calls.jsonl").write_text("\n".join(map(json.dumps, calls)), encoding="utf-8")
        assert main(["play", "x.yaml", "calls.jsonl", "--trace", "run.jsonl"]) == 0
        capfd.readouterr()
        assert main(["explain", "run.jsonl", *(["--scenario", "y.yaml"] if other else []), *options]) == 0
        return capfd.readouterr().out.splitlines()

    return explained


def test_a_counter_shows_the_number_of_the_call(explain: Explain) -> None:
    lines = explain("  - error: {}\n    id: e\n    when: {nth: 2}\n", [LIST, LIST])
    assert lines[0] == "world default"
    assert lines[2] == "    no    e (error): nth 2 (number 1: no)"
    assert lines[4] == "    fires e (error), applied: nth 2 (number 2: yes)"
    assert lines[5] == "e: fires at 1 of 2 matching calls"


def test_a_probability_shows_the_drawn_number(explain: Explain) -> None:
    lines = explain("  - error: {}\n    id: e\n    when: {probability: 0.5}\n", [LIST] * 8)
    drawn = [line.partition("drew ")[2].partition(":") for line in lines if "drew" in line]
    assert len(drawn) == 8
    assert {float(number) < 0.5 for number, _, _ in drawn} == {True, False}
    assert all((float(number) < 0.5) is ("yes" in verdict) for number, _, verdict in drawn)


def test_a_filter_that_does_not_match_hides_the_other_conditions(explain: Explain) -> None:
    when = "when: {arguments: {stage: won}, nth: 1}"
    won = {"tool": "list_deals", "arguments": {"stage": "won"}}
    lines = explain(f"  - error: {{}}\n    id: e\n    {when}\n", [LIST, won])
    assert lines[2] == '    no    e (error): arguments stage "won" (no)'
    assert lines[4] == '    fires e (error), applied: arguments stage "won" (yes); nth 1 (number 1: yes)'


def test_nested_conditions_are_explained_one_by_one(explain: Explain) -> None:
    when = "when: {any: [{nth: 2}, {arguments: {stage: won}}], not: {every: 3}}"
    lines = explain(f"  - error: {{}}\n    id: e\n    {when}\n", [LIST] * 3)
    explanations = [line.partition("e (error)")[2] for line in lines if "(error)" in line]
    assert explanations == [
        ': any of (nth 2 (number 1: no); arguments stage "won" (no)) (no); not of (every 3 (number 1: no)) (yes)',
        ', applied: any of (nth 2 (number 2: yes); arguments stage "won" (no)) (yes);'
        " not of (every 3 (number 2: no)) (yes)",
        ': any of (nth 2 (number 3: no); arguments stage "won" (no)) (no); not of (every 3 (number 3: yes)) (no)',
    ]


def test_a_counter_per_tool_shows_the_number_of_the_call_to_that_tool(explain: Explain) -> None:
    companies: dict[str, Any] = {"tool": "list_companies", "arguments": {}}
    lines = explain("  - error: {}\n    id: e\n    when: {nth: 2, per: tool}\n", [LIST, companies, LIST])
    assert [line.partition("number ")[2] for line in lines if "number" in line] == ["1: no)", "1: no)", "2: yes)"]


def test_carried_and_capped_perturbations_are_explained(explain: Explain) -> None:
    faults = (
        "  - lost_ack: {}\n    id: l\n    when: {nth: 1}\n  - error: {}\n    id: e\n    fires: 1\n    tools: list_*\n"
    )
    lines = [line for line in explain(faults, [LIST, LIST, CREATE]) if line.startswith("    ")]
    assert lines == [
        "    fires l (lost_ack), preempted: nth 1 (number 1: yes)",
        "    fires e (error), applied: always",
        "    fires l (lost_ack), no effect: nth 1 (number 2: no); carried from an earlier call",
        "    fires e (error), capped: always",
        "    fires l (lost_ack), applied: nth 1 (number 3: no); carried from an earlier call",
    ]


def test_the_explanation_can_be_limited_to_one_call_or_one_perturbation(explain: Explain, capfd: Any) -> None:
    faults = "  - latency: 1s\n    id: l\n  - error: {}\n    id: e\n    when: {nth: 9}\n"
    assert len(explain(faults, [LIST] * 3, "--step", "3")) == 1 + 3 + 2
    lines = explain(faults, [LIST] * 3, "--id", "l")
    assert not any("e (error)" in line for line in lines)
    assert lines[-1] == "l: fires at 3 of 3 matching calls"
    assert main(["explain", "run.jsonl", "--id", "ll"]) == 2
    assert "did you mean 'l'?" in capfd.readouterr().err


def test_the_last_lines_explain_perturbations_that_cannot_fire(explain: Explain) -> None:
    faults = (
        "  - error: {}\n    id: off\n    enabled: false\n"
        "  - error: {}\n    id: elsewhere\n    tools: create_*\n"
        "  - external_change: {do: edit, entity: deal, every: 1h}\n    id: others\n"
    )
    assert explain(faults, [LIST])[1:] == [
        "off: is disabled",
        "elsewhere: no call matches its tools (create_*)",
        "others: acts on its own, not at calls",
    ]


def test_a_trace_can_be_explained_under_another_scenario(explain: Explain) -> None:
    other = "  - error: {}\n    id: e\n    when: {nth: 2}\n    fires: 1\n"
    lines = explain("  - latency: 1s\n    id: l\n", [LIST, LIST], other=other)
    assert lines[0].startswith("the trace belongs to another scenario")
    assert lines[-2] == "    fires e (error): nth 2 (number 2: yes)"


@pytest.mark.parametrize("scenario", ["flaky_crm", "flaky_shop", "flaky_chat"])
async def test_recomputed_decisions_agree_with_the_ledger(scenario: str, tmp_path: Path) -> None:
    faults = "".join(
        f"  - {kind}\n    id: n{at}\n    when: {when}\n"
        for at, (kind, when) in enumerate(
            [
                ("lost_ack: {}", "{probability: 0.3}"),
                ("stale_read: {}", "{any: [{every: 3, per: tool}, {probability: 0.2}]}"),
                ("truncate: 1", "{after: 20 calls, burst: {every: 6, length: 2}}"),
                ("error: {}", "{history: {tool: '*', outcome: error, at_least: 2, within: 5 calls}, probability: 0.2}"),
                ("duplicate_effect: {}", "{nth: [2, 7]}"),
                ("latency: 2s", "{state: 'now.getSeconds() > 29'}"),
            ]
        )
    )
    path = shipped("scenarios")[scenario]
    text = path.read_text(encoding="utf-8").replace("\nexpect:", f"\n{faults}expect:")
    copy = tmp_path / "x.yaml"
    copy.write_text(text, encoding="utf-8")
    assert await _agreements(Simulator(load(copy), ledger_keep=2000)) > 100


async def _agreements(simulator: Simulator) -> int:
    """Return the number of decisions in a run, after checking that the recomputation agrees with the ledger."""
    async with simulator.open() as world:
        walker = Walker([tool for server in world.scenario.servers for tool in world.catalogue(server)], 3)
        for _ in range(150):
            tool, arguments = walker.call()
            walker.learn(tool, arguments, await world.call(tool.id, arguments))
    return sum(
        _agreed(step, {finding.id for finding in findings if finding.decided})
        for step, findings in Explainer(simulator.scenario).findings(world.ledger.steps)
    )


def _agreed(step: dict[str, Any], decided: set[str]) -> int:
    assert decided == {one["id"] for one in step["perturbations"]}, step["index"]
    return len(decided)


async def test_a_fork_with_its_own_stream_is_explained_by_the_draws_of_that_stream(tmp_path: Path, capfd: Any) -> None:
    scenario, path = tmp_path / "x.yaml", tmp_path / "run.jsonl"
    scenario.write_text(f"{HEAD}perturbations: [{{error: {{}}, id: e, when: {{probability: 0.5}}}}]\n")
    loaded = load(scenario)
    sink = Jsonl(path, header_line("x", loaded.sha256, "0"))
    async with Simulator(loaded, [sink]).open("w1") as world:
        await world.call("list_deals", {})
        twin = world.fork("w2", stream="b")
        for _ in range(6):
            await world.call("list_deals", {})
            await twin.call("list_deals", {})
    sink.close()
    assert main(["explain", str(path), "--scenario", str(scenario)]) == 0
    out = capfd.readouterr().out
    assert "otherwise" not in out
    first, second = out.split("world w2")
    assert (first.count("#"), second.count("#")) == (7, 6)
    assert first.splitlines()[-12:] != second.splitlines()[-12:]


def test_a_run_at_another_intensity_is_explained_at_that_intensity(tmp_path: Path, capfd: Any) -> None:
    scenario, path = tmp_path / "x.yaml", tmp_path / "run.jsonl"
    scenario.write_text(f"{HEAD}perturbations: [{{error: {{}}, id: e, when: {{probability: 1.0}}}}]\n")
    calls = tmp_path / "calls.jsonl"
    calls.write_text("\n".join([json.dumps(LIST)] * 5))
    assert main(["play", str(scenario), str(calls), "--trace", str(path), "--intensity", "0.4"]) == 0
    capfd.readouterr()
    assert main(["explain", str(path), "--scenario", str(scenario)]) == 0
    out = capfd.readouterr().out
    assert "probability 0.4 (drew" in out
    assert "otherwise" not in out
    assert as_it_ran(load(scenario), []).intensity == 1


def test_a_file_that_is_not_a_trace_is_refused(tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"world":"w","step":{"n":2,"entry":"call"}}\n', encoding="utf-8")
    assert main(["explain", str(path), "--scenario", "flaky_crm"]) == 2
    assert f"{path} is not a trace" in capfd.readouterr().err


def test_a_damaged_line_of_a_trace_is_reported_and_the_others_are_explained(
    tmp_path: Path, explain: Explain, capfd: pytest.CaptureFixture[str]
) -> None:
    explain("  - lost_ack: {}\n", [LIST])
    with Path("run.jsonl").open("a", encoding="utf-8") as trace:
        trace.write('{"world":"default","step":{"n":2,"entry":"call"}}\n')
    assert main(["explain", "run.jsonl"]) == 0
    shown = capfd.readouterr()
    assert "run.jsonl:4: not an entry of a trace" in shown.err
    assert "fires at 1 of 1 matching calls" in shown.out


@pytest.mark.parametrize(
    ("option", "value", "message"), [("--step", "7", "no call at step 7"), ("--world", "x", "no world 'x'")]
)
def test_a_call_or_world_that_is_not_in_the_trace_is_refused(
    option: str, value: str, message: str, explain: Explain, capfd: pytest.CaptureFixture[str]
) -> None:
    explain("  - lost_ack: {}\n", [LIST])
    assert main(["explain", "run.jsonl", option, value]) == 2
    assert capfd.readouterr().err.startswith(f"mcp-sim: run.jsonl has {message}")
