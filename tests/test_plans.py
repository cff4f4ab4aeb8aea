"""What is inferred from names, schemas, annotations and examples, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import NOUNS, scenario_of, tool_lists

from mcp_sim.cli import main
from mcp_sim.documents import load
from mcp_sim.domain import Domain, Entity, Example, Filter, Plan
from mcp_sim.plans import infer
from mcp_sim.plans.readings import read_names
from mcp_sim.simulator import Simulator
from mcp_sim.types import Tool, ToolResult
from mcp_sim.words import plural, singular

Json = Any
STRING: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}
DATE_TIME: dict[str, Json] = {"type": "string", "format": "date-time"}


def tool(name: str, arguments: Json = None, *required: str, output: Json = None, **more: Json) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": arguments or {}, "required": list(required)}
    return {"name": name, "inputSchema": schema, **more} | ({"outputSchema": output} if output else {})


def obj(**parts: Json) -> dict[str, Json]:
    return {"type": "object", "properties": parts, "required": [*parts]}


def domain(*tools: dict[str, Json]) -> Domain:
    return scenario_of([*tools]).domain


# names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "verb", "noun"),
    [
        ("create_contact", "create", "contact"),
        ("createPullRequest", "create", "pull_request"),
        ("firestore-delete-document", "delete", "document"),
        ("contact_create", "create", "contact"),
        ("pull_requests_create", "create", "pull_request"),
        ("log_activity", "create", "activity"),
        ("find_all_companies", "search", "company"),
        ("get_people", "list", "person"),
        ("get_all_invoices", "list", "invoice"),
        ("fetch_order_details", "get", "order"),
        ("slack.post_message", "create", "message"),
        ("mcp__jira__edit_issue", "update", "issue"),
        ("find_user_by_email", "get", "user"),
        ("set_status", "update", "status"),
        ("close_ticket", "update", "ticket"),
        ("weather_forecast", "unknown", "weather_forecast"),
    ],
)
def test_a_name_tells_verb_and_noun(name: str, verb: str, noun: str) -> None:
    others = ("firestore-get-document", "firestore-list-collections", "firestore-batch-write")
    read = read_names([name, *others] if name.startswith("firestore") else [name])[name]
    assert (read.verb, "_".join(read.noun)) == (verb, noun)


def test_a_word_that_all_tools_begin_with_is_the_servers_unless_it_is_part_of_the_noun() -> None:
    crm = read_names(["crm_create_deal", "crm_get_deal", "crm_list_companies"])
    assert {reading.noun for reading in crm.values()} == {("deal",), ("company",)}
    orders = read_names(["sales_order_create", "sales_order_get", "sales_orders_list"])
    assert {reading.noun for reading in orders.values()} == {("sales", "order")}


@pytest.mark.parametrize(
    ("one", "many"),
    [("company", "companies"), ("box", "boxes"), ("person", "people"), ("status", "statuses"), ("day", "days"),
     ("analysis", "analyses"), ("address", "addresses"), ("index", "indices"), ("invoice", "invoices")],
)  # fmt: skip
def test_singular_and_plural_are_each_others_inverse(one: str, many: str) -> None:
    assert (plural(one), singular(many), singular(one), plural(many)) == (many, one, one, many)


# arguments ----------------------------------------------------------------------------------------------------------


def test_arguments_of_a_list_narrow_sort_and_page() -> None:
    deal = obj(id=STRING, amount={"type": "number"}, tags={"type": "array", "items": STRING}, created_at=DATE_TIME)
    arguments = {
        "min_amount": INTEGER, "amount_lt": INTEGER, "created_after": DATE_TIME, "tag": STRING, "q": STRING,
        "sort_by": STRING, "order": {"enum": ["asc", "desc"]}, "pageSize": {**INTEGER, "default": 5, "maximum": 50},
        "pageToken": STRING, "ids": {"type": "array", "items": STRING}, "access_token": STRING,
    }  # fmt: skip
    rows = obj(deals={"type": "array", "items": deal}, totalCount=INTEGER, nextPageToken=STRING)
    plan = domain(
        tool("list_deals", arguments, output=rows), tool("get_deal", {"id": STRING}, "id", output=deal)
    ).plans["list_deals"]
    assert plan.filters == {
        "min_amount": Filter("amount", "gte"),
        "amount_lt": Filter("amount", "lt"),
        "created_after": Filter("created_at", "gt"),
        "tag": Filter("tags", "contains"),
        "ids": Filter("id", "in"),
    }
    assert (plan.query, plan.sort, plan.order) == ("q", "sort_by", "order")
    paging, envelope = plan.paging, plan.envelope
    assert (paging.limit, paging.cursor, paging.size, paging.most) == ("pageSize", "pageToken", 5, 50)
    assert (envelope.rows, envelope.total, envelope.cursor) == ("deals", "totalCount", "nextPageToken")


def test_a_stretch_of_time_narrows_by_its_beginning_and_its_end() -> None:
    event = obj(id=STRING, title=STRING, start_date=DATE_TIME, end_date=DATE_TIME)
    listed = tool(
        "list_events", {"start_date": STRING, "end_date": STRING}, output=obj(events={"type": "array", "items": event})
    )
    plan = domain(listed, tool("get_event", {"event_id": STRING}, "event_id", output=event)).plans["list_events"]
    assert plan.filters == {"start_date": Filter("start_date", "gte"), "end_date": Filter("end_date", "lte")}


def test_nested_fields_and_synonyms_are_set_where_they_belong() -> None:
    note = obj(id=STRING, body=STRING, title=STRING)
    update = tool("update_note", {"note_id": STRING, "fields": obj(title=STRING, text=STRING)}, "note_id", output=note)
    plan = domain(update, tool("get_note", {"note_id": STRING}, "note_id", output=note)).plans["update_note"]
    assert (plan.key, plan.sets) == ("note_id", {"fields.title": "title", "fields.text": "body"})


# entities -----------------------------------------------------------------------------------------------------------


def test_links_keys_and_looked_up_fields_are_read_from_names_and_types() -> None:
    company = obj(id=INTEGER, name=STRING, contact_count=INTEGER)
    contact = obj(contact_id=STRING, company_id=INTEGER, company_name=STRING, owner_id=STRING)
    entities = domain(
        tool("get_company", {"company_id": INTEGER}, "company_id", output=company),
        tool("get_contact", {"contact_id": STRING}, "contact_id", output=contact),
        tool("get_user", {"user_id": STRING}, "user_id", output=obj(id=STRING, name=STRING)),
    ).entities
    assert (entities["contact"].key, entities["company"].key) == ("contact_id", "id")
    fields = entities["contact"].fields
    assert (fields["company_id"].link, fields["owner_id"].link) == ("company", "user")
    assert fields["company_name"].derived == "company_id.name"
    assert entities["company"].fields["contact_count"].derived == "#contact.company_id"


@pytest.mark.parametrize(
    ("schema", "like"),
    [({"type": "string", "pattern": "^tsk-[0-9]{4}$"}, "tsk-0001"), ({"type": "integer", "minimum": 1000}, 1000),
     ({"type": "string", "format": "uuid"}, None), ({"type": "string", "description": "e.g. 'T-17'"}, "T-17")],
)  # fmt: skip
def test_the_look_of_an_id_is_read_from_its_schema(schema: dict[str, Json], like: str | int | None) -> None:
    found = domain(tool("get_task", {"task_id": schema}, "task_id", output=obj(id=schema, title=STRING)))
    assert found.entities["task"].key_like == like


def test_what_the_spec_declares_wins_over_what_is_seen() -> None:
    definition = tool("get_task", {"task_id": STRING}, "task_id", output=obj(id=STRING, title=STRING))
    tools = {"get_task": Tool("get_task", "s", definition)}
    example = Example("get_task", {"task_id": "t9"}, {"id": "t9", "title": "x"})
    seen = infer(tools, {}, {}, [example]).entities
    assert seen["task"].key_like == "t9"
    found = infer(tools, {"task": Entity("task", key_like="T-1")}, {"get_task": {"verb": "delete"}}, [example])
    assert (found.entities["task"].key_like, found.plans["get_task"].verb) == ("T-1", "delete")
    assert not found.plans["get_task"].guessed


def test_an_example_tells_the_form_of_a_result_that_no_schema_declares() -> None:
    tools = {name: Tool(name, "s", tool(name, {"limit": INTEGER})) for name in ("list_tasks", "create_task")}
    example = Example("list_tasks", {}, {"items": [{"id": 7, "title": "x"}], "count": 1})
    found = infer(tools, {}, {}, [example])
    assert found.plans["list_tasks"].envelope.rows == "items"
    assert {"id", "title"} <= found.entities["task"].fields.keys()


# confidence ---------------------------------------------------------------------------------------------------------


def test_little_evidence_is_a_guess_and_contradiction_makes_it_one() -> None:
    lonely = domain(tool("get_weather", {"city": STRING}, "city")).plans["get_weather"]
    assert lonely.guessed
    output = obj(id=STRING, title=STRING)
    named = [
        tool("get_task", {"task_id": STRING}, "task_id", output=output),
        tool("create_task", {"title": STRING}, output=output),
    ]
    assert not any(plan.guessed for plan in domain(*named).plans.values())
    named[1]["annotations"] = {"readOnlyHint": True}
    plan = domain(*named).plans["create_task"]
    assert plan.guessed
    assert "said to be read-only" in plan.reasons


def test_a_tool_that_names_no_record_is_not_made_to_change_one() -> None:
    plan = domain(tool("delete_everything", {}), tool("create_task", {"title": STRING})).plans["delete_everything"]
    assert (plan.verb, plan.behaviour) == ("unknown", "schema_only")


def test_every_tool_of_the_crm_gets_the_right_plan_for_sure() -> None:
    verbs = {plan.tool: (plan.verb, plan.entity, plan.guessed) for plan in load("crm").domain.plans.values()}
    assert verbs["log_activity"] == ("create", "activity", False)
    assert verbs["search_contacts"] == ("search", "contact", False)
    others = {name: told[0] for name, told in verbs.items() if name != "log_activity"}
    assert others == {name: name.partition("_")[0] for name in others}
    assert not any(guessed for _, _, guessed in verbs.values())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(definitions=tool_lists())
def test_every_tool_of_a_generated_service_is_understood(definitions: list[dict[str, Json]]) -> None:
    plans = scenario_of(definitions).domain.plans
    verbs = ("create", "get", "list", "update", "delete")
    found = [(plan.verb, plan.entity) for plan in plans.values()]
    nouns = [
        next(noun for noun in sorted(NOUNS, key=len, reverse=True) if _speaks_of(plan, noun)) for plan in plans.values()
    ]
    assert found == [(verbs[at % 5], noun) for at, noun in enumerate(nouns)]
    assert not any(plan.guessed for plan in plans.values())


def _speaks_of(plan: Plan, noun: str) -> bool:
    name = plan.tool.replace("-", "_")
    return noun in name or NOUNS[noun] in name


STRANGE: list[dict[str, Json]] = [
    {},
    {"type": "object"},
    {"type": "object", "properties": {"": {}}},
    {"type": "object", "properties": {"编号": STRING}},
    {"type": "object", "properties": {"x": {"$ref": "#"}}},
    {"type": "object", "properties": {"x": {"$ref": "#/no/where"}}},
    {"type": "object", "properties": {"x": {"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#"}]}]}}},
]


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6, unique=True),
    schema=st.sampled_from(STRANGE),
)
def test_no_name_and_no_schema_is_too_strange_to_be_planned(names: list[str], schema: dict[str, Json]) -> None:
    found = scenario_of([{"name": name, "inputSchema": schema, "outputSchema": schema} for name in names]).domain
    assert list(found.plans) == names


# mcp-sim plan ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A tools/list result with one sure tool and one guess."""
    path = tmp_path / "service.json"
    output = obj(id=STRING, title=STRING)
    tools = [
        tool("create_task", {"title": STRING}, "title", output=output),
        tool("get_task", {"task_id": STRING}, "task_id", output=output),
        tool("frobnicate", {"task_id": STRING, "how": STRING}, "task_id"),
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return path


def test_plan_shows_every_tool_in_100_columns_and_the_lines_that_correct_a_guess(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(listed)]) == 0
    told = capsys.readouterr().out
    assert all(len(line) <= 100 for line in told.splitlines())
    assert "1 of 3 plans is a guess" in told
    lines: Mapping[str, Json] = yaml.safe_load(told[told.index("sim:") :])
    assert lines["sim"]["frobnicate"] == {"verb": "none"}


