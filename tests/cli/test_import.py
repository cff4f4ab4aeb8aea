"""`mcp-sim import` of live servers and of all servers of a client."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.over_http import listening
from support.places import ROOT, SUPPORT
from support.specs_made import BROKEN, GET, LIST, has_no_errors, names, saved, value
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.simulator.compile import load

ODD = str(SUPPORT / "odd_server.py")
SECRET = "sk-very-secret-4711"  # a value that must never be seen


def test_a_server_over_stdio_becomes_a_spec_that_is_served_alike(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert main(["import", "mcp", PYTHON, "-m", "mcp_sim", "serve", "crm"]) == 0
    crm = load("crm")
    found = load(here / "crm.yaml")
    assert [tool.definition for tool in found.domain.tools.values()] == [
        t.definition for t in crm.domain.tools.values()
    ]
    assert found.servers["crm"].instructions == crm.servers["crm"].instructions
    assert found.servers["crm"].version == crm.servers["crm"].version
    assert has_no_errors(here / "crm.yaml")


def test_resources_and_prompts_are_imported_with_their_contents(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ask = {"name": "tone", "title": "Tone"}
    offers: dict[str, Any] = {
        "resources": [
            {"uri": "d://rules", "name": "rules", "mimeType": "text/plain", "text": "Be kind: {not a slot}."},
            {"uri": "d://pixel", "name": "pixel", "blob": "AAEC"},
            {"uri": "d://secret", "name": "secret", "text": f"It is {SECRET}."},
            {"uriTemplate": "d://{id}", "name": "any", "text": "x"},
        ],
        "prompts": [{"name": "greet", "arguments": [ask], "messages": ["Greet in a {tone} tone."]}],
    }
    (here / "d.json").write_text(json.dumps({"mcp_sim": 1, "name": "d", "tools": [GET], **offers}), encoding="utf-8")
    command = ["--env", f"KEY={SECRET}", PYTHON, "-m", "mcp_sim", "serve", str(here / "d.json")]
    assert main(["import", "mcp", "--out", "new", *command]) == 0
    found = value(here / "new" / "d.yaml")
    rules, pixel, secret, template = offers["resources"]
    assert found["resources"][:2] == [rules, pixel]
    assert found["resources"][2]["text"] == secret["text"].replace(SECRET, "***")
    assert (found["resources"][3]["uriTemplate"], found["resources"][3]["text"]) == (template["uriTemplate"], "")
    assert found["prompts"] == offers["prompts"]
    assert "resources d://{id}: write their text, or `record: ENTITY`" in capsys.readouterr().err
    assert has_no_errors(here / "new")
    assert main(["import", "mcp", "--out", "new", *command]) == 0
    assert "resources differ" not in capsys.readouterr().err


def test_a_server_over_http_is_asked_with_headers_from_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = here / "tokens"
    tokens.write_text(f"{SECRET}-long-enough\n", encoding="utf-8")
    tokens.chmod(0o600)
    monkeypatch.setenv("PET_TOKEN", f"{SECRET}-long-enough")
    with listening("crm", "--token-file", str(tokens)) as server:
        url = f"{server.url}/w/any/mcp"
        header = "Authorization: Bearer ${PET_TOKEN}"
        assert main(["import", "mcp", "--header", header, "--name", "pets", url]) == 0
        assert main(["import", "mcp", "--header", header, "--name", "pets", "--check", url]) == 0
        assert main(["import", "mcp", "--header", "Authorization: wrong-token-1234", "--name", "other", url]) == 4
    captured = capsys.readouterr()
    assert "other: " in captured.err
    assert "wrong-token-1234" not in captured.out + captured.err
    assert len(load(here / "pets.yaml").domain.tools) == len(load("crm").domain.tools)
    assert not any(SECRET in path.read_text(encoding="utf-8") for path in here.iterdir() if path != tokens)


def test_an_output_after_the_command_goes_to_the_server_with_a_note(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [PYTHON, ODD, saved(here / "list.json", [GET]), "1", "-o", "mine.yaml"]
    assert main(["import", "mcp", *command]) == 0
    assert "note: -o mine.yaml comes after the command, so it goes to the server" in capsys.readouterr().err
    assert (here / "odd.yaml").exists()
    assert not (here / "mine.yaml").exists()
    for words in (["--", *command], ["-o", "here", *command[:-2]]):
        assert main(["import", "mcp", *words]) == 0
        assert "note:" not in capsys.readouterr().err


def test_a_list_in_pages_is_kept_as_it_came(here: Path) -> None:
    listed = [LIST, GET, {**GET, "name": "get_dog"}]
    assert main(["import", "mcp", PYTHON, ODD, saved(here / "list.json", listed), "1"]) == 0
    assert value(here / "odd.tools.json") == {"tools": listed}


def test_of_a_broken_list_there_is_what_can_be_served_and_the_list_itself(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["import", "mcp", PYTHON, ODD, saved(here / "list.json", BROKEN)]
    assert main(command) == 0
    assert value(here / "odd.vendor.tools.json") == {"tools": BROKEN}
    assert names(here / "odd.tools.json") == [
        "get_pet", "no_schema", "untyped", "odd_types", "no_json_schema", "odd_hints"
    ]  # fmt: skip
    captured = capsys.readouterr().err
    for sentence in (
        "its prompts cannot be listed: no such method",
        "tools[1] is left out: has no name",
        "tools[2] (no_schema).inputSchema: is not a schema; any object is accepted",
        "tools[4] (odd_types).inputSchema: a: unknown type 'wurst'; any value is accepted",
        "tools[5] (no_json_schema).inputSchema.properties.a.minLength: 'many' is not of type 'integer'",
        "tools[6] (get_pet) is left out: an earlier tool has the same name",
        "tools[7] (odd_hints): readOnlyHint must be true or false",
        "tools[8] is left out: expected a tool",
    ):
        assert sentence in captured
    assert has_no_errors(here / "odd.yaml")
    assert main([*command[:2], "--check", *command[2:]]) == 0
    assert main(["import", "mcp", PYTHON, ODD, saved(here / "list.json", [GET])]) == 0
    assert not (here / "odd.vendor.tools.json").exists()


def test_a_server_that_says_nothing_is_given_up_and_ended(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "mcp", "--timeout", "1", PYTHON, ODD, "--silent", "pid"]) == 4
    assert "did not answer within 1 seconds" in capsys.readouterr().err
    assert is_gone(int((here / "pid").read_text()))


def test_ctrl_c_ends_the_import_and_the_server_it_started(here: Path) -> None:
    command = [PYTHON, "-m", "mcp_sim", "import", "mcp", PYTHON, ODD, "--silent", "pid"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        while not (here / "pid").exists() or not (here / "pid").read_text():
            assert process.poll() is None
            time.sleep(0.02)  # until the other process has begun
        assert interrupted(process) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert is_gone(int((here / "pid").read_text()))


def interrupted(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code after Ctrl-C, which is sent again if it came too early."""
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
        (["/no/such/program"], 4, "program: program or folder '/no/such/program' not found"),
        (["http://127.0.0.1:1/mcp"], 4, "127.0.0.1: http://127.0.0.1:1/mcp: All connection attempts failed"),
        (["http://127.0.0.1:1/mcp", "-o", "here"], 2, "'-o' follows the URL; options go before it"),
        (["http://[x/mcp"], 2, "import mcp: Invalid IPv6 URL"),
        (["/no/such/program", "http://[x/mcp"], 4, "program or folder '/no/such/program' not found"),
        (["http://127.0.0.1:1/${NOT_SET_ANYWHERE}"], 2, "set the environment variable NOT_SET_ANYWHERE"),
        ([], 2, "import mcp: nothing to import; name a source"),
        (["--header", "x", "http://127.0.0.1:1/"], 2, "--header must be like NAME:VALUE"),
    ],
)
def test_what_cannot_be_asked_is_reported_in_a_sentence(
    words: list[str], code: int, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "mcp", *words]) == code
    assert expected in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_what_a_server_says_commands_no_terminal_and_is_cut(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "mcp", PYTHON, ODD, "--says", f"\x1b[2J\x07{'x' * 3000}"]) == 4
    captured = capsys.readouterr().err.splitlines()
    assert [line for line in captured if not line.isprintable() or len(line) > 1000] == []
    assert captured[0].endswith("; its stderr:")
    assert captured[1].startswith("  \N{REPLACEMENT CHARACTER}[2J")


