"""Where in a document are we, and what is wrong there? Problems are noted with their place; none stops the reading."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ValidationError

from mcp_sim.spec.messages import sentences
from mcp_sim.spec.yaml12 import Document, Path, dotted
from mcp_sim.types import Json
from mcp_sim.types.errors import Problem
from mcp_sim.types.json_schema.shapes import as_list, as_object

M = TypeVar("M", bound=BaseModel)
NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a document, and the list to which its problems are added; all places of one reading share the list."""

    document: Document
    problems: list[Problem]
    value: Json
    path: Path = field(default=())

    def at(self, *parts: str | int) -> Place:
        """A part of this part; its value is None where there is none."""
        value = self.value
        for part in parts:
            value = _part(value, part)
            value = None if value is NOTHING else value
        return Place(self.document, self.problems, value, (*self.path, *parts))

    @property
    def dotted(self) -> str:
        """Where this is in its document, as problems name it."""
        return dotted(self.path)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def mapping(self) -> dict[str, Json]:
        """The value, if it is a mapping; else an empty one."""
        return as_object(self.value)

    @property
    def items(self) -> list[Place]:
        """The places of a list's items; none where it is no list."""
        return [self.at(index) for index in range(len(as_list(self.value)))]

    def error(self, message: str, severity: Literal["error", "warning"] = "error") -> None:
        """Note what is wrong here."""
        line = self.document.line(cast("Sequence[Hashable]", self.path))
        self.problems.append(Problem(self.document.file, line, self.dotted, message, severity))

    def warning(self, message: str) -> None:
        """Note what is doubtful here."""
        self.error(message, "warning")

    def read(self, model: type[M]) -> M | None:
        """This part as a model; None, with every problem noted, where it is none."""
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            for path, sentence in sentences(error, model, self.value):
                self.at(*path).error(sentence)
            return None

    def read_what_can_be(self, model: type[M], stand_in: dict[str, Json]) -> M:
        """This part as a model, without the keys that have problems, so that the rest of a document is looked at too.

        `stand_in` has values for the keys that must be there.
        """
        whole = self.read(model)
        if whole is not None:
            return whole
        kept = {name: value for name, value in self.mapping.items() if name in model.model_fields}
        try:
            return model.model_validate(stand_in | kept)
        except ValidationError as error:
            faulty = {detail["loc"][0] for detail in error.errors() if detail["loc"]}
            return model.model_validate(stand_in | {name: kept[name] for name in kept if name not in faulty})


def _part(value: Json, part: str | int) -> Json:
    if isinstance(value, dict):
        return cast("dict[Any, Json]", value).get(part, NOTHING)
    if isinstance(value, list) and isinstance(part, int) and part < len(cast("list[Json]", value)):
        return cast("list[Json]", value)[part]
    return NOTHING
