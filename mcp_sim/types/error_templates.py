"""Error templates: the text of a failure, filled in from the call that failed.

The templates are those of a tool spec's `errors:`. A slot is a plain name in braces: `{contact_id}`. It is filled from
the failure (`{key}`, `{entity}`, `{status}`, ...), from the arguments of the call, from `{kind}` and `{tool}`, or from
`{message}`, the sentence that is used without a template. If a slot of a template is unknown, `default` is used
instead, then that sentence. A scenario may have a `message` of its own; unknown slots of a message stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Literal, TypeAlias

from mcp_sim.types import Json, Observation, Record, RpcError, ToolResult, Turn, render_plain_failure
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import as_text, map_texts, texts_in

Form: TypeAlias = Literal["text", "json", "structured", "rpc"]

DEFAULT = "default"
"""The failure kind whose template is used for kinds without one."""

FAILURES: Mapping[int, str] = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    422: "invalid",
    429: "rate_limited",
    503: "unavailable",
    504: "timeout",
}
"""The failure kind of an HTTP status. Other statuses are `internal` from 500, else `refused`."""

CAUSES = frozenset(
    {*FAILURES.values(), DEFAULT, "missing", "declined", "key_reused", "quota_exhausted", "internal", "refused"}
)
"""The failure kinds, besides those of programs."""

_WIDER: Mapping[str, str] = {"missing": "invalid", "key_reused": "conflict"}
"""Failure kind -> the kind whose template is used for it if it lacks one."""
_MISSING = re.compile(r"'([^']+)' is a required property")

_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
REFUSAL_SLOTS = frozenset({"kind", "message", "problems", "problem", "argument", "tool"})
"""The slots of a failure of invalid arguments, besides the arguments."""
FAILURE_SLOTS = REFUSAL_SLOTS | {
    "key", "id", "value", "entity", "noun", "label", "status", "field", "retry_after", "limit", "used", "after", "path",
    "user", "branch",
}  # fmt: skip
"""The slots of any failure, besides the arguments and those of programs."""


@frozen
class Template:
    """What is served: a text, JSON as text, structured content, or `{code, message, data}` of a JSON-RPC error."""

    form: Form
    value: Json
    is_soft: bool = False
    """Whether it is served as a success, without isError."""


@frozen
class VendorErrors:
    """The error templates of one vendor, by failure kind."""

    templates: Mapping[str, Template]
    own: frozenset[str] = frozenset()
    """The kinds whose templates are those of one tool. They may have slots for any of its arguments."""
    tool: str = ""
    """The name of the tool, the slot `tool`."""
    arguments: frozenset[str] = frozenset()
    """The arguments of the tool. In its own templates they come before other slots of their names."""

    def of_tool(self, name: str, arguments: Iterable[str], own: Mapping[str, Template]) -> VendorErrors:
        """Return these templates for one tool, with its own in front."""
        return VendorErrors({**self.templates, **own}, frozenset(own), name, frozenset(arguments))

    def __call__(self, kind: str, message: str, slots: Mapping[str, Json]) -> Observation:
        known = {"kind": kind, "message": message, **slots, "tool": self.tool}
        own = frozenset[str]() if "problems" in slots else self.own  # such a failure has all arguments already
        for name in (kind, _WIDER.get(kind, DEFAULT), DEFAULT):
            template = self.templates.get(name)
            if template is not None and name in own:
                others = {slot: value for slot, value in known.items() if slot not in self.arguments}
                return replace(_observation(template, {**others, **slots}), has_slots=True)
            if template is not None and slots_in(template.value) <= known.keys():
                return _observation(template, known)
        return render_plain_failure(kind, message, slots)


def _observation(template: Template, slots: Mapping[str, Json]) -> Observation:
    value = fill_template(template.value, slots)
    if template.form == "rpc":
        return Observation(RpcError(value["code"], value["message"], value.get("data")))
    result = ToolResult(value, form=template.form, is_error=not template.is_soft, is_failure=template.is_soft)
    return Observation(result)


def with_arguments(observation: Observation, arguments: Mapping[str, Json]) -> Observation:
    """Return a failure with the slots of arguments filled that the failure itself did not name."""
    body = observation.body
    if isinstance(body, ToolResult):
        body = replace(body, value=fill_template(body.value, arguments))
    elif isinstance(body, RpcError):
        body = replace(body, message=fill_message(body.message, arguments))
    return replace(observation, body=body, has_slots=False)


USUAL_TIMEOUT = timedelta(seconds=2)
"""How long a caller waits for a simulated timeout on a real clock, where nothing else is declared.

