"""Content in documents: blocks and icons, and the results and failures of tools."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.types import Json
from mcp_sim.types.error_templates import Template
from mcp_sim.types.errors import CRASH_CODE
from mcp_sim.types.json_values import in_list
from mcp_sim.types.options import Part
from mcp_sim.types.result_templates import ResultTemplate, Rows


def _base64(value: Any) -> Any:
    if isinstance(value, str) and "{" not in value:
        try:
            b64decode(re.sub(r"\s", "", value), validate=True)
        except ValueError:
            raise ValueError("must be base64") from None
        return re.sub(r"\s", "", value)
    return value


Base64 = Annotated[str, BeforeValidator(_base64, json_schema_input_type=str)]
Meta = Annotated[dict[str, Json] | None, Field(alias="_meta", description="Passed on unchanged.")]
Annotations = Annotated[
    dict[str, Json] | None, Field(description="audience, priority, lastModified; passed on unchanged.")
]


class IconPart(Part):
    """An icon."""

    src: str = Field(description="URL, or a data: URI.")
    mimeType: str | None = Field(default=None, description="MIME type.")  # noqa: N815 (name in the protocol)
    sizes: list[str] | None = Field(default=None, description="Sizes in pixels.", examples=[["48x48"]])
    theme: Literal["light", "dark"] | None = Field(default=None, description="Background that the icon is made for.")


class TextBlock(Part):
    """A text."""

    type: Literal["text"]
    text: str = Field(description="Text; {slots} are filled.")
    annotations: Annotations = None
    meta: Meta = None


class ImageBlock(Part):
    """An image."""

    type: Literal["image"]
    data: Base64 = Field(description="Data in Base64.")
    mimeType: str = Field(description="MIME type.", examples=["image/png"])  # noqa: N815 (name in the protocol)
    annotations: Annotations = None
    meta: Meta = None


class AudioBlock(ImageBlock):
    """An audio clip."""

    type: Literal["audio"]  # pyright: ignore[reportIncompatibleVariableOverride] (only the tag differs)


class ContentsPart(Part):
    """The contents of an embedded resource: exactly one of text, blob."""

    uri: str = Field(description="URI; {slots} are filled.")
    mimeType: str | None = Field(default=None, description="MIME type.")  # noqa: N815 (name in the protocol)
    text: str | None = Field(default=None, description="Text; {slots} are filled.")
    blob: Base64 | None = Field(default=None, description="Data in Base64.")
    meta: Meta = None

    exactly_one = ("text", "blob")


class ResourceBlock(Part):
    """An embedded resource."""

    type: Literal["resource"]
    resource: ContentsPart
    annotations: Annotations = None
    meta: Meta = None


class LinkBlock(Part):
    """A link to a resource."""

    type: Literal["resource_link"]
    uri: str = Field(description="URI; {slots} are filled.")
    name: str = Field(description="Name.")
    title: str | None = Field(default=None, description="Name for people.")
    description: str | None = Field(default=None, description="Description.")
    mimeType: str | None = Field(default=None, description="MIME type.")  # noqa: N815 (name in the protocol)
    size: int | None = Field(default=None, description="Size in bytes.")
    icons: list[IconPart] | None = None
    annotations: Annotations = None
    meta: Meta = None


def _as_block(value: Any) -> Any:
    return {"type": "text", "text": value} if isinstance(value, str) else value


Block = Annotated[
    Annotated[TextBlock | ImageBlock | AudioBlock | ResourceBlock | LinkBlock, Field(discriminator="type")],
    BeforeValidator(
        _as_block, json_schema_input_type=str | TextBlock | ImageBlock | AudioBlock | ResourceBlock | LinkBlock
    ),
]
"""A content block as in the protocol; a string is a block of text."""

Blocks = Annotated[list[Block], Field(min_length=1)]


class RowsPart(Part):
    """A part of a text that is repeated for each row."""

    rows: str = Field(description="Text of one row; {slots} are fields of its record.")
    between: str = Field(default="\n", description="Text between two rows.")


class ResultPart(Part):
    """One form of a tool's results: exactly one of text, json."""

    when: dict[str, Json] = Field(
        default_factory=dict[str, Any],
        description="Slot -> the value it must have for this form to be used; null: none. A list has its length.",
        examples=[{"rows": 0}, {"arguments.delete": True}],
    )
    text: str | list[str | RowsPart] | None = Field(
        default=None,
        description="Text with {slots}; or a list of its lines. A line {rows: TEXT} is repeated for each row.",
    )
    json_value: Json = Field(
        default=None,
        alias="json",
        description='JSON with {slots} in its texts. {"{rows}": ITEM} is a list with an item for each row.',
    )
    indent: int | None = Field(default=None, ge=1, le=8, description="Indentation of JSON. Default: one line.")
    block_per_row: bool = Field(default=False, description="true: each row is a content block of its own.")

    exactly_one = ("text", "json_value")


def _as_results(value: Any) -> Any:
    """Return results as a list: a text is one, and so is a mapping."""
    listed = in_list(value)
    return [{"text": text} if isinstance(text, str) else text for text in listed]


Result = Annotated[
    list[ResultPart],
    Field(min_length=1),
    BeforeValidator(_as_results, json_schema_input_type=str | ResultPart | list[str | ResultPart]),
]


def template_of(result_part: ResultPart) -> ResultTemplate:
    """Return the template that a part of a document declares."""
    if result_part.text is None:
        return ResultTemplate(
            "json", result_part.json_value, (), result_part.when, result_part.indent, result_part.block_per_row
        )
    lines = [result_part.text] if isinstance(result_part.text, str) else result_part.text
    parts = tuple(Rows(line.rows, line.between) if isinstance(line, RowsPart) else line for line in lines)
    return ResultTemplate("text", None, parts, result_part.when, None, result_part.block_per_row)


class _RpcPart(Part):
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
    rpc: _RpcPart | None = Field(default=None, description="JSON-RPC error, sent instead of a result.")
    soft: bool = Field(default=False, description="true: sent without isError. Verdicts count it as a failure.")

    exactly_one = ("text", "json_text", "structured", "rpc")


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
