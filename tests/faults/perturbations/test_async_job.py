"""async_job: the call only begins the work; a job says when it is done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from support.fault_specs import NO_REPORTS, REPORTS
from support.perturbed import HALF, calls, outcomes, repeats_and_differs, served_value

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

SPRING = {"title": "Spring"}
Reports = Callable[..., Simulator]


@pytest.fixture
def reports(tmp_path: Path) -> Reports:
    def simulator(options: str, rest: str = ", tools: create_*", spec: str = REPORTS) -> Simulator:
        (tmp_path / "reports.yaml").write_text(spec)
        path = tmp_path / "scenario.yaml"
        entry = f"{{async_job: {options}, id: job{rest}}}"
        path.write_text(f"mcp_sim: 1\ntools: reports.yaml\n{NO_REPORTS}perturbations:\n  - {entry}\n")
        return Simulator.load(path)

    return simulator


async def job(world: World, key: str = "job_001") -> dict[str, object]:
    return await served_value(world, "get_job", {"job_id": key})


async def test_the_call_answers_with_a_job_that_is_done_after_the_time(reports: Reports) -> None:
    async with reports("get_job").open() as world:
        first = world.view
        assert await served_value(world, "create_report", SPRING) == {"job_id": "job_001", "status": "queued"}
        assert await job(world) == {"id": "job_001", "status": "queued"}
        assert not (await world.call("get_report", {"report_id": "rep_001"})).ok
        world.clock.advance(timedelta(seconds=30))
        ended = await job(world)
        assert ended["status"] == "done"
        assert (
            ended["result"]
            == {"id": "rep_001", "title": "Spring"}
            == await served_value(world, "get_report", {"report_id": "rep_001"})
        )
        assert calls(world)[0]["truth"]["observation"]["result"]["id"] == "rep_001"
        assert [change["op"] for change in calls(world)[0]["committed"]] == ["reserve", "put"]
        assert [step["actor"] for step in world.ledger.steps if step["entry"] == "event"] == ["the job"]
        twin = replayed(first, world.ledger.steps)
        assert [*twin.rows("report"), *twin.rows("job")] == [*world.view.rows("report"), *world.view.rows("job")]


async def test_or_after_so_many_calls_and_each_job_has_its_own_id(reports: Reports) -> None:
    async with reports("{status_tool: get_job, after: 2 calls}").open() as world:
        await served_value(world, "create_report", SPRING)
        assert (await served_value(world, "create_report", SPRING))["job_id"] == "job_002"
        assert [(await job(world))["status"] for _ in range(2)] == ["queued", "done"]
        assert [record["id"] for _, record in world.view.rows("report")] == ["rep_001"]
        assert (await job(world, "job_002"))["status"] == "done"
        assert [record["id"] for _, record in world.view.rows("report")] == ["rep_001", "rep_002"]


async def test_a_job_that_fails_writes_nothing(reports: Reports) -> None:
    async with reports("{status_tool: get_job, after: 1s, fails: 1, message: no paper}").open() as world:
        await served_value(world, "create_report", SPRING)
        assert await job(world) == {"id": "job_001", "status": "failed", "error": "no paper"}
        assert world.view.count("report") == 0


async def test_work_that_no_longer_fits_leaves_the_job_pending(reports: Reports) -> None:
    once = ", tools: update_report, when: {nth: 1}"
    async with reports("{status_tool: get_job, after: 1 calls}", once).open() as world:
        await served_value(world, "create_report", SPRING)
        await served_value(world, "update_report", {"report_id": "rep_001", "title": "late"})
        await served_value(world, "update_report", {"report_id": "rep_001", "title": "newer"})
        assert [(await job(world))["status"] for _ in range(2)] == ["queued", "queued"]
        assert (await served_value(world, "get_report", {"report_id": "rep_001"}))["title"] == "newer"


async def test_it_has_no_effect_on_calls_that_change_nothing(reports: Reports) -> None:
    async with reports("get_job", "").open() as world:
        assert not (await world.call("get_report", {"report_id": "rep_009"})).ok
        assert outcomes(world) == [["no_effect"]]


async def test_the_tool_in_reach_is_listed_without_its_output_schema(reports: Reports) -> None:
    async with reports("get_job").open() as world:
        bare = {tool.name for tool in world.catalogue("reports") if tool.output_schema is None}
        assert bare == {"create_report"}


async def test_the_same_seed_repeats_it_and_another_differs(reports: Reports) -> None:
    simulator = reports("{status_tool: get_job, after: 1s, fails: 0.5}")
    assert await repeats_and_differs(simulator, [("create_report", SPRING)] * 5, "committed")
    assert await repeats_and_differs(reports("get_job", f", tools: create_*, {HALF}"), [("create_report", SPRING)] * 5)


@pytest.mark.parametrize(
    ("tool", "rest", "problem"),
    [
        ("get_jobs", "", r"unknown tool 'get_jobs'.*get_job"),
        ("get_report", "", "reads no record with a status by its id"),
        ("get_job", ", tools: get_*", "no tool in reach changes anything"),
    ],
)
def test_what_cannot_work_is_refused_at_load(reports: Reports, tool: str, rest: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        reports(tool, rest)
