"""Plans in tool specs: what one tool does to which records."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.parts.content import Blocks, Part
from mcp_sim.spec.parts.surface import Asks, NotifyPart
from mcp_sim.types import Json
from mcp_sim.types.options import Count, CountFromZero
from mcp_sim.types.plans import How, Operator, Verb


class FilterPart(Part):
    """An argument that narrows a list."""

    field: str = Field(description="Field that is compared with the argument.")
    op: Operator = Field(default="equals", description="Comparison.")
    only: Json = Field(default=None, description="Value that the field must have if the argument is true.")
    unless: Json = Field(default=None, description="Value that the field must not have unless the argument is true.")


class PagingPart(Part):
    """The arguments that choose a page."""

    limit: str | None = Field(default=None, description="Argument with the page size.")
    offset: str | None = Field(default=None, description="Argument with the number of records to skip.")
    page: str | None = Field(default=None, description="Argument with the page number.")
    cursor: str | None = Field(default=None, description="Argument with the cursor from the previous page.")
    size: Count = Field(default=20, description="Default page size, in records.")
    most: Count | None = Field(default=None, description="Largest page size, in records.")
    first_page: CountFromZero = Field(default=1, description="Number of the first page.")


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


def _as_filter(value: Any) -> Any:
    return {"field": value} if isinstance(value, str) else value


class AlsoPart(Part):
    """A change to a record of another entity."""

    entity: str = Field(description="Entity of that record.")
    field: str = Field(description="Field to write.")
    key: str | None = Field(
        default=None, description="Argument, or field of the tool's record, with its key. Default: the only record."
    )
    how: How = Field(default="set", description="How the value is combined with the existing one.")
    value: str | None = Field(
        default=None, description="Argument, or field of the tool's record, with the value. Default: `fixed`."
    )
    fixed: Json = Field(default=1, description="Value to write if `value` is left out.")
    requires: Json = Field(default=None, description="Value that the field must have before, else the call fails.")


class SwapPart(Part):
    """The parts of a record that a call exchanges for others."""

    field: str = Field(description="Field with the list of parts.")
    key: str = Field(description="Key of a part.")
    old: str = Field(description="Argument with the list of parts to remove.")
    new: str = Field(description="Argument with the list of their replacements, in the same order.")
    entity: str = Field(description="Entity of the replacements.")


class OwnerPart(Part):
    """The required owner of the record that `key` names: exactly one of link, listed."""

    argument: str = Field(description="Argument with the owner's key.")
    entity: str = Field(description="Entity of the owner.")
    link: str | None = Field(default=None, description="Field of the record with the key of its owner.")
    listed: str | None = Field(default=None, description="Field of the owner with the keys of its records.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.link is None) == (self.listed is None):
            raise ValueError("write exactly one of link, listed")
        return self


class AmongPart(Part):
    """An id that must be among the parts of another record."""

    argument: str = Field(description="Argument with the id.", examples=["payments.*.card_id"])
    entity: str = Field(description="Entity of the other record.")
    by: str = Field(description="Argument, or field of the written record, with the key of the other record.")
    field: str = Field(description="Field of the other record with the parts.")


class ChildrenPart(Part):
    """Records that are created together with the tool's record."""

    entity: str = Field(description="Entity of the children.")
    listed: str = Field(description="Argument with the list of children.", examples=["tasks"])
    sets: dict[str, str] = Field(description="Value of an item -> field.", examples=[{"tasks.title": "title"}])
    link: str | None = Field(default=None, description="Field of the children with the key of the tool's record.")


class PickedPart(Part):
    """An argument that selects one entry of a mapping in a field of the record."""

    argument: str = Field(description="Argument with the key of the entry.")
    field: str = Field(description="Field with the mapping.")


def _as_list(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, list) else [value]


