"""What can be written in a tool spec? `mcp_sim: 1`, the tools of one server, and what they do not tell themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from mcp_sim.spec.parts.content import Blocks, IconPart, Part, one_of
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.parts.surface import PromptPart, ResourcePart, StubPart
from mcp_sim.types import Json
from mcp_sim.types.errors import CRASH_CODE, did_you_mean
from mcp_sim.types.options import Count


class Root(Part):
    """A whole document. A key that is null is as good as left out: so it looks when all under it is commented out."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        body = cast("dict[str, Any]", value)
        return {key: part for key, part in body.items() if part is not None or key not in cls.model_fields}


def _empty_for_null(value: Any) -> Any:
    return {} if value is None else value


class EntityPart(Part):
    """A kind of record."""

    key: str = Field(default="id", description="The field that identifies a record.")
    key_like: str | int | None = Field(
        default=None, description="An example id; the next ids follow its pattern.", examples=["con_00001"]
    )
    fields: dict[str, dict[str, Json]] = Field(
        default_factory=dict[str, dict[str, Any]],
        description="Field -> JSON Schema; {link: ENTITY} where the value is the id of another record, {hidden: true} "
        "where no tool shows it but one that asks for it.",
        examples=[{"email": {"type": "string"}, "company_id": {"link": "company"}}],
    )
    required: list[str] = Field(
        default_factory=list[str], description="The fields among them that every record has.", examples=[["email"]]
    )
    singleton: bool = Field(default=False, description="There is one, and no more: settings, an account, a volume.")
    natural: bool = Field(
        default=False, description="The key is a name or a path that callers choose, free again when it is gone."
    )
    open: bool = Field(
        default=False, description="There is a record for whatever is asked for; it is made up at the first question."
    )

    @model_validator(mode="after")
    def _required_are_fields(self) -> Self:
        for name in self.required:
            if name not in self.fields:
                raise ValueError(f"required: there is no field {name!r}{did_you_mean(name, self.fields)}")
        return self

    @field_validator("fields")
    @classmethod
    def _links_are_names(cls, fields: dict[str, dict[str, Json]]) -> dict[str, dict[str, Json]]:
        for name, body in fields.items():
            if not isinstance(body.get("link", ""), str):
                raise ValueError(f"the link of {name!r} must be the name of an entity")
            if not isinstance(body.get("hidden", False), bool):
                raise ValueError(f"hidden of {name!r} must be true or false")
        return fields


class RpcPart(Part):
    """A JSON-RPC error."""

    code: int = Field(description="The code.", examples=[-32602])
    message: str = Field(description="The message; {slots} are filled.")
    data: Json = Field(default=None, description="The data; {slots} in its strings are filled.")

    @model_validator(mode="after")
    def _no_crash(self) -> Self:
        if self.code == CRASH_CODE:
            raise ValueError(f"code {CRASH_CODE} means a crash of mcp-sim; choose another")
        return self


class ErrorPart(Part):
    """A failure that is more than a text: exactly one of these."""

    text: str | None = Field(default=None, description="A text; {slots} are filled.")
    json_text: Json = Field(default=None, alias="json", description="A JSON value, sent as text.")
    structured: dict[str, Json] | None = Field(default=None, description="A JSON object, sent as structured content.")
    rpc: RpcPart | None = Field(default=None, description="A JSON-RPC error instead of a result.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, "text", "json_text", "structured", "rpc")
        return self


class ExamplePart(Part):
    """A recorded call."""

    tool: str = Field(description="The name of the tool.")
    arguments: dict[str, Json] = Field(default_factory=dict[str, Any], description="What it was called with.")
    result: Json = Field(default=None, description="The structured content of its result, or its text.")
    blocks: Blocks | None = Field(default=None, description="Its result, where it is made of content blocks.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        one_of(self, "result", "blocks")
        return self


def _as_error(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("must be a text, or a mapping with one of text, json, structured, rpc")
    return {"text": value} if isinstance(value, str) else cast("Any", value)


Style: TypeAlias = Literal["github", "stripe", "google", "aws", "salesforce", "slack", "mcp"]
Error = Annotated[ErrorPart, BeforeValidator(_as_error, json_schema_input_type=str | ErrorPart)]
Entity = Annotated[EntityPart, BeforeValidator(_empty_for_null, json_schema_input_type=EntityPart | None)]


def _tools(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("must be the name of a file with a tools/list result, or the list itself")
    return cast("Any", value)


class ToolSpecDocument(Root):
    """What one MCP server offers, and what its tools do not tell themselves."""

    mcp_sim: Literal[1] = Field(description="The version of the format.")
    name: str | None = Field(
        default=None, min_length=1, description="What the server calls itself. Default: the file's name."
    )
    version: str = Field(default="1.0.0", description="The server's version.")
    title: str | None = Field(default=None, description="The server's name for people.")
    description: str | None = Field(default=None, description="What the server is.")
    instructions: str | None = Field(default=None, description="What the server tells a client that connects.")
    website: str | None = Field(default=None, description="The URL of a page about the server.")
    icons: list[IconPart] = Field(default_factory=list[IconPart], description="The server's icons.")
    page_size: Count | None = Field(
        default=None, description="Lists are served in pages of this size. Default: whole, since clients read one page."
    )
    tools: Annotated[Json, BeforeValidator(_tools, json_schema_input_type=str | list[dict[str, Json]])] = Field(
        description="A file with a tools/list result, relative to this one, or the list itself."
    )
    entities: dict[str, Entity] = Field(
        default_factory=dict[str, EntityPart], description="The kinds of records, where the tools do not tell."
    )
    sim: dict[str, SimPart] = Field(
        default_factory=dict[str, SimPart],
        description="Tool -> what it does, where `mcp-sim plan` shows a wrong guess.",
    )
    errors: dict[str, Error] = Field(
        default_factory=dict[str, ErrorPart],
        description="Failure (not_found, invalid, timeout, rate_limited, conflict, ..., default) -> how it is worded.",
        examples=[{"not_found": "Contact {contact_id} not found"}],
    )
    error_style: Style | None = Field(
        default=None, description="Failures are worded as this vendor does; `errors` replaces single ones."
    )
    examples: list[ExamplePart] = Field(
        default_factory=list[ExamplePart], description="Recorded calls: ground for format and wording."
    )
    stubs: list[StubPart] = Field(
        default_factory=list[StubPart], description="Canned answers, after those of the scenario."
    )
    resources: list[ResourcePart] = Field(
        default_factory=list[ResourcePart], description="What can be read: resources, and templates of them."
    )
    prompts: list[PromptPart] = Field(default_factory=list[PromptPart], description="The prompts.")
    unknown_tool: Literal["rpc", "is_error"] = Field(
        default="rpc", description="How a call of a tool that does not exist is answered: JSON-RPC error, or isError."
    )
