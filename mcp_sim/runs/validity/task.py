"""Tasks that scripted agents carry out on two sides: calls, and what calls at the end must show.

task: Put the leak on the board, in progress.
server: {env: {BOARD_FILE: "{folder}/board.json"}}   # only for a real server, which gets a fresh {folder} for each run
prepare:                                             # on both sides, before the faults
  - {call: new_item, arguments: {title: Bilge pump is loud}}
steps:                                               # as in the script of a scripted agent
  - call: new_item
    arguments: {title: Leak at the bow}
    keep: {item: id}
    check: {call: list_items, where: {title: Leak at the bow}, keep: {item: id}}
  - call: set_status
    arguments: {item_id: "{item}", status: in_progress}
    check: {call: get_item, arguments: {item_id: "{item}"}, where: {status: in_progress}}
goal:                                                # expectations of the kind `probe`, which may keep values
  - {tool: list_items, where: {title: Leak at the bow}, count: 1, keep: {item: id}}
  - {tool: get_item, arguments: {item_id: "{item}"}, where: {status: in_progress}}

Instead of steps and a goal, `recording: FILE` names a recorded session: its calls that write are the task, and what its
last calls that read have shown is the goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcp_sim.grading.expectations.probe import Probe, occurrences, shown_text, shown_value
from mcp_sim.runs.agents.script import Call, Script, Step, filled, find_shown, read_as, read_yaml
from mcp_sim.types import Json, Observation, Record
from mcp_sim.types.errors import UsageError


class Goal(Probe):
    """What a call at the end must show. `keep` names values of its answer for the goals that follow.

    `as_often`: texts that the answer has as often as after the task was done on this side without faults. Texts of
    recordings are judged so, since sides show them in other forms.
    """

    keep: dict[str, str] = Field(default_factory=dict[str, str], description="Names for values of the answer.")
    as_often: list[str] = Field(default_factory=list[str], description="Texts that are shown as often as they should.")

    def filled(self, kept: Mapping[str, Json]) -> Goal:
        """Return the goal with kept values for `{name}`."""
        return Goal.model_validate(filled(self.model_dump(exclude_unset=True), kept))

    def kept_from(self, observation: Observation) -> Record:
        """Return the values to keep of an answer: of the first object that fits, if it looks for objects."""
        value: Json = next(iter(self.fitting(observation)), None) if self.where else shown_value(observation)
        return {name: find_shown(value, path) for name, path in self.keep.items()}

    def counts(self, observation: Observation) -> dict[str, int]:
        """Return how often an answer shows the texts of `as_often`."""
        text = "" if not observation.ok else shown_text(observation)
        return {wanted: occurrences(text, wanted) for wanted in self.as_often}


class ServerOptions(BaseModel):
    """How a real server is started. `{folder}` is a fresh folder, which is also its working directory."""

    model_config = ConfigDict(extra="forbid")

    env: dict[str, str] = Field(default_factory=dict[str, str])


class Task(BaseModel):
    """A task for scripted agents."""

    model_config = ConfigDict(extra="forbid")

    task: str = ""
    server: ServerOptions = Field(default_factory=ServerOptions)
    folder: str = "/data"
    """What `{folder}` is in the calls of a simulation."""
    state: dict[str, Any] | None = None
    """The records that a simulation begins with; a real server gets its own by `prepare`. Beside one they are empty."""
    prepare: list[Call] = Field(default_factory=list[Call])
    steps: list[Step] = Field(default_factory=list[Step])
    goal: list[Goal] = Field(default_factory=list[Goal])
    recording: Path | None = None

    @model_validator(mode="after")
    def _has_an_aim(self) -> Task:
        if self.recording is None and not (self.steps and self.goal):
            raise ValueError("needs steps and a goal, or a recording to make them from")
        return self

    @property
    def script(self) -> Script:
        return Script(task=self.task, steps=self.steps)

    @property
    def tools(self) -> list[str]:
        prepared, goals = [call.call for call in self.prepare], [goal.tool for goal in self.goal]
        return [*dict.fromkeys([*prepared, *self.script.tools, *goals])]

    def refuse_unknown(self, tools: Mapping[str, Any], side: str) -> None:
        """Raise `UsageError` if a side lacks a tool of the task."""
        missing = [tool for tool in self.tools if tool not in tools]
        if missing:
            raise UsageError(
                f"{side} has no tool {', '.join(missing)}, which the task calls; it has {', '.join(tools)}"
            )


def read_task(path: Path) -> Task:
    """Read a task, or the recorded session that one is to be made from. Raises `UsageError` if it cannot be used."""
    if path.suffix == ".jsonl":
        return Task(recording=path)
    task = read_as(Task, read_yaml(path), path)
    recording = None if task.recording is None else path.parent / task.recording
    return task.model_copy(update={"recording": recording})
