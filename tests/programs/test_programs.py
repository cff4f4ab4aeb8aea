"""Programs: what functions read and write, what the agent gets, and what a failure leaves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import anyio
import pytest
from support.libraries import ACT, ITEMS, TEXT, acted, library, simulator, small, tool
from support.places import ROOT
from support.services import message, value

from mcp_sim import Simulator
from mcp_sim.models.world_models.builtin import MOST_THREADS
from mcp_sim.programs import watchdog
from mcp_sim.programs.watchdog import Overrun, watched
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.errors import Crash, DocumentError
from mcp_sim.world.state import Overlay

Json = Any


# state ----------------------------------------------------------------------------------------------------------------


async def test_a_library_lends_books_and_words_its_own_answers(tmp_path: Path) -> None:
    async with simulator(tmp_path).open() as world:
        lent = value(await world.call("borrow_book", {"isbn": "1", "member": "Ada"}))
        assert lent == {"id": "L-0001", "isbn": "1", "member": "Ada", "returned": False}
        assert message(await world.call("borrow_book", {"isbn": "1", "member": "Bo"})) == "All copies of Dune are lent"
        back = value(await world.call("return_book", {"loan_id": "L-0001", "note": "torn"}))
        assert back == "Dune is back. Ada has 0 more to return."
        assert message(await world.call("return_book", {"loan_id": "L-0001"})) == "No open loan L-0001"
        assert world.view.get("loan", "L-0001") == {**lent, "returned": True, "note": "torn"}


async def test_writes_are_seen_by_the_same_call_and_ids_are_never_used_twice(tmp_path: Path) -> None:
    body = """\
one = world.item.add(name="x")
one["name"] = "y"
assert world.item.find(name="y") == [one] and not world.item.find(name="x")
assert [row["id"] for row in world.item.search("Y")] == [one["id"]]
world.item.delete(one)
assert world.item.get(one["id"]) is None and one not in [*world.item]
return world.item.add(name="z")["id"]"""
    assert await acted(tmp_path, body, {}, {}) == "I-4"


async def test_a_call_adds_many_records_with_random_ids(tmp_path: Path) -> None:
    tables = '"item": {"ids": "it_4fR7xK2pQ9", "fields": {"name": ""}}'
    body = "for at in range(200):\n    world.item.add()\nreturn sorted({len(row['id']) for row in world.item})"
    async with simulator(tmp_path, small(body, tables=tables), ACT).open() as world:
        assert value(await world.call("act", {})) == [len("it_4fR7xK2pQ9")]
        assert world.view.count("item") == 200


async def test_ids_of_any_form_follow_a_pattern(tmp_path: Path) -> None:
    tables = '"item": {"fields": {"id": {"type": "string", "pattern": "^evt_[A-Za-z]{14}$"}}}'
    body = "return [world.item.add()['id'] for _ in range(50)]"
    made = await acted(tmp_path, body, tables=tables)
    assert len({*made}) == 50
    assert all(re.fullmatch("evt_[A-Za-z]{14}", one) for one in made)


async def test_a_record_is_the_same_row_throughout_a_call(tmp_path: Path) -> None:
    body = """\
one = world.item.add(name="x", tags=["a"])
assert world.item.get(one["id"]) is one and list(world.item)[0] is one
world.item.get(one["id"])["size"] += 4
return one["size"]"""
    assert await acted(tmp_path, body) == 5


async def test_changes_of_nested_values_are_written_and_shared_records_stay_as_they_are(tmp_path: Path) -> None:
    rows = {"item": {"rows": [{"id": "I-1", "name": "x", "tags": ["a"]}]}}
    body = """\
row = world.item.get("I-1")
spread = {**row}
spread["tags"].append("b")
if a:
    row["tags"].append(a)
return row"""
    sim = simulator(tmp_path, small(body, tables=ITEMS), ACT, world={"records": rows})
    async with sim, sim.open("one") as one, sim.open("two") as two:
        assert value(await one.call("act", {"a": "c"}))["tags"] == ["a", "b", "c"]
        assert value(await two.call("act", {}))["tags"] == ["a", "b"]
        assert sim.base().get("item", "I-1") == {**rows["item"]["rows"][0], "size": 1}


async def test_reading_a_record_writes_nothing(tmp_path: Path) -> None:
    rows = {"item": {"rows": [{"id": "I-1", "name": "x", "tags": ["a"]}]}}
    body = 'import json\nreturn [json.dumps(world.item.get("I-1")), dict(world.item.get("I-1")), *world.item.find()]'
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT, world={"records": rows}).open() as world:
        shown = value(await world.call("act", {}))
        assert shown[0] == '{"id": "I-1", "name": "x", "tags": ["a"], "size": 1}'
        assert shown[1] == shown[2] == {"id": "I-1", "name": "x", "tags": ["a"], "size": 1}
        assert world.ledger.newest["step"]["committed"] == []


async def test_assigning_the_key_renames_a_record(tmp_path: Path) -> None:
    body = """\
