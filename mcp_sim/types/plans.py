"""Plans: what a tool does to which records, and where its result shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mcp_sim.types import Json

How: TypeAlias = Literal["set", "append", "remove", "add", "subtract", "toggle", "join"]
"""How a value gets into a field.

`set` replaces the value. `append` and `remove` change the list in the field, `add` and `subtract` the number. `join`
appends to the list, and refuses what is in it. `toggle` negates the value, whatever is given."""


@dataclass(frozen=True, slots=True)
class Also:
    """An effect of a write on a record of another entity: `value` gets into its `field`.

    `key` and `value` each name an argument, or a field of the record that the tool writes.
    """

    entity: str
    field: str
    key: str | None = None
    """Names the other record; None: it is the only record of its entity."""
    how: How = "set"
    value: str | None = None
    """What is written; None: `fixed`."""
    fixed: Json = 1
    requires: Json = None
    """The value that the field must have before; None: any."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The record to which the tool's record must belong: the record of `entity` that `argument` names."""

    argument: str
    entity: str
    link: str | None = None
    """The field of the tool's record that names the owner."""
    listed: str | None = None
    """The field of the owner that lists the keys of its records."""


@dataclass(frozen=True, slots=True)
class Among:
    """An id that must be the id of one of the parts that a record of `entity` has in `field`."""

    argument: str
    """A path to the id: `payments.*.payment_id` in the items of a list."""
    entity: str
    by: str
    """What names the record: an argument, or a field of the record that is written."""
    field: str


@dataclass(frozen=True, slots=True)
class Children:
    """Records of `entity` that are created together with their parent, one for each item of the argument `listed`."""

    entity: str
    listed: str
    sets: Mapping[str, str]
    """A path into an item (`tasks.title`) -> the field that it sets."""
    link: str | None = None
    """The field of a child that names its parent."""


@dataclass(frozen=True, slots=True)
class Picked:
    """The argument that picks one entry of the mapping in a `field`, such as a day in the `dates` of a flight."""

    argument: str
    field: str


@dataclass(frozen=True, slots=True)
class Swap:
    """An exchange of parts of a record: the parts in `field` whose `key` is in the list argument `old`."""

    field: str
    key: str
    old: str
    new: str
    """A list argument: the records of `entity` that replace the old parts, in the same order."""
    entity: str


Operator: TypeAlias = Literal["equals", "contains", "gt", "gte", "lt", "lte", "in", "not"]


@dataclass(frozen=True, slots=True)
class Filter:
    """How an argument filters a list."""

    field: str
    op: Operator = "equals"
    only: Json = None
    """The value that the field must have if the argument is true (`available_only`). False filters nothing."""
    unless: Json = None
    """The value that the field must not have unless the argument is true (`include_archived`). True filters nothing."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The places of things in a result, as dotted paths: '' is the whole result, None nowhere."""

    record: str | None = None
    rows: str | None = None
    """The list of records."""
    total: str | None = None
    """The number of all matching records."""
    cursor: str | None = None
    """The cursor of the next page."""
    more: str | None = None
    """Whether there is another page."""
    key: str | None = None
    """The key of the record."""
    success: str | None = None
    """Whether the call succeeded."""
    text: str | None = None
    """The property that holds the whole result as JSON text. The other paths are then paths into that JSON."""
    echoes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path in the result -> argument that is returned as given."""
    shows: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path in the result -> the field shown there under another name (`plan_id.price`: by a link)."""


@dataclass(frozen=True, slots=True)
class Paging:
    """The arguments that choose a page."""

    limit: str | None = None
    offset: str | None = None
    page: str | None = None
    cursor: str | None = None
    size: int = 20
    """The default page size."""
    most: int | None = None
    """The largest page size."""
    first_page: int = 1
    """The number of the first page, if pages are numbered."""

    @property
    def is_asked(self) -> bool:
        """Whether the tool has any argument that chooses a page."""
        return any((self.limit, self.offset, self.page, self.cursor))