def test_all_servers_of_a_client_are_imported_at_once_and_no_secret_is_seen(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PETS_LIST", saved(here / "pets.json", [GET, LIST]))
    monkeypatch.setenv("PETS_KEY", f"{SECRET}-2")
    servers: dict[str, Any] = {
        "pets": {
            "command": PYTHON,
            "args": [ODD, "${PETS_LIST}", "9", "--api-key", "${PETS_KEY}"],
            "env": {"K": SECRET},
        },
        "dogs!": {"command": PYTHON, "args": [ODD, saved(here / "dogs.json", [GET])], "env": {}},
        "loud": {
            "command": PYTHON,
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
    captured = capsys.readouterr()
    assert names(here / "sim" / "pets.tools.json") == ["get_pet", "list_pets"]
    assert value(here / "sim" / "scenario.yaml")["tools"] == {"pets": "pets.yaml", "dogs": "dogs.yaml"}
    assert has_no_errors(here / "sim")
    assert "loud: Connection closed; its stderr:\n  the key is *** and ***" in captured.err
    assert "asking: ${input:pet-key} has no value: set the environment variable PET_KEY" in captured.err
    assert "empty: has neither a command nor a URL" in captured.err
    assert "hidden" not in captured.err
    written = "".join(path.read_text(encoding="utf-8") for path in (here / "sim").iterdir())
    assert SECRET not in written + captured.out + captured.err


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
    assert "one: program or folder '/no/such' not found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.toml", 'model = "m"\n[mcp_servers.pets]\ncommand = PYTHON\nargs = [ODD, LIST]\n'),
        ("config.yaml", "extensions: {pets: {type: stdio, enabled: true, cmd: PYTHON, args: [ODD, LIST], envs: {}}}\n"),
        ("continue.yaml", "mcpServers: [{name: pets, command: PYTHON, args: [ODD, LIST]}]\n"),
        (
            "opencode.json",
            '{"mcp": {"pets": {"type": "local", "command": [PYTHON, ODD, LIST], "environment": {"A": "b"}},\n'
            '// "old": {"command": ["npx"]},\n'
            '"far": {"type": "remote", "url": "http://127.0.0.1:9/mcp", "enabled": false},\n'
            "}}",
        ),
        (
            "old.json",
            '{"experimental": {"modelContextProtocolServers": [\n'
            '{"name": "pets", "transport": {"type": "stdio", "command": PYTHON, "args": [ODD, LIST]}}]}}',
        ),
        ("settings.json", '{"amp.mcpServers": {"pets": {"command": PYTHON, "args": [ODD, LIST]}}}'),
        (
            "manifest.json",
            '{"manifest_version": "0.3", "name": "pets", "server": {"type": "python", "entry_point": "a.py",'
            '"mcp_config": {"command": PYTHON, "args": [ODD, "${__dirname}/${user_config.pet_list}"]}}}',
        ),
    ],
    ids=["codex", "goose", "continue", "opencode", "older continue", "amp", "bundle"],
)
def test_every_client_describes_its_servers_in_its_own_form(
    file: str, text: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PET_LIST", "pets.json")
    words = {"PYTHON": PYTHON, "ODD": ODD, "LIST": saved(here / "pets.json", [GET])}
    for word, value_of_word in words.items():
        text = text.replace(word, json.dumps(str(value_of_word)))
    (here / file).write_text(text, encoding="utf-8")
    assert main(["import", "client", file]) == 0
    assert names(here / "pets.tools.json") == ["get_pet"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("file", ["a.json", "a.toml"])
def test_a_configuration_may_have_any_encoding_of_unicode(encoding: str, file: str, here: Path, capsys: Any) -> None:
    json_text = '{"mcpServers": {"caf\u00e9": {"command": "/no/such"}} // a comment\n}'
    text = json_text if file == "a.json" else "[mcp_servers.'cafe']\ncommand = '/no/such'\n"
    (here / file).write_bytes(text.encode(encoding))
    assert main(["import", "client", file]) == 4
    assert "program or folder '/no/such' not found" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["mcp.jsonc", "mcp.json"])
@pytest.mark.parametrize("before", ["// ,\n", "/* , */", "/* { */ // [\n", "\n\t// a: b,\n// c\n"])
@pytest.mark.parametrize("inside", ["", "// /* \n", "/* // */", "// don't \"open {\n", "// http://x/{id}\n"])
def test_comments_may_come_before_a_configuration(before: str, inside: str, file: str, here: Path, capsys: Any) -> None:
    """In YAML, `/* , */ {` begins a text."""
    text = f'{before}{{{inside}"mcpServers"{inside}:{{"pets"{inside}:{{"command":"/no/such"}}}}}}'
    (here / file).write_text(text, encoding="utf-8")
    assert main(["import", "client", file]) == 4
    assert "program or folder '/no/such' not found" in capsys.readouterr().err


@pytest.mark.time_limit(30)
@pytest.mark.parametrize("inside", [",/* ", ",/*", '\\"'])
def test_a_comment_or_string_without_end_takes_no_longer_than_the_file(inside: str, here: Path, capsys: Any) -> None:
    (here / "mcp.json").write_text(f'/**/{{"{inside * 100_000}', encoding="utf-8")
    (here / "comments.json").write_text(f"/{inside * 100_000}", encoding="utf-8")
    for file in ("mcp.json", "comments.json"):
        assert main(["import", "client", file]) == 1
        assert f"{file}:1: invalid JSON" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "before", ["", ": ping\n\nid: 1\nretry: 3\n", 'data: {"jsonrpc": "2.0", "method": "ping"}\n\n']
)
def test_a_saved_stream_of_events_is_a_list_of_tools(before: str, end: str, here: Path) -> None:
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [GET]}})
    stream = f"{before}event: message\ndata: {answer}\n\n"
    (here / "pets.json").write_bytes(stream.replace("\n", end).encode())
    assert main(["import", "tools", "pets.json", "-o", "out"]) == 0
    assert names(here / "out" / "pets.tools.json") == ["get_pet"]