def test_a_guess_that_nothing_is_touched_shows_what_else_it_may_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ferry.json"
    tools = [
        tool("get_booking", {"booking_reference": STRING}, "booking_reference"),
        tool("rebook", {"booking_reference": STRING, "day": STRING}, "booking_reference", "day"),
        tool("sound_horn", {"seconds": INTEGER}, "seconds"),
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert main(["plan", str(path)]) == 0
    told = capsys.readouterr().out
    assert "rebook: {verb: none}   # or {verb: update, entity: booking, key: booking_reference}\n" in told
    assert "sound_horn: {verb: none}\n" in told


def test_plan_writes_json_for_the_tools_that_were_asked_for(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(listed), "--json", "--tool", "get_*"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told["tools"]) == ["get_task"]
    assert told["tools"]["get_task"]["verb"] == "get"
    assert told["tools"]["get_task"]["guessed"] is False
    assert told["entities"]["task"]["key"] == "id"


def test_plan_refuses_a_glob_that_matches_nothing(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(listed), "--tool", "get_tusk"]) == 2
    assert "'get_task'" in capsys.readouterr().err


def test_the_lines_that_correct_a_guess_are_taken(tmp_path: Path, listed: Path) -> None:
    spec = tmp_path / "service.yaml"
    spec.write_text(
        f"mcp_sim: 1\nname: service\ntools: {listed.name}\nentities: {{task: {{key_like: T-1}}}}\n"
        "sim:\n  frobnicate: {verb: update, entity: task, key: task_id, sets: {how: title}}\n",
        encoding="utf-8",
    )
    plan = load(spec).domain.plans["frobnicate"]
    assert (plan.verb, plan.sets, plan.guessed) == ("update", {"how": "title"}, False)


