"""`mcp-sim init`: what it writes works at once, and it overwrites nothing."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import run_process
from support.over_http import listening
from support.places import ROOT, SUPPORT
from support.specs_made import GET, LIST, saved, value
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.runs.starter.starter import make_starter, read_source
from mcp_sim.server.testing import spawned
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped

PLUGINS = entry_points(group="pytest11").names
CREATE: dict[str, Any] = {
    "name": "create_pet",
    "description": "Create a pet.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
COMPUTE: dict[str, Any] = {
    "name": "convert",
    "description": "Convert an amount to another currency.",
    "inputSchema": {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]},
}

TEXT: Any = {"type": "string"}
RENAME: dict[str, Any] = {
    "type": "object",
    "properties": {"pet_id": TEXT, "name": TEXT},
    "required": ["pet_id", "name"],
}


def run(agent: str, seeds: str = "0..1") -> int:
    command = [PYTHON, "-m", "mcp_sim.runs.agents", agent, "--script", "script.yaml"]
    return main(["run", "scenario.yaml", "--seeds", seeds, "--clock", "virtual", "--", *command])


def client(here: Path) -> str:
    """Return the configuration of a client with two servers; one has tools of its own."""
    pets = saved(here / "pets.list.json", [LIST, GET, CREATE])
    crm = {"command": PYTHON, "args": ["-m", "mcp_sim", "serve", "crm"], "env": {"PYTHONPATH": str(ROOT)}}
    odd = {"command": PYTHON, "args": [str(SUPPORT / "odd_server.py"), pets]}
    (here / "mcp.json").write_text(json.dumps({"mcpServers": {"pets": odd, "sales": crm}}), encoding="utf-8")
    return "mcp.json"


def test_a_first_program_answers_plain_tools_and_leaves_the_others_to_their_plans(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCP_SIM_TRUST", str(here))
    rename = {**CREATE, "name": "rename-pet", "description": "Update the name of a pet.", "inputSchema": RENAME}
    pets = saved(here / "pets.json", [LIST, GET, CREATE, rename, COMPUTE])
    assert main(["init", "--program", pets, "first"]) == 0
    assert "first/pets.py" in capfd.readouterr().out
    monkeypatch.chdir("first")
    assert main(["check", "."]) == 0
    plans = load("scenario.yaml").domain.plans
    assert {tool for tool, plan in plans.items() if plan.backend == "program"} == {*plans} - {COMPUTE["name"]}
    assert run("verify_then_retry") == 0
    assert main(["init", "--program", "crm", "second"]) == 2
    assert "crm is a tool spec" in capfd.readouterr().err


def test_a_list_that_says_only_that_it_lists_tools_is_named_after_its_folder(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "carpark").mkdir()
    assert main(["init", saved(here / "carpark" / "tools.json", [LIST, GET]), "carpark"]) == 0
    assert "Wrote carpark/carpark.tools.json, carpark/carpark.yaml, " in capsys.readouterr().out


@pytest.mark.parametrize("source", ["list", "client"])
def test_check_serve_run_and_pytest_pass_without_edits(
    source: str, here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    sources = {"list": lambda: saved(here / "pets.json", [LIST, GET, CREATE]), "client": lambda: client(here)}
    reference = sources[source]()
    assert main(["init", reference, "first"]) == 0
    assert "first/scenario.yaml, first/script.yaml, first/test_agent.py.\nNext:" in capfd.readouterr().out
    monkeypatch.chdir("first")
    assert "lasts: true" not in Path("script.yaml").read_text()  # a default
    assert main(["check", "."]) == 0
    scenario = load("scenario.yaml")
    assert [entry.kind for entry in scenario.perturbations] == ["lost_ack", "error"]
    server = ["--server", next(iter(scenario.servers))] if len(scenario.servers) > 1 else []
    assert anyio.run(listed, "scenario.yaml", *server)
    assert run("golden", "0") == 0
    assert pytest_passes(3)


async def listed(*arguments: str) -> list[str]:
    async with spawned(*arguments) as connection:
        return [tool.name for tool in (await connection.list_tools()).tools]


def pytest_passes(count: int) -> bool:
    plugin = [] if "mcp_sim" in PLUGINS else ["-p", "mcp_sim.runs.pytest_plugin"]
    words = [PYTHON, "-m", "pytest", "--assert=plain", "-q", "-p", "no:cacheprovider", *plugin, "--rootdir", "."]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=200)
    assert f"{count} passed" in done.stdout, done.stdout
    return done.returncode == 0


def test_the_scenario_separates_a_careful_agent_from_one_that_only_repeats(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert main(["init", saved(here / "pets.json", [LIST, GET, CREATE])]) == 0
    assert run("verify_then_retry") == 0
    assert run("naive_retry") == 1
    assert run("give_up") == 1
    assert "recovered-lost-pet" in capsys.readouterr().out


CHOOSE: dict[str, Any] = {
    "name": "manage_pet",
    "description": "Create, update or delete a pet.",
    "inputSchema": {
        "type": "object",
        "properties": {"operation": {"enum": ["create", "update", "delete"]}, "name": {"type": "string"}},
        "required": ["operation", "name"],
    },
}


@pytest.mark.parametrize(
    "tools", [[GET], [COMPUTE], [CREATE], [CHOOSE], [{"name": "x", "inputSchema": {"type": "object"}}]]
)
async def test_tools_of_any_kind_get_a_scenario_that_works(tools: list[Any], here: Path) -> None:
    starter = await make_starter(await read_source(saved(here / "list.json", tools)), here)
    assert starter.works


def test_tools_that_cannot_be_called_get_a_scenario_to_complete(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool = {"name": "x", "inputSchema": {"type": "object", "required": ["a"]}}
    assert main(["init", saved(here / "list.json", [tool]), "first"]) == 0
    assert "No calls were found that make a task; write your own" in capsys.readouterr().out
    assert main(["check", "first"]) == 0


def test_a_running_server_is_a_source(here: Path) -> None:
    with listening("crm") as served:
        assert main(["init", f"{served.url}/w/a/mcp", "first"]) == 0
    assert (here / "first" / "crm.yaml").is_file()
    assert main(["check", "first"]) == 0


@pytest.mark.parametrize("name", sorted(shipped("tool_specs")))
async def test_shipped_specs_get_a_scenario_that_works(name: str, here: Path) -> None:
    assert (await make_starter(await read_source(name), here)).works


def test_existing_files_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "script.yaml").write_text("mine\n", encoding="utf-8")
    assert main(["init", "crm"]) == 2
    assert capsys.readouterr().err == (
        "mcp-sim: script.yaml already exists, and init overwrites nothing; "
        "name another folder: mcp-sim init crm FOLDER\n"
    )
    assert [path.name for path in here.iterdir()] == ["script.yaml"]


def test_a_spec_of_ones_own_is_referred_to(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "tools", saved(here / "pets.json", [LIST, GET])]) == 0
    assert main(["init", "pets.yaml", "tests"]) == 0
    assert value(here / "tests" / "scenario.yaml")["tools"] == "../pets.yaml"
    assert main(["init", "pets.yaml", "tests/agent"]) == 0
    assert main(["check", "tests"]) == 0
    assert capsys.readouterr().out.count("  mcp-sim trust scenario.yaml") == 1  # for the commands in its folder
    monkeypatch.chdir(here / "tests")
    assert main(["check", "scenario.yaml"]) == 0
    monkeypatch.chdir(here / "tests" / "agent")
    assert main(["check", "scenario.yaml"]) == 1
    assert main(["trust", "scenario.yaml"]) == 0
    assert main(["check", "scenario.yaml"]) == 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("crn", "crn: no such file or shipped tool spec; did you mean 'crm'?"),
        ("crn.json", "crn.json: file not found"),
        ("scenario.yml", "is not a tool spec; expected one, or a list of tools or a client configuration"),
        ("other.json", "other.json: has no MCP servers; expected them under `mcpServers` or `servers`"),
        ("empty.json", "empty: there are no tools"),
    ],
)
def test_what_is_no_source_is_refused(
    source: str, message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "scenario.yml").write_text("mcp_sim: 1\nname: a\ntools: crm\nperturbations: []\n", encoding="utf-8")
    (here / "other.json").write_text('{"a": 1}', encoding="utf-8")
    (here / "empty.json").write_text('{"tools": []}', encoding="utf-8")
    assert main(["init", source]) in (1, 2)
    assert message in capsys.readouterr().err


def test_if_no_server_answers_nothing_is_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"mcpServers": {"gone": {"command": "no-such-command-anywhere"}}}
    (here / "mcp.json").write_text(json.dumps(body), encoding="utf-8")
    assert main(["init", "mcp.json"]) == 4
    assert capsys.readouterr().err.startswith("gone: ")
    assert [path.name for path in here.iterdir()] == ["mcp.json"]


CODE = '"""\n\nimport os\nos.abort()\n"""'
KEYWORDS = ["a-pet", "a_pet", "tool", "import", "known"]


def pets_tools(noun: str, description: str = "", **more: Any) -> list[dict[str, Any]]:
    """Return tools that create, get, list, update and delete records of one kind."""
    key, name = f"{noun}_id", "name"
    taken: dict[str, tuple[list[str], dict[str, Any]]] = {
        "create": ([name], {name: TEXT, **more}),
        "get": ([key], {key: TEXT}),
        "list": ([], {"query": TEXT, "limit": {"type": "integer"}}),
        "update": ([key], {key: TEXT, name: TEXT}),
        "delete": ([key], {key: TEXT}),
    }
    return [
        {
            "name": f"{verb}_{noun}{'s' if verb == 'list' else ''}",
            "description": f"{verb.capitalize()} a {noun}. {description}",
            "inputSchema": {"type": "object", "properties": properties, "required": needed},
        }
        for verb, (needed, properties) in taken.items()
    ]


ODD_TOOLS = {
    "code in descriptions and values": pets_tools("pet", CODE, color={"type": "string", "enum": [CODE, "\\", "\0"]}),
    "code in arguments": pets_tools("pet", **{CODE: TEXT, "a):\n  abort()\ndef b(": TEXT}),
    "code in names": [
        *pets_tools("pet"),
        *({**one, "name": f"{one['name']}{CODE}"} for one in pets_tools("dog")),
        *({**COMPUTE, "name": name} for name in (CODE, "a\nimport os", "a\rimport os", "a\u2028import os", "a\0b")),
    ],
    "names of Python and of the program": [
        *pets_tools("pet"),
        *({**one, "name": name} for one, name in zip(pets_tools("pet"), KEYWORDS, strict=True)),
    ],
    "names that become one": [
        *pets_tools("pet"),
        *({**one, "name": one["name"].replace("_", "-")} for one in pets_tools("pet")),
        *pets_tools("\ufb01sh"),
        *pets_tools("fish"),
    ],
    "names that tables cannot have": [one for noun in ("pet", "class", "now", "__class__") for one in pets_tools(noun)],
    "arguments that become one": pets_tools("pet", **{"a-b": TEXT, "a_b": TEXT, "": TEXT, "\ufb01": TEXT}),
    "arguments with the names of the program": pets_tools("pet", world=TEXT, given=TEXT, rows=TEXT, list=TEXT),
}


@pytest.mark.parametrize("tools", ODD_TOOLS.values(), ids=ODD_TOOLS)
async def test_a_first_program_for_odd_tools_is_code_of_its_own_and_answers(
    tools: list[dict[str, Any]], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_SIM_TRUST", str(here))
    command = [PYTHON, "-m", "mcp_sim", "init", "--program", saved(here / "pets.json", tools), "first"]
    await run_process(command, env={**os.environ, "PYTHONPATH": str(ROOT)})  # raises unless it exits with 0
    scenario = load("first/scenario.yaml")
    assert not [problem for problem in scenario.warnings if problem.file.endswith(".py")]
    module = ast.parse(await anyio.Path("first/pets.py").read_bytes())
    assert [type(node) for node in module.body[:3]] == [ast.Expr, ast.ImportFrom, ast.Assign]
    assert {type(node) for node in module.body[3:]} == {ast.FunctionDef}
    assert any(plan.backend == "program" for plan in scenario.domain.plans.values())
    async with Simulator(scenario).open() as world:
        for tool in scenario.domain.tools.values():
            await world.call(tool.id, dict.fromkeys(tool.input_schema.get("required", []), "x"))
