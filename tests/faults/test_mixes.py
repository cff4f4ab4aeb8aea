"""Mixes of perturbations over many calls: none corrupts a world, and the ledger has all that was written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Call, Change, Observation, ToolResult, Transition
from mcp_sim.types.kinds import Perturbation, perturbations, triggers
from mcp_sim.types.scenario import PerturbationEntry, Scenario, When
from mcp_sim.types.time_formats import parse_time
from mcp_sim.world.commits import replayed
from mcp_sim.world.consistency import inspection
from mcp_sim.world.state import State
from mcp_sim.world.world import World

ALWAYS = ("auth_expiry", "outage", "permission_denied", "quota_exhausted", "rate_limit")
"""Kinds that see to it themselves when they apply."""

CALLS = 400
MIXES = [(0, 2000), *((seed, CALLS) for seed in range(1, 8))]

OPTIONS: dict[str, list[Any]] = {
    "auth_expiry": [{"after": "7 calls", "refresh": "list_companies"}, {"after": "30s", "refresh": "list_deals"}],
    "conflict": [{}, {"actor": "bob"}],
    "corrupt_values": ["noise", "swap", "off_by_one", "unit", "encoding"],
    "delayed_visibility": ["5 calls", "10s"],
    "disconnect": [{"at": "before"}, {"at": "middle"}, {"at": "after"}],
    "drop_fields": [{}, {"leave": "null"}, {"leave": "empty"}],
    "duplicate_effect": [{}, {"more": 2, "answer": "last"}],
    "error": [{}, {"status": 429, "style": "json"}, {"status": 500, "style": "rpc"}],
    "external_change": [
        {"do": "insert", "entity": "deal", "count": 2},
        {"do": "edit", "entity": "contact", "every": "20s"},
        {"do": "delete", "entity": "activity", "at": "1m", "every": "30s"},
    ],
    "hide_tool": [{"calls": "answered", "announced": True}],
    "injection": [{"goal": "x", "placement": placement} for placement in ("value", "field", "row", "text")],
    "latency": ["3s", {"min": "0s", "max": "10s"}],
    "malformed": ["cut_json", "html", "wrong_type", "double_encoded", "disagree"],
    "natural_language": ["be odd", {"instruction": "page badly", "fallback": {"pagination": 1}}],
    "noise_rows": [{}, {"source": "invented"}],
    "oversized": [5000, {"size": 5000, "by": "rows"}],
    "pagination": [
        2,
        {"duplicates": 1, "order": "unstable"},
        {"drops": 1, "total": "more"},
        {"cursor_expires": "2 calls"},
    ],
    "outage": [{"lasts": "20s", "every": "3m", "recovery": "30s"}],
    "permission_denied": [
        {"entity": "deal", "where": {"stage": "won"}, "hidden": True},
        {"entity": "contact", "where": {"stage": "churned"}},
        {"entity": "deal", "fields": ["expected_close_date"]},
    ],
    "quota_exhausted": [{"limit": 40, "renewed": "2m"}, {"limit": 60, "of": "items", "renewed": "1m", "per": "tool"}],
    "rate_limit": [
        {"limit": 5, "window": "10s"},
        {"limit": 5, "window": "10s", "counting": "sliding"},
        {"limit": 3, "window": "9s", "counting": "bucket", "burst": 5, "per": "tool"},
    ],
    "schema_drift": [
        {"rename_output": {"title": "label"}, "notice": "announced"},
        {"rename": {"amount": "value"}, "old_calls": "accepted"},
        {"retype": {"amount": "string"}, "old_calls": "accepted"},
    ],
    "stale_read": [{}, "3 calls", "10s", {"versions": 5}],
    "truncate": [1, {"characters": 3}, {"bytes": 300}],
    "timeout": [{}, {"commit": "applied", "after": "2s"}, {"commit": "coin", "after": "1s"}, {"then": "hang"}],
    "validation_quirk": [{"rule": "lowercase"}, {"argument": "title", "max_length": 8}],
}
"""Options by kind, where a kind needs any or has several faces; the others have none, or what their example says."""


@cache
def calm() -> Scenario:
    return load("calm_crm")


def shipped() -> list[str]:
    """The kinds of mcp-sim itself; other tests may have registered some of their own."""
    return [name for name in perturbations.names() if perturbations[name].__module__.startswith("mcp_sim.")]


def entries(seed: int) -> tuple[PerturbationEntry, ...]:
    """Return a third of all kinds, shuffled, each with some probability. Three consecutive seeds have all kinds."""
    names = [name for name in shipped() if _options(name) is not None]
    Random(seed // 3).shuffle(names)
    random = Random(seed)
    return tuple(_entry(f"{name}-{at}", name, random) for at, name in enumerate(names[seed % 3 :: 3]))


def _entry(id_: str, name: str, random: Random) -> PerturbationEntry:
    kind = perturbations[name].model_validate(random.choice(_options(name) or [{}]))
    when = {} if name in ALWAYS else random.choice([{"probability": 0.15}, {"every": 6}, {"nth": [3, 30, 60]}])
    compiled = When(tuple(triggers[trigger].model_validate(value) for trigger, value in when.items()))
    return PerturbationEntry(id_, name, kind, when=compiled)


@cache
def _options(name: str) -> list[Any] | None:
    """What a kind can be given on the shipped CRM; None if it cannot be used there without further options."""
    from mcp_sim.cli.list import example
    from mcp_sim.spec import yaml12

    kind = perturbations[name]
    written = yaml12.load(example(name, kind).encode(), "example").value[name]
    possible = [options for options in OPTIONS.get(name) or [{}, written] if _is_possible(kind, options)]
    assert len(possible) >= len(OPTIONS.get(name, ()))
    return possible or None


def _is_possible(kind: type[Perturbation], options: Any) -> bool:
    try:
        return not kind.model_validate(options).problems(calm().domain, list(calm().domain.tools.values()))
    except ValueError:
        return False


async def walked(world: World, seed: int, calls: int = CALLS) -> None:
    walker = Walker([tool for server in world.scenario.servers for tool in world.catalogue(server)], seed)
    for _ in range(calls):
        tool, arguments = walker.call()
        walker.learn(tool, arguments, await world.call(tool.id, arguments))


def rows(world: World) -> dict[str, list[Any]]:
    return {entity: list(world.view.rows(entity)) for entity in world.view.entities()}


def written(steps: list[dict[str, Any]]) -> set[tuple[str, str, Any]]:
    """Return for each write its step (a call or an event) and its record."""
    return {(step["entry"], change["entity"], change["key"]) for step in steps for change in step.get("committed", ())}


def problems_of_truths(scenario: Scenario, state: State, steps: list[dict[str, Any]]) -> list[str]:
    """Where the truth of a call contradicts the state before it plus its own changes; only what was committed goes on.

    Calls under a drifted catalogue are left out, since the plans do not know its arguments.
    """
    found = list[str]()
    for step in steps:
        if step["entry"] == "call" and step["truth"] and not _drifted(step):
            found += [f"{step['n']} {step['tool']}: {problem}" for problem in _truth_problems(scenario, state, step)]
        changes = [Change.from_json(body) for body in (*step.get("committed", ()), *step.get("absorbed", ()))]
        state = state.apply(changes) if changes else state
    return found


def _drifted(step: dict[str, Any]) -> bool:
    return any(one["kind"] == "schema_drift" and one["outcome"] == "applied" for one in step["perturbations"])


def _truth_problems(scenario: Scenario, state: State, step: dict[str, Any]) -> list[str]:
    shown = step["truth"]["observation"]
    if "result" not in shown or shown.get("is_error"):
        return []
    tool = scenario.domain.tools[step["tool"]]
    turn: Any = SimpleNamespace(
        view=state, call=Call(tool.id, step["arguments"]), tool=tool, now=parse_time(step["at"])
    )
    changes = tuple(Change.from_json(body) for body in step["truth"]["changes"])
    truth = Transition(Observation(ToolResult(shown["result"])), changes)
    return inspection(scenario.domain.plans[tool.id], scenario.domain)(turn, truth)


@pytest.mark.parametrize(("seed", "calls"), MIXES)
async def test_the_state_is_what_replaying_the_ledger_gives_after_any_mix(seed: int, calls: int) -> None:
    scenario = replace(calm(), perturbations=entries(seed))
    async with Simulator(scenario, ledger_keep=10 * calls).open(seed=seed) as world:
        start = world.view
        await walked(world, seed, calls)
        steps = world.ledger.steps
        assert written(steps)
        rebuilt = replayed(start, steps)
        assert {entity: list(rebuilt.rows(entity)) for entity in rebuilt.entities()} == rows(world)
        assert [step["n"] for step in steps] == list(range(1, len(steps) + 1))
        assert problems_of_truths(scenario, start, steps) == []
        assert sum(step["entry"] == "call" for step in steps) == calls


async def test_the_mixes_hold_what_calls_and_others_write_and_every_kind_comes_up() -> None:
    """The property above is not vacuous."""
    drawn = {entry.kind for seed, _ in MIXES for entry in entries(seed)}
    assert drawn == {name for name in shipped() if _options(name) is not None}
    assert {*OPTIONS, "not_found_glitch", "lost_ack"} <= drawn
    conflicts = replace(calm(), perturbations=(_entry("conflict", "conflict", Random(1)),))
    async with Simulator(conflicts).open() as world:
        start = world.view
        await walked(world, 1)
        steps = world.ledger.steps
        assert {who for who, _, _ in written(steps)} == {"call", "event"}
    reads = [step for step in steps if step.get("tool") == "get_company"]
    got = next(step for step in reads if "is_error" not in step["truth"]["observation"])
    got["truth"]["observation"]["result"]["name"] = "Nobody"
    assert [problem.split(":")[1].strip() for problem in problems_of_truths(conflicts, start, steps)] == ["R2"]


@pytest.mark.parametrize("seed", range(2))
async def test_a_mix_repeats_with_its_seed_step_by_step_and_a_fork_goes_the_same_way(seed: int) -> None:
    scenario = replace(calm(), perturbations=entries(seed))
    simulator = Simulator(scenario, ledger_keep=10 * CALLS)
    async with simulator.open("one", seed=seed) as one, simulator.open("two", seed=seed) as two:
        twin = one.fork("twin")
        for world in (one, two, twin):
            await walked(world, seed, 200)
        assert one.ledger.steps == two.ledger.steps == twin.ledger.steps
