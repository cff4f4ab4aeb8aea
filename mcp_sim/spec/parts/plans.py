"""What can be written of what one tool does to which records?"""

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

    field: str = Field(description="The field it looks at.")
    op: Operator = Field(default="equals", description="How the field is compared with the argument.")
    only: Json = Field(default=None, description="What the field must hold where the argument is true.")
    unless: Json = Field(default=None, description="What the field must not hold where the argument is not true.")


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
    text: str | None = Field(
        default=None, description="The property that holds all of it as JSON text; the paths are those within."
    )
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


class OwnerPart(Part):
    """To whom the record must belong that `key` names: by its own field `link`, or by the owner's list `listed`."""

    argument: str = Field(description="The argument that names the owner.")
    entity: str = Field(description="The owner's kind of record.")
    link: str | None = Field(default=None, description="The field of the record that names its owner.")
    listed: str | None = Field(default=None, description="The field of the owner with the keys of what it has.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.link is None) == (self.listed is None):
            raise ValueError("write exactly one of link, listed")
        return self


class AmongPart(Part):
    """An id that must be among those of the parts which another record has."""

    argument: str = Field(description="The argument with the id.", examples=["payments.*.card_id"])
    entity: str = Field(description="The other record's kind.")
    by: str = Field(description="What names that record: an argument, or a field of the record that is written.")
    field: str = Field(description="The field of that record in which the parts stand.")


class ChildrenPart(Part):
    """Records that are made together with the one that the tool makes."""

    entity: str = Field(description="Their kind.")
    listed: str = Field(description="The argument that lists them.", examples=["tasks"])
    sets: dict[str, str] = Field(description="What an item says -> their field.", examples=[{"tasks.title": "title"}])
    link: str | None = Field(default=None, description="Their field that names the record.")


class PickedPart(Part):
    """The argument that picks one entry of the mapping which records have in a field."""

    argument: str = Field(description="The argument with the key of the entry.")
    field: str = Field(description="The field with the mapping.")


def _as_list(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, list) else [value]


class SimPart(Part):
    """What one tool does; what is left out is inferred."""

    verb: Verb | None = Field(default=None, description="What it does.")
    entity: str | None = Field(default=None, description="To which kind of record.")
    backend: str | None = Field(default=None, description="The way it works on the world; default: records.")
    operation: str | None = Field(default=None, description="What it does, in the words of its backend.")
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
    positive: list[str] | None = Field(default=None, description="Arguments that must be more than nothing.")
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
    owners: list[OwnerPart] | None = Field(default=None, description="Those to whom the record must belong.")
    among: list[AmongPart] | None = Field(
        default=None, description="Ids that must be among those of the parts of another record."
    )
    children: list[ChildrenPart] | None = Field(default=None, description="What is made together with the record.")
    shows: dict[str, str] | None = Field(
        default=None, description="Place in the result -> the field that stands there under another name."
    )
    only: list[str] | None = Field(
        default=None,
        description="The fields of the record that are shown, and no others; by a link, of what it links to.",
        examples=[["id", "plan_id.price"]],
    )
    picked: PickedPart | None = Field(
        default=None, description="The one entry of a mapping that is shown in the place of all."
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
    within: str | None = Field(
        default=None, description="The one argument that holds all others; these are then named as if it did not."
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
