"""Which tools take a list of operations on files, and what may each of its items do?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_sim.backends.files.operations import operation_of
from mcp_sim.backends.files.roles import MUST, arguments_of, given_instead
from mcp_sim.backends.matching.purposes import Purpose, choices
from mcp_sim.backends.matching.ways import Way
from mcp_sim.types.json_schema.shapes import items, properties, required

BATCH = "batch"
_LISTS = ("operations", "actions", "steps", "tasks", "commands", "items", "changes")
_PLACES = ("source", "src", "target", "from")
"""What the path may be called where another operation of the list has two."""


def list_of(purpose: Purpose) -> str | None:
    """The argument that lists operations on files, if there is one."""
    name = purpose.argument(_LISTS, ("array",))
    return name if name is not None and len(ways_of(purpose, name)) > 1 else None


def ways_of(purpose: Purpose, name: str) -> dict[str, Way]:
    """What an item may say that is to be done -> how."""
    return {choice.choice: way for choice in choices_of(purpose, name) for way in _judged(choice)}


def choices_of(purpose: Purpose, name: str) -> list[Purpose]:
    """An item's own arguments, once for each thing that it may say is to be done."""
    item = items(purpose.arguments[name])
    of_items = replace(purpose, words=("file",), arguments=properties(item), needed=required(item))
    return [one for one in choices(of_items) if one.selector is not None]


def _judged(purpose: Purpose) -> Iterator[Way]:
    operation = operation_of(purpose)
    if operation is None:
        return
    roles = arguments_of(purpose, operation)
    wanted = MUST.get(operation, "").split()
    place = purpose.argument(_PLACES, ("string",)) if "path" in wanted and "path" not in roles else None
    roles |= {"path": place} if place is not None else {}
    if all(role in roles or given_instead(role, roles) for role in wanted):
        yield operation, roles
