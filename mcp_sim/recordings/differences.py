"""Find what differs between recorded answers and tools and those of a live server."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, TypeAlias, cast

from mcp_sim.recordings.columns import paths_of
from mcp_sim.recordings.observed import Observed, masked, shortened
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json, Record, as_list, as_object, frozen
from mcp_sim.types.json_values import paired_leaves

Kind: TypeAlias = Literal["outcome", "form", "values"]

MOST_DETAILS = 4  # a changed server differs in all rows of a list, in the same way
LONGEST_SHOWN = 80  # a difference fits on a line
_LABEL = re.compile(r"^[ \t>#*•-]{0,40}([A-Za-z][\w ]{0,30}):(?:\s|$)", re.MULTILINE)
"""A label at the beginning of a line of text."""


# answers --------------------------------------------------------------------------------------------------------------


def differences(before: Observed, now: Observed) -> Iterator[tuple[Kind, list[str]]]:
    """Yield the kinds of differences, the gravest first."""
    if before.failed != now.failed:
        verb = "failed, and succeeds now" if before.failed else "succeeded, and fails now"
        yield "outcome", [f"{verb}: {shortened(now.value, LONGEST_SHOWN)}"]
    form = list(islice(_form_differences(before, now), MOST_DETAILS))
    if form:
        yield "form", form
    values = list(islice(_value_differences(masked(before.value), masked(now.value)), MOST_DETAILS))
    if values:
        yield "values", values


def _form_differences(before: Observed, now: Observed) -> Iterator[str]:
    if set(before.blocks) != set(now.blocks):
        yield f"content: {_listed(before.blocks)} is now {_listed(now.blocks)}"
    if before.is_data != now.is_data:
        yield "data is now text" if before.is_data else "text is now data"
    elif before.is_data:
        # What is below null or an empty list in either is unknown.
        unknown = tuple({*_unknown(before.value), *_unknown(now.value)})
        paths = ({path for path in paths_of(seen.value) if not path.startswith(unknown)} for seen in (before, now))
        yield from _set_differences(*paths)
    elif isinstance(before.value, str) and isinstance(now.value, str) and not before.failed:
        yield from _set_differences(
            *({f"{label}:" for label in _LABEL.findall(text)} for text in (before.value, now.value))
        )


def _unknown(value: Json, path: str = "$") -> Iterator[str]:
    """Yield the beginnings of paths at which a value is null or an empty list."""
    if isinstance(value, dict):
        for name, inner in cast("Record", value).items():
            yield from _unknown(inner, f"{path}.{name}")
    elif isinstance(value, list) and value:
        for inner in cast("list[Json]", value):
            yield from _unknown(inner, f"{path}[]")
    elif value is None or value == []:
        yield from (f"{path}{sign}" for sign in ":.[{")


def _set_differences(before: set[str], now: set[str]) -> Iterator[str]:
    yield from (f"missing: {path}" for path in sorted(before - now))
    yield from (f"new: {path}" for path in sorted(now - before))


def _value_differences(before: Json, now: Json) -> Iterator[str]:
    """Yield the places where values differ. A redacted secret is equal to anything."""
    for path, first, other in paired_leaves(before, now, None):
        if not _is_same(first, other):
            yield f"{dotted(('$', *path))}: {shortened(first, LONGEST_SHOWN)} is now {shortened(other, LONGEST_SHOWN)}"


def _is_same(before: Json, now: Json) -> bool:
    if isinstance(before, str) and PLACEHOLDER.search(before):
        # Anything but nothing may be between two parts.
        text = now if isinstance(now, str) else json.dumps(now)
        first, *between, last = PLACEHOLDER.split(before)
        if not text.startswith(first):
            return False
        at = len(first)
        for piece in between:
            number = text.find(piece, at + 1)
            if number < 0:
                return False
            at = number + len(piece)
        return len(text) > at + len(last) and text.endswith(last)
    return before == now and isinstance(before, bool) == isinstance(now, bool)


# tools ----------------------------------------------------------------------------------------------------------------


@frozen
class ToolDrift:
    """A tool that the recording and the server list differently."""

    name: str
    change: Literal["added", "removed", "changed"]
    weight: Weight
    """What it does to clients of the tool as it was."""
    details: Sequence[str] = ()


def tool_drifts(before: Sequence[Record], now: Sequence[Json]) -> Iterator[ToolDrift]:
    ours = {str(tool["name"]): tool for tool in before}
    theirs = {str(as_object(tool).get("name")): as_object(tool) for tool in now}
    for name in dict.fromkeys((*ours, *theirs)):
        if name not in theirs:
            yield ToolDrift(name, "removed", "breaking")
        elif name not in ours:
            yield ToolDrift(name, "added", "additive")
        elif details := list(_tool_details(ours[name], theirs[name])):
            yield ToolDrift(name, "changed", weight_of(ours[name], theirs[name]), details)


def _tool_details(before: Record, now: Record) -> Iterator[str]:
    """Yield what differs between two definitions of a tool: its parameters one by one, and its other parts."""
    ours, theirs = as_object(before.get("inputSchema")), as_object(now.get("inputSchema"))
    yield from _parameter_details(ours, theirs)
    compared = {"properties", "required"}
    if any(_differ(ours.get(key), theirs.get(key)) for key in (ours.keys() | theirs.keys()) - compared):
        yield "inputSchema"
    for key in dict.fromkeys((*before, *now)):
        if key not in {"inputSchema", "_meta"} and _differ(before.get(key), now.get(key)):
            yield key


def _parameter_details(before: Record, now: Record) -> Iterator[str]:
    ours, theirs = as_object(before.get("properties")), as_object(now.get("properties"))
    needed, needs = as_list(before.get("required")), as_list(now.get("required"))
    for name in dict.fromkeys((*ours, *theirs)):
        if name not in theirs:
            yield f"parameter {name}: removed"
        elif name not in ours:
            yield f"parameter {name}: added{', required' if name in needs else ''}"
        elif _differ(ours[name], theirs[name]):
            yield f"parameter {name}: " + "; ".join(islice(_value_differences(ours[name], theirs[name]), MOST_DETAILS))
        if name in ours and name in theirs and (name in needed) != (name in needs):
            yield f"parameter {name}: {'now required' if name in needs else 'no longer required'}"


def _differ(before: Json, now: Json) -> bool:
    return next(_value_differences(before, now), None) is not None


# texts ----------------------------------------------------------------------------------------------------------------


def _listed(blocks: Sequence[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(blocks).items())) or "nothing"


Weight: TypeAlias = Literal["breaking", "additive", "cosmetic"]

WEIGHTS: tuple[Weight, ...] = ("breaking", "additive", "cosmetic")  # the gravest first

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