if not a:
    world.item.add(id="b", name="x")
    row = world.item.add(id="a", name="y")
    row["id"] = "c"
    return [world.item.get("a"), world.item.get("c") is row]
world.item.get("c")["id"] = "b\""""
    tables = '"item": {"natural": True, "fields": {"name": ""}}'
    assert await acted(tmp_path, body, {}, tables=tables) == [None, True]
    async with simulator(tmp_path, small(body, tables=tables), ACT).open() as world:
        await world.call("act", {})
        assert message(await world.call("act", {"a": 1})) == "Item 'b' already exists"
        assert {key for key, _ in world.view.rows("item")} == {"b", "c"}


async def test_a_singleton_is_its_record(tmp_path: Path) -> None:
    tables = '"settings": {"singleton": True, "fields": {"theme": "dark", "volume": 3}}'
    body = 'world.settings["volume"] += 1\nreturn world.settings'
    assert await acted(tmp_path, body, {}, {}, tables=tables) == {"theme": "dark", "volume": 5}


async def test_pages_have_totals_cursors_and_an_order(tmp_path: Path) -> None:
    body = """\
for size in (3, 1, 2, None):
    world.item.add(size=size)
first = world.item.page(limit=3, sort="size", descending=True)
last = world.item.page(limit=3, sort="size", descending=True, cursor=first.cursor)
return [[row["size"] for row in first.rows], first.total, first.more, [row["size"] for row in last.rows], last.more]"""
    assert await acted(tmp_path, body) == [[3, 2, 1], 4, True, [None], False]


async def test_a_program_fills_the_world_from_the_given_state(tmp_path: Path) -> None:
    head = "@initial\ndef begin(given, world):\n    for name in given['names']:\n        world.item.add(name=name)"
    body = 'return [row["name"] for row in world.item]'
    assert await acted(tmp_path, body, head=head, world={"state": {"names": ["x", "y"]}}) == ["x", "y"]


async def test_a_program_that_fills_its_tables_alone_says_what_the_given_state_means(tmp_path: Path) -> None:
    head = "@initial\ndef begin(given, world):\n    for row in given['items']:\n        world.item.add(row)"
    tools = [*ACT, tool("get_item", "id", id=TEXT), tool("list_items")]
    world_part = {"state": {"items": [{"id": "I-7", "name": "x"}]}}
    program = small("return len(world.item)", head=head, tables=ITEMS)
    async with simulator(tmp_path, program, tools, world=world_part).open() as world:
        assert value(await world.call("act", {})) == 1
        assert value(await world.call("get_item", {"id": "I-7"}))["name"] == "x"


async def test_a_given_state_that_a_program_takes_becomes_no_records_by_itself(tmp_path: Path) -> None:
    head = (
        "@initial\ndef begin(given, world):\n    for one in given['things']:\n        world.item.add(name=one['name'])"
    )
    state = {"things": [{"id": "t1", "name": "x"}, {"id": "t2", "name": "y"}], "act": {"a1": {"name": "z"}}}
    program = small("return [row['name'] for row in world.item]", tables=ITEMS, head=head)
    tools = [*ACT, tool("list_things"), tool("get_thing", "thing_id", thing_id=TEXT)]
    sim = simulator(tmp_path, program, tools, world={"state": state})
    assert not [problem for problem in sim.scenario.warnings if "state" in str(problem)]
    async with sim.open() as world:
        assert value(await world.call("act", {})) == ["x", "y"]
        assert world.view.count("item") == 2
        assert all(not given.rows for given in sim.scenario.records.values())


async def test_programs_work_on_the_files_of_the_given_state(tmp_path: Path) -> None:
    head = "@initial\ndef begin(given, world):\n    world.files.load(given)"
    body = """\
if a:
    world.files.write("/desk/list.md", a)
return {entry.path: entry.text for entry in world.files.walk("/desk")}"""
    sim = simulator(tmp_path, small(body, head=head), ACT, world=DESK)
    assert not [problem for problem in sim.scenario.warnings if "state" in str(problem)]
    async with sim.open() as world:
        await world.call("act", {"a": "milk"})
        shown = value(await world.call("act", {}))
        assert shown == {"/desk/list.md": "milk", "/desk/plan.md": "# Plan", "/desk/sketch.md": "# Sketch"}
        assert world.view.find("file", "folder", "/desk")
        assert world.view.count("file") == 3


