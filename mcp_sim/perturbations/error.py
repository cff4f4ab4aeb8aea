"""The backend refuses or fails; the call does not take effect."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mcp_sim.errors import CRASH_CODE
from mcp_sim.extensions import Perturbation, Stage, perturbations
from mcp_sim.options import Duration
from mcp_sim.types import Json, Observation, Proceed, RpcError, ToolResult, Transition, Turn

FAILURES: Mapping[int, str] = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    422: "invalid",
    429: "rate_limited",
    503: "unavailable",
    504: "timeout",
}
"""The failure kind of a status, as a tool spec's `errors:` name it; others are `internal` from 500, else `refused`."""


@perturbations.register("error")
class Error(Perturbation):
    """Answer with an error in the world's place. Nothing is committed: the call may safely be made again.

    In style `text` the agent reads what the tool spec's `errors:` say for this failure, else the message; in style
    `json` the text is a JSON object; in style `rpc` it is a JSON-RPC error instead of a tool result.
    """

    stage = Stage.BEFORE

    status: Annotated[int, Field(strict=True, ge=400, le=599)] = Field(
        default=503,
        description="The HTTP status the backend would have answered with; decides the default message.",
        examples=[503],
    )
    message: str | None = Field(
        default=None, description="What the agent reads. Default: the tool spec's wording, else the status in words."
    )
    body: Json = Field(default=None, description="The whole error object in style json, `data` in style rpc.")
    style: Literal["text", "json", "rpc"] | None = Field(
        default=None, description="How the error is told. Default: json where a body is given, else text."
    )
    code: Annotated[int, Field(strict=True)] = Field(default=-32603, description="The JSON-RPC code in style rpc.")
    retry_after: Duration | None = Field(
        default=None,
        description="After how long the agent is told to come back; told in whole seconds.",
        examples=["30s"],
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.code == CRASH_CODE:
            raise ValueError(f"code {CRASH_CODE} means a crash of mcp-sim; choose another")
        if self.style == "text" and self.body is not None:
            raise ValueError("a body goes with style json or rpc; in style text, write a message")
        return self

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        return Transition(self._observation(turn))

    def _observation(self, turn: Turn) -> Observation:
        style = self.style or ("text" if self.body is None else "json")
        if style == "rpc":
            return Observation(RpcError(self.code, self._message(), self._data()))
        if style == "json":
            body = {"error": {**self._data(), "message": self._message()}} if self.body is None else self.body
            return Observation(ToolResult(body, form="json", is_error=True))
        if self.message is not None:
            return Observation(ToolResult(self.message, form="text", is_error=True))
        return turn.tool.failure(self._failure(), self._message(), **{**turn.call.arguments, **self._data()})

    def _failure(self) -> str:
        return FAILURES.get(self.status, "internal" if self.status >= 500 else "refused")

    def _message(self) -> str:
        if self.message is not None:
            return self.message
        after = "" if self.retry_after is None else f"; try again in {self._seconds()} s"
        return f"{self.status} {_phrase(self.status)}{after}"

    def _data(self) -> Json:
        if self.body is not None:
            return self.body
        return {"status": self.status} | ({} if self.retry_after is None else {"retry_after": self._seconds()})

    def _seconds(self) -> int:
        return ceil(self.retry_after.total_seconds()) if self.retry_after is not None else 0


def _phrase(status: int) -> str:
    known = {entry.value: entry.phrase for entry in HTTPStatus}
    return known.get(status) or ("Server Error" if status >= 500 else "Request Refused")
