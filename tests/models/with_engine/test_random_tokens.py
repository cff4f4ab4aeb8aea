"""A real engine that emits random tokens is the worst world model there is. What holds with it holds with any."""

from __future__ import annotations

import json
import os
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
from support.engine import OFF, served_texts, texts_in, with_model
from support.long_walks import plans_json, tools_of
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.types import Observation, Tool, ToolResult
from mcp_sim.types.errors import Crash
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

Json = Any
WALKS = (
    ("crm", OFF),
    ("crm", {"thinking": 64}),
    ("issue_tracker", OFF),
    ("shop", OFF),
    ("chat", OFF),
    ("office", OFF),
)
WORLDS = 2
CALLS = int(os.environ.get("MCP_SIM_ENGINE_CALLS", "60")) // (WORLDS * len(WALKS))
"""Calls per world: 600 in all by hand, 60 in CI."""
LIMIT = 900 if CALLS < 20 else 7_200
"""Seconds for all of them."""
LEAST_OWN = 0.6
"""The share of text that must be the model's own, of the text that no call and no record determines."""


@dataclass
class Drive:
    """What became of the calls of some worlds."""

    calls: int = 0
    succeeded: int = 0
    asked: int = 0
    settled: int = 0
    """Calls that need no model: they were made before and are answered from memory, or their arguments are refused."""
    attempts: int = 0
    values_shown: int = 0
    values_fixed: int = 0
    invalid: list[str] = field(default_factory=list[str])
    crashes: list[str] = field(default_factory=list[str])
    reports: list[Report] = field(default_factory=list[Report])
    letters: Counter[bool] = field(default_factory=Counter[bool])
    """Characters of open texts: is what is served the model's own?"""

    @property
    def violations(self) -> list[str]:
        return [f"{one.rule} {one.tool}: {one.what}" for report in self.reports for one in report.violations]

    @property
    def own(self) -> float:
        return self.letters[True] / max(1, self.letters.total())

    def shown(self) -> str:
        return (
            f"{self.calls} calls, {self.succeeded} succeeded, {self.asked} asked, {self.settled} settled, "
            f"{self.attempts} attempts, "
            f"{len(self.crashes)} crashes, {len(self.invalid)} invalid, {len(self.violations)} violations, "
            f"{self.values_fixed} of {self.values_shown} values fixed, {100 * self.own:.1f} % "
            f"of {self.letters.total()} open characters own"
        )


async def driven(scenario: Scenario, seed: int, calls: int, drive: Drive) -> None:
    """Walk through one world, and add to the drive what came of it."""
    async with Simulator(scenario, ledger_keep=4 * calls).open(seed=seed) as world:
        walker = Walker(tools_of(world), seed, world)
        made, known = set[str](), stored_texts(world)
        for _ in range(calls):
            tool, arguments = walker.call()
            known.update(text for _, text in texts_in(arguments))
            drive.calls += 1
            call = json.dumps([tool.id, arguments], sort_keys=True)
            try:
                observation = await world.call(tool.id, arguments)
            except Crash as crash:
                drive.crashes.append(str(crash))
                continue
            walker.learn(tool, arguments, observation)
            _note(drive, world, tool, observation, known)
            judge: Any = Draft202012Validator(tool.input_schema)
            is_settled = call in made or not judge.is_valid(arguments)
            drive.settled += is_settled and not world.ledger.newest["measured"].get("asked")
            made.add(call)
        drive.reports.append(judged(world.ledger, plans_json(scenario.domain), own_ids=True))


def stored_texts(world: World) -> set[str]:
    """Return the texts in the records of a world."""
    rows = (record for entity in world.view.entities() for _, record in world.view.rows(entity))
    return {text for record in rows for _, text in texts_in(record)}


