"""The domain of a scenario: its tools, entities and plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.types.plans import Plan


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


@dataclass(frozen=True, slots=True)
class Example:
    """A recorded call and its result: ground for format and wording, demonstration for a language model.

    `is_blocks`: the result is a list of content blocks, not a value.
    """

    tool: str
    arguments: dict[str, Json]
    result: Json
    is_blocks: bool = False


@dataclass(frozen=True, slots=True)
class Concealed:
    """What the agent may not see of the records of an entity that fit: these `fields`; all where none are named."""

    entity: str
    fields: frozenset[str]
    fits: Callable[[Record], bool]


@dataclass(frozen=True, slots=True)
class Domain:
    """Tools by id, plans by tool id, entities by name, and what the world is about.

    In an `open` world there may be records that nobody mentioned yet; a closed one knows all. What is `concealed` from
    the agent is true nevertheless; but who might pass it on is not to be told.
    """

    tools: Mapping[str, Tool]
    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]
    description: str
    now: datetime
    examples: tuple[Example, ...] = ()
    open: bool = False
    given: frozenset[str] = frozenset()
    """The entities whose records the state at the beginning holds."""
    concealed: tuple[Concealed, ...] = ()
    kept: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any], compare=False, repr=False)
    """What a backend keeps for all its tools and worlds, under a name of its own: what is costly to make again."""
