"""Calls that clients make as tasks, which protocol 2025-11-25 has: they poll for the result.

The world answers a call at once; a task is working for as long as the answer would have been delayed. One that is
cancelled has had its effect, as with servers that notice too late.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import uuid4
from weakref import WeakKeyDictionary

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

ERA = "2025-11-25"
CAPABILITY: Record = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
METHODS = frozenset({"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"})

RELATED = "io.modelcontextprotocol/related-task"
USUAL_SECONDS, MOST_SECONDS = 300.0, 3600.0
"""How long a task is kept: if its client asks for nothing else, and at most."""
MOST_TASKS = 1_000
"""Tasks of a world. Beyond, the oldest is forgotten."""
LEAST_POLL, MOST_POLL = 50, 1_000
"""Milliseconds that clients are asked to wait between two polls."""


@dataclass(slots=True, eq=False)
class _Task:
    caller: str
    result: Record | MCPError
    created: datetime
    due: float
    """When it ends, on the clock of the event loop."""
    ttl: float
    id: str = field(default_factory=lambda: uuid4().hex)
    is_cancelled: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def is_working(self) -> bool:
        return not self.is_cancelled and anyio.current_time() < self.due

    @property
    def status(self) -> str:
        if self.is_cancelled:
            return "cancelled"
        if self.is_working:
            return "working"
        is_failed = isinstance(self.result, MCPError) or self.result.get("isError") is True
        return "failed" if is_failed else "completed"

    def shown(self) -> Record:
        """Return what the client sees of it."""
        left = math.ceil((self.due - anyio.current_time()) * 1000)
        updated = self.created if self.is_working else datetime.now(UTC)
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created.isoformat(),
            "lastUpdatedAt": updated.isoformat(),
            "ttl": round(self.ttl * 1000),
            "pollInterval": min(max(left, LEAST_POLL), MOST_POLL),
        }


class Tasks:
    """The tasks of a server, by the world and the caller that they belong to."""

    def __init__(self) -> None:
        self._kept = WeakKeyDictionary[World, OrderedDict[str, _Task]]()

    def create(self, world: World, caller: str, result: Record | MCPError, delay: float, options: Json) -> Record:
        """Keep the result of a call that ends after `delay` seconds. Return the task, as the client sees it."""
        asked = as_object(options).get("ttl")
        is_number = isinstance(asked, int) and not isinstance(asked, bool) and asked > 0
        ttl = min(cast("int", asked), int(MOST_SECONDS * 1000)) / 1000 if is_number else USUAL_SECONDS
        task = _Task(caller, result, datetime.now(UTC), anyio.current_time() + delay, max(ttl, delay))
        kept = self._kept.setdefault(world, OrderedDict())
        kept[task.id] = task
        if len(kept) > MOST_TASKS:
            kept.popitem(last=False)
        return {"task": task.shown()}

    async def answer(self, world: World, caller: str, method: str, params: Record) -> Record:
        """Answer a request about tasks. Raises `MCPError` for an unknown one, or that of a failed call."""
        if method == "tasks/list":
            return {"tasks": [task.shown() for task in self._of(world, caller)]}
        task = next((task for task in self._of(world, caller) if task.id == params.get("taskId")), None)
        if task is None:
            raise MCPError(INVALID_PARAMS, "Failed to retrieve task: Task not found")
        if method == "tasks/cancel":
            if not task.is_working:
                raise MCPError(INVALID_PARAMS, f"Cannot cancel task: already in terminal status '{task.status}'")
            task.is_cancelled = True
            task.changed.set()
        if method == "tasks/result":
            with anyio.move_on_after(task.due - anyio.current_time()):
                await task.changed.wait()
            if task.is_cancelled:
                raise MCPError(INVALID_PARAMS, "The task was cancelled")
            if isinstance(task.result, MCPError):
                raise task.result
            meta = as_object(task.result.get("_meta"))
            return {**task.result, "_meta": {**meta, RELATED: {"taskId": task.id}}}
        return task.shown()

    def _of(self, world: World, caller: str) -> list[_Task]:
        """Return the tasks of a caller, and forget those that have expired."""
        kept, now = self._kept.get(world, OrderedDict[str, _Task]()), datetime.now(UTC)
        for task in [task for task in kept.values() if task.created + timedelta(seconds=task.ttl) < now]:
            del kept[task.id]
        return [task for task in kept.values() if task.caller == caller]


def support_of(scenario: Scenario, server: str) -> dict[str, str]:
    """Return the tools of a server that may or must be called as tasks: their id -> `optional` or `required`."""
    tools = {tool: scenario.domain.tools[tool].definition for tool in scenario.servers[server].tools}
    declared = {tool: as_object(body.get("execution")).get("taskSupport") for tool, body in tools.items()}
    return {tool: str(value) for tool, value in declared.items() if value in ("optional", "required")}


def check_way(support: str | None, *, is_task: bool) -> None:
    """Raise `MCPError` for a call that must be a task and is not, or the reverse."""
    if is_task and support is None:
        raise MCPError(METHOD_NOT_FOUND, "This tool cannot be called as a task")
    if not is_task and support == "required":
        raise MCPError(METHOD_NOT_FOUND, "This tool must be called as a task")
