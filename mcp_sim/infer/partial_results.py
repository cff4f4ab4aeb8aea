"""Tools that show only a part of a record: a list, some fields, or its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import last_nouns
from mcp_sim.infer.selections import entry_fields
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.english import plural, singular, singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import Envelope, Plan

_READS = frozenset({"get", "list"})
_UNITS = vocabulary("gb mb kb tb usd eur percent pct ms seconds minutes hours days km kg amount total current id ids")
_SMALL = vocabulary("a an the of for in on to and by per is at")
_TEXT_FIELDS = ("content", "contents", "body", "text", "markdown")
_MORE = re.compile(r"\b(json|details?|metadata|properties|fields|along with|including|together with)\b")


def plan_shown_lists(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools that show only a list of a record: the comments of a ticket."""
    tables = draft.tables()
    found: dict[str, Plan] = {}
    for features, plan in draft.record_items():
        own = draft.entities.get(features.entity)
        is_part = own is not None and own.inside and plan.backend == "records"
        if features.parsed.verb not in _READS or is_part or plan.choice is not None:
            continue
        shown = _find_list(features, [own] if own is not None and features.entity in draft.held else tables)
        found |= {features.tool.id: shown} if shown is not None else {}
    return found


def _find_list(features: ToolFeatures, tables: Sequence[Entity]) -> Plan | None:
    place = _list_place(features.output)
    for holder in tables if place is not None else ():
        key, score = key_argument("update", holder.name, holder.key, features.input)
        if key is None or score < 2 or not required(features.input) <= {key}:
            continue
        lists = {snake(name): name for name, one in holder.fields.items() if main_type(one.schema) == "array"}
        name = next((name for name in _list_names(features) if name in lists), None)
        if name is not None:
            return _plan_list(features, holder, key, place or "", lists[name])
    return None


def _plan_list(features: ToolFeatures, holder: Entity, key: str, place: str, field: str) -> Plan:
    why = f"each {holder.name} has {field}"
    return Plan(
        features.tool.id, "get", holder.name, key=key, shows={place: field}, envelope=Envelope(), confidence=0.8,
        reasons=(why,),
    )  # fmt: skip


def _list_names(features: ToolFeatures) -> Iterator[str]:
    """Yield possible names of the list: the noun of the tool, and the last word of its name."""
    noun = features.parsed.noun
    for end in last_nouns(noun):
        phrase = singular_phrase(end)
        yield from (plural(phrase), phrase)
    yield from words(features.tool.name)[-1:]


def _list_place(output: Record) -> str | None:
    """Return the place of the list in the result: '' for the whole, None if the result has more."""
    parts = properties(output)
    lists = [name for name, part in parts.items() if main_type(part) == "array"]
    return "" if not parts else lists[0] if len(lists) == len(parts) == 1 else None