def pets_started_by(command: str, here: Path, monkeypatch: pytest.MonkeyPatch, shown: str) -> Path:
    """Put a command on the path that starts a server, and return the file with the words of its last call."""
    runner, asked = here / "bin" / command, here / "asked.txt"
    runner.parent.mkdir()
    server = f"exec {shlex.join([str(PYTHON), str(ODD), saved(here / 'pets.json', [GET])])}"
    runner.write_text(f'#!/bin/sh\necho {shown} "$@" > {asked}\n{server}\n', encoding="utf-8")
    runner.chmod(0o755)
    monkeypatch.setenv("PATH", str(runner.parent), prepend=os.pathsep)
    return asked


def test_dockers_catalog_names_the_images_of_servers(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = pets_started_by("docker", here, monkeypatch, '"$MODE:"')
    entry = "image: 'mcp/pets@sha256:1a', type: server, tools: [{name: get_pet}], command: [--quiet]"
    variables = "[{name: MODE, value: fast}, {name: A, value: '{{pets.a}}'}]"
    settings = f"secrets: [{{name: pets.key, env: PETS_KEY}}], env: {variables}"
    (here / "catalog.yaml").write_text(
        f"version: 3\nname: docker-mcp\nregistry:\n  pets: {{{entry}, {settings}}}\n"
        "  curl: {type: poci, image: curl, tools: [{name: curl}]}\n"
        "  files: {image: mcp/files, command: ['{{files.path}}']}\n"
        "  notes: {ref: ''}\n",
        encoding="utf-8",
    )
    assert main(["import", "client", "catalog.yaml"]) == 4
    assert names(here / "pets.tools.json") == ["get_pet"]
    options = "run --rm -i --init -e MODE -e A -e PETS_KEY"
    assert asked.read_text(encoding="utf-8") == f"fast: {options} mcp/pets@sha256:1a --quiet\n"
    assert capsys.readouterr().err.splitlines()[:3] == [
        "curl: its tools are containers of their own, not a server",
        "files: Docker fills in '{{files.path}}' of its command; write the value into the entry",
        "notes: names no image: import the catalog that describes it, with --server",
    ]


@pytest.mark.parametrize(
    ("kind", "command", "words"),
    [
        ("npm", "npx", "-y --quiet @pets/list@1.2.0 --home=. list"),
        ("pypi", "uvx", "--quiet @pets/list@1.2.0 --home=. list"),
        ("oci", "docker", "run --rm -i -e MODE -e A --quiet @pets/list --home=. list"),
    ],
)
def test_the_registry_of_servers_names_their_packages(
    kind: str, command: str, words: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = pets_started_by(command, here, monkeypatch, '"$MODE $A:"')
    monkeypatch.setenv("A", "own")
    variables = [{"name": "MODE", "default": "fast"}, {"name": "A"}, {"name": "NO_SUCH_VARIABLE"}]
    options = [{"type": "named", "name": "--home=.", "isRequired": True}, {"type": "positional", "value": "list"}]
    package = {
        "registryType": kind,
        "identifier": "@pets/list",
        "version": "1.2.0",
        "transport": {"type": "stdio"},
        "runtimeArguments": [{"type": "named", "name": "--quiet", "isRequired": True}],
        "packageArguments": options,
        "environmentVariables": variables,
    }
    listed = {"name": "io.example/pets", "packages": [package], "remotes": [{"url": "http://127.0.0.1:9/mcp"}]}
    (here / "server.json").write_text(json.dumps(listed), encoding="utf-8")
    assert main(["import", "client", "server.json"]) == 0
    assert names(here / "pets.tools.json") == ["get_pet"]
    assert asked.read_text(encoding="utf-8") == f"fast own: {words}\n"


def test_a_package_that_no_command_runs_and_a_missing_folder_are_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = {"registryType": "mcpb", "identifier": "https://pets.example/pets.mcpb"}
    (here / "server.json").write_text(json.dumps({"name": "pets", "packages": [package]}), encoding="utf-8")
    (here / "a.json").write_text('{"mcpServers": {"one": {"command": "ls", "cwd": "no_such"}}}', encoding="utf-8")
    assert main(["import", "client", "server.json", "a.json"]) == 4
    captured = capsys.readouterr().err
    assert "pets: packages of 'mcpb' cannot be run" in captured
    assert "one: program or folder 'no_such' not found" in captured


def test_a_file_without_servers_and_a_glob_that_matches_none_are_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.json").write_text('{"mcpServers": {"one": {"command": "x"}}}', encoding="utf-8")
    (here / "b.json").write_text('{"a": 1}', encoding="utf-8")
    assert main(["import", "client", "--server", "two*", "a.json"]) == 2
    assert main(["import", "client", "b.json"]) == 2
    captured = capsys.readouterr().err
    assert "no server to import; configured servers: one" in captured
    assert "has no MCP servers" in captured


def test_a_server_of_an_unknown_protocol_version_is_reported(tmp_path: Path, capfd: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    answer = '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":%s}}'
    lines = f"import json, sys\nfor line in sys.stdin:\n    print({answer!r} % (json.loads(line).get('id', 0), "
    (tmp_path / "old.py").write_text(lines + '\'{"name": "f", "version": "1"}\'), flush=True)\n')
    assert main(["import", "mcp", "--", PYTHON, "old.py"]) == 4
    assert "Unsupported protocol version from the server: 1999-01-01" in capfd.readouterr().err