def _note(drive: Drive, world: World, tool: Tool, observation: Observation, known: set[str]) -> None:
    """Add an answer to the drive. A text is open unless it is `known`: from a record, a call or an earlier answer."""
    drive.succeeded += observation.ok
    measured = world.ledger.newest["measured"]
    drive.asked += measured.get("asked", False)
    drive.attempts += measured.get("attempts", 0)
    drive.values_shown += measured.get("values_shown", 0)
    drive.values_fixed += measured.get("values_fixed", 0)
    body = observation.body
    if tool.output_schema is not None and isinstance(body, ToolResult) and not body.is_error:
        judge: Any = Draft202012Validator(tool.output_schema)
        drive.invalid += [f"{tool.id}: {str(problem.message)[:200]}" for problem in judge.iter_errors(body.value)]
    if measured.get("asked"):
        own = {text for _, text in texts_in(measured["reply"]["raw"])}
        for _, text in served_texts(observation):
            if text not in known:
                drive.letters[text in own] += len(text)
    known.update(text for _, text in served_texts(observation))


def log(line: str) -> None:
    """Show a figure while the tests run."""
    sys.stderr.write(f"\n{line}\n")


@pytest.mark.time_limit(LIMIT)
async def test_with_random_tokens_every_answer_is_valid_and_consistent(engine: str) -> None:
    drives = [Drive() for _ in WALKS]
    async with anyio.create_task_group() as tasks:
        for (name, options), drive in zip(WALKS, drives, strict=True):
            scenario = with_model(name, engine, **options)
            for seed in range(WORLDS):
                tasks.start_soon(driven, scenario, seed, CALLS, drive)
    for (name, options), drive in zip(WALKS, drives, strict=True):
        log("\n  ".join([f"{name}, {options}: {drive.shown()}", *drive.crashes, *drive.invalid, *drive.violations]))
    for drive in drives:
        assert drive.calls == drive.asked + drive.settled == WORLDS * CALLS
        check(drive)


def check(drive: Drive) -> None:
    """Assert that nothing failed, and that nothing served is invalid or contradicts the world."""
    assert not drive.crashes
    assert not drive.invalid
    assert not drive.violations


def desk(folder: Path) -> Path:
    """A help desk whose tickets leave much to the world model: a summary, advice, an effort."""
    text: Json = {"type": "string"}
    open_fields: Json = {"summary": text, "advice": {"type": "string", "maxLength": 80}, "effort": {"type": "integer"}}
    ticket: Json = {"type": "object", "properties": {"id": text, "title": text, **open_fields}}
    ticket |= {"required": [*ticket["properties"]], "additionalProperties": False}
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
    drive, scenario = Drive(), with_model(str(desk(tmp_path)), engine, **OFF)
    async with anyio.create_task_group() as tasks:
        for seed in range(WORLDS):
            tasks.start_soon(driven, scenario, seed, 10, drive)
    log(f"desk: {drive.shown()}")
    check(drive)
    assert drive.own >= LEAST_OWN


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


async def get_unheard_of(scenario: Scenario, drive: Drive) -> None:
    """Get the records that were never mentioned in one world, and add to the drive what came of it."""
    async with Simulator(scenario, ledger_keep=100).open(seed=4) as world:
        known = stored_texts(world)
        for tool, arguments in unheard_of(scenario, 2):
            drive.calls += 1
            known.update(text for _, text in texts_in(arguments))
            _note(drive, world, scenario.domain.tools[tool], await world.call(tool, arguments), known)
        drive.reports.append(judged(world.ledger, plans_json(scenario.domain), own_ids=True))


async def test_records_that_no_one_mentioned_yet_are_as_the_model_says_where_the_world_is_open(engine: str) -> None:
    drive = Drive()
    async with anyio.create_task_group() as tasks:
        for name in ("crm", "issue_tracker", "shop"):
            scenario = with_model(name, engine, **OFF)
            scenario = replace(scenario, domain=replace(scenario.domain, open=True))
            tasks.start_soon(get_unheard_of, scenario, drive)
    log(f"open worlds: {drive.shown()}")
    check(drive)
    assert drive.own >= LEAST_OWN


async def test_thinking_without_end_is_an_answer_or_a_crash_and_never_served(engine: str) -> None:
    scenario = with_model("crm", engine, thinking="on", max_tokens=300, max_attempts=1)
    async with Simulator(scenario, ledger_keep=100).open(seed=3) as world:
        walker = Walker(tools_of(world), 3, world)
        answered = 0
        for _ in range(5):
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
        assert answered + len(world.ledger.crashes) == 5
