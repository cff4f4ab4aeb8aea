"""Problems of invalid scenarios are reported with file, line and path."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.pets import HEAD, PETS, ProblemsIn, Write

from mcp_sim.simulator.compile import check, load
from mcp_sim.spec.editor_schema import scenario_schema, tool_spec_schema
from mcp_sim.types.errors import DocumentError, UsageError

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
            "x.yaml:6: perturbations[0].when.nth: must be at least 1, got 0",
        ],
    ),
    "wrong types": (
        HEAD
        + "seed: x\nname: 3\nworld:\n  now: 2029\n  clock: {per_call: 3, mode: fast, sped: 2}\n"
        + "  records: {deal: [many]}\n",
        [
            "x.yaml:3: seed: expected a whole number, got 'x'",
            'x.yaml:4: name: expected a string, got 3; quote it: "3"',
            "x.yaml:6: world.now: 2029 is not a time; write it as 2029-03-01T09:00:00Z",
            "x.yaml:7: world.clock.mode: expected 'virtual' or 'real', got 'fast'",
            "x.yaml:7: world.clock.per_call: 3 is not a duration; write 250ms, 30s, 5m, 2h or 1d",
            "x.yaml:7: world.clock.sped: unknown key; did you mean 'speed'?",
            "x.yaml:8: world.records.deal: expected a count, a file, or {count, rows, file}, got",
        ],
    ),
    "booleans are no numbers": (
        HEAD + "seed: true\nworld: {records: {deal: true}}\n",
        [
            "x.yaml:3: seed: expected a whole number, got true",
            "x.yaml:4: world.records.deal: expected a count, a file, or {count, rows, file}, got",
        ],
    ),
    "entries that are none": (
        HEAD
        + "perturbations:\n  - lost_ack\n  - id: x\n  - {error: 500, latency: 1s}\n  - {error: 500, whn: {}}\n"
        + "expect: 3\n",
        [
            "x.yaml:4: perturbations[0]: expected a mapping with a kind as key, got 'lost_ack'; write `lost_ack: {}`",
            "x.yaml:5: perturbations[1]: has no kind; choose from '",
            "x.yaml:6: perturbations[2]: has several kinds: error, latency; write one entry for each",
            "x.yaml:7: perturbations[3].whn: unknown key; did you mean 'when'?",
            "x.yaml:8: expect: expected a list, got 3",
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
            "x.yaml:4: perturbations[0].tools: expected a glob or a list of globs",
            "x.yaml:5: perturbations[1].tools: must ",
            'x.yaml:6: perturbations[2].tools[0]: expected a string, got 5; quote it: "5"',
        ],
    ),
    "an id that is taken": (
        HEAD + "perturbations:\n  - error: 500\n    id: a\n  - error: 501\n    id: a\n",
        ["x.yaml:7: perturbations[1].id: duplicate id 'a'; an earlier entry has it"],
    ),
    "triggers": (
        HEAD
        + "perturbations:\n  - error: 500\n    when:\n"
        + "      evry: 3\n      not: {probability: 2}\n      any: []\n      per: x\n",
        [
            "x.yaml:6: perturbations[0].when.evry: unknown trigger; did you mean 'every'?",
            "x.yaml:7: perturbations[0].when.not.probability: must be at most 1.0, got 2",
            "x.yaml:8: perturbations[0].when.any: expected a list of mappings of triggers, got an empty list",
            "x.yaml:9: perturbations[0].when.per: expected tool, entity or arguments.NAME, got 'x'",
        ],
    ),
    "a when that is no mapping": (
        HEAD + "perturbations:\n  - error: 500\n    when: [nth]\n  - {error: 501, when: }\n",
        [
            "x.yaml:5: perturbations[0].when: expected a mapping of triggers, got a list",
            "x.yaml:6: perturbations[1].when: expected a mapping of triggers, got null",
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
        [
            "x.yaml:5: world.records.deel: unknown entity; did you mean 'deal'?",
            "x.yaml:6: world.records.company: count includes the rows: it is 0, but there are 1 rows",
        ],
    ),
    "rows": (
        HEAD
        + "world:\n  records:\n    deel: 3\n    contact:\n      rows:\n"
        + "        - {id: con_00001, stage: leed}\n        - {id: con_00001, nam: x}\n",
        [
            "x.yaml:5: world.records.deel: unknown entity; did you mean 'deal'?",
            "x.yaml:8: world.records.contact.rows[0].stage: 'leed' is not one of ['lead', 'customer', 'churned']",
            "x.yaml:9: world.records.contact.rows[1].id: duplicate key: there is another contact 'con_00001'",
            "x.yaml:9: warning: world.records.contact.rows[1].nam: field 'nam' of contact is not used by any tool; "
            "did you",
        ],
    ),
    "records that would have to link to nothing": (
        HEAD + "world:\n  records:\n    contact: 0\n    deal: 10\n    activity: 0\n",
        ["x.yaml:6: warning: world.records.deal: no deal is generated: each must link to a contact, and none exists"],
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
        ["x.yaml:3: world_model: no entry matches update_deal"],
    ),
    "no tools": ("mcp_sim: 1\ntask: x\n", ["x.yaml:1: tools: is missing"]),
    "a spec that does not ship": (
        "mcp_sim: 1\ntools: crn\n",
        ["x.yaml:2: tools: unknown tool spec 'crn'; did you mean 'crm'?"],
    ),
    "a missing file, and an entry that is looked at nevertheless": (
        "mcp_sim: 1\ntools: shop.yaml\nperturbations: [{errr: 500}]\n",
        [
            "x.yaml:2: tools: file 'shop.yaml' not found in the folder of x.yaml",
            "x.yaml:3: perturbations[0].errr: unknown perturbation 'errr'; did you mean 'error'?",
        ],
    ),
    "tools that are a list": (
        "mcp_sim: 1\ntask: x\ntools: [a]\n",
        ["x.yaml:3: tools: expected the file or name of a tool spec, got a list; put the list into a tool spec"],
    ),
    "a server's name": (
        "mcp_sim: 1\nseed: 1\ntools:\n  a/b: crm\n  c: crm\n",
        ["x.yaml:4: tools.a/b: a server name may contain only letters, digits, `.`, `_` and `-`"],
    ),
    "another version": ("mcp_sim: 2\ntools: crm\n", ["x.yaml:1: mcp_sim: expected 1, got 2"]),
    "no version": ("seed: 2\ntools: crm\n", ["x.yaml:1: mcp_sim: is missing; the first line is `mcp_sim: 1`"]),
    "nothing": ("# only a comment\n", ["x.yaml:1: is empty; a scenario or tool spec begins with `mcp_sim: 1`"]),
    "a text": ("flaky_crm", ["x.yaml:1: must be a mapping, not 'flaky_crm'; a scenario or tool spec begins"]),
    "malformed YAML": (
        HEAD + "seed: [1,\n",
        ["x.yaml:4: seed: invalid YAML: while parsing a flow node, did not find expected"],
    ),
    "a glob that is not quoted": (
        HEAD + "perturbations:\n  - error: 500\n    tools: *_deal\n",
        ['x.yaml:5: perturbations[0]: `*_deal` is an alias without an anchor; quote it if it is a glob: "*_deal"'],
    ),
    "a duration beyond all worlds": (
        HEAD + "world: {clock: {per_call: 36526d}}\n",
        ["x.yaml:3: world.clock.per_call: '36526d' is longer than any world lasts: 36525d"],
    ),
    "more records than a world can hold": (
        HEAD + "world: {records: {contact: 1000000000000}}\n",
        ["x.yaml:3: world.records.contact: must be at most 10000000, got 1000000000000"],
    ),
    "a time outside the calendar": (
        HEAD + "world: {now: 0001-01-01T00:00:00+14:00}\n",
        ["x.yaml:3: world.now: '0001-01-01T00:00:00+14:00' is outside the years 1900 to 2999"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_scenario_is_reported_with_all_its_problems(problems_in: ProblemsIn, case: str) -> None:
    text, expected = WRONG[case]
    problems = problems_in(text)
    assert len(problems) == len(expected), problems
    for problem, beginning in zip(problems, expected, strict=True):
        assert problem.startswith(beginning)


def test_a_problem_in_a_file_of_tools_is_reported_with_its_own_line(write: Write, problems_in: ProblemsIn) -> None:
    write('{\n "tools": [\n  {"name": "a", "inputSchema":\n   {"type": "string"}}\n ]\n}', "lists/a.tools.json")
    write("mcp_sim: 1\ntools: lists/a.tools.json\n", "a.yaml")
    (problem,) = problems_in("mcp_sim: 1\nseed: 1\ntools: a.yaml\n")
    assert problem.startswith("lists/a.tools.json:3: tools[0].inputSchema: is of type 'string'")


def test_a_guess_is_reported_with_the_line_that_corrects_it(problems_in: ProblemsIn) -> None:
    (problem,) = problems_in("mcp_sim: 1\ntools:\n  - {name: frobnicate, inputSchema: {type: object}}\n")
    assert problem.startswith("x.yaml: warning: what frobnicate does is a guess")
    assert "`frobnicate: {verb: none}`" in problem


def test_a_comparison_by_which_no_single_record_is_found_is_reported(problems_in: ProblemsIn) -> None:
    tools = "[{name: drop_before, inputSchema: {type: object, properties: {before: {type: string}}}}]"
    sim = "{drop_before: {verb: delete, entity: plan, filters: {before: {field: day, op: lt}}}}"
    assert problems_in(f"mcp_sim: 1\ntools: {tools}\nsim: {sim}\n") == [
        "x.yaml:3: warning: sim.drop_before.filters.before.op: "
        "delete finds its record by equal values only; 'lt' has no effect"
    ]


def test_a_stub_whose_result_a_client_would_refuse_is_reported(write: Write, problems_in: ProblemsIn) -> None:
    write(PETS, "pets.yaml")
    assert problems_in("mcp_sim: 1\ntools: pets.yaml\nstubs:\n  - {tool: get_pet, result: {id: 3}}\n") == [
        "x.yaml:4: stubs[0].result: violates the outputSchema of get_pet: id: 3 is not of type 'string'"
    ]


def test_load_raises_all_problems_and_warnings_alone_do_not_stop_it(write: Write) -> None:
    with pytest.raises(DocumentError) as caught:
        load(write(HEAD + "seed: x\nworld: {}\nperturbations: [{errr: 1}]\n"))
    assert [problem.path for problem in caught.value.problems] == ["seed", "perturbations[0].errr"]
    assert load(write(HEAD + "world: {records: {deal: {rows: [{titel: x}]}}}\n")).records["deal"].count == 1


def test_a_misspelt_fault_is_one_problem_though_an_expectation_names_it(problems_in: ProblemsIn) -> None:
    faults = "perturbations: [{lost_akc: {}, id: lost}]\nexpect: [{recovered: lost}, {recovered: lots}]\n"
    unknown, other = problems_in(HEAD + faults)
    assert "unknown perturbation 'lost_akc'; did you mean 'lost_ack'?" in unknown
    assert "no perturbation has the id 'lots'; did you mean 'lost'?" in other


def test_deep_nesting_invalid_utf_8_and_repeated_keys_are_reported_in_every_file(
    write: Write, problems_in: ProblemsIn
) -> None:
    assert problems_in(HEAD + "world_model: " + "[" * 5000)[0].endswith("is nested deeper than 128 levels")
    assert problems_in(b"mcp_sim: 1\nname: \xe9\n") == ["x.yaml:2: is not UTF-8: byte 7 of the line is 0xe9"]
    write('{"tools": [], "tools": []}', "t.json")
    assert problems_in("mcp_sim: 1\ntools: t.json\n") == ["t.json:1: duplicate key 'tools'; it is already in line 1"]


def test_what_is_not_there_is_a_usage_error(write: Write, tmp_path: Path) -> None:
    write("", "folder/empty")
    write(HEAD, "scenario.yaml")
    for reference, reason in {
        "nope.yaml": "file not found$",
        "scenaro.yaml": "scenaro.yaml: file not found; did you mean 'scenario.yaml'",
        "elsewhere/flaky_crm.yaml": "file not found; 'flaky_crm' ships with mcp-sim, use it without a path",
        "flaky_crn": "did you mean 'flaky_crm'",
        "folder": "is a folder",
    }.items():
        with pytest.raises(UsageError, match=reason):
            load(reference)


def test_a_folder_does_not_hide_what_ships_and_a_name_that_no_file_can_have_is_no_crash(write: Write) -> None:
    write("", "crm/empty")
    assert load("crm").name == "crm"
    assert [str(problem) for problem in check(["crm"])] == []
    with pytest.raises(UsageError, match="no such file or shipped document"):
        load("a" * 5000)
    (problem,) = check([write(f"mcp_sim: 1\ntools: {'a' * 5000}.yaml\n")])
    assert (problem.line, problem.path) == (2, "tools")


def test_keywords_that_a_dialect_does_not_know_are_not_looked_into(problems_in: ProblemsIn) -> None:
    dialect = "http://json-schema.org/draft-07/schema#"
    schema = f"{{type: object, $schema: '{dialect}', prefixItems: 3, $defs: x, items: [{{pattern: '('}}]}}"
    problems = problems_in(f"mcp_sim: 1\ntools:\n  - {{name: list_pets, inputSchema: {schema}}}\n")
    assert all("warning" in problem for problem in problems)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(write: Write) -> None:
    Path(write(HEAD)).chmod(0)
    assert [str(problem) for problem in check(["x.yaml"])] == ["x.yaml: cannot be read: Permission denied"]


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(KEYS), ODD, max_size=5))
@example({"expect": [None]})
@example({"expect": [0]})
def test_no_document_whatever_is_a_crash(tmp_path: Path, body: dict[str, Any]) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "crm"} | body), encoding="utf-8")
    for problem in check([path]):
        assert problem.message


@pytest.mark.parametrize("added", ["sim: {get_item: {verb: get}}", "world: {state: {items: []}}", "perturbations: []"])
def test_a_document_without_its_first_line_is_not_taken_for_a_list_of_tools(
    problems_in: ProblemsIn, added: str
) -> None:
    document = f"name: shop\ntools:\n  - name: get_item\n    inputSchema: {{type: object}}\n{added}\n"
    assert problems_in(document)[0] == "x.yaml:1: mcp_sim: is missing; the first line is `mcp_sim: 1`"
