"""What else may a tool do, ask of records, or show, beyond writing the fields of one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
