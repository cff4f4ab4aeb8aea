"""Faults of shells: a command that hangs, a full disk, and flaky tests."""

from __future__ import annotations

import json
from pathlib import Path

from support.services import message, value
from support.shells import out, run, simulator

from mcp_sim import Simulator

APPEND = "cd /app; echo three >> a.txt"


async def test_a_hanging_command_blocks_the_session_until_it_is_interrupted(tmp_path: Path) -> None:
    hang = {"hang": {}, "id": "hang", "when": {"nth": 2}}
    async with simulator(tmp_path, perturbations=[hang]).open(seed=1) as world:
        await run(world, "cd /app; n=5")
        assert "has not returned" in message(await world.call("run_command", {"command": "less a.txt"}))
        assert "'less a.txt' is still running" in message(await world.call("run_command", {"command": "pwd"}))
        twin = world.fork()
        assert (await run(world, "\x03"))["exit_code"] == 130
        assert await out(world, "pwd; echo $n") == "/app\n5\n"
        assert not (await twin.call("run_command", {"command": "pwd"})).ok


async def test_a_process_in_which_a_command_hangs_goes_on_running_until_it_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    hang = {"hang": {}, "when": {"any": [{"arguments": {"input": "less x"}}, {"arguments": {"command": "top"}}]}}
    path.write_text(json.dumps({"mcp_sim": 1, "name": "hung", "tools": "processes", "perturbations": [hang]}))
    async with Simulator.load(path).open(seed=1) as world:
        started = value(await world.call("start_process", {"command": "top", "timeout_ms": 1000}))
        assert started.endswith("⏳ Process is running. Use read_process_output to get more output.")
        value(await world.call("start_process", {"command": "bash", "timeout_ms": 1000}))
        for text in ("less x", "pwd"):
            answer = value(await world.call("interact_with_process", {"pid": 1208, "input": text}))
            assert answer.endswith("⏱️ Response may be incomplete (timeout reached)")
        assert "⏳ Process is running" in value(await world.call("read_process_output", {"pid": 1208}))
        assert "^C" in value(await world.call("interact_with_process", {"pid": 1208, "input": "\x03"}))
        assert "/root" in value(await world.call("interact_with_process", {"pid": 1208, "input": "pwd"}))
        ended = value(await world.call("interact_with_process", {"pid": 1201, "input": "\x03"}))
        assert ended.endswith("✅ Process 1201 has finished execution")
        assert value(await world.call("list_sessions", {})).startswith("PID: 1208")
        assert not [row for _, row in world.view.rows("shell_session") if row["blocked"] or row["id"] == "next"]


async def test_a_full_disk_cuts_off_what_is_written(tmp_path: Path) -> None:
    full = {"disk_full": {"mount": "/app"}, "id": "full", "when": {"until": "3 calls"}}
    state = {"partitions": {"/": {"device": "/dev/vda1", "size": 9000, "used": 10}}}
    async with simulator(tmp_path, perturbations=[full], state=state).open(seed=1) as world:
        result = await run(world, APPEND)
        assert (result["stderr"], result["exit_code"]) == (
            "bash: line 1: echo: write error: No space left on device\n",
            1,
        )
        assert await out(world, "df /app | tail -1 | awk '{print $5, $6}'; cat a.txt; cp a.txt /tmp/b; ls /tmp") == (
            "100% /app\none\ntwo\nb\n"
        )
        await run(world, "true")
        assert (
            await out(world, f"{APPEND}; cat a.txt; df /app | tail -1 | awk '{{print $6}}'") == "one\ntwo\nthree\n/\n"
        )


async def test_flaky_tests_fail_as_pytest_prints_it_and_only_then(tmp_path: Path) -> None:
    path = tmp_path / "flaky.yaml"
    fault = "{flaky: {tests: ['*loads*'], chance: 1, error: assert 0 == 1}, id: it, when: {nth: 1}}"
    path.write_text(f"{{mcp_sim: 1, tools: code, perturbations: [{fault}]}}", encoding="utf-8")
    async with Simulator.load(path).open(seed=1) as world:
        result = value(await world.call("run_tests", {}))
        assert (result["passed"], result["failed"]) == (12, 6)
        assert "FAILED tests/test_loads.py::test_a_full_van_fits - assert 0 == 1" in result["output"]
        assert value(await world.call("run_tests", {}))["failed"] == 1
