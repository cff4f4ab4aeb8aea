"""A rollout for ART (`pip install openpipe-art==0.5.18 "openai<3"`), whose trajectories keep the choices of the model.

python examples/training/with_art.py      gather a group of rollouts with a scripted model
"""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import art

from mcp_sim.training import Environment, Task, tasks

SCENARIO = "flaky_crm"


async def rollout(model: art.Model, task: Task) -> art.Trajectory:
    """Play the task with the model. Raises `RuntimeError` if mcp-sim crashed: ART leaves such rollouts out."""
    environment, client = Environment(SCENARIO), model.openai_client()
    asked = environment.reset(**task.start)
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": asked}], tools=environment.tools())
    while not environment.done:
        reply = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=trajectory.tools
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        result = await environment.astep(reply.choices[0].message.model_dump())
        trajectory.messages_and_choices += [message.to_json() for message in result.messages]
    reward = environment.reward()
    if reward is None:
        raise RuntimeError(environment.crash)
    trajectory.reward = reward
    return trajectory.finish()


class Script(BaseHTTPRequestHandler):
    """A model that creates the deal, and gives up if that fails."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        arguments = json.dumps({"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})
        call = {"id": "a", "type": "function", "function": {"name": "create_deal", "arguments": arguments}}
        is_first = asked["messages"][-1]["role"] == "user"
        turn: dict[str, Any] = {"content": "", "tool_calls": [call]} if is_first else {"content": "I could not do it."}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **turn}}
        reply = {"id": "r", "object": "chat.completion", "created": 0, "model": "script", "choices": [choice]}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


async def main(port: int) -> None:
    model = art.Model(
        name="script",
        project="example",
        inference_base_url=f"http://127.0.0.1:{port}/v1",
        inference_api_key="unused",
        inference_model_name="script",
    )
    [task] = tasks(SCENARIO, [7])
    group = art.TrajectoryGroup(await asyncio.gather(*(rollout(model, task) for _ in range(4))))
    assert [len(trajectory.messages()) for trajectory in group.trajectories] == [4] * 4
    assert all("504" in trajectory.messages()[2]["content"] for trajectory in group.trajectories)
    print("ART: a group of four rollouts, rewards", *(trajectory.reward for trajectory in group.trajectories))


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(main(server.server_port))
    server.shutdown()
