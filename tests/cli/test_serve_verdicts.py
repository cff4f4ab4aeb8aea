"""`mcp-sim serve` judges each world when it ends: on stderr, and in a report."""

from __future__ import annotations

import json
import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from support.over_http import caller, listening
from support.stdio_process import serving, stderr_of

from mcp_sim import Simulator
from mcp_sim.cli import judging, main
from mcp_sim.cli.files import replace_file
from mcp_sim.simulator.compile import load
from mcp_sim.types.json_values import encode

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
ONE = {"state": {"entity": "deal", "where": {"title": "Spring order"}, "count": 1}, "id": "one"}


def document(folder: Path, *expect: Any) -> str:
    lost = {"lost_ack": {}, "id": "lost", "tools": "create_deal", "when": {"nth": 1}}
    body = {"mcp_sim": 1, "name": "judged", "tools": "crm", "perturbations": [lost], "expect": list(expect)}
    path = folder / "judged.yaml"
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


def outcomes(report: Path) -> dict[str, Any]:
    worlds = json.loads(report.read_text(encoding="utf-8"))["worlds"]
    return {name: grade["outcome"] for name, grade in worlds.items()}


@pytest.mark.parametrize("by_signal", [False, True])
def test_over_stdio_the_world_is_judged_when_the_session_ends(tmp_path: Path, by_signal: bool) -> None:
    report = tmp_path / "report.json"
    with serving(document(tmp_path, ONE), "--clock", "virtual", "--report", str(report)) as wire:
        wire.wait_until_started()
        assert outcomes(report) == {}
        for number in (1, 2):
            wire.call(number, "create_deal", SPRING)
            wire.answer()
        if by_signal:
            wire.process.send_signal(signal.SIGTERM)
            assert wire.process.wait(10) == 143
        else:
            wire.leave()
        said = stderr_of(wire)
    assert "world default: failed: one failed\n  failed   one: 2 deal records fit, expected 1 (steps 2, 3)" in said
    assert outcomes(report) == {"default": "failed"}


def test_without_a_final_answer_answered_is_not_judged(tmp_path: Path) -> None:
    with serving(document(tmp_path, ONE, {"answered": "done", "id": "told"}), "--clock", "virtual") as wire:
        wire.call(1, "create_deal", SPRING)
        wire.answer()
        wire.leave()
        said = stderr_of(wire)
    assert "world default: inconclusive: told is not judged" in said
    assert "not judged told: the final answer is not known" in said


def test_a_scenario_that_expects_nothing_is_not_judged_nor_is_a_world_without_calls(tmp_path: Path) -> None:
    with serving(document(tmp_path)) as wire:
        wire.call(1, "create_deal", SPRING)
        wire.answer()
        wire.leave()
        assert "world default" not in stderr_of(wire)
    with serving(document(tmp_path, ONE)) as wire:
        wire.leave()
        assert "world default: not judged, since no tool was called" in stderr_of(wire)


