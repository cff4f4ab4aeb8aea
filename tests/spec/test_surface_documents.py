"""Resources, prompts and questions of a spec are checked, and problems are reported with their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.help_desk import SPEC, scenario

from mcp_sim.simulator.compile import check
from mcp_sim.spec import yaml12
from mcp_sim.spec.editor_schema import tool_spec_schema

WRONG = {
    "resources: [{name: a, text: x}]": "resources[0]: write exactly one of uri, uriTemplate",
    'resources: [{uri: "a:b", name: a}]': "resources[0]: write exactly one of text, blob, record, records",
    'resources: [{uri: "a:b", name: a, record: ticket}]': "resources[0]: record needs a uriTemplate",
    'resources: [{uriTemplate: "a:{id}", name: a, record: tickt}]': "resources[0].record: unknown entity 'tickt'",
    'resources: [{uriTemplate: "a:b", name: a, record: ticket}]': "resources[0].uriTemplate: needs a variable",
    'resources: [{uriTemplate: "a:{?q}", name: a, text: x}]': "resources[0].uriTemplate: write variables as {name}",
    'resources: [{uriTemplate: "a:{b}{b}", name: a, text: x}]': "resources[0].uriTemplate: duplicate variable",
    'resources: [{uri: "a:b", name: a, text: x}, {uri: "a:b", name: c, text: x}]': "resources[1].uri: duplicate uri",
    'resources: [{uri: "a:b", name: a, blob: "%%%"}]': "resources[0].blob: must be base64",
    "prompts: [{name: p, messages: []}]": "prompts[0].messages",
    "prompts: [{name: p, messages: ['{x}']}]": "warning: prompts[0].messages: {x} is neither",
    "prompts: [{name: p, messages: [{type: video}]}]": "prompts[0].messages[0]",
    "prompts: [{name: p, messages: [a]}, {name: p, messages: [b]}]": "prompts[1].name: duplicate name 'p'",
    "sim: {get_ticket: {ask: {a: {message: Hm}}}}": "sim.get_ticket.ask.a: write exactly one of schema, url",
    "sim: {get_ticket: {ask: {a: {sample: {messages: []}}}}}": "sim.get_ticket.ask.a: the params",
    "sim: {get_ticket: {ask: [{a: {roots: true}}, {a: {roots: true}}]}}": "sim.get_ticket.ask[1].a: duplicate question",
    "sim: {get_ticket: {ask: {a: {message: Hm, schema: {type: string}}}}}": "sim.get_ticket.ask.a.schema: must be of",
    "sim: {get_ticket: {notify: [{changed: prompts}]}}": "sim.get_ticket.notify[0].changed: the server has no prompts",
    "sim: {get_ticket: {notify: [{progress: 1, log: a}]}}": "sim.get_ticket.notify[0]: write exactly one of",
    "sim: {get_ticket: {notify: [{log: a, total: 1}]}}": "sim.get_ticket.notify[0]: total needs progress",
    "sim: {list_tickets: {blocks: [a]}}": "sim.list_tickets.blocks: list_tickets has an outputSchema",
    "stubs: [{tool: list_tickets, blocks: [a]}]": "stubs[0].blocks: list_tickets has an outputSchema",
    "examples: [{tool: get_ticket}]": "examples[0]: write exactly one of result, blocks",
    "icons: [{sizes: [1x1]}]": "icons[0].src: is missing",
    "page_size: 0": "page_size: must be at least 1",
}
SMALL = """\
mcp_sim: 1
tools:
  - {name: get_ticket, inputSchema: {type: object, properties: {ticket_id: {type: string}}, required: [ticket_id]}}
  - name: list_tickets
    inputSchema: {type: object}
    outputSchema:
      type: object
      properties: {tickets: {type: array, items: {type: object, properties: {id: {type: string}}}}}
"""


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_served_so_is_reported_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"{SMALL}{line}\n", encoding="utf-8")
    problems = [str(problem).removeprefix(f"{path}:9: ") for problem in check([path])]
    assert [problem for problem in problems if problem.startswith(WRONG[line])], problems


def test_the_spec_of_the_desk_has_no_problem_and_fits_the_editor_schema(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    assert [problem for problem in check([path]) if problem.severity == "error"] == []
    validator: Any = jsonschema.Draft202012Validator(tool_spec_schema())
    validator.validate(yaml12.load(SPEC.encode(), "desk.yaml").value)
