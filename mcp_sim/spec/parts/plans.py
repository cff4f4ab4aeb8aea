"""Plans in tool specs: what one tool does to which records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mcp_sim.spec.parts.content import Blocks, Error, Result
from mcp_sim.spec.parts.surface import Asks, NotifyPart
from mcp_sim.types import Json, Record
from mcp_sim.types.delays import LogNormal
from mcp_sim.types.options import Count, CountFromZero, Part, PositiveDuration
from mcp_sim.types.plans import How, Operator, Verb


class FilterPart(Part):
    """An argument that narrows a list."""

    field: str = Field(description="Field that is compared with the argument.")
    op: Operator = Field(default="equals", description="Comparison.")
    only: Json = Field(default=None, description="Value that the field must have if the argument is true.")
    unless: Json = Field(default=None, description="Value that the field must not have unless the argument is true.")
    default: Json = Field(default=None, description="Value of the argument if it is missing.")
    until: str = Field(default="", description="Field with the end of a period from `field`, which contains the day.")


class PagingPart(Part):
    """The arguments that order records and choose a page."""

    limit: str | None = Field(default=None, description="Argument with the page size.")
    offset: str | None = Field(default=None, description="Argument with the number of records to skip.")
    page: str | None = Field(default=None, description="Argument with the page number.")
    cursor: str | None = Field(default=None, description="Argument with the cursor from the previous page.")
    size: Count = Field(default=20, description="Default page size, in records.")
    most: Count | None = Field(default=None, description="Largest page size, in records.")
    first_page: CountFromZero = Field(default=1, description="Number of the first page.")
    sort: str | None = Field(default=None, description="Argument with the field to sort by.")
    order: str | None = Field(default=None, description="Argument with the direction, ascending or descending.")


class EnvelopePart(Part):
    """Paths of values in a result, dotted; '' is the whole result."""

    record: str | None = Field(default=None, description="Path of the record.")
    rows: str | None = Field(default=None, description="Path of the list of records.")
    total: str | None = Field(default=None, description="Path of the number of records on all pages.")
    cursor: str | None = Field(default=None, description="Path of the next page's cursor.")
    more: str | None = Field(default=None, description="Path of the flag for a next page.")
    key: str | None = Field(default=None, description="Path of the record's id.")
    success: str | None = Field(default=None, description="Path of the flag for success.")
    text: str | None = Field(
        default=None, description="Property that contains the result as JSON text; the other paths are inside it."
    )
    echoes: dict[str, str] = Field(
        default_factory=dict[str, str], description="Path in the result -> argument that is returned unchanged."
    )
    shows: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Path in the result -> field that it shows under another name. A dotted field follows a link.",
        examples=[{"order_id": "id"}],
    )


class IdempotencyPart(Part):
    """The argument by which a server recognises a repeated call."""

    key: str = Field(description="Argument with the idempotency key.")
    expires: PositiveDuration | None = Field(
        default=None, description="How long the server remembers a key. Default: always.", examples=["24h"]
    )


class CheckPart(Part):
    """What a server requires of an argument beyond its inputSchema."""

    json_schema: Record = Field(
        alias="schema", description="JSON Schema of the argument.", examples=[{"enum": ["low", "high"]}]
    )
    error: Error | None = Field(default=None, description="The failure otherwise. Default: that of invalid arguments.")


def _as_key(value: Any) -> Any:
    return {"key": value} if isinstance(value, str) else value


def _as_filter(value: Any) -> Any:
    return {"field": value} if isinstance(value, str) else value


class SimPart(Part):
    """What one tool does. What is left out is inferred."""

    verb: Verb | None = Field(default=None, description="What the tool does to records.")
    entity: str | None = Field(default=None, description="Entity of the records.")
    backend: str | None = Field(default=None, description="Kind of store the tool works on. Default: records.")
    key: str | None = Field(default=None, description="Argument with the record's key.")
    sets: dict[str, str] | None = Field(default=None, description="Argument (dotted if nested) -> field it writes.")
    fixed: dict[str, Json] | None = Field(default=None, description="Field -> value that the tool always writes.")
    how: dict[str, How] | None = Field(
        default=None, description="Field -> how a value is combined with the existing one. Default: it replaces it."
    )
    each: str | None = Field(default=None, description="Argument with a list; the tool acts on each of its items.")
    if_exists: Literal["refuse", "update", "keep"] | None = Field(
        default=None, description="What a create does if the record exists."
    )
    copies: str | None = Field(
        default=None, description="Argument of a create with the key of the record that it copies."
    )
    holder: str | None = Field(default=None, description="Argument with the key of the record that contains this one.")
    choice: str | None = Field(default=None, description="Argument that selects one of `choices`.")
    choices: dict[str, SimPart] | None = Field(
        default=None, description="Value of that argument -> what the tool does then. What is left out is inferred."
    )
    filters: dict[str, Annotated[FilterPart, BeforeValidator(_as_filter, json_schema_input_type=str | FilterPart)]] | (
        None
    ) = Field(default=None, description="Argument -> field it filters a list by, or {field, op}.")
    query: str | None = Field(default=None, description="Argument with the text to search for.")
    paging: PagingPart | None = Field(default=None, description="Arguments that order records and select a page.")
    envelope: EnvelopePart | None = Field(default=None, description="Paths of values in the result.")
    idempotency: (
        Annotated[IdempotencyPart, BeforeValidator(_as_key, json_schema_input_type=str | IdempotencyPart)] | None
    ) = Field(
        default=None,
        description="Argument with the idempotency key, or {key, expires}; null: the tool has no such argument.",
    )
    result: Result | None = Field(
        default=None,
        description="What the tool answers: a text or JSON with {slots}, or a list of these for different cases.",
    )
    errors: dict[str, Error] | None = Field(
        default=None, description="Failure -> its message, before those of the whole spec."
    )
    checks: dict[str, CheckPart] | None = Field(
        default=None, description="Argument -> what the server requires of it beyond the inputSchema."
    )
    blocks: Blocks | None = Field(
        default=None, description="Result as content blocks; {slots} are fields of the result, answers, arguments."
    )
    media: Literal["image", "audio", "pdf", "none"] | None = Field(
        default=None,
        description="What it returns: a small PNG, WAV or PDF that shows the arguments. Default: by its name.",
    )
    ask: Asks | None = Field(default=None, description="Questions to the client, asked before the tool acts.")
    latency: LogNormal | None = Field(default=None, description="How long an answer takes. Default: no time.")
    notify: list[NotifyPart] | None = Field(default=None, description="Notifications sent during the call.")
