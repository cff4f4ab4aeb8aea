"""`compile` and `learn`: a model writes over real HTTP, and the gate keeps what passes."""

# ruff: noqa: ASYNC220, ASYNC240 (small files, and one process)

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from anyio import to_thread
from starlette.responses import JSONResponse
from support import notebook_server
from support.endpoint import Engine, completion, giving, saying, serving
from support.notebook_server import CALLS, record
from support.warm import COLD, PYTHON

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.libraries.sandbox import process
from mcp_sim.simulator.compile import check

COMPILED = Path(__file__).parent / "compiled"
REPLY = (COMPILED / "pantry.reply.md").read_text(encoding="utf-8")
NOTEBOOK = (COMPILED / "notebook.reply.md").read_text(encoding="utf-8")
NOTEBOOK_SERVER = Path(notebook_server.__file__)


@pytest.fixture
def pantry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tool spec and a scenario, where the command is run."""
    for name in ("pantry.tools.json", "pantry.yaml", "pantry_at_home.yaml"):
        shutil.copy(COMPILED / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@asynccontextmanager
async def answering(*contents: str) -> AsyncGenerator[tuple[Engine, str]]:
    """Yield an endpoint that gives these answers in turn, and how the command line names it."""
    async with serving(saying(*contents)) as engine:
        yield engine, f"openai:tiny@{engine.url}"


async def run(*words: str) -> int:
    return await to_thread.run_sync(main, [*words])


def report(capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capfd.readouterr().out)


def program(body: str) -> str:
    """Return a reply with the program of the fixture, in which a tool does something else."""
    return REPLY.replace("    return dict(known(world, item_id))\n", body)


async def answers(spec: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return what the tools of a spec answer, in one world."""
    async with Simulator.load(spec, trust=True) as simulator, simulator.open() as world:
        return [(await world.call(tool, arguments)).body for tool, arguments in calls]