Verb: TypeAlias = Literal["create", "get", "list", "search", "update", "delete", "compute", "none", "unknown"]
"""What a tool does to records: the nearest of these.

`compute` answers from its arguments alone. `none` uses no records either: it controls a device, opens a page, or
reports what no record holds. `unknown` is what could not be inferred."""
RECORDLESS: frozenset[Verb] = frozenset(("compute", "none", "unknown"))
"""The verbs of tools that work on no entity."""
CALLER = "(caller)"
"""The name of an argument that no client gives: the caller, as the state has it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tool does to which entity.

    An argument is named by its path (`task.title`). Where `each` is set, paths below it are those of one item.
    """

    tool: str
    """The id of the tool."""
    verb: Verb
    entity: str | None = None
    backend: str = "records"
    """The kind of backend that compiles the plan."""
    operation: str = ""
    """What the tool does, in the vocabulary of its backend."""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the operation needs, in the vocabulary of its backend -> the argument that gives it."""
    key: str | None = None
    """The argument that names the record; None for the only record of its entity."""
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Argument -> the field that it writes. An update whose `sets` writes the key renames the record."""
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """Field -> the value that the tool itself implies (`close_ticket`: status -> closed)."""
    how: Mapping[str, How] = field(default_factory=dict[str, How])
    """Field -> how a value gets into it, where it does not replace the value (`add_label`: labels -> append)."""
    each: str | None = None
    """An argument with a list: the tool does the same for each item.

    Paths below it (`tasks.title`, or `tasks` where items are plain values) are those of one item."""
    requires: Mapping[str, tuple[Json, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    """Field -> the values that it may have before (`cancel_order`: status -> pending)."""
    positive: tuple[str, ...] = ()
    """Arguments that must be greater than zero (`deposit(amount)`)."""
    if_exists: Literal["refuse", "update", "keep"] = "refuse"
    """What a create does if the record exists: refuse, update it, or keep it as it is."""
    copies: str | None = None
    """The argument that names the record that a create copies."""
    holder: str | None = None
    """The argument that names the record inside which the entity's records are kept."""
    counter: str | None = None
    """A field of an only record (`state.ticket_counter`) that holds the next id."""
    from_state: Mapping[str, str] = field(default_factory=dict[str, str])
    """Field of a new record -> the field of an only record with its value (`created_by`: `session.current_user`)."""
    also: tuple[Also, ...] = ()
    """Effects on records of other entities."""
    owners: tuple[Owner, ...] = ()
    """The records to which the record must belong that `key` names."""
    among: tuple[Among, ...] = ()
    """Ids that must be among those of another record."""
    children: tuple[Children, ...] = ()
    """Records that are created together with the record."""
    login: str | None = None
    """A field of an only record (`session.current_user`) that is set while someone is logged in; calls need a login."""
    within: str | None = None
    """The only argument (`params`), if it holds all others; the plan names the others without it."""
    caller: str | None = None
    """A field of an only record (`state.current_user`) that names the caller: the value of the argument CALLER."""
    swap: Swap | None = None
    """The parts of the record that the tool exchanges."""
    only: tuple[str, ...] = ()
    """The fields that are shown, if not all are."""
    picked: Picked | None = None
    """The one entry of a mapping that is shown."""
    choice: str | None = None
    """An argument that chooses one of `choices` (`manage_task(operation: create | update)`)."""
    choices: Mapping[str, Plan] = field(default_factory=dict[str, "Plan"])
    """Value of that argument -> the plan for it."""
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    """Argument -> how it filters a list."""
    query: str | None = None
    """The free-text argument of a search."""
    searched: tuple[str, ...] = ()
    """The fields that the query searches."""
    sort: str | None = None
    """The argument that names the field to sort by."""
    order: str | None = None
    """The argument that says whether to sort up or down."""
    paging: Paging = field(default_factory=Paging)
    envelope: Envelope = field(default_factory=Envelope)
    confidence: float = 1.0
    """0 to 1; below 0.6 the plan is a guess."""
    reasons: tuple[str, ...] = ()
    """The evidence for the plan, as sentences."""

    @property
    def variants(self) -> tuple[Plan, ...]:
        """The plans of its choices; the plan itself if it has none."""
        return tuple(self.choices.values()) or (self,)

    @property
    def guessed(self) -> bool:
        """Whether there is too little evidence for the plan; steps with such a plan are marked in the ledger."""
        return self.confidence < 0.6 or self.verb == "unknown"
