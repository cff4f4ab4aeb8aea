"""The domain of a scenario: its tools, entities and plans."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.types.callers import Caller
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import Program


@frozen
class Field:
    """A field of an entity."""

    name: str
    schema: Record
    """Its JSON Schema."""
    link: str | None = None
    """The entity that it refers to."""
    required: bool = False
    hidden: bool = False
    """Whether it is a key beside the record and not in it, shown only if a tool's result asks for it."""
    is_outside: bool = field(default=False, compare=False)
    """Whether it is the key of a map of the given state, not in its records: who gets one by it is not shown it."""
    link_is_guessed: bool = field(default=False, compare=False)
    """Whether only names say that it refers to that entity: neither a declaration nor given records do."""
    default_is_guessed: bool = field(default=False, compare=False)
    """Whether nothing says that new records begin with the default of its schema."""

    @property
    def is_single_link(self) -> bool:
        """Whether it refers to one record, not to a list of them."""
        return self.link is not None and main_type(self.schema) != "array"


@frozen
class Inside:
    """The place of records that are parts of others: a `field` of another entity, with a list or a mapping.

    The field may be a path: `policy.claims`.
    """

    entity: str
    field: str


@frozen
class Entity:
    """A kind of record."""

    name: str
    key: str = "id"
    """The field that identifies a record."""
    key_like: Key | None = None
    """An example id, which the next ids follow."""
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])
    singleton: bool = False
    """Whether there is exactly one record (settings, an account, a session), under the entity's own name."""
    natural: bool = False
    """Whether keys are names or paths that callers choose. A key may be used again once it is free."""
    inside: Inside | None = None
    """The place of its records, if they are parts of others; then the entity has no table of its own."""
    open: bool = False
    """Whether a record exists for whatever key is requested (the weather of any city): generated once, then kept."""
    display: tuple[str, ...] | None = None
    """Of records that only say what is shown, such as tabs: the fields that an agent sets on purpose."""

    def schema_of(self, field: str) -> Record:
        """Return the schema of a field, which allows anything if the entity does not declare the field."""
        return self.fields[field].schema if field in self.fields else {}


def singleton_key(name: str, fields: Container[str]) -> str:
    """Return the name of a singleton's key: the entity's own, unless a field has it, such as the `mode` of a `mode`."""
    return singleton_key(f"{name}_", fields) if name in fields else name


@frozen
class Example:
    """A recorded call and its result: evidence for the format, and a demonstration for a language model."""

    tool: str
    arguments: dict[str, Json]
    result: Json
    is_blocks: bool = False
    """Whether the result is a list of content blocks, not a value."""


@frozen
class Concealed:
    """What the agent may not see: `fields` of the records of an entity that satisfy `fits`; all of them if empty."""

    entity: str
    fields: frozenset[str]
    fits: Callable[[Record], bool]


@frozen
class Domain:
    """The tools, entities and plans of a scenario, and what its world is about."""

    tools: Mapping[str, Tool]
    """By id."""
    entities: Mapping[str, Entity]
    """By name."""
    plans: Mapping[str, Plan]
    """By tool id."""
    description: str
    now: datetime
    """The start of the world, in world time."""
    examples: tuple[Example, ...] = ()
    """Recorded calls of its tools."""
    open: bool = False
    """Whether there may be records that were never mentioned; a closed world knows all its records."""
    given: frozenset[str] = frozenset()
    """The entities whose records the initial state holds."""
    specified: frozenset[str] = frozenset()
    """The entities whose records the scenario gives or counts, or the spec declares. A given state without any
    record of an entity says nothing about it."""
    declared: frozenset[str] = frozenset()
    """The entities that a spec declares."""
    settled: frozenset[str] = frozenset()
    """The entities whose number of records is fixed: the scenario gives or counts them, or they are a program's."""
    unspecified: frozenset[str] = frozenset()
    """The entities whose records nothing gives, counts or declares: what a list or a search asks for may be
    generated."""
    programs: tuple[Program, ...] = ()
    """The programs that answer some of its tools."""
    wrappers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tool id -> the path of its only argument (`params`), if that holds all others. Plans name these without it."""
    callers: Mapping[str, Caller] = field(default_factory=dict[str, "Caller"])
    """Tool id -> the token that says who calls. Plans have the name of the account instead."""
    concealed: tuple[Concealed, ...] = ()
    """What the agent may not see. It is true all the same, but no world model may reveal it."""
    elsewhere: frozenset[str] = frozenset()
    """The ids of the tools whose answers come from a real server or from recordings: no write of the world shows there.
    """
    kept: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any], compare=False, repr=False)
    """What backends keep for all their tools and worlds, each under a key of its own, since it is costly to compute."""

    @property
    def variants(self) -> list[Plan]:
        """The plans of all tools; of tools with an argument that chooses what they do, those of the choices."""
        return [variant for plan in self.plans.values() for variant in plan.variants]

    def entity_named_by(self, plan: Plan, argument: str) -> str | None:
        """Return the entity whose existing record an argument names, by its key or as a link; None if it does not."""
        entity = self.entities.get(plan.entity or "")
        if entity is None:
            return None
        rule = plan.filters.get(argument)
        field = rule.field if rule is not None else plan.sets.get(argument, "")
        if argument == plan.key or (rule is not None and field == entity.key):
            return entity.name if plan.verb != "create" else None
        if argument == plan.holder:
            return entity.inside.entity if entity.inside is not None else None
        return entity.fields[field].link if field in entity.fields else None

    def is_counted(self, entity: str) -> bool:
        """Whether a scenario can say how many records of an entity are generated."""
        known = self.entities[entity]
        if known.singleton or known.open or known.inside is not None:
            return False
        if any("initial" in program.hooks and entity in program.entities for program in self.programs):
            return False  # the program fills its tables itself
        return all(plan.backend == "records" for plan in self.plans.values() if plan.entity == entity)

    def only_reads(self, tool: Tool) -> bool:
        """Whether a tool certainly changes nothing: by its annotation, else by a plan that is not a guess."""
        if "readOnlyHint" in tool.annotations:
            return tool.annotations["readOnlyHint"] is True
        plan = self.plans.get(tool.id)
        return plan is not None and all(variant.certainly_reads for variant in plan.variants)

    def program_of(self, tool: str) -> Program | None:
        """Return the program that answers a tool, by its id; None if it has a plan only."""
        return next((program for program in self.programs if tool in program.functions), None)
