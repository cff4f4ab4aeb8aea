"""What does a server offer beside its tools, and what does a tool say beside its result?

Resources, prompts, completion; questions to the client in the midst of a call, notifications, content blocks. All of it
is data of a tool spec. Texts are templates: `{name}` is a slot, `{user.content.city}` reaches into a value; a slot of
which nothing is known stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import quote, unquote

from mcp_sim.types import Json, Record
from mcp_sim.types.json_values import encode

Capability: TypeAlias = Literal["elicitation", "elicitation.url", "sampling", "roots"]

UNKNOWN: Any = object()

_SLOT = re.compile(r"\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")
_VARIABLE = re.compile(r"\{(\+?)([A-Za-z_]\w*)\}")


# tools ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to the client: a request of the protocol, and the capability that it takes.

    `optional`: a client that cannot is not asked; else its call is refused.
    """

    method: str
    params: Record
    needs: Capability
    optional: bool = False


Round: TypeAlias = Mapping[str, Ask]
"""Questions that are put at the same time, by the name that their answers go by."""


@dataclass(frozen=True, slots=True)
class ToolInteraction:
    """How a tool answers: what it asks first, what it sends meanwhile, and which blocks its result is made of.

    `notices` are notifications (`method`, `params`, and `at_ms`, when in the course of the call). `blocks` are content
    blocks as templates; empty: the result goes out as it is.
    """

    asks: tuple[Round, ...] = ()
    notices: tuple[Record, ...] = ()
    blocks: tuple[Record, ...] = ()


NO_INTERACTION = ToolInteraction()


# resources and prompts ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be filled in: `values`, or those that a field of an entity's records has."""

    values: tuple[str, ...] = ()
    entity: str | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource, or a template of some, as it is listed, and where its contents come from.

    Exactly one of: `text` and `blob` (templates); `entity`, whose record the variable `key` names; `entity` with
    `is_table`, all of its records. With `entity`, a `text` shows the record.
    """

    definition: Record
    text: str | None = None
    blob: str | None = None
    entity: str | None = None
    key: str | None = None
    is_table: bool = False
    choices: Mapping[str, Choices] = field(default_factory=dict[str, Choices])

    @property
    def is_template(self) -> bool:
        return "uriTemplate" in self.definition

    @property
    def uri(self) -> str:
        """Its URI, or the template of one."""
        return self.definition["uriTemplate" if self.is_template else "uri"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is listed, its messages (templates), and what it asks of the client first."""

    definition: Record
    messages: tuple[Record, ...]
    asks: tuple[Round, ...] = ()
    choices: Mapping[str, Choices] = field(default_factory=dict[str, Choices])

    @property
    def name(self) -> str:
        return self.definition["name"]


# answers --------------------------------------------------------------------------------------------------------------

MISSING_CAPABILITY = -32021
"""The JSON-RPC code for a client that would have to be asked, and cannot be."""


def missing_capability_error(capability: Capability) -> tuple[str, Record]:
    """Message and data of the error for a client that lacks a capability, as the protocol has them."""
    required: Record = {}
    for part in reversed(capability.split(".")):
        required = {part: required}
    return f"This takes a client with the capability {capability}", {"requiredCapabilities": required}


# templates ------------------------------------------------------------------------------------------------------------


def fill_slots(template: Json, slots: Mapping[str, Json]) -> Json:
    """A template with its slots filled; every string of it stays a string."""
    if isinstance(template, str):
        return _SLOT.sub(lambda found: _text(found, slots), template)
    if isinstance(template, dict):
        return {name: fill_slots(value, slots) for name, value in cast("Record", template).items()}
    if isinstance(template, list | tuple):
        return [fill_slots(value, slots) for value in cast("list[Json]", template)]
    return template


def _text(found: re.Match[str], slots: Mapping[str, Json]) -> str:
    value: Json = slots
    for part in found[1].split("."):
        value = cast("Record", value).get(part, UNKNOWN) if isinstance(value, Mapping) else UNKNOWN
    if value is UNKNOWN:
        return found[0]
    return value if isinstance(value, str) else encode(value).decode()


def slot_roots(template: Json) -> set[str]:
    """What the slots of a template begin with: `user` for `{user.content.city}`."""
    if isinstance(template, dict):
        return slot_roots(list(cast("Record", template).values()))
    if isinstance(template, list | tuple):
        return set[str]().union(*map(slot_roots, cast("list[Json]", template)))
    return {name.partition(".")[0] for name in _SLOT.findall(template)} if isinstance(template, str) else set[str]()


def variables(template: str) -> list[str]:
    """The variables of a URI template: `{name}`, or `{+name}`, which may hold slashes."""
    return [name for _, name in _VARIABLE.findall(template)]


def has_unknown_expressions(template: str) -> bool:
    """Does a URI template hold expressions that are not understood here, so that no URI matches it?"""
    return bool(re.search(r"[{}]", _VARIABLE.sub("", template)))


def match_uri(template: str, uri: str) -> dict[str, str] | None:
    """The variables that make a URI of a template; None where it is none."""
    parts, at = list[str](), 0
    for found in _VARIABLE.finditer(template):
        parts += [re.escape(template[at : found.start()]), f"(?P<{found[2]}>{'.+' if found[1] else '[^/?#]+'})"]
        at = found.end()
    shape = re.fullmatch("".join(parts) + re.escape(template[at:]), uri)
    return None if shape is None else {name: unquote(value) for name, value in shape.groupdict().items()}


def expand_uri(template: str, values: Mapping[str, Json]) -> str:
    """The URI that a template makes of its variables."""
    return _VARIABLE.sub(lambda found: quote(str(values[found[2]]), safe="/" if found[1] else ""), template)