FILE_TOOLS = [
    tool("read_file", "path", path=TEXT),
    tool("write_file", "path content", path=TEXT, content=TEXT),
    tool("list_directory", "path", path=TEXT),
    tool("delete_file", "path", path=TEXT),
]
DESK = {"state": {"files": {"/desk/plan.md": "# Plan", "/desk/sketch.md": "# Sketch"}}}


async def test_tools_without_a_function_work_on_the_tables_that_a_program_has_instead_of_files(tmp_path: Path) -> None:
    tables = '"document": {"key": "path", "natural": True, "fields": {"path": "", "content": ""}}'
    body = "return world.document.add(path=path, content=content)['path']"
    program = small(body, tables=tables).replace(
        "@tool\ndef act(world, a=None, b=None)", '@tool("write_file")\ndef act(world, path, content)'
    )
    sim = simulator(tmp_path, program, FILE_TOOLS)
    assert sim.scenario.domain.plans["delete_file"].backend == "records"


async def test_a_raised_fail_is_a_refusal_and_a_library_error_that_nothing_words_is_one_too(tmp_path: Path) -> None:
    body = """\
world.item.add(name="x")
try:
    world.files.read("/none")
except NotFound as error:
    if a:
        raise fail(f"no: {error.path}")
    raise"""
    head = "from mcp_sim.libraries.files import NotFound"
    async with simulator(tmp_path, small(body, tables=ITEMS, head=head), ACT).open() as world:
        assert message(await world.call("act", {"a": 1})) == "no: /none"
        assert message(await world.call("act", {})) == "No such file or directory: /none"
        assert world.view.count("item") == 0


async def test_a_method_that_tables_do_not_have_is_named_with_those_that_they_have(tmp_path: Path) -> None:
    async with simulator(tmp_path, small("return world.item.all()", tables=ITEMS), ACT).open() as world:
        with pytest.raises(
            Crash, match=r"tables have no 'all': use get or \[key\], find, .* or iterate over world\.item"
        ):
            await world.call("act", {})


async def test_inventions_are_valid_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    body = 'return [world.invent({"type": "integer", "minimum": 3, "maximum": 5}, "size"), world.random.random()]'
    first, again = [await acted(tmp_path, body, seed=4) for _ in range(2)]
    assert first == again
    assert first[0] in {3, 4, 5}
    assert await acted(tmp_path, body, seed=5) != first


# results --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "served"),
    [
        ('return "done"', ToolResult("done", "text")),
        ("return {'a': (1, 2)}", ToolResult({"a": [1, 2]}, "json")),
        ("return None", ToolResult([], "blocks")),
        ("raise Refused('no')", ToolResult("no", "text", is_error=True)),
        ("raise Refused({'code': 7})", ToolResult({"code": 7}, "json", is_error=True)),
        ("return fail('no')", ToolResult("no", "text", is_error=True)),
        ("return Result(text='two', structured={'n': 2})", ToolResult({"n": 2}, "structured", text="two")),
        (
            "return Result(blocks=[{'type': 'text', 'text': 'x'}])",
            ToolResult([{"type": "text", "text": "x"}], "blocks"),
        ),
        ("raise Rpc(-32050, 'busy', {'wait': 3})", RpcError(-32050, "busy", {"wait": 3})),
    ],
)
async def test_what_a_function_returns_or_raises_reaches_the_agent(tmp_path: Path, body: str, served: Json) -> None:
    async with simulator(tmp_path, small(body), ACT).open() as world:
        assert (await world.call("act", {})).body == served


async def test_values_are_structured_where_the_tool_has_an_output_schema(tmp_path: Path) -> None:
    wrapped = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
    async with simulator(tmp_path, small("return 'done'"), [tool("act", output=wrapped)]).open() as world:
        assert (await world.call("act", {})).body == ToolResult({"result": "done"})
    async with simulator(tmp_path, small("return {'result': 3}"), [tool("act", output=wrapped)]).open() as world:
        with pytest.raises(Crash, match="result"):
            await world.call("act", {})


@pytest.mark.parametrize(("ending", "count"), [("raise Refused('no')", 0), ("return fail('no')", 1), ("return 1", 1)])
async def test_only_refusals_undo_what_was_written(tmp_path: Path, ending: str, count: int) -> None:
    async with simulator(tmp_path, small(f"world.item.add()\n{ending}", tables=ITEMS), ACT).open() as world:
        await world.call("act", {})
        assert world.view.count("item") == count


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("world.item.add()\nreturn 1 / 0", "library.py:11 in act: ZeroDivisionError: division by zero"),
        ("return helper()", "library.py:6 in helper: KeyError: 'x'"),
        ("return {1, 2}", "library.py: TypeError: the value is a set, which JSON cannot express"),
        ("return {'a': [float('nan')]}", "a[0] is nan, which JSON cannot express"),
        ("return world.things", "the world has no table or library 'things'"),
    ],
)
async def test_a_bug_is_a_crash_with_its_line_and_changes_nothing(tmp_path: Path, body: str, why: str) -> None:
    head = "def helper():\n    return {}['x']"
    async with simulator(tmp_path, small(body, tables=ITEMS, head=head), ACT).open() as world:
        with pytest.raises(Crash) as crash:
            await world.call("act", {})
        assert why in str(crash.value)
        assert world.view.count("item") == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where it strikes in a finalizer
