"""OpenEnv 0.10.0: its server with 500 sessions at once, each an episode of its own."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import uvicorn
import websockets
from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation

from mcp_sim.training.adapters.openenv import SUBMIT, environment_class

SESSIONS = 500
CALLS = [
    ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}),
    ("list_deals", {"contact_id": "con_00001"}),
    (SUBMIT, {"answer": "Done."}),
]


async def session(port: int, seed: int) -> tuple[str, float]:
    """Return the answer to the first call, and the reward."""
    async with websockets.connect(f"ws://127.0.0.1:{port}/ws", open_timeout=120) as socket:

        async def ask(kind: str, data: dict) -> dict:
            await socket.send(json.dumps({"type": kind, "data": data}))
            return json.loads(await socket.recv())["data"]

        begun = await ask("reset", {"seed": seed})
        assert begun["observation"]["metadata"]["task"].startswith("Create the deal")
        seen = [
            await ask("step", {"type": "call_tool", "tool_name": name, "arguments": arguments})
            for name, arguments in CALLS
        ]
        assert [step["done"] for step in seen] == [False, False, True]
        return seen[0]["observation"]["result"]["text"], seen[-1]["reward"]


async def main(port: int) -> None:
    outcomes = await asyncio.gather(*(session(port, number % 4) for number in range(SESSIONS)))
    assert {reward for _, reward in outcomes} == {0.6}, set(outcomes)
    assert all("504" in text for text, _ in outcomes)
    print(f"OpenEnv: {SESSIONS} sessions at once, no error")


def serve() -> int:
    """Serve in a thread; return the port."""
    app = create_fastapi_app(
        environment_class("flaky_crm"), CallToolAction, CallToolObservation, max_concurrent_envs=512
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server.servers[0].sockets[0].getsockname()[1]


asyncio.run(main(serve()))
