"""A help desk whose world model is an endpoint, and questions that tests ask about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.responses import Response
from support.endpoint import Asked, Engine, completion, saying

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import Observation, ToolResult
from mcp_sim.types.kinds import Sink
from mcp_sim.world.world import World

Json = Any
TEXT = {"type": "string"}
TICKET = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "title": TEXT,
        "summary": {"type": "string", "minLength": 3},
        "effort": {"type": "integer", "minimum": 1, "maximum": 9},
        "customer_id": TEXT,
    },
    "required": ["id", "title", "summary", "effort", "customer_id"],
}
WEATHER = {
    "type": "object",
    "properties": {"outlook": TEXT, "degrees": {"type": "integer", "maximum": 60}},
    "required": ["outlook", "degrees"],
}


def ticket(number: int = 3, **fields: Json) -> Json:
    """Return a ticket as a good model shows it: the third is the next after those that the desk begins with."""
    shown = {"title": "one", "summary": "The chain slips.", "effort": 3, "customer_id": "customer_00001"}
    return {"id": f"ticket_{number:05}", **shown, **fields}


MADE = json.dumps(ticket())
"""A good model's answer to the creation of a ticket with the title `one`."""


def tool(name: str, arguments: list[str], output: Json = None) -> Json:
    properties = dict.fromkeys(arguments, TEXT)
    declared = {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": arguments[:1]}}
    return declared if output is None else {**declared, "outputSchema": output}


def listed(name: str, item: Json) -> Json:
    rows = {"type": "array", "items": item}
    return {"type": "object", "properties": {name: rows, "total": {"type": "integer"}}, "required": [name, "total"]}


CUSTOMER = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
TOOLS = [
    tool("create_ticket", ["title", "customer_id"], TICKET),
    tool("get_ticket", ["ticket_id"], TICKET),
    tool("update_ticket", ["ticket_id", "title", "summary"], TICKET),
    tool("delete_ticket", ["ticket_id"]),
    tool("list_tickets", [], listed("tickets", TICKET)),
    tool("search_tickets", ["query"]),
    tool("get_customer", ["customer_id"], CUSTOMER),
    {**tool("forecast", ["city"], WEATHER), "annotations": {"readOnlyHint": True}},
    {**tool("explain", ["topic"]), "annotations": {"readOnlyHint": True}},
    tool("get_report", ["about"]),
    {"name": "tidy_up", "inputSchema": {"type": "object", "properties": {"what": TEXT}}},
]

Desk = Callable[..., Simulator]
"""Makes the simulator, given the endpoint's URL, sinks and options of the world model."""


def desk_in(folder: Path, world: Json = None, *faults: Json, tools: Sequence[Json] = ()) -> Desk:
    """Return a factory for a help desk whose documents are in this folder; `world` and `tools` add to its own."""
    more: dict[str, Json] = world or {}

    def simulator(url: str, sinks: tuple[Sink, ...] = (), **options: Json) -> Simulator:
        scenario: Json = {
            "mcp_sim": 1,
            "name": "desk",
            "tools": "desk.tools.json",
            "world": {
                "description": "The help desk of a bicycle shop in Ghent.",
                "records": {"ticket": {"count": 2, "rows": [{"id": "ticket_00001"}]}, "customer": 1},
                **more,
            },
            "world_model": {"openai": {"base_url": url, "model": "tiny", **options}},
            "perturbations": [*faults],
        }
        (folder / "desk.tools.json").write_text(json.dumps({"tools": [*TOOLS, *tools]}), encoding="utf-8")
        path = folder / "desk.yaml"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        return Simulator(load(path, trust=True), sinks)

    return simulator


def value(observation: Observation) -> Json:
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation
    return observation.body.value


async def said(engine: Engine, world: World, reply: Json, name: str, arguments: Json) -> Observation:
    """Return what a call is answered when this is the model's reply, as often as it is asked."""
    engine.respond = saying(reply if isinstance(reply, str) else json.dumps(reply))
    return await world.call(name, arguments)


def measured(world: World) -> dict[str, Json]:
    return [entry["measured"] for entry in world.ledger][-1]


def fenced(text: str) -> list[Json]:
    """Return every fenced JSON value in a message."""
    return [json.loads(block.partition("\n```")[0]) for block in text.split("```json\n")[1:]]


def last_asked(engine: Engine) -> list[dict[str, str]]:
    return engine.asked[-1].body["messages"]


async def agreeing(asked: Asked) -> Response:
    """Answer what the prompt says is likely."""
    return completion(json.dumps(fenced(asked.question)[1]["likely"]))
