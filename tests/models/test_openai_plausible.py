"""Plausible answers of odd servers: each is served as it was written, and later answers about the same things agree.

The folder `plausible` has a file for each invented server: its tools, those of them that only read (`reads`), and a
session. `agrees_with` has the numbers of earlier calls about the same things.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.responses import Response
from support.endpoint import Asked, completion, serving

from mcp_sim import Simulator
from mcp_sim.types import Observation, RpcError, ToolResult
from mcp_sim.world.world import World

Json = Any
SERVERS: dict[str, Json] = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "plausible").glob("*.json"))
}


@dataclass
class Model:
    """A model that answers the call that is made now, and the question what it has changed."""

    reply: str = ""
    reads: bool = False
    asked: int = 0

    async def respond(self, asked: Asked) -> Response:
        self.asked += 1
        if asked.question.endswith("what this call has changed"):
            return completion(json.dumps({"changes": "none" if self.reads else "unknown"}))
        return completion(self.reply)


@asynccontextmanager
async def world_of(server: Json, model: Model, folder: Path) -> AsyncGenerator[World]:
    """Yield a world that knows only the tools."""
    (folder / "tools.json").write_text(json.dumps({"tools": server["tools"]}), encoding="utf-8")
    async with serving(model.respond) as engine:
        world_model = {"openai": {"base_url": engine.url, "model": "tiny"}}
        scenario = {"mcp_sim": 1, "tools": "tools.json", "world_model": world_model}
        (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
        async with Simulator.load(folder / "scenario.json").open() as world:
            yield world


def reply_of(answer: Json) -> str:
    """Return the reply of a model that means an answer: a text as it is, else the answer of the protocol."""
    result: Json = answer.get("result", {})
    content: Json = result.get("content", [])
    is_text = set(result) == {"content"} and len(content) == 1 and content[0]["type"] == "text"
    if is_text:
        return f"<predicted_observation>\n{content[0]['text']}\n</predicted_observation>"
    return json.dumps(answer if "error" in answer else result, ensure_ascii=False)


def altered(reply: str) -> str:
    """Return a reply with every number in its JSON raised."""

    def raised(value: Json) -> Json:
        if isinstance(value, dict):
            return {name: raised(part) for name, part in cast("dict[str, Json]", value).items()}
        if isinstance(value, list):
            return [raised(item) for item in cast("list[Json]", value)]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return round(value + (1 if isinstance(value, int) else 0.01), 4) if is_number else value

    return json.dumps(raised(json.loads(reply))) if reply.startswith("{") else reply


def served(observation: Observation) -> Json:
    body = observation.body
    if isinstance(body, RpcError):
        return {"error": {"code": body.code, "message": body.message, "data": body.data}}
    assert isinstance(body, ToolResult)
    structured = body.value if body.form == "structured" else None
    return {"content": [*body.content], "structuredContent": structured, "isError": body.is_error}


def written(answer: Json) -> Json:
    if "error" in answer:
        return {"error": {"data": None, **answer["error"]}}
    return {"structuredContent": None, "isError": False, **answer["result"]}


@pytest.mark.parametrize("name", SERVERS)
async def test_each_answer_is_served_as_written_and_holds_when_it_is_asked_for_again(name: str, tmp_path: Path) -> None:
    server, model = SERVERS[name], Model()
    shown = list[Json]()
    async with world_of(server, model, tmp_path) as world:
        for call in server["calls"]:
            model.reply, model.reads = reply_of(call["answer"]), call["tool"] in server["reads"]
            shown.append(served(await world.call(call["tool"], call["arguments"])))
            if model.reads and "result" in call["answer"]:
                model.reply = altered(model.reply)
                assert served(await world.call(call["tool"], call["arguments"])) == shown[-1], call["about"]
    assert shown == [written(call["answer"]) for call in server["calls"]]
    assert len(shown) == 10


async def test_an_answer_that_contradicts_only_what_is_inferred_is_no_crash(tmp_path: Path) -> None:
    cue = {"type": "string", "pattern": r"^\d+/\d+(\.\d+)?$"}
    stored = {"type": "object", "properties": {"cue": cue, "up": {"type": "number"}}, "required": ["cue", "up"]}
    number = {"type": "string", "pattern": r"^(\d+/)?\d+(\.\d+)?$"}
    given: Json = {"type": "object", "properties": {"cue": number, "up": {"type": "number"}}, "required": ["cue", "up"]}
    store = {"name": "store_cue", "description": "Store a cue.", "inputSchema": given, "outputSchema": stored}
    key = {"type": "object", "properties": {"cue": number}, "required": ["cue"]}
    tools = [store, {"name": "get_cue", "description": "Get a cue.", "inputSchema": key, "outputSchema": stored}]
    answer: Json = {"content": [], "structuredContent": {"cue": "1/14.7", "up": 6}, "isError": False}
    async with world_of({"tools": tools}, Model(json.dumps(answer)), tmp_path) as world:
        body = served(await world.call("store_cue", {"cue": "14.7", "up": 6}))
    assert body["structuredContent"]["cue"] == "1/14.7"
