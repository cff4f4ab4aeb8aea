"""What faults know of a function: its verb, its table, and the argument that names the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.libraries import TEXT, library, simulator, tool

from mcp_sim.simulator.compile import check, load

Json = Any

HEAD = """\
from mcp_sim.programs import Refused, tool

tables = {
    "book": {"key": "isbn", "natural": True, "fields": {"title": "", "tags": [], "copies": 1}},
    "loan": {"ids": "L-1", "links": {"isbn": "book"}, "fields": {"member": "", "returned": False}},
    "settings": {"singleton": True, "fields": {"theme": ""}},
}
"""
TOOLS = [tool("act", isbn=TEXT, loan_id=TEXT, ids={"type": "array", "items": TEXT}, task={"type": "object"})]


def effect(folder: Path, body: str, helpers: str = "", *, head: str = "", option: str = "") -> tuple[Json, ...]:
    """Return verb, entity and key of a tool whose function has this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    function = f"@tool{option}\ndef act(world, isbn=None, loan_id=None, ids=(), task=None):\n{lines}\n"
    program = f"{head}\n{HEAD}\n{helpers}\n\n{function}"
    plan = load(library(folder, program, TOOLS)).domain.plans["act"]
    return plan.verb, plan.entity, plan.key


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return world.book.get(isbn)", ("get", "book", "isbn")),
        ("return world.book.get(isbn.strip())", ("get", "book", "isbn")),
        ("return world.loan.find(id=loan_id)[0]", ("get", "loan", "loan_id")),
        ("return [row for row in world.loan if row['member'] == isbn]", ("list", "loan", None)),
        ("for row in world.loan.search(loan_id):\n    row['returned'] = True", ("update", "loan", None)),
        ("row = world.loan.search(isbn)[0]\nrow['returned'] = True", ("update", "loan", None)),
        ("world.loan.delete(loan_id)", ("delete", "loan", "loan_id")),
        ("world.loan.delete(world.loan.get(loan_id))", ("delete", "loan", "loan_id")),
        ("return world.book.add(isbn=isbn)", ("create", "book", "isbn")),
        ("books = world.book\nbooks.add(title='x')", ("create", "book", None)),
        ("row = world.book.get(isbn)\nrow['title'] = 'x'", ("update", "book", "isbn")),
        ("row = world.book.get(isbn)\nrow.update(title='x')", ("update", "book", "isbn")),
        ("world.book.get(isbn)['tags'].append('x')", ("update", "book", "isbn")),
        ("tags = world.book.get(isbn)['tags']\ntags.sort()", ("update", "book", "isbn")),
        ("del world.book.get(isbn)['title']", ("update", "book", "isbn")),
        ("world.loan.find(id=loan_id)[0]['returned'] = True", ("update", "loan", "loan_id")),
        ("row, = world.loan.find(id=loan_id)\nrow['returned'] = True", ("update", "loan", "loan_id")),
        ("row = next(iter(world.loan.find(id=loan_id)), None)\nrow['returned'] = True", ("update", "loan", "loan_id")),
        ("for row in world.loan.find(member=isbn):\n    row['returned'] = True", ("update", "loan", None)),
        ("rows = world.loan.find(member=isbn)\nrows[0]['returned'] = True\nreturn len(rows)", ("update", "loan", None)),
        ("world.loan.get(loan_id).update(world.loan.get(isbn))", ("update", "loan", "loan_id")),
        ("row = world.loan.get(loan_id) if loan_id else {}\nrow['returned'] = True", ("update", "loan", "loan_id")),
        ("row = world.loan.get(loan_id)\nif isbn:\n    row = {}\nrow['x'] = 1", ("update", "loan", "loan_id")),
        ("(row := world.loan.get(loan_id))['returned'] = True", ("update", "loan", "loan_id")),
        ("world.loan.get(loan_id).setdefault('tags', []).append('x')", ("update", "loan", "loan_id")),
        ("world.loan.get(loan_id).get('tags').append('x')", ("update", "loan", "loan_id")),
        ("for row in world.loan.page(limit=3).rows:\n    row['returned'] = True", ("update", "loan", None)),
        ("for at, row in enumerate(world.loan):\n    row['returned'] = at", ("update", "loan", None)),
        ("for one in world.each(ids):\n    world.loan.get(one)['returned'] = True", ("update", "loan", "ids")),
        ("world.loan.get(task['id'])['member'] = task['member']", ("update", "loan", "task.id")),
        ("row = None\nfor row in world.loan:\n    pass\nrow['returned'] = True", ("update", "loan", None)),
        ("rows, count = world.loan.find(), 0\nrows[0]['returned'] = True", ("update", "loan", None)),
        ("world.settings['theme'] = 'dark'", ("update", "settings", None)),
        ("getattr(world, 'loan').add()", ("create", "loan", None)),
        ("world['loan'].add()", ("create", "loan", None)),
        ("made = [world.loan.add(member=one) for one in ids]\nreturn made", ("create", "loan", None)),
        ("by = {row['isbn']: row for row in world.book}\nby[isbn]['title'] = 'x'", ("update", "book", None)),
    ],
)  # fmt: skip
def test_effects_are_found_whatever_variables_are_called(tmp_path: Path, body: str, expected: Json) -> None:
    assert effect(tmp_path, body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "rows = list(world.loan)\nrows.sort(key=str)\nreturn rows",
        "rows = []\nfor row in world.loan:\n    rows.append(row)\nreturn rows",
        "rows = world.loan.find()\nrows += world.loan.find()\nrows.pop()\nreturn rows",
        "shown = [{**row} for row in world.loan]\nfor one in shown:\n    one['extra'] = 1\nreturn shown",
        "seen = {}\nfor row in world.loan:\n    seen[row['id']] = row\nreturn list(seen.values())",
        "row = {}\nrow['x'] = [loan for loan in world.loan]\nreturn row",
        "loan = {}\nfound = [loan for loan in world.loan]\nloan['n'] = len(found)\nreturn found",
        "todo = [loan_id]\nwhile todo:\n    row = world.loan.get(todo.pop())\n    todo += row['tags']\nreturn [row]",
        "view = world.loan.public(world.loan.get(loan_id))\nview['extra'] = 1\nreturn [view]",
        "view = world.loan.public(world.loan.get(loan_id))\nview['tags'].append('x')\nreturn [view]",
        "words = world.loan.get(loan_id)['member'].split()\nwords.append('x')\nreturn words",
        "view = dict(world.loan.get(loan_id))\nview['extra'] = 1\nreturn view",
        "view = world.loan.get(loan_id).copy()\nview['extra'] = 1\nreturn view",
        "seen = {row['id'] for row in world.loan}\nseen.add(isbn)\nreturn list(seen)",
        "return sorted(world.loan, key=lambda row: row.get('member'))",
    ],
)  # fmt: skip
def test_lists_and_copies_of_a_function_may_change_without_writing(tmp_path: Path, body: str) -> None:
    verb, entity, _ = effect(tmp_path, body)
    assert verb in {"get", "list"}
    assert entity == "loan"


