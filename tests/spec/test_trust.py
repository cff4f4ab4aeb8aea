"""Documents from strangers: what they name, send and run without the user's trust."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

import pytest
from support.endpoint import serving

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.runs.threaded import WorldThread
from mcp_sim.simulator.compile import checked, load
from mcp_sim.spec.sources import Sources
from mcp_sim.types.errors import Crash, DocumentError

Json = Any
pytestmark = pytest.mark.time_limit(60)
SECRET = "correct-horse-battery"
TOOLS: Json = [
    {"name": "list_orders", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "quote_order", "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}}},
]
PROGRAM = """\
from pathlib import Path
from mcp_sim.programs import tool
Path("ran").touch()
@tool
def quote_order(world, order_id): return 1
"""
REFERENCES: dict[str, Json] = {
    "tools of a scenario": {"tools": "FILE"},
    "tools of a server": {"tools": {"shop": "FILE"}},
    "tools of a spec": {"tools": "FILE", "name": "shop", "entities": {}},
    "state": {"tools": "crm", "world": {"state": "FILE"}},
    "records of all": {"tools": "crm", "world": {"records": "FILE"}},
    "records of one": {"tools": "crm", "world": {"records": {"contact": {"file": "FILE"}}}},
    "preset": {"tools": "crm", "extends": "FILE"},
}
"""Documents that name a file, each in another place."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a document from a stranger, below the user's home with secrets; the user works elsewhere."""
    for name in ("home", "home/downloads", "home/project"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / "secret.json").write_text(f'"{SECRET}"')
    (tmp_path / "home" / "secret.csv").write_text(f'"{SECRET}\n')
    monkeypatch.chdir(tmp_path / "home" / "project")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    for name in ("MCP_SIM_TRUST", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home" / "downloads"


def document(folder: Path, body: Json, name: str = "scenario.yaml") -> Path:
    path = folder / name
    path.write_text(json.dumps({"mcp_sim": 1, **body}))
    return path


def naming(body: Json, file: str) -> Json:
    return json.loads(json.dumps(body).replace('"FILE"', json.dumps(file)))


def problems(path: Path) -> str:
    with pytest.raises(DocumentError) as raised:
        load(path)
    return str(raised.value)


# files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", REFERENCES)
def test_a_file_outside_is_not_read(folder: Path, where: str) -> None:
    (folder / "link.json").symlink_to(folder.parent / "secret.json")
    (folder / "folder").symlink_to(folder.parent)
    for file in (str(folder.parent / "secret.json"), "../secret.json", "link.json", "folder/secret.csv", "/etc/passwd"):
        found = problems(document(folder, naming(REFERENCES[where], file)))
        assert "is outside the folder of scenario.yaml" in found, file
        assert "mcp-sim trust" in found
        assert SECRET not in found
        assert "root:" not in found


def test_a_link_in_a_folder_of_records_does_not_lead_outside(folder: Path) -> None:
    (folder / "rows").mkdir()
    (folder / "rows" / "contact.csv").symlink_to(folder.parent / "secret.csv")
    body = naming(REFERENCES["records of all"], "rows")
    assert "outside" in problems(document(folder, body))


@pytest.mark.parametrize("where", REFERENCES)
def test_a_pipe_or_a_device_is_refused_at_once(folder: Path, where: str) -> None:
    os.mkfifo(folder / "pipe.json")
    path = document(folder, naming(REFERENCES[where], "pipe.json"))
    assert "'pipe.json' is not a regular file" in problems(path)
    for file in ("/dev/zero", "/dev/stdin", "/proc/self/environ"):
        with pytest.raises(DocumentError, match=r"is not a regular file|is not a tool spec"):
            load(document(folder, naming(REFERENCES[where], file)), trust=True)


@pytest.mark.parametrize("where", REFERENCES)
def test_names_that_no_file_has_are_problems_of_the_document(folder: Path, where: str) -> None:
    (folder / "loop.json").symlink_to("loop.json")
    odd = ["./", "/", "..", "~/x.json", "a\0.json", f"{'x' * 5000}.json", "../" * 2000 + "x.json", "loop.json",
           "file:///etc/passwd", "http://127.0.0.1:1/x.json", "\\\\host\\share.json", "\ud800.json"]  # fmt: skip
    for file in odd:
        assert problems(document(folder, naming(REFERENCES[where], file)))


def test_files_below_the_folder_or_the_working_directory_need_no_trust(folder: Path) -> None:
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    assert load(document(folder, {"tools": "tools.json"})).domain.tools
    Path("tools.json").write_text(json.dumps(TOOLS))
    assert load(document(folder, {"tools": "../project/tools.json"})).domain.tools


def test_files_below_the_folder_above_the_named_document_need_no_trust(folder: Path) -> None:
    scenarios, specs = folder / "shop" / "scenarios", folder / "shop" / "specs"
    for place in (scenarios, specs, folder / "shop" / ".git", folder / "shop" / "recordings"):
        place.mkdir(parents=True)
    (folder / "shop" / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "shop" / ".git" / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    document(specs, {"tools": "../tools.json", "name": "shop", "entities": {}}, "shop.yaml")
    for file in ("../tools.json", "../specs/shop.yaml"):
        assert load(document(scenarios, {"tools": file})).domain.tools
    (folder / "shop" / "recordings" / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (folder / "shop" / "recordings" / "first.jsonl").write_text('{"type": "session", "session": "first"}\n')
    replay = {"replay": {"recordings": "../recordings"}}
    assert not load(document(scenarios, {"tools": "../tools.json", "world_model": replay})).untrusted
    for file in ("../../tools.json", "../.git/tools.json", "../specs/../../tools.json"):
        assert "is outside the folder of scenario.yaml" in problems(document(scenarios, {"tools": file})), file
    for name in (".git", "pyproject.toml", "package.json"):  # the stranger's repository is beside those of the user
        (scenarios / name).write_text("")
        assert "is outside the folder" in problems(document(scenarios, {"tools": "../tools.json"})), name
        (scenarios / name).unlink()
    (folder / "shop").chmod(0o777)
    assert "is outside the folder of scenario.yaml" in problems(document(scenarios, {"tools": "../tools.json"}))


def test_trusted_documents_are_read_where_the_home_of_the_user_is_unknown(
    outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_id: int) -> None:
        raise KeyError

    for variable in ("HOME", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert load(outside, trust=True).domain.tools
    assert "is outside the folder of scenario.yaml" in problems(outside)


def test_a_file_above_that_is_sent_to_a_foreign_host_needs_trust(folder: Path) -> None:
    (folder / "shop" / "scenarios").mkdir(parents=True)
    (folder / "shop" / "tools.json").write_text(json.dumps(TOOLS))
    for url, is_asked in (("https://models.example.com/v1", True), ("http://127.0.0.1:1/v1", False)):
        model = {"openai": {"base_url": url, "model": "tiny"}}
        path = document(folder / "shop" / "scenarios", {"tools": "../tools.json", "world_model": model})
        asked = [problem.message for problem in load(path).untrusted if "sends what is in" in problem.message]
        assert bool(asked) == is_asked


def test_all_files_of_a_document_are_bounded_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sim.spec.sources.LARGEST_TOTAL", 3_000)
    for name in ("a", "b", "c"):
        (folder / f"{name}.json").write_text(json.dumps(TOOLS) + " " * 1_000)
    body = {"tools": {name: f"{name}.json" for name in ("a", "b", "c")}}
    assert "is too much" in problems(document(folder, body))


def test_a_preset_is_read_once(folder: Path) -> None:
    assert "'flaky' is listed already" in problems(document(folder, {"tools": "crm", "extends": ["flaky"] * 3_000}))


def test_a_pipe_on_the_command_line_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "project" / "tools.json").write_text(json.dumps(TOOLS))
    source, target = os.pipe()
    os.write(target, json.dumps({"mcp_sim": 1, "tools": "crm"}).encode())
    os.close(target)
    assert main(["check", f"/dev/fd/{source}"]) == 0
    os.close(source)
    assert ": ok" in capsys.readouterr().out


# trust ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def outside(folder: Path) -> Path:
    """Return a scenario whose tools are outside its folder."""
    (folder.parent / "tools.json").write_text(json.dumps(TOOLS))
    return document(folder, {"tools": "../tools.json"})


def test_trust_for_one_command_or_from_the_environment(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["check", str(outside)]) == 1
    assert main(["check", str(outside), "--trust", str(outside)]) == 0
    assert main(["plan", str(outside), "--trust", str(outside.parent)]) == 0
    assert main(["check", str(outside), "--trust", str(outside.parent.parent / "project")]) == 1
    monkeypatch.setenv("MCP_SIM_TRUST", f"/nowhere{os.pathsep}{outside.parent}")
    assert main(["check", str(outside)]) == 0
    assert Simulator.load(outside, trust=True).scenario.domain.tools


def test_remembered_trust_ends_when_the_file_changes(outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", str(outside)]) == 0
    assert main(["check", str(outside)]) == 0
    outside.write_text(outside.read_text() + "\n")
    assert main(["check", str(outside)]) == 1
    assert "scenario.yaml has changed since you trusted it" in capsys.readouterr().out
    assert main(["trust", str(outside.parent)]) == 0
    assert main(["check", str(outside)]) == 0
    assert main(["trust"]) == 0
    assert str(outside) in capsys.readouterr().out
    assert main(["trust", "--forget", str(outside.parent)]) == 0
    assert main(["check", str(outside)]) == 1


def test_what_trust_refuses_shows_nothing_of_files_outside(outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document(outside.parent, {"tools": "../../secret.json"})
    (outside.parent.parent.parent / "secret.json").write_text('"root:x:0"')
    assert main(["trust", str(outside)]) == 1
    assert "secret.json" in (shown := "".join(capsys.readouterr()))
    assert "root:x" not in shown


# programs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def freight(folder: Path) -> Path:
    (folder / "freight.py").write_text(PROGRAM)
    document(folder, {"name": "freight", "tools": TOOLS, "program": "freight.py"}, "freight.yaml")
    return document(folder, {"tools": "freight.yaml"})


def has_run() -> bool:
    """Whether the module has run since the last look."""
    has_run = Path("ran").exists()
    Path("ran").unlink(missing_ok=True)
    return has_run


async def _quote(path: Path, **options: Json) -> None:
    async with Simulator.load(path, **options).open() as world:
        await world.call("quote_order", {"order_id": "A1"})


async def test_the_program_of_an_untrusted_spec_is_not_run(freight: Path) -> None:
    with pytest.raises(DocumentError, match=r"program: runs the Python program freight\.py, which"):
        await _quote(freight)
    assert not has_run()
    ((_, found, _),) = checked(freight)
    assert any("runs the Python program" in problem.message for problem in found)
    await _quote(freight, trust=True)
    assert has_run()


async def test_trust_in_a_program_ends_when_it_or_a_module_beside_it_changes(
    freight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    freight.with_name("freight.py").write_text(f"import prices\nimport parts.one\n{PROGRAM}")
    freight.with_name("parts").mkdir()
    for part in ("__init__.py", "one.py", "two.py"):
        (freight.with_name("parts") / part).write_text("from parts import two\n" if part == "one.py" else "")
    for changed in ("freight.py", "prices.py", "rates.py", "parts/__init__.py", "parts/two.py"):
        freight.with_name("prices.py").write_text("from rates import RATE\n")
        freight.with_name("rates.py").write_text("RATE = 2\n")
        assert main(["trust", str(freight)]) == 0
        out = capsys.readouterr().out
        assert "runs the Python program freight.py" in out
        assert all(name in out for name in ("scenario.yaml", "freight.yaml", "freight.py", "prices.py", "rates.py"))
        await _quote(freight)
        assert has_run()
        with (freight.parent / changed).open("a") as module:
            module.write("# changed\n")
        with pytest.raises(DocumentError, match=rf"{Path(changed).name} has changed since you trusted it"):
            await _quote(freight)
        assert not has_run()


def planted(folder: Path, how: str) -> None:
    """Put code into a folder that is in none of the sources that the user has trusted."""
    source = folder / "planted.py"
    source.write_text(f"from pathlib import Path\nPath({str(folder / 'evil')!r}).touch()\nRATE = 2\n")
    match how:
        case "unchecked bytecode of a module":
            compiled = folder / "__pycache__" / f"rates.{sys.implementation.cache_tag}.pyc"
            py_compile.compile(str(source), str(compiled), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        case "unchecked bytecode of the program":
            compiled = folder / "__pycache__" / f"freight.{sys.implementation.cache_tag}.pyc"
            py_compile.compile(str(source), str(compiled), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        case "bytecode without its source":
            py_compile.compile(str(source), str(folder / "later.pyc"))
        case "bytecode in a package":
            py_compile.compile(str(source), str(folder / "parts" / "later.pyc"))
        case _:
            source.rename(folder / "later.py")
    source.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "how",
    [
        "unchecked bytecode of a module",
        "unchecked bytecode of the program",
        "bytecode without its source",
        "bytecode in a package",
        "a new module",
    ],
)
async def test_only_the_sources_that_were_trusted_are_run(
    freight: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, name = freight.parent, "parts.later" if how == "bytecode in a package" else "later"
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])  # as `python -m` does
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").touch()
    (folder / "rates.py").write_text("RATE = 2\n")
    late = f"from importlib import import_module\ntry:\n    import_module({name!r})\nexcept ImportError:\n    pass\n"
    (folder / "freight.py").write_text(f"import parts\nfrom rates import RATE\n{late}{PROGRAM}")
    assert main(["trust", str(freight)]) == 0
    planted(folder, how)
    await _quote(freight)
    assert has_run()
    assert not (folder / "evil").exists()


async def test_a_program_that_changes_after_the_start_runs_as_it_was_trusted(freight: Path) -> None:
    judge = freight.with_name("judge.py")
    judge.write_text("def fair(state, steps, answer): return True\n")
    document(freight.parent, {"tools": "freight.yaml", "expect": [{"python": "judge.py:fair"}]})
    assert main(["trust", str(freight)]) == 0
    async with Simulator.load(freight).open() as world:
        for file in (freight.with_name("freight.py"), judge):
            file.write_text("raise SystemExit(7)\n")
        assert (await world.call("quote_order", {"order_id": "A1"})).ok
        assert [verdict.outcome for verdict in world.grade().verdicts] == ["passed"]


async def test_trust_ends_when_a_file_is_removed(freight: Path) -> None:
    rates = freight.with_name("rates.py")
    rates.touch()
    freight.with_name("freight.py").write_text(f"import rates\n{PROGRAM}")
    assert main(["trust", str(freight)]) == 0
    rates.unlink()
    with pytest.raises(DocumentError, match=r"rates\.py has changed since you trusted it"):
        await _quote(freight)
    assert main(["trust", str(freight)]) == 0
    with pytest.raises(Crash, match=r"No module named .rates."):
        await _quote(freight)


@pytest.mark.parametrize("nested", [False, True])
def test_no_other_key_runs_a_module(folder: Path, nested: bool) -> None:
    (folder / "evil.py").write_text(PROGRAM)
    plan: Json = {"backend": "program", "operation": f"{folder}/evil.py:quote"}
    sim = {"quote_order": {"choice": "order_id", "choices": {"A1": plan}} if nested else plan}
    path = document(folder, {"name": "freight", "tools": TOOLS, "sim": sim})
    assert "unknown backend" in problems(path)


def test_pytest_trusts_what_is_below_its_rootdir(freight: Path) -> None:
    thread = WorldThread()
    try:
        with pytest.raises(DocumentError, match="runs the Python program"):
            thread.open(freight)
        world = thread.open(freight, trust=[freight.parent])
        assert world.call("quote_order", {"order_id": "A1"}).ok
    finally:
        thread.close()
    assert has_run()


# keys -----------------------------------------------------------------------------------------------------------------


def asking(folder: Path, url: str, **options: Json) -> Path:
    model = {"openai": {"base_url": url, "model": "tiny", "retries": 0, **options}}
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    return document(folder, {"tools": "tools.json", "world_model": model})


async def _keys_sent(path: Path, engine: Json, **options: Json) -> set[str]:
    """Return the keys that the endpoint gets when the scenario is served and called."""
    async with Simulator.load(path, **options).open() as world:
        await world.call("quote_order", {"order_id": "A1"})
    return {asked.headers["authorization"] for asked in engine.asked}


async def test_a_document_does_not_get_a_key_that_it_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    async with serving() as engine:
        path = asking(folder, engine.url, api_key_env="GITHUB_TOKEN")
        with pytest.raises(DocumentError, match=r"sends the value of GITHUB_TOKEN to 127\.0\.0\.1:") as raised:
            await _keys_sent(path, engine)
        assert SECRET not in str(raised.value)
        assert engine.asked == []
        assert main(["trust", str(path)]) == 0
        assert await _keys_sent(path, engine) == {f"Bearer {SECRET}"}


async def test_the_default_key_goes_to_hosts_that_the_user_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with serving() as engine:
        path = asking(folder, engine.url)
        assert await _keys_sent(path, engine) == {"Bearer none"}
        engine.asked.clear()
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        assert await _keys_sent(path, engine) == {"Bearer none"}
        engine.asked.clear()
        monkeypatch.setenv("OPENAI_BASE_URL", engine.url)
        assert await _keys_sent(path, engine) == {f"Bearer {SECRET}"}
        engine.asked.clear()
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert await _keys_sent(path, engine, world_model=f"openai:tiny@{engine.url}") == {f"Bearer {SECRET}"}


async def test_an_endpoint_without_a_key_gets_nothing_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", SECRET)
    monkeypatch.setenv("OPENAI_PROJECT_ID", SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Own: {SECRET}\nAuthorization: {SECRET}")
    async with serving() as engine:
        assert await _keys_sent(asking(folder, engine.url), engine) == {"Bearer none"}
        assert all(SECRET not in str(dict(asked.headers)) for asked in engine.asked)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://api.openai.com:8443/v1",
        "http://127.0.0.1.evil.example/v1",
    ],
)
def test_the_default_key_needs_trust_for_other_hosts(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    (found,) = load(asking(folder, url)).untrusted
    assert "sends the value of OPENAI_API_KEY to" in found.message
    assert load(asking(folder, "https://api.openai.com/v1")).untrusted == ()
    assert load(asking(folder, "https://API.openai.com:443/v1")).untrusted == ()


def test_replies_are_stored_below_the_working_directory(folder: Path) -> None:
    (found,) = load(asking(folder, "http://127.0.0.1:1/v1", cache="../downloads")).untrusted
    assert "stores replies in ../downloads" in found.message
    assert load(asking(folder, "http://127.0.0.1:1/v1", cache="replies")).untrusted == ()


def test_what_ships_is_trusted() -> None:
    sources = Sources()
    path = Path(load("flaky_crm").files[0])
    assert sources.is_trusted(path)


# what leaves ----------------------------------------------------------------------------------------------------------


def test_a_foreign_host_with_a_file_outside_the_folder_needs_trust(folder: Path) -> None:
    (folder.parent / "project" / "customers.json").write_text(json.dumps({"order": [{"id": "A1", "note": SECRET}]}))
    body = {"tools": "crm", "world": {"state": "../project/customers.json"}}
    for url, is_asked in (("https://models.example.com/v1", True), ("http://127.0.0.1:1/v1", False)):
        model = {"openai": {"base_url": url, "model": "tiny"}}
        path = document(folder, {**body, "world_model": model})
        ((_, found, scenario),) = checked(path)
        text = "\n".join(map(str, found))
        assert ("sends calls and the state of the world to models.example.com" in text) == is_asked
        assert ("sends what is in" in text) == is_asked
        assert scenario is not None
        assert bool(scenario.untrusted) == is_asked
        assert SECRET not in text
    model = {"openai": {"base_url": "http://a.example/v1", "model": "m"}}
    path = document(folder, {"tools": "crm", "world_model": model})
    ((_, found, scenario),) = checked(path)
    assert scenario is not None
    assert not scenario.untrusted
    assert "sends calls and the state of the world to a.example" in "\n".join(map(str, found))


@pytest.mark.parametrize("where", REFERENCES)
@pytest.mark.parametrize("content", [f"{SECRET}: [", f'"{SECRET}"', f"- {SECRET}", f"{SECRET}: {SECRET}"])
def test_errors_show_nothing_of_files_outside_the_folder(folder: Path, where: str, content: str) -> None:
    (folder.parent / "project" / "notes.yaml").write_text(content)
    path = document(folder, naming(REFERENCES[where], "../project/notes.yaml"), "spec.yaml")
    ((_, found, _),) = checked(path)
    assert SECRET not in "\n".join(map(str, found))
    ((_, found, _),) = checked(path, trust=True)
    assert found


def test_a_real_server_does_not_get_the_tokens_and_keys_of_mcp_sim(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MCP_SIM_TOKEN", "MCP_SIM_CONTROL_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("NOTES_TOKEN", "kept")
    dump = f"import json, os; open({str(folder / 'env')!r}, 'w').write(json.dumps(dict(os.environ)))"
    server = [sys.executable, "-c", dump]
    path = document(folder, {"tools": "live", "world_model": {"upstream": {"command": server, "timeout": "5s"}}})
    with pytest.raises(DocumentError):
        load(path, trust=True)
    record = [sys.executable, "-m", "mcp_sim", "record", "-o", str(folder / "recorded"), "--", *server]
    subprocess.run(record, check=False)
    given = json.loads((folder / "env").read_text())
    assert given["NOTES_TOKEN"] == "kept"
    assert "MCP_SIM_TOKEN" not in given
    with pytest.raises(DocumentError):
        load(path, trust=True)
    assert SECRET not in (folder / "env").read_text()
