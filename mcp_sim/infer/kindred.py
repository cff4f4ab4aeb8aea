"""Which tools are about records of another noun than their own: of those in one state, or of what a record has?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.choices import choices_of
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.infer.names import Words
from mcp_sim.infer.outputs import envelope_meant
from mcp_sim.infer.registered import registered
from mcp_sim.infer.states import state_of
from mcp_sim.infer.subjects import names_key
from mcp_sim.infer.told_states import known_states, status_field
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.words import snake, vocabulary, words
from mcp_sim.types.plans import RECORDLESS

_MANY = frozenset({"list", "search"})
_DONE = vocabulary("done complete completed finished")
_UNDONE = vocabulary("undone incomplete uncompleted unfinished")


def with_kindred(looks: Sequence[Look], declared: Mapping[str, Entity]) -> list[Look]:
    """The looks; lists of records in one state, and changes of what no tool makes, are about the records."""
    about: dict[str, list[Look]] = defaultdict(list)
    for look in looks:
        if look.verb not in RECORDLESS and look.single is None:
            about[look.entity].append(look)
    made = {name for name, mine in about.items() if any(look.verb == "create" for look in mine)} - {*declared}
    return [look if look.entity in declared or look.single else _about(look, about, made) for look in looks]


def _about(look: Look, about: Mapping[str, Sequence[Look]], made: set[str]) -> Look:
    kin = [other.verb for other in about.get(look.entity, ())]
    entity = None
    if look.verb == "create" and {*kin} == {"create"}:
        entity = registered(look, about, made)
    if look.verb in _MANY and _MANY.issuperset(kin):
        entity = _listed(look.reading.noun, about, made)
    elif look.verb == "update" and {*kin} == {"update"}:
        entity = _holder(look, made)
        look = look if entity is None else replace(look, reading=replace(look.reading, word="set", status=None))
    if entity is None:
        return look
    return replace(
        look, entity=entity, envelope=envelope_meant(look.verb, entity, look.output, text=look.envelope.text)
    )


def _listed(noun: Words, about: Mapping[str, Sequence[Look]], made: set[str]) -> str | None:
    """Tasks, of `get_blocked_tasks`, where a task may be blocked."""
    for start in range(1, len(noun)):
        entity = "_".join(noun[start:])
        if entity in made and "_".join(noun[:start]) in _states_spoken_of(about[entity]):
            return entity
    return None


def _states_spoken_of(looks: Sequence[Look]) -> frozenset[str]:
    field = state_of(looks)
    states = {snake(str(one)) for one in choices_of(field.schema)} if field is not None else set[str]()
    flags = {snake(name).removeprefix("is_") for look in looks for name, part in properties(look.input).items()
             if main_type(part) == "boolean" and look.verb != "delete"}  # fmt: skip
    return frozenset(states | flags | (_DONE | _UNDONE if (states | flags) & _DONE else set[str]()))


def _holder(look: Look, made: set[str]) -> str | None:
    """The task, of `set_blocker(task_id, reason)`: the only kind of record that an argument names."""
    if key_argument("update", look.entity, "id", look.input)[1] >= 2:
        return None
    named = [one for one in made if names_key(look.input, one)]
    return named[0] if len(named) == 1 else None


def in_state(look: Look, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """The field and value of the records that a list is of: `status: blocked` of `get_blocked_tasks`.

    All words of the tool's name count: that something is `available` is no part of a noun.
    """
    reading, called = look.reading, words(look.tool.name)
    noun, own = reading.noun, words(entity.name)
    said = "_".join(noun[: -len(own)]) if noun[-len(own) :] == own else ""
    said = said or ("available" if "available" in called else "")
    if not said:
        return {}
    name = status_field(entity)
    shown = choices_of(properties(look.shape).get(name or "", {}))
    known = [*known_states(name, entity, rows), *map(str, shown)] if name is not None else []
    states = {snake(one): one for one in known}
    if name is not None and said in states:
        return {name: states[said]}
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    if said in flags or said.removeprefix("un") in flags:
        return {flags[said]: True} if said in flags else {flags[said.removeprefix("un")]: False}
    done = next((flags[one] for one in sorted(_DONE) if one in flags), None)
    return {done: said in _DONE} if done is not None and said in _DONE | _UNDONE else {}
