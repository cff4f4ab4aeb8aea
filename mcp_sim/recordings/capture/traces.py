"""Convert the entries of traces of mcp-sim to the lines of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from mcp_sim.recordings.capture.conversation import iso
from mcp_sim.recordings.responders import answer_of
from mcp_sim.types import BrokenDelivery, Observation, Record
from mcp_sim.types.tools import Tool
from mcp_sim.world.trace import step_from_json


def session_of(entries: Iterable[Record], tools: Mapping[str, Tool]) -> Iterator[tuple[str, Record]]:
    """Yield the server and the line of each call in the entries of one world.

    `tools` are those of the scenario by id; without them all calls are of the server ''.
    """
    for entry in entries:
        step = entry.get("step")
        if step is None or step["entry"] != "call":
            continue
        tool = tools.get(step["tool"])
        line = {"tool": tool.name if tool else step["tool"], "arguments": step["arguments"]}
        observation = step_from_json(step).served
        at = iso(datetime.fromisoformat(step["at"]).timestamp())
        yield tool.server if tool else "", _line(line, observation, at)


def _line(line: Record, observation: Observation | None, at: str) -> Record:
    if observation is None or isinstance(observation.body, BrokenDelivery):
        return {"type": "unanswered", "method": "tools/call", **line, "at": at}
    return {"type": "call", **line, **answer_of(observation), "at": at, "ms": observation.delay.total_seconds() * 1000}