async def test_over_http_each_world_is_judged(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with listening(document(tmp_path, ONE), "--clock", "virtual", "--report", str(report)) as served:
        for world, calls in (("good", 1), ("bad", 2)):
            async with caller(f"{served.url}/w/{world}/mcp", "2026-07-28") as one:
                for _ in range(calls):
                    await one.post("tools/call", {"name": "create_deal", "arguments": SPRING})
        assert served.end() == 143
    assert outcomes(report) == {"good": "passed", "bad": "failed"}
    assert any(line.startswith("world good: passed") for line in served.log)
    assert any(line.startswith("  failed   one: 2 deal records fit") for line in served.log)


async def test_over_http_the_world_of_a_session_is_judged_when_it_ends(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with listening(document(tmp_path, ONE), "--clock", "virtual", "--report", str(report)) as served:
        async with caller(f"{served.url}/mcp", "2025-11-25") as one:
            await one.post("tools/call", {"name": "create_deal", "arguments": SPRING})
            await one.leave()
        for _ in range(600):  # it is written soon after
            if outcomes(report):
                break
            await anyio.sleep(0.1)
        assert list(outcomes(report).values()) == ["passed"]


def test_a_report_keeps_the_worlds_of_the_same_scenario_and_no_other_file_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, scenario = tmp_path / "report.json", document(tmp_path, ONE)
    for world in ("first", "second"):
        with serving(scenario, "--report", str(report), "--store", str(tmp_path / "s.db"), "--world", world) as wire:
            wire.call(1, "create_deal", SPRING)
            wire.answer()
            wire.leave()
    assert outcomes(report) == {"first": "passed", "second": "passed"}
    report.write_text('["mine"]', encoding="utf-8")
    assert main(["serve", scenario, "--report", str(report)]) == 2
    assert "the file is not a report" in capsys.readouterr().err
    assert report.read_text(encoding="utf-8") == '["mine"]'


async def test_a_report_is_not_written_for_each_world_and_is_complete_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = list[Path]()

    def replace_counted(path: Path, text: str) -> None:
        written.append(path)
        replace_file(path, text)

    monkeypatch.setattr(judging, "replace_file", replace_counted)
    scenario, report = load(document(tmp_path, ONE)), tmp_path / "report.json"
    async with Simulator(scenario) as simulator:
        judge = judging.Judging(scenario, None, report)
        for number in range(50):
            world = simulator.world(f"w{number}", clock="virtual")
            await world.call("create_deal", SPRING)
            judge.judge(world)
        judge.finish()
    assert len(outcomes(report)) == 50
    assert len(written) < 20


async def test_a_report_is_bounded_and_counts_the_worlds_that_it_has_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "MOST_BYTES", 4_000)
    scenario, report = load(document(tmp_path, ONE)), tmp_path / "report.json"
    async with Simulator(scenario) as simulator:
        for names in ([*["again"] * 20, *map(str, range(19))], [*map(str, range(19, 39))]):
            judge = judging.Judging(scenario, None, report)
            for name in names:
                world = simulator.world(name, clock="virtual")
                await world.call("create_deal", SPRING)
                judge.judge(world)
            judge.finish()
    assert report.stat().st_size < 5_000
    found = json.loads(report.read_text(encoding="utf-8"))
    assert {"again", "0", "1"} < found["worlds"].keys()
    assert len(found["worlds"]) + found["more"]["passed"] == 40


async def test_a_world_that_ends_again_without_room_for_its_grade_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, report = load(document(tmp_path, ONE)), tmp_path / "report.json"
    async with Simulator(scenario) as simulator:
        world = simulator.world("again", clock="virtual")
        await world.call("create_deal", SPRING)
        monkeypatch.setattr(judging, "MOST_BYTES", len(encode({"again": world.grade().to_json()})) + 4)
        judge = judging.Judging(scenario, None, report)
        judge.judge(world)
        for _ in range(20):
            await world.call("create_deal", SPRING)
        judge.judge(world)
        judge.finish()
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (found["worlds"], found["more"]) == ({}, {"failed": 1})


@pytest.mark.skipif(sys.platform != "linux", reason="needs many connections")
async def test_under_a_flood_of_connections_and_sessions_the_server_is_healthy_and_judges_each_world(
    tmp_path: Path,
) -> None:
    report = tmp_path / "report.json"
    with (
        listening(document(tmp_path, ONE), "--report", str(report), "--log-level", "warning") as served,
        ExitStack() as open_,
    ):
        for number in range(400):
            connection = open_.enter_context(socket.create_connection(("127.0.0.1", served.port), 30))
            connection.sendall(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * number)
        statuses = list[int]()

        async def agent(number: int) -> None:
            world = f"/w/w{number}" if number % 2 else ""
            async with caller(f"{served.url}{world}/mcp", "2025-11-25") as one:
                await one.call("create_deal", SPRING)
                await one.leave()

        async def look() -> None:
            async with httpx2.AsyncClient(base_url=served.url, trust_env=False, timeout=60) as client:
                for _ in range(20):
                    statuses.append((await client.get("/health")).status_code)

        async with anyio.create_task_group() as tasks:
            for number in range(60):
                tasks.start_soon(agent, number)
            tasks.start_soon(look)
        assert statuses == [200] * 20
        assert served.end() == 143
    found = outcomes(report)
    assert (len(found), set(found.values())) == (60, {"passed"})
