"""Places in documents. A problem is noted at its place, and reading continues."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import field
from typing import Literal, TypeVar, cast

from pydantic import BaseModel, ValidationError

from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.yaml12 import Document, Path, dotted
from mcp_sim.types import Json
from mcp_sim.types.errors import Problem
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import MISSING, get_part

M = TypeVar("M", bound=BaseModel)


@frozen
class Place:
    """A part of a document, and the list that its problems are added to. All places of one document share the list."""

    document: Document
    problems: list[Problem]
    value: Json
    path: Path = field(default=())

    def at(self, *parts: str | int) -> Place:
        """Return a nested place. Its value is None if the document has no such part."""
        value = get_part(self.value, parts)
        return Place(self.document, self.problems, None if value is MISSING else value, (*self.path, *parts))

    @property
    def dotted(self) -> str:
        """Return the path in the document as problems show it, such as `world.records.contact[0]`."""
        return dotted(self.path)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def mapping(self) -> dict[str, Json]:
        """Return the value if it is a mapping, else an empty mapping."""
        return as_object(self.value)

    @property
    def items(self) -> list[Place]:
        """Return the places of the items if the value is a list, else an empty list."""
        return [self.at(index) for index in range(len(as_list(self.value)))]

    def error(self, message: str, severity: Literal["error", "warning"] = "error") -> None:
        """Note an error here."""
        line = self.document.line(cast("Sequence[Hashable]", self.path))
        self.problems.append(Problem(self.document.file, line, self.dotted, message, severity))

    def warning(self, message: str) -> None:
        """Note a warning here."""
        self.error(message, "warning")

    def read(self, model: type[M]) -> M | None:
        """Return this part as a model. If it is invalid, note every problem and return None."""
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            for path, message in error_messages(error, model, self.value):
                self.at(*path).error(message)
            return None

    def read_leniently(self, model: type[M], required: dict[str, Json]) -> M:
        """Return this part as a model without its invalid keys, so that the rest of the document is checked too.

        `required` has substitutes for required keys. Every problem is noted.
        """
        complete = self.read(model)
        if complete is not None:
            return complete
        value: Json = {name: inner for name, inner in self.mapping.items() if name in model.model_fields}
        for is_last in (False, True):
            try:
                return model.model_validate(required | value)
            except ValidationError as error:
                paths = [path[:1] if is_last else path for path, _ in error_messages(error, model, value)]
                value = _without(value, paths)
        return model.model_validate(required | value)


def _without(value: Json, paths: Iterable[Path]) -> Json:
    """Return a mapping without the parts at the paths. A list with an invalid item is left out as a whole."""
    inner: dict[str | int, list[Path]] = {}
    for path in paths:
        if path:
            inner.setdefault(path[0], []).append(path[1:])
    kept = dict(value)
    for name, rests in inner.items():
        held = kept.pop(name, None)
        if isinstance(held, dict) and all((bool(rest) and rest[0] in held) for rest in rests):
            kept[name] = _without(held, rests)
    return kept
