"""What can be written of a server beside its tools: resources, prompts, and how a tool asks, tells and answers?"""

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
    Part,
    ResourceBlock,
    TextBlock,
    one_of,
)
from mcp_sim.types import Json
from mcp_sim.types.options import Duration, MatcherSource

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class AskPart(Part):
    """A question to the client, which it passes on to its user or its model: exactly one of message, sample, roots."""

    message: str | None = Field(default=None, description="What the user is asked; {slots} are filled.")
    form: dict[str, Json] | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema (an object of plain values) of what the user fills in.",
        examples=[{"type": "object", "properties": {"name": {"type": "string"}}}],
    )
    url: str | None = Field(default=None, description="Where the user goes instead of filling in a form.")
    sample: str | dict[str, Json] | None = Field(
        default=None, description="What the client's model is asked: a text, or the params of sampling/createMessage."
    )
    roots: Literal[True] | None = Field(default=None, description="Asks for the client's roots.")
    optional: bool = Field(default=False, description="true: a client that cannot is not asked; else it is refused.")

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        one_of(self, "message", "sample", "roots")
        if self.message is not None:
            one_of(self, "form", "url")
        elif self.model_fields_set & {"form", "url"}:
            raise ValueError("schema and url belong to a message")
        if isinstance(self.sample, dict) and not {"messages", "maxTokens"} <= self.sample.keys():
            raise ValueError("the params of sampling/createMessage hold at least messages and maxTokens")
        return self


def _as_rounds(value: Any) -> Any:
    return cast("Any", [value]) if isinstance(value, dict) else value


Asks = Annotated[
    list[dict[str, AskPart]],
    BeforeValidator(_as_rounds, json_schema_input_type=dict[str, AskPart] | list[dict[str, AskPart]]),
]
"""Name -> question; or a list of such mappings, put one after the other."""


class NotifyPart(Part):
    """A notification in the course of a call: exactly one of progress, log, changed, updated."""

    progress: float | None = Field(default=None, description="How far the call is, for a client that wants to know.")
    total: float | None = Field(default=None, description="What progress is counted to.")
    message: str | None = Field(default=None, description="What goes with the progress; {slots} are filled.")
    log: Json = Field(default=None, description="What is logged: a text, or data; {slots} are filled.")
    level: Level = Field(default="info", description="How grave the log entry is.")
    logger: str | None = Field(default=None, description="Who logs it.")
    changed: Literal["tools", "prompts", "resources"] | None = Field(default=None, description="A list has changed.")
    updated: str | None = Field(default=None, description="The URI of a resource that has changed.")
    after: Duration = Field(default=timedelta(0), description="How long after the one before, or the call's start.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        one_of(self, "progress", "log", "changed", "updated")
        for key, owner in (("total", "progress"), ("message", "progress"), ("level", "log"), ("logger", "log")):
            if key in self.model_fields_set and owner not in self.model_fields_set:
                raise ValueError(f"{key} belongs to {owner}")
        return self


class StubPart(Part):
    """A canned answer: the first that matches answers in the world's place; nothing is committed."""

    tool: str = Field(description="A glob of tools.")
    arguments: dict[str, MatcherSource] = Field(
        default_factory=dict[str, Any], description="Argument -> matcher; all must hold."
    )
    result: Json = Field(default=None, description="The result: structured content, or a text.")
    blocks: Blocks | None = Field(default=None, description="The result as content blocks; {slots} are filled.")
    error: str | None = Field(default=None, description="The text of an error.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        one_of(self, "result", "blocks", "error")
        return self


class ChoicesPart(Part):
    """Values out of the world."""

    entity: str = Field(description="The kind of record.")
    field: str | None = Field(default=None, description="The field with the values. Default: the key.")


Complete = list[str] | ChoicesPart


class ListedPart(Part):
    """What a list shows of a resource or a prompt; passed on as it is."""

    title: str | None = Field(default=None, description="Its name for people.")
    description: str | None = Field(default=None, description="What it is.")
    icons: list[IconPart] | None = Field(default=None, description="Its icons.")
    meta: Meta = None


class ResourcePart(ListedPart):
    """A resource (uri) or a template of resources (uriTemplate), and its contents: text, blob, record or records."""

    uri: str | None = Field(default=None, description="The URI of one resource.")
    uriTemplate: str | None = Field(  # noqa: N815 (as the protocol writes it)
        default=None, description="The URIs of many, with variables.", examples=["crm://contact/{id}"]
    )
    name: str = Field(description="Its name.")
    mimeType: str | None = Field(default=None, description="Its type.")  # noqa: N815 (as the protocol writes it)
    size: int | None = Field(default=None, description="Its size in bytes.")
    annotations: Annotations = None
    text: str | None = Field(
        default=None, description="The text; {slots} are variables of the URI and, with record, fields of the record."
    )
    blob: Base64 | None = Field(default=None, description="Base64.")
    record: str | None = Field(
        default=None, description="The entity whose record it shows: the one with the variable's value as its key."
    )
    records: str | None = Field(default=None, description="The entity all of whose records it shows.")
    complete: dict[str, Complete] = Field(
        default_factory=dict[str, Any], description="Variable -> values that can be completed, or {entity, field}."
    )

    @model_validator(mode="after")
    def _one_place_and_one_source(self) -> Self:
        one_of(self, "uri", "uriTemplate")
        if {"record", "text"} <= self.model_fields_set:
            one_of(self, "record", "records", "blob")
        else:
            one_of(self, "text", "blob", "record", "records")
        if self.record is not None and self.uriTemplate is None:
            raise ValueError("record needs a uriTemplate, whose variable names the record")
        return self


class ArgumentPart(Part):
    """An argument of a prompt."""

    name: str = Field(description="Its name.")
    title: str | None = Field(default=None, description="Its name for people.")
    description: str | None = Field(default=None, description="What it is.")
    required: bool | None = Field(default=None, description="Whether it must be given.")
    complete: Complete | None = Field(
        default=None, description="The values that can be completed, or {entity, field}: those of records."
    )


class MessagePart(Part):
    """A message of a prompt."""

    role: Literal["user", "assistant"] = Field(default="user", description="Who says it.")
    content: Block = Field(description="What is said: a text, or a content block.")


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

    name: str = Field(description="Its name.")
    arguments: list[ArgumentPart] | None = Field(default=None, description="Its arguments.")
    messages: Annotated[list[Message], Field(min_length=1)] = Field(
        description="Its messages: {role, content}, or what the user says; {slots} are arguments and answers."
    )
    ask: Asks = Field(default_factory=list[dict[str, AskPart]], description="What is asked first.")
