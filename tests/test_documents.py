"""Documents: what they mean, and what is said of them where they are wrong, with file, line and path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcp_sim import documents, yaml12
from mcp_sim.documents.editor_schema import scenario_schema, tool_spec_schema
from mcp_sim.documents.recursion import has_end
from mcp_sim.domain import Envelope, Filter, Paging, Plan, Swap
from mcp_sim.errors import DocumentError, UsageError
from mcp_sim.scenario import Span
from mcp_sim.tool_spec import EnvelopePart, PagingPart, SimPart, SwapPart
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.validation import Validator
from mcp_sim.wording import Template, VendorWording

HEAD = "mcp_sim: 1\ntools: crm\n"
PET_TOOLS = """\
  - name: get_pet
    inputSchema: {type: object, properties: {pet_id: {type: string}}, required: [pet_id]}
    outputSchema: {type: object, properties: {id: {type: string}, name: {type: string}}, required: [id]}
  - name: list_pets
    inputSchema: {type: object, properties: {limit: {type: integer}, q: {type: string}}}
    outputSchema:
      type: object
      properties: {pets: {type: array, items: {type: object, properties: {id: {type: string}, name: {type: string}}}}}
"""
PETS = "mcp_sim: 1\nname: pets\ntools:\n" + PET_TOOLS

Write = Callable[..., str]
Told = Callable[..., list[str]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a document into the working directory, which is empty, and gives its name."""
    monkeypatch.chdir(tmp_path)

    def put(text: str | bytes, file: str = "x.yaml") -> str:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    return put


@pytest.fixture
def told(write: Write) -> Told:
    """What `check` says of a document."""

    def tell(text: str | bytes, file: str = "x.yaml") -> list[str]:
        return [str(problem) for problem in documents.check([write(text, file)])]

    return tell


# what documents mean --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["scenarios", "tool_specs"])
def test_everything_that_ships_is_in_order(folder: str) -> None:
    names = documents.shipped(folder)
    assert names
    for name, path in names.items():
        assert documents.check([path]) == [], name


def test_a_shipped_scenario_is_loaded_by_its_stem() -> None:
    scenario = documents.load("flaky_crm")
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
    assert documents.load("x.yaml").sha256 == sha256(b"".join(texts)).hexdigest()
    write(texts[2] + b"\n", "t.json")
    assert documents.load("x.yaml").sha256 != sha256(b"".join(texts)).hexdigest()


def test_a_tool_spec_or_a_tool_list_makes_a_calm_scenario(write: Write) -> None:
    tools = [{"name": "get_pet", "inputSchema": {"type": "object", "properties": {"pet_id": {"type": "string"}}}}]
    for file, body in {"spec.json": {"mcp_sim": 1, "name": "pets", "tools": tools}, "list.json": tools,
                       "result.json": {"tools": tools, "nextCursor": None}}.items():  # fmt: skip
        scenario = documents.load(write(json.dumps(body), file))
        assert list(scenario.domain.tools) == ["get_pet"]
        assert scenario.perturbations == ()
        assert [entry.kind for entry in scenario.world_models] == ["builtin"]
        assert scenario.name == {"spec.json": "pets"}.get(file, file.removesuffix(".json"))


