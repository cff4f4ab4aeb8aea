"""Which tools show no more of a record than a part of it: `get_flight_status(flight)`, `get_data_usage(line_id)`?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.entries import entry_fields
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, required
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words
from mcp_sim.types.plans import Envelope, Plan

_UNITS = vocabulary("gb mb kb tb usd eur percent pct ms seconds minutes hours days km kg amount total current id ids")
_SMALL = vocabulary("a an the of for in on to and by per is at")


def with_aspects(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools, where a state is given and nothing shows how their results look."""
    given = [one for name, one in draft.entities.items() if draft.held.get(name)]
    found: dict[str, Plan] = {}
    for look, plan in draft.of_many():
        if look.reading.verb != "get" or look.output:
            continue
        entity = draft.entity_of(plan)
        if entity is not None and plan.verb == "get" and entity.name in draft.held and plan.key and not plan.shows:
            alone = _one_field(look, plan, entity, draft.held[entity.name])
            tables = [] if alone or plan.picked or _is_whole(look, entity) else [entity]
            several = _several(look, tables, draft.entities)
            shown = _alone(plan, alone, in_object=look.tool.output_schema is not None) if alone else several
            found |= {look.tool.id: shown} if shown is not None else {}
        elif plan.verb == "unknown" and look.reading.noun:
            several = _several(look, given, draft.entities)
            found |= {look.tool.id: several} if several is not None else {}
    return found


def _alone(plan: Plan, field: str, *, in_object: bool) -> Plan:
    """The plan of a tool that shows one field, in an object where it promises one."""
    named: dict[str, Any] = {"only": (field,)} if in_object else {"shows": {"": field}}
    return replace(plan, envelope=Envelope(), **named)


def _one_field(look: Look, plan: Plan, entity: Entity, rows: Sequence[Record]) -> str | None:
    """The field that the name ends with, behind the entity's: the `status` of a `flight_status`."""
    named, noun = words(entity.name), look.reading.noun
    rest = "_".join(noun[len(named) :] if noun[: len(named)] == named else noun)
    inner = entry_fields(entity, plan.picked.field, rows) if plan.picked is not None else {}
    fields = {snake(name): name for name, field in entity.fields.items() if main_type(field.schema) != "object"}
    fields |= {snake(name): name for name in inner}
    return fields.get(rest) if rest and snake(entity.key) != rest else None


def _is_whole(look: Look, entity: Entity) -> bool:
    """Does a name speak of the record itself, whatever else it says?"""
    return not {*words(entity.name)}.isdisjoint(look.reading.noun) or not look.reading.noun


def _several(look: Look, tables: Sequence[Entity], entities: Mapping[str, Entity]) -> Plan | None:
    """The fields that the name speaks of, of the record that an argument names and that has the most of them."""
    spoken = {singular(word) for word in look.reading.noun}
    best: tuple[int, Entity, str] | None = None
    for one in tables:
        key, score = key_argument("update", one.name, one.key, look.input)
        own = [name for name in one.fields if name != one.key and spoken & {*map(singular, words(name))}]
        if one.singleton or one.inside or key is None or score < 2 or not own or key not in required(look.input):
            continue
        if best is None or len(own) > best[0]:
            best = len(own), one, key
    if best is None:
        return None
    _, entity, key = best
    shown = [entity.key, *_fields_told(look, entity, spoken), *_looked_up(look, entity, entities)]
    why = f"shows of a {entity.name} what its name and its description speak of"
    return Plan(
        look.tool.id, "get", entity.name, key=key, only=tuple(shown), envelope=Envelope(), confidence=0.65,
        reasons=(why,),
    )  # fmt: skip


def _fields_told(look: Look, entity: Entity, spoken: Collection[str]) -> Iterator[str]:
    for name, field in entity.fields.items():
        is_plain = name != entity.key and field.link is None and not field.hidden
        if is_plain and (not {*map(singular, words(name))}.isdisjoint(spoken) or _is_told(look, name)):
            yield name


def _looked_up(look: Look, entity: Entity, entities: Mapping[str, Entity]) -> Iterator[str]:
    """What a record has by a link: of a line the limit of its plan."""
    for name, field in entity.fields.items():
        target = entities.get(field.link or "")
        for other in target.fields if target is not None and main_type(field.schema) != "array" else ():
            if target is not None and other != target.key and len(words(other)) > 1 and _is_told(look, other):
                yield f"{name}.{other}"


def _is_told(look: Look, field: str) -> bool:
    """Does the description say all words of a field's name?"""
    about = {*map(singular, words(look.tool.description.lower()))}
    meant = {singular(word) for word in words(field)} - _UNITS - _SMALL
    return bool(meant) and meant <= about
