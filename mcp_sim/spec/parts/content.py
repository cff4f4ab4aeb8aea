"""Content in documents: text, images, audio, resources, links, icons."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mcp_sim.types import Json
from mcp_sim.types.options import Part


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
