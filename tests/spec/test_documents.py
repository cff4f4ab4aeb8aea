"""Documents: what they mean."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from support.pets import HEAD, PETS, ProblemsIn, Write

from mcp_sim.simulator.compile import load
from mcp_sim.spec.parts.plans import EnvelopePart, FilterPart, PagingPart, SimPart
from mcp_sim.types.errors import UsageError
from mcp_sim.types.options import Span
from mcp_sim.types.plans import Envelope, Filter, Paging, Plan


def test_a_shipped_scenario_is_loaded_by_its_stem() -> None:
    scenario = load("flaky_crm")
    assert scenario.name == "flaky-crm"
    assert scenario.seed == 7
    assert scenario.now == datetime(2029, 3, 1, 9, tzinfo=UTC)
    lost = scenario.perturbations[0]
    assert (lost.id, lost.kind, lost.tools) == ("lost-deal", "lost_ack", ("create_deal",))
    assert scenario.records["contact"].rows[0]["id"] == "con_00001"
    assert list(scenario.servers) == ["crm"]
    assert scenario.servers["crm"].tools == tuple(scenario.domain.tools)


def test_the_sum_is_over_the_bytes_of_all_documents_in_the_order_of_reading(write: Write) -> None:
    texts = [b"mcp_sim: 1\ntools: pets.yaml\nseed: 1\n", b"mcp_sim: 1\ntools: t.json\n", b'{"tools": []}']
    for text, file in zip(texts, ["x.yaml", "pets.yaml", "t.json"], strict=True):
        write(text, file)
    assert load("x.yaml").sha256 == sha256(b"".join(texts)).hexdigest()
    write(texts[2] + b"\n", "t.json")
    assert load("x.yaml").sha256 != sha256(b"".join(texts)).hexdigest()


def test_a_tool_spec_or_a_tool_list_makes_a_calm_scenario(write: Write) -> None:
    tools = [{"name": "get_pet", "inputSchema": {"type": "object", "properties": {"pet_id": {"type": "string"}}}}]
    for file, body in {"spec.json": {"mcp_sim": 1, "name": "pets", "tools": tools}, "list.json": tools,
                       "result.json": {"tools": tools, "nextCursor": None}}.items():  # fmt: skip
        scenario = load(write(json.dumps(body), file))
        assert list(scenario.domain.tools) == ["get_pet"]
        assert scenario.perturbations == ()
        assert [entry.kind for entry in scenario.world_models] == ["builtin"]
        assert scenario.name == {"spec.json": "pets"}.get(file, file.removesuffix(".json"))


def test_a_scenario_may_point_to_a_tool_list_directly(write: Write) -> None:
    write(json.dumps({"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]}), "lists/ping.json")
    scenario = load(write("mcp_sim: 1\nseed: 3\ntools: lists/ping.json\n"))
    assert list(scenario.domain.tools) == ["ping"]
    assert scenario.servers["ping"].name == "ping"


def test_with_several_servers_tools_bear_the_server_in_their_id(write: Write) -> None:
    write(PETS, "pets.yaml")
    scenario = load(write("mcp_sim: 1\nseed: 0\ntools: {crm: crm, zoo: pets.yaml}\n"))
    assert scenario.domain.tools["zoo/get_pet"].name == "get_pet"
    assert scenario.domain.tools["zoo/get_pet"].server == "zoo"
    assert scenario.servers["zoo"].tools == ("zoo/get_pet", "zoo/list_pets")
    assert scenario.servers["zoo"].name == "pets"
    assert "crm/create_deal" in scenario.domain.plans


def test_a_single_server_in_a_mapping_leaves_the_ids_bare(write: Write) -> None:
    scenario = load(write("mcp_sim: 1\nseed: 0\ntools: {sales: crm}\n"))
    assert scenario.domain.tools["create_deal"].server == "sales"
    assert list(scenario.servers) == ["sales"]


def test_entities_of_one_name_are_shared_unless_namespaces_keep_them_apart(write: Write) -> None:
    write(PETS, "pets.yaml")
    text = "mcp_sim: 1\nseed: 0\ntools: {a: pets.yaml, b: pets.yaml}\n"
    assert list(load(write(text)).domain.entities) == ["pet"]
    apart = load(write(text + "world: {namespaces: true, records: {b.pet: 4}}\n"))
    assert list(apart.domain.entities) == ["a.pet", "b.pet"]
    assert apart.domain.plans["b/get_pet"].entity == "b.pet"


def test_sim_fixes_parts_of_a_plan(write: Write) -> None:
    sim = """\
sim:
  list_pets:
    {verb: search, entity: pet, query: q, paging: {limit: limit, size: 7}, envelope: {rows: pets}}
  get_pet: {filters: {pet_id: id}, fixed: {seen: true}}
