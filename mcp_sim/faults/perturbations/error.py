"""The backend refuses or fails; the call does not take effect."""

from __future__ import annotations

import re
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from mcp_sim.types import BrokenDelivery, Json, Observation, Proceed, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.error_templates import failure_of, status_phrase
from mcp_sim.types.errors import CRASH_CODE
from mcp_sim.types.json_text import encode
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


@perturbations.register("error")
class Error(Perturbation):
    """Answer with an error in the world's place. Nothing is committed: the call may safely be made again.

    In style `text` the agent reads what the tool spec's `errors:` say for this failure, else the message; in style
    `json` the text is a JSON object; in style `rpc` it is a JSON-RPC error instead of a tool result. In style `http` no
    MCP answer comes at all, but a plain HTTP response with this status, as from a gateway before the server: `headers`
    and `Retry-After` (from `retry_after`) go with it, and `body` (JSON, or a text as it is) or the message is its body.
    Such an error needs HTTP: over stdio it is refused when `serve` starts.
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
    body: Json = Field(
        default=None, description="The whole error object in style json, `data` in style rpc, the body in style http."
    )
    style: Literal["text", "json", "rpc", "http"] | None = Field(
        default=None, description="How the error is told. Default: json where a body is given, else text."
    )
    code: Annotated[int, Field(strict=True)] = Field(default=-32603, description="The JSON-RPC code in style rpc.")
    retry_after: Duration | None = Field(
        default=None,
        description="After how long the agent is told to come back; told in whole seconds.",
        examples=["30s"],
    )
    headers: dict[str, str] = Field(
        default_factory=dict[str, str], description="More headers of the response in style http."
    )

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _FRAMING:
                raise ValueError(f"{name!r} cannot be set as a header")
            if not value.isprintable() or not value.isascii():
                raise ValueError(f"the value of {name} must be printable ASCII")
        return headers

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.code == CRASH_CODE:
            raise ValueError(f"code {CRASH_CODE} means a crash of mcp-sim; choose another")
        if self.style == "text" and self.body is not None:
            raise ValueError("a body goes with style json, rpc or http; in style text, write a message")
        if self.headers and self.style != "http":
            raise ValueError("headers go with style http")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({"http"}) if self.style == "http" else frozenset()

    def ends_calls(self) -> bool:
        return True

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        return Transition(self._observation(turn))

    def _observation(self, turn: Turn) -> Observation:
        style = self.style or ("text" if self.body is None else "json")
        if style == "http":
            return Observation(self._response())
        if style == "rpc":
            return Observation(RpcError(self.code, self._message(), self._data()))
        if style == "json":
            body = {"error": {**self._data(), "message": self._message()}} if self.body is None else self.body
            return Observation(ToolResult(body, form="json", is_error=True))
        if self.message is not None:
            return Observation(ToolResult(self.message, form="text", is_error=True))
        slots = {**turn.call.arguments, **self._data()}
        return turn.tool.failure(failure_of(self.status), self._message(), **slots)

    def _response(self) -> BrokenDelivery:
        is_text = self.body is None or isinstance(self.body, str)
        kind = "text/plain; charset=utf-8" if is_text else "application/json"
        told = {} if self.retry_after is None else {"Retry-After": str(self._seconds())}
        given = {name.lower() for name in self.headers}
        headers = {name: value for name, value in {"Content-Type": kind, **told}.items() if name.lower() not in given}
        text = self._message() if self.body is None else self.body
        body = text if isinstance(text, str) else encode(text).decode()
        return BrokenDelivery("http", self.status, {**headers, **self.headers}, body)

    def _message(self) -> str:
        if self.message is not None:
            return self.message
        after = "" if self.retry_after is None else f"; try again in {self._seconds()} s"
        return f"{status_phrase(self.status)}{after}"

    def _data(self) -> Json:
        if self.body is not None:
            return self.body
        return {"status": self.status} | ({} if self.retry_after is None else {"retry_after": self._seconds()})

    def _seconds(self) -> int:
        return ceil(self.retry_after.total_seconds()) if self.retry_after is not None else 0