def test_a_noun_before_its_verbs_is_what_they_are_about_and_no_prefix_of_the_server() -> None:
    definitions = [
        tool("task_create", {"title": STRING}, "title"),
        tool("task_list", {}),
        tool("task_get", {"task_id": STRING}, "task_id"),
        tool("task_delete", {"task_id": STRING}, "task_id"),
    ]
    plans = domain(*definitions).plans
    found = {name: (plan.verb, plan.entity) for name, plan in plans.items()}
    verbs = {"task_create": "create", "task_list": "list", "task_get": "get", "task_delete": "delete"}
    assert found == {name: (verb, "task") for name, verb in verbs.items()}


# one tool, several plans ----------------------------------------------------------------------------------------------

OPERATIONS = ["create", "read", "update", "delete", "list", "search"]


def notes(argument: str, schema: Json) -> Domain:
    parts = {"id": STRING, "title": STRING, "content": STRING, "query": STRING}
    return domain(tool("manage_notes", {argument: schema, **parts}, argument))


@pytest.mark.parametrize("argument", ["operation", "action", "mode", "command"])
def test_an_argument_says_which_of_several_things_a_tool_does(argument: str) -> None:
    plan = notes(argument, {"type": "string", "enum": OPERATIONS}).plans["manage_notes"]
    assert (plan.choice, plan.entity, plan.guessed) == (argument, "note", False)
    found = {value: (one.verb, one.entity, one.key) for value, one in plan.choices.items()}
    assert found == {
        "create": ("create", "note", None),
        "read": ("get", "note", "id"),
        "update": ("update", "note", "id"),
        "delete": ("delete", "note", "id"),
        "list": ("list", "note", None),
        "search": ("search", "note", None),
    }
    assert plan.choices["create"].sets == {"title": "title", "content": "content"}
    assert plan.choices["search"].query == "query"


