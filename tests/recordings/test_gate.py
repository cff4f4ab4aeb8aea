"""The gate of `compile` and `learn`: which functions of a program are dropped, and which are not."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.notebook_program import PROGRAM, write_specs

from mcp_sim.cli import main
from mcp_sim.spec.sessions import session_lines

COMPILED = Path(__file__).parent / "compiled"
REPLY = (COMPILED / "pantry.reply.md").read_text(encoding="utf-8")


@pytest.fixture
def pantry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tool spec and a scenario, where the command is run."""
    for name in ("pantry.tools.json", "pantry.yaml", "pantry_at_home.yaml"):
        shutil.copy(COMPILED / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(capfd: pytest.CaptureFixture[str], reply: str, *words: str) -> dict[str, Any]:
    """Return the report of a command about a reply."""
    Path("reply.md").write_text(reply, encoding="utf-8")
    main([*words, "--reply", "reply.md", "--json"])
    return json.loads(capfd.readouterr().out)


def dropped(found: dict[str, Any]) -> list[str]:
    return [tool for tool, one in found["tools"].items() if not one["kept"]]


CONTRADICTIONS = {
    "another id": ("add_item", "({item['id']}).", "(item-{len(world.item) + 40})."),
    "an incomplete list": ("list_items", "items = list(world.item) if", "items = list(world.item)[:-1] if"),
    "nothing deleted": ("remove_item", '    world.item.delete(item)\n    return f"Removed', '    return f"Removed'),
    "nothing created": ("add_item", "world.item.add(name=name, quantity=quantity, shelf=shelf)", "{'id': 'item-99'}"),
    "another record": ("get_item", "dict(known(world, item_id))", "known(world, item_id) and dict([*world.item][0])"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_function_that_contradicts_the_records_is_dropped_and_no_other(
    name: str, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tool, before, after = CONTRADICTIONS[name]
    assert before in REPLY
    found = judged(capfd, REPLY.replace(before, after), "compile", "pantry_at_home.yaml")
    assert dropped(found) == [tool]
    why = found["tools"][tool]["why"][0]
    assert all(part in why for part in ("program.py:", f"{tool}({{", "answered", "expected"))


def test_a_tool_that_writes_by_ways_that_its_text_does_not_show_need_not_show_records(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A function that calls itself returns the rows, so that the tool's function counts as reading."""
    family = """def family(world, row):
    rows = [row]
    for child in world.item.find(shelf=row["id"]):
        rows += family(world, child)
    return rows


@tool
def get_item"""
    writing = """    for item in family(world, known(world, item_id)):
        item["shelf"] = "away"
    return {"id": "", "name": "", "quantity": 1, "shelf": ""}
"""
    reading = REPLY.replace("@tool\ndef get_item", family).replace("    return dict(known(world, item_id))\n", writing)
    found = judged(capfd, reading, "compile", "pantry_at_home.yaml")
    assert dropped(found) == []
    assert "get_item" in found["complaints"]


def test_a_link_to_nothing_that_no_answer_contradicts_is_advice(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = REPLY.replace('"fields": {', '"links": {"shelf": "item", "parent": "item"}, "fields": {"parent": "", ', 1)
    assert reply != REPLY
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert dropped(found) == []


@pytest.mark.parametrize(
    ("reading", "complaint"),
    [
        ('records(given, "drawers")', "leaves all tables empty, though the given state is"),
        ('[given["shelves"]]', "a state with no 'shelves'"),
    ],
)
def test_an_author_hears_that_first_records_are_missed_in_this_state_or_another(
    reading: str, complaint: str, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = REPLY.replace('records(given, "shelves")', reading)
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert "@initial" in found["complaints"]
    assert complaint in found["complaints"]


def test_an_import_that_is_not_allowed_costs_the_functions_that_use_it_and_coroutines_are_functions(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = REPLY.replace("from mcp_sim.programs", "import logging, math; LEAST = math.floor(1)\nfrom mcp_sim.programs")
    reply = reply.replace("def add_item", "async def add_item").replace(
        "def get_item(world, item_id):", 'async def get_item(world, item_id):\n    logging.info("get")'
    )
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert dropped(found) == ["get_item"]
    assert "uses logging, which it cannot import" in found["tools"]["get_item"]["why"][0]
    assert "imports logging, which programs may not" in found["complaints"]
    assert "async" not in Path("pantry.py").read_text()
    assert "import math; LEAST" in Path("pantry.py").read_text()


def test_a_function_that_waits_in_a_loop_costs_its_tool_alone(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    waiting = "async def get_item(world, item_id):\n    async for row in world.item:\n        return row"
    reply = REPLY.replace("def get_item(world, item_id):", waiting)
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert dropped(found) == ["get_item"]
    assert "programs wait for nothing" in found["tools"]["get_item"]["why"][0]


def test_a_helper_that_is_not_allowed_costs_the_functions_that_use_it_alone(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    helpers = """

class Reader:
    def field(self, row, name):
        return getattr(row, name)


def shelf_of(item):
    return Reader().field(item, "shelf")


def table_of(world, name):
    return getattr(world, name)


SHELVES = [shelf_of for shelf_of in ("A1", "B2")]


def known("""
    reply = (
        REPLY.replace("\ndef known(", helpers, 1)
        .replace("world.item.get(", "table_of(world, 'item').get(")
        .replace("dict(known(world, item_id))", "shelf_of({})")
    )
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert dropped(found) == ["get_item"]
    assert "uses getattr" in found["tools"]["get_item"]["why"][0]
    assert "def shelf_of" not in Path("pantry.py").read_text()
    assert "SHELVES" in Path("pantry.py").read_text()
    assert "return world[name]" in Path("pantry.py").read_text()


def test_calls_that_can_only_fail_are_said_though_no_trial_reaches_them(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = """
    if quantity == 123456:
        known(world)
        known(world, name, item_id=name)
        known(world, item=name)
        known(*[world, name, name])
"""
    head = re.search(r"def add_item\(.*\):\n", REPLY)
    assert head is not None
    found = judged(capfd, REPLY.replace(head[0], head[0] + wrong), "compile", "pantry_at_home.yaml")
    assert dropped(found) == []
    said = re.findall(r"calls known\(\) (.*)", found["complaints"])
    assert said == ["without 'item_id'", "with two values for 'item_id'", "with 'item', which it does not take",
                    "without 'item_id'"]  # fmt: skip


def test_the_part_of_tables_that_is_no_literal_is_named(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reply = REPLY.replace("tables = {", 'NAME = "item"\ntables = {NAME: {}, ', 1)
    assert "write the value of NAME" in judged(capfd, reply, "compile", "pantry_at_home.yaml")["complaints"]


def test_tools_are_checked_without_the_one_that_creates_their_records(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = REPLY.replace('    return f"Put {quantity}', '    return item["parts"] or f"Put {quantity}')
    found = judged(capfd, broken, "compile", "pantry_at_home.yaml")
    assert dropped(found) == ["add_item"]
    assert found["tools"]["remove_item"]["checks"] == ["answers", "deletes", "unknown ids"]


def test_a_tool_that_refuses_every_call_is_kept_and_reported(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    strict = REPLY.replace("    return dict(known(world, item_id))\n", '    raise Refused("Log in first.")\n')
    found = judged(capfd, strict, "compile", "pantry.yaml")
    assert dropped(found) == []
    assert "no call succeeded" in found["tools"]["get_item"]["checks"]
    assert "Log in first." in found["complaints"]


def test_a_function_for_an_unknown_tool_is_left_out(pantry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reply = REPLY.replace(
        "@tool\ndef remove_item", '@tool("lend_item")\ndef lend(world):\n    return 1\n\n\n@tool\ndef remove_item'
    )
    found = judged(capfd, reply, "compile", "pantry.yaml")
    assert (found["kept"], dropped(found)) == (5, [])
    assert "answers 'lend_item', which the server does not have" in found["complaints"]
    assert "lend" not in Path("pantry.py").read_text()


def test_ids_that_collide_with_given_ones_are_a_defect_and_no_reason_to_drop_a_function(
    pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counted = REPLY.replace("world.item.add(name=", 'world.item.add(id=f"item-{len(world.item) + 1}", name=')
    assert counted != REPLY
    found = judged(capfd, counted, "compile", "pantry.yaml")
    assert dropped(found) == []
    assert "already exists" in found["complaints"]
    assert "expected the next free id; leave it to add()" in found["complaints"]
    assert "ids" in judged(capfd, REPLY, "compile", "pantry.yaml")["tools"]["add_item"]["checks"]


HOOKS = """

@unknown_tool
def nothing(world, tool, arguments):
    raise Refused(f"No tool {tool}")


@invalid_arguments
def wrong(world, tool, arguments, problems):
    raise Refused(f"{tool}: {problems[0]}")


@resource("pantry://items/{item_id}")
def show(world, item_id):
    item = world.item.get(item_id)
    return item and item["name"]
```"""
BROKEN_HOOKS = {
    "@unknown_tool": ('f"No tool {tool}"', 'arguments["name"]'),
    "@invalid_arguments": ("problems[0]", "problems[9]"),
    "@resource(pantry://items/{item_id})": ('item["name"]', 'item["label"]'),
}


@pytest.mark.parametrize("is_broken", [False, True])
def test_hooks_and_resources_are_tried_and_those_that_crash_are_taken_out(
    is_broken: bool, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = REPLY.replace("import ", "import invalid_arguments, resource, unknown_tool, ", 1).replace("\n```", HOOKS)
    for right, wrong in BROKEN_HOOKS.values() if is_broken else ():
        reply = reply.replace(right, wrong)
    found = judged(capfd, reply, "compile", "pantry_at_home.yaml")
    assert dropped(found) == []
    assert {name: one["kept"] for name, one in found["hooks"].items()} == dict.fromkeys(BROKEN_HOOKS, not is_broken)
    assert [f"## {name}" in found["complaints"] for name in BROKEN_HOOKS] == [is_broken] * 3
    assert ("@resource(" in Path("pantry.py").read_text()) != is_broken


MEMO = """```python
from mcp_sim.programs import resource, tool

tables = {"insight": {"ids": 1, "fields": {"text": ""}}}


@tool(verb="create", entity="insight")
def append_insight(world, insight):
    world.insight.add(text=insight)
    return "Insight added to memo"


@resource("memo://insights")
def memo(world):
    return "\\n".join(row["text"] for row in world.insight)
```"""


@pytest.mark.parametrize("is_forgetful", [False, True])
def test_a_tool_writes_what_only_a_resource_shows(
    is_forgetful: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"insight": {"type": "string"}}, "required": ["insight"]}
    Path("memo.json").write_text(json.dumps({"tools": [{"name": "append_insight", "inputSchema": schema}]}))
    reply = MEMO.replace("    world.insight.add(text=insight)\n", "") if is_forgetful else MEMO
    found = judged(capfd, reply, "compile", "memo.json")
    assert dropped(found) == (["append_insight"] if is_forgetful else [])


CONFIGURATIONS = """```python
from mcp_sim.programs import Refused, tool

tables = {"server": {"key": "name", "natural": True, "fields": {"name": "", "config": {}, "tags": []}}}


@tool
def add_server(world, name, config):
    world.server.add(name=name, config=config)
    return f"Added {name}"


@tool
def get_server(world, name):
    server = world.server.get(name)
    if server is None:
        raise Refused(f"No server {name}")
    return server["config"]
```"""


@pytest.mark.parametrize(("shown", "is_dropped"), [('server["config"]', False), ("[]", True)])
def test_a_read_may_show_one_field_of_a_record(
    shown: str, is_dropped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fields = {"add_server": ["name", "config"], "get_server": ["name"]}
    types = {"name": {"type": "string"}, "config": {"type": "object"}}
    schemas = {
        tool: {"type": "object", "properties": {name: types[name] for name in names}, "required": names}
        for tool, names in fields.items()
    }
    tools = [{"name": tool, "inputSchema": schema} for tool, schema in schemas.items()]
    Path("servers.json").write_text(json.dumps({"tools": tools}))
    reply = CONFIGURATIONS.replace('server["config"]', shown)
    assert dropped(judged(capfd, reply, "compile", "servers.json")) == (["get_server"] if is_dropped else [])


COUNTER = """```python
from mcp_sim.programs import tool

tables = {"count": {"singleton": True, "fields": {"n": 0}}}


@tool(conforms=False)
def count(world):
    world.count["n"] += 1
    return {"n": str(world.count["n"])}
```"""


def test_recordings_outrank_an_output_schema_and_some_sessions_only_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tools = [{"name": "count", "inputSchema": {"type": "object"}, "outputSchema": output}]
    Path("recorded").mkdir()
    Path("recorded/tools.json").write_text(json.dumps({"tools": tools}))
    for name in "abcdef":
        values = [{"n": "1"}, {"n": "2"}]
        results = [
            {
                "structuredContent": value,
                "content": [{"type": "text", "text": json.dumps(value, separators=(",", ":"))}],
            }
            for value in values
        ]
        calls = [{"tool": "count", "arguments": {}, "result": result} for result in results]
        lines = session_lines({"server": "counter", "session": name}, calls)
        Path(f"recorded/{name}.jsonl").write_text("\n".join(lines))
    assert main(["learn", "recorded", "--show-prompt"]) == 0
    assert "@tool(conforms=False)`." in capfd.readouterr().out
    found = judged(capfd, COUNTER, "learn", "recorded")
    assert [len(found["sessions"][part]) for part in ("shown", "held_back", "scored")] == [4, 1, 1]
    assert (dropped(found), found["scored"]["program"]) == ([], 1.0)
    assert main(["measure", "counter.yaml", "recorded", "--trust", ".", "--no-cold", "--at-least", "1"]) == 0


TASK = """\
steps:
  - call: create_note
    arguments: {title: Milk, text: two litres}
    check: {call: list_notes, shows: [Milk]}
goal:
  - {tool: list_notes, where: {title: Milk}, count: 1}
"""
PING = """

@tool
def ping(world):
    return "pong"
"""


@pytest.mark.parametrize(("refused", "kept"), [("Tar", 5), ("Milk", 1)])
def test_tools_with_which_agents_rank_worse_than_with_plans_are_dropped_and_no_others(
    refused: str, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    titles = {"title": {"type": "string"}, "text": {"type": "string"}}
    schemas: dict[str, Any] = {
        "create_note": {"properties": titles, "required": ["title"]},
        "get_note": {"properties": {"note_id": {"type": "string"}}, "required": ["note_id"]},
        "delete_note": {"properties": {"note_id": {"type": "string"}}, "required": ["note_id"]},
        "list_notes": {},
        "ping": {},
    }
    tools = [{"name": name, "inputSchema": {"type": "object", **schema}} for name, schema in schemas.items()]
    Path("tools.json").write_text(json.dumps({"tools": tools}))
    Path("task.yaml").write_text(TASK)
    write_specs(tmp_path, real=PROGRAM + PING)
    head = 'def create_note(world, title, text=""):'
    refusal = f'{head}\n    if title == "{refused}":\n        raise Refused("No")'
    reply = (PROGRAM + PING).replace(head, refusal)
    found = judged(
        capfd, reply, "compile", "tools.json", "-o", "out.py", "--against", "real.yaml", "--task", "task.yaml",
        "--trust", ".",
    )  # fmt: skip
    (validity,) = found["validity"]
    assert (found["kept"], found["tools"]["ping"]["kept"]) == (kept, True)
    assert validity["program"]["rho"] >= validity["plans"]["rho"] - 0.1
    why = found["tools"]["create_note"]["why"]
    assert ("create_note fails, but succeeds on the other side" in str(why)) == (kept == 1)


def test_recorded_sessions_that_give_samples_also_judge_behaviour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without them, a function that refuses every call is kept: it may be right."""
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    tools = [{"name": name, "inputSchema": schema} for name in ("greet", "say")]
    Path("tools.json").write_text(json.dumps({"tools": tools}))
    answer = {"content": [{"type": "text", "text": "Good morning, Ada"}]}
    calls = [{"tool": tool["name"], "arguments": {"name": "Ada"}, "result": answer} for tool in tools]
    Path("a.jsonl").write_text("\n".join(session_lines({"server": "tools", "session": "a"}, calls)))
    reply = """from mcp_sim.programs import Refused, tool

tables = {}

@tool
def greet(world, name):
    return f"Good morning, {name}"

@tool
def say(world, name):
    raise Refused("Not now")
"""
    for options, expected in ([], []), (["--samples-from", "a.jsonl"], ["say"]):
        found = judged(capfd, reply, "compile", "tools.json", "-o", "out.py", *options)
        assert dropped(found) == expected


@pytest.mark.parametrize(("head", "kept"), [("", 5), ("import os\n", 0)])
def test_a_program_of_several_files_passes_the_gate_with_the_modules_beside_it(
    head: str, kept: int, pantry: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    function = re.search(r"def known\(.*?\n\n\n", REPLY, re.DOTALL)
    code = re.search(r"```python\n(.*?)```", REPLY, re.DOTALL)
    assert function is not None
    assert code is not None
    (pantry / "mine").mkdir()
    (pantry / "mine/lookup.py").write_text(f"{head}from mcp_sim.programs import Refused\n\n\n{function[0]}")
    program = code[1].replace(function[0], "").replace("from mcp", "from lookup import known\nfrom mcp", 1)
    (pantry / "mine/pantry.py").write_text(program)
    main(["compile", "pantry_at_home.yaml", "--reply", "mine/pantry.py", "--json"])
    found = json.loads(capfd.readouterr().out)
    assert found["kept"] == kept
    assert (pantry / "lookup.py").exists() == (kept > 0)
    assert kept or "lookup.py:1: imports os, which programs may not" in str(found["tools"]["get_item"]["why"])
