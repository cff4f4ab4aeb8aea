"""Class changes of tools by what they do to clients: breaking, additive, cosmetic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

Weight: TypeAlias = Literal["breaking", "additive", "cosmetic"]

WEIGHTS: tuple[Weight, ...] = ("breaking", "additive", "cosmetic")
"""The gravest first."""

_WORDING = frozenset({"description", "title", "examples", "$comment", "icons", "deprecated", "_meta", "$schema", "$id"})
"""What people and models read, and no program checks."""
_PARTS = ("properties", "required", "items", "enum", "type", "additionalProperties")


def weight_of(before: Record, now: Record) -> Weight:
    """Return the gravest change between two definitions of a tool."""
    weights = {*_tool_weights(before, now)}
    for weight in WEIGHTS:
        if weight in weights:
            return weight
    return "cosmetic"


def _tool_weights(before: Record, now: Record) -> Iterator[Weight]:
    yield from _schema_weights(before.get("inputSchema"), now.get("inputSchema"), takes=True)
    if "outputSchema" not in now and "outputSchema" in before:
        yield "breaking"
    elif "outputSchema" in now and "outputSchema" not in before:
        yield "additive"
    else:
        yield from _schema_weights(before.get("outputSchema"), now.get("outputSchema"), takes=False)
    # Hosts ask their user by the hints: another one changes what runs without a question.
    ours, theirs = as_object(before.get("annotations")), as_object(now.get("annotations"))
    if any(ours.get(hint) != theirs.get(hint) for hint in (ours.keys() | theirs.keys()) - _WORDING):
        yield "breaking"
    support = [as_object(tool.get("execution")).get("taskSupport") for tool in (before, now)]
    if support[0] != support[1]:
        yield "additive" if support == [None, "optional"] else "breaking"


def _schema_weights(before: Json, now: Json, *, takes: bool) -> Iterator[Weight]:
    """Yield the changes of a schema, of what a tool `takes` or returns: there, more values are a burden for clients."""
    if before == now:
        return
    ours, theirs = as_object(before), as_object(now)
    if (ours, theirs) != (before, now):  # true, false or missing
        wider = now is True or (now is None and before is not False)
        yield "additive" if wider == takes else "breaking"
        return
    yield from _property_weights(ours, theirs, takes=takes)
    yield from _schema_weights(ours.get("items", True), theirs.get("items", True), takes=takes)
    yield from _set_weights(ours.get("enum"), theirs.get("enum"), takes=takes)
    yield from _set_weights(ours.get("type"), theirs.get("type"), takes=takes)
    if takes:
        yield from _schema_weights(
            ours.get("additionalProperties", True), theirs.get("additionalProperties", True), takes=True
        )
    others = (ours.keys() | theirs.keys()) - {*_PARTS, *_WORDING}
    if any(ours.get(word) != theirs.get(word) for word in others):
        is_lifted = all(word not in theirs for word in others if ours.get(word) != theirs.get(word))
        yield "additive" if is_lifted and takes else "breaking"


def _property_weights(before: Record, now: Record, *, takes: bool) -> Iterator[Weight]:
    ours, theirs = as_object(before.get("properties")), as_object(now.get("properties"))
    needed, needs = ({*map(str, as_list(schema.get("required")))} for schema in (before, now))
    for name in dict.fromkeys((*ours, *theirs)):
        if name not in theirs:
            yield "breaking"
        elif name not in ours:
            yield "breaking" if takes and name in needs else "additive"
        else:
            yield from _schema_weights(ours[name], theirs[name], takes=takes)
            if (name in needed) != (name in needs):
                yield "breaking" if (name in needs) == takes else "additive"


def _set_weights(before: Json, now: Json, *, takes: bool) -> Iterator[Weight]:
    """Yield the change of a list of allowed values or types; without one, all are allowed."""
    if before == now:
        return
    ours, theirs = (None if each is None else {*map(str, as_list(each) or [each])} for each in (before, now))
    if ours == theirs:
        return
    is_wider = theirs is None or (ours is not None and ours <= theirs)
    is_narrower = ours is None or (theirs is not None and theirs <= ours)
    yield "additive" if (is_wider if takes else is_narrower) else "breaking"
