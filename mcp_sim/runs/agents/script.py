"""Scripts: the calls that carry out a task, as YAML files.

task: Create the deal "Spring order" for Ada Vos.   # as in the scenario
steps:
  - call: create_deal                               # `server/tool` where there are several servers
    arguments: {title: Spring order, contact_id: con_00001}
    keep: {deal: id}                                # names for values of the answer, by path or expression
    check:                                          # finds the effect of a call that writes, or what a call would show
      call: list_deals
      arguments: {contact_id: con_00001}
      rows: deals                                   # the list in its answer; '': any object in it
      where: {title: Spring order}
      keep: {deal: id}                              # or `shows: [Spring order]`, for an answer that is a text
    # look: {call: ..., keep: ...}                  # what is read right before the call
  - call: update_deal
    arguments: {deal_id: "{deal}", stage: proposal} # a kept value
answer: Created {deal}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.trust import read_whole
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import map_texts, objects_in

M = TypeVar("M", bound=BaseModel)
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
    lasts: bool = True
    """Whether the effect is still there after all steps, so that an agent can verify it at the end."""

    def find(self, value: Json, kept: Mapping[str, Json]) -> Json:
        """Return the record in an answer that fits, or the part of it that shows the texts; None if nothing does."""
        if self.shows:
            return around(value, filled(self.shows, kept))
        wanted = filled(self.where, kept)
        place = at(value, self.rows) if self.rows else value
        rows = [as_object(row) for row in as_list(place) or [place]] if self.rows else [*objects_in(place)]
        return next((row for row in rows if wanted.items() <= row.items()), None)


class Step(Call):
    """A step of a script. Calls that write have a check."""

    look: Call | None = None
    """What is read right before the call, such as the screen on which it clicks."""
    check: Check | None = None


class Notice(Call):
    """The call that puts something away which came in front of a screen, if an answer shows this text."""

    shows: str


class Script(BaseModel):
    """The calls that carry out a task."""

    model_config = ConfigDict(extra="forbid")

    task: str
    steps: list[Step]
    notices: list[Notice] = Field(default_factory=list["Notice"])
    answer: str = "Done."

    @property
    def tools(self) -> list[str]:
        others = [call for step in self.steps for call in (step.look, step.check) if call]
        return [*dict.fromkeys(call.call for call in (*self.steps, *others, *self.notices))]

    def refuse_unknown(self, tools: Iterable[str]) -> None:
        """Raise `UsageError` for a tool that is not among those of the server."""
        known = {*tools}
        for name in self.tools:
            if name not in known:
                hint = did_you_mean(name, known)
                raise UsageError(f"the script calls {name!r}, which the server does not have{hint}")


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of libyaml, where PyYAML is built with it: an agent reads all scripts to find its own, ten times as
long without."""


@cache
def scripts() -> tuple[Script, ...]:
    return tuple(read_script(path) for path in sorted(SHIPPED.glob("*.yaml")))


def read_script(path: Path) -> Script:
    """Read a script. Raises `UsageError` if it cannot be used."""
    return read_as(Script, read_yaml(path), path)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file. Raises `UsageError` if it cannot be read."""
    try:
        return yaml.load(read_whole(path).decode(), _LOADER)  # noqa: S506 (each of its values is a safe loader)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from None


def read_as(model: type[M], document: Any, path: Path) -> M:
    """Return the content of a file as a model. Raises `UsageError` with all its problems."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        problems = error_messages(error, model, document)
        texts = [f"{dotted(place)}: {text}" if place else text for place, text in problems]
        raise UsageError(f"{path}: {'; '.join(texts)}") from None


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
        if not items:
            value = as_object(value).get(segment)
        else:
            value = items[int(segment)] if segment.isdecimal() and int(segment) < len(items) else None
    return value


def around(value: Json, texts: Sequence[str]) -> Json:
    """Return the smallest object, or the line, that shows some texts; all if they are apart, None if one is missing."""
    if not all(text in _written(value) for text in texts):
        return None
    if isinstance(value, str):
        return next((line for line in value.splitlines() if all(text in line for text in texts)), value)
    showing = [item for item in objects_in(value) if all(text in _written(item) for text in texts)]
    return showing[-1] if showing else value


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def find_shown(value: Json, path: str) -> Json:
    """Return the value at a dotted path, else that of a field of this name, or after this word in a text.

    A path with a group, `#(\\d+)`, is a regular expression for a text.
    """
    if "(" in path:
        match = re.search(path, _written(value))
        return _number_or_text(match[1]) if match else None
    exact = at(value, path)
    if exact is not None:
        return exact
    name = path.rpartition(".")[2]
    for record in objects_in(value):
        if record.get(name) is not None:
            return record[name]
    match = (
        re.search(rf"\b{re.escape(name)}\W{{1,4}}([\w-]+)", value, re.IGNORECASE) if isinstance(value, str) else None
    )
    return _number_or_text(match[1]) if match else None


def _number_or_text(text: str) -> Json:
    return int(text) if text.isdecimal() and str(int(text)) == text else text


def filled(value: Any, kept: Mapping[str, Json]) -> Any:
    """Return a value with `{name}` replaced by kept values; a text that is nothing else becomes the value itself."""

    def change(text: str) -> Json:
        alone = _KEPT.fullmatch(text)
        if alone and alone[1] in kept:
            return kept[alone[1]]
        return _KEPT.sub(lambda match: str(kept.get(match[1], match[0])), text)

    return map_texts(value, change)
