"""Scenarios whose world model is a real engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.long_walks import unperturbed

from mcp_sim.simulator.compile import load
from mcp_sim.types.scenario import Scenario

Json = Any
OFF = {"thinking": "off"}
WEAK = {"arguments": "strict", "max_attempts": 4, "max_text": 40, "max_items": 3}
"""Options for a model that emits random tokens, and would fill every bound."""


def with_model(name: str, url: str, **options: Json) -> Scenario:
    """Return a shipped scenario without faults whose world model is the engine."""
    scenario = unperturbed(load(name, world_model=f"openai:tiny@{url}"))
    (entry,) = scenario.world_models
    model = type(entry.world_model).model_validate(
        {**entry.world_model.model_dump(), "max_tokens": 2048, "transcript": 16_000, "retries": 6, **WEAK, **options}
    )
    return replace(scenario, world_models=(replace(entry, world_model=model),))
