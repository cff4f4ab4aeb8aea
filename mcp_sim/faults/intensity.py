"""How much of what a scenario's perturbations can do do they do? An intensity from 0 to 1, applied to all of them.

Probabilities and severities are multiplied by it; everything else is as written. What stands under `not` is left alone:
a lower probability there would mean more.
"""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.types.errors import UsageError
from mcp_sim.types.scenario import PerturbationEntry, Scenario, When


def with_intensity(scenario: Scenario, intensity: float | None) -> Scenario:
    """The scenario at another intensity than its own. Raises UsageError for one that is none."""
    if intensity is None:
        return scenario
    if not 0 <= intensity <= 1:
        raise UsageError(f"intensity is a number from 0 to 1, not {intensity:g}")
    return replace(scenario, intensity=float(intensity))


def in_force(scenario: Scenario) -> tuple[PerturbationEntry, ...]:
    """The perturbations as they are at the scenario's intensity."""
    if scenario.intensity == 1:
        return scenario.perturbations
    return tuple(_scaled(entry, scenario.intensity) for entry in scenario.perturbations)


def _scaled(entry: PerturbationEntry, intensity: float) -> PerturbationEntry:
    perturbation = entry.perturbation.scaled(intensity)
    return replace(entry, perturbation=perturbation, when=_scaled_when(entry.when, intensity))


def _scaled_when(when: When, intensity: float) -> When:
    return replace(
        when,
        triggers=tuple(trigger.scaled(intensity) for trigger in when.triggers),
        any=tuple(_scaled_when(nested, intensity) for nested in when.any),
        all=tuple(_scaled_when(nested, intensity) for nested in when.all),
    )
