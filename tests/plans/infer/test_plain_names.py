"""Names of small servers: states before nouns, verbs alone, actions in descriptions, ids that other arguments show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from uuid import UUID

import pytest
from plans.infer.test_small_lists import answers
from support.declared import INTEGER, STRING, domain, obj, tool
from support.given import refused, value
from support.services import service

STATES = {"type": "string", "enum": ["open", "active", "completed"]}


@pytest.mark.parametrize("noun", ["task", "loan", "ticket"])
@pytest.mark.parametrize("state", STATES["enum"])
async def test_a_state_before_the_noun_lists_the_records_in_it(tmp_path: Path, noun: str, state: str) -> None:
    tools = [
        tool(f"create_{noun}", {"title": STRING, "status": STATES}, "title", "status"),
        tool(f"list_{state}_{noun}s", {}),
    ]
    creates = [(f"create_{noun}", {"title": each, "status": each}) for each in STATES["enum"]]
    *_, listed = await answers(tmp_path, tools, *creates, (f"list_{state}_{noun}s", {}))
    rows = value(listed)[f"{noun}s"]
    assert {row["status"] for row in rows} == {state}
    assert {row["title"] for row in rows} & {*STATES["enum"]} == {state}


@pytest.mark.parametrize(
    ("word", "states", "listed"),
    [
        ("open", ["todo", "doing", "done", "cancelled"], {"todo", "doing"}),
        ("open", ["new", "active", "resolved", "closed"], {"new", "active"}),
        ("pending", ["submitted", "approved", "rejected"], {"submitted"}),
    ],
)
async def test_a_state_that_records_lack_lists_those_that_are_not_finished(
    tmp_path: Path, word: str, states: list[str], listed: set[str]
) -> None:
    schema = {"type": "string", "enum": states}
    tools = [
        tool("create_ticket", {"title": STRING, "status": schema}, "title", "status"),
        tool(f"list_{word}_tickets", {}),
    ]
    creates = [("create_ticket", {"title": each, "status": each}) for each in states]
    *_, answer = await answers(tmp_path, tools, *creates, (f"list_{word}_tickets", {}))
    rows = value(answer)["tickets"]
    assert {row["title"] for row in rows} >= listed
    assert {row["status"] for row in rows} == listed


def test_a_state_alone_lists_records_of_the_only_entity() -> None:
    tools = domain(
        tool("create_task", {"title": STRING}, "title"),
        tool("get_task", {"task_id": STRING}, "task_id"),
        tool("list_open", {}, description="List what is open."),
    )
    assert tools.plans["list_open"].entity == "task"


@pytest.mark.parametrize("quality", ["status", "priority", "title"])
def test_a_quality_is_set_on_the_record_that_an_id_names(quality: str) -> None:
    ids = {"memory_id": STRING}
    plan = domain(
        tool(f"set_{quality}", {**ids, quality: STRING}, "memory_id", quality, description="Mark it."),
        tool("search_memories", {"query": STRING}, "query"),
        tool("memory_history", ids, "memory_id", description="Show the past of a memory."),
    ).plans[f"set_{quality}"]
    assert (plan.verb, plan.entity, plan.key, plan.sets) == ("update", "memory", "memory_id", {quality: quality})


async def test_what_is_remembered_is_recalled_until_it_is_forgotten(tmp_path: Path) -> None:
    tools = [
        tool("remember", {"content": STRING}, "content", description="Persist one memory."),
        tool("recall", {"query": STRING}, "query", description="Retrieve relevant memories."),
        tool("forget", {"memory_id": STRING}, "memory_id", description="Remove a memory."),
    ]
    remembered = "remember", {"content": "zebra"}
    created, recalled = await answers(tmp_path, tools, remembered, ("recall", {"query": "zebra"}))
    assert [row["content"] for row in value(recalled)["results"]] == ["zebra"]
    key = {"memory_id": value(created)["memory_id"]}
    *_, left = await answers(tmp_path, tools, remembered, ("forget", key), ("recall", {"query": "zebra"}))
    assert value(left)["results"] == []


@pytest.mark.parametrize("noun", ["task", "expense"])
@pytest.mark.parametrize("namespace", ["", "work."])
async def test_verbs_alone_are_about_what_their_descriptions_share(tmp_path: Path, noun: str, namespace: str) -> None:
    tools = [
        tool(f"{namespace}add", {"name": STRING}, "name", description=f"Add a new {noun} (with a name)."),
        tool(f"{namespace}edit", {"id": STRING, "name": STRING}, "id", description=f"Edit a {noun}."),
        tool(f"{namespace}show", {"id": STRING}, "id", description=f"Show a {noun}."),
        tool(f"{namespace}delete", {"id": STRING}, "id", description=f"Delete a {noun}."),
    ]
    [created] = await answers(tmp_path, tools, (f"{namespace}add", {"name": "x"}))
    key = {"id": value(created)["id"]}
    calls = ("add", {"name": "x"}), ("edit", {**key, "name": "y"}), ("show", key), ("delete", key), ("show", key)
    *_, shown, _, gone = await answers(tmp_path, tools, *((f"{namespace}{verb}", asked) for verb, asked in calls))
    assert (value(shown)["name"], refused(gone)) == ("y", True)


@pytest.mark.parametrize("noun", ["task", "note", "user"])
def test_a_plural_that_most_names_begin_with_is_their_noun(noun: str) -> None:
    key = {"id": STRING}
    tools = domain(
        tool(f"{noun}s_add", {"title": STRING}, "title"),
        tool(f"{noun}s_show", key, "id"),
        tool(f"{noun}s_edit", {**key, "title": STRING}, "id"),
        tool(f"{noun}s_remove", key, "id"),
        tool(f"{noun}s_set_status", {**key, "status": STRING}, "id", "status"),
        tool("add_sprint", {"title": STRING}, "title"),
    )
    plans = {name: (plan.verb, plan.entity) for name, plan in tools.plans.items()}
    assert plans[f"{noun}s_add"] == ("create", noun)
    assert plans[f"{noun}s_remove"] == ("delete", noun)
    assert plans[f"{noun}s_set_status"] == ("update", noun)


@pytest.mark.parametrize("noun", ["kb", "habit", "pantry"])
async def test_what_all_names_begin_with_is_the_noun_of_verbs_alone(tmp_path: Path, noun: str) -> None:
    tools = [
        tool(f"{noun}_add", {"title": STRING}, "title", description="Save a fact."),
        tool(f"{noun}_search", {"query": STRING}, "query", description="Full-text search over what was saved."),
        tool(f"{noun}_show", {"id": INTEGER}, "id", description="Retrieve the full content."),
        tool(f"{noun}_list", {"limit": INTEGER}, description="List recent ones."),
        tool(f"{noun}_tag", {"id": INTEGER, "add": STRING}, "id", description="Add tags."),
    ]
    [added] = await answers(tmp_path, tools, (f"{noun}_add", {"title": "Tides"}))
    shows = [(f"{noun}_show", {"id": key}) for key in (value(added)["id"], 999)]
    _, shown, missing = await answers(tmp_path, tools, (f"{noun}_add", {"title": "Tides"}), *shows)
    assert (value(shown)["title"], refused(missing)) == ("Tides", True)


def test_a_namespace_of_other_verbs_is_no_noun() -> None:
    verbs = ["add", "commit", "show", "status", "diff", "branch", "log"]
    plans = domain(*[tool(f"depot_{verb}", {"path": STRING}, "path") for verb in verbs]).plans
    assert {plan.entity for plan in plans.values()} == {None}


@pytest.mark.parametrize("ending", ["ref", "key", "slug"])
async def test_a_list_of_keys_names_records(tmp_path: Path, ending: str) -> None:
    tools = [
        tool("create_task", {"title": STRING}, "title", output=obj(id=STRING, title=STRING)),
        tool("close_task", {f"task_{ending}": STRING}, f"task_{ending}"),
        tool("view_tasks", {f"task_{ending}s": {"type": "array", "items": STRING}}, f"task_{ending}s"),
    ]
    created = await answers(tmp_path, tools, *[("create_task", {"title": each}) for each in ("x", "y")])
    calls = [("create_task", {"title": each}) for each in ("x", "y")]
    asked = {f"task_{ending}s": [value(created[1])["id"]]}
    *_, viewed = await answers(tmp_path, tools, *calls, ("view_tasks", asked))
    assert [row["title"] for row in value(viewed)["tasks"]] == ["y"]


@pytest.mark.parametrize(
    ("about", "described"),
    [
        ("Manage a project.", 'What to do. Options: Literal["create", "list", "get"].'),
    ],
)
def test_a_description_lists_what_a_tool_can_do(about: str, described: str) -> None:
    action = {"type": "string", "description": described}
    plans = domain(tool("project", {"action": action, "name": STRING}, "action", description=about)).plans
    verbs = {name: plan.verb for name, plan in plans["project"].choices.items()}
    assert verbs == {"create": "create", "list": "list", "get": "get"}


def test_adding_one_record_to_another_keeps_the_required_ids() -> None:
    about = {"type": "string", "enum": ["add", "remove"]}
    ids = {"epic_id": STRING, "story_id": STRING}
    plans = domain(
        tool("create_epic", {"title": STRING}, "title"),
        tool("create_story", {"title": STRING}, "title"),
        tool("get_story", {"story_id": STRING}, "story_id"),
        tool("manage_epic_stories", {"action": about, **ids}, "action", *ids),
    ).plans
    assert {plan.key for plan in plans["manage_epic_stories"].choices.values()} == {"story_id"}


async def test_ids_have_the_format_of_the_arguments_that_refer_to_them(tmp_path: Path) -> None:
    reference = {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}
    tools = [tool("add_step", {"content": STRING, "parent_step_id": reference}, "content")]
    [first] = await answers(tmp_path, tools, ("add_step", {"content": "x"}))
    key = str(UUID(next(held for name, held in value(first).items() if name.endswith("id") and held)))
    _, second = await answers(
        tmp_path, tools, ("add_step", {"content": "x"}), ("add_step", {"content": "y", "parent_step_id": key})
    )
    assert value(second)["parent_step_id"] == key


@pytest.mark.parametrize("shown", ["Order id, e.g. ORD-1001.", "The order id (for example 'ORD-7')", "like ORD-12"])
async def test_new_ids_look_like_the_described_one(tmp_path: Path, shown: str) -> None:
    key = {"order_id": {"type": "string", "description": shown}}
    tools = [tool("create_order", {"note": STRING}, "note"), tool("get_order", key, "order_id")]
    [created] = await answers(tmp_path, tools, ("create_order", {"note": "x"}))
    assert re.fullmatch(r"ORD-\d+", value(created)["order_id"])


@pytest.mark.parametrize("noun", ["span", "segment", "chunk", "section", "slice"])
async def test_values_to_compute_with_name_no_records(tmp_path: Path, noun: str) -> None:
    numbers = {"start": {"type": "integer"}, "end": {"type": "integer"}}
    tools = [
        tool(f"delete_{noun}", {"text": STRING, **numbers}, "text", *numbers, output=obj(result=STRING)),
        tool(f"replace_{noun}", {"text": STRING, **numbers, "by": STRING}, "text", *numbers, output=obj(result=STRING)),
    ]
    asked = {"text": "hello world", "start": 6, "end": 11, "by": "there"}
    [replaced] = await answers(tmp_path, tools, (f"replace_{noun}", asked))
    assert not refused(replaced)


@pytest.mark.parametrize("argument", ["error", "claimed_by", "checkpoint"])
@pytest.mark.parametrize("kind", ["string", "object"])
async def test_what_only_updates_set_is_null_before_if_its_default_is(tmp_path: Path, argument: str, kind: str) -> None:
    key = {"job_id": STRING}
    tools = [
        tool("get_job", key, "job_id"),
        tool("update_job", {**key, "title": STRING, argument: {"type": kind, "default": None}}, "job_id"),
    ]
    [shown] = await answers(tmp_path, tools, ("get_job", {"job_id": "j1"}))
    assert value(shown).get(argument) is None


@pytest.mark.parametrize(("owner", "part"), [("task", "note"), ("order", "line"), ("patient", "allergy")])
async def test_a_part_has_tools_of_its_own_and_goes_with_its_owner(tmp_path: Path, owner: str, part: str) -> None:
    keys = {f"{owner}_id": STRING, f"{part}_id": STRING}
    tools = [
        tool(f"{owner}_create", {"title": STRING}, "title"),
        tool(f"{owner}_show", {f"{owner}_id": STRING}, f"{owner}_id"),
        tool(f"{owner}_delete", {f"{owner}_id": STRING}, f"{owner}_id"),
        tool(f"{owner}_{part}_add", {f"{owner}_id": STRING, "text": STRING}, f"{owner}_id", "text"),
        tool(f"{owner}_{part}_show", keys, *keys),
        tool(f"{owner}_{part}_update", {**keys, "text": STRING}, *keys, "text"),
        tool(f"{owner}_{part}_delete", keys, *keys),
    ]
    key = {f"{owner}_id": f"{owner}_00001"}
    both = {**key, f"{part}_id": f"{owner}_{part}_00001"}
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as simulator, simulator.open() as world:
        await world.call(f"{owner}_create", {"title": "Move"})
        await world.call(f"{owner}_{part}_add", {**key, "text": "x"})
        await world.call(f"{owner}_{part}_update", {**both, "text": "y"})
        shown = await world.call(f"{owner}_{part}_show", both)
        deleted = await world.call(f"{owner}_delete", key)
        gone = await world.call(f"{owner}_{part}_show", both)
    assert (value(shown)["text"], value(shown).get("title")) == ("y", None)
    assert [refused(deleted), refused(gone)] == [False, True]


@pytest.mark.parametrize(
    ("noun", "argument", "agreed"),
    [("goal", "amount", "target_amount"), ("job", "hours", "estimated_hours"), ("tank", "litres", "max_litres")],
)
async def test_a_number_that_is_reported_does_not_replace_the_agreed_one(
    tmp_path: Path, noun: str, argument: str, agreed: str
) -> None:
    number, key = {"type": "number"}, {f"{noun}_id": STRING}
    tools = [
        tool(f"create_{noun}", {"name": STRING, agreed: number}, "name", agreed),
        tool(f"update_{noun}_progress", {**key, argument: number}, f"{noun}_id", argument),
        tool(f"get_{noun}", key, f"{noun}_id"),
    ]
    named = {f"{noun}_id": f"{noun}_00001"}
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as simulator, simulator.open() as world:
        await world.call(f"create_{noun}", {"name": "x", agreed: 1600})
        await world.call(f"update_{noun}_progress", {**named, argument: 250})
        assert value(await world.call(f"get_{noun}", named))[agreed] == 1600
