"""What can be written in a tool spec? `mcp_sim: 1`, the tools of one server, and what they do not tell themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import BeforeValidator, Field, field_validator, model_validator

from mcp_sim.domain import How, Operator, Verb
from mcp_sim.errors import CRASH_CODE, did_you_mean
from mcp_sim.options import Count, CountFromZero
from mcp_sim.spec_content import Blocks, IconPart, Part, one_of
from mcp_sim.spec_surface import Asks, NotifyPart, PromptPart, ResourcePart, StubPart
from mcp_sim.types import Json


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
        description="Field -> JSON Schema; {link: ENTITY} where the value is the id of another record.",
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
        return fields


class FilterPart(Part):
    """An argument that narrows a list."""

    field: str = Field(description="The field it looks at.")
    op: Operator = Field(default="equals", description="How the field is compared with the argument.")
    only: Json = Field(default=None, description="What the field must hold where the argument is true.")


class PagingPart(Part):
    """The arguments that choose a page."""

    limit: str | None = Field(default=None, description="The argument with the size of a page.")
    offset: str | None = Field(default=None, description="The argument that says how many records are skipped.")
    page: str | None = Field(default=None, description="The argument with the number of a page.")
    cursor: str | None = Field(default=None, description="The argument with the cursor of the page before.")
    size: Count = Field(default=20, description="The size of a page where none is asked for.")
    most: Count | None = Field(default=None, description="The largest page.")
    first_page: CountFromZero = Field(default=1, description="The number of the first page.")


class EnvelopePart(Part):
    """Where things stand in a result, as dotted paths; '' is the whole result."""

    record: str | None = Field(default=None, description="The record.")
    rows: str | None = Field(default=None, description="The list of records.")
    total: str | None = Field(default=None, description="How many there are on all pages.")
    cursor: str | None = Field(default=None, description="The cursor of the next page.")
    more: str | None = Field(default=None, description="Whether there is a next page.")
    key: str | None = Field(default=None, description="The id of the record.")
    success: str | None = Field(default=None, description="Whether it worked.")
    echoes: dict[str, str] = Field(
        default_factory=dict[str, str], description="Path in the result -> argument that is returned as given."
    )


def _as_filter(value: Any) -> Any:
    return {"field": value} if isinstance(value, str) else value


class AlsoPart(Part):
    """What a tool does to a record of another entity."""

    entity: str = Field(description="The entity of that record.")
    field: str = Field(description="The field that is written.")
    key: str | None = Field(
        default=None, description="What names it: an argument, or a field of the record. Default: the only record."
    )
    how: How = Field(default="set", description="How the value gets into the field.")
    value: str | None = Field(
        default=None, description="What is written: an argument, or a field of the record. Default: `fixed`."
    )
    fixed: Json = Field(default=1, description="The value that is written, where none is named.")
    requires: Json = Field(default=None, description="What the field must hold before, else the call is refused.")


class SwapPart(Part):
    """Which parts of a record a call exchanges for others."""

    field: str = Field(description="The field with the list of parts.")
    key: str = Field(description="What names a part in it.")
    old: str = Field(description="The argument that lists the parts that go.")
    new: str = Field(description="The argument that lists, in the same order, the records that take their places.")
    entity: str = Field(description="The kind of these records.")


def _as_list(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, list) else [value]


class SimPart(Part):
    """What one tool does; what is left out is inferred."""

    verb: Verb | None = Field(default=None, description="What it does.")
    entity: str | None = Field(default=None, description="To which kind of record.")
    behaviour: str | None = Field(default=None, description="The way it works on the world; default: records.")
    operation: str | None = Field(default=None, description="What it does, in the words of its behaviour.")
    python: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="The function that answers it: module:function; the module lies beside the spec, or is installed.",
        examples=["shipping:quote"],
    )
    arguments: dict[str, str] | None = Field(
        default=None, description="What the operation needs -> the argument that gives it."
    )
    key: str | None = Field(default=None, description="The argument that names the record.")
    sets: dict[str, str] | None = Field(default=None, description="Argument (dotted where nested) -> field it writes.")
    fixed: dict[str, Json] | None = Field(default=None, description="Field -> value that the tool itself stands for.")
    how: dict[str, How] | None = Field(
        default=None, description="Field -> how a value gets in, where it does not take the place of the one there."
    )
    each: str | None = Field(default=None, description="The argument with a list, for each item of which it is done.")
    requires: dict[str, Annotated[list[Json], BeforeValidator(_as_list, json_schema_input_type=Json)]] | None = Field(
        default=None, description="Field -> the values, one of which it must have before."
    )
    if_exists: Literal["refuse", "update", "keep"] | None = Field(
        default=None, description="What a create does where the record exists."
    )
    copies: str | None = Field(default=None, description="The argument that names the record which a create copies.")
    holder: str | None = Field(
        default=None, description="The argument that names the record in which those of this kind stand."
    )
    counter: str | None = Field(
        default=None, description="The field of an only record that holds the next id.", examples=["state.next_id"]
    )
    from_state: dict[str, str] | None = Field(
        default=None, description="Field of a new record -> the field of an only record that it takes its value from."
    )
    also: list[AlsoPart] | None = Field(default=None, description="What it does to records of other entities.")
    shows: dict[str, str] | None = Field(
        default=None, description="Place in the result -> the field that stands there under another name."
    )
    swap: SwapPart | None = Field(default=None, description="The parts of the record that are exchanged.")
    choice: str | None = Field(default=None, description="The argument that says which of `choices` is meant.")
    choices: dict[str, SimPart] | None = Field(
        default=None, description="Value of that argument -> what the tool does then; what is left out is inferred."
    )
    caller: str | None = Field(
        default=None,
        description="The field of an only record that tells who calls: the argument `(caller)`, which nobody gives.",
        examples=["session.current_user"],
    )
    login: str | None = Field(
        default=None,
        description="The field of an only record that tells whether somebody is logged in; else the call is refused.",
        examples=["session.current_user"],
    )
    filters: dict[str, Annotated[FilterPart, BeforeValidator(_as_filter, json_schema_input_type=str | FilterPart)]] | (
        None
    ) = Field(default=None, description="Argument -> field that it narrows a list by, or {field, op}.")
    query: str | None = Field(default=None, description="The argument with a text to search for.")
    searched: list[str] | None = Field(default=None, description="The fields that are searched.")
    sort: str | None = Field(default=None, description="The argument that names the field to sort by.")
    order: str | None = Field(default=None, description="The argument that says ascending or descending.")
    paging: PagingPart | None = Field(default=None, description="The arguments that choose a page.")
    envelope: EnvelopePart | None = Field(default=None, description="Where things stand in the result.")
    blocks: Blocks | None = Field(
        default=None, description="The result as content blocks; {slots} are fields of the result, answers, arguments."
    )
    ask: Asks | None = Field(default=None, description="What the client is asked before anything is done.")
    notify: list[NotifyPart] | None = Field(default=None, description="What is sent while the call is under way.")


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