def test_the_choices_may_be_told_in_words_and_hold_the_noun() -> None:
    told = {"type": "string", "description": "What to do: create_note, get_note or delete_note"}
    choices = notes("action", told).plans["manage_notes"].choices
    assert {value: one.verb for value, one in choices.items()} == {
        "create_note": "create",
        "get_note": "get",
        "delete_note": "delete",
    }


def test_a_verb_in_the_name_is_not_taken_back_by_an_argument() -> None:
    modes = {"type": "string", "enum": ["create", "update"]}
    plan = domain(tool("delete_note", {"id": STRING, "mode": modes}, "id"), tool("get_note", {"id": STRING}, "id"))
    assert (plan.plans["delete_note"].verb, plan.plans["delete_note"].choice) == ("delete", None)


async def test_a_tool_that_does_several_things_does_each_of_them_and_names_what_it_lacks(tmp_path: Path) -> None:
    operation = {"type": "string", "enum": [*OPERATIONS, "stats"]}
    parts = {"operation": operation, "id": STRING, "title": STRING, "content": STRING}
    scenario = scenario_of([tool("manage_notes", parts, "operation")])
    async with Simulator(scenario) as simulator, simulator.open("w") as world:

        async def call(**arguments: Json) -> tuple[Json, bool]:
            body = (await world.call("manage_notes", arguments)).body
            assert isinstance(body, ToolResult)
            return body.value, body.is_error

        made, _ = await call(operation="create", title="Tea")
        assert (await call(operation="read", id=made["id"])) == (made, False)
        assert (await call(operation="update", id=made["id"], content="Green"))[0]["content"] == "Green"
        assert (await call(operation="delete", id=made["id"]))[1] is False
        assert (await call(operation="read", id=made["id"]))[1] is True
        assert (await call(operation="delete")) == ("id is required", True)
        assert (await call(operation="stats"))[1] is False


