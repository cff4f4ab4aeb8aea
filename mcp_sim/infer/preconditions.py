"""Which state does a tool lead to, and from which state alone, as its name and its description say?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.infer.choices import choices_of, nearest
from mcp_sim.infer.flags import flag_set, participle_meant, regular, switch_of
from mcp_sim.infer.looks import Look
from mcp_sim.infer.names import Reading
from mcp_sim.infer.told_states import flags_needed, known_states, spelt, stated, states_needed, status_field
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import constants, items, main_type, properties
from mcp_sim.types.lexicon.words import snake, words
from mcp_sim.types.plans import Plan, Swap

_STATUS = ("status", "state", "stage")
_HALTED = frozenset({"frozen", "blocked", "banned", "locked"})
"""What becomes of what is in use, whether or not any record is so at the beginning."""

_HELD = (("balance",), ("holdings",))
_ACCOUNTS = (("account",), ("wallet",))

IN_USE = ("active", "open", "enabled")
"""The states of what may be used."""


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
    reading: Reading, entity: Entity, about: str, fixed: Mapping[str, Json], rows: Sequence[Record]
) -> dict[str, tuple[Json, ...]]:
    """`cancel_pending_order`, `must be pending`: the states of a record for which the tool is, as it says itself."""
    field, flags = status_field(entity), {**_flags_required(entity, about, fixed), **_emptied(reading, entity)}
    if field is None:
        return flags
    states = known_states(field, entity, rows)
    told = states_needed(about, entity, states)
    if told:
        return {**flags, field: told}
    named = [word for word in reading.noun if word in {snake(state) for state in states}]
    if not named:
        return flags
    exact = [state for state in states if snake(state) in named]
    wider = [state for state in states if {*snake(state).split("_")} & {*named}]
    return {**flags, field: tuple(exact if fixed else [*dict.fromkeys([*exact, *wider])])}


def _emptied(reading: Reading, entity: Entity) -> dict[str, tuple[Json, ...]]:
    """An account is closed once nothing is left on it, also where its money is written as a text."""
    held = next((name for name in entity.fields if words(name)[-1:] in _HELD), None)
    if reading.word != "close" or held is None or words(entity.name)[-1:] not in _ACCOUNTS:
        return {}
    return {held: ("0.00", "0", "0.0", "$0.00") if main_type(entity.fields[held].schema) == "string" else (0,)}


def _flags_required(entity: Entity, about: str, fixed: Mapping[str, Json]) -> dict[str, tuple[Json, ...]]:
    """What flags must say; what is locked is not locked again."""
    halting = {name: (False,) for name, value in fixed.items() if value is True and snake(name) in _HALTED}
    said = flags_needed(about, entity)
    undone = {name: needed for name, needed in said.items() if fixed.get(name) is False or needed == (False,)}
    return {**halting, **undone}


def led_to(reading: Reading, entity: Entity, about: str, rows: Sequence[Record]) -> dict[str, Json]:
    """The field and value that a verb like `close` stands for, spelt as the entity spells it."""
    said = stated(about, entity, rows) or switch_of(reading.word, reading.noun, entity.fields)
    said = said or flag_set(reading.word, entity)
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
            return {} if constants(field.schema) else {name: spelt(reading.status, [*held, *choices])}
    return {}


def made_to_be(look: Look, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """The state in which a new record is by the verb that makes it: what is sent is `sent`, where records may be so."""
    name, word = status_field(entity), look.reading.word
    if name is None or not word:
        return {}
    shown = choices_of(properties(look.shape).get(name, {}))
    states = {snake(str(one)): one for one in (*known_states(name, entity, rows), *shown)}
    found = next((states[one] for one in (*_MADE.get(word, ()), *regular(word)) if one in states), None)
    return {name: found} if found is not None else {}


_MADE = {"send": ("sent",), "write": ("written",), "draw": ("drawn",)}


def _held_state(word: str, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """`freeze` and `unfreeze`, where a record may be `frozen` and `active`; what is in use may be halted."""
    name, (participle, yes) = status_field(entity), participle_meant(word)
    if name is None or not participle:
        return {}
    held = [row[name] for row in rows if isinstance(row.get(name), str)]
    states = {snake(str(one)): one for one in (*held, *choices_of(entity.fields[name].schema))}
    halts = participle in _HALTED and any(state in states for state in IN_USE)
    if yes and halts:
        return {name: spelt(participle, [*states.values()])}
    wanted = [participle] if yes else [state for state in IN_USE if participle in states or halts]
    found = next((states[state] for state in wanted if state in states), None)
    return {name: found} if found is not None else {}