HELPERS = """\
def known(world, table, key=None):
    row = world[table].get(key)
    if row is None:
        raise Refused(f"no {key}")
    return row

def finish(loan, **values):
    loan.update(values)

def first(table, **equals):
    return table.find(**equals)[0]

def twice(world, at):
    return twice(world, at - 1) if at else world.loan.add()

def view(world, row):
    return {**row, "title": world.book.get(row["isbn"])["title"]}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return known(world, 'book', isbn)", ("get", "book", "isbn")),
        ("return known(world, key=loan_id, table='loan')", ("get", "loan", "loan_id")),
        ("finish(known(world, 'loan', loan_id), returned=True)", ("update", "loan", "loan_id")),
        ("finish(loan=known(world, 'loan', key=loan_id))", ("update", "loan", "loan_id")),
        ("known(world, 'book', isbn)\nreturn world.loan.add(isbn=isbn)", ("create", "loan", None)),
        ("first(world.loan, id=loan_id)['returned'] = True", ("update", "loan", None)),
        ("return twice(world, 3)", ("create", "loan", None)),
        ("known(world, 'book', isbn)\nreturn view(world, known(world, 'loan', loan_id))", ("get", "loan", "loan_id")),
        ("def inner():\n    world.loan.delete(loan_id)\ninner()", ("delete", "loan", "loan_id")),
    ],
)  # fmt: skip
def test_effects_of_called_functions_count(tmp_path: Path, body: str, expected: Json) -> None:
    assert effect(tmp_path, body, HELPERS) == expected


def test_what_cannot_be_followed_leaves_the_verb_to_inference(tmp_path: Path) -> None:
    program = (
        "from mcp_sim.programs import tool\n\ntables = {'note': {}}\n\nclass Shop:\n    def __init__(self, world):\n"
    )
    program += (
        "        self.world = world\n\n@tool\ndef create_note(world, title):\n    return Shop(world).run(title)\n"
    )
    tools = [tool("create_note", "title", title=TEXT), tool("list_notes")]
    assert load(library(tmp_path, program, tools)).domain.plans["create_note"].verb == "create"


UNFOLLOWED = """\
class Shelf:
    def __init__(self, world):
        self.world = world

    def change(self, isbn):
        self.world.book.get(isbn)["title"] = "x"


