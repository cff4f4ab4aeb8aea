"""Resources that functions of a program show, seen by clients of both protocol eras."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import EmptyResult
from support.help_desk import Received, eras, settled, subscription, wire
from support.libraries import TEXT, tool

from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import check
from mcp_sim.types.errors import DocumentError
from mcp_sim.world.world import World

TOOLS = [tool("add_note", "id text", id=TEXT, text=TEXT)]
HEAD = """\
from mcp_sim.programs import Refused, Rpc, resource, tool

tables = {"note": {"natural": True, "fields": {"text": "", "tags": []}}}

@tool
def add_note(world, id, text):
    world.note.add(id=id, text=text)
    return "Noted"
"""
NOTES = f"""{HEAD}
@resource("notes://{{id}}", name="note", description="One note.", mime_type="text/markdown")
def show_note(world, id):
    if id == "secret":
        raise Refused("This note is not yours")
    if id == "gone":
        raise Rpc(-32050, "Gone", {{"since": 1}})
    note = world.note.get(id)
    return note and f"# {{note['text']}}"

@resource("notes://all")
def all_notes(world):
    return [*world.note]

@resource("notes://logo.png", mime_type="image/png")
def logo(world):
    return b"\\x89PNG"

@resource("broken://{{+class}}/{{how}}")
def broken(world, class_, how):
    if how == "write":
        world.note.add(id="n", text="x")
    if how == "nested":
        world.note.get(class_)["tags"].append("x")
    return class_ if how == "fine" else {{1.5: 1}} if how == "value" else "text" if how != "raise" else 1 / 0
