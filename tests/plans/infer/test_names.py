"""Tool names: mere verbs, verbs between nouns, and namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.declared import INTEGER, STRING, Json, domain, tool
from support.given import service
from support.given import tool as given_tool


def described(name: str, about: str, arguments: dict[str, Json], *required: str) -> dict[str, Json]:
    return {**tool(name, arguments, *required), "description": about}


STORE = [
    described("save", "Create or update a KB entry. Pass an id to update.", {"id": INTEGER, "title": STRING}),
    described("get", "Fetch a KB entry by id.", {"id": INTEGER}, "id"),
    described("list", "List entries (id, title).", {}),
    described("search", "Full-text search over titles.", {"query": STRING}, "query"),
    described("delete", "Delete an entry by id.", {"id": INTEGER}, "id"),
    described("list_topics", "List all topics.", {}),
]


def test_create_or_update_in_the_description_makes_an_upsert() -> None:
    save = domain(*STORE).plans["save"]
    assert (save.if_exists, save.sets["id"]) == ("update", "id")


def test_descriptions_that_disagree_give_no_entity() -> None:
    odd = [
        described("save", "Create a memo.", {"text": STRING}),
        described("get", "Fetch a page.", {"id": INTEGER}, "id"),
    ]
    assert {plan.entity for plan in domain(*odd).plans.values()} == {None}


async def test_a_shared_prefix_of_several_words_is_ignored(tmp_path: Path) -> None:
    tools = (
        given_tool("harbour_office_create_berth", "title"),
        given_tool("harbour_office_list_berths"),
        given_tool("harbour_office_update_berth", "berth_id", title=STRING),
        given_tool("harbour_office_search_berths", "query"),
    )
    async with service(tmp_path, {"berths": [{"berth_id": "B1", "title": "North"}]}, *tools) as simulator:
        plans = simulator.scenario.domain.plans
    assert {plan.entity for plan in plans.values()} == {"berth"}
    assert [plan.verb for plan in plans.values()] == ["create", "list", "update", "search"]


@pytest.mark.parametrize("first", ["planner", "project_management", "internal"])
@pytest.mark.parametrize("second", ["mail", "sales_desk"])
async def test_each_service_that_names_begin_with_is_ignored(tmp_path: Path, first: str, second: str) -> None:
    tools = [
        given_tool(f"{first}_create_event", "title"),
        given_tool(f"{first}_search_events", "query"),
        given_tool(f"{first}_get_event_details", "event_id"),
        given_tool(f"{second}_add_lead", "company"),
        given_tool(f"{second}_cancel_lead", "lead_id"),
        given_tool(f"{second}_search_leads", company=STRING),
        given_tool("archive_status"),
    ]
    state = {
        "events": [{"event_id": "E1", "title": "Fair"}, {"event_id": "E2", "title": "Ball"}],
        "leads": [
            {"lead_id": 7, "company": "Ada Ltd", "status": "open"},
            {"lead_id": 8, "company": "Bo", "status": ""},
        ],
    }
    async with service(tmp_path, state, *tools) as simulator:
        plans = [*simulator.scenario.domain.plans.values()]
    assert [plan.entity for plan in plans[:6]] == ["event"] * 3 + ["lead"] * 3
    assert [plan.verb for plan in plans[:6]] == ["create", "search", "get", "create", "update", "search"]


@pytest.mark.parametrize("word", ["batch", "bulk"])
def test_a_word_for_several_is_no_service(word: str) -> None:
    listed: Json = {"type": "array", "items": {"type": "object", "properties": {"title": STRING}}}
    nouns = ["berth", "crane", "pilot"]
    tools = [tool(f"{word}_create_{noun}s", {f"{noun}s": listed}, f"{noun}s") for noun in nouns]
    plans = domain(*tools, *(tool(f"list_{noun}s", {}) for noun in nouns)).plans
    assert [plans[f"{word}_create_{noun}s"].each for noun in nouns] == ["berths", "cranes", "pilots"]


@pytest.mark.parametrize("noun", ["lamp", "front_door"])
@pytest.mark.parametrize("argument", ["{}_id", "id"])
def test_a_noun_of_arguments_or_other_names_is_no_service(noun: str, argument: str) -> None:
    key = argument.format(noun)
    asking = [tool(f"{noun}_{rest}", {key: STRING}, key) for rest in ("get_limits", "get_owner", "get_state")]
    others = [tool(f"list_{noun}s", {}), tool("ring_bell", {}), tool("wait", {}), tool("reset_clock", {})]
    plans = domain(*asking, *others).plans
    assert {plans[each["name"]].entity for each in asking} == {noun}


@pytest.mark.parametrize("noun", ["dns", "vaccination", "mileage"])
def test_a_get_of_several_records_lists_them(noun: str) -> None:
    tools = [
        tool(f"create_{noun}_record", {"owner_id": STRING, "text": STRING}, "owner_id", "text"),
        tool(f"get_{noun}_records", {"owner_id": STRING}, "owner_id"),
        tool(f"get_{noun}_record", {"record_id": STRING}, "record_id"),
    ]
    assert [plan.verb for plan in domain(*tools).plans.values()] == ["create", "list", "get"]


@pytest.mark.parametrize("reading", ["list_{}_lists", "get_{}_lists", "{}_lists_search", "find_{}_lists"])
@pytest.mark.parametrize("noun", ["price", "task"])
def test_lists_that_tools_create_or_have_several_of_are_records(reading: str, noun: str) -> None:
    tools = [
        tool(f"create_{noun}", {"name": STRING, f"{noun}_list_id": STRING}, "name"),
        tool(f"list_{noun}s", {}),
        tool(reading.format(noun), {}),
        tool(f"create_{noun}_list", {"name": STRING}, "name"),
        tool(f"get_{noun}_list", {f"{noun}_list_id": STRING}, f"{noun}_list_id"),
        tool(f"update_{noun}_list", {"id": STRING, "name": STRING}, "id"),
        tool(f"delete_{noun}_list", {f"{noun}_list_id": STRING}, f"{noun}_list_id"),
    ]
    plans = domain(*tools).plans
    assert [plan.entity for plan in plans.values()] == [noun, noun, *[f"{noun}_list"] * 5]
    assert [plan.verb for plan in [*plans.values()][3:]] == ["create", "get", "update", "delete"]


def test_a_list_of_what_other_tools_create_is_no_record() -> None:
    tools = [tool("create_price", {"name": STRING}, "name"), tool("get_price_list", {}), tool("price_list", {})]
    assert {plan.entity for plan in domain(*tools).plans.values()} == {"price"}


@pytest.mark.parametrize("form", ["{}_v2025.0", "v1_{}", "{}V2", "api.v1.{}", "v1/{}"])
def test_the_version_of_an_api_is_left_out_of_names(form: str) -> None:
    """`get_docgen_jobs_v2025.0` was about records of the kind `0`."""
    tools = [
        tool(form.format("create_job"), {"name": STRING}, "name"),
        tool(form.format("list_jobs"), {}),
        tool(form.format("get_job"), {"job_id": STRING}, "job_id"),
        tool(form.format("list_batches"), {}),
    ]
    plans = [*domain(*tools).plans.values()]
    assert [(plan.verb, plan.entity) for plan in plans] == [
        ("create", "job"), ("list", "job"), ("get", "job"), ("list", "batch"),
    ]  # fmt: skip