def plain(world, isbn):
    return world.book.get(isbn)
"""


@pytest.mark.parametrize(
    ("decorator", "reads", "body", "warnings"),
    [
        ("@tool", False, "Shelf(world).change(isbn)", ["passes the world to code that is not followed"]),
        ("@tool", False, "return {'plain': plain}['plain'](world, isbn)", ["passes the world to code"]),
        ("@tool", False, "return [len(list(world[name])) for name in tables]", ["passes the world to code"]),
        ("@tool('act', entity='book')", False, "Shelf(world).change(isbn)", ["passes the world to code"]),
        ("@tool(verb='update', entity='book')", False, "Shelf(world).change(isbn)", []),
        ("@tool(reads=True)", True, "Shelf(world).change(isbn)", []),
        ("@tool", True, "return plain(world, isbn)", []),
        ("@tool", False, "world.loan.add(member=isbn)", []),
        ("@tool", True, "world.loan.add(member=isbn)", ["writes loan, but act has readOnlyHint"]),
        ("@tool", True, "plain(world, isbn)['title'] = 'x'", ["writes book, but act has readOnlyHint"]),
        ("@tool", True, "world.loan.delete(isbn)", ["writes loan, but act has readOnlyHint"]),
        ("@tool(verb='create')", True, "world.loan.add(member=isbn)", []),
        (
            "@tool",
            True,
            "Shelf(world).change(isbn)\nworld.loan.add()",
            ["passes the world to code", "writes loan, but"],
        ),
    ],
)
def test_check_warns_of_effects_that_are_unknown_or_not_annotated(
    tmp_path: Path, decorator: str, reads: bool, body: str, warnings: list[str]
) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    program = f"{HEAD}\n{UNFOLLOWED}\n\n{decorator}\ndef act(world, isbn=None):\n{lines}\n"
    tools = [tool("act", isbn=TEXT) | {"annotations": {"readOnlyHint": reads}}]
    problems = [problem for problem in check([library(tmp_path, program, tools)]) if problem.path == "act"]
    assert len(problems) == len(warnings)
    for problem, warning in zip(problems, warnings, strict=True):
        assert problem.severity == "warning"
        assert problem.message.startswith(warning)
        assert program.splitlines()[problem.line - 1].startswith("def act")


@pytest.mark.parametrize(
    ("decorator", "body", "warnings"),
    [
        ("@tool", "return world.loans.find(member=isbn)", ["the world has no table 'loans'; did you mean 'loan'?"]),
        ("@tool", "return [world.bok.get(isbn)]", ["the world has no table 'bok'; did you mean 'book'?"]),
        ("@tool", "world.setings['theme'] = isbn", ["the world has no table 'setings'; did you mean 'settings'?"]),
        ("@tool", "return world.booking.get(isbn)", []),
        (
            "@tool",
            "return [world.random.random(), world.caller, world.invent(), world.imagine(), world.input_schema]",
            [],
        ),
        ("@tool", "world.files.write('/x', isbn)\nreturn world.file.get('/x')", []),
        ("@tool", "return world.receipts.get(isbn)", []),
        ("@tool(key='isb')", "return world.book.get(isbn)", ["key: act has no argument 'isb'; did you mean 'isbn'?"]),
        ("@tool(key='book.id')", "return world.book.get(isbn)", ["key: act has no argument 'book.id'"]),
        ("@tool(key='isbn.id')", "return world.book.get(isbn)", []),
        ("@tool(key='isbn')", "return world.book.get(isbn)", []),
    ],
)
def test_check_warns_of_names_that_resemble_tables_and_of_keys_that_are_no_arguments(
    tmp_path: Path, decorator: str, body: str, warnings: list[str]
) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    program = f"{HEAD}\n{decorator}\ndef act(world, isbn=None):\n{lines}\n"
    problems = check([library(tmp_path, program, [tool("act", isbn=TEXT)])])
    of_program = [problem for problem in problems if problem.file.endswith("library.py")]
    assert len(of_program) == len(warnings)
    for problem, warning in zip(of_program, warnings, strict=True):
        assert problem.severity == "warning"
        assert problem.message.startswith(warning)
        assert problem.line >= program.splitlines().index(decorator) + 2


def test_decorators_correct_what_was_found(tmp_path: Path) -> None:
    body = "return world.book.get(isbn)"
    assert effect(tmp_path, body, option="(verb='search', entity='loan', key='loan_id')") == (
        "search",
        "loan",
        "loan_id",
    )


def test_the_key_is_found_in_all_arguments(tmp_path: Path) -> None:
    function = "@tool\ndef act(world, **arguments):\n    world.loan.delete(arguments['loan_id'])\n"
    plan = load(library(tmp_path, f"{HEAD}\n{function}", TOOLS)).domain.plans["act"]
    assert (plan.verb, plan.entity, plan.key) == ("delete", "loan", "loan_id")


def test_functions_of_one_name_in_two_files_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "shelf.py").write_text("def change(world, key):\n    world.book.delete(key)\n")
    (tmp_path / "desk.py").write_text("def change(world, key):\n    world.loan.get(key)['returned'] = True\n")
    body = "desk.change(world, loan_id)"
    assert effect(tmp_path, body, head="import desk\nimport shelf") == ("update", "loan", "loan_id")


def test_functions_that_call_each_other_in_many_ways_are_scanned_once(tmp_path: Path) -> None:
    calls = "\n\n".join(f"def f{n}(world, a=0):\n    f{n + 1}(world)\n    return f{n + 1}(world)" for n in range(40))
    last = "def f40(world):\n    return f0(world) or world.loan.add()"
    assert effect(tmp_path, "return f0(world)", f"{calls}\n\n{last}") == ("create", "loan", None)


@pytest.mark.parametrize("deep", ["+".join("1" for _ in range(2500)), f"{'-' * 900}1"])
def test_a_statement_that_nests_too_deeply_hides_no_other_one(tmp_path: Path, deep: str) -> None:
    assert effect(tmp_path, f"x = {deep}\nreturn world.loan.add()") == ("create", "loan", None)


@pytest.mark.parametrize(
    ("decorator", "body", "findings"),
    [
        ("@tool(reads=True)", "world.loan.add(member=isbn)", ["writes loan, but counts as reading"]),
        ("@tool", "held = [world.loan.add(member=isbn)]\nheld[0]['returned'] = True", []),
        ("@tool", "rows = {}\nrows['x'] = world.book.get(isbn)\nrows['x']['title'] = 'x'", ["writes book, but counts"]),
        ("@tool(verb='update')", "rows = {}\nrows['x'] = world.book.get(isbn)\nrows['x']['title'] = 'x'", []),
    ],
)
async def test_the_ledger_notes_a_call_that_writes_though_its_tool_counts_as_reading(
    tmp_path: Path, decorator: str, body: str, findings: list[str]
) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    program = f"{HEAD}\n{decorator}\ndef act(world, isbn=None):\n{lines}\n"
    books = {"records": {"book": {"rows": [{"isbn": "1"}]}}}
    async with simulator(tmp_path, program, TOOLS, world=books).open() as world:
        await world.call("act", {"isbn": "1"})
        noted = world.ledger.newest["measured"].get("findings", [])
    assert len(noted) == len(findings)
    assert all(note.startswith(finding) for note, finding in zip(noted, findings, strict=True))
