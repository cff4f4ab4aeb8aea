"""`recovered` by kinds of effects: what a call would have done without the fault is there exactly once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_sim import Simulator
from mcp_sim.types.grades import GradedVerdict
from mcp_sim.world.trace import step_from_json

Call = tuple[str, dict[str, Any]]

LOST = "{lost_ack: {}, id: fault, when: {nth: 1}}"
DOWN = "{error: 503, id: fault, when: {nth: 1}}"
TWICE_DOWN = "{error: 503, id: fault, when: {nth: [1, 2]}}"

PROGRAM = '''\
"""A shop with orders, stock and a queue."""
from mcp_sim.programs import Refused, tool

tables = {
    "order": {"key": "id", "ids": "O-0001", "fields": {"customer": "", "status": "open", "total": 0, "starred": False,
        "tags": []}},
    "page": {"key": "title", "natural": True, "fields": {"text": "", "revision": 0}},
    "booking": {"key": "id", "ids": "B-0001", "fields": {"account": "", "amount": 0}},
    "line": {"key": "id", "ids": "L-0001", "links": {"order": "order"}, "fields": {"order": "", "sku": "", "n": 1}},
    "item": {"key": "sku", "natural": True, "fields": {"stock": 0, "name": "", "token": ""}},
    "refund": {"key": "id", "ids": "R-0001", "links": {"order": "order"}, "fields": {"order": "", "amount": 0}},
    "job": {"key": "id", "ids": "J-0001", "fields": {"name": "", "worker": ""}},
    "log": {"key": "id", "ids": "1", "fields": {"what": ""}},
}


@tool
def place_order(world, customer, lines, note=""):
    order = world.order.add(customer=customer)
    for line in lines:
        world.line.add(order=order["id"], sku=line["sku"], n=line["n"])
        item = world.item.get(line["sku"])
        item["stock"] -= line["n"]
        order["total"] += 10 * line["n"]
    return order


@tool
def cancel_order(world, order):
    row = world.order.get(order)
    if row is None or row["status"] == "cancelled":
        raise Refused("no open order")
    row["status"] = "cancelled"
    world.refund.add(order=order, amount=row["total"])
    return row


@tool
def set_status(world, order, status):
    world.order.get(order)["status"] = status
    return "done"


@tool
def get_order(world, order):
    row = world.order.get(order)
    if row is None:
        raise Refused("no such order")
    return row


@tool
def list_orders(world):
    return {"orders": [dict(row) for row in world.order]}


@tool
def delete_order(world, order):
    world.order.delete(order)
    return "deleted"


@tool
def toggle_star(world, order):
    row = world.order.get(order)
    row["starred"] = not row["starred"]
    return row


@tool
def adjust_stock(world, sku, delta, reason=""):
    item = world.item.get(sku)
    item["stock"] += delta
    return item


@tool
def set_stock(world, sku, stock):
    world.item.get(sku)["stock"] = stock
    return "done"


@tool
def receive(world, sku, n):
    world.item.get(sku)["stock"] += n
    return "done"


@tool
def put_item(world, sku, name):
    item = world.item.get(sku)
    if item is None:
        item = world.item.add(sku=sku)
    item["name"] = name
    return item


@tool
def rename_item(world, sku, to):
    world.item.get(sku)["sku"] = to
    return "done"


@tool
def remove_item(world, sku):
    if world.item.get(sku) is None:
        raise Refused("no such item")
    world.item.delete(sku)
    return "removed"


@tool
def rotate_token(world, sku):
    world.item.get(sku)["token"] = "tok_%012x" % world.random.getrandbits(48)
    return "rotated"


@tool
def take_job(world, worker):
    for job in world.job:
        if not job["worker"]:
            job["worker"] = worker
            return job
    raise Refused("no job")


@tool
def toggle_tag(world, order, tag):
    row = world.order.get(order)
    row["tags"] = [known for known in row["tags"] if known != tag] if tag in row["tags"] else [*row["tags"], tag]
    return row


@tool
def write_page(world, title, text):
    page = world.page.get(title) or world.page.add(title=title)
    page["text"] = text
    page["revision"] += 1
    return "written"


@tool
def append_page(world, title, text):
    world.page.get(title)["text"] += text
    return "appended"


@tool
def replace_jobs(world, names):
    for job in list(world.job):
        world.job.delete(job["id"])
    for name in names:
        world.job.add(name=name)
    return "replaced"


@tool
def transfer(world, source, target, amount):
    for account, change in ((source, -amount), (target, amount)):
        world.booking.add(account=account, amount=change)
    return "transferred"


@tool
def write_log(world):
    world.log.add(what="ping")
    return "logged"


@tool
def add_lines(world, order, lines):
    for line in world.each(lines):
        world.line.add(order=order, sku=line["sku"], n=line["n"])
    return "added"


@tool
def add_line(world, order, sku, n):
    return world.line.add(order=order, sku=sku, n=n)
'''

RECORDS = """\
    order: {rows: [{id: O-0001, customer: ada, total: 30}, {id: O-0002, customer: eve, total: 5}]}
    item: {rows: [{sku: bell, stock: 0, name: Bell}, {sku: horn, stock: 9, name: Horn}]}
    page: {rows: [{title: Home, text: one, revision: 1}]}
    job: {rows: [{id: J-0001, name: one}, {id: J-0002, name: two}]}
