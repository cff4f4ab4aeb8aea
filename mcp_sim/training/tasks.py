"""The tasks of a scenario: one for each seed and intensity, with keys that stay; and a curriculum over intensities."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from mcp_sim.simulator.compile import load
from mcp_sim.types import Record


@dataclass(slots=True)
class Task:
    """An episode to begin: `environment.reset(**task.start)`. Equal keys mean the same world and the same faults."""

    key: str
    prompt: str
    seed: int
    intensity: float | None = None

    @property
    def start(self) -> dict[str, Any]:
        """The parameters of `Environment.reset`."""
        return {"seed": self.seed, "intensity": self.intensity}

    def row(self) -> Record:
        """Return the row of a data set for trainers that pass its columns to `reset`."""
        return {"prompt": [{"role": "user", "content": self.prompt}], "key": self.key, **self.start}


def tasks(scenario: str | Path, seeds: Iterable[int], intensities: Sequence[float | None] = (None,)) -> Iterator[Task]:
    """Yield a task for each seed and intensity of a scenario; None is the scenario's own intensity.

    A key has the name of the scenario and a hash of its documents: it changes with them. Raises `UsageError` or
    `DocumentError` if the scenario cannot be loaded.
    """
    loaded = load(scenario)
    for seed in seeds:
        for intensity in intensities:
            level = "" if intensity is None else f"-i{intensity:g}"
            yield Task(f"{loaded.name}-{loaded.sha256[:8]}-s{seed}{level}", loaded.task, seed, intensity)


class Curriculum:
    """Raises the intensity of faults when the agent succeeds often, and lowers it when it seldom does.

    For trainers without a scheduler. No gain is promised: whether a curriculum helps depends on task and agent.
    """

    def __init__(
        self,
        levels: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
        up: float = 0.7,
        down: float = 0.3,
        window: int = 80,
    ) -> None:
        """Begin at the first level. `up`, `down`: shares of the last `window` episodes that succeeded."""
        self._levels, self._up, self._down, self._at = levels, up, down, 0
        self._recent = deque[bool](maxlen=window)

    @property
    def intensity(self) -> float:
        """The intensity of the next episode."""
        return self._levels[self._at]

    def note(self, *, success: bool) -> None:
        """Note the outcome of an episode at the present level."""
        self._recent.append(success)
        if len(self._recent) < (self._recent.maxlen or 0):
            return
        share = fmean(self._recent)
        step = (share > self._up and self._at < len(self._levels) - 1) - (share < self._down and self._at > 0)
        if step:
            self._at += step
            self._recent.clear()
