"""Result templates in tool specs."""

from __future__ import annotations

from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.parts.content import Part, one_of
from mcp_sim.types import Json
from mcp_sim.types.result_templates import ResultTemplate, Rows


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

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, "text", "json_value")
        return self


def _as_results(value: Any) -> Any:
    """Return results as a list: a text is one, and so is a mapping."""
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
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
