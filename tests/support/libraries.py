"""A simulated lending library: a program, its tools, and what a test needs to change about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import value

from mcp_sim import Simulator

Json = Any
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def tool(name: str, required: str = "", /, *, output: Json = None, **arguments: Json) -> Json:
    """Return a tool with these arguments. `required`: the names of those that must be given, with blanks between."""
    schema = {"type": "object", "properties": arguments, "required": required.split()}
    return {"name": name, "inputSchema": schema, **({} if output is None else {"outputSchema": output})}


TOOLS = [
    tool("add_book", "isbn title", isbn=TEXT, title=TEXT, copies=NUMBER),
    tool("get_book", "isbn", isbn=TEXT),
    tool("borrow_book", "isbn member", isbn=TEXT, member=TEXT),
    tool("return_book", "loan_id", loan_id=TEXT, note=TEXT),
    tool("list_loans", member=TEXT),
    tool("borrow_all", "isbns member", isbns={"type": "array", "items": TEXT}, member=TEXT),
    tool("remove_book", "isbn", isbn=TEXT),
]
PROGRAM = '''\
"""A simulated lending library."""
from mcp_sim.programs import Refused, tool

tables = {
    "book": {"key": "isbn", "natural": True, "fields": {"title": "", "copies": 1, "tags": []}},
    "loan": {
        "ids": "L-0001", "links": {"isbn": "book"},
        "fields": {"isbn": {"type": "string"}, "member": "", "returned": False, "note": ""}, "hidden": ["note"],
    },
}

@tool
def add_book(world, isbn, title, copies=1):
    return world.book.add(isbn=isbn, title=title, copies=copies)

@tool
def get_book(world, isbn):
    return known(world, isbn)

def known(world, isbn):
    book = world.book.get(isbn)
    if book is None:
        raise Refused(f"No book {isbn}")
    return book

@tool
def borrow_book(world, isbn, member):
    book = known(world, isbn)
    if len(world.loan.find(isbn=isbn, returned=False)) >= book["copies"]:
        raise Refused(f"All copies of {book['title']} are lent")
    return world.loan.public(world.loan.add(isbn=isbn, member=member))

@tool
def return_book(world, loan_id, note=""):
    loan = world.loan.get(loan_id)
    if loan is None or loan["returned"]:
        raise Refused(f"No open loan {loan_id}")
    loan["returned"], loan["note"] = True, note
    left = len(world.loan.find(member=loan["member"], returned=False))
    return f"{known(world, loan['isbn'])['title']} is back. {loan['member']} has {left} more to return."

@tool
def list_loans(world, member=None):
    loans = list(world.loan) if member is None else world.loan.find(member=member)
    return [world.loan.public(loan) for loan in loans]

@tool
def borrow_all(world, isbns, member):
    return [world.loan.add(isbn=known(world, isbn)["isbn"], member=member)["id"] for isbn in world.each(isbns)]

@tool
def remove_book(world, isbn):
    world.book.delete(known(world, isbn))
    return {"removed": isbn}
'''
BOOKS = {"book": {"rows": [{"isbn": "1", "title": "Dune"}, {"isbn": "2", "title": "Emma", "copies": 2}]}}


def library(folder: Path, program: str = PROGRAM, /, tools: Json = None, **scenario: Json) -> Path:
    """Write a program, its spec and a scenario. Return the path of the scenario."""
    (folder / "library.py").write_text(program, encoding="utf-8")
    spec = {"mcp_sim": 1, "name": "library", "tools": TOOLS if tools is None else tools, "program": "library.py"}
    (folder / "library.yaml").write_text(json.dumps(spec), encoding="utf-8")
    path = folder / "scenario.yaml"
    world = {"records": BOOKS} if program is PROGRAM else {}
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "library.yaml", "world": world, **scenario}), encoding="utf-8")
    return path


def simulator(folder: Path, program: str = PROGRAM, /, tools: Json = None, **scenario: Json) -> Simulator:
    """Return a simulator of a library, which the user trusts."""
    return Simulator.load(library(folder, program, tools, **scenario), trust=True)


def small(body: str, *, tables: str = "", head: str = "") -> str:
    """Return a program whose only tool, `act`, has this body; its arguments are `a` and `b`."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    names = "Refused, Result, Rpc, fail, initial, invalid_arguments, tool, unknown_tool"
    return (
        f"from mcp_sim.programs import {names}\n\ntables = {{{tables}}}\n\n{head}\n\n"
        f"@tool\ndef act(world, a=None, b=None):\n{lines}\n"
    )


ACT = [tool("act", a={}, b={})]
ITEMS = '"item": {"ids": "I-1", "fields": {"name": "", "tags": [], "size": 1}}'


async def acted(folder: Path, body: str, *calls: Json, tables: str = ITEMS, head: str = "", **scenario: Json) -> Json:
    """Return the value of the last of these calls of a tool with this body; one call without arguments by default."""
    async with simulator(folder, small(body, tables=tables, head=head), ACT, **scenario).open() as world:
        for call in calls[:-1]:
            await world.call("act", call)
        return value(await world.call("act", calls[-1] if calls else {}))