class SimPart(Part):
    """What one tool does. What is left out is inferred."""

    verb: Verb | None = Field(default=None, description="What the tool does to records.")
    entity: str | None = Field(default=None, description="Entity of the records.")
    backend: str | None = Field(default=None, description="Kind of store the tool works on. Default: records.")
    operation: str | None = Field(default=None, description="Operation of the backend.")
    python: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="Python function that answers the tool, as module:function. The module is in the spec's folder, "
        "or installed.",
        examples=["shipping:quote"],
    )
    arguments: dict[str, str] | None = Field(default=None, description="Role in the operation -> argument.")
    key: str | None = Field(default=None, description="Argument with the record's key.")
    sets: dict[str, str] | None = Field(default=None, description="Argument (dotted if nested) -> field it writes.")
    fixed: dict[str, Json] | None = Field(default=None, description="Field -> value that the tool always writes.")
    how: dict[str, How] | None = Field(
        default=None, description="Field -> how a value is combined with the existing one. Default: it replaces it."
    )
    each: str | None = Field(default=None, description="Argument with a list; the tool acts on each of its items.")
    requires: dict[str, Annotated[list[Json], BeforeValidator(_as_list, json_schema_input_type=Json)]] | None = Field(
        default=None, description="Field -> value, or list of values, that it must have before the call."
    )
    positive: list[str] | None = Field(default=None, description="Arguments that must be greater than 0.")
    if_exists: Literal["refuse", "update", "keep"] | None = Field(
        default=None, description="What a create does if the record exists."
    )
    copies: str | None = Field(default=None, description="Argument with the key of the record that a create copies.")
    holder: str | None = Field(default=None, description="Argument with the key of the record that contains this one.")
    counter: str | None = Field(
        default=None, description="Field of a singleton entity with the next id.", examples=["state.next_id"]
    )
    from_state: dict[str, str] | None = Field(
        default=None, description="Field of a new record -> field of a singleton entity that provides its value."
    )
    also: list[AlsoPart] | None = Field(default=None, description="Changes to records of other entities.")
    owners: list[OwnerPart] | None = Field(default=None, description="Required owners of the record.")
    among: list[AmongPart] | None = Field(
        default=None, description="Ids that must be among the parts of another record."
    )
    children: list[ChildrenPart] | None = Field(
        default=None, description="Records that are created together with this one."
    )
    shows: dict[str, str] | None = Field(
        default=None, description="Path in the result -> field that it shows under another name."
    )
    only: list[str] | None = Field(
        default=None,
        description="Fields that the result shows; no others. A dotted path follows a link.",
        examples=[["id", "plan_id.price"]],
    )
    picked: PickedPart | None = Field(default=None, description="Entry of a mapping that is shown instead of all.")
    swap: SwapPart | None = Field(default=None, description="Parts of the record that are exchanged.")
    choice: str | None = Field(default=None, description="Argument that selects one of `choices`.")
    choices: dict[str, SimPart] | None = Field(
        default=None, description="Value of that argument -> what the tool does then. What is left out is inferred."
    )
    caller: str | None = Field(
        default=None,
        description="Field of a singleton entity with the caller's key, used as the implicit argument `(caller)`.",
        examples=["session.current_user"],
    )
    within: str | None = Field(default=None, description="Argument that wraps all others; these are named without it.")
    login: str | None = Field(
        default=None,
        description="Field of a singleton entity that is set while someone is logged in; else the call fails.",
        examples=["session.current_user"],
    )
    filters: dict[str, Annotated[FilterPart, BeforeValidator(_as_filter, json_schema_input_type=str | FilterPart)]] | (
        None
    ) = Field(default=None, description="Argument -> field it filters a list by, or {field, op}.")
    query: str | None = Field(default=None, description="Argument with the text to search for.")
    searched: list[str] | None = Field(default=None, description="Fields that are searched.")
    sort: str | None = Field(default=None, description="Argument with the field to sort by.")
    order: str | None = Field(default=None, description="Argument with the direction, ascending or descending.")
    paging: PagingPart | None = Field(default=None, description="Arguments that select a page.")
    envelope: EnvelopePart | None = Field(default=None, description="Paths of values in the result.")
    blocks: Blocks | None = Field(
        default=None, description="Result as content blocks; {slots} are fields of the result, answers, arguments."
    )
    ask: Asks | None = Field(default=None, description="Questions to the client, asked before the tool acts.")
    notify: list[NotifyPart] | None = Field(default=None, description="Notifications sent during the call.")