async def test_a_function_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sim.programs.watchdog.LIMIT", 0.2)
    body = "while True:\n    try:\n        world.item.add()\n    except Exception:\n        pass"
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT).open() as world:
        with pytest.raises(Crash, match="did not end within"):
            await world.call("act", {})
        assert world.view.count("item") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the time of the process counts")
def test_time_in_which_others_have_the_processor_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "LIMIT", 0.2)
    with watched(), ThreadPoolExecutor(1) as pool:
        pool.submit(_compute, 0.6).result()
    with pytest.raises(Overrun), watched():
        _compute(60.0)


def _compute(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
async def test_a_function_that_waits_in_c_is_given_up_and_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in {"LONGEST": 0.1, "GRACE": 0.1}.items():
        monkeypatch.setattr(watchdog, name, seconds)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    body = f"world.item.add()\nopen({str(pipe)!r}).read()"
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT).open() as world:
        try:
            for _ in range(MOST_THREADS + 1):
                with pytest.raises(Crash, match="did not end within"):
                    await world.call("act", {})
        finally:
            pipe.open("w").close()
        assert world.view.count("item") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_a_function_that_takes_ever_more_memory_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_sim.programs.watchdog.MOST_BYTES", 1 << 24)
    body = "texts = []\nwhile True:\n    texts.append('x' * (1 << 20))"
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT).open() as world:
        with pytest.raises(Crash, match="MB of memory"):
            await world.call("act", {})


DOUBLING = """
import resource
from threading import Thread
from time import sleep
from mcp_sim.programs.watchdog import Overgrown, watched

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

def wait():
    while True:
        sleep(0.001)

Thread(target=wait, daemon=True).start()
for _ in range(3):
    try:
        with watched():
            text = "a"
            while True:
                text += text
    except Overgrown:
        text = ""
        print("stopped")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_text_that_doubles_itself_beside_another_thread_stays_below_four_gigabytes() -> None:
    ended = subprocess.run([sys.executable, "-c", DOUBLING], capture_output=True, text=True, timeout=100, check=False)
    assert ended.stdout.split() == ["stopped"] * 3, ended.stderr


STOPPED = """
import sys
from mcp_sim.programs import watchdog

watchdog.LIMIT = 0.1
try:
    with watchdog.watched():
        while True:
            pass
except watchdog.Overrun:
    sys.setprofile(lambda *_: None)
    (lambda: None)()
    print("goes on")
"""


def test_functions_are_called_under_a_profiler_after_one_was_stopped() -> None:
    command = [sys.executable, "-c", STOPPED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("goes on\n", "")


GIVEN_UP = """
import threading
import anyio
from mcp_sim.programs import watchdog
from mcp_sim.types.errors import Crash

watchdog.LONGEST = watchdog.GRACE = 0.05
watchdog.MOST_GIVEN_UP = 1

async def main():
    for _ in range(2):
        try:
            await watchdog.in_thread("act", threading.Event().wait)
        except Crash as crash:
            print(crash.args[0])

anyio.run(main)
"""


def test_functions_that_never_come_back_are_few_and_do_not_keep_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", GIVEN_UP], capture_output=True, text=True, timeout=60, check=False)
    first, second = done.stdout.splitlines()
    assert "did not end within" in first
    assert "1 calls of programs have not ended" in second
    assert (done.returncode, done.stderr) == (0, "")


FORKED = """
import os
import time
from mcp_sim.programs import watchdog

watchdog.LIMIT = 0.1
with watchdog.watched():
    child = os.fork()
    if child == 0:
        try:
            with watchdog.watched():
                while time.thread_time() < 5:
                    pass
        except watchdog.Overrun:
            os._exit(7)
        os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs to fork")
def test_functions_of_a_forked_process_are_stopped_too() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("7\n", "")


async def test_a_program_of_the_user_does_not_keep_the_event_loop_waiting(tmp_path: Path) -> None:
    body = "world.item.add(name=__import__('threading').current_thread().name)"
    async with simulator(tmp_path, small(body, tables=ITEMS), ACT).open() as world:
        assert world.call_at_once("act", {}) is None
        await world.call("act", {})
        assert "mcp-sim call" in str(dict(world.view.rows("item")))


