"""`mcp-sim check` and `mcp-sim schema` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_sim.cli import main

CRM = "mcp_sim: 1\ntools: crm\n"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = main(["check", *arguments])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out.splitlines()


def test_a_document_in_order_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(CRM)
    assert check(capsys, "a.yaml") == (0, ["a.yaml: ok"])
    code, lines = check(capsys, "flaky_crm", "crm")
    assert code == 0
    assert [line.endswith(": ok") for line in lines] == [True, True]


def test_every_problem_of_every_document_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(CRM + "seed: x\nsed: 1\n")
    Path("b.yaml").write_text(CRM)
    assert check(capsys, "a.yaml", "b.yaml") == (
        1,
        [
            "a.yaml:3: seed: expected a whole number, got 'x'",
            "a.yaml:4: sed: unknown key; did you mean 'seed'?",
            "b.yaml: ok",
        ],
    )


def test_an_invalid_count_hides_no_other_problem(capsys: pytest.CaptureFixture[str]) -> None:
    counts = "{company: many, deal: -1, contact: {count: x}, activity: 1.5, del: 3}"
    Path("a.yaml").write_text(f"{CRM}world: {{records: {counts}}}\nexpect: [{{called: create_del}}]\n")
    code, lines = check(capsys, "a.yaml")
    assert code == 1
    assert sorted(line.partition(": ")[2] for line in lines) == [
        "expect[0].called: no tool matches 'create_del'; did you mean 'create_deal'?",
        "world.records.activity: expected a count, a file, or {count, rows, file}, got 1.5",
        "world.records.company: expected a number of records or a file beside a.yaml, got 'many'",
        "world.records.contact.count: expected a whole number, got 'x'",
        "world.records.deal: must be at least 0, got -1",
        "world.records.del: unknown entity; did you mean 'deal'?",
    ]


def test_warnings_do_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(CRM + "world: {records: {deal: {rows: [{titel: x}]}}}\n")
    code, lines = check(capsys, "a.yaml")
    assert code == 0
    assert lines[0].startswith(
        "a.yaml:3: warning: world.records.deal.rows[0].titel: field 'titel' of deal is not used by any tool"
    )
    assert lines[1:] == ["a.yaml: ok, 1 warning"]


def test_some_of_many_guesses_are_named_and_all_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    tools = [{"name": f"frobnicate_{n}", "inputSchema": {"type": "object"}} for n in range(30)]
    Path("a.json").write_text(json.dumps({"tools": tools}))
    code, lines = check(capsys, "a.json")
    assert (code, len(lines)) == (0, 13)
    assert lines[-2:] == ["a.json: warning: 19 more like these; --json lists all", "a.json: ok, 30 warnings"]
    assert len(json.loads("\n".join(check(capsys, "a.json", "--json")[1]))) == 30


def test_problems_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(CRM + "seed: x\n")
    code, lines = check(capsys, "a.yaml", "crm", "--json")
    assert code == 1
    assert json.loads("\n".join(lines)) == [
        {
            "file": "a.yaml",
            "line": 3,
            "path": "seed",
            "message": "expected a whole number, got 'x'",
            "severity": "error",
        }
    ]
    assert check(capsys, "crm", "--json") == (0, ["[]"])


def test_a_folder_means_the_documents_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs/deeper").mkdir(parents=True)
    Path("docs/a.yaml").write_text(CRM)
    Path("docs/deeper/b.yml").write_text("mcp_sim: 1\nseed: 1\ntools: c.yaml\n")
    Path("docs/deeper/c.yaml").write_text("mcp_sim: 1\ntools: c.tools.json\n")
    Path("docs/deeper/c.tools.json").write_text('{"tools": []}')
    Path("docs/compose.yaml").write_text("services: {}\n")
    Path("docs/package.json").write_text("{}")
    code, lines = check(capsys, "docs")
    assert (code, lines) == (0, ["docs/a.yaml: ok", "docs/deeper/b.yml: ok", "docs/deeper/c.yaml: ok"])


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("nope.yaml", "nope.yaml: file not found"),
        ("no/where.yaml", "no/where.yaml: file not found"),
        ("flaky_crn", "flaky_crn: no such file or shipped document; did you mean 'flaky_crm'?"),
        (".", ".: contains no scenario and no tool spec"),
    ],
)
def test_what_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str], reference: str, problem: str) -> None:
    assert check(capsys, reference) == (1, [problem])


@pytest.mark.parametrize(("arguments", "title"), [([], "ScenarioDocument"), (["tool-spec"], "ToolSpecDocument")])
def test_schema_prints_a_json_schema(capsys: pytest.CaptureFixture[str], arguments: list[str], title: str) -> None:
    assert main(["schema", *arguments]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == title


def test_the_schema_describes_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "scenario"])
    definitions = json.loads(capsys.readouterr().out)["$defs"]
    lost_ack = definitions["Perturbation"]["properties"]["lost_ack"]
    assert "acknowledg" in lost_ack["description"] or "answer" in lost_ack["description"]
    assert {"nth", "every", "probability", "arguments", "any", "all", "not", "per"} <= set(
        definitions["When"]["properties"]
    )
    assert {"called", "not_called", "state", "recovered"} <= set(definitions["Expectation"]["properties"])
    assert {"builtin", "openai"} <= set(definitions["WorldModel"]["properties"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("openapi: 3.1.0\ninfo: {title: x}\npaths: {}\n", "openapi"),
        ("swagger: '2.0'\npaths: {}\n", "openapi"),
        ("mcpServers: {crm: {command: crm}}\n", "client"),
        ("- {type: function, function: {name: f, parameters: {}}}\n", "openai"),
        ("tools: [{name: f, input_schema: {type: object}}]\n", "openai"),
    ],
)
def test_of_a_file_that_an_import_takes_it_the_importer_is_named(
    text: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("theirs.yaml").write_text(text)
    Path("a.yaml").write_text("mcp_sim: 1\ntools: theirs.yaml\n")
    for name in ("theirs.yaml", "a.yaml"):
        code, lines = check(capsys, name)
        assert (code, len(lines)) == (1, 1)
        assert lines[0].startswith("theirs.yaml:1: is ")
        assert f"`mcp-sim import {kind} FILE`" in lines[0]


@pytest.mark.parametrize(
    ("more", "warned"),
    [
        ("", True),
        ("  - called: {tool: create_deal, at_most: 2, failed: true}\n", True),
        ("  - truthful:\n", False),
        ("  - called: update_deal\n", False),
        ("  - state: {entity: contact, where: {stage: customer}}\n", False),
    ],
)
def test_an_agent_that_gives_up_and_passes_is_a_warning(
    more: str, warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.yaml"
    fault = "perturbations: [{lost_ack: {}, id: lost, tools: create_deal, when: {nth: 1}}]\n"
    path.write_text(
        f"mcp_sim: 1\ntools: crm\n{fault}expect:\n"
        f"  - recovered: lost\n  - state: {{entity: deal, where: {{title: Spring order}}, count: 1}}\n{more}",
        encoding="utf-8",
    )
    assert main(["check", str(path)]) == 0
    assert ("an agent that gives up at lost and reports a failure passes" in capsys.readouterr().out) is warned


WEAK = """\
task: Create a deal.
perturbations: [{FAULT, id: down, tools: create_deal, when: {nth: 1}}]
"""
SCRIPT = """\
task: Create a deal.
steps: [{call: create_deal, arguments: {title: Spring order, amount: 10, contact_id: con_00001}}]
"""
IDLE = 'an agent that does nothing and says "Done." passes; expect what the task changes'
GIVES_UP = "an agent that gives up at the first failure passes; expect what is then missing"


@pytest.mark.parametrize("fault", ["error: 503", "timeout: {then: hang, commit: none}"])
@pytest.mark.parametrize(
    ("expectations", "warnings"),
    [
        ("[{state: {entity: deal, where: {title: Spring order}, count: 1}}, {recovered: down}]", []),
        ("[{called: {tool: create_deal, failed: true}}]", [GIVES_UP]),
    ],
)
def test_agents_that_pass_without_the_task_are_warnings(
    expectations: str, warnings: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "world: {records: {contact: {rows: [{id: con_00001}]}}}\n"
    Path("a.yaml").write_text(f"{CRM}{rows}{WEAK.replace('FAULT', fault)}expect: {expectations}\n")
    Path("script.yaml").write_text(SCRIPT)
    code, lines = check(capsys, "a.yaml")
    assert (code, [line for line in lines if "an agent that" in line]) == (
        0,
        [f"a.yaml: warning: expect: {warning}" for warning in warnings],
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SCRIPT, None),
        (f"# of the shop\n{SCRIPT}answer: It is done.\n", None),
        (SCRIPT.replace("call:", "tool:"), "steps[0].call: is missing"),
        ("steps: []\ntask: [1]\n", "task"),
    ],
)
def test_a_script_of_an_agent_is_checked_as_such(
    text: str, problem: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(f"{CRM}task: Create a deal.\nexpect: [{{called: create_deal}}]\n")
    Path("steps.yaml").write_text(text)
    code, lines = check(capsys, "a.yaml", "steps.yaml")
    assert code == (problem is not None)
    assert [line for line in lines if line.startswith("a.yaml")] == ["a.yaml: ok"]
    [line] = [line for line in lines if line.startswith("steps.yaml")]
    assert line.startswith("steps.yaml: ok" if problem is None else f"steps.yaml: {problem}")


def test_an_agent_that_does_nothing_is_tried_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(f"{CRM}task: Create a deal.\nexpect: [{{answered: {{contains: Done}}}}]\n")
    assert f"a.yaml: warning: expect: {IDLE}" in check(capsys, "a.yaml")[1]
    Path("a.yaml").write_text(f"{CRM}task: Create a deal.\nexpect: [{{called: create_deal}}]\n")
    assert check(capsys, "a.yaml") == (0, ["a.yaml: ok"])


def test_a_scenario_that_cannot_start_is_not_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    state = {
        "rows": {"lighthouse": [{"id": "l1", "name": "Nondri Point", "height": 90}]},
        "withhold": {"snippet": ["lighthouse.height"]},
        "templates": [
            {"about": "lighthouse", "url": "https://a.example/{name}", "title": "{name} {height}", "text": ["{name}"]}
        ],
    }
    Path("a.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "search_world", "world": {"state": state}}))
    code, lines = check(capsys, "a.yaml")
    assert code == 1
    assert any("templates[0].title: shows 90 of lighthouse l1" in line for line in lines)


def test_a_program_that_is_not_python_is_named_once_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mini.py").write_text("x = 1\ny = (\n")
    tool = {"name": "add", "inputSchema": {"type": "object"}}
    Path("a.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": [tool], "program": "mini.py"}))
    code, lines = check(capsys, "a.yaml")
    assert code == 1
    assert "mini.py:2: is not valid Python: '(' was never closed" in lines
