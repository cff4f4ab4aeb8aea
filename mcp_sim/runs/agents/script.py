"""Scripts: the calls that carry out a task, as YAML files.

task: Create the deal "Spring order" for Ada Vos.   # as in the scenario
steps:
  - call: create_deal                               # `server/tool` where there are several servers
    arguments: {title: Spring order, contact_id: con_00001}
    keep: {deal: id}                                # names for values of the answer, by dotted path
    check:                                          # finds the effect of a call that writes, or what a call would show
      call: list_deals
      arguments: {contact_id: con_00001}
      rows: deals                                   # the list in its answer; '' if the answer is the record
      where: {title: Spring order}
      keep: {deal: id}                              # or `shows: [Spring order]`, for an answer that is a text
  - call: update_deal
    arguments: {deal_id: "{deal}", stage: proposal} # a kept value
answer: Created {deal}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field

from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object

SHIPPED = Path(__file__).parent / "scripts"
_KEPT = re.compile(r"\{(\w+)\}")


class Call(BaseModel):
    """A call, and the values to keep of its answer."""

    model_config = ConfigDict(extra="forbid")

    call: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    keep: dict[str, str] = Field(default_factory=dict)


class Check(Call):
    """A call that finds what another call wrote."""

    rows: str = ""
    where: dict[str, Any] = Field(default_factory=dict)
    shows: list[str] = Field(default_factory=list)
    """What an answer that is a text shows, instead of `rows`."""

    def find(self, value: Json, kept: Mapping[str, Json]) -> Record | None:
        """Return the record in an answer that fits; an empty one for a text that shows what it should."""
        if self.shows:
            return {} if all(text in str(value) for text in filled(self.shows, kept)) else None
        wanted = filled(self.where, kept)
        place = at(value, self.rows)
        rows = [as_object(row) for row in as_list(place) or [place]]
        return next((row for row in rows if wanted.items() <= row.items()), None)


class Step(Call):
    """A step of a script. Calls that write have a check."""

    check: Check | None = None


class Script(BaseModel):
    """The calls that carry out a task."""

    model_config = ConfigDict(extra="forbid")

    task: str
    steps: list[Step]
    answer: str = "Done."


def scripts() -> Iterator[Script]:
    """Yield the shipped scripts."""
    for path in sorted(SHIPPED.glob("*.yaml")):
        yield read_script(path)


def read_script(path: Path) -> Script:
    """Read a script. Raises `UsageError` if it cannot be used."""
    try:
        return Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not a script: {error}") from None


def script_for(task: str) -> Script:
    """Return the shipped script of a task. Raises `UsageError` for any other task."""
    shipped = next((script for script in scripts() if script.task.split() == task.split()), None)
    if shipped is None:
        raise UsageError(f"no script carries out this task: {task!r}; give one with --script FILE")
    return shipped


def at(value: Json, path: str) -> Json:
    """Return the part of a value at a dotted path, or None."""
    for segment in path.split(".") if path else ():
        items = as_list(value)
        value = (
            as_object(value).get(segment) if not items else items[int(segment)] if int(segment) < len(items) else None
        )
    return value


def filled(value: Any, kept: Mapping[str, Json]) -> Any:
    """Return a value with `{name}` replaced by kept values; a text that is nothing else becomes the value itself."""
    if isinstance(value, dict):
        return {name: filled(inner, kept) for name, inner in cast("Record", value).items()}
    if isinstance(value, list):
        return [filled(item, kept) for item in cast("list[Json]", value)]
    if not isinstance(value, str):
        return value
    alone = _KEPT.fullmatch(value)
    if alone and alone[1] in kept:
        return kept[alone[1]]
    return _KEPT.sub(lambda match: str(kept.get(match[1], match[0])), value)
