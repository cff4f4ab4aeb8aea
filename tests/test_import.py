"""`mcp-sim import`: tool specs of live servers, client configurations, OpenAPI documents, functions and lists."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from over_http import listening

from mcp_sim import yaml12
from mcp_sim.cli import main
from mcp_sim.documents import check, load
from mcp_sim.documents.repair import served

HERE = Path(__file__).parent
ODD = str(HERE / "odd_server.py")
SECRET = "sk-very-secret-4711"  # a value that must never be seen
GET: dict[str, Any] = {
    "name": "get_pet",
    "inputSchema": {"type": "object", "properties": {"pet_id": {"type": "string"}}},
}
LIST = {
    "name": "list_pets",
    "description": "All pets.",
    "inputSchema": {"type": "object"},
    "x-vendor": [1, {"a": None}],
}
BROKEN: list[Any] = [
    GET,
    {"description": "has no name", "inputSchema": {"type": "object"}},
    {"name": "no_schema"},
    {"name": "untyped", "inputSchema": {"properties": {"a": {"type": "string"}}}},
    {
        "name": "odd_types",
        "inputSchema": {"type": "dict", "properties": {"a": {"type": "wurst"}, "b": {"type": "int"}}},
    },
    {"name": "no_json_schema", "inputSchema": {"type": "object", "properties": {"a": {"minLength": "many"}}}},
    {"name": "get_pet", "description": "again", "inputSchema": {"type": "object"}},
    {"name": "odd_hints", "annotations": {"readOnlyHint": "yes"}, "inputSchema": {"type": "object"}},
    "no tool at all",
]


def value(path: Path) -> Any:
    return yaml12.load(path.read_bytes(), str(path)).value


def names(path: Path) -> list[str]:
    return [tool["name"] for tool in value(path)["tools"]]


def saved(path: Path, tools: list[Any]) -> str:
    path.write_text(json.dumps(tools), encoding="utf-8")
    return str(path)


def has_no_errors(*paths: Path) -> bool:
    return not [problem for problem in check(paths) if problem.severity == "error"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# live servers ---------------------------------------------------------------------------------------------------------


def test_a_server_over_stdio_becomes_a_spec_that_is_served_alike(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent))
    assert main(["import", "mcp", sys.executable, "-m", "mcp_sim", "serve", "crm"]) == 0
    crm = load("crm")
    found = load(here / "crm.yaml")
    assert [tool.definition for tool in found.domain.tools.values()] == [
        t.definition for t in crm.domain.tools.values()
    ]
    assert found.servers["crm"].instructions == crm.servers["crm"].instructions
    assert found.servers["crm"].version == crm.servers["crm"].version
    assert has_no_errors(here / "crm.yaml")


def test_a_server_over_http_is_asked_with_headers_from_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = here / "tokens"
    tokens.write_text(f"{SECRET}-long-enough\n", encoding="utf-8")
    monkeypatch.setenv("PET_TOKEN", f"{SECRET}-long-enough")
    with listening("crm", "--token-file", str(tokens)) as server:
        url = f"{server.url}/w/any/mcp"
        header = "Authorization: Bearer ${PET_TOKEN}"
        assert main(["import", "mcp", "--header", header, "--name", "pets", url]) == 0
        assert main(["import", "mcp", "--header", header, "--name", "pets", "--check", url]) == 0
        assert main(["import", "mcp", "--header", "Authorization: wrong-token-1234", "--name", "other", url]) == 4
    told = capsys.readouterr()
    assert "other: " in told.err
    assert "wrong-token-1234" not in told.out + told.err
    assert len(load(here / "pets.yaml").domain.tools) == len(load("crm").domain.tools)
    assert not any(SECRET in path.read_text(encoding="utf-8") for path in here.iterdir() if path != tokens)


def test_a_list_in_pages_is_kept_as_it_came(here: Path) -> None:
    listed = [LIST, GET, {**GET, "name": "get_dog"}]
    assert main(["import", "mcp", sys.executable, ODD, saved(here / "list.json", listed), "1"]) == 0
    assert value(here / "odd.tools.json") == {"tools": listed}


def test_of_a_broken_list_there_is_what_can_be_served_and_the_list_itself(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["import", "mcp", sys.executable, ODD, saved(here / "list.json", BROKEN)]
    assert main(command) == 0
    assert value(here / "odd.vendor.tools.json") == {"tools": BROKEN}
    assert names(here / "odd.tools.json") == [
        "get_pet", "no_schema", "untyped", "odd_types", "no_json_schema", "odd_hints"
    ]  # fmt: skip
    told = capsys.readouterr().err
    for sentence in (
        "it offers prompts too; they are not imported",
        "tools[1] is left out: has no name",
        "tools[2] (no_schema).inputSchema: is no schema; it takes any object",
        "tools[4] (odd_types).inputSchema: a: 'wurst' is no type; any value is taken",
        "tools[5] (no_json_schema).inputSchema.properties.a.minLength: 'many' is not of type 'integer'",
        "tools[6] (get_pet) is left out: its name stands before it already",
        "tools[7] (odd_hints): readOnlyHint must be true or false",
        "tools[8] is left out: must be a tool",
    ):
        assert sentence in told
    assert has_no_errors(here / "odd.yaml")
    assert main([*command[:2], "--check", *command[2:]]) == 0
    assert main(["import", "mcp", sys.executable, ODD, saved(here / "list.json", [GET])]) == 0
    assert not (here / "odd.vendor.tools.json").exists()


def test_a_server_that_says_nothing_is_given_up_and_ended(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "mcp", "--timeout", "1", sys.executable, ODD, "--silent", "pid"]) == 4
    assert "gave no answer within 1 seconds" in capsys.readouterr().err
    assert is_gone(int((here / "pid").read_text()))


def test_ctrl_c_ends_the_import_and_the_server_it_started(here: Path) -> None:
    command = [sys.executable, "-m", "mcp_sim", "import", "mcp", sys.executable, ODD, "--silent", "pid"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        while not (here / "pid").exists() or not (here / "pid").read_text():
            assert process.poll() is None
            time.sleep(0.02)  # until the other process has begun
        assert interrupted(process) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert is_gone(int((here / "pid").read_text()))


def interrupted(process: subprocess.Popen[bytes]) -> int:
    """The exit code after Ctrl-C; pressed again where it came between two things."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(10)
    return process.wait(10)


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2] == "Z"


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["/no/such/program"], 4, "program: there is no program or folder '/no/such/program'"),
        (["http://127.0.0.1:1/mcp"], 4, "127.0.0.1: http://127.0.0.1:1/mcp: All connection attempts failed"),
        (["http://127.0.0.1:1/${NOT_SET_ANYWHERE}"], 2, "set the environment variable NOT_SET_ANYWHERE"),
        ([], 2, "import mcp: say what is to be imported"),
        (["--header", "x", "http://127.0.0.1:1/"], 2, "--header must be like NAME:VALUE"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_sentence(
    words: list[str], code: int, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "mcp", *words]) == code
    assert expected in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_what_a_server_says_commands_no_terminal_and_is_cut(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "mcp", sys.executable, ODD, "--says", f"\x1b[2J\x07{'x' * 3000}"]) == 4
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if not line.isprintable() or len(line) > 1000] == []
    assert "it says: \N{REPLACEMENT CHARACTER}[2J" in told[0]