"""


def notes(folder: Path, program: str = NOTES, **spec: Any) -> Path:
    """Write a program, its tools and its tool spec. Return the path of the spec."""
    (folder / "notes.py").write_text(program, encoding="utf-8")
    path = folder / "notes.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": TOOLS, "program": "notes.py", **spec}), encoding="utf-8")
    return path


@asynccontextmanager
async def reading(folder: Path, mode: str, **spec: Any) -> AsyncGenerator[tuple[World, Client]]:
    """Yield a world of the program with one note, and a client."""
    async with (
        Simulator.load(notes(folder, **spec), trust=True).open() as world,
        connected(world, mode=mode) as client,
    ):
        await client.call_tool("add_note", {"id": "1", "text": "Buy milk"})
        yield world, client


def line_of(text: str) -> int:
    """Return the number of the line of the program in which a text occurs."""
    return next(number for number, line in enumerate(NOTES.splitlines(), 1) if text in line)


async def contents(client: Client, uri: str) -> dict[str, Any]:
    (found,) = (await client.read_resource(uri)).contents
    return wire(found)


async def refusal(client: Client, uri: str) -> tuple[int, str, Any]:
    with pytest.raises(MCPError) as raised:
        await client.read_resource(uri)
    return raised.value.code, raised.value.message, raised.value.data


@eras
async def test_resources_and_templates_of_a_program_are_listed(tmp_path: Path, mode: str) -> None:
    async with reading(tmp_path, mode) as (_, client):
        assert [wire(one) for one in (await client.list_resources()).resources] == [
            {"uri": "notes://all", "name": "all_notes"},
            {"uri": "notes://logo.png", "name": "logo", "mimeType": "image/png"},
        ]
        note, other = (await client.list_resource_templates()).resource_templates
        assert wire(note) == {
            "uriTemplate": "notes://{id}",
            "name": "note",
            "description": "One note.",
            "mimeType": "text/markdown",
        }
        assert other.uri_template == "broken://{+class}/{how}"


@eras
async def test_functions_show_texts_data_and_json_of_the_tables_as_they_are_now(tmp_path: Path, mode: str) -> None:
    async with reading(tmp_path, mode) as (world, client):
        steps = len(world.ledger.steps)
        shown = await contents(client, "notes://1")
        assert shown == {"uri": "notes://1", "mimeType": "text/markdown", "text": "# Buy milk"}
        assert (await contents(client, "notes://logo.png"))["blob"] == "iVBORw=="
        everything = await contents(client, "notes://all")
        assert everything["mimeType"] == "application/json"
        assert json.loads(everything["text"]) == [{"id": "1", "text": "Buy milk", "tags": []}]
        assert (await contents(client, "broken://a/b/fine"))["text"] == "a/b"
        assert len(world.ledger.steps) == steps


@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
async def test_what_a_function_does_not_show_is_an_error_of_the_protocol(tmp_path: Path, mode: str, code: int) -> None:
    async with reading(tmp_path, mode) as (world, client):
        uri = "notes://secret"
        assert await refusal(client, uri) == (code, "This note is not yours", {"uri": uri})
        assert await refusal(client, "notes://2") == (code, "Resource not found", {"uri": "notes://2"})
        assert await refusal(client, "notes://gone") == (-32050, "Gone", {"since": 1})
        assert not world.crashed


@eras
@pytest.mark.parametrize(
    ("how", "place", "reason"),
    [
        ("write", "def broken", "resources only read, but this function writes note"),
        ("nested", "def broken", "resources only read, but this function writes note"),
        ("raise", "1 / 0", "ZeroDivisionError: division by zero"),
        ("value", "", "a key of the value is a float, not a text"),
    ],
)
async def test_a_function_that_writes_or_fails_is_a_crash_that_the_agent_sees_nothing_of(
    tmp_path: Path, mode: str, how: str, place: str, reason: str
) -> None:
    async with reading(tmp_path, mode) as (world, client):
        before = world.view
        shown = await refusal(client, f"broken://1/{how}")
        assert shown == (-32019, "The resource could not be read", {"mcp_sim": "crash"})
        at = f":{line_of(place)} in broken" if place else ""
        assert world.crashed.startswith(f"resources/read: notes.py{at}: ")
        assert reason in world.crashed
        assert world.view is before


@eras
async def test_what_the_spec_declares_wins_at_the_same_uri(tmp_path: Path, mode: str) -> None:
    declared = [{"uri": "notes://all", "name": "declared", "text": "All notes"}]
    async with reading(tmp_path, mode, resources=declared) as (_, client):
        assert [one.name for one in (await client.list_resources()).resources] == ["declared", "logo"]
        assert (await contents(client, "notes://all"))["text"] == "All notes"
    (found,) = [one for one in check([tmp_path / "notes.yaml"]) if "the spec wins" in one.message]
    assert (found.file, found.line, found.severity) == (str(tmp_path / "notes.py"), line_of("def all_notes"), "warning")


async def test_subscribers_are_notified_when_a_function_shows_something_else(tmp_path: Path) -> None:
    got = Received()
    async with (
        Simulator.load(notes(tmp_path), trust=True).open() as world,
        connected(world, mode="legacy", message_handler=got.message) as client,
    ):
        for uri in ("notes://all", "notes://logo.png", "broken://1/raise"):
            await client.session.send_request(subscription(uri), EmptyResult)
        assert not (await client.call_tool("add_note", {"id": "1", "text": "Buy milk"})).is_error
        await settled()
        assert got.methods == ["notifications/resources/updated"]


async def test_servers_with_state_of_their_own_show_their_own_tables(tmp_path: Path) -> None:
    notes(tmp_path)
    path = tmp_path / "two.yaml"
    text = "mcp_sim: 1\ntools: {one: notes.yaml, two: notes.yaml}\nworld: {namespaces: true}\n"
    path.write_text(text, encoding="utf-8")
    async with Simulator.load(path, trust=True).open() as world, connected(world, "two") as client:
        await world.call("one/add_note", {"id": "1", "text": "One"})
        await world.call("two/add_note", {"id": "1", "text": "Two"})
        assert (await contents(client, "notes://1"))["text"] == "# Two"


def test_listing_runs_nothing(tmp_path: Path) -> None:
    unrunnable = Simulator.load(notes(tmp_path, f"{NOTES}\nraise SystemExit('this was run')\n"))
    assert [one.uri for one in unrunnable.scenario.servers["notes"].resources] == [
        "notes://all",
        "notes://logo.png",
        "notes://{id}",
        "broken://{+class}/{how}",
    ]


async def test_resources_of_programs_that_are_not_trusted_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"runs the Python program notes\.py"):
        async with Simulator.load(notes(tmp_path)).open():
            pass


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ('@resource("notes://{id}")\ndef show(world): ...', "does not take 'id', a variable of notes://{id}"),
        (
            '@resource("notes://{id}")\ndef show(world, id, idd): ...',
            "takes 'idd', which is not a variable of notes://{id}",
        ),
        ('@resource("notes://{?id}")\ndef show(world): ...', "write variables as {name}"),
        ('@resource("notes")\ndef show(world): ...', "'notes' is no URI"),
        ("@resource\ndef show(world): ...", "needs a URI"),
        ('@resource("a:" + "b")\ndef show(world): ...', "must be written as a text"),
        ('@resource("a:b", mime="c")\ndef show(world): ...', "unknown option 'mime'; did you mean 'mime_type'?"),
        ('@resource("a:b")\ndef show(world): world.note.add(id="1")', "writes note, but resources only read"),
        (
            '@resource("a:{one}")\ndef show(world, one): ...\n@resource("a:{two}")\ndef same(world, two): ...',
            "shows 'a:{two}', as show does; remove one of them",
        ),
    ],
)
def test_problems_of_resources_are_reported_at_their_line(tmp_path: Path, function: str, problem: str) -> None:
    text = f"{HEAD}\n{function}\n"
    found = [one for one in check([notes(tmp_path, text)]) if one.file.endswith("notes.py")]
    assert [problem in one.message for one in found] == [True], found
    (only,) = found
    assert text.splitlines()[only.line - 1] in function