# calls ----------------------------------------------------------------------------------------------------------------


async def test_arguments_are_bound_by_name_and_unknown_ones_are_dropped(tmp_path: Path) -> None:
    program = "from mcp_sim.programs import tool\n@tool('move-it')\ndef move(world, from_, due_date, to='home'):\n"
    program += "    return [from_, due_date, to]\n"
    tools = [tool("move-it", "from", **{"from": TEXT, "due-date": TEXT, "to": TEXT})]
    async with simulator(tmp_path, program, tools).open() as world:
        assert value(await world.call("move-it", {"from": "x", "other": 1})) == ["x", None, "home"]
        assert value(await world.call("move-it", {"from": "x", "due-date": "now", "to": "y"})) == ["x", "now", "y"]


async def test_whole_numbers_with_a_point_are_ints_where_the_schema_says_integer(tmp_path: Path) -> None:
    whole: Json = {"type": "integer"}
    nested: Json = {"type": "object", "properties": {"at": {"type": "array", "items": {"anyOf": [whole, TEXT]}}}}
    program = "from mcp_sim.programs import tool\n@tool\ndef act(world, a, b, c):\n    return repr((a, b, c))\n"
    tools = [tool("act", "a b c", a=whole, b=nested, c={"type": "number"})]
    async with simulator(tmp_path, program, tools).open() as world:
        shown = value(await world.call("act", {"a": 2.0, "b": {"at": [1.0, "x"], "of": 2.0}, "c": 3.0}))
        assert shown == "(2, {'at': [1, 'x'], 'of': 2.0}, 3.0)"


async def test_programs_word_refused_arguments_and_unknown_tools(tmp_path: Path) -> None:
    head = """\
@invalid_arguments
def invalid(world, tool, arguments, problems):
    raise Refused(f"{tool} got {arguments}: {len(problems)} problem")

@unknown_tool
def unknown(world, tool, arguments):
    return fail(f"{tool}? {arguments}")"""
    async with simulator(tmp_path, small("return a", head=head), [tool("act", "a", a=TEXT)]).open() as world:
        assert message(await world.call("act", {"a": 3})) == "act got {'a': 3}: 1 problem"
        assert message(await world.call("fly", {"b": 1})) == "fly? {'b': 1}"


async def test_a_function_may_take_arguments_that_violate_the_schema(tmp_path: Path) -> None:
    program = small("return [a, b]").replace("@tool\n", "@tool(validate=False)\n")
    async with simulator(tmp_path, program, [tool("act", "a", a=TEXT, b=TEXT)]).open() as world:
        assert value(await world.call("act", {"b": 3})) == [None, 3]


async def test_a_program_imports_modules_beside_it_and_two_programs_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "words.py").write_text(f"WORD = {name!r}\n")
        async with simulator(folder, small("return words.WORD", head="import words"), ACT).open() as world:
            assert value(await world.call("act", {})) == name


async def test_functions_import_modules_beside_their_program(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "package").mkdir(parents=True)
        (folder / "words.py").write_text(f"def word():\n    import later\n    return later.WORD + {name!r}\n")
        (folder / "later.py").write_text(f"WORD = {name!r}\n")
        (folder / "package" / "__init__.py").write_text("def inner():\n    from . import part\n    return part.WORD\n")
        (folder / "package" / "part.py").write_text(f"WORD = {name[::-1]!r}\n")
    body = "import words, package, json\nfrom package.part import WORD\nreturn [words.word(), package.inner(), WORD]"
    first, second = [simulator(tmp_path / name, small(body), ACT) for name in ("one", "two")]
    async with first, second, first.open() as one, second.open() as two:
        for name, world in (("one", one), ("two", two), ("one", one)):
            assert value(await world.call("act", {})) == [name * 2, name[::-1], name[::-1]]
    assert not {"words", "later", "package"} & {*sys.modules}


