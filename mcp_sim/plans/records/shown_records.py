"""Absorb the records that an answer mentions for the first time: the tools that take their ids know them afterwards.

An answer may hold generated objects of other entities: the creator of a page, the project that a job will make. Only
records whose number nothing fixes are absorbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from mcp_sim.generate.invention import WRAPPER, Names
from mcp_sim.generate.missing_records import generated_put
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.plans.records.accepted_keys import may_be_key
from mcp_sim.types import Change, Json, Record, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import Key, Path, is_key, leaves, value_at
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import is_id, noun_of_id, singular, snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key, was_written

_TYPES: Final = ("type", "object", "resource_type")
"""Properties with the kind of an object, in JSON:API and in the APIs of many vendors."""

_MOST = 100
"""Records that one answer adds, a usual page of a list. Each is generated while other calls wait."""


@frozen
class _Mention:
    """A record that an answer shows: its entity, its key, its object. `is_typed`: only a `type` says what it is."""

    entity: Entity
    key: Json
    body: Record
    is_typed: bool = False


def absorbing(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return an answer that absorbs the records that it mentions, if some entity has no fixed number of records."""
    if domain.entities.keys() <= domain.settled:
        return answer
    names, envelope = _names_of(domain), plan.envelope
    place = envelope.rows if envelope.record is None else envelope.record
    own = plan.entity if plan.verb != "delete" else None
    schema = domain.tools[plan.tool].output_schema or {}
    component = str(schema.get("$ref", "")).rpartition("/")[2]  # says what the result as a whole is

    def absorbed(turn: Turn, invent: Invent) -> Transition:
        transition = answer(turn, invent)
        body = transition.observation.body
        if not isinstance(body, ToolResult) or not transition.observation.ok:
            return transition
        rows = value_at(body.value, place) if own and place is not None else None
        claimed = {id(row): own or "" for row in (rows, *as_list(rows))}
        shown = [*_mentions(rows, own or "", names, claimed), *_mentions(body.value, component, names, claimed)]
        changes = _absorbed(turn, transition, shown, invent, domain) if shown else []
        return transition if not changes else replace(transition, absorbed=(*transition.absorbed, *changes))

    return absorbed


def _names_of(domain: Domain) -> Names:
    if _names_of not in domain.kept:
        domain.kept[_names_of] = Names(domain)
    return domain.kept[_names_of]


def _mentions(value: Json, name: str, names: Names, claimed: Mapping[int, str]) -> Iterator[_Mention]:
    """Yield each record that a value holds or names by its key.

    `name` is that of the property which holds the value. The objects with `claimed` ids are records of the entity that
    these name, whatever their `type` is.
    """
    for item in as_list(value):
        yield from _mentions(item, name, names, claimed)
    body = as_object(value)
    named = names.entity_of(name)
    entity = named if named is not None or id(value) in claimed else _typed(body, names)
    key_name = None if entity is None else _key_name(body, entity.key)
    if entity is not None and key_name is not None:
        yield _Mention(entity, body[key_name], body, is_typed=named is None)
    for key, held in body.items():
        if isinstance(held, dict | list):
            yield from _mentions(held, name if key == WRAPPER else key, names, claimed)
        elif (target := names.named_by(key)) is not None:
            is_own = claimed.get(id(value)) == target.name == noun_of_id(snake(key))
            if not is_own or _key_name(body, target.key) in {None, key}:  # not the `job_uid` beside the id of a job
                yield _Mention(target, held, {})


def _key_name(body: Record, key: str) -> str | None:
    return key if key in body else next((name for name in body if snake(name) == snake(key)), None)


def _typed(body: Record, names: Names) -> Entity | None:
    kinds = (snake(kind) for word in _TYPES if isinstance(kind := body.get(word), str))
    return next((entity for kind in kinds if (entity := names.entity_of(kind)) and entity.name == kind), None)


def _held_by(mention: _Mention) -> Record:
    """Return the values that an answer shows of a record and that its fields can hold, links aside."""
    own = {name: field for name, field in mention.entity.fields.items() if field.link is None and name in mention.body}
    return {name: mention.body[name] for name, field in own.items() if validity_test(field.schema)(mention.body[name])}


def _absorbed(
    turn: Turn, transition: Transition, shown: Iterable[_Mention], invent: Invent, domain: Domain
) -> list[Change]:
    """Return the records to absorb: those that are unknown and were never written or deleted.

    Keys in the arguments are left out: the answer may only repeat them, as `list_orders(user_id)` does. A number is a
    key only if its name says so: a `limit` of 5 is not user 5.
    """
    written = (*transition.changes, *transition.absorbed)
    known, keys = {(change.entity, str(change.key)) for change in written}, {str(change.key) for change in written}
    names, arguments = _names_of(domain), leaves(turn.call.arguments)
    sent = {str(value) for path, value in arguments if isinstance(value, str) or _names_key(path, names)}
    changes = list[Change]()
    for mention in shown:
        entity, key = mention.entity, mention.key
        place = (entity.name, str(key))
        is_plain = is_key(key) and key != ""
        if entity.name in domain.settled or place in known or str(key) in sent or not is_plain:
            continue
        is_held = _is_held(turn, [entity.name], key)  # first, since it is so for most rows of a list
        if not is_held and not may_be_key(entity, key):
            continue
        known.add(place)
        if mention.is_typed and (str(key) in keys or _is_held(turn, domain.entities, key)):
            continue  # the `type` of a permission may say whom it is granted to
        if not is_held and not was_written(turn.view, entity.name, key):
            changes.append(generated_put(turn, entity, key, invent, _held_by(mention)))
        if len(changes) == _MOST:
            break
    return changes


def _names_key(path: Path, names: Names) -> bool:
    name = singular(snake(next((step for step in reversed(path) if isinstance(step, str)), "")))
    return is_id(name) or names.entity_of(name) is not None or names.named_by(name) is not None


def _is_held(turn: Turn, entities: Iterable[str], key: Key) -> bool:
    return any(find_key(turn.view, name, key) is not None for name in entities)
