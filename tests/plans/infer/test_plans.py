"""Plans inferred from tool lists alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.declared import DATE_TIME, INTEGER, STRING, Json, domain, obj, tool
from support.strategies import NOUNS, scenario_of, tool_lists

from mcp_sim.plans.infer import infer
from mcp_sim.plans.infer.names import parse_names
from mcp_sim.simulator.compile import load
from mcp_sim.types import Tool
from mcp_sim.types.domain import Entity, Example
from mcp_sim.types.lexicon.english import plural, singular
from mcp_sim.types.plans import Filter, Plan


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
        ("calculate_reserve", "unknown", "calculate_reserve"),
    ],
)
def test_a_name_is_parsed_into_verb_and_noun(name: str, verb: str, noun: str) -> None:
    others = ("firestore-get-document", "firestore-list-collections", "firestore-batch-write")
    read = parse_names([name, *others] if name.startswith("firestore") else [name])[name]
    assert (read.verb, "_".join(read.noun)) == (verb, noun)


def test_a_shared_first_word_is_dropped_unless_it_is_part_of_the_noun() -> None:
    crm = parse_names(["crm_create_deal", "crm_get_deal", "crm_list_companies"])
    assert {parsed.noun for parsed in crm.values()} == {("deal",), ("company",)}
    orders = parse_names(["sales_order_create", "sales_order_get", "sales_orders_list"])
    assert {parsed.noun for parsed in orders.values()} == {("sales", "order")}


@pytest.mark.parametrize(
    ("one", "many"),
    [("company", "companies"), ("box", "boxes"), ("person", "people"), ("status", "statuses"), ("day", "days"),
     ("analysis", "analyses"), ("address", "addresses"), ("index", "indices"), ("invoice", "invoices"),
     ("series", "series"), ("news", "news")],
)  # fmt: skip
def test_singular_and_plural_are_inverse(one: str, many: str) -> None:
    assert (plural(one), singular(many), singular(one), plural(many)) == (many, one, one, many)


def test_arguments_of_a_list_filter_sort_and_page() -> None:
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
    assert (plan.query, plan.paging.sort, plan.paging.order) == ("q", "sort_by", "order")
    paging, envelope = plan.paging, plan.envelope
    assert (paging.limit, paging.cursor, paging.size, paging.most) == ("pageSize", "pageToken", 5, 50)
    assert (envelope.rows, envelope.total, envelope.cursor) == ("deals", "totalCount", "nextPageToken")


def test_nested_arguments_set_fields() -> None:
    note = obj(id=STRING, body=STRING, title=STRING)
    update = tool("update_note", {"note_id": STRING, "fields": obj(title=STRING, body=STRING)}, "note_id", output=note)
    plan = domain(update, tool("get_note", {"note_id": STRING}, "note_id", output=note)).plans["update_note"]
    assert (plan.key, plan.sets) == ("note_id", {"fields.title": "title", "fields.body": "body"})


def test_links_and_keys_are_inferred_from_names_and_types() -> None:
    contact = obj(contact_id=STRING, company_id=INTEGER, name=STRING)
    entities = domain(
        tool("get_company", {"company_id": INTEGER}, "company_id", output=obj(id=INTEGER, name=STRING)),
        tool("get_contact", {"contact_id": STRING}, "contact_id", output=contact),
    ).entities
    assert (entities["contact"].key, entities["company"].key) == ("contact_id", "id")
    assert entities["contact"].fields["company_id"].link == "company"


def test_a_required_id_of_a_create_is_the_key_of_the_new_record() -> None:
    found = domain(
        tool("create_order", {"order_id": STRING, "goods": STRING}, "order_id"),
        tool("copy_order", {"order_id": STRING, "goods": STRING}, "order_id"),
        tool("get_order", {"order_id": STRING}, "order_id"),
    )
    entity = found.entities["order"]
    assert found.plans["create_order"].sets == {"order_id": entity.key, "goods": "goods"}
    assert found.plans["copy_order"].sets == {"goods": "goods"}
    assert entity.natural


@pytest.mark.parametrize(
    ("schema", "like"),
    [({"type": "string", "pattern": "^tsk-[0-9]{4}$"}, None), ({"type": "integer", "minimum": 1000}, 1000),
     ({"type": "string", "format": "uuid"}, None)],
)  # fmt: skip
def test_the_format_of_an_id_is_inferred_from_its_schema(schema: dict[str, Json], like: str | int | None) -> None:
    found = domain(tool("get_task", {"task_id": schema}, "task_id", output=obj(id=schema, title=STRING)))
    assert found.entities["task"].key_like == like


def test_declarations_win_over_examples() -> None:
    definition = tool("get_task", {"task_id": STRING}, "task_id", output=obj(id=STRING, title=STRING))
    tools = {"get_task": Tool("get_task", "s", definition)}
    example = Example("get_task", {"task_id": "t9"}, {"id": "t9", "title": "x"})
    seen = infer(tools, {}, {}, [example]).entities
    assert seen["task"].key_like == "t9"
    found = infer(tools, {"task": Entity("task", key_like="T-1")}, {"get_task": {"verb": "delete"}}, [example])
    assert (found.entities["task"].key_like, found.plans["get_task"].verb) == ("T-1", "delete")
    assert not found.plans["get_task"].guessed


def test_an_example_gives_the_form_of_an_undeclared_result() -> None:
    tools = {name: Tool(name, "s", tool(name, {"limit": INTEGER})) for name in ("list_tasks", "create_task")}
    example = Example("list_tasks", {}, {"items": [{"id": 7, "title": "x"}], "count": 1})
    found = infer(tools, {}, {}, [example])
    assert found.plans["list_tasks"].envelope.rows == "items"
    assert {"id", "title"} <= found.entities["task"].fields.keys()


def test_little_or_contradicting_evidence_makes_a_guess() -> None:
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
    assert "annotated as read-only" in plan.reasons


def test_a_tool_without_a_key_changes_no_record() -> None:
    plan = domain(tool("delete_everything", {}), tool("create_task", {"title": STRING})).plans["delete_everything"]
    assert (plan.verb, plan.backend) == ("unknown", "schema_only")


def test_every_tool_of_the_crm_gets_the_right_plan() -> None:
    verbs = {plan.tool: (plan.verb, plan.entity, plan.guessed) for plan in load("crm").domain.plans.values()}
    assert verbs["log_activity"] == ("create", "activity", False)
    assert verbs["search_contacts"] == ("search", "contact", False)
    others = {name: found[0] for name, found in verbs.items() if name != "log_activity"}
    assert others == {name: name.partition("_")[0] for name in others}
    assert not any(guessed for _, _, guessed in verbs.values())


@given(definitions=tool_lists())
def test_every_tool_of_a_generated_service_is_understood(definitions: list[dict[str, Json]]) -> None:
    plans = scenario_of(definitions).domain.plans
    verbs = ("create", "get", "list", "update", "delete")
    found = [(plan.verb, plan.entity) for plan in plans.values()]
    nouns = [
        next(noun for noun in sorted(NOUNS, key=len, reverse=True) if _mentions(plan, noun)) for plan in plans.values()
    ]
    assert found == [(verbs[at % 5], noun) for at, noun in enumerate(nouns)]
    assert not any(plan.guessed for plan in plans.values())


def _mentions(plan: Plan, noun: str) -> bool:
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


@given(
    names=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6, unique=True),
    schema=st.sampled_from(STRANGE),
)
def test_every_name_and_schema_gets_a_plan(names: list[str], schema: dict[str, Json]) -> None:
    found = scenario_of([{"name": name, "inputSchema": schema, "outputSchema": schema} for name in names]).domain
    assert list(found.plans) == names