# clients --------------------------------------------------------------------------------------------------------------


def test_all_servers_of_a_client_are_imported_at_once_and_no_secret_is_seen(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PETS_LIST", saved(here / "pets.json", [GET, LIST]))
    monkeypatch.setenv("PETS_KEY", f"{SECRET}-2")
    servers: dict[str, Any] = {
        "pets": {
            "command": sys.executable,
            "args": [ODD, "${PETS_LIST}", "9", "--api-key", "${PETS_KEY}"],
            "env": {"K": SECRET},
        },
        "dogs!": {"command": sys.executable, "args": [ODD, saved(here / "dogs.json", [GET])], "env": {}},
        "loud": {
            "command": sys.executable,
            "args": [ODD, "--says", "the key is $K and ${PETS_KEY}"],
            "env": {"K": SECRET},
        },
        "hidden": {"command": "x", "disabled": True},
        "asking": {"url": "https://example.invalid/${input:pet-key}"},
        "empty": {},
    }
    text = json.dumps({"mcpServers": servers}, indent=1).replace('"dogs!"', '// a comment\n "dogs!"')
    (here / ".mcp.json").write_text(text.replace("}\n}", "},\n}"), encoding="utf-8")
    assert main(["import", "client", "--out", "sim", ".mcp.json"]) == 4
    told = capsys.readouterr()
    assert names(here / "sim" / "pets.tools.json") == ["get_pet", "list_pets"]
    assert value(here / "sim" / "scenario.yaml")["tools"] == {"pets": "pets.yaml", "dogs": "dogs.yaml"}
    assert has_no_errors(here / "sim")
    assert "loud: Connection closed; it says: the key is *** and ***" in told.err
    assert "asking: ${input:pet-key} has no value: set the environment variable PET_KEY" in told.err
    assert "empty: has neither a command nor a URL" in told.err
    assert "hidden" not in told.err
    written = "".join(path.read_text(encoding="utf-8") for path in (here / "sim").iterdir())
    assert SECRET not in written + told.out + told.err


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": SERVERS}',
        '{"servers": SERVERS, "inputs": []}',
        '{"mcp": {"servers": SERVERS}, "editor.fontSize": 12}',
        '{"projects": {"/a": {"mcpServers": SERVERS}}, "numStartups": 3}',
        '{"context_servers": SERVERS}',
        "SERVERS",
    ],
    ids=["claude", "vscode", "vscode settings", "claude code", "zed", "bare"],
)
def test_every_client_keeps_its_servers_elsewhere(text: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    servers = '{"one": {"command": "/no/such"}}'
    (here / "a.json").write_text(text.replace("SERVERS", servers), encoding="utf-8")
    assert main(["import", "client", "a.json"]) == 4
    assert "one: there is no program or folder '/no/such'" in capsys.readouterr().err


def test_a_file_without_servers_and_a_glob_that_matches_none_are_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.json").write_text('{"mcpServers": {"one": {"command": "x"}}}', encoding="utf-8")
    (here / "b.json").write_text('{"a": 1}', encoding="utf-8")
    assert main(["import", "client", "--server", "two*", "a.json"]) == 2
    assert main(["import", "client", "b.json"]) == 2
    told = capsys.readouterr().err
    assert "no server to import; there are: one" in told
    assert "names no MCP servers" in told


# lists, functions -----------------------------------------------------------------------------------------------------


def test_lists_of_every_shape_are_read(here: Path) -> None:
    for name, body in {
        "a": [GET],
        "b": {"tools": [GET]},
        "c": {"server": "Pets & Co", "tools": [GET], "instructions": "Be kind."},
        "d": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [GET]}},
    }.items():
        (here / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    assert main(["import", "tools", "--out", "out", "a.json", "b.json", "c.json", "d.json"]) == 0
    assert sorted(path.name for path in (here / "out").glob("*.tools.json")) == [
        "Pets_Co.tools.json", "a.tools.json", "b.tools.json", "d.tools.json"
    ]  # fmt: skip
    assert value(here / "out" / "Pets_Co.yaml")["instructions"] == "Be kind."


FUNCTIONS: dict[str, Any] = {
    "openai": [{"type": "function", "function": {"name": "get_pet", "parameters": GET["inputSchema"]}}],
    "responses": {"tools": [{"type": "function", "name": "get_pet", "parameters": GET["inputSchema"], "strict": True}]},
    "anthropic": [{"name": "get_pet", "input_schema": GET["inputSchema"]}, {"type": "bash_20250124", "name": "bash"}],
    "gemini": {"functionDeclarations": [{"name": "get_pet", "parameters": {
        "type": "OBJECT", "properties": {"pet_id": {"type": "STRING"}}}}]},
    "bfcl": {"id": "q1", "question": [], "function": [{"name": "get_pet", "parameters": {
        "type": "dict", "properties": {"pet_id": {"type": "String"}}}}]},
}  # fmt: skip


@pytest.mark.parametrize("functions", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_every_vendor_are_read(functions: Any, here: Path) -> None:
    (here / "f.json").write_text(json.dumps(functions), encoding="utf-8")
    assert main(["import", "openai", "f.json"]) == 0
    assert value(here / "f.tools.json")["tools"][0] == GET
    assert has_no_errors(here / "f.yaml")


def test_functions_in_lines_are_read_and_a_response_is_the_output_schema(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    response: dict[str, Any] = {
        "type": "dict",
        "properties": {"size": {"type": "float"}, "of": {"type": "tuple", "items": {"type": "any"}}},
    }
    parameters: dict[str, Any] = {"type": "dict", "properties": {"a": {"type": "Object[]"}}, "required": ["a"]}
    lines: list[dict[str, Any]] = [
        {"name": "measure", "description": "Measures.", "parameters": parameters, "response": response},
        {"name": "plain", "parameters": {"type": "dict", "properties": {}}, "response": {"type": "string"}},
    ]
    (here / "f.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["import", "openai", "--name", "ruler", "f.json"]) == 0
    measure, plain = value(here / "ruler.tools.json")["tools"]
    properties: dict[str, Any] = {"size": {"type": "number"}, "of": {"type": "array", "items": {}}}
    assert measure["outputSchema"] == {"type": "object", "properties": properties}
    assert "outputSchema" not in plain
    told = capsys.readouterr().err
    assert "measure: a: 'Object[]' is no type; any value is taken" in told
    assert "plain: its response is no object" in told


# OpenAPI --------------------------------------------------------------------------------------------------------------

PETSTORE: dict[str, Any] = yaml12.load(b"""
openapi: 3.0.3
info: {title: Pet Store, version: "1.2"}
paths:
  /pets:
    parameters: [{$ref: '#/components/parameters/Tag'}]
    get:
      operationId: listPets
      summary: List all pets
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}]
      responses:
        '200': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}},
                description: ok}
    post:
      operationId: createPet
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewPet'}}}}
      responses:
        '201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  /pets/{petId}:
    parameters: [{name: petId, in: path, required: true, schema: {type: string}}]
    get:
      operationId: showPet
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}
    delete: {operationId: removePet, responses: {'204': {description: gone}}}
    patch: {responses: 5}
    put:
      operationId: changePet
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewPet'}}}}
      responses: {'204': {description: changed}}
  /photos/{photo_id}:
    put:
      requestBody: {content: {image/png: {schema: {type: string}}}}
      responses: {default: {description: ok, content: {application/json: {schema: {$ref: 'other.yaml#/X'}}}}}
components:
  parameters:
    Tag: {name: tag, in: query, schema: {type: string}}
  schemas:
    NewPet:
      type: object
      required: [name]
      properties: {name: {type: string}, tag: {type: string, nullable: true}}
    Pet:
      allOf:
        - $ref: '#/components/schemas/NewPet'
        - type: object
          required: [id]
          properties: {id: {type: string, example: pet-01}, mother: {$ref: '#/components/schemas/Pet'}}
    Twisted: {$ref: '#/components/schemas/Twisted'}
""", "petstore").value  # fmt: skip


def petstore(folder: Path, document: Any = PETSTORE) -> str:
    (folder / "petstore.json").write_text(json.dumps(document), encoding="utf-8")
    return str(folder / "petstore.json")


def test_operations_become_tools_with_schemas_and_component_schemas_entities(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here)]) == 0
    tools = {tool["name"]: tool for tool in value(here / "Pet_Store.tools.json")["tools"]}
    assert list(tools) == ["listPets", "createPet", "showPet", "changePet", "removePet", "put_photos_photo_id"]
    assert tools["listPets"]["inputSchema"]["properties"] == {
        "tag": {"type": "string"}, "limit": {"type": "integer", "exclusiveMinimum": 0}
    }  # fmt: skip
    assert tools["listPets"]["outputSchema"]["required"] == ["pets"]
    assert tools["createPet"]["inputSchema"]["required"] == ["name"]
    assert tools["changePet"]["inputSchema"]["required"] == ["petId"]
    assert tools["createPet"]["inputSchema"]["properties"]["body_tag"]["type"] == ["string", "null"]
    assert tools["removePet"]["annotations"] == {"destructiveHint": True}
    spec = value(here / "Pet_Store.yaml")
    assert spec["entities"]["pet"]["key_like"] == "pet-01"
    assert spec["sim"]["showPet"] == {"verb": "get", "entity": "pet", "key": "petId"}
    assert has_no_errors(here / "Pet_Store.yaml")
    assert not load(here / "Pet_Store.yaml").domain.plans["listPets"].guessed
    told = capsys.readouterr().err
    assert "PATCH /pets/{petId} is left out" in told
    assert "a body of image/png is taken as one text" in told
    assert "other.yaml#/X" in told


def test_what_stands_below_another_in_a_path_belongs_to_it(here: Path) -> None:
    key: Any = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    fields: Any = {"id": {"type": "string"}, "petId": {"type": "integer"}, "note": {"type": "string"}}
    visit: Any = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Visit"}}}}
    schemas: Any = {
        "Pet": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "Visit": {"type": "object", "properties": fields},
    }
    sent: Any = {
        "content": {"application/json": {"schema": {"type": "object", "properties": {"note": fields["note"]}}}}
    }
    made: Any = {"operationId": "addVisit", "requestBody": sent, "responses": {"201": {"description": "x", **visit}}}
    seen: Any = {"operationId": "listVisits", "responses": {"200": {"description": "x"}}}
    paths: Any = {"/pets/{id}/visits": {"parameters": [key], "post": made, "get": seen}}
    head: Any = {"openapi": "3.1.0", "info": {"title": "Vet", "version": "1"}}
    assert (
        main(["import", "openapi", petstore(here, {**head, "paths": paths, "components": {"schemas": schemas}})]) == 0
    )
    sim = value(here / "Vet.yaml")["sim"]
    assert sim["addVisit"] == {"verb": "create", "entity": "visit", "sets": {"id": "petId", "note": "note"}}
    assert sim["listVisits"] == {"verb": "list", "entity": "visit", "filters": {"id": "petId"}}


def test_of_a_second_version_too(here: Path) -> None:
    document = {**PETSTORE, "openapi": "3.1.0", "paths": {"/pets": PETSTORE["paths"]["/pets"]}}
    assert main(["import", "openapi", "--name", "pets", petstore(here, document)]) == 0
    assert names(here / "pets.tools.json") == ["listPets", "createPet"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"swagger": "2.0"}, "is Swagger 2.0; convert it to OpenAPI 3 first"),
        ({"a": 1}, "is no OpenAPI document of version 3"),
        ({"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}}, "describes no operations"),
        ({"openapi": "3.0.0", "paths": {}}, "is no OpenAPI document: info: Field required"),
        ([], "is no OpenAPI document of version 3"),
    ],
)
def test_what_is_no_openapi_document_is_refused(
    document: Any, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here, document)]) == 2
    assert expected in capsys.readouterr().err


