"""Plans: what a tool does to which records, and where its result shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, replace
from typing import Any, Literal, TypeAlias

from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen
from mcp_sim.types.result_templates import ResultTemplate

How: TypeAlias = Literal["set", "append", "remove", "add", "subtract", "toggle"]
"""How a value gets into a field.

`set` replaces the value. `append` and `remove` change the list in the field, `add` and `subtract` the number,
`toggle` negates the flag."""


Operator: TypeAlias = Literal["equals", "contains", "gt", "gte", "lt", "lte", "in", "not"]


@frozen
class Filter:
    """How an argument filters a list."""

    field: str
    op: Operator = "equals"
    only: Json = None
    """The value that the field must have if the argument is true (`available_only`). False filters nothing."""
    unless: Json = None
    """The value that the field must not have unless the argument is true (`include_archived`). True filters nothing."""
    default: Json = None
    """The value of the argument if it is missing."""
    until: str = ""
    """The field with the end of a period that begins in `field`, if the argument is a day within it."""


@frozen
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


@frozen
class Paging:
    """The arguments that order records and choose a page."""

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
    sort: str | None = None
    """The argument that names the field to sort by."""
    order: str | None = None
    """The argument that says whether to sort up or down."""

    @property
    def is_asked(self) -> bool:
        """Whether the tool has any argument that chooses a page."""
        return any((self.limit, self.offset, self.page, self.cursor))


@frozen
class Idempotency:
    """The argument with a call's idempotency key, and how long the server remembers a key."""

    key: str
    expires: float | None = None
    """In seconds of world time; None: as long as the world has room for it."""


Verb: TypeAlias = Literal["create", "get", "list", "search", "update", "delete", "compute", "none", "unknown"]
"""What a tool does to records: the nearest of these.

`compute` answers from its arguments alone. `none` uses no records either: it controls a device, opens a page, or
reports what no record holds. `unknown` is what could not be inferred."""
RECORDLESS: frozenset[Verb] = frozenset(("compute", "none", "unknown"))
"""The verbs of tools that work on no entity."""
Source: TypeAlias = Literal["declared", "example", "state", "schema", "inferred"]
"""Where the value of a plan's field comes from.

`declared` in the spec; `example`: a recorded result; `state`: the given records; `schema`: an inputSchema, an
outputSchema or an annotation; `inferred` from names and descriptions."""
EFFECT = ("verb", "entity", "key")
"""The fields of a plan that decide its effect."""
_PARTS = ("paging", "envelope")
"""The fields of a plan that have parts of their own, which a spec may declare one by one."""
_SURE = 0.6
"""The confidence from which on a value is not a guess. Lower, and calls whose effect rests on a description alone are
not marked in the ledger."""
CERTAIN = 0.85
"""The confidence from which on a tool that seems to read may be called on a real server that must not change. Lower,
and a list of new tools may be tried out by a call that writes."""


@frozen
class Basis:
    """Why a field of a plan has its value."""

    source: Source
    confidence: float = 1.0
    """0 to 1; below 0.6 the value is a guess."""
    reasons: tuple[str, ...] = ()
    """The evidence, as sentences."""


DECLARED = Basis("declared", reasons=("declared in the spec",))