def plan_shown_fields(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools that show some fields of a record: `get_flight_status`.

    This applies to a given state and tools without a result schema.
    """
    given = [one for name, one in draft.entities.items() if draft.held.get(name)]
    found: dict[str, Plan] = {}
    for features, plan in draft.record_items():
        if features.parsed.verb != "get" or features.output:
            continue
        entity = draft.entity_of(plan)
        if entity is not None and plan.verb == "get" and entity.name in draft.held and plan.key and not plan.shows:
            field = _field_of_noun(features, plan, entity, draft.held[entity.name])
            tables = [] if field or plan.picked or _names_entity(features, entity) else [entity]
            with_fields = _show_fields(features, tables, draft.entities)
            shown = (
                _show_field(plan, field, in_object=features.tool.output_schema is not None) if field else with_fields
            )
            found |= {features.tool.id: shown} if shown is not None else {}
        elif plan.verb == "unknown" and features.parsed.noun:
            with_fields = _show_fields(features, given, draft.entities)
            found |= {features.tool.id: with_fields} if with_fields is not None else {}
    return found


def _show_field(plan: Plan, field: str, *, in_object: bool) -> Plan:
    """Return the plan of a tool that shows one field, in an object if it declares one."""
    named: dict[str, Any] = {"only": (field,)} if in_object else {"shows": {"": field}}
    return replace(plan, envelope=Envelope(), **named)


def _field_of_noun(features: ToolFeatures, plan: Plan, entity: Entity, rows: Sequence[Record]) -> str | None:
    """Return the field at the end of the noun: `status` of `flight_status`."""
    named, noun = words(entity.name), features.parsed.noun
    rest = "_".join(noun[len(named) :] if noun[: len(named)] == named else noun)
    inner = entry_fields(entity, plan.picked.field, rows) if plan.picked is not None else {}
    fields = {snake(name): name for name, field in entity.fields.items() if main_type(field.schema) != "object"}
    fields |= {snake(name): name for name in inner}
    return fields.get(rest) if rest and snake(entity.key) != rest else None


def _names_entity(features: ToolFeatures, entity: Entity) -> bool:
    """Whether a name mentions the record itself."""
    return not {*words(entity.name)}.isdisjoint(features.parsed.noun) or not features.parsed.noun


def _show_fields(features: ToolFeatures, tables: Sequence[Entity], entities: Mapping[str, Entity]) -> Plan | None:
    """Plan the fields that the name mentions, of the record that an argument names and that has most of them."""
    mentioned = {singular(word) for word in features.parsed.noun}
    best: tuple[int, Entity, str] | None = None
    for one in tables:
        key, score = key_argument("update", one.name, one.key, features.input)
        own = [name for name in one.fields if name != one.key and mentioned & {*map(singular, words(name))}]
        if one.singleton or one.inside or key is None or score < 2 or not own or key not in required(features.input):
            continue
        if best is None or len(own) > best[0]:
            best = len(own), one, key
    if best is None:
        return None
    _, entity, key = best
    shown = [entity.key, *_mentioned_fields(features, entity, mentioned), *_linked_fields(features, entity, entities)]
    why = f"shows of a {entity.name} the fields that its name or description mentions"
    return Plan(
        features.tool.id, "get", entity.name, key=key, only=tuple(shown), envelope=Envelope(), confidence=0.65,
        reasons=(why,),
    )  # fmt: skip


def _mentioned_fields(features: ToolFeatures, entity: Entity, mentioned: Collection[str]) -> Iterator[str]:
    for name, field in entity.fields.items():
        is_plain = name != entity.key and field.link is None and not field.hidden
        if is_plain and (not {*map(singular, words(name))}.isdisjoint(mentioned) or _is_mentioned(features, name)):
            yield name


def _linked_fields(features: ToolFeatures, entity: Entity, entities: Mapping[str, Entity]) -> Iterator[str]:
    """Yield fields of linked records: the limit of the plan of a line."""
    for name, field in entity.fields.items():
        target = entities.get(field.link or "")
        for other in target.fields if target is not None and main_type(field.schema) != "array" else ():
            if target is not None and other != target.key and len(words(other)) > 1 and _is_mentioned(features, other):
                yield f"{name}.{other}"


def _is_mentioned(features: ToolFeatures, field: str) -> bool:
    """Whether the description contains all words of a field's name."""
    about = {*map(singular, words(features.tool.description.lower()))}
    meant = {singular(word) for word in words(field)} - _UNITS - _SMALL
    return bool(meant) and meant <= about


def find_whole_text(features: ToolFeatures, entity: Entity) -> dict[str, str]:
    """Return the place of the result and the field of the text it shows. Empty if the tool shows more."""
    field, place = _text_field(entity), _text_place(features)
    about = str(features.tool.definition.get("description", "")).lower()
    if features.verb != "get" or field is None or place is None or _MORE.search(about):
        return {}
    reads = entity.natural and "read" in words(features.tool.name)
    return {place: field} if reads or _mentions_field(about, field) else {}


def _text_field(entity: Entity) -> str | None:
    found = [name for name, field in entity.fields.items() if snake(name) in _TEXT_FIELDS and name != entity.key
             and main_type(field.schema) == "string"]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _text_place(features: ToolFeatures) -> str | None:
    """Return '' if the tool declares no result, or its only property if that is a text. Else None."""
    if features.tool.output_schema is None:
        return ""
    parts = properties(features.output)
    name = next(iter(parts), None)
    return name if len(parts) == 1 and name is not None and main_type(parts[name]) == "string" else None


def _mentions_field(about: str, field: str) -> bool:
    name = re.escape(snake(field).rstrip("s"))
    return re.search(rf"\b(read|get|fetch|retrieve|return|show)s?\b.*\b{name}s? of\b|'s {name}s?\b", about) is not None
