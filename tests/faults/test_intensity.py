"""`intensity` scales what a scenario's faults may do: through the Simulator, on the shipped CRM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_sim import Simulator
from mcp_sim.faults.compile import scaled_perturbations, with_intensity
from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.kinds import perturbations, triggers
from mcp_sim.types.scenario import PerturbationEntry, Scenario, When

Crm = Callable[[str], Simulator]
CALLS: list[tuple[str, Any]] = [
    ("get_contact", {"contact_id": "con_00001"}),
    ("list_deals", {}),
    ("get_contact", {"contact_id": "con_00002"}),
] * 4


@cache
def calm() -> Scenario:
    return load("calm_crm")


def chance(p: float, **nested: Any) -> When:
    return When((triggers["probability"].model_validate(p),), **nested)


def chance_and_any(p: float, parts: tuple[When, ...]) -> When:
    return chance(p, any=parts)


def counted(kind: str, n: int) -> When:
    return When((triggers[kind].model_validate(n),))


def with_leaves(tree: st.SearchStrategy[When]) -> st.SearchStrategy[When]:
    parts = st.lists(tree, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(When, any=parts),
        st.builds(When, all=parts),
        st.builds(chance_and_any, st.floats(0, 1), parts),
    )


LEAVES = st.one_of(
    st.builds(chance, st.floats(0, 1)),
    st.builds(counted, st.sampled_from(["every", "nth"]), st.integers(1, 4)),
)


async def decisions(when: When, intensity: float) -> set[int]:
    """The calls, by number, at which a perturbation is decided."""
    entry = PerturbationEntry("slow", "latency", perturbations["latency"].model_validate("1s"), when=when)
    scenario = with_intensity(replace(calm(), perturbations=(entry,)), intensity)
    async with Simulator(scenario).open(seed=3) as world:
        for call in CALLS:
            await world.call(*call)
        return {step["index"] for step in world.ledger.steps[1:] if step["perturbations"]}


@settings(max_examples=30)
@given(st.recursive(LEAVES, with_leaves, max_leaves=5), st.floats(0, 1), st.floats(0, 1))
async def test_what_is_decided_at_a_lower_intensity_is_decided_at_a_higher_one(
    when: When, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert await decisions(when, low) <= await decisions(when, high)


async def test_probabilities_are_multiplied_and_nothing_is_left_to_chance_at_0() -> None:
    assert await decisions(chance(1.0), 1) == set(range(1, 13))
    assert await decisions(chance(1.0), 0) == set()
    assert await decisions(chance(0.8), 0.5) == await decisions(chance(0.4), 1)
    assert await decisions(counted("every", 2), 0) == {2, 4, 6, 8, 10, 12}


async def test_what_appears_under_not_is_as_written() -> None:
    without = When(none=(chance(0.5),))
    assert await decisions(without, 0.1) == await decisions(without, 1)


def test_severities_are_scaled_each_in_its_own_way() -> None:
    for kind, options, name, scaled in (
        ("latency", "10s", "duration", timedelta(seconds=2.5)),
        ("outage", {"lasts": "2m", "recovery": "40s"}, "recovery", timedelta(seconds=10)),
        ("noise_rows", {"rows": 3}, "rows", 1),
    ):
        entry = PerturbationEntry("p", kind, perturbations[kind].model_validate(options))
        (milder,) = scaled_perturbations(replace(calm(), perturbations=(entry,), intensity=0.25))
        assert getattr(milder.perturbation, name) == scaled
        assert getattr(entry.perturbation, name) != scaled


async def test_a_document_says_its_intensity_and_who_loads_it_may_say_another(crm: Crm, tmp_path: Path) -> None:
    simulator = crm("intensity: 0.5\nperturbations: [{latency: 8s}]")
    async with simulator.open() as world:
        assert world.ledger.newest["step"]["intensity"] == 0.5
        assert (await world.call("list_deals")).delay == timedelta(seconds=4)
    async with Simulator.load(tmp_path / "scenario.yaml", intensity=0.25).open() as world:
        assert (await world.call("list_deals")).delay == timedelta(seconds=2)
    async with Simulator.load(tmp_path / "scenario.yaml", intensity=1).open() as world:
        assert "intensity" not in world.ledger.newest["step"]
        assert (await world.call("list_deals")).delay == timedelta(seconds=8)


@pytest.mark.parametrize("intensity", [-0.1, 1.1, float("nan")])
def test_an_intensity_outside_0_to_1_is_refused(crm: Crm, tmp_path: Path, intensity: float) -> None:
    crm("")
    with pytest.raises(UsageError, match="from 0 to 1"):
        Simulator.load(tmp_path / "scenario.yaml", intensity=intensity)
    with pytest.raises(DocumentError, match="intensity"):
        crm("intensity: 1.5")