async def test_a_good_program_is_written_beside_the_spec_that_then_names_it(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with answering(REPLY) as (engine, model):
        assert await run("compile", "pantry_at_home.yaml", "--by", model, "--json") == 0
    summary = report(capfd)
    assert (summary["kept"], summary["rounds"], summary["tokens"]["completion_tokens"]) == (5, 1, 30)
    assert summary["tools"]["get_item"]["checks"] == [
        "answers",
        "gone after deletion",
        "reads what exists",
        "schema",
        "unknown ids",
    ]
    assert "item-7" in engine.asked[0].question
    assert (pantry / "pantry.py").read_text().startswith('"""A simulated pantry."""')
    assert (pantry / "pantry.yaml").read_text().endswith("program: pantry.py\n")
    assert [p for p in check(["pantry_at_home.yaml"]) if p.severity == "error"] == []
    listed, refused = await answers(
        pantry / "pantry_at_home.yaml", ("list_items", {}), ("get_item", {"item_id": "item-9"})
    )
    assert listed.value == "- 2 x Rice (item-7, top)"
    assert (refused.is_error, refused.value) == (True, "There is no item item-9.")


async def test_what_fails_is_sent_back_with_its_line_until_it_is_right(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = program('    return {"id": item_id, **world.item.get(item_id)["parts"]}\n')
    async with answering(broken, "I am sorry, I cannot see the problem.", REPLY) as (engine, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--json") == 0
    assert report(capfd)["rounds"] == 3
    second, third = engine.asked[1], engine.asked[2]
    assert [message["role"] for message in second.body["messages"]] == ["user", "assistant", "user"]
    assert re.search(r"## get_item\n- get_item\(.*\) crashed: program\.py:\d+ in get_item: KeyError", second.question)
    assert "no Python file" in third.question
    assert "KeyError" in third.question


async def test_what_never_gets_right_keeps_its_plan(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    broken = program("    return {'id': item_id}\n")
    async with answering(broken) as (_, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--rounds", "2", "--json") == 0
    summary = report(capfd)
    assert {tool: result["kept"] for tool, result in summary["tools"].items() if not result["kept"]} == {
        "get_item": False
    }
    assert "is a required property" in summary["tools"]["get_item"]["why"][0]
    text = (pantry / "pantry.py").read_text()
    assert "def get_item" not in text
    assert "# Shelves are in the order of the items on them.\n@tool\ndef list_items" in text
    added, got = await answers(
        pantry / "pantry.yaml", ("add_item", {"name": "Salt", "quantity": 3}), ("get_item", {"item_id": "item-1"})
    )
    assert added.value == "Put 3 x Salt on the top shelf (item-1)."
    assert got.value == {"id": "item-1", "name": "Salt", "quantity": 3, "shelf": "top"}


@pytest.mark.parametrize(
    ("shown", "complaint"), [("'Full.'", "expected it to show the item"), ("f'{len(lines)} items'", None)]
)
async def test_a_list_shows_what_was_created_or_its_number(
    pantry: Path, capfd: pytest.CaptureFixture[str], shown: str, complaint: str | None
) -> None:
    reply = REPLY.replace(r'"\n".join(lines) or "The pantry is empty."', shown)
    async with answering(reply) as (_, model):
        assert await run("compile", "pantry_at_home.yaml", "--by", model, "--rounds", "1", "--json") == 0
    tool = report(capfd)["tools"]["list_items"]
    assert tool["kept"] is (complaint is None)
    assert (complaint or "") in "".join(tool["why"])


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("pantry.yaml", "works on thing, which the plan of add_item does not write"),
        (
            "pantry_at_home.yaml",
            "@initial fills thing, which the plan of add_item does not write: the plans alone are better",
        ),
    ],
)
async def test_functions_do_not_stay_without_the_one_that_creates_their_records(
    document: str, why: str, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other_table = REPLY.replace("world.item", "world.thing").replace('"item": {"ids"', '"thing": {"ids"')
    broken = other_table.replace('    return f"Put {quantity}', '    return item["parts"] or f"Put {quantity}')
    async with answering(broken) as (_, model):
        assert await run("compile", document, "--by", model, "--rounds", "1", "--json") == 1
    summary = report(capfd)["tools"]
    assert "KeyError" in summary["add_item"]["why"][0]
    assert summary["list_items"]["why"] == [why]
    assert not (pantry / "pantry.py").exists()


async def test_a_function_that_others_need_is_kept_with_what_is_wrong(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other_table = REPLY.replace("world.item", "world.thing").replace('"item": {"ids"', '"thing": {"ids"')
    wrong = other_table.replace("({item['id']})", "(item-99)")
    assert wrong != other_table
    async with answering(wrong) as (_, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--rounds", "1", "--json") == 0
    tools = report(capfd)["tools"]
    assert {tool for tool, row in tools.items() if not row["kept"]} == set()
    [why] = tools["add_item"]["why"]
    assert why.startswith("kept, since other functions work on what it creates: ")
    assert "add_item(" in why
    assert "'item-99'" in why


HOSTILE = {
    "imports": ("import os\nos.remove('/tmp/file')\n", "uses os, which it cannot import"),
    "files": ("print(open('/etc/passwd').read())\n", "uses open"),
    "escapes": ("secrets = ().__class__.__base__.__subclasses__()\n", "uses __"),
    "never loads": ("while True:\n    pass\n", "running it"),
    "too much": ("hoard = 'x' * (1 << 40)\n", "MemoryError"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_of_a_hostile_file_nothing_is_written(
    name: str, pantry: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line, why = HOSTILE[name]
    if name == "never loads":
        monkeypatch.setattr("mcp_sim.recordings.compiling.gate.SECONDS", 1.0)
    before = {file: file.read_bytes() for file in pantry.iterdir()}
    async with answering(REPLY.replace("tables = {", f"{line}\ntables = {{")) as (_, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--rounds", "1", "--json") == 1
    assert why in report(capfd)["tools"]["add_item"]["why"][0]
    assert {file: file.read_bytes() for file in pantry.iterdir()} == before


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    while True:\n        pass\n", "did not end"),
        ("    return {'id': item_id, 'name': 'x' * (1 << 40), 'quantity': 1, 'shelf': ''}\n", "MemoryError"),
        (
            "    known(world, item_id)\n    return {'id': item_id, 'quantity': 1, 'shelf': '', "
            "'name': ''.join({*map(str, range(99))})}\n",
            "another hash seed",
        ),
        (
            "    row = dict(known(world, item_id))\n    known.__dict__['n'] = 1\n    return row\n",
            "uses __dict__",
        ),
        (
            "    item = dict(known(world, item_id))\n    tables['seen'] = tables.get('seen', 0) + 1\n"
            "    return {**item, 'quantity': tables['seen']}\n",
            "changes tables['seen'] of its module",
        ),
    ],
)
async def test_a_hostile_function_is_dropped_and_the_rest_serves(
    body: str, why: str, pantry: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if why in {"another hash seed", "second world"}:  # a fork has the hash seed of its parent
        monkeypatch.setattr(sys, "executable", COLD)
    if why == "did not end":  # two processes would loop for ten seconds
        start = f"from mcp_sim.programs import watchdog; watchdog.LIMIT = 3.0; {process.START}"
        monkeypatch.setattr(process, "START", start)
    async with answering(program(body)) as (_, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--rounds", "1", "--json") == 0
    summary = report(capfd)["tools"]
    assert [tool for tool, result in summary.items() if not result["kept"]] == ["get_item"]
    assert any(why in reason for reason in summary["get_item"]["why"])


@pytest.mark.parametrize("content", ["", "I cannot do that.", "```python\nprint('hello')\n```", "```python\ndef (\n"])
async def test_of_a_reply_without_a_program_nothing_is_written(
    content: str, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with answering(content) as (_, model):
        assert await run("compile", "pantry.yaml", "--by", model) == 1
    out, err = capfd.readouterr()
    assert "0 of 5 tools kept; 3 rounds" in out
    assert "Nothing was written" in err
    assert not (pantry / "pantry.py").exists()


async def test_how_to_trust_a_program_is_said_unless_it_is_trusted(
    pantry: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(pantry / "config"))
    reply = str(COMPILED / "pantry.reply.md")
    assert await run("compile", "pantry.yaml", "--reply", reply) == 0
    assert "run `mcp-sim trust pantry.yaml`" in capfd.readouterr().err.partition("Wrote")[2]
    assert await run("compile", "pantry.yaml", "--reply", reply, "--trust", ".") == 0
    assert "mcp-sim trust" not in capfd.readouterr().err


async def test_a_program_that_exists_is_backed_up(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (pantry / "pantry.py").write_text("# mine\n")
    assert await run("compile", "pantry.tools.json", "--reply", str(COMPILED / "pantry.reply.md")) == 0
    assert "pantry.py.bak" in capfd.readouterr().err
    assert (pantry / "pantry.py.bak").read_text() == "# mine\n"


async def test_the_prompt_is_printed_without_a_model(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("notes.md").write_text("Items are never lent.")
    assert await run("compile", "pantry_at_home.yaml", "--docs", "notes.md", "--show-prompt") == 0
    shown = capfd.readouterr().out
    server = shown[shown.index("# The server") :]
    assert server == (COMPILED / "pantry.prompt.md").read_text(encoding="utf-8")
    assert len(shown) - len(server) <= 4 * 5_000  # four characters are about a token
    assert "# How such servers answer" in shown


async def test_without_a_state_the_prompt_shows_what_one_may_look_like(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await run("compile", "pantry.yaml", "--show-prompt") == 0
    shown = capfd.readouterr().out
    assert "**This example is made up**" in shown
    suggested = json.loads(shown.split("**This example is made up**")[1].split("\n")[1])
    assert {"id", "name", "quantity", "shelf"} <= suggested["items"][0].keys()
    assert len(suggested["items"]) == 3


async def test_a_recorded_success_and_failure_take_the_place_of_what_is_usual(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await run("learn", "recorded", "--show-prompt") == 0
    shown = capfd.readouterr().out
    assert "# How such servers answer" not in shown
    typical = shown.split("# How this server answers\n\n")[1].split("\n\n# The server")[0]
    assert typical.startswith("Two of its answers, exactly as they are:")
    assert typical.count("=> isError\ntext block:\n") == 1


async def test_the_example_of_the_prompt_is_a_program_without_mistakes(tmp_path: Path) -> None:
    """Models imitate it. Its tools are those of its functions, with any arguments."""
    guide = Path(sys.modules["mcp_sim.recordings.compiling"].__path__[0], "prompts", "guide.md").read_text()
    code = guide.split("```python\n")[1].split("```")[0]
    names = re.findall(r'@tool(?:\("(.+?)"\))?\ndef (\w+)', code)
    (tmp_path / "makerspace.py").write_text(code)
    tools = [{"name": named or function, "inputSchema": {"type": "object"}} for named, function in names]
    (tmp_path / "makerspace.tools.json").write_text(json.dumps({"tools": tools}))
    spec = tmp_path / "makerspace.yaml"
    spec.write_text("mcp_sim: 1\ntools: makerspace.tools.json\nprogram: makerspace.py\n")
    assert len(names) == 7
    assert [problem for problem in check([spec]) if problem.severity == "error"] == []
    booked, listed, gone = await answers(
        spec,
        ("add_machine", {"name": "Laser", "hourly": 4}),
        ("list_bookings", {}),
        ("cancel_bookings", {"booking_ids": ["BK-0009"]}),
    )
    assert (booked.value, listed.value) == ("✓ Added Laser (other)\n1 machines in total", "No bookings found.")
    assert gone.is_error


# several programs -----------------------------------------------------------------------------------------------------

TWO_TABLES = """from mcp_sim.programs import Refused, initial, records, tool

tables = {"note": {"ids": "note-1", "fields": {"text": ""}}, "tag": {"key": "name", "natural": True, "fields": {}}}

SIGN = "!"


@initial
def begin(given, world):
    for row in records(given, "notes"):
        world.note.add(row)


def signed(text):
    return text + SIGN


@tool
def add_note(world, text):
    return world.note.add(text=signed(text))


@tool
def list_notes(world):
    return {"notes": [dict(row) for row in world.note]}


@tool
def add_tag(world, name):
    if name in world.tag:
        raise Refused(f"Tag {name} exists")
    world.tag.add(name=name)
    return signed(f"Added {name}")


@tool
def list_tags(world):
    return {"tags": [row["name"] for row in world.tag]}
"""


def _named(tool: str, *arguments: str) -> dict[str, Any]:
    schemas = {name: {"type": "string"} for name in arguments}
    return {"name": tool, "inputSchema": {"type": "object", "properties": schemas, "required": [*arguments]}}


CONVERSION = """from mcp_sim.programs import Refused, tool

tables = {}


@tool
def read_rate(world, quote):
    if quote != "XPF":
        raise Refused(f"Unknown quote {quote}")
    return "1.2"
"""


@pytest.mark.parametrize(
    "mention",
    [
        {"examples": ["XPF"]},
        {"default": "XPF"},
        {"description": "Either 'XPF' or nothing."},
        {"description": "The quote, e.g. XPF."},
    ],
    ids=["example", "default", "quoted", "described"],
)
async def test_trials_use_the_values_that_a_schema_mentions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], mention: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    read_rate = _named("read_rate", "quote")
    read_rate["inputSchema"]["properties"]["quote"] |= mention
    Path("rates.json").write_text(json.dumps({"tools": [read_rate]}))
    Path("reply.txt").write_text(CONVERSION)
    assert await run("compile", "rates.json", "--reply", "reply.txt", "-o", "rates.py", "--json") == 0
    assert "no call succeeded" not in report(capfd)["tools"]["read_rate"]["checks"]


async def test_of_several_programs_each_answers_the_tools_that_it_answers_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = [_named("add_note", "text"), _named("list_notes"), _named("add_tag", "name"), _named("list_tags")]
    Path("desk.json").write_text(json.dumps({"tools": tools}))
    no_tags = TWO_TABLES.replace("    world.tag.add(name=name)\n", '    world.tag.add(name=name)["missing"]\n')
    replies = {
        "a.txt": TWO_TABLES.replace('SIGN = "!"', 'SIGN = "?"').replace("signed(text))", 'signed(text))["missing"]'),
        "b.txt": no_tags,
        "c.txt": no_tags.replace('{"tags": [', '{"all_tags": ['),
    }
    words = [word for name in replies for word in ("--reply", name)]
    for name, text in replies.items():
        Path(name).write_text(text)
    assert await run("compile", "desk.json", *words, "-o", "desk.py", "--json") == 0
    summary = report(capfd)
    assert summary["kept"] == 4
    noted, listed, tagged, tags = await answers(
        Path("desk.yaml"),
        ("add_note", {"text": "Milk"}),
        ("list_notes", {}),
        ("add_tag", {"name": "food"}),
        ("list_tags", {}),
    )
    assert (noted.value["text"], listed.value) == ("Milk!", {"notes": [noted.value]})
    assert (tagged.value, tags.value) == ("Added food?", {"tags": ["food"]})
    assert summary["votes"]["list_tags"]["answers"]['{"all_tags": []}'] == 1


async def test_several_programs_are_asked_for_with_other_seeds(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with answering(REPLY) as (engine, model):
        assert await run("compile", "pantry.yaml", "--by", model, "--samples", "3", "--rounds", "1") == 0
    assert len({asked.body["seed"] for asked in engine.asked}) == 3
    assert "Programs agree:\n  add_item: 100% of" in capfd.readouterr().out


# samples --------------------------------------------------------------------------------------------------------------

DOCUMENTATION = """# Notebook
## list_notes
Lists the notes:
```json
{}
```
```json
{"notes": [{"id": "note-1", "title": "Milk"}]}
```
## create_note
```json
{"title": "Milk"}
```
```
{"id": "note-1"}
```
"""
CREATED = {"tool": "create_note", "arguments": {"title": "Milk"}, "result": '{"id": "note-1"}'}


@pytest.mark.parametrize(
    ("source", "shown", "hidden"),
    [
        ("recorded", ['create_note {"title": "Milk", "text": "two litres"}', "=> text:\nDeleted Milk"], []),
        ("notes.md", ['create_note {"title": "Milk"}\n=> text, JSON in one line with spaces: {"id": "note-1"}'], []),
        ("notes.json", ['create_note {"title": "Milk"}\n=> text, JSON in one line with spaces: {"id": "note-1"}'], []),
        (f"{PYTHON} {NOTEBOOK_SERVER}", ["list_notes {}\n=> text, JSON in one"], ["\ncreate_note {"]),
        (
            f"{PYTHON} {NOTEBOOK_SERVER} --sample-tools create_*",
            ["\ncreate_note {", '\nget_note {"note_id": "note-41"}\n=> text'],
            [],
        ),
    ],
    ids=["recorded", "Markdown", "JSON", "server", "server and allowed tools"],
)
async def test_samples_come_from_recordings_documents_and_the_allowed_calls_of_a_server(
    recorded: Path, capfd: pytest.CaptureFixture[str], source: str, shown: list[str], hidden: list[str]
) -> None:
    Path("notes.md").write_text(DOCUMENTATION)
    Path("notes.json").write_text(json.dumps([CREATED]))
    source, *allowed = re.split(" (?=--)| (?=create_)", source)
    assert await run("compile", "recorded/tools.json", "--samples-from", source, *allowed, "--show-prompt") == 0
    samples = capfd.readouterr().out.split("## Samples of its answers")[1]
    assert [text for text in shown if text not in samples] == []
    assert [text for text in hidden if text in samples] == []


async def test_a_form_that_differs_from_the_sample_is_reported_and_drops_nothing(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = NOTEBOOK.replace('return json.dumps({"notes": list(world.note)})', 'return {"notes": list(world.note)}')
    Path("reply.txt").write_text(reply)
    samples = ("--samples-from", "recorded/a.jsonl")
    assert await run("compile", "recorded/tools.json", *samples, "--reply", "reply.txt", "-o", "note.py", "--json") == 0
    summary = report(capfd)
    assert summary["kept"] == 4
    assert "sample" in summary["tools"]["list_notes"]["checks"]
    wanted = "answered with JSON indented by 2; the sample of the real server is JSON in one line with spaces"
    assert wanted in summary["complaints"]


async def test_a_source_without_samples_is_refused(recorded: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("other.md").write_text("# Nothing here")
    for source, message in (("other.md", "has no answer of a tool of"), ("none.md", "no such file or folder")):
        assert await run("compile", "recorded/tools.json", "--samples-from", source, "--show-prompt") == 2
        assert message in capfd.readouterr().err


# learn ----------------------------------------------------------------------------------------------------------------

CREATE, LIST, GET, DELETE = CALLS[0], CALLS[2], CALLS[3], CALLS[4]


@pytest.fixture
async def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three recorded sessions of the notebook server."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    for name, calls in (("a", CALLS), ("b", [CREATE, GET, DELETE, GET, LIST]), ("c", [LIST, CREATE, LIST, DELETE])):
        await record(folder, name, calls)
    monkeypatch.chdir(tmp_path)
    return folder


async def test_a_program_is_learnt_from_sessions_and_judged_by_others(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with answering(NOTEBOOK) as (engine, model):
        assert await run("learn", "recorded", "--by", model, "-o", "out", "--json") == 0
    summary = report(capfd)
    shown, held = summary["sessions"]["shown"], summary["sessions"]["held_back"]
    assert (len(shown), len(held), summary["kept"]) == (2, 1, 4)
    assert f"### Session {shown[0]}" in engine.asked[0].question
    assert f"### Session {held[0]}" not in engine.asked[0].question
    assert summary["held_back"]["program"] == 1.0 > summary["held_back"]["plans"]
    assert await run("measure", "out/notebook.yaml", "recorded", "--trust", "out", "--no-cold", "--at-least", "1") == 0


async def test_calls_that_differ_from_the_recordings_are_sent_back(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = NOTEBOOK.replace("Deleted {", "The note was removed: {")
    async with answering(wrong, NOTEBOOK) as (engine, model):
        assert await run("learn", "recorded", "--by", model, "--json") == 0
    assert report(capfd)["held_back"]["program"] == 1.0
    assert "The real server:\n=> text:\nDeleted Milk\nYour program:\n=> text:\nThe note was removed: Milk" in (
        engine.asked[1].question
    )


async def test_what_agrees_less_than_its_plan_is_dropped(recorded: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = NOTEBOOK.replace(
        '    return json.dumps({"notes": list(world.note)})\n', '    return "There are some notes."\n'
    )
    async with answering(bad) as (_, model):
        assert await run("learn", "recorded", "--by", model, "--rounds", "1", "--json") == 0
    summary = report(capfd)
    assert [tool for tool, result in summary["tools"].items() if not result["kept"]] == ["list_notes"]
    assert summary["held_back"]["program"] >= summary["held_back"]["plans"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--by openai:MODEL@URL"),
        (["--by", "gpt"], "mcp-sim: --by gpt: write it as openai:MODEL@URL\n"),
        (["--reply", "none.txt"], "mcp-sim: cannot read none.txt: No such file or directory\n"),
    ],
)
async def test_who_writes_must_be_known_before_anything_is_tried(
    pantry: Path, words: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await run("compile", "pantry.yaml", *words) == 2
    said = capfd.readouterr().err
    assert message in said
    assert "trying" not in said


# ends -----------------------------------------------------------------------------------------------------------------


async def test_a_model_that_does_not_answer_is_no_result(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with serving(giving(completion("", "content_filter"))) as engine:
        url = engine.url
    assert await run("compile", "pantry.yaml", "--by", f"openai:tiny@{url}") in (2, 4)
    assert not (pantry / "pantry.py").exists()


async def test_a_model_that_answers_no_more_does_not_lose_its_program(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = completion(program("    return {'id': item_id}\n"))
    too_long = JSONResponse({"error": {"message": "maximum context length exceeded"}}, status_code=400)
    async with serving(giving(broken, too_long)) as engine:
        assert await run("compile", "pantry.yaml", "--by", f"openai:tiny@{engine.url}") == 0
    out, err = capfd.readouterr()
    assert "4 of 5 tools kept; 1 round" in out
    assert "going on with what there is" in err


async def test_ctrl_c_leaves_nothing_half_written(pantry: Path) -> None:
    import signal

    async with serving() as engine:
        engine.respond = engine.hang
        words = [PYTHON, "-m", "mcp_sim", "compile", "pantry.yaml", "--by", f"openai:tiny@{engine.url}"]
        process = Popen(words, cwd=pantry, stderr=PIPE, stdout=PIPE)
        await engine.arrived.wait()
        process.send_signal(signal.SIGINT)
        out, err = await to_thread.run_sync(process.communicate)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert sorted(file.name for file in pantry.iterdir()) == ["pantry.tools.json", "pantry.yaml", "pantry_at_home.yaml"]
