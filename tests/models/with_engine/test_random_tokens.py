"""A real engine that emits random tokens is the worst world model there is. What holds with it holds with any."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from support.checker import Report, judged
from support.engine import OFF, with_model
from support.long_walks import plans_json, tools_of
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.models.language_model.reply import Reply, observation_text, parse_json
from mcp_sim.types import Observation, Tool, ToolResult
from mcp_sim.types.errors import Crash
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

Json = Any
SCENARIOS = ("crm", "issue_tracker", "shop", "calendar_mail", "chat", "office")
WORLDS, CALLS = 4, 13
BUDGET = {"thinking": 64}


@dataclass
class Drive:
    """What became of the calls of some worlds."""

    calls: int = 0
    succeeded: int = 0
    asked: int = 0
    fallbacks: int = 0
    invalid: list[str] = field(default_factory=list[str])
    crashes: list[str] = field(default_factory=list[str])
    reports: list[Report] = field(default_factory=list[Report])
    texts: Counter[bool] = field(default_factory=Counter[bool])
    """Open text fields: was what is served the model's own?"""

    @property
    def violations(self) -> list[str]:
        return [f"{one.rule} {one.tool}: {one.what}" for report in self.reports for one in report.violations]

    def shown(self) -> str:
        share = self.texts[True] / max(1, self.texts.total())
        return (
            f"{self.calls} calls, {self.succeeded} succeeded, {self.asked} asked, {len(self.crashes)} crashes, "
            f"{self.fallbacks} fallbacks, {len(self.invalid)} invalid, {len(self.violations)} violations, "
            f"{self.texts.total()} open texts, {100 * share:.1f} % the model's own"
        )


async def driven(scenario: Scenario, seed: int, calls: int, drive: Drive) -> None:
    """Walk through one world, and add to the drive what came of it."""
    async with Simulator(scenario, ledger_keep=4 * calls).open(seed=seed) as world:
        walker = Walker(tools_of(world), seed, world)
        for _ in range(calls):
            tool, arguments = walker.call()
            drive.calls += 1
            try:
                observation = await world.call(tool.id, arguments)
            except Crash as crash:
                drive.crashes.append(str(crash))
                continue
            walker.learn(tool, arguments, observation)
            _note(drive, world, tool, observation)
        drive.reports.append(judged(world.ledger, plans_json(scenario.domain)))


def _note(drive: Drive, world: World, tool: Tool, observation: Observation) -> None:
    drive.succeeded += observation.ok
    entry = world.ledger.newest
    measured = entry["measured"]
    drive.asked += measured.get("asked", False)
    drive.fallbacks += measured.get("fallback", False)
    body = observation.body
    if tool.output_schema is not None and isinstance(body, ToolResult) and not body.is_error:
        judge: Any = Draft202012Validator(tool.output_schema)
        drive.invalid += [f"{tool.id}: {str(problem.message)[:200]}" for problem in judge.iter_errors(body.value)]
    if measured.get("open_fields"):
        drive.texts.update(_own_texts(entry))


def _own_texts(entry: Json) -> Iterator[bool]:
    """Yield for each text of the reply for an open field whether it was written unchanged."""
    reply = parse_json(observation_text(Reply(entry["measured"]["reply"]["raw"])), "")
    step = entry["step"]
    written = [change["record"] for change in (*step["committed"], *step["absorbed"]) if "record" in change]
    for name, value in reply.items():
        if isinstance(value, str) and any(name in record for record in written):
            yield any(record.get(name) == value for record in written)


def log(line: str) -> None:
    """Show a figure while the tests run."""
    sys.stderr.write(f"\n{line}\n")


