"""Failures in tool specs: texts, JSON, JSON-RPC errors."""

from __future__ import annotations

from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.parts.content import Part, one_of
from mcp_sim.types import Json
from mcp_sim.types.error_templates import Template
from mcp_sim.types.errors import CRASH_CODE


class RpcPart(Part):
    """A JSON-RPC error."""

    code: int = Field(description="Error code.", examples=[-32602])
    message: str = Field(description="Message; {slots} are filled.")
    data: Json = Field(default=None, description="Data; {slots} in its strings are filled.")

    @model_validator(mode="after")
    def _no_crash(self) -> Self:
        if self.code == CRASH_CODE:
            raise ValueError(f"code {CRASH_CODE} is reserved for crashes of mcp-sim; choose another")
        return self


class ErrorPart(Part):
    """A failure: exactly one of text, json, structured, rpc."""

    text: str | None = Field(default=None, description="Text; {slots} are filled.")
    json_text: Json = Field(default=None, alias="json", description="JSON value, sent as text.")
    structured: dict[str, Json] | None = Field(default=None, description="JSON object, sent as structured content.")
    rpc: RpcPart | None = Field(default=None, description="JSON-RPC error, sent instead of a result.")
    soft: bool = Field(default=False, description="true: sent as a successful result, without isError.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, "text", "json_text", "structured", "rpc")
        return self


def _as_error(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("expected a text, or a mapping with one of text, json, structured, rpc")
    return {"text": value} if isinstance(value, str) else cast("Any", value)


Error = Annotated[ErrorPart, BeforeValidator(_as_error, json_schema_input_type=str | ErrorPart)]


def error_template(error_part: ErrorPart) -> Template:
    """Return the template that a part of a document declares."""
    if error_part.rpc is not None:
        return Template("rpc", error_part.rpc.model_dump(exclude_unset=True))
    if error_part.structured is not None:
        return Template("structured", error_part.structured, error_part.soft)
    if error_part.text is not None:
        return Template("text", error_part.text, error_part.soft)
    return Template("json", error_part.json_text, error_part.soft)
