"""Plans: what a tool does to which records, and where its result holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mcp_sim.types import Json

How: TypeAlias = Literal["set", "append", "remove", "add", "subtract", "toggle", "join"]
"""How a value gets into a field: in its place, into or out of the list there, added to or taken from the number.

Who joins is put into the list, and must not be there yet. What is toggled becomes the opposite, whatever is given.
"""


@dataclass(frozen=True, slots=True)
class Also:
    """What a write does to a record of another entity: `value` gets into its `field`.

    `key` names that record and `value` what is written: each is an argument or a field of the record that the tool
    writes. Without `key` it is the entity's only record; without `value`, `fixed` is written. `requires` is what the
    field must hold before.
    """

    entity: str
    field: str
    key: str | None = None
    how: How = "set"
    value: str | None = None
    fixed: Json = 1
    requires: Json = None


@dataclass(frozen=True, slots=True)
class Owner:
    """To whom a record must belong: the record of `entity` that `argument` names.

    It is named by the field `link` of the record, or has the record's key in its own list `listed`.
    """

    argument: str
    entity: str
    link: str | None = None
    listed: str | None = None


@dataclass(frozen=True, slots=True)
class Among:
    """An id that must be among those of the parts which a record of `entity` has in `field`.

    `argument` says it (`payments.*.payment_id` in the lines of a list); `by` names that record: an argument, or a field
    of the record that is written.
    """

    argument: str
    entity: str
    by: str
    field: str


@dataclass(frozen=True, slots=True)
class Children:
    """Records of `entity` that are made together with the one of which the argument `listed` lists them.

    `sets` maps what an item says (`tasks.title`) to their fields, `link` is their field that names the record.
    """

    entity: str
    listed: str
    sets: Mapping[str, str]
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Picked:
    """Which argument picks one entry of the mapping that records have in `field`: a day of a flight's `dates`."""

    argument: str
    field: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Which parts of a record a call exchanges for others: those of `field` whose `key` the argument `old` lists.

    The argument `new` lists, in the same order, the records of `entity` that take their places.
    """

    field: str
    key: str
    old: str
    new: str
    entity: str


Operator: TypeAlias = Literal["equals", "contains", "gt", "gte", "lt", "lte", "in", "not"]


@dataclass(frozen=True, slots=True)
class Filter:
    """An argument that narrows a list: which field it looks at, and how.

    `only` is what the field must hold where the argument says yes (`available_only`); no narrows nothing. `unless` is
    what it must not hold unless the argument says yes (`include_archived`); that narrows nothing.
    """

    field: str
    op: Operator = "equals"
    only: Json = None
    unless: Json = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where things stand in a result, as dotted paths ('' is the whole result, None is nowhere).

    `text` is the property that holds the whole as JSON text: the paths are then those of what stands in there.
    """

    record: str | None = None
    rows: str | None = None
    total: str | None = None
    cursor: str | None = None
    more: str | None = None
    key: str | None = None
    success: str | None = None
    text: str | None = None
    echoes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path in the result -> argument that is returned as given."""


@dataclass(frozen=True, slots=True)
class Paging:
    """Arguments that choose a page. `size` is the page where none is asked for, `most` the largest allowed.

    `first_page` is the number of the first page, where pages are numbered.
    """

    limit: str | None = None
    offset: str | None = None
    page: str | None = None
    cursor: str | None = None
    size: int = 20
    most: int | None = None
    first_page: int = 1

    @property
    def is_asked(self) -> bool:
        """True where the tool has any argument that chooses a page."""
        return any((self.limit, self.offset, self.page, self.cursor))


Verb: TypeAlias = Literal["create", "get", "list", "search", "update", "delete", "compute", "none", "unknown"]
"""What a tool does to records, nearest to the truth.