"""


def _schema(**types: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in types.items()}}


LINES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
    },
}
ORDER, SKU = _schema(order="string"), _schema(sku="string")
SHOP: dict[str, dict[str, Any]] = {
    "place_order": {
        "type": "object",
        "properties": {"customer": {"type": "string"}, "note": {"type": "string"}, "lines": LINES},
    },
    "cancel_order": ORDER,
    "set_status": _schema(order="string", status="string"),
    "get_order": ORDER,
    "list_orders": {"type": "object"},
    "delete_order": ORDER,
    "toggle_star": ORDER,
    "adjust_stock": _schema(sku="string", delta="integer", reason="string"),
    "set_stock": _schema(sku="string", stock="integer"),
    "receive": _schema(sku="string", n="integer"),
    "put_item": _schema(sku="string", name="string"),
    "rename_item": _schema(sku="string", to="string"),
    "remove_item": SKU,
    "rotate_token": SKU,
    "take_job": _schema(worker="string"),
    "toggle_tag": _schema(order="string", tag="string"),
    "write_page": _schema(title="string", text="string"),
    "append_page": _schema(title="string", text="string"),
    "replace_jobs": {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}},
    "transfer": _schema(source="string", target="string", amount="integer"),
    "write_log": {"type": "object"},
    "add_lines": {"type": "object", "properties": {"order": {"type": "string"}, "lines": LINES}},
    "add_line": _schema(order="string", sku="string", n="integer"),
}
SQL = {"write_query": _schema(query="string"), "read_query": _schema(query="string")}
FILES = {
    "read_file": _schema(path="string"),
    "write_file": _schema(path="string", content="string"),
    "append_file": _schema(path="string", content="string"),
    "move_file": _schema(source="string", destination="string"),
    "delete_file": _schema(path="string"),
}
DESCRIPTIONS = {
    "write_query": "Execute an INSERT, UPDATE or DELETE query on the SQLite database",
    "read_query": "Execute a SELECT query on the SQLite database",
    "append_file": "Append text to a file",
    "write_file": "Create a new file or overwrite an existing file",
    "move_file": "Move or rename a file",
}


SQL_PROGRAM = """
from mcp_sim.programs import initial, tool

@initial
def begin(given, world):
    world.sql.load(given)

@tool(verb="update")
def write_query(world, query):
    return world.sql.run(query).affected

@tool(reads=True, verb="search")
def read_query(world, query):
    return world.sql.run(query).rows
"""
FILES_PROGRAM = """
from mcp_sim.programs import tool

@tool(verb="update", entity="file", key="path")
def write_file(world, path, content):
    world.files.write(path, content, parents=True)

@tool(verb="update", entity="file", key="path")
def append_file(world, path, content):
    known = world.files.find(path)
    world.files.write(path, (known.text if known else "") + content, parents=True)

@tool(verb="update", entity="file", key="source")
def move_file(world, source, destination):
    world.files.move(source, destination)

