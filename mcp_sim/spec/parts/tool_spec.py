"""The keys of tool specs: the tools of one server, and what is declared about them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from mcp_sim.spec.parts.content import Blocks, Error, ErrorPart, IconPart
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.parts.surface import PromptPart, ResourcePart, StubPart
from mcp_sim.types import Json
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.options import Count, Part


class Root(Part):
    """A whole document. A null key counts as left out, as when everything under it is commented out."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        body = cast("dict[str, Any]", value)
        return {key: inner for key, inner in body.items() if inner is not None or key not in cls.model_fields}


def _empty_for_null(value: Any) -> Any:
    return {} if value is None else value


class EntityPart(Part):
    """A kind of record."""

    key: str = Field(default="id", description="Field that identifies a record.")
    key_like: str | int | None = Field(
        default=None, description="Example id; generated ids follow its pattern.", examples=["con_00001"]
    )
    fields: dict[str, dict[str, Json]] = Field(
        default_factory=dict[str, dict[str, Any]],
        description="Field -> JSON Schema. {link: ENTITY} if the value is the id of another record; {hidden: true} if "
        "only tools that ask for the field show it.",
        examples=[{"email": {"type": "string"}, "company_id": {"link": "company"}}],
    )
    required: list[str] = Field(
        default_factory=list[str], description="Fields that every record has.", examples=[["email"]]
    )
    singleton: bool = Field(
        default=False, description="true: there is exactly one record, such as settings or an account."
    )
    natural: bool = Field(
        default=False,
        description="true: the key is a name or path that callers choose; it can be used again after a delete.",
    )
    open: bool | None = Field(
        default=False,
        description="true: every requested record exists; it is generated when first requested. null: as if the entity "
        "were not declared.",
    )

    @model_validator(mode="after")
    def _required_are_fields(self) -> Self:
        for name in self.required:
            if name not in self.fields:
                raise ValueError(f"required: unknown field {name!r}{did_you_mean(name, self.fields)}")
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


class ExamplePart(Part):
    """A recorded call."""

    tool: str = Field(description="Name of the tool.")
    arguments: dict[str, Json] = Field(default_factory=dict[str, Any], description="Arguments of the call.")
    result: Json = Field(default=None, description="Structured content of the result, or its text.")
    blocks: Blocks | None = Field(default=None, description="Result as content blocks.")

    exactly_one = ("result", "blocks")


Style: TypeAlias = Literal["github", "stripe", "google", "aws", "salesforce", "slack", "mcp"]
Entity = Annotated[EntityPart, BeforeValidator(_empty_for_null, json_schema_input_type=EntityPart | None)]


def _tools(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("expected a file with a tools/list result, or a list of tools")
    return cast("Any", value)


class MeasuredPart(Part):
    """How faithful a fake was on recorded sessions that were set aside while it was written."""

    score: Annotated[float, Field(ge=0, le=1)] = Field(description="What `mcp-sim measure` gave.")
    calls: Count = Field(description="Number of recorded calls.")


class SimulatesPart(Part):
    """The real server that a spec simulates."""

    server: str = Field(description="The server, in words.", examples=["the public server for Gmail"])
    versions: dict[str, str] = Field(
        description="Version of the vendor's list that was compared -> what of it is simulated.",
        examples=[{"1.1.11": "19 of 19 tools"}],
    )
    state: str | None = Field(default=None, description="What `world.state` may set, in words.")
    missing: str | None = Field(default=None, description="What is known to differ from the real server, in words.")
    measured: MeasuredPart | None = Field(default=None, description="Measured fidelity.")


class ToolSpecDocument(Root):
    """A tool spec: what one MCP server offers, and what its tools do."""

    mcp_sim: Literal[1] = Field(description="Version of the format.")
    name: str | None = Field(
        default=None, min_length=1, description="Name that the server reports. Default: the file's name."
    )
    version: str = Field(default="1.0.0", description="Version of the server.")
    title: str | None = Field(default=None, description="Name of the server for people.")
    description: str | None = Field(default=None, description="Description of the server.")
    instructions: str | None = Field(default=None, description="Instructions sent to clients that connect.")
    website: str | None = Field(default=None, description="URL of a page about the server.")
    simulates: SimulatesPart | None = Field(
        default=None, description="The real server that this one simulates, and what is known of how well."
    )
    icons: list[IconPart] = Field(default_factory=list[IconPart], description="Icons of the server.")
    page_size: Count | None = Field(
        default=None, description="Page size of lists. Default: one page, since many clients read only the first."
    )
    tools: Annotated[Json, BeforeValidator(_tools, json_schema_input_type=str | list[dict[str, Json]])] = Field(
        description="File with a tools/list result, relative to this one, or the list of tools."
    )
    entities: dict[str, Entity] = Field(
        default_factory=dict[str, EntityPart], description="Entity -> its key and fields. What is left out is inferred."
    )
    sim: dict[str, SimPart] = Field(
        default_factory=dict[str, SimPart],
        description="Tool -> what it does. Corrects wrong guesses that `mcp-sim plan` shows.",
    )
    program: str | None = Field(
        default=None,
        description="Python file that answers tools, relative to this one; runs only with the user's trust. Or the "
        "name of a shipped tool spec whose program answers these tools.",
        examples=["library.py", "repositories"],
    )
    errors: dict[str, Error] = Field(
        default_factory=dict[str, ErrorPart],
        description="Failure (not_found, invalid, timeout, rate_limited, conflict, ..., default) -> its message.",
        examples=[{"not_found": "Contact {contact_id} not found"}],
    )
    error_style: Style | None = Field(
        default=None, description="Vendor whose error messages are used; `errors` replaces single ones."
    )
    examples: list[ExamplePart] = Field(
        default_factory=list[ExamplePart], description="Recorded calls, used for the format of answers."
    )
    stubs: list[StubPart] = Field(
        default_factory=list[StubPart], description="Canned answers, tried after those of the scenario."
    )
    resources: list[ResourcePart] = Field(
        default_factory=list[ResourcePart], description="Resources and resource templates."
    )
    prompts: list[PromptPart] = Field(default_factory=list[PromptPart], description="Prompts.")
    text: Literal["json", "prose"] | None = Field(
        default=None,
        description="Form of results that no outputSchema and no example shows: JSON text, or sentences. Default: "
        "inferred, the same for all tools.",
    )
    arguments: Literal["strict", "lenient"] = Field(
        default="strict",
        description="Whether texts for other types are refused, or read as FastMCP does: '5' as an integer, 'true' as "
        "a boolean, JSON text as a list or an object.",
    )
    unknown_tool: Literal["rpc", "is_error"] = Field(
        default="rpc", description="Answer to a call of an unknown tool: a JSON-RPC error, or a result with isError."
    )
