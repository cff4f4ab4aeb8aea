"""What is read of a program without running it, and what is wrong with it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest
from support.libraries import ACT, library

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check, load
from mcp_sim.types import ToolResult

HEADS = {
    "from mcp_sim.programs import tool": "@tool",
    "from mcp_sim.programs import tool as answer": "@answer('act')",
    "import mcp_sim.programs": "@mcp_sim.programs.tool",
    "import mcp_sim.programs as p": "@p.tool()",
    "from mcp_sim import programs": "@programs.tool",
}


@pytest.mark.parametrize("head", HEADS)
def test_decorators_count_under_the_names_that_a_program_imports_them_by(tmp_path: Path, head: str) -> None:
    path = library(tmp_path, f"{head}\n\n{HEADS[head]}\ndef act(world, a, b):\n    return a\n", ACT)
    assert [*load(path).domain.programs[0].functions] == ["act"]


@pytest.mark.parametrize("head", ["from elsewhere import tool\n\n@tool", "import mcp\n\n@mcp.tool()"])
def test_decorators_of_others_mean_nothing(tmp_path: Path, head: str) -> None:
    path = library(tmp_path, f"{head}\ndef act(world, a, b):\n    return a\n", ACT)
    assert not load(path).domain.programs[0].functions


@pytest.mark.parametrize(
    ("program", "line", "problem"),
    [
        ("@tool\nasync def act(world, a, b):\n    return a\n", 3, "must not be async"),
        ("@tool\ndef act(world):\n    return 1\n\n@tool('fly')\ndef act(world):\n    return 2\n", 7, "the name of"),
        ("@tool\ndef act(world, c):\n    return 1\n", 3, "takes 'c', which act does not have"),
        ("@tool(reads=1 == 1)\ndef act(world):\n    return 1\n", 2, "must be written as True or False"),
        ("@tool(verb='fly')\ndef act(world):\n    return 1\n", 3, "choose from 'compute', 'create'"),
        ("@tool(gesture='clik')\ndef act(world, a):\n    return a\n", 3, "did you mean 'click'?"),
        ("@tool(gesture='fill')\ndef act(world, a):\n    return a\n", 3, "gesture='fill' needs 2 parameters"),
        (
            "SEEN = []\n@tool\ndef act(world, a, b):\n    SEEN.append(a)\n",
            5,
            "changes SEEN of its module, which",
        ),
        ("N = {}\n@tool\ndef act(world):\n    N['a']['b'] += 1\n", 5, "changes N['a']['b'] of its module"),
        ("N = 1\n@tool\ndef act(world):\n    global N\n    N = 2\n", 5, "changes the global variable N"),
        ("IDS = iter('ab')\n@tool\ndef act(world):\n    return next(IDS)\n", 5, "takes the next of IDS"),
        ("@tool\ndef act(world):\n    act.count = 1\n", 4, "changes act.count of its module"),
        ("import json\n@tool\ndef act(world):\n    def inner():\n        json.x = 1\n", 6, "changes json.x"),
        ("tables = {'item': {'links': {'a': 'box'}}}\n", 2, "links to the unknown table 'box'"),
        ("tables = {'changes': {}}\n", 2, "is not a name for a table"),
        (
            "tables = {'item': {'key': 'no', 'fields': {'title': ''}}}\n@tool\ndef act(world, a, b):\n"
            "    world.item.add(no=a, titel=b)\n",
            5,
            "item has no field 'titel'; did you mean 'title'?",
        ),
        (
            "tables = {'item': {'fields': {'title': ''}, 'links': {'of': 'item'}}}\n@tool\ndef act(world, a, b):\n"
            "    return world.item.find(of=a, id=b, closed=True)\n",
            5,
            "item has no field",  # one, since keys and links are known
        ),
        ("tables = dict(item={})\n", 2, "must be a literal mapping"),
        ("tables = {'item': {'fields': {n: '' for n in 'ab'}}}\n", 2, "write the value of {n: '' for n in 'ab'}"),
    ],
)
def test_problems_are_reported_at_their_line(tmp_path: Path, program: str, line: int, problem: str) -> None:
    path = library(tmp_path, f"from mcp_sim.programs import tool\n{program}", ACT)
    found = [one for one in check([path]) if one.file.endswith("library.py")]
    assert [one.line for one in found if problem in one.message] == [line]


INCLUDING = """
import shelf
from mcp_sim.programs import tool
tables = {**shelf.tables, 'loan': {'links': {'book': 'book'}, 'fields': {'book': ''}}}

@tool
def act(world, a, b):
    return a
