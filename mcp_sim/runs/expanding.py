"""Concrete tasks from a template: a scenario whose `pick:` binds records of each seed.

    pick:
      buyer: {entity: contact, where: {stage: lead}}
    task: Create the deal "Spring order" for {{buyer.name}}.

`{{buyer.name}}` may occur anywhere in the scenario and its script. A task is kept if the agent `golden` passes it and
the agent that gives up fails.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field

from mcp_sim.runs.agents.script import Script, read_as
from mcp_sim.runs.agents.trials import GIVING_UP, graded, passes
from mcp_sim.runs.hunting.case import relocated
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec import yaml12
from mcp_sim.spec.sources import display
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, Problem, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.grades import failed_first
from mcp_sim.types.json_values import map_texts
from mcp_sim.world.state import State

GRADED = ("naive_retry", "verify_then_retry", "duplicate_writer", GIVING_UP)
"""The agents whose share of failures is the difficulty of a task."""

_SLOT = re.compile(r"\{\{(\w+)\.(\w+)\}\}")


class Pick(BaseModel):
    """Which record a name is bound to: one of an entity whose fields have these values."""

    model_config = ConfigDict(extra="forbid")

    entity: str
    where: dict[str, Any] = Field(default_factory=dict)


class _Picks(BaseModel):
    pick: dict[str, Pick] = Field(default_factory=dict[str, Pick])


@frozen
class Concrete:
    """A task of one seed. `difficulty`: the share of graded agents that fail, 0 to 1; None if it was not kept."""

    seed: int
    scenario: Record
    script: Record
    difficulty: float | None
    reason: str = ""
    """Why it was not kept."""
    because: str = ""
    """What the agent lacks that should have passed, as a sentence."""


class Template:
    """A scenario with `pick:`, and the script that carries out its task. Raises `UsageError` if either is unusable."""

    def __init__(self, path: Path, script: Path) -> None:
        self._path, document = path, _read(path)
        self._picks = read_as(_Picks, {"pick": document.pop("pick", {})}, path).pick
        self._document, self._script, self._script_path = document, _read(script), script
        self.name = str(document.get("name") or path.stem)

    async def concrete(self, seed: int, folder: Path) -> Concrete:
        """Return the task of a seed, tried in a file of `folder`."""
        bound = self._bound(seed, folder)
        scenario: Record = {**_filled(self._document, bound), "name": f"{self.name}-s{seed}", "seed": seed}
        script = _filled(self._script, bound)
        with self._written(scenario, folder) as path:
            async with Simulator(load(path)) as simulator:
                script["task"] = simulator.scenario.task
                agents = read_as(Script, script, self._script_path)
                grade, _ = await graded("golden", agents, simulator, seed)
                if grade.outcome != "passed":
                    verdict = next(iter(failed_first(grade.verdicts)), None)
                    because = verdict.because if verdict and verdict.outcome == "failed" else grade.because
                    return Concrete(seed, scenario, script, None, "the agent golden fails", because)
                passed = [(await passes(name, agents, simulator, seed))[0] for name in GRADED]
        if passed[-1]:
            return Concrete(seed, scenario, script, None, "the agent that gives up passes")
        return Concrete(seed, scenario, script, passed.count(False) / len(passed))

    def _bound(self, seed: int, folder: Path) -> Mapping[str, Record]:
        """Return the record of each name in the world of a seed."""
        with self._written({**self._document, "seed": seed, "task": "", "expect": []}, folder) as path:
            base = Simulator(load(path)).base(seed)
            return {name: _picked(base, name, pick, seed) for name, pick in self._picks.items()}

    @contextmanager
    def _written(self, scenario: Record, folder: Path) -> Generator[Path]:
        """Write a scenario to a file while it is used. Its problems are shown as those of the template."""
        path = folder / f".{os.getpid()}.yaml"
        path.write_text(document_text(self.moved(scenario, folder)), encoding="utf-8")
        try:
            yield path
        except DocumentError as error:
            raise DocumentError([self._moved_back(problem, path) for problem in error.problems]) from None
        finally:
            path.unlink()

    def _moved_back(self, problem: Problem, path: Path) -> Problem:
        """Return a problem of a written file as of the template, whose lines are others."""
        message = problem.message.replace(display(path), display(self._path)).replace(path.name, self._path.name)
        is_here = problem.file == display(path)
        place = {"file": display(self._path), "line": 0} if is_here else {}
        return replace(problem, message=message, **place)

    def moved(self, scenario: Record, folder: Path) -> Record:
        """Return the scenario with its references to files as they are from another folder."""
        return relocated(scenario, self._path.parent, folder)


def document_text(document: Record) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def is_test(name: str, share: float) -> bool:
    """Whether a task is for tests: decided by a hash of its name, so that it never changes sides."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) / 2**32 < share


def _read(path: Path) -> Record:
    try:
        document: Any = yaml12.load(read_whole(path), str(path)).value
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(document, dict):
        raise UsageError(f"{path} is not a document: expected keys and values")
    return cast("Record", document)


def _picked(base: State, name: str, pick: Pick, seed: int) -> Record:
    """Return one of the records that fit, by a hash of seed and name."""
    rows = [row for _, row in base.rows(pick.entity) if pick.where.items() <= row.items()]
    if not rows:
        raise UsageError(f"pick.{name}: seed {seed} has no {pick.entity} with {pick.where}")
    return rows[int(sha256(f"{seed}/{name}".encode()).hexdigest()[:8], 16) % len(rows)]


def _filled(value: Json, bound: Mapping[str, Record]) -> Any:
    """Return a value whose slots are filled. A text that is one slot becomes the value itself."""

    def filled(text: str) -> Json:
        whole = _SLOT.fullmatch(text)
        return _SLOT.sub(lambda slot: str(_value(slot, bound)), text) if whole is None else _value(whole, bound)

    return map_texts(value, filled)


def _value(slot: re.Match[str], bound: Mapping[str, Record]) -> Json:
    name, field = slot[1], slot[2]
    if name not in bound or field not in bound[name]:
        known = ", ".join(f"{name}.{field}" for name, record in bound.items() for field in record)
        raise UsageError(f"{slot[0]}: no such name or field; known are {known or 'none, since `pick` is empty'}")
    return bound[name][field]