`compute` works out its answer from its arguments, and `none` touches no records either: it controls a device, goes to a
page, or tells what no record holds.
"""
RECORDLESS: frozenset[Verb] = frozenset(("compute", "none", "unknown"))
"""Verbs of tools that work on no entity."""
CALLER = "(caller)"
"""An argument that nobody gives: who calls, as the state tells."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tool does to which entity, and how sure that is.

    `key` is the argument that names the record (of the only record of its entity: none); `sets` maps arguments (dotted
    where nested) to the fields they write, `fixed` fields to the value that the tool itself stands for
    (`close_ticket`: status -> closed), and `how` fields to the way a value gets in, where it does not take their place
    (`add_label`: labels -> append). A key that `sets` writes on an update renames the record.
    `each` is an argument with a list: the tool does the same for each item, and paths below it (`tasks.title`, or
    `tasks` where an item is a plain value) are those of one item.
    `requires` maps fields to the values that they must have before (`cancel_order`: status -> pending).
    `positive` are arguments that must be more than nothing (`deposit(amount)`).
    `if_exists` says what a create does where the record exists: refuse, update it, or keep it as it is.
    `copies` is an argument that names the record of which a create makes a copy, `holder` one that names the record in
    which the entity's records stand. `counter` is a field of an only record
    (`state.ticket_counter`) that holds the next id; `from_state` maps fields of a new record to such fields
    (`created_by`: `session.current_user`). `also` is what it does to records of other entities,
    `swap` which parts of the record it exchanges. `owners` are those to whom the record must belong that `key` names,
    `among` are ids that must be among those of another record, `children` what is made together with the record.
    `shows` maps places of the result to the fields that stand there under another name, `only` are the fields that are
    shown and no others (`plan_id.price` by a link), `picked` is the one entry of a mapping that is. `choice` is an
    argument that says which of the plans `choices` is meant (`manage_task(operation: create | update)`).
    `caller` is a field of an only record (`state.current_user`) that tells who calls: what it holds is an argument
    CALLER, which nobody gives.
    `login` is a field of an only record (`session.current_user`) which tells whether somebody is logged in, as whoever
    calls the tool must be.
    `within` is the one argument that holds all others (`params`): the plan calls them as if it did not.
    `query` is a free-text argument, `searched` the fields it looks at; `sort` and `order` are arguments.
    A backend that knows more than records has words of its own: `operation` is what the tool does in them, and
    `arguments` maps what the operation needs to the arguments that give it.
    """

    tool: str
    verb: Verb
    entity: str | None = None
    backend: str = "records"
    operation: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    key: str | None = None
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Any])
    how: Mapping[str, How] = field(default_factory=dict[str, How])
    each: str | None = None
    requires: Mapping[str, tuple[Json, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    positive: tuple[str, ...] = ()
    if_exists: Literal["refuse", "update", "keep"] = "refuse"
    copies: str | None = None
    holder: str | None = None
    counter: str | None = None
    from_state: Mapping[str, str] = field(default_factory=dict[str, str])
    also: tuple[Also, ...] = ()
    owners: tuple[Owner, ...] = ()
    among: tuple[Among, ...] = ()
    children: tuple[Children, ...] = ()
    login: str | None = None
    within: str | None = None
    caller: str | None = None
    swap: Swap | None = None
    shows: Mapping[str, str] = field(default_factory=dict[str, str])
    only: tuple[str, ...] = ()
    picked: Picked | None = None
    choice: str | None = None
    choices: Mapping[str, Plan] = field(default_factory=dict[str, "Plan"])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    searched: tuple[str, ...] = ()
    sort: str | None = None
    order: str | None = None
    paging: Paging = field(default_factory=Paging)
    envelope: Envelope = field(default_factory=Envelope)
    confidence: float = 1.0
    reasons: tuple[str, ...] = ()

    @property
    def guessed(self) -> bool:
        """True where too little spoke for it; such steps say so in the ledger."""
        return self.confidence < 0.6 or self.verb == "unknown"
