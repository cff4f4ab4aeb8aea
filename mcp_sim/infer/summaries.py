"""Which tools sum up the records that there are: `get_order_stats`, `monthly_summary`, `count_orders_by_status`?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.filters import filtered_by, is_time
from mcp_sim.infer.keys import noun_of_key
from mcp_sim.infer.known import Known
from mcp_sim.infer.looks import Look
from mcp_sim.infer.readings import last_segment
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.words import plural, singular, singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import RECORDLESS, Envelope, Filter, Plan

_SUMS = vocabulary("stat stats statistic statistics metric metrics analytics breakdown distribution counts totals kpis")
_PERHAPS = vocabulary("summary overview dashboard report progress summarize summarise")
_HOW = vocabulary("monthly month weekly week daily day yearly year annual category spending period")
"""By what it is summed up, where a name says so."""

_OF_PARTS = vocabulary("stat stats statistic statistics progress")
"""Of one record they tell how many others belong to it."""

_ASKS = vocabulary("get show fetch read view list retrieve display compute calculate generate query tool my all the of")


def with_summaries(looks: Sequence[Look], held: Collection[str]) -> list[Look]:
    """The looks; what sums up records is about no record of its own."""
    known = _known(looks, held)
    made = {look.entity for look in looks if look.verb in {"create", "update", "delete"}}
    return [
        look if _is_of_records(look, {*held, *made}) or _summed(look, known) is None else _as_none(look)
        for look in looks
    ]


def _known(looks: Sequence[Look], held: Collection[str]) -> set[str]:
    told = {look.entity for look in looks if look.verb in {"list", "search"}}
    made = {look.entity for look in looks if look.verb == "create"}
    return {one for one in told if not {*words(one)} & (_SUMS | _PERHAPS)} | made | {*held}


def _is_of_records(look: Look, known: Collection[str]) -> bool:
    """Is it one that reads or writes records that there are?"""
    return look.verb not in RECORDLESS and look.entity in known


def _as_none(look: Look) -> Look:
    reading = replace(look.reading, verb="unknown", noun=(), word="", told=False, deed="")
    return replace(look, reading=reading, verb="unknown", entity="", envelope=Envelope(), single=None)


def summing(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    known, found = _known(draft.looks, draft.held), dict[str, Plan]()
    for look, plan in draft.of_all():
        subject = _summed(look, known) if look.entity == "" else None
        about = draft.entities.get(subject or _spent(look, draft.entities, known))
        if subject is None or not draft.entities or (subject and about is None):
            continue
        narrowed, times = _narrowed(look, about), _times(look, about)
        settles = required(look.input) <= {*narrowed.values(), *times}
        if settles and not _tells_one(look, about, narrowed, draft.entities):
            found[look.tool.id] = replace(_plan(plan, about, _operation(look, about), narrowed), filters=times)
    return found


def _spent(look: Look, entities: Mapping[str, Entity], known: Collection[str]) -> str:
    """The only kind of record with an amount and the times that are asked for; "" where there are none, or several."""
    asked = _timely(look)
    tables = [one for name, one in entities.items() if name in known and "amount" in one.fields]
    found = [one.name for one in tables if _times(look, one).keys() >= {*asked}]
    is_split = not _HOW.isdisjoint(words(last_segment(look.tool.name)))
    return found[0] if len(found) == 1 and (asked or is_split) else ""


def _timely(look: Look) -> list[str]:
    """The arguments that say of which time."""
    return [name for name, part in properties(look.input).items() if snake(name) in _HOW or is_time(name, part)]


def _plan(plan: Plan, about: Entity | None, operation: str, narrowed: Mapping[str, str]) -> Plan:
    what = plural(about.name).replace("_", " ") if about is not None else "records"
    return Plan(
        plan.tool,
        "compute",
        None if about is None else about.name,
        backend="summaries",
        operation=operation,
        arguments=narrowed,
        confidence=0.7 if about is not None else 0.6,
        reasons=(f"sums up the {what} that there are",),
    )


def _operation(look: Look, about: Entity | None) -> str:
    """`count`, `count by status`, or all of it: `summary`."""
    name = words(last_segment(look.tool.name))
    if "count" not in name or about is None:
        return "summary"
    field = "_".join(name[name.index("by") + 1 :]) if "by" in name else ""
    known = next((one for one in about.fields if snake(one) == field), None)
    return "count" if known is None else f"count by {known}"


def _summed(look: Look, known: Collection[str]) -> str | None:
    """The entity whose records a tool sums up, "" for all of them; None for any other tool."""
    name = words(last_segment(look.tool.name))
    counts = "count" in name and not properties(look.output)
    if not ({*name} & (_SUMS | _PERHAPS) or counts) or not _tells_numbers(look.output):
        return None
    left = [word for word in name if word not in _ASKS | _SUMS | _PERHAPS]
    left = [word for word in (left[: left.index("by")] if "by" in left else left) if word != "count"]
    meant = [
        singular_phrase(tuple(left[start:end])) for start in range(len(left)) for end in range(len(left), start, -1)
    ]
    subject = next((one for one in meant if one in known), None)
    if subject is not None or counts or {*left} - _HOW:
        return subject
    asked = {*_timely(look)}
    spoken = _spoken_of(look.tool.description, known) if left or asked else None
    return spoken or ("" if required(look.input) <= asked else None)


def _spoken_of(about: str, known: Collection[str]) -> str | None:
    """The only kind of record that a description speaks of, or that there is."""
    told = {singular(word) for word in words(about)}
    spoken = [one for one in known if told.issuperset(words(one))]
    found = spoken if len(known) > 1 else [*known]
    return found[0] if len(found) == 1 else None


def _tells_numbers(output: Record) -> bool:
    """May a result tell how many there are? One that shows records does not."""
    parts = properties(output)
    if not parts:
        return main_type(output) in {"object", ""}
    inner = [part for one in parts.values() for part in (one, *properties(one).values(), items(one))]
    numbers = [part for part in inner if main_type(part) in {"integer", "number"} or part.get("additionalProperties")]
    is_text = [main_type(part) for part in parts.values()] == ["string"]
    return (bool(numbers) or is_text) and not any("id" in properties(part) for part in inner)


def _narrowed(look: Look, about: Entity | None) -> dict[str, str]:
    """Which field narrows which argument by what it says."""
    fields = [_field(name, about) for name in properties(look.input)] if about is not None else []
    return {field: name for field, name in zip(fields, properties(look.input), strict=False) if field is not None}


def _times(look: Look, about: Entity | None) -> dict[str, Filter]:
    """The arguments that say of which time records are summed up: a month, from when, until when."""
    if about is None:
        return {}
    fields = {snake(name): name for name in about.fields}
    known = Known(about.name, about.key, fields, {name: one.schema for name, one in about.fields.items()})
    asked = [name for name in _timely(look) if snake(name) not in fields]
    spans = {snake(name) for name in asked} - _HOW
    found = {name: filtered_by(snake(name), properties(look.input)[name], known, spans) for name in asked}
    return {name: rule for name, rule in found.items() if rule is not None}


def _tells_one(look: Look, about: Entity | None, narrowed: Mapping[str, str], entities: Mapping[str, Entity]) -> bool:
    """Is it about one record to which none belong: what a service reckons of it, not how many there are?"""
    needed = {field for field, argument in narrowed.items() if argument in required(look.input)}
    if about is None or not needed:
        return False
    of_parts = {*words(last_segment(look.tool.name))} & _OF_PARTS
    has_parts = of_parts and any(
        field.link == about.name for other in entities.values() for field in other.fields.values()
    )
    links = {name for name, field in about.fields.items() if field.link is not None}
    return not (needed == {about.key} and has_parts) and not needed <= links


def _field(argument: str, about: Entity) -> str | None:
    """The field of the records that an argument names, or to which it is the key."""
    name, noun = snake(argument), noun_of_key(argument)
    if name == "id" or noun == about.name:
        return about.key
    exact = next((one for one in about.fields if snake(one) in {name, f"{name}_id"}), None)
    return exact or next(
        (one for one, part in about.fields.items() if part.link is not None and part.link == noun), None
    )
