"""What a server offers besides tools, and what a tool sends besides its result.

These are resources, prompts and completions; questions to the client during a call, notifications, and content blocks.
All of it is data of a tool spec. Texts are templates: `{name}` is a slot, `{user.content.city}` a path into a value.
Unknown slots stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias
from urllib.parse import unquote

from mcp_sim.types import Json, Record
from mcp_sim.types.delays import LogNormal
from mcp_sim.types.error_templates import Template
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import NOWHERE, as_text, map_texts, texts_in, value_at
from mcp_sim.types.programs import ProgramFunction

Capability: TypeAlias = Literal["elicitation", "elicitation.url", "sampling", "roots"]

Media: TypeAlias = Literal["image", "audio", "pdf"]

_SLOT = re.compile(r"\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")
_VARIABLE = re.compile(r"\{(\+?)([A-Za-z_]\w*)(\*?)\}")


# tools ----------------------------------------------------------------------------------------------------------------


@frozen
class Ask:
    """A question to the client: a request of the protocol."""

    method: str
    params: Record
    needs: Capability
    """The capability that a client must have to be asked."""
    optional: bool = False
    """Whether a client without the capability is not asked; otherwise its call is refused."""
    confirm: str = ""
    """The field of a form that must be true: otherwise the user has declined."""
    denies: str = ""
    """The field of a form that must not be false."""

    def is_refused(self, answer: Json) -> bool:
        """Whether an answer ends the call: it is declined, or could not be asked for."""
        body = as_object(answer)
        if body.get("action", "accept") != "accept":
            return True
        content = as_object(body.get("content"))
        is_unconfirmed = bool(self.confirm) and bool(body) and content.get(self.confirm) is not True
        return is_unconfirmed or (bool(self.denies) and content.get(self.denies) is False)


Round: TypeAlias = Mapping[str, Ask]
"""Questions that are asked at the same time, by the names of their answers."""


@frozen
class ArgumentCheck:
    """What a server requires of an argument beyond its inputSchema."""

    argument: str
    schema: Validator
    error: Template | None
    """The failure otherwise. That of invalid arguments if it is None or shows an argument that is not given."""


@frozen
class ToolInteraction:
    """What a tool requires and asks before it answers, what it sends meanwhile, and the blocks of its result."""

    asks: tuple[Round, ...] = ()
    notices: tuple[Record, ...] = ()
    """Notifications: `method`, `params`, and `at_ms`, when in the course of the call."""
    blocks: tuple[Record, ...] = ()
    """Content blocks as templates; empty: the result is served as it is."""
    latency: LogNormal | None = None
    """How long an answer takes; None: no time."""
    checks: tuple[ArgumentCheck, ...] = ()
    media: Media | None = None
    """What it returns instead of a text: a placeholder that shows its arguments."""

    def failed_check(self, arguments: Record) -> ArgumentCheck | None:
        """Return the first check that given arguments do not pass."""
        for check in self.checks:
            if check.argument in arguments and not check.schema.is_valid(arguments[check.argument]):
                return check
        return None


NO_INTERACTION = ToolInteraction()


# resources and prompts ------------------------------------------------------------------------------------------------

RESOURCE_NOT_FOUND = -32002
"""The JSON-RPC code for an unknown resource up to protocol 2025-11-25; later versions have invalid parameters."""


@frozen
class Choices:
    """Completions of a variable: `values`, or the values that a field of an entity's records has."""

    values: tuple[str, ...] = ()
    entity: str | None = None
    field: str = ""


@frozen
class Resource:
    """A resource, or a template of resources, and the source of its contents.

    The source is exactly one of: `text` or `blob` (templates); the record of `entity` that variable `key` names; all
    records of `entity`, if `is_table`; the `function` of the server's program. With `entity`, `text` is a template that
    shows the record.
    """

    definition: Record
    """Its entry in the list."""
    text: str | None = None
    blob: str | None = None
    entity: str | None = None
    key: str | None = None
    is_table: bool = False
    function: ProgramFunction | None = None
    choices: Mapping[str, Choices] = field(default_factory=dict[str, Choices])

    @property
    def is_template(self) -> bool:
        return "uriTemplate" in self.definition

    @property
    def uri(self) -> str:
        """Its URI, or its URI template."""
        return self.definition["uriTemplate" if self.is_template else "uri"]


@frozen
class Prompt:
    """A prompt."""

    definition: Record
    """Its entry in the list."""
    messages: tuple[Record, ...]
    """Templates."""
    asks: tuple[Round, ...] = ()
    """What it asks the client first."""
    choices: Mapping[str, Choices] = field(default_factory=dict[str, Choices])

    @property
    def name(self) -> str:
        return self.definition["name"]


# answers --------------------------------------------------------------------------------------------------------------

MISSING_CAPABILITY = -32021
"""The JSON-RPC code for a client that cannot be asked what a call requires."""


def missing_capability_error(capability: Capability) -> tuple[str, Record]:
    """Return message and data of the error for a client that lacks a capability, as the protocol defines them."""
    required: Record = {}
    for inner in reversed(capability.split(".")):
        required = {inner: required}
    return f"This takes a client with the capability {capability}", {"requiredCapabilities": required}


# templates ------------------------------------------------------------------------------------------------------------


def fill_slots(template: Json, slots: Mapping[str, Json]) -> Json:
    """Fill the slots of a template. Every string stays a string."""
    return map_texts(template, lambda text: _SLOT.sub(lambda match: _text(match, slots), text))


def _text(match: re.Match[str], slots: Mapping[str, Json]) -> str:
    value = value_at(slots, match[1])
    return match[0] if value is NOWHERE else as_text(value)


def slot_roots(template: Json) -> set[str]:
    """Return the first names of the slots of a template: `user` for `{user.content.city}`."""
    return {name.partition(".")[0] for _, text in texts_in(template) for name in _SLOT.findall(text)}


def variables(template: str) -> list[str]:
    """Return the variables of a URI template: `{name}`; `{+name}` and `{name*}` of FastMCP may hold slashes."""
    return [name for _, name, _ in _VARIABLE.findall(template)]


def has_unknown_expressions(template: str) -> bool:
    """Whether a URI template holds unsupported expressions, so that no URI matches it."""
    return bool(re.search(r"[{}]", _VARIABLE.sub("", template)))


def shape_of(template: str) -> str:
    """Return a URI template without the names of its variables: templates of one shape match the same URIs."""
    return _VARIABLE.sub(lambda match: "{+}" if match[1] or match[3] else "{}", template)


def match_uri(template: str, uri: str) -> dict[str, str] | None:
    """Return the variables of a URI that matches a template; None if it does not match."""
    parts, at = list[str](), 0
    for match in _VARIABLE.finditer(template):
        parts += [
            re.escape(template[at : match.start()]),
            f"(?P<{match[2]}>{'.+' if match[1] or match[3] else '[^/?#]+'})",
        ]
        at = match.end()
    shape = re.fullmatch("".join(parts) + re.escape(template[at:]), uri)
    return None if shape is None else {name: unquote(value) for name, value in shape.groupdict().items()}