async def test_each_module_beside_a_program_is_run_once(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("from failures import Failed\ndef fall():\n    raise Failed\n")
    (tmp_path / "verbs.py").write_text("import words\nfrom failures import Failed\n")
    (tmp_path / "failures.py").write_text("class Failed(Exception):\n    pass\n")
    head = "import verbs, words\nfrom failures import Failed"
    program = small("try:\n    verbs.words.fall()\nexcept Failed:\n    return verbs.Failed is Failed", head=head)
    async with simulator(tmp_path, program, ACT).open() as world:
        assert value(await world.call("act", {})) is True


async def test_a_program_never_gets_modules_of_others_under_the_names_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {name: ModuleType(name) for name in ("words", "package", "package.part")}
    for name, module in others.items():
        monkeypatch.setitem(sys.modules, name, module)
    (tmp_path / "package").mkdir()
    (tmp_path / "words.py").write_text("from package.part import WORD\n")
    (tmp_path / "package" / "part.py").write_text("WORD = 'mine'\n")
    async with simulator(tmp_path, small("import words\nreturn words.WORD"), ACT).open() as world:
        assert value(await world.call("act", {})) == "mine"
    assert {name: sys.modules[name] for name in others} == others


def test_no_module_of_a_shipped_program_has_the_name_of_a_module_of_python() -> None:
    modules = {path for path in (ROOT / "tool_specs").rglob("*.py") if not path.with_suffix(".yaml").exists()}
    assert modules
    assert not {path.stem for path in modules} & sys.stdlib_module_names


# faults, forks, and the rest of the simulator -------------------------------------------------------------------------


async def test_a_lost_acknowledgement_keeps_the_write(tmp_path: Path) -> None:
    fault: Json = {"lost_ack": {}, "tools": "borrow_book", "when": {"nth": 1}}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        assert not (await world.call("borrow_book", {"isbn": "1", "member": "Ada"})).ok
        assert world.view.count("loan") == 1


async def test_a_repeated_effect_makes_a_second_record(tmp_path: Path) -> None:
    fault: Json = {"duplicate_effect": {}, "tools": "borrow_book"}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        await world.call("borrow_book", {"isbn": "2", "member": "Ada"})
        assert [key for key, _ in world.view.rows("loan")] == ["L-0001", "L-0002"]


async def test_a_stale_read_does_not_show_the_last_write(tmp_path: Path) -> None:
    fault: Json = {"stale_read": {}, "tools": "list_loans"}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        await world.call("borrow_book", {"isbn": "1", "member": "Ada"})
        assert value(await world.call("list_loans", {})) == []


async def test_delayed_writes_show_later(tmp_path: Path) -> None:
    fault: Json = {"delayed_visibility": {"after": "2 calls"}, "tools": "borrow_book"}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        await world.call("borrow_book", {"isbn": "1", "member": "Ada"})
        shown = [len(value(await world.call("list_loans", {}))) for _ in range(4)]
        assert shown[0] == 0
        assert shown[-1] == 1


async def test_another_user_changes_records_of_programs(tmp_path: Path) -> None:
    fault: Json = {"external_change": {"entity": "book", "do": "delete"}, "when": {"nth": 1}}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        for _ in range(3):
            await world.call("list_loans", {})
        assert world.view.count("book") == 1


async def test_a_partial_batch_runs_the_program_again_without_the_lost_items(tmp_path: Path) -> None:
    fault: Json = {"partial_batch": {"items": [2]}, "tools": "borrow_all"}
    async with simulator(tmp_path, perturbations=[fault]).open() as world:
        answer = value(await world.call("borrow_all", {"isbns": ["1", "2", "2"], "member": "Ada"}))
        assert answer == ["L-0001", "L-0002", "L-0003"]
        assert [key for key, _ in world.view.rows("loan")] == ["L-0001", "L-0003"]
        assert value(await world.call("borrow_book", {"isbn": "2", "member": "Bo"}))["id"] == "L-0004"
        assert world.ledger.newest["step"]["index"] == 2


async def test_forks_go_their_own_way(tmp_path: Path) -> None:
    async with simulator(tmp_path).open() as world:
        twin = world.fork()
        await twin.call("borrow_book", {"isbn": "1", "member": "Ada"})
        assert (world.view.count("loan"), twin.view.count("loan")) == (0, 1)


async def test_a_link_to_nothing_is_noted_and_never_a_crash(tmp_path: Path) -> None:
    async with simulator(tmp_path).open() as world:
        await world.call("borrow_book", {"isbn": "1", "member": "Ada"})
        await world.call("remove_book", {"isbn": "1"})
        assert "findings" not in world.ledger.newest["measured"]
    body = 'world.loan.add(isbn="none")\nreturn 1'
    tables = '"book": {}, "loan": {"links": {"isbn": "book"}, "fields": {}}'
    async with simulator(tmp_path, small(body, tables=tables), ACT).open() as world:
        assert (await world.call("act", {})).ok
        (finding,) = world.ledger.newest["measured"]["findings"]
        assert finding.startswith("R5")
    body = 'world.loan.add(isbn="")\nreturn 1'
    async with simulator(tmp_path, small(body, tables=tables), ACT).open() as world:
        assert (await world.call("act", {})).ok
        assert "findings" not in world.ledger.newest["measured"]


TOGGLE = """\
row = world.item.get('I-1')
if row:
    world.item.delete(row)
else:
    world.item.add(id=b or 'I-1', name=a)
"""


async def test_an_id_that_is_used_again_is_noted_and_never_a_crash(tmp_path: Path) -> None:
    async with simulator(tmp_path, small(TOGGLE, tables=ITEMS), ACT).open() as world:
        for name, given, again in (("Rope", None, False), ("", None, False), ("Tent", None, True)):
            await world.call("act", {"a": name, "b": given})
            found = world.ledger.newest["measured"].get("findings", [])
            assert [finding[:2] for finding in found] == ["R4"] * again
        assert world.view.count("item") == 1


async def test_a_record_that_comes_back_is_judged_without_reading_all_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Overlay, "rows")
    async with simulator(tmp_path, small(TOGGLE, tables=ITEMS), ACT).open() as world:
        for name in ("Rope", "", "Rope"):
            assert (await world.call("act", {"a": name, "b": None})).ok


