"""The refusals of the control plane, each with the status of its response."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from mcp_sim.server.control.models import ErrorBody, Located, Refused
from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, McpSimError


class ControlError(McpSimError):
    """A request that is refused: what is wrong, where, and what to do."""

    def __init__(self, status: int, message: str, problems: Sequence[Located] = ()) -> None:
        self.status, self.problems = status, tuple(problems)
        super().__init__(message)

    @property
    def body(self) -> Refused:
        return Refused(error=ErrorBody(message=str(self), problems=list(self.problems)))


class NotFound(ControlError):
    """Something that a request names does not exist."""

    def __init__(self, message: str) -> None:
        super().__init__(404, message)


class Conflict(ControlError):
    """A request that the world, as it is now, does not allow."""

    def __init__(self, message: str) -> None:
        super().__init__(409, message)


class Invalid(ControlError):
    """A request with invalid parts."""

    def __init__(self, problems: Sequence[Located]) -> None:
        super().__init__(422, "the request is invalid", problems)


def of_fault(error: DocumentError, place: str) -> Invalid:
    """Return the refusal of an invalid fault, with its problems below its place in the request."""
    return Invalid(
        [
            Located(path=f"{place}{problem.path.removeprefix('[0]')}", message=problem.message)
            for problem in error.problems
        ]
    )


def of_model(error: ValidationError, value: Json, model: type[Json]) -> Invalid:
    """Return the refusal of a value that is not of a model."""
    return Invalid(
        [Located(path=dotted(path), message=message) for path, message in error_messages(error, model, value)]
    )