"""


def test_tables_include_those_of_modules_beside_a_program(tmp_path: Path) -> None:
    path = library(tmp_path, INCLUDING, ACT)
    (tmp_path / "shelf.py").write_text("import room\ntables = {**room.tables, 'book': {'fields': {'title': ''}}}\n")
    (tmp_path / "room.py").write_text("tables = {'room': {}}\n")
    assert {"room", "book", "loan"} <= load(path).domain.entities.keys()


@pytest.mark.time_limit(60)
def test_tables_that_modules_include_twice_are_read_once(tmp_path: Path) -> None:
    path = library(tmp_path, INCLUDING, ACT)
    names = ["shelf", *(f"shelf{number}" for number in range(1, 40))]
    for name, inner in pairwise(names):
        tables = f"{{**{inner}.tables, **{inner}.tables, 'book': {{'fields': {{'title': ''}}}}}}"
        (tmp_path / f"{name}.py").write_text(f"import {inner}\ntables = {tables}\n")
    (tmp_path / f"{names[-1]}.py").write_text("tables = {'room': {}, 'book': {'fields': {'place': ''}}}\n")
    entities = load(path).domain.entities
    assert [*entities] == ["room", "book", "loan"]
    assert [*entities["book"].fields] == ["id", "title"], "the last entry of a table counts"


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ("{'book': {'links': {'a': 'box'}}}", "unknown table 'box'"),
        ("dict(book={})", "write the value of shelf.tables"),
        ("{**shelf.tables}", "write the value of shelf.tables"),
    ],
)
def test_problems_of_included_tables_are_at_the_line_that_includes_them(
    tmp_path: Path, tables: str, problem: str
) -> None:
    path = library(tmp_path, INCLUDING, ACT)
    (tmp_path / "shelf.py").write_text(f"\n\n\nimport shelf\ntables = {tables}\n")
    problems = [(found.line, found.message) for found in check([path]) if found.file.endswith("library.py")]
    assert [line for line, message in problems if problem in message] == [4], problems


def test_what_is_a_function_s_own_is_no_state_of_its_module(tmp_path: Path) -> None:
    program = """from mcp_sim.programs import tool
SEEN = [1]

@tool
def act(world, a, b):
    SEEN = [a]
    SEEN.append(b)
    world.x = [row.update(b=b) for row in SEEN if row]
    def add(SEEN):
        SEEN.append(3)
    return add