@frozen
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
    if_exists: Literal["refuse", "update", "keep"] = "refuse"
    """What a create does if the record exists: refuse, update it, or keep it as it is."""
    copies: str | None = None
    """The argument of a create that names the record whose values it takes over."""
    holder: str | None = None
    """The argument that names the record inside which the entity's records are kept."""
    choice: str | None = None
    """An argument that chooses one of `choices` (`manage_task(operation: create | update)`)."""
    choices: Mapping[str, Plan] = field(default_factory=dict[str, "Plan"])
    """Value of that argument -> the plan for it."""
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    """Argument -> how it filters a list."""
    query: str | None = None
    """The free-text argument of a search."""
    paging: Paging = field(default_factory=Paging)
    envelope: Envelope = field(default_factory=Envelope)
    idempotency: Idempotency | None = None
    """The argument under whose value an answer is kept: a call that repeats it gets that answer, and writes nothing."""
    result: tuple[ResultTemplate, ...] = ()
    """The forms of its results: the first that fits the call is used; empty: the form is inferred."""
    basis: Mapping[str, Basis] = field(default_factory=dict[str, Basis])
    """Field that is set -> why it has its value."""

    @property
    def variants(self) -> tuple[Plan, ...]:
        """The plans of its choices; the plan itself if it lacks one."""
        return tuple(self.choices.values()) or (self,)

    @property
    def certainly_reads(self) -> bool:
        """Whether it changes nothing, as the spec declares or as good as certainly."""
        basis = self.basis.get("verb")
        is_certain = basis is not None and (basis.source == "declared" or basis.confidence >= CERTAIN)
        return is_certain and self.verb in ("get", "list", "search", "compute")

    @property
    def confidence(self) -> float:
        """The least confidence of the fields that decide the effect."""
        return min((self.basis[name].confidence for name in EFFECT if name in self.basis), default=1.0)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The evidence for the plan, that for its effect first."""
        ordered = (self.basis[name] for name in dict.fromkeys((*EFFECT, *self.basis)) if name in self.basis)
        return tuple(dict.fromkeys(reason for basis in ordered for reason in basis.reasons))

    @property
    def guessed(self) -> bool:
        """Whether there is too little evidence for the plan; steps with such a plan are marked in the ledger."""
        return self.confidence < _SURE or self.verb == "unknown"

    @property
    def guesses(self) -> tuple[str, ...]:
        """Why its answers rest on a guess; empty if there is enough evidence for the plan."""
        if self.verb == "unknown":
            return (f"what the tool does is unknown: {next(iter(self.reasons), 'nothing says it')}",)
        return (f"what the tool does is inferred with a confidence of {self.confidence:.2f}",) if self.guessed else ()

    def is_guessed(self, name: str) -> bool:
        """Return whether there is too little evidence for a field. Those that are not set are as sure as the plan."""
        basis = self.basis.get(name)
        return self.guessed if basis is None else basis.confidence < _SURE

    def with_effect(self, confidence: float, *reasons: str, source: Source = "inferred") -> Plan:
        """Return the plan with this basis of the fields that decide its effect, as far as they are set."""
        names = [name for name in _set_fields(self) if name in EFFECT]
        return _based(self, dict.fromkeys(names, Basis(source, confidence, reasons)))

    def with_basis(self, confidence: float, *reasons: str, source: Source = "inferred") -> Plan:
        """Return the plan with this basis of all fields that are set and lack one."""
        names = [name for name in _set_fields(self) if name not in self.basis]
        return _based(self, dict.fromkeys(names, Basis(source, confidence, reasons)))

    def explained(self, basis: Mapping[str, Basis]) -> Plan:
        """Return the plan with this basis of the fields that are set and lack one."""
        return _based(self, {name: value for name, value in basis.items() if name not in self.basis})

    def with_declared(self, values: Mapping[str, Any]) -> Plan:
        """Return the plan with these values of fields, as a spec declares them.

        A mapping for `paging` or `envelope` leaves the parts that it does not name as they are.
        """
        parts = {name: replace(getattr(self, name), **values[name]) for name in _PARTS if name in values}
        return _based(replace(self, **{**values, **parts}), dict.fromkeys(values, DECLARED))


def _set_fields(plan: Plan) -> list[str]:
    """Return the names of the fields that have a basis: the verb, and those that differ from the default."""
    names = (item.name for item in fields(plan) if getattr(plan, item.name) != _default(item))
    return [name for name in names if name not in {"tool", "basis"}]


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _based(plan: Plan, added: Mapping[str, Basis]) -> Plan:
    """Return the plan with the basis of some fields, and without that of fields that are unset but not declared."""
    known, names = {**plan.basis, **added}, {*_set_fields(plan)}
    return replace(
        plan, basis={name: basis for name, basis in known.items() if name in names or basis.source == "declared"}
    )
