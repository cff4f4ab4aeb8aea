"""Errors instead of answers."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from mcp_sim.types import BrokenDelivery, Json, Observation, Proceed, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.error_templates import failure_kind, status_phrase, usual_wait
from mcp_sim.types.errors import CRASH_CODE
from mcp_sim.types.json_values import as_text
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


@perturbations.register("error")
class Error(Perturbation):
    """Return an error instead of the answer. Nothing is committed, so the call can safely be repeated.

    Style `text` is worded by the tool spec, `json` is a JSON object as text, `rpc` a JSON-RPC error, `http` a plain
    HTTP response, as from a gateway; over stdio `serve` refuses it.
    """

    stage = Stage.BEFORE

    status: Annotated[int, Field(strict=True, ge=400, le=599)] = Field(
        default=503, description="The HTTP status of the backend; it determines the default message.", examples=[503]
    )
    message: str | None = Field(
        default=None, description="The error text. Default: the tool spec's template, else the status and its name."
    )
    body: Json = Field(
        default=None, description="The whole error object in style json, `data` in style rpc, the body in style http."
    )
    style: Literal["text", "json", "rpc", "http"] | None = Field(
        default=None, description="The form of the error. Default: json if a body is given, else text."
    )
    code: Annotated[int, Field(strict=True)] = Field(default=-32603, description="The JSON-RPC code in style rpc.")
    retry_after: Duration | None = Field(
        default=None,
        description="How long the agent should wait; with style http the header Retry-After.",
        examples=["30s"],
    )
    after: Duration | None = Field(
        default=None,
        description="How long the agent waits for the error. Default: on the real clock 2s for 408 and 504, else 0s.",
    )
    headers: dict[str, str] = Field(
        default_factory=dict[str, str], description="Additional response headers in style http."
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
            raise ValueError("body is only valid with style json, rpc or http; in style text, use message")
        if self.headers and self.style != "http":
            raise ValueError("headers are only valid with style http")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({"http"}) if self.style == "http" else frozenset()

    def ends_calls(self) -> bool:
        return True

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        return Transition(replace(self._observation(turn), delay=turn.wait(self.after, usual_wait(self.status))))

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
        return turn.tool.failure(failure_kind(self.status), self._message(), **slots)

    def _response(self) -> BrokenDelivery:
        is_text = self.body is None or isinstance(self.body, str)
        kind = "text/plain; charset=utf-8" if is_text else "application/json"
        retry = {} if self.retry_after is None else {"Retry-After": str(self._seconds())}
        given = {name.lower() for name in self.headers}
        headers = {name: value for name, value in {"Content-Type": kind, **retry}.items() if name.lower() not in given}
        text = self._message() if self.body is None else self.body
        body = as_text(text)
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
