"""Overrides of parts of a plan. The rest of the plan is inferred."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.declared import INTEGER, STRING, obj, tool

from mcp_sim.simulator.compile import load
from mcp_sim.spec.write_overrides import spec_text
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import CALLER, Also, Filter

Json = Any

SALE = {"id": 7, "seed_id": 1, "quantity": 1, "status": "open"}
SHOP: Json = {
    "seeds": [{"id": 1, "name": "Dill", "stock": 4}, {"id": 2, "name": "Mint", "stock": 9}],
    "sales": [SALE],
    "rooms": [{"id": 1, "name": "Blue", "status": "available"}, {"id": 2, "name": "Red", "status": "occupied"}],
    "stays": [{"id": 1, "room_id": 2, "guest": "Ada"}],
    "users": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}],
    "notes": [{"id": 1, "text": "Hi", "owner_id": 1}],
    "current_user": 1,
}
TOOLS = [
    tool("create_sale", {"seed_id": INTEGER, "quantity": INTEGER, "code": STRING}, "seed_id", "quantity"),
    tool("cancel_sale", {"sale_id": INTEGER, "code": STRING}, "sale_id"),
    tool("create_stay", {"room_id": INTEGER, "guest": STRING}, "room_id"),
    tool("list_rooms", {"available_only": {"type": "boolean"}, "colour": STRING}),
    tool("get_my_notes", {"words": STRING}),
    tool("get_latest_sale"),
    tool("get_note", {"note_id": INTEGER}, "note_id"),
    tool("update_note", {"note_id": INTEGER, "field": STRING, "value": STRING}, "note_id", "field", "value"),
]


def domain_of(folder: Path, sim: Json, tools: Json = TOOLS, state: Json = SHOP) -> Domain:
    """Return the domain of the tools with these overrides."""
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
    overrides = {"mcp_sim": 1, "name": "shop", "tools": tools, "sim": sim}
    (folder / "shop.yaml").write_text(json.dumps(overrides), encoding="utf-8")
    scenario = {"mcp_sim": 1, "seed": 1, "tools": "shop.yaml", "world": {"state": "state.json"} if state else {}}
    (folder / "run.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return load(folder / "run.yaml").domain


TAKEN = Also("seed", "stock", "seed_id", "subtract", "quantity")
IN_PART: list[tuple[str, Json, str, Json]] = [
    ("create_sale", {"sets": {"code": "id"}}, "also", (TAKEN,)),
    ("create_sale", {"verb": "create", "entity": "sale"}, "also", (TAKEN,)),
    ("cancel_sale", {"key": "sale_id"}, "also", (Also("seed", "stock", "seed_id", "add", "quantity"),)),
    ("cancel_sale", {"key": "code"}, "key", "code"),
    ("create_stay", {"if_exists": "keep"}, "also",
     (Also("room", "status", "room_id", fixed="occupied", requires="available"),)),
    ("create_stay", {"also": []}, "also", ()),
    ("list_rooms", {"paging": {"size": 5}}, "filters",
     {"available_only": Filter("status", only="available")}),
    ("list_rooms", {"filters": {"colour": "name"}}, "filters", {"colour": Filter("name")}),
    ("get_my_notes", {"only": ["text"]}, "filters", {CALLER: Filter("owner_id")}),
    ("get_latest_sale", {"only": ["id"]}, "operation", "newest"),
    ("get_latest_sale", {"verb": "list", "entity": "sale"}, "verb", "list"),
    ("update_note", {"key": "note_id"}, "choice", "field"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "overrides", "field", "known"), IN_PART)
def test_an_override_fixes_its_fields_and_the_rest_is_inferred(
    name: str, overrides: Json, field: str, known: Json, tmp_path: Path
) -> None:
    plan = domain_of(tmp_path, {name: overrides}).plans[name]
    assert getattr(plan, field) == known
    assert plan.reasons[0] == "declared in the spec"


def test_an_override_equal_to_the_inferred_value_changes_nothing(tmp_path: Path) -> None:
    plain = domain_of(tmp_path, {}).plans
    known = {"cancel_sale": {"key": "sale_id"}, "create_stay": {"entity": "stay"}, "get_my_notes": {"verb": "list"}}
    for name, overrides in known.items():
        plan = domain_of(tmp_path, {name: overrides}).plans[name]
        assert (plan.also, plan.filters, plan.sets) == (plain[name].also, plain[name].filters, plain[name].sets)


def test_a_list_change_is_inferred_also_with_a_declared_key(tmp_path: Path) -> None:
    task = obj(id=STRING, title=STRING, labels={"type": "array", "items": STRING})
    tools = [
        tool("get_task", {"task_id": STRING}, "task_id", output=task),
        tool("create_task", {"title": STRING}, "title", output=task),
        tool("add_label", {"task_id": STRING, "label": STRING}, "task_id", "label"),
    ]
    plan = domain_of(tmp_path, {"add_label": {"key": "task_id"}}, tools, None).plans["add_label"]
    assert (plan.verb, plan.entity, plan.how) == ("update", "task", {"labels": "append"})
    made = domain_of(tmp_path, {"add_label": {"verb": "create", "entity": "label"}}, tools, None).plans["add_label"]
    assert (made.verb, made.entity, made.how) == ("create", "label", {})


def test_a_tool_keeps_its_operations_if_entity_key_or_login_is_declared(
    tmp_path: Path,
) -> None:
    ways = {"type": "string", "enum": ["create", "get", "update", "delete", "list"]}
    parts = {"operation": ways, "ref": STRING, "title": STRING, "session": STRING}
    overrides = {"manage_notes": {"key": "ref", "entity": "memo", "login": "session.user"}}
    domain = domain_of(tmp_path, overrides, [tool("manage_notes", parts, "operation")], {"session": {"user": None}})
    plan = domain.plans["manage_notes"]
    keys = {value: (one.verb, one.entity, one.key) for value, one in plan.choices.items()}
    assert keys == {
        "create": ("create", "memo", None),
        "get": ("get", "memo", "ref"),
        "update": ("update", "memo", "ref"),
        "delete": ("delete", "memo", "ref"),
        "list": ("list", "memo", None),
    }
    assert plan.login == "session.user"
    text = spec_text((tmp_path / "shop.yaml").read_text(encoding="utf-8"), domain, "")
    (tmp_path / "shop.yaml").write_text(text, encoding="utf-8")
    assert load(tmp_path / "run.yaml").domain.plans["manage_notes"].choices["get"].key == "ref"


def test_a_declared_login_says_nothing_about_the_effect(tmp_path: Path) -> None:
    tools = [tool("frobnicate", {"depth": INTEGER}), *TOOLS]
    plain = domain_of(tmp_path, {}, tools).plans["frobnicate"]
    plan = domain_of(tmp_path, {"frobnicate": {"login": "state.current_user"}}, tools).plans["frobnicate"]
    assert (plan.verb, plan.confidence, plan.login) == (plain.verb, plain.confidence, "state.current_user")
