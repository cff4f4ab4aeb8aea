"""Tools whose noun is not the entity they work on: a state, a part, any record by its id."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_sim.infer.descriptions import choices_of
from mcp_sim.infer.entity_choice import named_by_keys
from mcp_sim.infer.envelopes import find_envelope
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import LONGEST_NOUN, Words, last_nouns
from mcp_sim.infer.states import find_state_field
from mcp_sim.infer.transitions import find_status_field, known_states
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import is_plural, singular, snake, vocabulary, words
from mcp_sim.types.plans import RECORDLESS, Envelope, Plan

_MANY = frozenset({"list", "search"})
_DONE = vocabulary("done complete completed finished")
_UNDONE = vocabulary("undone incomplete uncompleted unfinished")
_ONE = frozenset({"get", "update", "delete"})
_CREATES = re.compile(r"\W*(?:register|create|start|submit|open|place|initiate|begin)s? ")
_DETERMINERS = ("", "a ", "an ", "the ", "new ", "a new ", "an new ", "the new ")
_PHRASE = re.compile(rf"\w+(?: \w+){{0,{LONGEST_NOUN}}}")
_GENERIC_NOUNS = vocabulary(
    "detail details object record item entity entry resource element thing node document data info information any "
    "anything"
)
_IDS = vocabulary("id key uuid identifier ref reference")
_CONFIDENCE = 0.75


def find_related_entities(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Return the features. Lists of a state, and changes of what no tool creates, get their entity."""
    about: dict[str, list[ToolFeatures]] = defaultdict(list)
    for features in feature_list:
        if features.verb not in RECORDLESS and features.singleton is None:
            about[features.entity].append(features)
    made = {name for name, mine in about.items() if any(features.verb == "create" for features in mine)} - {*declared}
    unmade = {
        name.replace("_", " "): name
        for name, mine in about.items()
        if name not in made and any(one.verb in _ONE for one in mine)
    }
    return [
        features
        if features.entity in declared or features.singleton
        else _with_related_entity(features, about, made, unmade)
        for features in feature_list
    ]


def _with_related_entity(
    features: ToolFeatures,
    about: Mapping[str, Sequence[ToolFeatures]],
    made: set[str],
    unmade: Mapping[str, str],
) -> ToolFeatures:
    verbs = [other.verb for other in about.get(features.entity, ())]
    entity = None
    if features.verb == "create" and {*verbs} == {"create"}:
        entity = find_registered_entity(features, unmade)
    if features.verb in _MANY and _MANY.issuperset(verbs):
        entity = _entity_in_state(features.parsed.noun, about, made)
    elif features.verb == "update" and {*verbs} == {"update"}:
        entity = _only_named_entity(features, made)
        features = (
            features if entity is None else replace(features, parsed=replace(features.parsed, word="set", status=None))
        )
    if entity is None:
        return features
    return replace(
        features,
        entity=entity,
        envelope=find_envelope(features.verb, entity, features.output, text=features.envelope.text),
    )


def _entity_in_state(noun: Words, about: Mapping[str, Sequence[ToolFeatures]], made: set[str]) -> str | None:
    """Return the entity of `get_blocked_tasks`, if a task may be blocked."""
    for end in last_nouns(noun[1:]):
        entity = "_".join(end)
        if entity in made and "_".join(noun[: -len(end)]) in _mentioned_states(about[entity]):
            return entity
    return None


def _mentioned_states(feature_list: Sequence[ToolFeatures]) -> frozenset[str]:
    field = find_state_field(feature_list)
    states = {snake(str(one)) for one in choices_of(field.schema)} if field is not None else set[str]()
    flags = {
        snake(name).removeprefix("is_")
        for features in feature_list
        for name, part in properties(features.input).items()
        if main_type(part) == "boolean" and features.verb != "delete"
    }
    return frozenset(states | flags | (_DONE | _UNDONE if (states | flags) & _DONE else set[str]()))


def _only_named_entity(features: ToolFeatures, made: set[str]) -> str | None:
    """Return the only entity that an argument names: the task of `set_blocker(task_id, reason)`."""
    if key_argument("update", features.entity, "id", features.input)[1] >= 2:
        return None
    named = made & named_by_keys(features.input)
    return next(iter(named)) if len(named) == 1 else None