@pytest.mark.parametrize(("name", "given"), [("Rope", None), ("Tent", "I-1")])
async def test_a_record_may_come_back_and_a_caller_may_choose_its_id(
    name: str, given: str | None, tmp_path: Path
) -> None:
    async with simulator(tmp_path, small(TOGGLE, tables=ITEMS), ACT).open() as world:
        for arguments in ({"a": "Rope"}, {}, {"a": name, "b": given}):
            await world.call("act", arguments)
        assert "findings" not in world.ledger.newest["measured"]
        assert world.view.count("item") == 1


async def test_tools_without_a_function_keep_their_plan_on_the_same_tables(tmp_path: Path) -> None:
    program = small("return world.note.add(title=a)", tables='"note": {"ids": "n-1", "fields": {"title": ""}}')
    tools = [*ACT, tool("get_note", "note_id", note_id=TEXT), tool("list_notes"), tool("delete_note", "id", id=TEXT)]
    async with simulator(tmp_path, program, tools).open() as world:
        made = value(await world.call("act", {"a": "Milk"}))
        shown = value(await world.call("get_note", {"note_id": made["id"]}))
        assert {"id": "n-1", "title": "Milk"}.items() <= (shown.get("note") or shown).items()
        assert (await world.call("delete_note", {"id": made["id"]})).ok
        assert world.view.count("note") == 0


NOTES = """\
from mcp_sim.programs import initial, tool, unknown_tool

tables = {"note": {"ids": "NAME-1", "fields": {"text": ""}}}

@initial
def begin(given, world):
    world.note.add(text="NAME begins")

@tool
def add_note(world, text):
    return world.note.add(text=text)

@tool
def list_notes(world):
    return [row["text"] for row in world.note]

@unknown_tool
def unknown(world, tool, arguments):
    return f"NAME has no {tool}"
"""


