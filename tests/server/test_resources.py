"""Resources, prompts and completions, written in a tool spec and seen by clients of both protocol eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
)
from support.help_desk import PIXEL, Desk, User, eras, scenario, wire

from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import load
from mcp_sim.types.surface import fill_slots, match_uri


@eras
async def test_resources_and_templates_are_listed_as_written(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        listed = (await client.list_resources()).resources
        assert [wire(one) for one in listed] == [
            {
                "uri": "desk://rules",
                "name": "rules",
                "title": "House rules",
                "mimeType": "text/markdown",
                "_meta": {"a": 1},
            },
            {"uri": "desk://logo", "name": "logo", "mimeType": "image/png"},
            {"uri": "desk://tickets", "name": "tickets", "mimeType": "application/json"},
        ]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["desk://ticket/{id}", "desk://card/{id}"]


@eras
async def test_resources_show_texts_blobs_and_the_records_as_they_are_now(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:

        async def read(uri: str) -> dict[str, Any]:
            (contents,) = (await client.read_resource(uri)).contents
            return wire(contents)

        assert await read("desk://rules") == {
            "uri": "desk://rules",
            "mimeType": "text/markdown",
            "text": "# Rules",
            "_meta": {"a": 1},
        }
        assert (await read("desk://logo"))["blob"] == PIXEL
        assert (await read("desk://card/T-2"))["text"] == "Ticket T-2: Prints nothing"
        await client.call_tool("update_ticket", {"ticket_id": "T-2", "title": "Prints"})
        shown = await read("desk://ticket/T-2")
        assert shown["mimeType"] == "application/json"
        assert json.loads(shown["text"]) == world.view.get("ticket", "T-2")
        assert json.loads((await read("desk://tickets"))["text"]) == [row for _, row in world.view.rows("ticket")]
        assert len(world.ledger.steps) == 2


@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
@pytest.mark.parametrize("uri", ["desk://ticket/T-99", "desk://nothing", "desk://ticket/", "desk://ticket/T-1/more"])
async def test_what_is_no_resource_is_an_error_that_names_it(desk: Desk, mode: str, code: int, uri: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert (raised.value.code, raised.value.data) == (code, {"uri": uri})


@eras
async def test_prompts_are_listed_and_filled_in(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        listed = (await client.list_prompts()).prompts
        assert wire(listed[0]) == {
            "name": "answer",
            "title": "Answer a ticket",
            "description": "Writes an answer.",
            "arguments": [{"name": "ticket", "description": "Which", "required": True}, {"name": "tone"}],
        }
        got = await client.get_prompt("answer", {"ticket": "T-1", "tone": "calm"})
        assert got.description == "Writes an answer."
        assert [wire(message) for message in got.messages] == [
            {"role": "user", "content": {"type": "text", "text": "Answer T-1 in a calm tone."}},
            {"role": "assistant", "content": {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}},
            {
                "role": "user",
                "content": {
                    "type": "resource",
                    "resource": {"uri": "desk://ticket/T-1", "mimeType": "application/json", "text": "{}"},
                },
            },
        ]


@eras
@pytest.mark.parametrize(("name", "arguments"), [("nothing", {}), ("answer", {"tone": "calm"})])
async def test_a_prompt_that_cannot_be_had_is_an_error(desk: Desk, mode: str, name: str, arguments: Any) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.get_prompt(name, arguments)
        assert raised.value.code == -32602


@eras
async def test_a_prompt_may_ask_first(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(name="Ada")) as client:
        (message,) = (await client.get_prompt("confirm")).messages
        assert wire(message.content)["text"] == "I am Ada."
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User("decline")) as client:
        with pytest.raises(MCPError, match="Declined"):
            await client.get_prompt("confirm")
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.get_prompt("confirm")
        assert raised.value.code == -32021


@eras
async def test_values_are_completed_from_lists_and_from_records(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        answer, ticket = PromptReference(type="ref/prompt", name="answer"), "desk://ticket/{id}"

        async def values(ref: Any, argument: str, begun: str) -> list[str]:
            return (await client.complete(ref, {"name": argument, "value": begun})).completion.values

        assert await values(answer, "tone", "C") == ["calm", "cheerful", "cold"]
        assert await values(answer, "tone", "ca") == ["calm"]
        assert (await values(answer, "ticket", "t-"))[:2] == ["T-1", "T-2"]
        template = ResourceTemplateReference(type="ref/resource", uri=ticket)
        assert await values(template, "id", "T-2") == ["T-2"]
        assert await values(template, "other", "") == []
        with pytest.raises(MCPError):
            await values(PromptReference(type="ref/prompt", name="nothing"), "tone", "")


def test_namespaces_keep_the_records_of_resources_apart(tmp_path: Path) -> None:
    scenario(tmp_path)
    path = tmp_path / "two.yaml"
    records = "{a.ticket: {count: 1, rows: [{id: T-1, title: A}]}, b.ticket: {count: 1, rows: [{id: T-1, title: B}]}}"
    path.write_text(
        f"mcp_sim: 1\ntools: {{a: desk.yaml, b: desk.yaml}}\nworld: {{namespaces: true, records: {records}}}\n",
        encoding="utf-8",
    )
    loaded = load(path)
    for server in ("a", "b"):
        shown = {one.entity for one in loaded.servers[server].resources if one.entity is not None}
        assert shown == {f"{server}.ticket"}
    assert set(loaded.interactions) >= {"a/delete_ticket", "b/delete_ticket"}


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("crm://contact/{id}", "crm://contact/a%20b", {"id": "a b"}),
        ("crm://{+path}", "crm://a/b/c", {"path": "a/b/c"}),
        ("crm://{path*}", "crm://a/b/c", {"path": "a/b/c"}),
        ("crm://{user}/{path*}/raw", "crm://ada/b/c%20d/raw", {"user": "ada", "path": "b/c d"}),
        ("crm://{a}/x/{b}", "crm://1/x/2", {"a": "1", "b": "2"}),
        ("crm://c.d/{id}", "crm://cxd/1", None),
        ("crm://contact/{id}", "crm://contact/a/b", None),
        ("crm://contact/{id}", "crm://contact/", None),
    ],
)
def test_a_uri_matches_a_template(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert match_uri(template, uri) == values


def test_slots_reach_into_values_and_unknown_ones_stay() -> None:
    slots = {"a": {"b": [1, {"c": 2}]}, "s": "x"}
    assert fill_slots('{s}-{a.b}-{a.c}-{t}-{}-{"s":"{s}"}', slots) == 'x-[1,{"c":2}]-{a.c}-{t}-{}-{"s":"x"}'
    assert fill_slots({"n": 1, "l": ["{s}"]}, slots) == {"n": 1, "l": ["x"]}