"""
    assert not [problem for problem in check([library(tmp_path, program, ACT)]) if "module" in problem.message]


@pytest.mark.parametrize(
    ("table", "place", "problem"),
    [
        ("'key': 3", "key", "must be the name of a field, not 3"),
        ("'ids': ['a']", "ids", "must be an example id, a text or a whole number, not"),
        ("'ids': True", "ids", "must be an example id"),
        ("'fields': ['a']", "fields", "must be a mapping from fields to defaults or JSON Schemas"),
        ("'links': ['box']", "links", "must be a mapping from fields to tables"),
        ("'fields': {'box_id': ''}, 'links': {'box_id': 'bix'}", "links.box_id", "'bix'; did you mean 'box'?"),
        ("'hidden': 'name'", "hidden", "must be a list of fields"),
        ("'fields': {'name': ''}, 'hidden': ['nam']", "hidden", "unknown field 'nam'; did you mean 'name'?"),
        ("'natural': 'yes'", "natural", "must be True or False, not 'yes'"),
        ("'singleton': 1", "singleton", "must be True or False, not 1"),
        ("'fields': {'tags': {'a'}}", "fields.tags", "must be a default in JSON or a JSON Schema, but holds a set"),
        ("'fields': {'a': [b'x']}", "fields.a", "holds a bytes"),
        ("'field': {}", "field", "unknown key; did you mean 'fields'?"),
    ],
)
def test_problems_of_tables_are_reported_at_the_line_of_their_key(
    tmp_path: Path, table: str, place: str, problem: str
) -> None:
    lines = table.replace(", '", ",\n'").replace("{'", "{\n'")
    head = f"tables = {{\n'box': {{}},\n'item': {{\n{lines}}}}}\n"
    path = library(tmp_path, head, ACT)
    found = {one.path: one for one in check([path]) if one.file.endswith("library.py")}
    assert problem in found[f"tables.item.{place}"].message
    named = head.splitlines()[found[f"tables.item.{place}"].line - 1]
    assert named.startswith(f"'{place.rpartition('.')[2]}'")


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("{'type': 'string'}", {"type": "string"}),
        ("{'enum': ['a', 'b'], 'default': 'a'}", {"enum": ["a", "b"], "default": "a"}),
        ("{'type': ['string', 'null']}", {"type": ["string", "null"]}),
        ("{'default': {'items': []}}", {"type": "object", "default": {"items": []}}),
        ("{}", {"type": "object", "default": {}}),
        ("{'title': '', 'size': 1}", {"type": "object", "default": {"title": "", "size": 1}}),
        ("('a', 'b')", {"type": "array", "default": ["a", "b"]}),
    ],
)
def test_a_field_has_a_schema_or_a_default(tmp_path: Path, value: str, schema: object) -> None:
    path = library(tmp_path, f"tables = {{'item': {{'fields': {{'name': {value}}}}}}}\n", ACT)
    assert load(path).domain.entities["item"].fields["name"].schema == schema
    assert not [one for one in check([path]) if one.file.endswith("library.py")]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{'items': []}", "a JSON Schema of a field has a type, an enum, or a default"),
        ("{'type': 'x'}", "as a JSON Schema it is not valid"),
        ("{'type': 'string', 'defualt': ''}", "'defualt' is not a keyword of JSON Schema; did you mean 'default'?"),
        ("{'type': 'string', 'items': []}", "as a JSON Schema it is not valid"),
    ],
)
def test_a_value_that_may_be_either_is_a_default_and_reported(tmp_path: Path, value: str, why: str) -> None:
    path = library(tmp_path, f"tables = {{'item': {{'fields': {{'name': {value}}}}}}}\n", ACT)
    assert load(path).domain.entities["item"].fields["name"].schema["type"] == "object"
    (found,) = [one for one in check([path]) if one.file.endswith("library.py")]
    assert (found.severity, found.line, found.path) == ("warning", 1, "tables.item.fields.name")
    assert f"is taken for a default: {why}" in found.message


HOSTILE = {
    "a number without an end": ("{'item': {'fields': {'size': 0x" + "f" * 20_000 + "}}}", "a number of 80000 bits"),
    "a number as a name": ("{0x" + "f" * 20_000 + ": {}}", "a number of 80000 bits"),
    "infinity": ("{'item': {'fields': {'size': {'type': 'number', 'maximum': -1e999}}}}", "a number that is too large"),
    "half a character": (r"{'item': {'ids': '\ud800-1'}}", "half of a character"),
    "a keyword": ("{'class': {}}", "it must be a Python name, no keyword"),
    "a name of Python": ("{'__class__': {}}", "is not a name for a table"),
    "an attribute of the world": ("{'now': {}}", "is not a name for a table"),
    "hidden lists": ("{'item': {'hidden': [['id'], {}]}}", "unknown field ['id']"),
    "links to lists": ("{'item': {'links': {'a': [1]}}}", "links to the unknown table [1]"),
    "depth": ("{'item': {'fields': {'size': " + "-" * 900 + "1}}}", "must be a literal mapping"),
    "10,000 unknown links": (
        "{" + ", ".join(f"'t{n}': {{'links': {{'a': 'u{n}'}}}}" for n in range(10_000)) + "}",
        "links to the unknown table 'u0'",
    ),
}


@pytest.mark.parametrize(("tables", "problem"), HOSTILE.values(), ids=HOSTILE)
def test_tables_that_are_no_data_are_errors_and_few(tmp_path: Path, tables: str, problem: str) -> None:
    path = library(tmp_path, f"tables = {tables}\n", ACT)
    began = process_time()
    found = [one for one in check([path]) if one.file.endswith("library.py")]
    assert process_time() - began < 20
    assert 0 < len(found) <= 100
    assert problem in found[0].message
    assert {one.severity for one in found} == {"error"}
    "\n".join(map(str, found)).encode()


async def test_a_long_chain_of_linked_tables_and_keys_of_many_digits_need_no_recursion(tmp_path: Path) -> None:
    chain = ", ".join(f"'t{n}': {{'links': {{'a': 't{n + 1}'}}}}" for n in range(1100))
    program = (
        "from mcp_sim.programs import tool\n\n"
        f"tables = {{{chain}, 't1100': {{}}, 'item': {{'ids': 'i-1'}}, 'long': {{'ids': '{'9' * 20_000}'}}}}\n\n"
        "@tool\ndef act(world, a, b):\n"
        "    world.item.add(id='i-' + '9' * 20_000)\n"
        "    return [world.item.add()['id'], len(world.long.add()['id']), world.t0.add()['id']]\n"
    )
    path = library(tmp_path, program, ACT)
    async with Simulator(load(path, trust=True)).open() as world:
        answer = await world.call("act", {"a": "", "b": ""})
    assert isinstance(answer.body, ToolResult)
    assert answer.body.value == ["i-2", 20_000, "t0_00001"]
