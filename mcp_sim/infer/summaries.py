"""Tools that count or sum up records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.filters import KnownFields, find_filter, is_time
from mcp_sim.infer.keys import noun_of_key
from mcp_sim.infer.names import Words, noun_spans
from mcp_sim.infer.server_names import last_segment
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import plural, singular, singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import RECORDLESS, Envelope, Filter, Plan

_SUMMARY_NOUNS = vocabulary(
    "stat stats statistic statistics metric metrics analytics breakdown distribution counts totals kpis"
)
_VAGUE_NOUNS = vocabulary("summary overview dashboard report progress summarize summarise")
_PERIODS = vocabulary("monthly month weekly week daily day yearly year annual category spending period")
"""Words that group a summary."""

_STATISTICS = vocabulary("stat stats statistic statistics progress")
"""Words for counts of the records that belong to one record."""

_FILLERS = vocabulary(
    "get show fetch read view list retrieve display compute calculate generate query tool my all the of"
)
_ASKING_VERBS = frozenset({"get", "show", "fetch", "read"})


def find_summaries(feature_list: Sequence[ToolFeatures], held: Collection[str]) -> list[ToolFeatures]:
    """Return the features. Tools that sum up records have no entity of their own."""
    known = _known_entities(feature_list, held)
    made = {features.entity for features in feature_list if features.verb in {"create", "update", "delete"}}
    return [
        features
        if _is_of_records(features, {*held, *made}) or _summarized_entity(features, known) is None
        else _as_recordless(features)
        for features in feature_list
    ]


def _known_entities(feature_list: Sequence[ToolFeatures], held: Collection[str]) -> set[str]:
    listed = {features.entity for features in feature_list if features.verb in {"list", "search"}}
    made = {features.entity for features in feature_list if features.verb == "create"}
    return {one for one in listed if not {*words(one)} & (_SUMMARY_NOUNS | _VAGUE_NOUNS)} | made | {*held}


def _is_of_records(features: ToolFeatures, known: Collection[str]) -> bool:
    """Whether it reads or writes known records."""
    return features.verb not in RECORDLESS and features.entity in known


def _as_recordless(features: ToolFeatures) -> ToolFeatures:
    parsed = replace(features.parsed, verb="unknown", noun=(), word="", verb_from_description=False, recordless_verb="")
    return replace(features, parsed=parsed, verb="unknown", entity="", envelope=Envelope(), singleton=None)


def plan_summaries(draft: Draft) -> dict[str, Plan]:
    """Return new plans for `get_order_stats`, `monthly_summary`, `count_orders_by_status`."""
    known, found = _known_entities(draft.feature_list, draft.held), dict[str, Plan]()
    for features, plan in draft.items():
        subject = _summarized_entity(features, known) if features.entity == "" else None
        if subject is None or not draft.entities:
            continue
        about = draft.entities.get(subject or _entity_of_amounts(features, draft.entities, known))
        if subject and about is None:
            continue
        narrowed, times = _filter_arguments(features, about), _time_filters(features, about)
        settles = required(features.input) <= {*narrowed.values(), *times}
        if settles and not _is_about_one_record(features, about, narrowed, draft.entities):
            found[features.tool.id] = replace(
                _plan_summary(plan, about, _summary_operation(features, about), narrowed), filters=times
            )
    return found


def _entity_of_amounts(features: ToolFeatures, entities: Mapping[str, Entity], known: Collection[str]) -> str:
    """Return the only entity with an amount and the requested times. '' if there is none, or several."""
    asked = _time_arguments(features)
    tables = [one for name, one in entities.items() if name in known and "amount" in one.fields]
    found = [one.name for one in tables if _time_filters(features, one).keys() >= {*asked}]
    is_split = not _PERIODS.isdisjoint(words(last_segment(features.tool.name)))
    return found[0] if len(found) == 1 and (asked or is_split) else ""


def _time_arguments(features: ToolFeatures) -> list[str]:
    """Return the arguments that limit the time."""
    return [name for name, part in properties(features.input).items() if snake(name) in _PERIODS or is_time(name, part)]


def _plan_summary(plan: Plan, about: Entity | None, operation: str, narrowed: Mapping[str, str]) -> Plan:
    what = plural(about.name).replace("_", " ") if about is not None else "records"
    return Plan(
        plan.tool,
        "compute",
        None if about is None else about.name,
        backend="summaries",
        operation=operation,
        arguments=narrowed,
        confidence=0.7 if about is not None else 0.6,
        reasons=(f"sums up the existing {what}",),
    )


def _summary_operation(features: ToolFeatures, about: Entity | None) -> str:
    """Return `count`, `count by status`, or `summary` for all of it."""
    name = words(last_segment(features.tool.name))
    if "count" not in name or about is None:
        return "summary"
    field = "_".join(name[name.index("by") + 1 :]) if "by" in name else ""
    known = next((one for one in about.fields if snake(one) == field), None)
    return "count" if known is None else f"count by {known}"


def _summarized_entity(features: ToolFeatures, known: Collection[str]) -> str | None:
    """Return the entity whose records a tool sums up, '' for all of them, None for any other tool."""
    name = words(last_segment(features.tool.name))
    counts = "count" in name and not properties(features.output)
    if not ({*name} & (_SUMMARY_NOUNS | _VAGUE_NOUNS) or counts) or not _may_hold_numbers(features.output):
        return None
    left = [word for word in name if word not in _FILLERS | _SUMMARY_NOUNS | _VAGUE_NOUNS]
    left = [word for word in (left[: left.index("by")] if "by" in left else left) if word != "count"]
    meant = (singular_phrase(tuple(left[start:end])) for start, end in noun_spans(len(left)))
    subject = next((one for one in meant if one in known), None)
    if subject is not None or counts or {*left} - _PERIODS:
        return subject
    asked = {*_time_arguments(features)}
    mentioned = _mentioned_entity(features.tool.description, known) if left or asked else None
    return mentioned or ("" if required(features.input) <= asked else None)


def _mentioned_entity(about: str, known: Collection[str]) -> str | None:
    """Return the only entity that a description mentions, or that exists."""
    described = {singular(word) for word in words(about)}
    mentioned = [one for one in known if described.issuperset(words(one))]
    found = mentioned if len(known) > 1 else [*known]
    return found[0] if len(found) == 1 else None


def _may_hold_numbers(output: Record) -> bool:
    """Whether a result may hold counts. One that shows records does not."""
    parts = properties(output)
    if not parts:
        return main_type(output) in {"object", ""}
    inner = [part for one in parts.values() for part in (one, *properties(one).values(), items(one))]
    numbers = [part for part in inner if main_type(part) in {"integer", "number"} or part.get("additionalProperties")]
    is_text = [main_type(part) for part in parts.values()] == ["string"]
    return (bool(numbers) or is_text) and not any("id" in properties(part) for part in inner)


def _filter_arguments(features: ToolFeatures, about: Entity | None) -> dict[str, str]:
    """Return field -> the argument that filters by it."""
    fields = [_field_of_argument(name, about) for name in properties(features.input)] if about is not None else []
    return {field: name for field, name in zip(fields, properties(features.input), strict=False) if field is not None}


def _time_filters(features: ToolFeatures, about: Entity | None) -> dict[str, Filter]:
    """Return the filters of a month, a begin or an end."""
    if about is None:
        return {}
    fields = {snake(name): name for name in about.fields}
    known = KnownFields(about.name, about.key, fields, {name: one.schema for name, one in about.fields.items()})
    asked = [name for name in _time_arguments(features) if snake(name) not in fields]
    spans = {snake(name) for name in asked} - _PERIODS
    found = {name: find_filter(snake(name), property_of(features.input, name), known, spans) for name in asked}
    return {name: rule for name, rule in found.items() if rule is not None}


def _is_about_one_record(
    features: ToolFeatures, about: Entity | None, narrowed: Mapping[str, str], entities: Mapping[str, Entity]
) -> bool:
    """Whether it is about one record without parts, so that its numbers are no counts."""
    asked = required(features.input)
    needed = {field for field, argument in narrowed.items() if argument in asked}
    if about is None or not needed:
        return False
    of_parts = {*words(last_segment(features.tool.name))} & _STATISTICS
    has_parts = of_parts and any(
        field.link == about.name for other in entities.values() for field in other.fields.values()
    )
    links = {name for name, field in about.fields.items() if field.link is not None}
    return not (needed == {about.key} and has_parts) and not needed <= links


def _field_of_argument(argument: str, about: Entity) -> str | None:
    """Return the field that an argument names, or that it is the key of."""
    name, noun = snake(argument), noun_of_key(argument)
    if name == "id" or noun == about.name:
        return about.key
    exact = next((one for one in about.fields if snake(one) in {name, f"{name}_id"}), None)
    return exact or next(
        (one for one, part in about.fields.items() if part.link is not None and part.link == noun), None
    )


def find_counts(feature_list: Sequence[ToolFeatures]) -> list[ToolFeatures]:
    """Return the features. Tools that count records work on these records: `count_books(genre)`."""
    known = {features.entity for features in feature_list if features.verb in {"create", "list", "search"}}
    return [_as_count(features, known) for features in feature_list]


def _as_count(features: ToolFeatures, entities: Collection[str]) -> ToolFeatures:
    counted = _counted_noun(words(last_segment(features.tool.name)))
    place, entity = _number_place(features), "" if counted is None else singular_phrase(counted)
    if place is None or entity not in entities or features.singleton is not None:
        return features
    parsed = replace(
        features.parsed, verb="list", noun=words(entity), word="count", plural=True, sure=True, recordless_verb=""
    )
    return replace(features, parsed=parsed, verb="list", entity=entity, envelope=Envelope(total=place))


def _counted_noun(name: Words) -> Words | None:
    """Return the words of a name for what is counted."""
    asked = name[1:] if name[:1] and name[0] in _ASKING_VERBS else name
    if asked[:1] == ("count",) and len(asked) > 1:
        return asked[1:]
    if asked[:2] == ("number", "of") and len(asked) > 2:
        return asked[2:]
    return asked[:-1] if asked[-1:] == ("count",) and len(asked) > 1 else None


def _number_place(features: ToolFeatures) -> str | None:
    """Return the place of the only number in a result of scalars."""
    parts = properties(features.output)
    numbers = [name for name, part in parts.items() if main_type(part) in {"integer", "number"}]
    plain = all(main_type(part) not in {"array", "object"} for part in parts.values())
    return numbers[0] if plain and len(numbers) == 1 else None
