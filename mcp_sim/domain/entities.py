"""What kinds of records are there, and which fields have they?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_sim.types import Key, Record


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an entity: its JSON Schema, and the entity it refers to, if any.

    A derived field is not stored but looked up when it is shown: `company_id.name` is a field of the record that
    `company_id` links to (`company_id.` the whole of it), `#contact.company_id` the number of contacts that link here.
    """

    name: str
    schema: Record
    link: str | None = None
    required: bool = False
    derived: str | None = None
    hidden: bool = False
    """A key that stands beside the record and not in it: shown only where a tool's result asks for it."""


@dataclass(frozen=True, slots=True)
class Inside:
    """Where records stand that are a part of others: in a field of another entity, which holds a list or a mapping."""

    entity: str
    field: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of record. `key` is the field that identifies one; `key_like` an example id that the next ids follow.

    A singleton (settings, an account, a session) has exactly one record, under the entity's own name. A natural key is
    a name or a path that callers choose: it may be given again once it is free. Records that stand `inside` others have
    no table of their own. Of an `open` one there is a record for whatever is asked for, like the weather of any city:
    it is made up at the first question, and stays.
    """

    name: str
    key: str = "id"
    key_like: Key | None = None
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])
    singleton: bool = False
    natural: bool = False
    inside: Inside | None = None
    open: bool = False
