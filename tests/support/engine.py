"""Scenarios whose world model is a real engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from support.long_walks import unperturbed

from mcp_sim.simulator.compile import load
from mcp_sim.types import Observation, RpcError, ToolResult
from mcp_sim.types.scenario import Scenario

Json = Any
OFF = {"thinking": "off"}
WEAK = {"arguments": "strict", "max_attempts": 4, "max_text": 40, "max_items": 3, "max_tokens": 512}
"""Options for a model that emits random tokens, and would fill every bound: it seldom ends an undeclared property."""


def with_model(name: str, url: str, **options: Json) -> Scenario:
    """Return a shipped scenario without faults whose world model is the engine."""
    scenario = unperturbed(load(name, world_model=f"openai:tiny@{url}"))
    (entry,) = scenario.world_models
    model = type(entry.world_model).model_validate(
        {
            **entry.world_model.model_dump(),
            "transcript": 16_000,
            "timeout": "10m",
            **WEAK,
            **options,
        }
    )
    return replace(scenario, world_models=(replace(entry, world_model=model),))


def served_texts(observation: Observation) -> Iterator[tuple[str, str]]:
    """Yield the texts in an answer with their paths; those of a JSON text instead of the text itself."""
    body = observation.body
    yield from texts_in(body.value if isinstance(body, ToolResult) else cast("RpcError", body).message)


def texts_in(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in a value with their paths."""
    if isinstance(value, str):
        with suppress(ValueError):
            if value.lstrip().startswith(("{", "[")):
                yield from texts_in(json.loads(value, strict=False), path)
                return
        yield path, value
    elif isinstance(value, dict | list):
        parts = (
            cast("dict[str, Any]", value).items() if isinstance(value, dict) else enumerate(cast("list[Any]", value))
        )
        for name, inner in parts:
            yield from texts_in(inner, f"{path}.{name}" if path else str(name))