def two_servers(folder: Path, **world: Json) -> Simulator:
    """Return a simulator of two servers with a program each, whose tables and tools have the same names."""
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(NOTES.replace("NAME", name), encoding="utf-8")
        tools = [tool("add_note", text=TEXT), tool("list_notes")]
        spec = {"mcp_sim": 1, "name": name, "tools": tools, "program": f"{name}.py"}
        (folder / f"{name}.yaml").write_text(json.dumps(spec), encoding="utf-8")
    scenario = {"mcp_sim": 1, "tools": {name: f"{name}.yaml" for name in ("one", "two")}, "world": world}
    (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml", trust=True)


async def test_two_programs_with_namespaces_have_tables_of_their_own(tmp_path: Path) -> None:
    async with two_servers(tmp_path, namespaces=True).open() as world:
        assert value(await world.call("one/add_note", {"text": "x"}))["id"] == "one-2"
        assert value(await world.call("two/add_note", {"text": "y"}))["id"] == "two-2"
        assert value(await world.call("one/list_notes", {})) == ["one begins", "x"]
        assert value(await world.call("two/list_notes", {})) == ["two begins", "y"]
        assert world.view.count("one.note") == 2
        assert value(await world.call("one/fly", {})) == "one has no fly"
        assert value(await world.call("two/fly", {})) == "two has no fly"


async def test_two_programs_without_namespaces_share_tables_of_one_name(tmp_path: Path) -> None:
    async with two_servers(tmp_path).open() as world:
        await world.call("one/add_note", {"text": "x"})
        assert value(await world.call("two/list_notes", {})) == ["one begins", "two begins", "x"]


async def test_an_initial_function_that_fails_is_named_with_its_line_when_a_world_is_opened(tmp_path: Path) -> None:
    head = "@initial\ndef begin(given, world):\n    world.item.add(name=given['names'][0])"
    with pytest.raises(DocumentError) as failure:
        async with simulator(tmp_path, small("return 1", tables=ITEMS, head=head), ACT).open():
            pass
    assert "library.py:6: @initial: fails at library.py:7 in begin: TypeError" in str(failure.value)


def test_an_untrusted_program_is_not_run(tmp_path: Path) -> None:
    path = library(tmp_path, small("return 1", head="raise SystemExit('ran')"), ACT)
    simulator_ = Simulator.load(path)
    assert [problem.path for problem in simulator_.scenario.untrusted] == ["program"]
    with pytest.raises(DocumentError, match=r"mcp-sim trust.* a container"):
        anyio.run(simulator_.start)


# how results are shown ------------------------------------------------------------------------------------------------

WRAPPED: Json = {"type": "object", "properties": {"result": {}}, "required": ["result"]}
OBJECT: Json = {"type": "object", "properties": {"n": {"type": "integer"}}}
SDK: Json = {"title": "actArguments", "type": "object", "properties": {}}
FASTMCP: Json = {**WRAPPED, "x-fastmcp-wrap-result": True}
PLAIN: Json = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("body", "schema", "output", "texts"),
    [
        ("{'n': 1}", SDK, None, ['{\n  "n": 1\n}']),
        ("{'n': 1}", SDK, OBJECT, ['{\n  "n": 1\n}']),
        ("[{'n': 1}, ['a', [2]], None]", SDK, WRAPPED, ['{\n  "n": 1\n}', "a", "2"]),
        ("[[1, 2], [3]]", SDK, None, ["1", "2", "3"]),
        ("Result(structured=['a', 'b'])", SDK, WRAPPED, ["a", "b"]),
        ("Result(structured=['a', 'b'], text='two')", SDK, WRAPPED, ["two"]),
        ("{'result': ['a', 'b']}", SDK, WRAPPED, ["a", "b"]),
        ("[]", SDK, WRAPPED, []),
        ("'done'", SDK, WRAPPED, ["done"]),
        ("[{'n': 1}]", PLAIN, FASTMCP, ['[{"n":1}]']),
        ("5", PLAIN, FASTMCP, ["5"]),
        ("None", PLAIN, FASTMCP, []),
        ("{'n': 1}", PLAIN, OBJECT, ['{"n":1}']),
        ("[1]", PLAIN, WRAPPED, ['{"result":[1]}']),
        ("Result(blocks=[])", PLAIN, None, []),
    ],
)
async def test_values_are_shown_as_the_framework_of_the_server_does(
    tmp_path: Path, body: str, schema: Json, output: Json, texts: list[str]
) -> None:
    tools = [{**tool("act", output=output), "inputSchema": schema}]
    async with simulator(tmp_path, small(f"return {body}"), tools).open() as world:
        body_ = (await world.call("act", {})).body
    assert isinstance(body_, ToolResult)
    assert [block["text"] for block in body_.content] == texts


async def test_an_initial_function_may_fill_the_database_and_a_refused_call_changes_nothing_there(
    tmp_path: Path,
) -> None:
    head = "@initial\ndef begin(given, world):\n    world.sql.run('CREATE TABLE t (a INTEGER)')"
    body = """\
world.sql.run("INSERT INTO t VALUES (1)")
if a:
    raise Refused("not now")
return world.sql.run("SELECT count(*) AS n FROM t").rows"""
    assert await acted(tmp_path, body, {"a": 1}, {}, {"a": 1}, {}, head=head) == [{"n": 2}]


def test_the_first_statement_of_a_world_may_be_what_makes_its_first_records(tmp_path: Path) -> None:
    head = """\
@initial
def begin(given, world):
    world.sql.run(["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (7)"])"""
    sim = simulator(tmp_path, small('return world.sql.run("SELECT a FROM t").rows', head=head), ACT)
    answers = list[Json]()

    async def answer() -> None:
        async with sim:
            answers.append(value(await sim.world().call("act", {})))

    thread = Thread(target=anyio.run, args=[answer], daemon=True)  # a statement that waits for itself ends never
    thread.start()
    thread.join(60)
    assert answers == [[{"a": 7}]]


async def test_a_failure_of_sql_has_the_bare_message_and_rows_have_columns(tmp_path: Path) -> None:
    body = """\
columns = world.sql.run("SELECT * FROM t WHERE a > 5").columns if world.sql.tables else None
world.sql.run(["CREATE TABLE IF NOT EXISTS t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x')"])
try:
    world.sql.run("SELECT * FROM gone")
except SqlError as error:
    return [columns, str(error), error.kind]"""
    head = "from mcp_sim.libraries.sql import SqlError"
    assert await acted(tmp_path, body, {}, {}, head=head) == [["a", "b"], "no such table: gone", "invalid"]
