"""Which state does a tool lead to, and from which state alone, as its name and its description say?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.choices import choices_of, nearest
from mcp_sim.domain import Entity, Plan, Swap
from mcp_sim.plans.flags import flag_set, participle_meant
from mcp_sim.plans.names import Reading
from mcp_sim.schemas import constants, items, main_type, properties
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

_STATUS = ("status", "state", "stage")
IN_USE = ("active", "open", "enabled")
"""The states of what may be used."""

_LEADS = re.compile(
    r"(?:status|state|stage)\b[^.'\"]{0,40}?\b(?:to|becomes|as|is)\s+[\"'`]([^\"'`]{1,40})[\"'`]", re.IGNORECASE
)


def status_field(entity: Entity) -> str | None:
    """The field that tells in which state a record is."""
    return next((name for name in entity.fields if snake(name) in _STATUS), None)


def stated(about: str, entity: Entity) -> dict[str, Json]:
    """`The order status will be changed to 'return requested'`."""
    field, found = status_field(entity), _LEADS.search(about)
    return {field: found[1]} if field is not None and found else {}


def alike(plan: Plan, word: str, others: Iterable[tuple[str, Plan]]) -> dict[str, Json]:
    """The state that a tool leads to as others of its kind do: `return requested` after a return, so after an exchange.

    `others` are pairs of the verb's word and the plan.
    """
    for other, one in others:
        for field, value in one.fixed.items():
            kin = one.entity == plan.entity and one.requires == plan.requires and plan.requires
            if kin and other != word and isinstance(value, str) and other in snake(value).split("_"):
                return {field: value.replace(other, word)}
    return {}


def swapped(arguments: Mapping[str, Record], entity: Entity, entities: Mapping[str, Entity]) -> Swap | None:
    """`item_ids` and `new_item_ids`, where the record has a list of parts with an `item_id`."""
    lists = {snake(name): name for name, part in arguments.items() if main_type(part) == "array"}
    for old, argument in lists.items():
        stem = old.removesuffix("s").removesuffix("_id")
        if f"new_{old}" not in lists or stem not in entities:
            continue
        for name, field in entity.fields.items():
            inner = properties(items(field.schema)) if main_type(field.schema) == "array" else {}
            key = next((part for part in inner if snake(part) == f"{stem}_id"), None)
            if key is not None:
                return Swap(name, key, argument, lists[f"new_{old}"], stem)
    return None


def required_state(
    reading: Reading, entity: Entity, fixed: Mapping[str, Json], rows: Sequence[Record]
) -> dict[str, tuple[Json, ...]]:
    """`cancel_pending_order`: the states of a record for which the tool is, where its name says one of them."""
    field = status_field(entity)
    if field is None:
        return {}
    states = dict.fromkeys([str(one) for one in choices_of(entity.fields[field].schema)])
    states |= dict.fromkeys(str(row[field]) for row in rows if isinstance(row.get(field), str))
    named = [word for word in reading.noun if word in {snake(state) for state in states}]
    if not named:
        return {}
    exact = [state for state in states if snake(state) in named]
    wider = [state for state in states if {*snake(state).split("_")} & {*named}]
    return {field: tuple(exact if fixed else [*dict.fromkeys([*exact, *wider])])}


def led_to(reading: Reading, entity: Entity, about: str, rows: Sequence[Record]) -> dict[str, Json]:
    """The field and value that a verb like `close` stands for, spelt as the entity spells it."""
    said = stated(about, entity) or flag_set(reading.word, entity)
    if reading.status is None and not said:
        return _held_state(reading.word, entity, rows)
    if reading.status is None or said:
        return said
    for name, field in entity.fields.items():
        if snake(name) in _STATUS:
            choices = choices_of(field.schema)
            held = dict.fromkeys(str(row[name]) for row in rows if isinstance(row.get(name), str))
            found = nearest(reading.word, choices) or nearest(reading.word, [*held])
            if found is None:
                found = next((one for one in [*choices, *held] if snake(str(one)) == reading.status), None)
            if found is not None:
                return {name: found}
            return {} if constants(field.schema) else {name: _spelt(reading.status, [*held, *choices])}
    return {}


def _held_state(word: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """`freeze` and `unfreeze`, where a record may be `frozen` and `active`."""
    name, (participle, yes) = status_field(entity), participle_meant(word)
    if name is None or not participle:
        return {}
    held = [row[name] for row in rows if isinstance(row.get(name), str)]
    states = {snake(str(one)): one for one in (*held, *choices_of(entity.fields[name].schema))}
    wanted = [participle] if yes else [state for state in IN_USE if participle in states]
    found = next((states[state] for state in wanted if state in states), None)
    return {name: found} if found is not None else {}


def _spelt(status: str, others: Sequence[Json]) -> str:
    """A state as the others are spelt: `Closed` beside `Open`."""
    text = status.replace("_", " ") if any(" " in str(one) for one in others) else status
    if others and all(str(one).isupper() for one in others):
        return text.upper()
    return text.capitalize() if others and all(str(one)[:1].isupper() for one in others) else text