# states ---------------------------------------------------------------------------------------------------------------


def test_a_state_may_be_what_arguments_of_other_tools_say_and_begins_with_the_first() -> None:
    states = ["done", "in_progress", "pending"]
    found = domain(
        tool("create_task", {"title": STRING}, "title"),
        tool("list_tasks", {"status": {"type": "string", "enum": [*states, "all"]}}),
        tool("complete_task", {"task_id": STRING}, "task_id"),
        tool("get_task", {"task_id": STRING}, "task_id", output=obj(id=STRING, title=STRING, status=STRING)),
    )
    schema = found.entities["task"].fields["status"].schema
    assert (schema["enum"], schema["default"]) == (states, "pending")
    assert found.plans["complete_task"].fixed == {"status": "done"}


def test_where_no_schema_tells_of_records_a_tool_that_closes_them_tells_of_their_state() -> None:
    found = domain(
        tool("add_ticket", {"text": STRING}, "text"),
        tool("close_ticket", {"ticket_id": STRING}, "ticket_id"),
        tool("list_tickets", {}),
    )
    assert found.entities["ticket"].fields["status"].schema["enum"] == ["open", "closed"]
    assert found.plans["close_ticket"].fixed == {"status": "closed"}


def test_a_switch_that_says_it_is_done_needs_no_state_beside_it() -> None:
    found = domain(
        tool("add_todo", {"text": STRING}, "text"),
        tool("update_todo", {"todo_id": STRING, "completed": {"type": "boolean"}}, "todo_id"),
        tool("complete_todo", {"todo_id": STRING}, "todo_id"),
    )
    assert "status" not in found.entities["todo"].fields


# keys that callers choose ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "asked", "key"),
    [
        ("branch_name", "branch_name", "branch_name"),
        ("name", "branch_name", "name"),
        ("branch_name", "name", "branch_name"),
        ("name", "branch", "name"),
    ],
)
def test_what_a_create_names_its_record_by_is_the_key(made: str, asked: str, key: str) -> None:
    found = domain(
        tool("create_branch", {"base": STRING, made: STRING}, "base", made),
        tool("delete_branch", {asked: STRING}, asked),
        tool("list_branches", {}),
    )
    assert (found.entities["branch"].key, found.entities["branch"].natural) == (key, True)
    assert found.plans["delete_branch"].key == asked


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("get_pull_request", ["workspaceSlug", "repoSlug", "prId"], "prId"),
        ("get_repository", ["workspaceSlug", "repoSlug"], "repoSlug"),
        ("remove_server_configuration", ["client", "server_name"], "server_name"),
        ("get_booking", ["booking_reference"], "booking_reference"),
    ],
)
def test_of_several_arguments_the_one_that_fits_the_noun_is_the_key(name: str, arguments: list[str], key: str) -> None:
    assert domain(tool(name, dict.fromkeys(arguments, STRING), *arguments)).plans[name].key == key
