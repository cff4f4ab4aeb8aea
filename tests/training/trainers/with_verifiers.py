"""verifiers 0.4.0: its own taskset `nemo_gym` against `mcp-sim serve --gym`, two tasks with four rollouts each."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from urllib.request import urlopen

from verifiers.v1.tasksets.nemo_gym.taskset import NeMoGymConfig, NeMoGymTaskConfig, NeMoGymTaskset
from verifiers.v1.tasksets.nemo_gym.toolset import NeMoGymState, NeMoGymToolset
from verifiers.v1.types import AssistantMessage

CREATE = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


class Toolset(NeMoGymToolset):
    """The toolset of one rollout, without its server."""

    def __init__(self, state: NeMoGymState) -> None:
        self._own = state

    @property
    def state(self) -> NeMoGymState:
        return self._own


async def rollout(task, *, careful: bool) -> float:
    """Create the deal; after the failure look for it, or create it again."""
    metrics: dict[str, float] = {}
    trace = SimpleNamespace(id="t", state=NeMoGymState(), info={}, record_metric=metrics.__setitem__, branches=[])
    await task.setup(trace, None)
    tools = Toolset(trace.state)
    lost = await tools.call_tool("create_deal", CREATE)
    assert "504" in lost.content[0].text, lost
    if careful:
        found = json.loads((await tools.call_tool("list_deals", {"contact_id": "con_00001"})).content[0].text)
        deal = next(deal["id"] for deal in found["deals"] if deal["title"] == "Spring order")
    else:
        deal = json.loads((await tools.call_tool("create_deal", CREATE)).content[0].text)["id"]
    moved = "Error"
    for _ in range(6):
        moved = (await tools.call_tool("update_deal", {"deal_id": deal, "stage": "proposal"})).content[0].text
        if moved.startswith("{"):
            break
    message = AssistantMessage(role="assistant", content=f"Done: {deal}.")
    trace.branches = [SimpleNamespace(nodes=[SimpleNamespace(message=message, sampled=True, timestamp=0.0)])]
    return await task.nemo_gym(trace)


def tasks_of(url: str) -> list:
    with TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        with urlopen(f"{url}/rows?seeds=2") as response:
            rows.write_bytes(response.read())
        taskset = NeMoGymTaskset(NeMoGymConfig(dataset=rows, task=NeMoGymTaskConfig(resources_url=url)))
        return list(taskset.load())


async def main(tasks: list) -> None:
    assert len(tasks) == 2
    rewards = await asyncio.gather(*(rollout(task, careful=careful) for task in tasks for careful in (True, False) * 2))
    assert all(reward == 1.0 for reward in rewards[::2]), rewards
    assert all(reward < 1.0 for reward in rewards[1::2]), rewards
    print("verifiers: 2 tasks x 4 rollouts:", rewards)


asyncio.run(main(tasks_of(sys.argv[1])))
