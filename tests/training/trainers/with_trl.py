"""TRL 1.16.0: what remains of the schemas of the shipped tools, and two steps of GRPO with a tiny model."""

from __future__ import annotations

import pickle

from transformers.utils import get_json_schema

from mcp_sim.spec.sources import shipped
from mcp_sim.training import Environment
from mcp_sim.training.adapters.trl import environment_class, factory

LEAST_KEPT = 0.9
NEEDS_MORE = ("calm_terminal",)
"""Scenarios that need an extra."""


def is_kept(name: str, tool: dict, method: object) -> bool:
    """Whether TRL shows the types, enums, items and required arguments of a tool."""
    shown, listed = get_json_schema(method)["function"]["parameters"], tool["parameters"]
    if set(shown.get("required", ())) != set(listed.get("required", ())):
        return False
    return all(
        core(shown["properties"][argument]) == core(schema) for argument, schema in listed.get("properties", {}).items()
    )


def core(schema: dict) -> tuple:
    """Return the type, enum and type of items; a type that may also be null counts as that type."""
    variants = [variant for variant in schema.get("anyOf", schema.get("oneOf", ())) if variant.get("type") != "null"]
    if len(variants) == 1:
        schema = variants[0]
    kind = schema.get("type")
    kinds = sorted(set(kind) - {"null"}) if isinstance(kind, list) else [kind]
    return kinds, schema.get("enum"), (schema.get("items") or {}).get("type")


def count_schemas() -> None:
    kept = total = 0
    for name in sorted(shipped("scenarios")):
        if not name.startswith("calm_") or name in NEEDS_MORE:
            continue
        environment = environment_class(name)()
        for tool in Environment(name).tools():
            function = tool["function"]
            kept += is_kept(name, function, getattr(environment, function["name"].replace("-", "_")))
            total += 1
    print(f"TRL: {kept} of {total} tools keep types, enums, items and required arguments")
    assert kept >= LEAST_KEPT * total


def play() -> None:
    """The factory can be pickled, and its environments are played as TRL does."""
    environment = pickle.loads(pickle.dumps(factory("flaky_crm")))()
    assert environment.reset(seed=1, prompt="a column of the data set").startswith("Create the deal")
    create = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
    assert "504" in environment.create_deal(**create)
    assert "Spring order" in environment.list_deals(contact_id="con_00001", limit=None)
    assert 0 < environment.get_reward() < 1


play()
count_schemas()
