"""A help desk that uses everything that a spec can declare of a server, and its clients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp_types import (
    CallToolResult,
    ElicitResult,
    LoggingLevel,
    SetLevelRequest,
    SetLevelRequestParams,
    SubscribeRequest,
    SubscribeRequestParams,
    TextContent,
)

from mcp_sim.world.world import World

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SPEC = f"""\
mcp_sim: 1
name: desk
version: 3.1.0
title: The help desk
description: A help desk
instructions: Be kind.
website: https://desk.example
icons: [{{src: "https://desk.example/icon.svg", mimeType: image/svg+xml, sizes: [any]}}]
tools:
  - name: get_ticket
    description: Return one ticket.
    inputSchema: {{type: object, properties: {{ticket_id: {{type: string}}}}, required: [ticket_id]}}
  - name: update_ticket
    description: Change a ticket.
    inputSchema:
      type: object
      properties: {{ticket_id: {{type: string}}, title: {{type: string}}}}
      required: [ticket_id]
    outputSchema:
      type: object
      properties: {{id: {{type: string}}, title: {{type: string}}}}
      required: [id, title]
  - name: delete_ticket
    description: Delete a ticket.
    inputSchema: {{type: object, properties: {{ticket_id: {{type: string}}}}, required: [ticket_id]}}
  - name: draw_chart
    description: Draw a chart of the tickets.
    inputSchema: {{type: object}}
  - name: summarize_inbox
    description: Summarize the inbox.
    inputSchema: {{type: object, properties: {{style: {{type: string}}}}}}
entities:
  ticket: {{key_like: T-1, fields: {{title: {{type: string}}}}}}
sim:
  get_ticket:
    verb: get
    entity: ticket
    key: ticket_id
    blocks:
      - "{{title}} ({{id}})"
      - {{type: resource_link, uri: "desk://ticket/{{id}}", name: "{{title}}"}}
  update_ticket:
    verb: update
    entity: ticket
    key: ticket_id
    notify:
      - {{progress: 1, total: 2, message: "changing {{ticket_id}}"}}
      - {{log: started, level: debug}}
      - {{log: {{ticket: "{{id}}"}}, level: warning, logger: desk, after: 1h}}
      - {{progress: 2, total: 2}}
      - {{changed: tools}}
  delete_ticket:
    verb: delete
    entity: ticket
    key: ticket_id
    ask:
      sure:
        message: "Delete {{ticket_id}}?"
        schema: {{type: object, properties: {{why: {{type: string}}}}, required: [why]}}
  summarize_inbox:
    ask:
      - taste: {{message: How?, schema: {{type: object, properties: {{style: {{type: string}}}}}}}}
      - summary: {{sample: "Summarize as a {{taste.content.style}}."}}
        places: {{roots: true, optional: true}}
examples:
  - tool: draw_chart
    blocks: [{{type: image, data: {PIXEL}, mimeType: image/png, annotations: {{audience: [user]}}}}]
stubs:
  - {{tool: get_ticket, arguments: {{ticket_id: T-0}}, blocks: ["Canned, for {{ticket_id}}"]}}
  - {{tool: summarize_inbox, blocks: ["{{summary.content.text}} / {{style}} / {{places.roots}}"]}}
resources:
  - {{uri: "desk://rules", name: rules, title: House rules, mimeType: text/markdown, text: "# Rules", _meta: {{a: 1}}}}
  - {{uri: "desk://logo", name: logo, mimeType: image/png, blob: {PIXEL}}}
  - {{uri: "desk://tickets", name: tickets, records: ticket}}
  - {{uriTemplate: "desk://ticket/{{id}}", name: ticket, record: ticket}}
  - uriTemplate: desk://card/{{id}}
    name: card
    mimeType: text/plain
    record: ticket
    text: "Ticket {{id}}: {{title}}"
prompts:
  - name: answer
    title: Answer a ticket
    description: Writes an answer.
    arguments:
      - {{name: ticket, description: Which, required: true, complete: {{entity: ticket}}}}
      - {{name: tone, complete: [calm, cheerful, cold]}}
    messages:
      - "Answer {{ticket}} in a {{tone}} tone."
      - {{role: assistant, content: {{type: audio, data: "UklGRg==", mimeType: audio/wav}}}}
      - {{type: resource, resource: {{uri: "desk://ticket/{{ticket}}", mimeType: application/json, text: "{{}}"}}}}
  - name: confirm
    ask: {{who: {{message: Who are you?, schema: {{type: object, properties: {{name: {{type: string}}}}}}}}}}
    messages: ["I am {{who.content.name}}."]
"""
SCENARIO = """\
mcp_sim: 1
tools: desk.yaml
world:
  records: {ticket: {count: 3, rows: [{id: T-1, title: Printer on fire}, {id: T-2, title: Prints nothing}]}}
"""
eras = pytest.mark.parametrize("mode", ["auto", "legacy"])
Desk = Callable[[], AbstractAsyncContextManager[World]]


def scenario(folder: Path, ending: str = "") -> Path:
    (folder / "desk.yaml").write_text(SPEC + ending, encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def wire(body: Any) -> Any:
    """Return a model as sent to a client, without the marks of an era."""
    dump_parts = body.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {key: value for key, value in dump_parts.items() if key not in ("resultType", "ttlMs", "cacheScope")}


class Received:
    """The notifications that a client gets."""

    def __init__(self) -> None:
        self.logs = list[tuple[str, str | None, Any]]()
        self.progress = list[tuple[float, float | None, str | None]]()
        self.methods = list[str]()

    async def log(self, params: Any) -> None:
        self.logs.append((params.level, params.logger, params.data))

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))

    async def message(self, message: Any) -> None:
        self.methods.append(getattr(message, "method", type(message).__name__))


class User:
    """A user of a client who gives the same answer to every question."""

    def __init__(self, action: Literal["accept", "decline", "cancel"] = "accept", **content: Any) -> None:
        self.asked = list[str]()
        self._answer = ElicitResult(action=action, content=content or None)

    async def __call__(self, _ctx: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self._answer


async def settled() -> None:
    """Wait until everything in progress has arrived."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


def set_level(level: LoggingLevel) -> SetLevelRequest:
    return SetLevelRequest(params=SetLevelRequestParams(level=level))


def subscription(uri: str) -> SubscribeRequest:
    return SubscribeRequest(params=SubscribeRequestParams(uri=uri))