@pytest.mark.parametrize("options", [OFF, BUDGET], ids=["thinking off", "64 tokens of thinking"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_with_random_tokens_every_answer_is_valid_and_consistent(name: str, options: Json, engine: str) -> None:
    drive = Drive()
    scenario = with_model(name, engine, **options)
    async with anyio.create_task_group() as tasks:
        for seed in range(WORLDS):
            tasks.start_soon(driven, scenario, seed, CALLS, drive)
    log(f"{name}, {options}: {drive.shown()}")
    assert drive.calls == WORLDS * CALLS
    assert not drive.crashes
    assert drive.fallbacks == 0
    assert not drive.invalid
    assert not drive.violations
    assert drive.asked == drive.calls
    assert drive.succeeded >= 0.7 * drive.calls
    assert drive.texts[True] >= 0.95 * drive.texts.total()


def desk(folder: Path) -> Path:
    """A help desk whose tickets leave much to the world model: a summary, advice, an effort."""
    text: Json = {"type": "string"}
    open_fields: Json = {"summary": text, "advice": {"type": "string", "maxLength": 80}, "effort": {"type": "integer"}}
    ticket: Json = {"type": "object", "properties": {"id": text, "title": text, **open_fields}}
    ticket["required"] = [*ticket["properties"]]
    tools: Json = [
        {
            "name": "create_ticket",
            "inputSchema": {"type": "object", "properties": {"title": text}, "required": ["title"]},
            "outputSchema": ticket,
        },
        {
            "name": "get_ticket",
            "inputSchema": {"type": "object", "properties": {"ticket_id": text}, "required": ["ticket_id"]},
            "outputSchema": ticket,
        },
    ]
    (folder / "desk.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    scenario = folder / "scenario.yaml"
    scenario.write_text('{"mcp_sim": 1, "tools": "desk.json", "world": {"records": {"ticket": 5}}}', encoding="utf-8")
    return scenario


async def test_what_the_world_leaves_open_is_served_as_the_model_said_it(engine: str, tmp_path: Path) -> None:
    drive = Drive()
    await driven(with_model(str(desk(tmp_path)), engine, **OFF), 1, 60, drive)
    log(f"desk: {drive.shown()}")
    assert not drive.crashes
    assert not drive.invalid
    assert not drive.violations
    assert drive.texts.total() >= 40
    assert drive.texts[True] >= 0.95 * drive.texts.total()


def unheard_of(scenario: Scenario, count: int) -> Iterator[tuple[str, Json]]:
    """Calls for records that were never mentioned, of every tool that gets one by its id."""
    for plan in scenario.domain.plans.values():
        entity = scenario.domain.entities.get(plan.entity or "")
        if plan.verb != "get" or plan.guessed or plan.key is None or entity is None:
            continue
        numbered = re.fullmatch(r"(.*?)(\d+)(\D*)", str(entity.key_like))
        required = scenario.domain.tools[plan.tool].input_schema.get("required", [])
        if numbered is None or [*required] != [plan.key]:
            continue
        for at in range(1, count + 1):
            number = int(numbered[2]) + 5_000 + at
            key = f"{numbered[1]}{number:0{len(numbered[2])}}{numbered[3]}"
            yield plan.tool, {plan.key: number if isinstance(entity.key_like, int) else key}


async def test_records_that_no_one_mentioned_yet_are_as_the_model_says_where_the_world_is_open(engine: str) -> None:
    drive = Drive()
    for name in SCENARIOS:
        scenario = with_model(name, engine, **OFF, max_attempts=5)
        scenario = replace(scenario, domain=replace(scenario.domain, open=True))
        async with Simulator(scenario, ledger_keep=100).open(seed=4) as world:
            for tool, arguments in unheard_of(scenario, 3):
                drive.calls += 1
                try:
                    _note(drive, world, scenario.domain.tools[tool], await world.call(tool, arguments))
                except Crash as crash:  # what holds a mark such as `<think>` is not served
                    drive.crashes.append(str(crash))
            drive.reports.append(judged(world.ledger, plans_json(scenario.domain)))
    log(f"open worlds: {drive.shown()}")
    assert len(drive.crashes) <= 0.1 * drive.calls
    assert not drive.invalid
    assert not drive.violations
    assert drive.fallbacks == 0
    assert drive.texts.total() >= 100
    assert drive.texts[True] >= 0.95 * drive.texts.total()


def unconstrained(scenario: Scenario) -> Scenario:
    """The scenario where the world determines nothing: every plan is a guess that names no entity."""
    plans = {name: replace(plan, verb="unknown", entity=None) for name, plan in scenario.domain.plans.items()}
    return replace(scenario, domain=replace(scenario.domain, plans=plans))


async def test_without_the_constraints_of_the_world_the_same_tokens_contradict_it(engine: str) -> None:
    drive = Drive()
    for name in ("issue_tracker", "shop", "calendar_mail", "chat", "files", "crm"):  # as many as the constrained walks
        await _walk_unconstrained(with_model(name, engine, **OFF), 0, drive)
        log(f"without the world, up to {name}: {len(drive.violations)} violations, {drive.succeeded} of {drive.calls}")
        if drive.violations:
            break
    assert drive.violations


async def _walk_unconstrained(scenario: Scenario, seed: int, drive: Drive) -> None:
    """Make 50 calls in a world without constraints, and judge them by the plans of the scenario."""
    async with Simulator(unconstrained(scenario), ledger_keep=400).open(seed=seed) as world:
        walker = Walker(tools_of(world), seed, world)
        for _ in range(50):
            tool, arguments = walker.call()
            drive.calls += 1
            try:
                _note(drive, world, tool, await world.call(tool.id, arguments))
            except Crash:
                continue
        drive.reports.append(judged(world.ledger, plans_json(scenario.domain)))


async def test_thinking_without_end_is_an_answer_or_a_crash_and_never_served(engine: str) -> None:
    scenario = with_model("crm", engine, thinking="on", max_tokens=300, max_attempts=1)
    async with Simulator(scenario, ledger_keep=100).open(seed=3) as world:
        walker = Walker(tools_of(world), 3, world)
        answered = 0
        for _ in range(10):
            tool, arguments = walker.call()
            try:
                observation = await world.call(tool.id, arguments)
            except Crash:
                continue
            answered += 1
            reply = world.ledger.newest["measured"].get("reply", {})
            thought = reply.get("reasoning", "")
            served = json.dumps(observation.body.value) if isinstance(observation.body, ToolResult) else ""
            assert "<think>" not in served
            assert not thought or thought[:40] not in served
        assert answered + len(world.ledger.crashes) == 10
