"""Overrides of parts of a plan. The rest of the plan is inferred."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support.declared import INTEGER, STRING, obj, tool

from mcp_sim.simulator.compile import load
from mcp_sim.spec.write_overrides import spec_text
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Filter, Paging, Plan

Json = Any

SALE = obj(id=STRING, seed=STRING, quantity=INTEGER, status={"enum": ["open", "cancelled"]}, created_at=STRING)
SALES = obj(sales={"type": "array", "items": SALE}, total=INTEGER)
PERIOD: Json = {"since": STRING, "status": STRING, "q": STRING, "sort_by": STRING, "limit": INTEGER, "offset": INTEGER}
TOOLS = [
    tool("create_sale", {"seed": STRING, "quantity": INTEGER, "code": STRING}, "seed", output=SALE),
    tool("get_sale", {"sale_id": STRING}, "sale_id", output=SALE),
    tool("list_sales", {**PERIOD, "code": STRING}, output=SALES),
    tool("update_sale", {"sale_id": STRING, "quantity": INTEGER, "code": STRING}, "sale_id", output=SALE),
    tool("cancel_sale", {"sale_id": STRING, "code": STRING}, "sale_id", output=SALE),
    tool("delete_sales", {"ids": {"type": "array", "items": STRING}}, "ids"),
]
NO_VALUES = {"tool", "basis", "confidence", "reasons", "backend"}


def domain_of(folder: Path, sim: Json, tools: Json = TOOLS) -> Domain:
    """Return the domain of the tools with these overrides."""
    overrides = {"mcp_sim": 1, "name": "shop", "tools": tools, "sim": sim}
    (folder / "shop.yaml").write_text(json.dumps(overrides), encoding="utf-8")
    return load(folder / "shop.yaml").domain


def values(plan: Plan) -> dict[str, Json]:
    """Return the fields of a plan that say what its tool does, without why."""
    return {one.name: getattr(plan, one.name) for one in fields(plan) if one.name not in NO_VALUES}


IN_PART: list[tuple[str, Json, Json]] = [
    ("create_sale", {"if_exists": "keep"}, {"if_exists": "keep"}),
    ("create_sale", {"sets": {"code": "seed"}}, {"sets": {"code": "seed"}}),
    ("cancel_sale", {"fixed": {"status": "open"}}, {"fixed": {"status": "open"}}),
    ("list_sales", {"filters": {"code": "seed"}}, {"filters": {"code": Filter("seed")}}),
    ("list_sales", {"query": "code"}, {"query": "code"}),
    ("update_sale", {"holder": "code"}, {"holder": "code"}),
]


@pytest.mark.parametrize(("name", "overrides", "changed"), IN_PART)
def test_an_override_fixes_its_fields_and_the_rest_is_inferred(
    name: str, overrides: Json, changed: Json, tmp_path: Path
) -> None:
    inferred = values(domain_of(tmp_path, {}).plans[name])
    plan = domain_of(tmp_path, {name: overrides}).plans[name]
    assert values(plan) == {**inferred, **changed}
    assert {field for field, basis in plan.basis.items() if basis.source == "declared"} == {*overrides}


def test_a_part_of_paging_or_of_the_envelope_leaves_the_other_parts_inferred(tmp_path: Path) -> None:
    plain = domain_of(tmp_path, {}).plans["list_sales"]
    declared = {"paging": {"size": 5, "offset": None, "sort": "code"}, "envelope": {"total": None}}
    plan = domain_of(tmp_path, {"list_sales": declared}).plans["list_sales"]
    assert plain.paging == Paging("limit", "offset", sort="sort_by")
    assert plan.paging == Paging("limit", size=5, sort="code")
    assert (plan.envelope.rows, plan.envelope.total, plain.envelope.total) == ("sales", None, "total")


@pytest.mark.parametrize("name", [one["name"] for one in TOOLS])
def test_a_field_declared_as_inferred_changes_nothing(name: str, tmp_path: Path) -> None:
    plain = domain_of(tmp_path, {}).plans[name]
    declarable = ("verb", "entity", "key", "sets", "fixed", "query", "each")
    for field in declarable:
        if value := getattr(plain, field):
            assert values(domain_of(tmp_path, {name: {field: value}}).plans[name]) == values(plain), field


def test_paging_says_nothing_about_what_a_tool_does(tmp_path: Path) -> None:
    tools = [tool("frobnicate", {"depth": INTEGER}), *TOOLS]
    plain = domain_of(tmp_path, {}, tools).plans["frobnicate"]
    plan = domain_of(tmp_path, {"frobnicate": {"paging": {"size": 5}}}, tools).plans["frobnicate"]
    assert (plan.verb, plan.confidence) == (plain.verb, plain.confidence)


def test_a_tool_keeps_its_operations_if_entity_or_key_is_declared(tmp_path: Path) -> None:
    ways = {"type": "string", "enum": ["create", "get", "update", "delete", "list"]}
    parts = {"operation": ways, "ref": STRING, "title": STRING}
    tools = [tool("manage_notes", parts, "operation")]
    domain = domain_of(tmp_path, {"manage_notes": {"key": "ref", "entity": "memo"}}, tools)
    keys = {value: (one.verb, one.entity, one.key) for value, one in domain.plans["manage_notes"].choices.items()}
    assert keys == {
        "create": ("create", "memo", None),
        "get": ("get", "memo", "ref"),
        "update": ("update", "memo", "ref"),
        "delete": ("delete", "memo", "ref"),
        "list": ("list", "memo", None),
    }
    text = spec_text((tmp_path / "shop.yaml").read_text(encoding="utf-8"), domain, "")
    (tmp_path / "shop.yaml").write_text(text, encoding="utf-8")
    assert load(tmp_path / "shop.yaml").domain.plans["manage_notes"].choices["get"].key == "ref"