@tool(verb="delete", entity="file", key="path")
def delete_file(world, path):
    world.files.remove(path)
"""


def simulator(folder: Path, kind: str, fault: str) -> Simulator:
    """Return a simulator of one of three programs: on tables, on a database, or on files."""
    tools = {"shop": SHOP, "sql": SQL, "files": FILES}[kind]
    listed = [
        {"name": name, "description": DESCRIPTIONS.get(name, ""), "inputSchema": schema}
        for name, schema in tools.items()
    ]
    spec: dict[str, Any] = {"mcp_sim": 1, "name": kind, "tools": listed}
    spec["program"] = f"{kind}.py"
    (folder / spec["program"]).write_text(
        {"shop": PROGRAM, "sql": SQL_PROGRAM, "files": FILES_PROGRAM}[kind], encoding="utf-8"
    )
    (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    world = f"world:\n  records:\n{RECORDS}" if kind == "shop" else ""
    if kind == "sql":
        world = "world: {state: {notes: [{id: 1, t: old, n: 3}]}}\n"
    document = f"mcp_sim: 1\ntools: spec.yaml\n{world}perturbations: [{fault}]\nexpect: [{{recovered: fault}}]\n"
    (folder / "scenario.yaml").write_text(document, encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml", trust=True)


async def verdict(simulator: Simulator, calls: Sequence[Call]) -> GradedVerdict:
    """Return the verdict on a run, which must be that on its ledger, too."""
    async with simulator.open() as world:
        for tool, arguments in calls:
            await world.call(tool, arguments)
        grade = world.grade()
        steps = [step_from_json(step) for step in world.ledger.steps]
        assert simulator.repeated("again", steps).grade() == grade
        return grade.verdicts[0]


O1 = {"order": "O-0001"}
PLACE: Call = ("place_order", {"customer": "max", "lines": [{"sku": "horn", "n": 1}, {"sku": "horn", "n": 1}]})
CANCEL: Call = ("cancel_order", O1)
STATUS: Call = ("set_status", {**O1, "status": "paid"})
STAR: Call = ("toggle_star", O1)
UP: Call = ("adjust_stock", {"sku": "bell", "delta": 5})
AGAIN: Call = ("adjust_stock", {"sku": "bell", "delta": 5, "reason": "again"})
PUT: Call = ("put_item", {"sku": "drum", "name": "Drum"})
RENAME: Call = ("rename_item", {"sku": "horn", "to": "tuba"})
REMOVE: Call = ("remove_item", {"sku": "horn"})
ROTATE: Call = ("rotate_token", {"sku": "horn"})
TAKE: Call = ("take_job", {"worker": "ann"})
LOG: Call = ("write_log", {})
TAG: Call = ("toggle_tag", {**O1, "tag": "gift"})
PAGE: Call = ("write_page", {"title": "New", "text": "one"})
APPEND_PAGE: Call = ("append_page", {"title": "Home", "text": " two"})
REPLACE: Call = ("replace_jobs", {"names": ["three", "four"]})
TRANSFER: Call = ("transfer", {"source": "ann", "target": "bob", "amount": 30})
TWO_LINES = [{"sku": "bell", "n": 1}, {"sku": "horn", "n": 2}]
BATCH: Call = ("add_lines", {**O1, "lines": TWO_LINES})
FIRST_LINE: Call = ("add_line", {**O1, "sku": "bell", "n": 1})
SECOND_LINE: Call = ("add_line", {**O1, "sku": "horn", "n": 2})
GET: Call = ("get_order", O1)
LIST: Call = ("list_orders", {})
NO_ORDER: Call = ("cancel_order", {"order": "O-0099"})
CUT = "{partial_batch: {items: [2]}, id: fault, when: {nth: 1}}"
DOUBLED = "{duplicate_effect: {}, id: fault, when: {nth: 1}}"
LATER = "{delayed_visibility: {}, id: fault, when: {nth: 1}}"
LATE = "{delayed_visibility: {after: 2 calls}, id: fault, when: {nth: 1}}"
PHANTOM = "{phantom_success: {}, id: fault, when: {nth: 1}}"


def delete(order: str) -> Call:
    return "delete_order", {"order": order}


PROGRAMS: list[tuple[str, list[Call], str]] = [
    # an update that also makes a record
    (DOWN, [CANCEL], "failed"),
    (DOWN, [CANCEL, CANCEL], "passed"),
    (DOWN, [CANCEL, ("set_status", {**O1, "status": "cancelled"})], "failed"),  # without the refund
    (LOST, [CANCEL], "passed"),
    (LOST, [CANCEL, CANCEL], "passed"),  # the second one is refused
    (DOWN, [NO_ORDER, NO_ORDER], "passed"),  # the refusal was learnt
    (DOWN, [NO_ORDER], "vacuous"),
    # a new record with others
    (LOST, [PLACE], "passed"),
    (LOST, [PLACE, PLACE], "failed"),
    (DOWN, [PLACE, PLACE], "passed"),
    (DOWN, [PLACE, ("place_order", {**PLACE[1], "note": "again"})], "passed"),
    (LOST, [PLACE, ("place_order", {**PLACE[1], "note": "again"})], "failed"),
    (DOWN, [PLACE], "failed"),
    (TWICE_DOWN, [PLACE, PLACE], "failed"),
    (TWICE_DOWN, [PLACE, PLACE, PLACE], "passed"),
    # values of fields
    (DOWN, [STATUS], "failed"),
    (DOWN, [STATUS, STATUS], "passed"),
    (LOST, [STATUS, STATUS], "passed"),
    (DOWN, [STATUS, STATUS, ("set_status", {**O1, "status": "sent"})], "passed"),
    (DOWN, [("set_status", {**O1, "status": "open"})], "passed"),  # it was so before
    # a toggle
    (DOWN, [STAR], "failed"),
    (LOST, [STAR], "passed"),
    (LOST, [STAR, STAR], "failed"),
    (LOST, [STAR, STAR, STAR], "passed"),
    (DOWN, [STAR, STAR], "passed"),
    (DOWN, [STAR, STAR, STAR], "failed"),
    (LOST, [TAG], "passed"),
    (LOST, [TAG, TAG], "failed"),  # the item is out of the list again
    (LOST, [TAG, TAG, TAG], "passed"),
    # amounts, from 0
    (LOST, [UP], "passed"),
    (LOST, [UP, UP], "failed"),
    (LOST, [UP, AGAIN], "failed"),
    (LOST, [UP, UP, ("adjust_stock", {"sku": "bell", "delta": -5})], "passed"),
    (DOWN, [UP], "failed"),
    (DOWN, [UP, UP], "passed"),
    (DOWN, [UP, UP, UP], "failed"),
    (DOWN, [UP, ("receive", {"sku": "bell", "n": 5})], "passed"),
    (LOST, [UP, ("receive", {"sku": "bell", "n": 3})], "passed"),
    (LOST, [("set_stock", {"sku": "bell", "stock": 5}), ("set_stock", {"sku": "bell", "stock": 10})], "passed"),
    (DOUBLED, [UP], "failed"),
    (DOUBLED, [UP, ("adjust_stock", {"sku": "bell", "delta": -5})], "passed"),
    # an upsert, a rename, a removal
    (DOWN, [PUT], "failed"),
    (LOST, [PUT, PUT], "passed"),
    (DOWN, [("put_item", {"sku": "horn", "name": "French horn"})], "failed"),
    (LOST, [("put_item", {"sku": "horn", "name": "French horn"})] * 2, "passed"),
    (DOWN, [RENAME], "failed"),
    (DOWN, [RENAME, RENAME], "passed"),
    (LOST, [RENAME], "passed"),
    (DOWN, [REMOVE], "failed"),
    (DOWN, [REMOVE, REMOVE], "passed"),
    (LOST, [REMOVE, REMOVE], "passed"),
    (LOST, [REMOVE, ("put_item", {"sku": "horn", "name": "New"})], "passed"),
    (LOST, [PAGE, PAGE], "passed"),  # the revision grows by itself
    (LOST, [REPLACE, REPLACE], "passed"),  # the second call removes what the first one made
    (LOST, [REPLACE, ("replace_jobs", {"names": ["three", "four", "five"]})], "passed"),
    (LOST, [TRANSFER, TRANSFER], "failed"),
    (LOST, [TRANSFER, ("transfer", {**TRANSFER[1], "amount": 20})], "passed"),  # booked as -30 and -20
    # what was done too often, and then made right
    (LOST, [APPEND_PAGE, APPEND_PAGE], "failed"),
    (LOST, [APPEND_PAGE, APPEND_PAGE, ("write_page", {"title": "Home", "text": "one two"})], "passed"),
    (LOST, [UP, UP, UP, ("set_stock", {"sku": "bell", "stock": 5})], "passed"),
    # what the call gives no value for
    (DOWN, [ROTATE], "failed"),
    (DOWN, [ROTATE, ROTATE], "passed"),
    (LOST, [ROTATE, ROTATE], "failed"),
    (LOST, [TAKE], "passed"),
    (LOST, [TAKE, TAKE], "failed"),
    (DOWN, [TAKE, TAKE], "passed"),
    (LOST, [LOG], "passed"),
    (LOST, [LOG, LOG], "failed"),
    (DOWN, [LOG, LOG], "passed"),
    (DOWN, [LOG], "failed"),
    # batches
    (LOST, [BATCH], "passed"),
    (LOST, [BATCH, BATCH], "failed"),
    (DOWN, [BATCH, FIRST_LINE], "failed"),
    (DOWN, [BATCH, FIRST_LINE, SECOND_LINE], "passed"),
    (CUT, [BATCH], "failed"),
    (CUT, [BATCH, SECOND_LINE], "passed"),
    (CUT, [BATCH, BATCH], "failed"),
    # effects that come late, or not at all
    (LATE, [PLACE, LIST, LIST, LIST], "passed"),
    (LATE, [FIRST_LINE, LIST, FIRST_LINE, LIST, LIST], "failed"),
    (LATER, [FIRST_LINE], "passed"),  # it comes after the end of the run
    (LATER, [FIRST_LINE, LIST, FIRST_LINE], "failed"),
    (PHANTOM, [PLACE], "failed"),
    (PHANTOM, [PLACE, PLACE], "passed"),
    # a duplicate that was deleted, and the only record that was
    (LOST, [PLACE, PLACE, delete("O-0003")], "failed"),  # its lines and the stock are still there twice
    (LOST, [FIRST_LINE], "passed"),
    # reads
    (DOWN, [GET], "failed"),
    (DOWN, [GET, GET], "passed"),
    (DOWN, [GET, LIST], "passed"),  # which shows the same
    (DOWN, [GET, ("get_order", {"order": "O-0002"})], "failed"),
    (DOWN, [LIST, GET], "failed"),
]


@pytest.mark.parametrize(("fault", "calls", "outcome"), PROGRAMS)
async def test_with_a_program(fault: str, calls: list[Call], outcome: str, tmp_path: Path) -> None:
    judged = await verdict(simulator(tmp_path, "shop", fault), calls)
    assert judged.outcome == outcome, judged.because


REFUSED_AGAIN = "{error: 503, id: fault, when: {nth: 2}}, {lost_ack: {}, id: lost, when: {nth: 1}}"
TAKEN = """\
{lost_ack: {}, id: fault, tools: add_line, when: {nth: 1}},
{external_change: {do: delete, entity: line, where: {n: 1}}, id: other, tools: get_order, when: {nth: 1}}"""


@pytest.mark.parametrize(
    ("faults", "calls", "outcome"),
    [
        (REFUSED_AGAIN, [UP, UP], "passed"),  # the call was done the first time
        (REFUSED_AGAIN, [UP, UP, UP], "failed"),
        (REFUSED_AGAIN, [UP, AGAIN], "failed"),  # another call, which is never made again
        (TAKEN, [FIRST_LINE, GET], "passed"),  # someone else has deleted the line
        (TAKEN, [FIRST_LINE, GET, FIRST_LINE], "passed"),
        (TAKEN, [FIRST_LINE, GET, FIRST_LINE, FIRST_LINE], "failed"),
    ],
)
async def test_between_other_faults(faults: str, calls: list[Call], outcome: str, tmp_path: Path) -> None:
    judged = await verdict(simulator(tmp_path, "shop", faults), calls)
    assert judged.outcome == outcome, judged.because


def sql(query: str) -> Call:
    return "write_query", {"query": query}


INSERT = sql("INSERT INTO notes (t, n) VALUES ('new', 7)")
OTHER_INSERT = sql("insert into notes (n, t) values (7, 'new')")
SUBTRACT = sql("UPDATE notes SET n = n - 2 WHERE id = 1")
SET = sql("UPDATE notes SET t = 'set' WHERE id = 1")
DELETE = sql("DELETE FROM notes WHERE id = 1")
SELECT: Call = ("read_query", {"query": "SELECT t FROM notes WHERE id = 1"})


@pytest.mark.parametrize(
    ("fault", "calls", "outcome"),
    [
        (LOST, [INSERT], "passed"),
        (LOST, [INSERT, INSERT], "failed"),
        (LOST, [INSERT, OTHER_INSERT], "failed"),
        (DOWN, [INSERT], "failed"),
        (DOWN, [INSERT, OTHER_INSERT], "passed"),
        (DOWN, [INSERT, sql("INSERT INTO notes (t, n) VALUES ('new', 8)")], "failed"),
        (LOST, [INSERT, INSERT, sql("DELETE FROM notes WHERE id = 3")], "passed"),
        (LOST, [SUBTRACT], "passed"),
        (LOST, [SUBTRACT, SUBTRACT], "failed"),
        (DOWN, [SUBTRACT, SUBTRACT], "passed"),
        (DOWN, [SUBTRACT, sql("UPDATE notes SET n = 1 WHERE id = 1")], "passed"),
        (DOWN, [SUBTRACT], "failed"),
        (DOWN, [SET], "failed"),
        (LOST, [SET, SET], "passed"),
        (DOWN, [DELETE], "failed"),
        (LOST, [DELETE, DELETE], "passed"),
        (DOWN, [SELECT, SELECT], "passed"),
        (DOWN, [SELECT], "failed"),
    ],
)
async def test_with_sql(fault: str, calls: list[Call], outcome: str, tmp_path: Path) -> None:
    judged = await verdict(simulator(tmp_path, "sql", fault), calls)
    assert judged.outcome == outcome, judged.because


WRITE: Call = ("write_file", {"path": "/data/a.txt", "content": "one\n"})
APPEND: Call = ("append_file", {"path": "/data/a.txt", "content": "two\n"})
MOVE: Call = ("move_file", {"source": "/data/a.txt", "destination": "/data/b.txt"})
DELETE_FILE: Call = ("delete_file", {"path": "/data/a.txt"})
SECOND_LOST, SECOND_DOWN = LOST.replace("nth: 1", "nth: 2"), DOWN.replace("nth: 1", "nth: 2")


@pytest.mark.parametrize(
    ("fault", "calls", "outcome"),
    [
        (DOWN, [WRITE], "failed"),
        (DOWN, [WRITE, WRITE], "passed"),
        (LOST, [WRITE, WRITE], "passed"),
        (LOST, [WRITE, APPEND], "passed"),
        (LOST, [APPEND], "passed"),
        (LOST, [APPEND, APPEND], "failed"),
        ("{lost_ack: {}, id: fault, tools: append_file, when: {nth: 1}}", [WRITE, APPEND], "passed"),
        ("{lost_ack: {}, id: fault, tools: append_file, when: {nth: 1}}", [WRITE, APPEND, APPEND], "failed"),
        ("{error: 503, id: fault, tools: append_file, when: {nth: 1}}", [WRITE, APPEND], "failed"),
        ("{error: 503, id: fault, tools: append_file, when: {nth: 1}}", [WRITE, APPEND, APPEND], "passed"),
        ("{error: 503, id: fault, tools: move_file, when: {nth: 1}}", [WRITE, MOVE], "failed"),
        ("{error: 503, id: fault, tools: move_file, when: {nth: 1}}", [WRITE, MOVE, MOVE], "passed"),
        ("{lost_ack: {}, id: fault, tools: move_file, when: {nth: 1}}", [WRITE, MOVE, MOVE], "passed"),
        ("{lost_ack: {}, id: fault, tools: write_file, when: {nth: 1}}", [WRITE, MOVE], "passed"),
        ("{error: 503, id: fault, tools: delete_file, when: {nth: 1}}", [WRITE, DELETE_FILE], "failed"),
        ("{lost_ack: {}, id: fault, tools: delete_file, when: {nth: 1}}", [WRITE, DELETE_FILE], "passed"),
    ],
)
async def test_with_files(fault: str, calls: list[Call], outcome: str, tmp_path: Path) -> None:
    judged = await verdict(simulator(tmp_path, "files", fault), calls)
    assert judged.outcome == outcome, judged.because


# what is not known ----------------------------------------------------------------------------------------------------


def tools(folder: Path, sim: str, fault: str, extra: str = "") -> Simulator:
    """Return a simulator of tools whose effect no name and no record shows."""
    schema = json.dumps(_schema(title="string"))
    spec = f"mcp_sim: 1\nname: desk\ntools: [{{name: frobnicate, inputSchema: {schema}}}]\n{sim}"
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    document = f"mcp_sim: 1\ntools: spec.yaml\n{extra}perturbations: [{fault}]\nexpect: [{{recovered: fault}}]\n"
    (folder / "scenario.yaml").write_text(document, encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml")


@pytest.mark.parametrize(
    ("sim", "extra"),
    [
        ("", ""),
        ("sim: {frobnicate: {verb: none}}\n", ""),
        ("sim: {frobnicate: {verb: create, entity: note}}\n", "stubs: [{tool: frobnicate, result: ok}]\n"),
    ],
)
@pytest.mark.parametrize("n", [1, 2])
async def test_an_unknown_effect_is_not_judged(sim: str, extra: str, n: int, tmp_path: Path) -> None:
    judged = await verdict(tools(tmp_path, sim, DOWN, extra), [("frobnicate", {"title": "x"})] * n)
    assert judged.outcome == "not judged", judged.because


async def test_a_trace_without_counterfactuals_is_not_judged_unless_the_call_was_made_again(tmp_path: Path) -> None:
    sim = simulator(tmp_path, "shop", DOWN)
    runs = (([CANCEL], "not judged"), ([CANCEL, CANCEL], "passed"), ([PLACE, PLACE, PLACE], "failed"))
    for calls, outcome in runs:
        async with sim.open() as world:
            for tool, arguments in calls:
                await world.call(tool, arguments)
            steps = world.ledger.steps
        assert "counterfactual" in steps[1]
        del steps[1]["counterfactual"]
        judged = sim.repeated("old", [step_from_json(step) for step in steps]).grade().verdicts[0]
        assert judged.outcome == outcome, judged.because


async def test_only_what_an_expectation_compares_is_computed_once_more(tmp_path: Path) -> None:
    simulator(tmp_path, "shop", DOWN)
    path = tmp_path / "scenario.yaml"
    path.write_text(path.read_text().replace("recovered: fault", "called: cancel_order"), encoding="utf-8")
    async with Simulator.load(path, trust=True).open() as world:
        await world.call("cancel_order", O1)
        assert "counterfactual" not in world.ledger.steps[1]


# properties -----------------------------------------------------------------------------------------------------------

DOUBLING = [PLACE, UP, BATCH, TAKE, LOG, FIRST_LINE]
"""Calls that do something again when they are made again."""
READING = [GET, LIST, ("get_order", {"order": "O-0002"})]


@pytest.mark.parametrize("fault", [LOST, DOWN])
def test_reads_change_no_verdict_and_the_effect_once_more_always_fails(
    fault: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(max_examples=15)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(DOUBLING))
        sim = simulator(tmp_path_factory.mktemp("shop"), "shop", fault.replace("when:", f"tools: {call[0]}, when:"))
        wanted = [call] * (1 if fault == LOST else 2)
        for calls, outcome in ((wanted, "passed"), ([*wanted, call], "failed")):
            run = list[Call]()
            for repeated in calls:
                run += [*data.draw(st.lists(st.sampled_from(READING), max_size=2)), repeated]
            judged = asyncio.run(verdict(sim, run))
            assert judged.outcome == outcome, (run, judged.because)

    check()