"""
    plans = load(write(PETS + sim)).domain.plans
    assert plans["list_pets"].verb == "search"
    assert plans["list_pets"].query == "q"
    assert plans["list_pets"].paging.size == 7
    assert plans["list_pets"].envelope.rows == "pets"
    assert plans["get_pet"].filters == {"pet_id": Filter("id")}
    assert plans["get_pet"].fixed == {"seen": True}


def test_a_null_argument_is_none_and_any_other_null_is_left_out(write: Write) -> None:
    plain = load(write(PETS)).domain.plans["list_pets"]
    nulls = ", ".join(f"{name}: null" for name in SimPart.model_fields)
    plan = load(write(PETS + f"sim: {{list_pets: {{{nulls}}}}}\n")).domain.plans["list_pets"]
    assert replace(plan, basis={}) == replace(plain, basis={}, query=None)
    declared = {name for name, basis in plan.basis.items() if basis.source == "declared"}
    assert declared == {"key", "each", "holder", "query", "choice", "idempotency"}


def test_sim_can_fix_whatever_a_plan_has() -> None:
    of_the_answer = {
        "ask",
        "notify",
        "blocks",
        "python",
        "errors",
        "checks",
        "latency",
        "media",
    }  # these belong to the answer, not to the plan
    inferred = {"tool", "basis"}
    assert set(SimPart.model_fields) - of_the_answer == {part.name for part in fields(Plan)} - inferred
    for part, kind in {PagingPart: Paging, EnvelopePart: Envelope, FilterPart: Filter}.items():
        assert set(part.model_fields) == {one.name for one in fields(kind)}


def test_ids_follow_from_the_entry_and_stay_when_others_come_and_go(write: Write) -> None:
    def ids(*entries: str) -> list[str]:
        listed = "".join(f"  - {entry}\n" for entry in entries)
        return [entry.id for entry in load(write(HEAD + "perturbations:\n" + listed)).perturbations]

    (alone,) = ids("error: {status: 500}")
    assert alone == "error-" + sha256(b'{"error":{"status":500}}').hexdigest()[:6]
    assert ids("latency: 30ms", "{error: {status: 500}}") == [ids("latency: 30ms")[0], alone]
    assert ids(*["error: {status: 500}"] * 3) == [alone, f"{alone}-2", f"{alone}-3"]


def test_when_nests(write: Write) -> None:
    when = "{nth: [1, 3], per: arguments.deal_id, any: [{every: 2}, {not: {arguments: {deal_id: x}}}]}"
    (entry,) = load(
        write(HEAD + f"perturbations:\n  - error: {{}}\n    tools: [get_deal]\n    when: {when}\n")
    ).perturbations
    assert [trigger.why() for trigger in entry.when.triggers] == ["nth 1, 3"]
    assert entry.when.per == "arguments.deal_id"
    assert [trigger.why() for trigger in entry.when.any[0].triggers] == ["every 2"]
    assert entry.when.any[1].triggers == ()
    assert len(entry.when.any[1].none) == 1


def test_fires_is_a_number_or_a_mapping(write: Write) -> None:
    text = (
        "perturbations:\n  - {error: 500, fires: 2}\n  - {error: 500, fires: {max: 3, per: tool, cooldown: 5 calls}}\n"
    )
    one, other = load(write(HEAD + text)).perturbations
    assert (one.fires.max, one.fires.cooldown) == (2, None)
    assert (other.fires.max, other.fires.per, other.fires.cooldown) == (3, "tool", Span(calls=5))


@pytest.mark.parametrize(
    ("text", "span"),
    [("1 call", Span(calls=1)), ("30s", Span(time=timedelta(seconds=30))), ("1.5h", Span(time=timedelta(minutes=90)))],
)
def test_a_span_is_a_duration_or_a_number_of_calls(write: Write, text: str, span: Span) -> None:
    body = f"perturbations: [{{error: 500, fires: {{cooldown: {text}}}}}]\n"
    assert load(write(HEAD + body)).perturbations[0].fires.cooldown == span


@pytest.mark.parametrize("text", ["5", "5.5", "'5'", "calls", "-1s", "5 minutes", "[5s]", "true"])
def test_anything_else_is_no_span(problems_in: ProblemsIn, text: str) -> None:
    (problem,) = problems_in(HEAD + f"perturbations:\n  - error: 500\n    fires: {{cooldown: {text}}}\n")
    assert problem.startswith("x.yaml:5: perturbations[0].fires.cooldown: ")
    assert "write" in problem


def test_a_null_is_as_good_as_nothing(write: Write) -> None:
    scenario = load(write(HEAD + "perturbations:\n#  - lost_ack:\nexpect:\nworld:\nworld_model:\nname:\n"))
    assert (scenario.perturbations, scenario.expectations, scenario.name) == ((), (), "x")
    assert [entry.kind for entry in scenario.world_models] == ["builtin"]


def test_world_models_are_a_name_a_kind_or_a_list(write: Write) -> None:
    openai = "{openai: {base_url: http://127.0.0.1:1/v1, model: m}, tools: 'create_*'}"
    for text, kinds in {
        "builtin": ["builtin"],
        "{builtin: }": ["builtin"],
        f"[{openai}, builtin]": ["openai", "builtin"],
    }.items():
        assert [entry.kind for entry in load(write(HEAD + f"world_model: {text}\n")).world_models] == kinds
    assert [entry.tools for entry in load("x.yaml").world_models] == [("create_*",), ()]


def test_the_command_line_replaces_the_world_model_as_a_whole(write: Write) -> None:
    path = write(HEAD + "world_model: nonsense\n")
    (entry,) = load(path, world_model="openai:org/model:tag@v2@http://127.0.0.1:1/v1").world_models
    assert (entry.kind, entry.tools) == ("openai", ())
    named = entry.world_model.model_dump(include={"model", "base_url"})
    assert named == {"model": "org/model:tag@v2", "base_url": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize("text", ["openai", "openai:", "openai:m", "openai:@http://x/v1", "bultin", "openai:m@nowhere"])
def test_a_world_model_that_the_command_line_gets_wrong_is_reported(text: str) -> None:
    with pytest.raises(UsageError, match=r"--world-model .*(write it as|unknown world model|is not a URL)"):
        load("calm_crm", world_model=text)


def test_stubs_have_matchers(write: Write) -> None:
    text = "stubs:\n  - {tool: get_*, arguments: {deal_id: {matches: '^deal'}}, error: gone}\n"
    (stub,) = load(write(HEAD + text)).stubs
    assert stub.arguments["deal_id"]("deal_1")
    assert not stub.arguments["deal_id"]("x")
    assert stub.error == "gone"
