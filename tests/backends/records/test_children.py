"""Records that are made together with another one, and those that a tool makes which is called after something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, refused, said, simulator, tool

Json = Any
STEPS: Json = {"type": "array", "items": {"type": "object", "properties": {"label": TEXT}, "required": ["label"]}}
RECIPES = [
    tool("create_recipe", title=TEXT, steps=STEPS),
    tool("get_recipe", recipe_id=TEXT),
    tool("add_steps_to_recipe", recipe_id=TEXT, steps=STEPS),
    tool("list_steps", recipe_id=TEXT),
    tool("get_step", step_id=TEXT),
    tool("mark_step_done", step_id=TEXT),
    tool("get_next_step", recipe_id=TEXT),
]


async def test_what_others_name_by_an_id_is_made_with_the_record_that_lists_it(tmp_path: Path) -> None:
    async with simulator(tmp_path, RECIPES, {}).open() as world:
        recipe = await said(world, "create_recipe", title="Bread", steps=[{"label": "Knead"}, {"label": "Bake"}])
        first, second = (one["id"] for one in recipe["steps"])
        assert (await said(world, "get_step", step_id=second))["label"] == "Bake"
        await said(world, "add_steps_to_recipe", recipe_id=recipe["id"], steps=[{"label": "Eat"}])
        await said(world, "create_recipe", title="Soup", steps=[{"label": "Chop"}])
        rows = (await said(world, "list_steps", recipe_id=recipe["id"]))["steps"]
        assert [one["label"] for one in rows] == ["Knead", "Bake", "Eat"]
        await said(world, "mark_step_done", step_id=first)
        assert "steps" not in await said(world, "get_recipe", recipe_id=recipe["id"])


async def test_the_next_one_is_that_of_the_record_that_is_named(tmp_path: Path) -> None:
    async with simulator(tmp_path, RECIPES, {}).open() as world:
        await said(world, "create_recipe", title="Soup", steps=[{"label": "Chop"}])
        bread = await said(world, "create_recipe", title="Bread", steps=[{"label": "Knead"}, {"label": "Bake"}])
        await said(world, "mark_step_done", step_id=bread["steps"][0]["id"])
        assert (await said(world, "get_next_step", recipe_id=bread["id"]))["label"] == "Bake"


async def test_a_tool_makes_what_it_is_said_to_register_where_no_other_makes_it(tmp_path: Path) -> None:
    tools = [
        tool("start_intake", "Register a new permit and plan what it needs.", title=TEXT),
        tool("get_permit", permit_id=TEXT),
        tool("approve_permit", permit_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = await said(world, "start_intake", title="Shed")
        assert (await said(world, "get_permit", permit_id=made["id"]))["title"] == "Shed"


async def test_the_id_of_a_request_that_every_call_must_say_is_that_of_a_record(tmp_path: Path) -> None:
    tools = [
        tool("create_request", title=TEXT),
        tool("get_request", request_id=TEXT),
        tool("add_reply", request_id=TEXT, body=TEXT),
        tool("get_reply", reply_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        request = (await said(world, "create_request", title="Leave"))["id"]
        made = await said(world, "add_reply", request_id=request, body="Granted")
        assert made["request_id"] == request
        assert "nope" in await refused(world, "add_reply", request_id="nope", body="x")