# again ----------------------------------------------------------------------------------------------------------------


def test_a_later_import_keeps_what_was_written_and_tells_what_is_new(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = petstore(here)
    main(["import", "openapi", source])
    spec = here / "Pet_Store.yaml"
    mine = spec.read_text(encoding="utf-8").replace("showPet: {verb: get", "showPet: {verb: search") + (
        "errors:\n  not_found: gone   # as they say\n"
        "examples:\n- {tool: removePet, arguments: {petId: x}, result: {}}\n"
    )
    spec.write_text(mine, encoding="utf-8")
    document = json.loads(json.dumps(PETSTORE))
    document["info"]["version"] = "2.0"
    document["paths"]["/owners"] = {"get": {"operationId": "listOwners", "responses": {"200": {"description": "ok"}}}}
    document["components"]["schemas"]["Owner"] = {"type": "object", "properties": {"id": {"type": "string"}}}
    capsys.readouterr()
    assert main(["import", "openapi", "--check", petstore(here, document)]) == 1
    assert "+ listOwners" in capsys.readouterr().out
    assert spec.read_text(encoding="utf-8") == mine
    assert main(["import", "openapi", source]) == 0
    after = spec.read_text(encoding="utf-8")
    lines = iter(after.splitlines())
    assert all(line in lines for line in mine.splitlines())
    assert "listOwners: {verb: list, entity: owner}" in after
    told = capsys.readouterr()
    assert "since the last import: + listOwners" in told.out
    assert 'version is now "2.0"; Pet_Store.yaml keeps its own' in told.err
    assert "sim.showPet is said otherwise in Pet_Store.yaml, which keeps its own" in told.err
    assert main(["import", "openapi", "--check", source]) == 0


def test_a_tool_that_is_gone_is_told_where_the_spec_speaks_of_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET, LIST])])
    with (here / "pets.yaml").open("a", encoding="utf-8") as spec:
        spec.write("sim: {list_pets: {verb: list, entity: pet}, get_pet: {verb: get, entity: pet, key: pet_id}}\n")
    assert main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET])]) == 1
    assert "there is no tool 'list_pets'" in capsys.readouterr().err


def test_a_changed_tool_is_shown_line_by_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET, LIST])])
    changed = {**LIST, "description": "Some pets."}
    capsys.readouterr()
    assert main(["import", "tools", "--name", "pets", "--check", saved(here / "a.json", [changed, GET])]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "pets: has changed",
        "  ~ list_pets",
        "      @@ -2,3 +2,3 @@",
        '         "name": "list_pets",',
        '      -  "description": "All pets.",',
        '      +  "description": "Some pets.",',
        '         "inputSchema": {',
    ]
    assert main(["import", "tools", "--name", "dogs", "--check", "a.json"]) == 2
    assert "nothing was imported as 'dogs'" in capsys.readouterr().err


def test_nothing_is_laid_over_a_document_that_is_something_else(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pets.yaml").write_text("mcp_sim: 1\ntools: crm\nseed: 1\n", encoding="utf-8")
    assert main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET])]) == 2
    assert "is there already, and no tool spec over pets.tools.json" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["a.json", "pets.yaml"]


def test_a_usable_list_is_served_to_the_byte() -> None:
    assert served([LIST, GET]).tools == [LIST, GET]
    assert served([LIST, GET]).doubts == ()