def test_a_scenario_may_point_to_a_tool_list_directly(write: Write) -> None:
    write(json.dumps({"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]}), "lists/ping.json")
    scenario = documents.load(write("mcp_sim: 1\nseed: 3\ntools: lists/ping.json\n"))
    assert list(scenario.domain.tools) == ["ping"]
    assert scenario.servers["ping"].name == "ping"


def test_with_several_servers_tools_bear_the_server_in_their_id(write: Write) -> None:
    write(PETS, "pets.yaml")
    scenario = documents.load(write("mcp_sim: 1\nseed: 0\ntools: {crm: crm, zoo: pets.yaml}\n"))
    assert scenario.domain.tools["zoo/get_pet"].name == "get_pet"
    assert scenario.domain.tools["zoo/get_pet"].server == "zoo"
    assert scenario.servers["zoo"].tools == ("zoo/get_pet", "zoo/list_pets")
    assert scenario.servers["zoo"].name == "pets"
    assert "crm/create_deal" in scenario.domain.plans


def test_a_single_server_in_a_mapping_leaves_the_ids_bare(write: Write) -> None:
    scenario = documents.load(write("mcp_sim: 1\nseed: 0\ntools: {sales: crm}\n"))
    assert scenario.domain.tools["create_deal"].server == "sales"
    assert list(scenario.servers) == ["sales"]


def test_entities_of_one_name_are_shared_unless_namespaces_keep_them_apart(write: Write) -> None:
    write(PETS, "pets.yaml")
    text = "mcp_sim: 1\nseed: 0\ntools: {a: pets.yaml, b: pets.yaml}\n"
    assert list(documents.load(write(text)).domain.entities) == ["pet"]
    apart = documents.load(write(text + "world: {namespaces: true, records: {b.pet: 4}}\n"))
    assert list(apart.domain.entities) == ["a.pet", "b.pet"]
    assert apart.domain.plans["b/get_pet"].entity == "b.pet"


def test_sim_fixes_parts_of_a_plan(write: Write) -> None:
    sim = """\
sim:
  list_pets:
    {verb: search, entity: pet, query: q, searched: [name], paging: {limit: limit, size: 7}, envelope: {rows: pets}}
  get_pet: {filters: {pet_id: id}, fixed: {seen: true}}
"""
    plans = documents.load(write(PETS + sim)).domain.plans
    assert plans["list_pets"].verb == "search"
    assert plans["list_pets"].searched == ("name",)
    assert plans["list_pets"].paging.size == 7
    assert plans["list_pets"].envelope.rows == "pets"
    assert plans["get_pet"].filters == {"pet_id": Filter("id")}
    assert plans["get_pet"].fixed == {"seen": True}


def test_sim_can_fix_whatever_a_plan_has() -> None:
    inferred = {"tool", "confidence", "reasons"}
    said = {"ask", "notify", "blocks", "python"}  # of the answer, which is not the plan's
    assert set(SimPart.model_fields) == {part.name for part in fields(Plan)} - inferred | said
    assert set(SwapPart.model_fields) == {part.name for part in fields(Swap)}
    assert set(PagingPart.model_fields) == {part.name for part in fields(Paging)}
    assert set(EnvelopePart.model_fields) == {part.name for part in fields(Envelope)}


def test_ids_follow_from_the_entry_and_stay_when_others_come_and_go(write: Write) -> None:
    def ids(*entries: str) -> list[str]:
        listed = "".join(f"  - {entry}\n" for entry in entries)
        return [entry.id for entry in documents.load(write(HEAD + "perturbations:\n" + listed)).perturbations]

    (alone,) = ids("error: {status: 500}")
    assert alone == "error-" + sha256(b'{"error":{"status":500}}').hexdigest()[:6]
    assert ids("latency: 30ms", "{error: {status: 500}}") == [ids("latency: 30ms")[0], alone]
    assert ids(*["error: {status: 500}"] * 3) == [alone, f"{alone}-2", f"{alone}-3"]


def test_when_nests(write: Write) -> None:
    when = "{nth: [1, 3], per: arguments.deal_id, any: [{every: 2}, {not: {arguments: {deal_id: x}}}]}"
    (entry,) = documents.load(
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
    one, other = documents.load(write(HEAD + text)).perturbations
    assert (one.fires.max, one.fires.cooldown) == (2, None)
    assert (other.fires.max, other.fires.per, other.fires.cooldown) == (3, "tool", Span(calls=5))


@pytest.mark.parametrize(
    ("text", "span"),
    [("1 call", Span(calls=1)), ("30s", Span(time=timedelta(seconds=30))), ("1.5h", Span(time=timedelta(minutes=90)))],
)
def test_a_span_is_a_duration_or_a_number_of_calls(write: Write, text: str, span: Span) -> None:
    body = f"perturbations: [{{error: 500, fires: {{cooldown: {text}}}}}]\n"
    assert documents.load(write(HEAD + body)).perturbations[0].fires.cooldown == span


@pytest.mark.parametrize("text", ["5", "5.5", "'5'", "calls", "-1s", "5 minutes", "[5s]", "true"])
def test_anything_else_is_no_span(told: Told, text: str) -> None:
    (problem,) = told(HEAD + f"perturbations:\n  - error: 500\n    fires: {{cooldown: {text}}}\n")
    assert problem.startswith("x.yaml:5: perturbations[0].fires.cooldown: ")
    assert "write" in problem


def test_a_null_is_as_good_as_nothing(write: Write) -> None:
    scenario = documents.load(write(HEAD + "perturbations:\n#  - lost_ack:\nexpect:\nworld:\nworld_model:\nname:\n"))
    assert (scenario.perturbations, scenario.expectations, scenario.name) == ((), (), "x")
    assert [entry.kind for entry in scenario.world_models] == ["builtin"]


def test_world_models_are_a_name_a_kind_or_a_list(write: Write) -> None:
    openai = "{openai: {base_url: http://127.0.0.1:1/v1, model: m}, tools: 'create_*'}"
    for text, kinds in {
        "builtin": ["builtin"],
        "{builtin: }": ["builtin"],
        f"[{openai}, builtin]": ["openai", "builtin"],
    }.items():
        assert [entry.kind for entry in documents.load(write(HEAD + f"world_model: {text}\n")).world_models] == kinds
    assert [entry.tools for entry in documents.load("x.yaml").world_models] == [("create_*",), ()]


def test_the_command_line_replaces_the_world_model_as_a_whole(write: Write) -> None:
    path = write(HEAD + "world_model: nonsense\n")
    (entry,) = documents.load(path, world_model="openai:org/model:tag@v2@http://127.0.0.1:1/v1").world_models
    assert (entry.kind, entry.tools) == ("openai", ())
    named = entry.world_model.model_dump(include={"model", "base_url"})
    assert named == {"model": "org/model:tag@v2", "base_url": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize("text", ["openai", "openai:", "openai:m", "openai:@http://x/v1", "bultin", "openai:m@nowhere"])
def test_a_world_model_that_the_command_line_gets_wrong_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"--world-model .*(write it as|unknown world model)"):
        documents.load("calm_crm", world_model=text)


def test_stubs_have_matchers(write: Write) -> None:
    text = "stubs:\n  - {tool: get_*, arguments: {deal_id: {matches: '^deal'}}, error: gone}\n"
    (stub,) = documents.load(write(HEAD + text)).stubs
    assert stub.arguments["deal_id"]("deal_1")
    assert not stub.arguments["deal_id"]("x")
    assert stub.error == "gone"


# what is said of wrong documents --------------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, list[str]]] = {
    "an unknown key": (
        HEAD + "perturbation: []\n",
        ["x.yaml:3: perturbation: unknown key; did you mean 'perturbations'?"],
    ),
    "an unknown kind, and what else is wrong with its entry": (
        HEAD + "perturbations:\n  - lost_akc: {}\n    tools: creat_deal\n    when: {nth: 0}\n",
        [
            "x.yaml:4: perturbations[0].lost_akc: unknown perturbation 'lost_akc'; did you mean 'lost_ack'?",
            "x.yaml:5: perturbations[0].tools: no tool matches 'creat_deal'; did you mean 'create_deal'?",
            "x.yaml:6: perturbations[0].when.nth: must be at least 1, not 0",
        ],
    ),
    "wrong types": (
        HEAD
        + "seed: x\nname: 3\nworld:\n  now: 2029\n  clock: {per_call: 3, mode: fast, sped: 2}\n"
        + "  records: {deal: [many]}\n",
        [
            "x.yaml:3: seed: must be a whole number, not 'x'",
            'x.yaml:4: name: must be a string, not 3; quote it: "3"',
            "x.yaml:6: world.now: 2029 is not a time; write it as 2029-03-01T09:00:00Z",
            "x.yaml:7: world.clock.mode: must be 'virtual' or 'real', not 'fast'",
            "x.yaml:7: world.clock.per_call: 3 is not a duration; write 250ms, 30s, 5m, 2h or 1d",
            "x.yaml:7: world.clock.sped: unknown key; did you mean 'speed'?",
            "x.yaml:8: world.records.deal: must be a whole number, a file, or {count, rows, file}",
        ],
    ),
    "booleans are no numbers": (
        HEAD + "seed: true\nworld: {records: {deal: true}}\n",
        [
            "x.yaml:3: seed: must be a whole number, not true",
            "x.yaml:4: world.records.deal: must be a whole number, a file, or {count, rows, file}",
        ],
    ),
    "entries that are none": (
        HEAD
        + "perturbations:\n  - lost_ack\n  - id: x\n  - {error: 500, latency: 1s}\n  - {error: 500, whn: {}}\n"
        + "expect: 3\n",
        [
            "x.yaml:4: perturbations[0]: must be a mapping with a kind as a key, not 'lost_ack'; write `lost_ack: {}`",
            "x.yaml:5: perturbations[1]: has no kind; choose from '",
            "x.yaml:6: perturbations[2]: has several kinds: error, latency; one entry is one kind",
            "x.yaml:7: perturbations[3].whn: unknown key; did you mean 'when'?",
            "x.yaml:8: expect: must be a list, not 3",
        ],
    ),
    "globs that match nothing": (
        HEAD
        + "perturbations:\n  - error: 500\n    tools:\n      - get_*\n      - get_deals\n"
        + "stubs: [{tool: x_*, error: a}]\n",
        [
            "x.yaml:7: perturbations[0].tools[1]: no tool matches 'get_deals'; did you mean 'get_deal'?",
            "x.yaml:8: stubs[0].tool: no tool matches 'x_*'",
        ],
    ),
    "globs that are none": (
        HEAD
        + "perturbations:\n  - {error: 500, tools: 5}\n  - {error: 500, tools: []}\n  - {error: 500, tools: [5]}\n",
        [
            "x.yaml:4: perturbations[0].tools: must be a glob, or a list of globs",
            "x.yaml:5: perturbations[1].tools: must ",
            'x.yaml:6: perturbations[2].tools[0]: must be a string, not 5; quote it: "5"',
        ],
    ),
    "an id that is taken": (
        HEAD + "perturbations:\n  - error: 500\n    id: a\n  - error: 501\n    id: a\n",
        ["x.yaml:7: perturbations[1].id: the id 'a' is taken by an earlier entry"],
    ),
    "triggers": (
        HEAD
        + "perturbations:\n  - error: 500\n    when:\n"
        + "      evry: 3\n      not: {probability: 2}\n      any: []\n      per: x\n",
        [
            "x.yaml:6: perturbations[0].when.evry: unknown trigger; did you mean 'every'?",
            "x.yaml:7: perturbations[0].when.not.probability: must be at most 1.0, not 2",
            "x.yaml:8: perturbations[0].when.any: must be a list of mappings of triggers, not an empty one",
            "x.yaml:9: perturbations[0].when.per: 'x' splits nothing; write tool, entity, or arguments.NAME",
        ],
    ),
    "a when that is no mapping": (
        HEAD + "perturbations:\n  - error: 500\n    when: [nth]\n  - {error: 501, when: }\n",
        [
            "x.yaml:5: perturbations[0].when: must be a mapping of triggers, not a list",
            "x.yaml:6: perturbations[1].when: must be a mapping of triggers, not null",
        ],
    ),
    "expectations": (
        HEAD + "expect:\n  - called: {tool: creat_deal}\n  - recovered: lost\n  - state: {entity: deel}\n  - called:\n",
        [
            "x.yaml:4: expect[0].called: no tool matches 'creat_deal'; did you mean 'create_deal'?",
            "x.yaml:5: expect[1].recovered: no perturbation has the id 'lost'",
            "x.yaml:6: expect[2].state: unknown entity 'deel'; did you mean 'deal'?",
            "x.yaml:7: expect[3].called.tool: is missing",
        ],
    ),
    "records": (
        HEAD + "world:\n  records:\n    deel: 3\n    company: {count: 0, rows: [{}]}\n",
        ["x.yaml:6: world.records.company: count is 0, but there are 1 rows, which count includes"],
    ),
    "rows": (
        HEAD
        + "world:\n  records:\n    deel: 3\n    contact:\n      rows:\n"
        + "        - {id: con_00001, stage: leed}\n        - {id: con_00001, nam: x}\n",
        [
            "x.yaml:5: world.records.deel: unknown entity; did you mean 'deal'?",
            "x.yaml:8: world.records.contact.rows[0].stage: 'leed' is not one of ['lead', 'customer', 'churned']",
            "x.yaml:9: world.records.contact.rows[1].id: a second contact 'con_00001'",
            "x.yaml:9: warning: world.records.contact.rows[1].nam: no tool speaks of a field 'nam' of contact; did you",
        ],
    ),
    "records that would have to link to nothing": (
        HEAD + "world:\n  records:\n    contact: 0\n    deal: 10\n    activity: 0\n",
        ["x.yaml:6: warning: world.records.deal: no deal is made up: each must link to a contact, and there is none"],
    ),
    "stubs": (
        HEAD + "stubs:\n  - {tool: get_deal}\n  - {tool: get_deal, error: x, arguments: {deal_id: {eqals: 3}}}\n",
        [
            "x.yaml:4: stubs[0]: write exactly one of result, blocks, error",
            "x.yaml:5: stubs[1].arguments.deal_id: unknown operator 'eqals'; did you mean 'equals'?",
        ],
    ),
    "a world model that is unknown": (
        HEAD + "world_model: bultin\n",
        ["x.yaml:3: world_model: unknown world model 'bultin'; did you mean 'builtin'?"],
    ),
    "a world model without what it needs": (
        HEAD + "world_model:\n  openai: {model: m}\n",
        ["x.yaml:4: world_model.openai.base_url: is missing"],
    ),
    "a tool that nobody answers": (
        HEAD + "world_model:\n  - builtin:\n    tools: ['[!u]*', update_contact]\n",
        ["x.yaml:3: world_model: no entry answers update_deal"],
    ),
    "no tools": ("mcp_sim: 1\ntask: x\n", ["x.yaml:1: tools: is missing"]),
    "a spec that does not ship": (
        "mcp_sim: 1\ntools: crn\n",
        ["x.yaml:2: tools: no tool spec 'crn' ships; did you mean 'crm'?"],
    ),
    "a missing file, and an entry that is looked at nevertheless": (
        "mcp_sim: 1\ntools: shop.yaml\nperturbations: [{errr: 500}]\n",
        [
            "x.yaml:2: tools: there is no file 'shop.yaml' beside x.yaml",
            "x.yaml:3: perturbations[0].errr: unknown perturbation 'errr'; did you mean 'error'?",
        ],
    ),
    "tools that are a list": (
        "mcp_sim: 1\ntask: x\ntools: [a]\n",
        ["x.yaml:3: tools: a list of tools belongs into a tool spec; here goes its file or name"],
    ),
    "a server's name": (
        "mcp_sim: 1\nseed: 1\ntools:\n  a/b: crm\n  c: crm\n",
        ["x.yaml:4: tools.a/b: the name of a server consists of letters, digits, `.`, `_` and `-`"],
    ),
    "another version": ("mcp_sim: 2\ntools: crm\n", ["x.yaml:1: mcp_sim: must be 1, not 2"]),
    "no version": ("seed: 2\ntools: crm\n", ["x.yaml:1: mcp_sim: is missing"]),
    "nothing": ("# only a comment\n", ["x.yaml:1: is empty; a scenario or tool spec begins with `mcp_sim: 1`"]),
    "a text": ("flaky_crm", ["x.yaml:1: must be a mapping, not 'flaky_crm'; a scenario or tool spec begins"]),
    "malformed YAML": (
        HEAD + "seed: [1,\n",
        ["x.yaml:4: is not YAML: while parsing a flow node did not find expected"],
    ),
    "a glob that is not quoted": (
        HEAD + "perturbations:\n  - error: 500\n    tools: *_deal\n",
        ['x.yaml:5: perturbations[0].tools: `*_deal` is an alias of nothing; quote it where a glob is meant: "*_deal"'],
    ),
    "a duration beyond all worlds": (
        HEAD + "world: {clock: {per_call: 36526d}}\n",
        ["x.yaml:3: world.clock.per_call: '36526d' is longer than any world lasts: 36525d"],
    ),
    "more records than a world can hold": (
        HEAD + "world: {records: {contact: 1000000000000}}\n",
        ["x.yaml:3: world.records.contact: must be at most 10000000, not 1000000000000"],
    ),
    "a time outside the calendar": (
        HEAD + "world: {now: 0001-01-01T00:00:00+14:00}\n",
        ["x.yaml:3: world.now: '0001-01-01T00:00:00+14:00' is outside the years 1900 to 2999"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_scenario_is_told_with_all_its_problems(told: Told, case: str) -> None:
    text, expected = WRONG[case]
    problems = told(text)
    assert len(problems) == len(expected), problems
    for problem, beginning in zip(problems, expected, strict=True):
        assert problem.startswith(beginning)


WRONG_SPECS: dict[str, tuple[str, list[str]]] = {
    "tools that break a client": (
        "mcp_sim: 1\ntools:\n"
        "  - {name: a}\n"
        "  - {name: b, inputSchema: {}}\n"
        "  - {name: c, inputSchema: {type: object}}\n"
        "  - {name: c, inputSchema: {type: object}}\n"
        "  - {name: d, inputSchema: {type: object}, outputSchema: {type: array}}\n"
        "  - {inputSchema: {type: object}}\n"
        "  - 7\n"
        "  - {name: e, inputSchema: {type: object}, annotations: {readOnlyHint: 'yes'}, description: 3}\n",
        [
            'x.yaml:3: tools[0]: has no inputSchema; a tool without arguments has {"type": "object"}',
            "x.yaml:4: tools[1].inputSchema: is without a type; clients take only schemas with `type: object`",
            "x.yaml:6: warning: tools[3].name: a second tool 'c' is left out: names are unique within a server",
            "x.yaml:7: warning: tools[4].outputSchema: is of type 'array'; clients with a handshake (up to 2025-11-25)",
            "x.yaml:8: tools[5]: has no name",
            "x.yaml:9: tools[6]: must be a tool, not 7",
            "x.yaml:10: tools[7].description: must be a string, not 3",
            "x.yaml:10: tools[7].annotations.readOnlyHint: must be true or false, not 'yes'",
        ],
    ),
    "schemas that are none": (
        "mcp_sim: 1\ntools:\n"
        "  - name: a\n    inputSchema:\n      type: object\n      required: x\n"
        "      properties:\n        n: {type: strng}\n"
        '  - {name: b, inputSchema: {type: object, properties: {x: {$ref: "#/$defs/q"}}}}\n',
        [
            "x.yaml:6: tools[0].inputSchema.required: is no valid JSON Schema: 'x' is not of type 'array'",
            "x.yaml:8: tools[0].inputSchema.properties.n.type: is no valid JSON Schema: 'strng' is not valid",
            "x.yaml:9: tools[1].inputSchema: is no usable JSON Schema: Pointer '/$defs/q' does not exist",
        ],
    ),
    "what the spec says of its tools": (
        PETS
        + "entities:\n  pet: {fields: {owner: {link: ownr}}}\n"
        + "sim:\n  get_pt: {verb: get}\n  get_pet: {key: pt_id, sets: {nme: name}}\n  list_pets: {behaviour: recrds}\n"
        + "examples:\n  - {tool: get_pet, arguments: {pet_id: 3}, result: {}}\n  - {tool: get_x, result: {}}\n",
        [
            "x.yaml:15: sim.get_pt: there is no tool 'get_pt'; did you mean 'get_pet'?",
            "x.yaml:16: sim.get_pet.key: get_pet has no argument 'pt_id'; did you mean 'pet_id'?",
            "x.yaml:16: sim.get_pet.sets.nme: get_pet has no argument 'nme'",
            "x.yaml:17: sim.list_pets.behaviour: unknown behaviour; did you mean 'records'?",
            "x.yaml:19: examples[0].arguments: violates the inputSchema of get_pet: pet_id: 3 is not of type 'string'",
            "x.yaml:19: examples[0].result: violates the outputSchema of get_pet: 'id' is a required property",
            "x.yaml:20: examples[1].tool: there is no tool 'get_x'; did you mean 'get_pet'?",
        ],
    ),
    "links to nowhere": (
        PETS + "entities:\n  pet: {fields: {friend: {link: pett}}}\n",
        ["x.yaml:13: entities.pet.fields.friend.link: unknown entity 'pett'; did you mean 'pet'?"],
    ),
    "wrong types and keys": (
        PETS
        + "version: 1.2\nentities:\n  pet: {fields: {x: 3}, key_lik: 1}\n"
        + "sim: {get_pet: {verb: fetch}}\n"
        + "errors: {not_found: {txt: a}, invalid: 3, a: {}, b: {rpc: {code: -32019, message: a}}}\n"
        + "unknown_tool: http\n",
        [
            'x.yaml:12: version: must be a string, not 1.2; quote it: "1.2"',
            "x.yaml:14: entities.pet.fields.x: must be a mapping, not 3",
            "x.yaml:14: entities.pet.key_lik: unknown key; did you mean 'key_like'?",
            "x.yaml:15: sim.get_pet.verb: must be 'create', 'get', 'list'",
            "x.yaml:16: errors.not_found.txt: unknown key; did you mean 'text'?",
            "x.yaml:16: errors.invalid: must be a text, or a mapping with one of text, json, structured, rpc",
            "x.yaml:16: errors.a: write exactly one of text, json, structured, rpc",
            "x.yaml:16: errors.b.rpc: code -32019 means a crash of mcp-sim; choose another",
            "x.yaml:17: unknown_tool: must be 'rpc' or 'is_error', not 'http'",
        ],
    ),
    "a file of tools that is missing": (
        "mcp_sim: 1\ntools: pets.tools.json\n",
        ["x.yaml:2: tools: there is no file 'pets.tools.json' beside x.yaml"],
    ),
}


@pytest.mark.parametrize("case", WRONG_SPECS)
def test_a_wrong_tool_spec_is_told_with_all_its_problems(told: Told, case: str) -> None:
    text, expected = WRONG_SPECS[case]
    problems = told(text)
    assert len(problems) == len(expected), problems
    for problem, beginning in zip(problems, expected, strict=True):
        assert problem.startswith(beginning)


def test_a_problem_in_a_file_of_tools_is_told_with_its_own_line(write: Write, told: Told) -> None:
    write('{\n "tools": [\n  {"name": "a", "inputSchema":\n   {"type": "string"}}\n ]\n}', "lists/a.tools.json")
    write("mcp_sim: 1\ntools: lists/a.tools.json\n", "a.yaml")
    (problem,) = told("mcp_sim: 1\nseed: 1\ntools: a.yaml\n")
    assert problem.startswith("lists/a.tools.json:3: tools[0].inputSchema: is of type 'string'")


def test_a_pattern_that_cannot_be_compiled_is_a_warning(told: Told) -> None:
    tools = "  - {name: list_pets, inputSchema: {type: object, properties: {name: {type: string, pattern: '(?<x'}}}}\n"
    problems = told("mcp_sim: 1\ntools:\n" + tools)
    assert problems[0].startswith(
        "x.yaml:3: warning: tools[0].inputSchema.properties.name.pattern: the pattern '(?<x' cannot be compiled"
    )
    assert documents.load("x.yaml").domain.tools


IMPOSSIBLE = """\
mcp_sim: 1
tools:
  - name: make_box
    inputSchema:
      type: object
      properties: {label: {type: string, minLength: 5, maxLength: 3}}
    outputSchema:
      type: object
      properties: {sides: {type: array, items: {minimum: 7, maximum: 6}}, %s: {$ref: "#"}}
      required: [box]
sim: {make_box: {verb: create, entity: box}}
"""


def test_a_schema_that_no_value_fits_is_told_with_its_tool_and_its_place(told: Told) -> None:
    assert told(IMPOSSIBLE % "box") == [
        "x.yaml:6: warning: tools[0].inputSchema.properties.label: "
        "no value fits in make_box: its minLength is 5, its maxLength 3",
        "x.yaml:7: warning: tools[0].outputSchema: "
        "no value fits in make_box: what is required holds itself, without an end",
        "x.yaml:9: warning: tools[0].outputSchema.properties.sides.items: "
        "no value fits in make_box: its minimum is 7, its maximum 6",
    ]
    assert not [problem for problem in told(IMPOSSIBLE % "inner") if "without an end" in problem]


@pytest.mark.parametrize(
    ("schema", "ends"),
    [
        ({"$ref": "#"}, False),
        ({"required": ["a"], "properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}, True),
        ({"required": ["a"], "properties": {"a": {"oneOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]}}}, False),
        ({"required": ["a"], "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}, True),
        ({"required": ["a"], "properties": {"a": {"type": "array", "minItems": 1, "items": {"$ref": "#"}}}}, False),
        ({"required": ["a"], "properties": {"a": {"type": ["object", "null"], "required": ["b"]}}}, True),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {
                    "a": {"required": ["b"], "properties": {"b": {"$ref": "#/$defs/b"}}},
                    "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]},
                },
            },
            True,
        ),
    ],
)
def test_a_schema_comes_to_an_end_unless_what_it_requires_holds_itself(schema: dict[str, Any], *, ends: bool) -> None:
    assert has_end(schema) is ends


def test_a_guess_is_told_with_the_line_that_corrects_it(told: Told) -> None:
    (problem,) = told("mcp_sim: 1\ntools:\n  - {name: frobnicate, inputSchema: {type: object}}\n")
    assert problem.startswith("x.yaml: warning: what frobnicate does is a guess")
    assert "`frobnicate: {verb: none}`" in problem


def test_a_comparison_by_which_no_single_record_is_found_is_told(told: Told) -> None:
    tools = "[{name: drop_before, inputSchema: {type: object, properties: {before: {type: string}}}}]"
    sim = "{drop_before: {verb: delete, entity: plan, filters: {before: {field: day, op: lt}}}}"
    assert told(f"mcp_sim: 1\ntools: {tools}\nsim: {sim}\n") == [
        "x.yaml:3: warning: sim.drop_before.filters.before.op: a delete finds its record by equal values, not by 'lt'"
    ]


def test_a_stub_whose_result_a_client_would_refuse_is_told(write: Write, told: Told) -> None:
    write(PETS, "pets.yaml")
    assert told("mcp_sim: 1\ntools: pets.yaml\nstubs:\n  - {tool: get_pet, result: {id: 3}}\n") == [
        "x.yaml:4: stubs[0].result: violates the outputSchema of get_pet: id: 3 is not of type 'string'"
    ]


def test_load_raises_all_problems_and_warnings_alone_do_not_stop_it(write: Write) -> None:
    with pytest.raises(DocumentError) as caught:
        documents.load(write(HEAD + "seed: x\nworld: {}\nperturbations: [{errr: 1}]\n"))
    assert [problem.path for problem in caught.value.problems] == ["seed", "perturbations[0].errr"]
    assert documents.load(write(HEAD + "world: {records: {deal: {rows: [{titel: x}]}}}\n")).records["deal"].count == 1


def test_deep_nesting_invalid_utf_8_and_repeated_keys_are_told_in_every_file(write: Write, told: Told) -> None:
    assert told(HEAD + "world_model: " + "[" * 5000)[0].endswith("is nested deeper than 128 levels")
    assert told(b"mcp_sim: 1\nname: \xe9\n") == ["x.yaml:2: is not UTF-8: byte 7 of the line is 0xe9"]
    write('{"tools": [], "tools": []}', "t.json")
    assert told("mcp_sim: 1\ntools: t.json\n") == ["t.json:1: the key 'tools' is repeated; it stands in line 1 already"]


def test_what_is_not_there_is_a_usage_error(write: Write, tmp_path: Path) -> None:
    write("", "folder/empty")
    for reference, reason in {
        "nope.yaml": "there is no such file",
        "flaky_crn": "did you mean 'flaky_crm'",
        "folder": "is a folder",
    }.items():
        with pytest.raises(UsageError, match=reason):
            documents.load(reference)


def test_a_folder_does_not_hide_what_ships_and_a_name_that_no_file_can_have_is_no_crash(write: Write) -> None:
    write("", "crm/empty")
    assert documents.load("crm").name == "crm"
    assert [str(problem) for problem in documents.check(["crm"])] == []
    with pytest.raises(UsageError, match="there is no such file"):
        documents.load("a" * 5000)
    (problem,) = documents.check([write(f"mcp_sim: 1\ntools: {'a' * 5000}.yaml\n")])
    assert (problem.line, problem.path) == (2, "tools")


def test_keywords_that_a_dialect_does_not_know_are_not_looked_into(told: Told) -> None:
    dialect = "http://json-schema.org/draft-07/schema#"
    schema = f"{{type: object, $schema: '{dialect}', prefixItems: 3, $defs: x, items: [{{pattern: '('}}]}}"
    problems = told(f"mcp_sim: 1\ntools:\n  - {{name: list_pets, inputSchema: {schema}}}\n")
    assert all("warning" in problem for problem in problems)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(write: Write) -> None:
    Path(write(HEAD)).chmod(0)
    assert [str(problem) for problem in documents.check(["x.yaml"])] == ["x.yaml: cannot be read: Permission denied"]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["crm", "5 calls"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "nth", "when", "any", "not", "tools", "id", "fires", "max", "count", "rows", "name", "state"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEYS = [*scenario_schema()["properties"], *tool_spec_schema()["properties"]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), ODD, max_size=5))
@example({"expect": [None]})
@example({"expect": [0]})
def test_no_document_whatever_is_a_crash(tmp_path: Path, body: dict[str, Any]) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "crm"} | body), encoding="utf-8")
    for problem in documents.check([path]):
        assert problem.message


# the schema for editors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("folder", "schema"), [("scenarios", scenario_schema), ("tool_specs", tool_spec_schema)])
def test_what_ships_is_valid_under_the_editor_schema(folder: str, schema: Callable[[], dict[str, Any]]) -> None:
    Draft202012Validator.check_schema(schema())
    for path in documents.shipped(folder).values():
        value = yaml12.load(path.read_bytes(), path.name).value
        assert Validator(schema()).problems(value) == ()


@pytest.mark.parametrize(
    "entry",
    [
        "{error: 503}",
        "{error: , when: {nth: 1, any: [{every: 2}], not: {probability: 0.5}}}",
        "{latency: {min: 1s, max: 2s}, fires: {max: 2, per: tool, cooldown: 5 calls}}",
        "{lost_ack: {}, tools: [a, b], when: {arguments: {x: {gt: 1}}, per: arguments.x}}",
    ],
)
def test_the_editor_schema_takes_every_form_of_an_entry(entry: str) -> None:
    value = yaml12.load(f"{HEAD}perturbations: [{entry}]".encode(), "x.yaml").value
    assert Validator(scenario_schema()).problems(value) == ()


@pytest.mark.parametrize(
    "entry",
    ["{errr: 503}", "{}", "{error: 1, latency: 1s}", "{error: 503, when: {nht: 1}}", "{error: 503, fires: x}", "error"],
)
def test_the_editor_schema_refuses_what_load_refuses(entry: str) -> None:
    value = yaml12.load(f"{HEAD}perturbations: [{entry}]".encode(), "x.yaml").value
    assert Validator(scenario_schema()).problems(value)


# how a vendor words a failure -----------------------------------------------------------------------------------------


def test_a_template_is_filled_from_the_failure_and_the_call() -> None:
    wording = VendorWording({"not_found": Template("text", "{entity} {key}: {message} ({kind}) {tags}")})
    observation = wording("not_found", "gone", {"entity": "deal", "key": 7, "tags": ["a"]})
    assert observation.body == ToolResult('deal 7: gone (not_found) ["a"]', form="text", is_error=True)


def test_a_slot_is_a_plain_name_and_what_it_stands_for_is_not_filled_again() -> None:
    wording = VendorWording({"invalid": Template("text", "{a.b} {a[0]} {} {0} {{a}} {a}")})
    observation = wording("invalid", "", {"a": "{message}"})
    assert observation.body == ToolResult("{a.b} {a[0]} {} {0} {{message}} {message}", form="text", is_error=True)


def test_a_json_template_keeps_the_type_of_a_value() -> None:
    template = {"error": {"status": "{status}", "detail": ["no {key}"]}}
    for form in ("json", "structured"):
        body = VendorWording({"x": Template(form, template)})("x", "", {"status": 404, "key": 1}).body
        assert body == ToolResult({"error": {"status": 404, "detail": ["no 1"]}}, form=form, is_error=True)


def test_a_template_of_which_a_slot_cannot_be_filled_gives_way() -> None:
    wording = VendorWording({"x": Template("text", "wait {seconds}"), "default": Template("text", "E: {message}")})
    assert wording("x", "late", {}).body == ToolResult("E: late", form="text", is_error=True)
    assert wording("x", "late", {"seconds": 3}).body == ToolResult("wait 3", form="text", is_error=True)


def test_a_failure_without_a_template_is_worded_by_default_or_plainly() -> None:
    assert VendorWording({})("timeout", "late", {}).body == ToolResult("late", form="text", is_error=True)
    assert VendorWording({"default": Template("text", "E: {message}")})("timeout", "late", {}).body == ToolResult(
        "E: late", form="text", is_error=True
    )


def test_errors_of_a_spec_word_the_failures_of_its_tools(write: Write) -> None:
    errors = (
        "errors:\n  not_found: No pet {pet_id}\n  invalid: {rpc: {code: -32602, message: '{message}', data: ['{n}']}}\n"
    )
    tool = documents.load(write(PETS + errors)).domain.tools["get_pet"]
    assert tool.failure("not_found", "x", pet_id="p1").body == ToolResult("No pet p1", form="text", is_error=True)
    assert tool.failure("invalid", "bad", n=1).body == RpcError(-32602, "bad", [1])
