"""TRL 1.16.0: what remains of the schemas of the shipped tools, and two steps of GRPO with a tiny model."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path

from transformers.utils import get_json_schema

from mcp_sim.spec.sources import shipped
from mcp_sim.training import Environment
from mcp_sim.training.adapters.trl import answered_reward, environment_class, factory

EXAMPLE = Path(__file__).parents[3] / "examples" / "training" / "grpo.py"
LEAST_KEPT = 0.9


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
        if not name.startswith("calm_"):
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
    task = environment.reset(seed=1, prompt=[{"role": "user", "content": ""}])
    assert task.startswith("Create the deal")
    assert environment.reset(seed=1, prompt=[{"role": "user", "content": task}]) is None, (
        "the task would be asked twice"
    )
    create = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
    assert "504" in environment.create_deal(**create)
    assert "Spring order" in environment.list_deals(contact_id="con_00001", limit=None)
    [reward] = answered_reward([[{"role": "assistant", "content": "Done."}]], [environment])
    assert 0 < reward < 1


def two_steps_of_grpo() -> None:
    """The example trains: rows of episodes are imitated, then two steps of GRPO are taken, with a test before each."""
    command = [sys.executable, str(EXAMPLE), "--steps", "2"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    shares = [float(share) for share in re.findall(r"^ +\d+ steps +([\d.]+)", printed, re.MULTILINE)]
    assert len(shares) == 3, printed
    assert 0 < shares[0] < 1, printed
    print("TRL: two steps of GRPO, success", *shares)


play()
count_schemas()
two_steps_of_grpo()
