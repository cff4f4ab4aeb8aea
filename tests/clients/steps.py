"""Make the calls of `steps.json` through a client, as its agent would, and print one line per route.

A route is one way to the server. It opens a world by name; in it, tools are listed and called.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

Opens = Callable[[str], AbstractAsyncContextManager[Any]]
Lists = Callable[[Any], Awaitable[list[str]]]
Calls = Callable[[Any, str, dict[str, Any]], Awaitable[tuple[bool, str]]]

STEPS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("steps.json").read_text(encoding="utf-8"))


def run(routes: Mapping[str, Opens], names: Lists, call: Calls) -> None:
    """Take every route. `names` are those of the tools; `call` answers whether it failed, and its text."""
    for route, opens in routes.items():
        started = time.perf_counter()
        answers = asyncio.run(_answers(opens, names, call))
        seconds = round(time.perf_counter() - started, 2)
        print(json.dumps({"route": route, "seconds": seconds, "answers": answers}), flush=True)


def url(world: str) -> str:
    """Return the URL of a world: http://127.0.0.1:8000/w/anne/mcp. The command line has the part before its name."""
    return f"{sys.argv[1]}{world}/mcp"


async def _answers(opens: Opens, names: Lists, call: Calls) -> list[Any]:
    async with AsyncExitStack() as both:
        worlds = {world: await both.enter_async_context(opens(world)) for world in ("a", "b")}
        return [await _answer(step, worlds[step["world"]], names, call) for step in STEPS]


async def _answer(step: dict[str, Any], world: Any, names: Lists, call: Calls) -> Any:
    if "tool" not in step:
        return await names(world)
    failed, text = await call(world, step["tool"], step["arguments"])
    return {"failed": failed, "text": text}
