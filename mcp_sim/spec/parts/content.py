"""What can be written of content: texts, pictures, sounds, resources, links, icons?"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from mcp_sim.types import Json


class Part(BaseModel):
    """A part of a document: unknown keys are errors, values have exactly the type that is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def one_of(part: Part, *keys: str) -> None:
    """Raises ValueError unless exactly one of the keys is written."""
    if len(part.model_fields_set & set(keys)) != 1:
        names = [type(part).model_fields[key].alias or key for key in keys]
        raise ValueError(f"write exactly one of {', '.join(names)}")


def _base64(value: Any) -> Any:
    if isinstance(value, str) and "{" not in value:
        try:
            b64decode(re.sub(r"\s", "", value), validate=True)
        except ValueError:
            raise ValueError("must be base64") from None
        return re.sub(r"\s", "", value)
    return value


Base64 = Annotated[str, BeforeValidator(_base64, json_schema_input_type=str)]
Meta = Annotated[dict[str, Json] | None, Field(alias="_meta", description="Passed on as it is.")]
Annotations = Annotated[
    dict[str, Json] | None, Field(description="audience, priority, lastModified; passed on as it is.")
]


class IconPart(Part):
    """An icon."""

    src: str = Field(description="Its URL, or a data: URI.")
    mimeType: str | None = Field(default=None, description="Its type.")  # noqa: N815 (as the protocol writes it)
    sizes: list[str] | None = Field(default=None, description="Its sizes.", examples=[["48x48"]])
    theme: Literal["light", "dark"] | None = Field(default=None, description="The background it is made for.")


class TextBlock(Part):
    """A text."""

    type: Literal["text"]
    text: str = Field(description="The text; {slots} are filled.")
    annotations: Annotations = None
    meta: Meta = None


class ImageBlock(Part):
    """An image."""

    type: Literal["image"]
    data: Base64 = Field(description="Base64.")
    mimeType: str = Field(description="Its type.", examples=["image/png"])  # noqa: N815 (as the protocol writes it)
    annotations: Annotations = None
    meta: Meta = None


class AudioBlock(ImageBlock):
    """A sound."""

    type: Literal["audio"]  # pyright: ignore[reportIncompatibleVariableOverride] (the tag is all that differs)


class ContentsPart(Part):
    """The contents of an embedded resource."""

    uri: str = Field(description="Its URI; {slots} are filled.")
    mimeType: str | None = Field(default=None, description="Its type.")  # noqa: N815 (as the protocol writes it)
    text: str | None = Field(default=None, description="A text; {slots} are filled.")
    blob: Base64 | None = Field(default=None, description="Base64.")
    meta: Meta = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        one_of(self, "text", "blob")
        return self


class ResourceBlock(Part):
    """An embedded resource."""

    type: Literal["resource"]
    resource: ContentsPart
    annotations: Annotations = None
    meta: Meta = None


class LinkBlock(Part):
    """A link to a resource."""

    type: Literal["resource_link"]
    uri: str = Field(description="Its URI; {slots} are filled.")
    name: str = Field(description="Its name.")
    title: str | None = Field(default=None, description="Its name for people.")
    description: str | None = Field(default=None, description="What it is.")
    mimeType: str | None = Field(default=None, description="Its type.")  # noqa: N815 (as the protocol writes it)
    size: int | None = Field(default=None, description="Its size in bytes.")
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
"""A content block as the protocol has it; a string is a block of text."""

Blocks = Annotated[list[Block], Field(min_length=1)]