def find_state_filter(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the state that a list is limited to: `status: blocked` of `get_blocked_tasks`.

    All words of the tool's name count, since `available` is no part of a noun.
    """
    parsed, called = features.parsed, words(features.tool.name)
    noun, own = parsed.noun, words(entity.name)
    prefix = "_".join(noun[: -len(own)]) if noun[-len(own) :] == own else ""
    prefix = prefix or ("available" if "available" in called else "")
    if not prefix:
        return {}
    name = find_status_field(entity)
    shown = choices_of(property_of(features.shape, name or ""))
    known = [*known_states(name, entity, rows), *map(str, shown)] if name is not None else []
    states = {snake(one): one for one in known}
    if name is not None and prefix in states:
        return {name: states[prefix]}
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    if prefix in flags or prefix.removeprefix("un") in flags:
        return {flags[prefix]: True} if prefix in flags else {flags[prefix.removeprefix("un")]: False}
    done = next((flags[one] for one in sorted(_DONE) if one in flags), None)
    return {done: prefix in _DONE} if done is not None and prefix in _DONE | _UNDONE else {}


def find_registered_entity(features: ToolFeatures, unmade: Mapping[str, str]) -> str | None:
    """Return the entity that the description says is created, if no other tool creates it.

    No other tool mentions the noun of this tool. `unmade` are the entities that no tool creates, by their words.
    """
    found = {unmade[phrase] for phrase in _created_phrases(features.tool.description.lower()) if phrase in unmade}
    name = next(iter(found), None)
    return name if name is not None and len(found) == 1 and name not in named_by_keys(features.input) else None


def _created_phrases(description: str) -> Iterator[str]:
    """Yield the first words of what a description says is created, with and without one word before it."""
    verb = _CREATES.match(description)
    start = verb.end() if verb is not None else len(description)
    for determiner in _DETERMINERS:
        if description.startswith(determiner, start):
            object_ = _PHRASE.match(description, start + len(determiner))
            parts = object_[0].split(" ") if object_ is not None else []
            yield from (" ".join(parts[at:end]) for at in (0, 1) for end in range(at + 1, len(parts) + 1))


def plan_any_record(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> dict[str, Plan]:
    """Return plans for tools that look up any record by its id: `get_details_by_id(id)`, `fetch(id)`."""
    tables = {name: one for name, one in declared.items() if not one.singleton and one.inside is None}
    found: dict[str, Plan] = {}
    for features in feature_list:
        key = (
            None
            if features.singleton is not None or _is_declared_otherwise(features.overrides)
            else _id_argument(features)
        )
        kinds = _mentioned_entities(features.tool.description, tables) if key is not None else []
        if key is not None and features.entity not in tables and len(kinds) > 1:
            why = f"looks up a record by its id alone: {', '.join(kinds)}"
            plan = Plan(
                features.tool.id, "get", backend="any_record", arguments={"id": key}, envelope=Envelope(record=""),
                confidence=_CONFIDENCE, reasons=(why,),
            )  # fmt: skip
            found[features.tool.id] = replace(plan, **features.overrides)
    return found


def _is_declared_otherwise(overrides: Mapping[str, Any]) -> bool:
    """Whether a spec declares another effect."""
    is_other = overrides.get("verb", "get") != "get" or overrides.get("backend", "any_record") != "any_record"
    return is_other or not {"entity", "key"}.isdisjoint(overrides)


def without_entities(feature_list: Sequence[ToolFeatures], plans: Mapping[str, Plan]) -> list[ToolFeatures]:
    """Return the features. The nouns of tools with these plans are no entities."""
    return [
        replace(features, verb="none", entity="") if features.tool.id in plans else features
        for features in feature_list
    ]


def _id_argument(features: ToolFeatures) -> str | None:
    """Return the only required argument, if it is an id and the noun is generic."""
    needed = [*required(features.input)]
    if features.parsed.verb not in {"get", "list", "search"} or len(needed) != 1 or properties(features.output):
        return None
    stem, _, ending = snake(needed[0]).rpartition("_")
    is_text = main_type(property_of(features.input, needed[0])) in {"string", ""}
    is_id = ending in _IDS and (not stem or stem in _GENERIC_NOUNS)
    return needed[0] if is_id and is_text and _GENERIC_NOUNS.issuperset(features.parsed.noun) else None


def _mentioned_entities(about: str, tables: Mapping[str, Entity]) -> list[str]:
    """Return the entities that a description names."""
    mentioned = words(about.lower())
    plain = [singular(word) if is_plural(word) else word for word in mentioned]
    return [name for name in tables if _occurs(words(name), plain)]


def _occurs(phrase: Sequence[str], text: Sequence[str]) -> bool:
    return any([*text[at : at + len(phrase)]] == [*phrase] for at in range(len(text) - len(phrase) + 1))
