"""Creates that start from an existing record: copies, upserts, and updates that create."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument, noun_of_key
from mcp_sim.infer.names import ParsedName
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import main_type, properties, required, required_among
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_COPY_VERBS = vocabulary("copy duplicate replicate clone")
_UPSERT = "upsert"
_OVERRIDABLE = ("sets", "copies", "if_exists")
_MIN_FIELDS = 3
"""Number of required fields from which an update is given a whole record."""

_SHOWS = frozenset({"get", "list", "search"})


def origin_argument(features: ToolFeatures, key: str) -> str | None:
    """Find the argument by which a create names an existing record.

    `key` is the key field of the entity.
    """
    if features.parsed.word not in _COPY_VERBS | {_UPSERT}:
        return None
    name, score = key_argument("get", features.entity, key, features.input)
    return name if score > 1 else None


def plan_copies(
    feature_list: Sequence[ToolFeatures], plans: Mapping[str, Plan], entities: Mapping[str, Entity]
) -> dict[str, Plan]:
    """Return new plans for creates that copy or replace a record. Overrides of these fields stay."""
    found: dict[str, Plan] = {}
    for features in feature_list:
        plan, overrides = plans[features.tool.id], features.overrides
        entity = entities.get(plan.entity or "")
        if entity is not None and plan.verb == "create" and plan.key is not None:
            made = _with_origin(plan, plan.key, features.parsed.word, entity.key)
            found[features.tool.id] = replace(
                made, **{name: overrides[name] for name in _OVERRIDABLE if name in overrides}
            )
        elif plan.verb == "create" and features.parsed.word == _UPSERT and "if_exists" not in overrides:
            found[features.tool.id] = replace(plan, if_exists="update")
    return found


def _with_origin(plan: Plan, named: str, word: str, key: str) -> Plan:
    made = replace(plan, key=None)
    if made.copies is not None or made.if_exists != "refuse":
        return made
    if word in _COPY_VERBS:
        return replace(made, copies=named)
    return replace(made, sets={named: key, **made.sets}, if_exists="update")


def plan_creating_updates(
    feature_list: Sequence[ToolFeatures], plans: Mapping[str, Plan], entities: Mapping[str, Entity]
) -> dict[str, Plan]:
    """Return new plans for updates that get whole records, if nothing else creates them.

    This applies to services that delete such records.
    """
    verbs = {(plan.entity, plan.verb) for plan in plans.values()}
    found: dict[str, Plan] = {}
    for features in feature_list:
        plan = plans[features.tool.id]
        gone, made = (plan.entity, "delete") in verbs, (plan.entity, "create") in verbs
        if gone and not made and not {"verb", "key"} & {*features.overrides} and _takes_whole_record(features, plan):
            found[features.tool.id] = _as_upsert(plan, entities[plan.entity or ""])
    return found


def _takes_whole_record(features: ToolFeatures, plan: Plan) -> bool:
    plain = plan.verb == "update" and plan.backend == "records" and plan.each is None and not plan.fixed
    needed = required_among(plan.sets, features.input)
    return plain and plan.key is not None and features.parsed.word == "update" and len(needed) >= _MIN_FIELDS


def _as_upsert(plan: Plan, entity: Entity) -> Plan:
    why = f"nothing else creates a {entity.name!r}, and it takes all of its fields"
    sets = {str(plan.key): entity.key, **plan.sets}
    return replace(plan, verb="create", key=None, sets=sets, if_exists="update", reasons=(*plan.reasons, why))


def find_upserts(
    parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool], known: Collection[str]
) -> dict[str, ParsedName]:
    """Return the parsed names, by tool id, with upserts marked.

    An upsert sets a number for a text (`set_budget(category, amount)`). Other tools show such records, none creates
    them, none names one by an id, and they are not `known`.
    """
    made = {one.noun for one in parsed_names.values() if one.verb == "create"}
    shown = [one.noun for one in parsed_names.values() if one.verb in _SHOWS]
    return {
        id_: replace(one, verb="create", word="upsert")
        if one.word == "set"
        and one.noun
        and one.noun not in made
        and "_".join(one.noun) not in known
        and any(noun[: len(one.noun)] == one.noun for noun in shown)
        and _sets_for_each(expanded(tools[id_].input_schema))
        else one
        for id_, one in parsed_names.items()
    }


def _sets_for_each(schema: Record) -> bool:
    """Whether a tool takes a number, and a text that it applies to."""
    kinds = {name: main_type(part) for name, part in properties(schema).items()}
    names_record = any(snake(name) == "id" or noun_of_key(name) for name in kinds)
    numbers = [name for name in required(schema) if kinds.get(name) in {"integer", "number"}]
    return len(numbers) == 1 and "string" in kinds.values() and not names_record
