"""Rollouts in Ray 2.60.0 (`pip install ray`), with the simulator inside the worker, and what happens when it dies.

    python examples/training/with_ray.py      kill one of two workers, and play its tasks again

A worker holds its environments, so no call leaves its process. When it dies, its episodes are lost: Ray starts it anew,
and a task that is begun again has the same world and the same faults.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

import ray

from mcp_sim.training import Answer, Environment, ToolCall, tasks

SCENARIO = "flaky_crm"
CREATE = ToolCall("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})
LOOK = ToolCall("list_deals", {"contact_id": "con_00001"})
LONGEST = 300  # seconds


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)  # play_all begins lost tasks again
class Worker:
    """A process that plays whole episodes."""

    def __init__(self) -> None:
        self._environment = Environment(SCENARIO)

    def process(self) -> int:
        return os.getpid()

    def play(self, start: dict[str, Any]) -> dict[str, Any]:
        """Play the task with the given start; return its row of training data. The policy acts here."""
        self._environment.reset(**start)
        for _ in range(25):
            self._environment.step([CREATE, LOOK])
        self._environment.step(Answer("Done."))
        return self._environment.trajectory()


def play_all(starts: list[dict[str, Any]], workers: list[Any], victim: int | None = None) -> tuple[list[Any], set[int]]:
    """Return the rows of all tasks in order, and which were begun again. `victim` is a process to kill meanwhile."""
    waiting = {workers[at % len(workers)].play.remote(start): at for at, start in enumerate(starts)}
    rows, again = dict[int, Any](), set[int]()
    while waiting:
        [ready], _ = ray.wait([*waiting], timeout=LONGEST)
        at = waiting.pop(ready)
        try:
            rows[at] = ray.get(ready)
        except ray.exceptions.RayActorError:  # the worker died, or is starting anew
            again.add(at)
            time.sleep(0.5)
            waiting[workers[at % len(workers)].play.remote(starts[at])] = at
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
            victim = None
    return [rows[at] for at in range(len(starts))], again


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    pool = [Worker.remote() for _ in range(2)]
    wanted = [task.start for task in tasks(SCENARIO, range(40))]
    undisturbed, _ = play_all(wanted, pool)
    rows, again = play_all(wanted, pool, victim=ray.get(pool[0].process.remote()))
    assert again
    assert rows == undisturbed
    print(f"Ray: a worker was killed; {len(again)} of {len(wanted)} tasks were begun again, and no row differs")
    ray.shutdown()