Real ones take longer, but clients of MCP give up on a call after as little as five seconds.
"""


def usual_wait(status: int) -> timedelta:
    """Return how long a caller waits for a response with an HTTP status on a real clock."""
    return USUAL_TIMEOUT if failure_kind(status) == "timeout" else timedelta(0)


def failure_kind(status: int) -> str:
    """Return the failure kind of an HTTP status."""
    return FAILURES.get(status, "internal" if status >= 500 else "refused")


def status_phrase(status: int) -> str:
    """Return an HTTP status with its phrase: `503 Service Unavailable`."""
    known = {entry.value: entry.phrase for entry in HTTPStatus}
    return f"{status} {known.get(status) or ('Server Error' if status >= 500 else 'Request Refused')}"


def refusal(turn: Turn, kind: str, sentence: str, message: str | None = None, **slots: Json) -> Observation:
    """Return a failure of this call: the scenario's own `message`, else the vendor's template, else `sentence`."""
    known = {**turn.call.arguments, **slots}
    if message is None:
        return turn.tool.failure(kind, sentence, **known)
    return Observation(ToolResult(fill_message(message, known), form="text", is_error=True))


def invalid_arguments(turn: Turn) -> Observation:
    """Return the failure of a call whose arguments violate the inputSchema."""
    kind, sentence, slots = _invalid(turn)
    return turn.tool.failure(kind, sentence, **slots)


def refused_as(template: Template, turn: Turn) -> Observation | None:
    """Return the failure of a call with invalid arguments by a template of its tool; None if a slot is unknown.

    Arguments come before other slots of their names.
    """
    kind, sentence, slots = _invalid(turn)
    known = {"kind": kind, "message": sentence, **slots, **turn.call.arguments}
    return _observation(template, known) if slots_in(template.value) <= known.keys() else None


def _invalid(turn: Turn) -> tuple[str, str, Record]:
    """Return the failure kind of a call with invalid arguments, what is wrong with them, and the slots."""
    listed = "; ".join(turn.problems)
    missing = _MISSING.search(turn.problems[0]) if turn.problems else None
    argument = missing[1] if missing is not None else listed.partition(":")[0]
    kind = "invalid" if missing is None else "missing"
    problem = re.sub(r"^[\w.\[\]]+: ", "", turn.problems[0]) if turn.problems else ""
    slots: Record = {"problems": listed, "problem": problem, "argument": argument, "tool": turn.tool.name}
    return kind, f"Invalid arguments: {listed}", {**turn.call.arguments, **slots}


def fill_message(message: str, slots: Mapping[str, Json]) -> str:
    """Fill the known slots of a scenario's message."""
    return _SLOT.sub(lambda match: as_text(slots[match[1]]) if match[1] in slots else match[0], message)


def slots_in(template: Json) -> set[str]:
    return {slot for _, text in texts_in(template) for slot in _SLOT.findall(text)}


def fill_template(template: Json, slots: Mapping[str, Json]) -> Json:
    """Fill the slots of a template. Inside JSON, a string that is one slot becomes the value itself."""
    if isinstance(template, str):
        return fill_message(template, slots)

    def filled(text: str) -> Json:
        slot = _SLOT.fullmatch(text)
        return slots[slot[1]] if slot and slot[1] in slots else fill_message(text, slots)

    return map_texts(template, filled)
