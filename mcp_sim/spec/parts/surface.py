"""Resources, prompts, questions, notifications and stubs in documents."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.parts.content import (
    Annotations,
    AudioBlock,
    Base64,
    Block,
    Blocks,
    IconPart,
    ImageBlock,
    LinkBlock,
    Meta,
    ResourceBlock,
    TextBlock,
)
from mcp_sim.types import Json
from mcp_sim.types.options import Duration, MatcherSource, Part, one_of

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class AskPart(Part):
    """A question to the client, for its user or its model: exactly one of message, sample, roots."""

    message: str | None = Field(default=None, description="Question to the user; {slots} are filled.")
    form: dict[str, Json] | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the form the user fills in: an object of plain values.",
        examples=[{"type": "object", "properties": {"name": {"type": "string"}}}],
    )
    confirm: str | Literal[False] | None = Field(
        default=None,
        description="Boolean field of the form: unless it is true, the user declines; false: no field does. "
        "Default: false in the only boolean field declines.",
    )
    url: str | None = Field(default=None, description="URL that the user opens instead of filling in a form.")
    sample: str | dict[str, Json] | None = Field(
        default=None, description="Question to the client's model: a text, or the params of sampling/createMessage."
    )
    roots: Literal[True] | None = Field(default=None, description="true asks for the client's roots.")
    optional: bool = Field(
        default=False, description="true skips the question if the client does not support it. Default: the call fails."
    )

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        one_of(self, "message", "sample", "roots")
        if self.message is not None:
            one_of(self, "form", "url")
        elif self.model_fields_set & {"form", "url"}:
            raise ValueError("schema and url need a message")
        if self.confirm and self.form is None:
            raise ValueError("confirm names a field of a schema")
        if isinstance(self.sample, dict) and not {"messages", "maxTokens"} <= self.sample.keys():
            raise ValueError("the params of sampling/createMessage must have messages and maxTokens")
        return self


def _as_rounds(value: Any) -> Any:
    return cast("Any", [value]) if isinstance(value, dict) else value


Asks = Annotated[
    list[dict[str, AskPart]],
    BeforeValidator(_as_rounds, json_schema_input_type=dict[str, AskPart] | list[dict[str, AskPart]]),
]
"""Name -> question; or a list of such mappings, asked one after another."""


class NotifyPart(Part):
    """A notification during a call: exactly one of progress, log, changed, updated."""

    progress: float | None = Field(default=None, description="Progress of the call, sent to clients that ask for it.")
    total: float | None = Field(default=None, description="Progress at the end of the call.")
    message: str | None = Field(default=None, description="Text sent with the progress; {slots} are filled.")
    log: Json = Field(default=None, description="Log entry: a text, or data; {slots} are filled.")
    level: Level = Field(default="info", description="Severity of the log entry.")
    logger: str | None = Field(default=None, description="Name of the logger.")
    changed: Literal["tools", "prompts", "resources"] | None = Field(default=None, description="List that changed.")
    updated: str | None = Field(default=None, description="URI of a resource that changed.")
    after: Duration = Field(default=timedelta(0), description="Time after the previous one, or after the call's start.")

    exactly_one = ("progress", "log", "changed", "updated")

    @model_validator(mode="after")
    def _has_owners(self) -> Self:
        for key, owner in (("total", "progress"), ("message", "progress"), ("level", "log"), ("logger", "log")):
            if key in self.model_fields_set and owner not in self.model_fields_set:
                raise ValueError(f"{key} needs {owner}")
        return self


class StubPart(Part):
    """A canned answer. The first one that matches answers instead of the world, and nothing is committed."""

    tool: str = Field(description="Glob of tools.")
    arguments: dict[str, MatcherSource] = Field(
        default_factory=dict[str, Any], description="Argument -> matcher; all must match."
    )
    result: Json = Field(default=None, description="Result: structured content, or a text.")
    blocks: Blocks | None = Field(default=None, description="Result as content blocks; {slots} are filled.")
    error: str | None = Field(default=None, description="Text of an error.")

    exactly_one = ("result", "blocks", "error")


class ChoicesPart(Part):
    """Values of records of the world."""

    entity: str = Field(description="Entity of the records.")
    field: str | None = Field(default=None, description="Field with the values. Default: the key.")


Complete = list[str] | ChoicesPart


class ListedPart(Part):
    """What a list shows of a resource or a prompt; passed on unchanged."""

    title: str | None = Field(default=None, description="Name for people.")
    description: str | None = Field(default=None, description="Description.")
    icons: list[IconPart] | None = Field(default=None, description="Icons.")
    meta: Meta = None


class ResourcePart(ListedPart):
    """A resource (uri) or a template of resources (uriTemplate), and its contents: text, blob, record or records."""

    uri: str | None = Field(default=None, description="URI of one resource.")
    uriTemplate: str | None = Field(  # noqa: N815 (name in the protocol)
        default=None, description="URIs of several resources, with variables.", examples=["crm://contact/{id}"]
    )
    name: str = Field(description="Name.")
    mimeType: str | None = Field(default=None, description="MIME type.")  # noqa: N815 (name in the protocol)
    size: int | None = Field(default=None, description="Size in bytes.")
    annotations: Annotations = None
    text: str | None = Field(
        default=None, description="Text; {slots} are variables of the URI and, with record, fields of the record."
    )
    blob: Base64 | None = Field(default=None, description="Data in Base64.")
    record: str | None = Field(
        default=None, description="Entity of the record to show; the last variable is the record's key."
    )
    records: str | None = Field(default=None, description="Entity whose records are all shown.")
    complete: dict[str, Complete] = Field(
        default_factory=dict[str, Any], description="Variable -> values for completion, or {entity, field}."
    )

    @model_validator(mode="after")
    def _one_place_and_one_source(self) -> Self:
        one_of(self, "uri", "uriTemplate")
        if {"record", "text"} <= self.model_fields_set:
            one_of(self, "record", "records", "blob")
        else:
            one_of(self, "text", "blob", "record", "records")
        if self.record is not None and self.uriTemplate is None:
            raise ValueError("record needs a uriTemplate with a variable for the record's key")
        return self


class ArgumentPart(Part):
    """An argument of a prompt."""

    name: str = Field(description="Name.")
    title: str | None = Field(default=None, description="Name for people.")
    description: str | None = Field(default=None, description="Description.")
    required: bool | None = Field(default=None, description="Whether the argument is required.")
    complete: Complete | None = Field(
        default=None, description="Values for completion, or {entity, field} for values of records."
    )


class MessagePart(Part):
    """A message of a prompt."""

    role: Literal["user", "assistant"] = Field(default="user", description="Role of the speaker.")
    content: Block = Field(description="Content: a text, or a content block.")


def _as_message(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, dict) and "type" in value):
        return {"content": cast("Any", value)}
    return cast("Any", value)


Message = Annotated[
    MessagePart,
    BeforeValidator(
        _as_message,
        json_schema_input_type=str | MessagePart | TextBlock | ImageBlock | AudioBlock | ResourceBlock | LinkBlock,
    ),
]


class PromptPart(ListedPart):
    """A prompt."""

    name: str = Field(description="Name.")
    arguments: list[ArgumentPart] | None = Field(default=None, description="Arguments.")
    messages: Annotated[list[Message], Field(min_length=1)] = Field(
        description="Messages: {role, content}, or the content of a user message; {slots} are arguments and answers."
    )
    ask: Asks = Field(default_factory=list[dict[str, AskPart]], description="Questions asked before the answer.")
